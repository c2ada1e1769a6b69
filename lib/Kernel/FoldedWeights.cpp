//===- FoldedWeights.cpp - Weights of projections folded with omega -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fold:        parallel over (head, block of D)     P [64, m] = W [64, d of the head] ωᵀ
//   fold_bias:   parallel over (head)                 c [m] = ω b
//
//===----------------------------------------------------------------------===//
#include "FoldedWeights.h"

#include "KernelFrame.h"
#include "attune/Attn/Folded.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static constexpr int64_t modelTile = 64;

//===----------------------------------------------------------------------===//
// What to prepare
//===----------------------------------------------------------------------===//

/// The number of an argument of the attn function that is a parameter; none for other values.
static std::optional<unsigned> parameterNumber(Value value) {
  auto argument = dyn_cast_or_null<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  bool parameter = function && function.getArgAttr(argument.getArgNumber(), "attn.parameter");
  return parameter ? std::optional(argument.getArgNumber()) : std::nullopt;
}

static FailureOr<FoldedWeight> foldedWeight(attn::ProjectOp op) {
  auto map = op.getResult().hasOneUse() ? dyn_cast<attn::MapOp>(*op.getResult().getUsers().begin()) : attn::MapOp();
  auto type = cast<RankedTensorType>(op.getWeight().getType());
  std::optional<unsigned> weight = parameterNumber(op.getWeight()), bias = parameterNumber(op.getBias());
  std::optional<unsigned> omega = map ? parameterNumber(map.getParameter()) : std::nullopt;
  if (!weight || !omega || (op.getBias() && !bias) || !type.hasStaticShape())
    return op.emitOpError() << "expected a folded projection of parameters, read by one feature map with omega, but got "
                               "another";
  auto features = cast<RankedTensorType>(map.getResult().getType());
  int64_t heads = features.getDimSize(1), m = features.getDimSize(3);
  Type f32 = Float32Type::get(op.getContext());
  return FoldedWeight{*weight, *omega, bias, cast<RankedTensorType>(op.getResult().getType()).getDimSize(3),
                      MemRefType::get({heads, type.getDimSize(0), m}, f32),
                      bias ? MemRefType::get({heads * m}, f32) : MemRefType()};
}

FailureOr<SmallVector<FoldedWeight>> kernel::foldedWeights(ArrayRef<func::FuncOp> plans) {
  SmallVector<FoldedWeight> all;
  for (func::FuncOp plan : plans)
    for (auto op : plan.getOps<attn::ProjectOp>()) {
      if (!attn::isFolded(op))
        continue;
      FailureOr<FoldedWeight> folded = foldedWeight(op);
      if (failed(folded))
        return failure();
      if (llvm::none_of(all, [&](const FoldedWeight &other) { return other.weight == folded->weight; }))
        all.push_back(*folded);
    }
  llvm::sort(all, [](const FoldedWeight &a, const FoldedWeight &b) { return a.weight < b.weight; });
  return all;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// ω of a head [m, d].
static Value omegaOf(TileBuilder &tiles, Value memory, Value head) {
  auto type = cast<MemRefType>(memory.getType());
  Value c0 = tiles.index(0), which = type.getDimSize(0) > 1 ? head : c0;
  return tiles.cast(tiles.load(memory, {which, c0, c0}, {type.getDimSize(1), type.getDimSize(2)}),
                    tiles.builder.getF32Type());
}

/// The first column of W, or entry of b, that belongs to a head of P. Several heads of P may share a head of W.
static Value firstColumn(TileBuilder &tiles, const FoldedWeight &folded, Value source, Value head) {
  int64_t heads = cast<MemRefType>(source.getType()).getShape().back() / folded.width;
  return tiles.mul(tiles.div(head, folded.matrix.getDimSize(0) / heads), folded.width);
}

static void buildMatrix(BuildSite &site, const Problem &problem, const FoldedWeight &folded, Value weight, Value omega,
                        Value result) {
  KernelFrame frame(site, problem, "fold", {tile::Axis::Head, tile::Axis::QueryBlock}, {weight, omega, result});
  TileBuilder &tiles = frame.tiles;
  int64_t d = folded.width, m = folded.matrix.getDimSize(2);
  Value head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  Value first = tiles.mul(tiles.programId(tile::Axis::QueryBlock), modelTile);
  Value column = firstColumn(tiles, folded, frame[weight], head);
  Value w = tiles.cast(tiles.load(frame[weight], {first, column}, {modelTile, d}), tiles.builder.getF32Type()); // [64, d]
  Value o = omegaOf(tiles, frame[omega], head);                                                               // [m, d]
  Value p = tiles.dot(w, o, tiles.constant({modelTile, m}, 0), false, true);                                  // [64, m]
  tiles.store(p, frame[result], {head, first, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.index(folded.matrix.getDimSize(0)),
                      host.index(llvm::divideCeil(folded.matrix.getDimSize(1), modelTile))});
}

static void buildShift(BuildSite &site, const Problem &problem, const FoldedWeight &folded, Value bias, Value omega,
                       Value result) {
  KernelFrame frame(site, problem, "fold_bias", {tile::Axis::Head}, {bias, omega, result});
  TileBuilder &tiles = frame.tiles;
  int64_t d = folded.width, m = folded.matrix.getDimSize(2);
  Value head = tiles.programId(tile::Axis::Head), column = firstColumn(tiles, folded, frame[bias], head);
  Value b = tiles.cast(tiles.load(frame[bias], column, d), tiles.builder.getF32Type());     // [d]
  Value products = tiles.times(omegaOf(tiles, frame[omega], head), tiles.expand(b, 0, {m, d})); // [m, d]
  tiles.store(tiles.reduceAdd(products, 1), frame[result], tiles.mul(head, m));             // [m]
  TileBuilder host(site.host, site.loc);
  frame.finish(site, host.index(folded.matrix.getDimSize(0)));
}

void kernel::buildFoldedWeight(BuildSite &site, const Problem &problem, const FoldedWeight &folded, Value weight,
                               Value bias, Value omega, const FoldedMemory &result) {
  buildMatrix(site, problem, folded, weight, omega, result.matrix);
  if (result.shift)
    buildShift(site, problem, folded, bias, omega, result.shift);
}
