//===- BuildKernels.h - The kernels of one plan -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_KERNEL_BUILDKERNELS_H
#define ATTUNE_KERNEL_BUILDKERNELS_H

#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// Replaces one function of `attn` ops in a module by its kernels and its host function, as `attn-to-tile` does, but without
/// the function that prepares: for those who look at kernels and run none.
mlir::LogicalResult buildKernels(mlir::ModuleOp module, mlir::func::FuncOp source, tile::TargetKind target);

} // namespace attune::kernel

#endif // ATTUNE_KERNEL_BUILDKERNELS_H
