//===- MapRule.h - Features of tokens -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_MAPRULE_H
#define ATTUNE_LIB_KERNEL_PLANNER_MAPRULE_H

#include "RegionDraft.h"

namespace attune::kernel {

/// The columns of blocks so wide, side by side.
llvm::SmallVector<fusion::Dimension, 2> blockColumns(llvm::ArrayRef<int64_t> widths);

/// Rows that the cotangent of a map's parameter is made of: of ω what reaches x ωᵀ [T, m], of the focus what it is the sum of [T, d].
fusion::Source parameterRows(attn::MapParameterGradientOp op, RegionDraft &draft, const Place &at);

/// The maximum of each feature in whose kernel a state is made, the features being in its units. Null: there is none.
attn::KeyMaximumOp maximumBeside(attn::StateOp state, const HostBuilder &host);
/// The state in units of a maximum; null: there is none.
attn::StateOp stateBesideMaximum(attn::KeyMaximumOp op);
/// M, z and S of keys in a stage, in units of the maximum; z and S of ones where no state comes along.
fusion::Source stateInFeatureUnits(attn::KeyMaximumOp op, attn::StateOp read, RegionDraft &draft, const fusion::Stage &keys, const Place &at);
/// The largest logarithm of each feature, and the state that comes along.
mlir::LogicalResult materializeFeatureMaximum(attn::KeyMaximumOp op, HostBuilder &host, const Problem &named);

mlir::LogicalResult materializeKeyMaximum(mlir::Operation *op, HostBuilder &host, const Problem &ofReader);

/// Features of tokens as exponents in units of log 2, without stabilizer and m^{-1/2}; −|x'|²/2 is left out unless `squares`.
fusion::Source exponentsOf(mlir::Value tokens, mlir::Value parameter, attn::FeatureMapAttr map, RegionDraft &draft, const Place &at, bool squares);

/// Whether features are made by a map that gives nothing below 0.
bool areNonnegative(mlir::Value features);

/// The number of columns of each tile of features.
llvm::SmallVector<int64_t, 2> featureWidths(mlir::Value features);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_MAPRULE_H
