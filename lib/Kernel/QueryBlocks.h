//===- QueryBlocks.h - Kernels of blocks of queries -*- C++ -*----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_QUERYBLOCKS_H
#define ATTUNE_LIB_KERNEL_QUERYBLOCKS_H

#include "KernelFrame.h"

namespace attune::kernel {

/// o [Tq, dv] of the queries `first` … of the head at `point`.
using HeadOutput = llvm::function_ref<mlir::Value(TileBuilder &tiles, const KernelFrame &frame, const Point &point,
                                                  mlir::Value first)>;

/// The kernel that computes the output of a family, block of queries after block, from `values` and what storing takes.
/// Its grid points have a head each; with a projection of the output, all of them, one after another.
void buildQueryBlocks(BuildSite &site, const Problem &problem, llvm::StringRef suffix,
                      llvm::ArrayRef<mlir::Value> values, HeadOutput output);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_QUERYBLOCKS_H
