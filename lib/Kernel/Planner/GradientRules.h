//===- GradientRules.h - Gradients of pairs, and what reads them -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_GRADIENTRULES_H
#define ATTUNE_LIB_KERNEL_PLANNER_GRADIENTRULES_H

#include "RegionDraft.h"

namespace attune::kernel {
struct KeySums;

/// Σ_c a_tc b_tc of each row.
Tiles buildRowProducts(mlir::OpResult result, RegionDraft &draft, const Place &at);
/// Σ_i w_ij x_i of each key, for rows that are keys.
Tiles buildSumOverQueries(mlir::OpResult result, RegionDraft &draft, const Place &at);

/// Whether one tile has all keys of a query.
bool areOneTile(const SeenKeys &seen, tile::ScheduleAttr schedule);
/// Weights of softmax made of the logits of a tile, where that has all keys of its rows (TileSoftmax.cpp); none: elsewhere.
std::optional<fusion::Source> weightsOfTile(attn::SoftmaxWeightsOp op, const fusion::Source &logits, const RegionDraft &draft);
/// The products of rows with the output of that softmax, by its weights.
std::optional<fusion::Source> productsOfTile(attn::ContractOp product, RegionDraft &draft, const Place &at);
/// The blocks that the keys of numbers of rows lie in; null: none.
attn::WindowAttr windowOf(mlir::Value numbers);
/// The stores of a value's rows at a place, block by block; where keys have lengths, also of the rows that do not exist.
llvm::SmallVector<fusion::RegionOutput, 1> everyRowOf(RegionDraft &draft, const WrittenValue &written, const Place &at);
/// How many rows of a value exist that a region makes of nothing but its own row; null: all do, or it lies in memory.
mlir::Value lengthsOfRows(mlir::Value value, const HostBuilder &host);
/// The ops of one kind that a value is the sum of, whatever acts on them on the way, in their order.
template <typename Op> void appendLeaves(mlir::Value sum, llvm::SmallVectorImpl<Op> &leaves) {
  if (auto leaf = sum.getDefiningOp<Op>())
    return leaves.push_back(leaf);
  for (mlir::Value operand : sum.getDefiningOp()->getOperands())
    appendLeaves(operand, leaves);
}
/// The tiles of chunks of a gradient of these sums, and of what keys that erase write for it, where tokens rotate in the load or rows are scanned.
tile::ScheduleAttr scheduleOfChunks(tile::ScheduleAttr s, const KeySums &sums, bool rotates, bool scans);
/// Whether the gradients of a causal readout are computed some features, and some values, at a time (SlicedGradients.cpp).
bool isInSlices(attn::CausalReadoutGradientOp op, const HostBuilder &host);
/// What each entry and head adds to the gradient of a map's parameter.
mlir::LogicalResult materializeParameterParts(mlir::Operation *op, HostBuilder &host, const Problem &named);
/// What the steps over queries add to the sums over keys that a region makes beside its own.
llvm::SmallVector<fusion::RegionOutput, 1> sumsOfParts(RegionDraft &draft, const Place &at);
/// Keys times a factor that a region's sums over keys have; null: those have another one, or these lie in several blocks.
fusion::Source scaledKeys(mlir::Value keys, double factor, RegionDraft &draft, const Place &at);
/// The queries that see a tile of keys.
fusion::Stage queriesOfKeys(const RegionDraft &draft, const SeenKeys &seen);
/// The sums over queries that a region computes, in their order.
llvm::SmallVector<attn::ContractOp> sumsOverQueries(const RegionDraft &draft, const void *stream);
/// The stage over the heads of a group, `count` for each head of the axis `shared`.
fusion::Stage membersOf(const RegionPlanner &plan, fusion::Axis shared, int64_t count);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_GRADIENTRULES_H
