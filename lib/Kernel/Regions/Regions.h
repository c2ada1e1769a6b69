//===- Regions.h - Regions that rules of terms do not make alone -*- C++ -*- ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_REGIONS_H
#define ATTUNE_LIB_KERNEL_REGIONS_REGIONS_H

#include "Planner/StateRules.h"

namespace attune::kernel {

struct StateMemory;

/// The logits of exact attention, as `attn.softmax` says them.
struct SoftmaxLogits {
  double scale;
  std::optional<double> softcap = std::nullopt;
  fusion::Source slope = nullptr; ///< [1]
  bool scalesKeys = false;        ///< in place of the queries, where a program meets these more often
  bool areScaled = false;         ///< keys have the scale already
};
/// Those of queries and keys [tokens, d], in units of log 2: [Tq, Tk], of all pairs.
fusion::Source softmaxLogits(const RegionPlanner &plan, const fusion::Extents &extents, fusion::Source query, fusion::Source key,
                             const SoftmaxLogits &logits, int64_t channels);
/// m, l, acc of exact attention over a stage of keys, of queries, keys and values [tokens, width].
fusion::Source softmaxState(const RegionPlanner &plan, fusion::Stage keys, llvm::ArrayRef<fusion::Source> qkv,
                            const SoftmaxLogits &logits, int64_t channels, int64_t width);
/// Exact attention of a problem's tokens.
fusion::KernelRegion softmaxRegion(const Problem &problem, double scale, mlir::Value lse = mlir::Value());

/// How far exponents of what enters a state may be above its unit in a steady chunk, whose pairs one product has.
inline constexpr double steadyHeadroom = 60;
/// Whether nothing is read of a causal readout: what its keys write is all that it stores.
bool writesOnly(attn::CausalReadoutOp op, llvm::ArrayRef<WrittenValue> outputs);
/// The outputs that are made of a causal readout, chunk by chunk, n = N; if the problem is split, after the states of the parts
/// before, in `before`; and the state behind the last chunk into `after`, if that has a matrix.
fusion::KernelRegion chunkedRegion(RegionDraft &draft, attn::CausalReadoutOp op, llvm::ArrayRef<WrittenValue> outputs,
                                   const StateMemory &before, const StateMemory &after);
/// The same of features that are carried as exponents.
fusion::KernelRegion logChunkedRegion(RegionDraft &draft, attn::CausalReadoutOp op, llvm::ArrayRef<WrittenValue> outputs,
                                      const StateMemory &before, const StateMemory &after);

/// Rows of `from` at the places of `to`, both [batch, heads, rows, width].
fusion::KernelRegion copyRegion(llvm::StringRef name, llvm::StringRef suffix, tile::ScheduleAttr schedule, mlir::Value from, mlir::Value to);
/// A state in memory as another one.
fusion::KernelRegion copiedStateRegion(const Problem &problem, const StateMemory &from, const StateMemory &to);

/// The states of the pieces (Pieces.h) into `result`, which has a place for each.
fusion::KernelRegion piecesRegion(RegionDraft &draft, const KeySums &sums, const StateMemory &result);

/// result [batch, heads, runs, d] = the means of equal runs of problem.query.
fusion::KernelRegion poolRegion(const Problem &problem, const Tokens &result);
/// Each row of problem.query for all tokens of its run, over their number, into `result`.
fusion::KernelRegion unpoolRegion(const Problem &problem, const Tokens &result);

/// problem.output.memory [batch, heads, tokens, width] = the projection of problem.query.
fusion::KernelRegion projectionRegion(const Problem &problem);

/// problem.output.memory [batch, heads, tokens, width] = problem.query after its steps: rotated, slice by slice; normalised, by whole
/// rows.
fusion::KernelRegion rotationRegion(const Problem &problem);
fusion::KernelRegion normalizedRowsRegion(const Problem &problem);

/// The columns of the model at the site, of rows that are the heads of `source` side by side · weight [heads·width, D] + bias. `areSums`
/// says that nothing has divided them (attune/Attn/HeadRange.h).
fusion::Source projectedHeads(const RegionPlanner &plan, const Tokens &source, bool areSums, const OutputProjection &projection);
/// problem.output.memory [batch, tokens, D], of the rows of problem.query, as `rows` makes its columns of `projectedHeads`. `packed`: the
/// packed weight of these, of which there is one then; null: none is packed.
fusion::KernelRegion outputProjectionRegion(const Problem &problem, mlir::Value packed,
                                            llvm::function_ref<fusion::Source(const RegionPlanner &)> rows);

/// weight [D, heads·width] = Σ modelᵀ heads over all tokens of the batch, or `output` [heads·width, D] = Σ headsᵀ model, of heads
/// [batch, heads, tokens, width] and a model's rows [batch, tokens, D].
fusion::KernelRegion weightGradientRegion(const Problem &problem, const Tokens &heads, mlir::Value model, mlir::Value weight, bool output);
/// sums [heads·width] = Σ of all tokens of the batch; sums [D] of a model's rows.
fusion::KernelRegion tokenSumRegion(const Problem &problem, const Tokens &heads, mlir::Value sums);
fusion::KernelRegion tokenSumRegion(const Problem &problem, mlir::Value model, mlir::Value sums);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_REGIONS_H
