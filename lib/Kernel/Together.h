//===- Together.h - Launches of parts that run together -*- C++ -* -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_TOGETHER_H
#define ATTUNE_LIB_KERNEL_TOGETHER_H

#include "attune/Tile/Tile.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace attune::kernel {

/// The launches of a part, in their order.
using PartLaunches = llvm::SmallVector<tile::LaunchOp, 4>;

/// Those after `before` (null: from the block's begin on), without `others`.
PartLaunches launchesAfter(mlir::Block &block, mlir::Operation *before,
                           const llvm::SmallPtrSetImpl<mlir::Operation *> &others);

/// Moves the launches of parts to the block's end: the first of each part, the second ones, and so on. All of a stage but
/// the first are marked to run together with the one before.
void joinLaunches(mlir::Block &block, llvm::ArrayRef<PartLaunches> parts);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_TOGETHER_H
