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

/// Σ_c a_tc b_tc of each row.
Tiles buildRowProducts(mlir::OpResult result, RegionDraft &draft, const Place &at);
/// Σ_i w_ij x_i of each key, for rows that are keys.
Tiles buildSumOverQueries(mlir::OpResult result, RegionDraft &draft, const Place &at);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_GRADIENTRULES_H
