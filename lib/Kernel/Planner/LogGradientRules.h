//===- LogGradientRules.h - Gradients of readouts of exponents -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_LOGGRADIENTRULES_H
#define ATTUNE_LIB_KERNEL_PLANNER_LOGGRADIENTRULES_H

#include "GradientChunk.h"

namespace attune::kernel {

/// b̄ and v̄ of the keys of a chunk, and w̄ of the shares that they enter with; null: they enter as they are.
struct KeyCotangents {
  fusion::Source keys, values, shares;
};

/// What a stage stores of each chunk.
using OutputsOfKeys = llvm::function_ref<llvm::SmallVector<fusion::RegionOutput, 1>(const KeyCotangents &)>;

/// The pass over queries, with what it leaves of the quotient for that over keys.
fusion::KernelRegion logQueriesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, llvm::ArrayRef<WrittenValue> outputs,
                                      const DecayShares &shares, const QuotientRows &quotient, const StateMemory &pieces);
/// The spans of pieces of rows for the parts before them.
fusion::KernelRegion logRowPiecesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const QuotientRows &quotient, const StateMemory &spans);
/// The pass over keys. Of the initial state it leaves the cotangents in `before`.
fusion::KernelRegion logKeysRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const QuotientRows &quotient, const DecayShares &shares,
                                   const StateMemory &before, const StateMemory &pieces, OutputsOfKeys outputs);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_LOGGRADIENTRULES_H
