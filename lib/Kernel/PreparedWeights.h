//===- PreparedWeights.h - Weights of projections, packed or folded -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PREPAREDWEIGHTS_H
#define ATTUNE_LIB_KERNEL_PREPAREDWEIGHTS_H

#include "Families.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// What `prepare` makes of the weight W [D, heads·d] of one projection: packed, each head's columns in the order in which the
/// kernel reads them, or folded, P = W ωᵀ and c = b ωᵀ. The weights are numbers of arguments of the attn function.
struct PreparedWeight {
  unsigned weight;
  std::optional<unsigned> omega, bias; ///< only of folded ones
  int64_t width;                       ///< d
  mlir::MemRefType matrix;             ///< [heads, D, d], or P [H, D, m]: as many heads as there are features of
  mlir::MemRefType shift;              ///< c [H·m]; null without a bias

  bool folded() const { return omega.has_value(); }
};

/// A prepared weight in memory.
struct WeightMemory {
  mlir::Value matrix, shift;
};

/// Those of the projections of all plans of a library; an error at one that is marked as folded and cannot be.
mlir::FailureOr<llvm::SmallVector<PreparedWeight>> preparedWeights(llvm::ArrayRef<mlir::func::FuncOp> plans,
                                                                   tile::TargetKind target);

/// Kernels of `prepare` that compute one.
void buildPreparedWeight(BuildSite &site, const Problem &problem, const PreparedWeight &prepared, mlir::Value weight,
                         mlir::Value bias, mlir::Value omega, const WeightMemory &result);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PREPAREDWEIGHTS_H
