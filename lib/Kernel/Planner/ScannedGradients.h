//===- ScannedGradients.h - Gradients of causal readouts, row by row -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_SCANNEDGRADIENTS_H
#define ATTUNE_LIB_KERNEL_PLANNER_SCANNEDGRADIENTS_H

#include "GradientChunk.h"
#include "LogGradientRules.h"

namespace attune::kernel {

/// The passes over queries and over keys of a causal readout's gradient whose rows are scanned.
fusion::KernelRegion scannedQueriesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, llvm::ArrayRef<WrittenValue> outputs,
                                          const DecayShares &shares, const QuotientRows &quotient, const StateMemory &pieces);
fusion::KernelRegion scannedKeysRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const QuotientRows &quotient, const DecayShares &shares,
                                       const StateMemory &before, const StateMemory &pieces, OutputsOfKeys outputs);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_SCANNEDGRADIENTS_H
