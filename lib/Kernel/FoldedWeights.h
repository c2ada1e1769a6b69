//===- FoldedWeights.h - Weights of projections folded with omega -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_FOLDEDWEIGHTS_H
#define ATTUNE_LIB_KERNEL_FOLDEDWEIGHTS_H

#include "Families.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// P = W ωᵀ and c = b ωᵀ of one projection, as tensors to prepare. The weights are numbers of arguments of the attn function.
struct FoldedWeight {
  unsigned weight, omega;
  std::optional<unsigned> bias;
  int64_t width;              ///< d: W [D, heads·d]
  mlir::MemRefType matrix;    ///< P [H, D, m]: as many heads as there are features of
  mlir::MemRefType shift;     ///< c [H·m]; null without a bias
};

/// P and c in memory.
struct FoldedMemory {
  mlir::Value matrix, shift;
};

/// Those of the projections that are folded in any of the plans of a library; an error at a projection that cannot be.
mlir::FailureOr<llvm::SmallVector<FoldedWeight>> foldedWeights(llvm::ArrayRef<mlir::func::FuncOp> plans);

/// Kernels of `prepare` that compute them.
void buildFoldedWeight(BuildSite &site, const Problem &problem, const FoldedWeight &folded, mlir::Value weight,
                       mlir::Value bias, mlir::Value omega, const FoldedMemory &result);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_FOLDEDWEIGHTS_H
