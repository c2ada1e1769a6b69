//===- LaunchedKernel.h - A kernel with its launches -*- C++ -*-----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_LAUNCHEDKERNEL_H
#define ATTUNE_LIB_KERNEL_LAUNCHEDKERNEL_H

#include "attune/Tile/Tile.h"

namespace attune::kernel {

struct LaunchedKernel {
  tile::KernelOp kernel;
  llvm::SmallVector<tile::LaunchOp, 1> launches;

  /// The sizes of the grid, those that are the same number in every launch; others are dynamic.
  llvm::SmallVector<int64_t> gridShape() const;
  /// A further argument, for which each launch gives one of `values`.
  mlir::Value addArgument(mlir::MemRefType type, mlir::ValueRange values);
  /// The same kernel behind this one, with another name, launched behind each launch.
  LaunchedKernel clone(llvm::StringRef name);
  /// Removes what nobody reads, and arguments that nobody reads then.
  void removeUnused();

private:
  void removeArgument(unsigned number);
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_LAUNCHEDKERNEL_H
