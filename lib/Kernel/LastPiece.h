//===- LastPiece.h - What the last of several grid points does -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_LASTPIECE_H
#define ATTUNE_LIB_KERNEL_LASTPIECE_H

#include "KernelFrame.h"

namespace attune::kernel {

/// A counter for each batch entry and head: a part of the workspace, which no kernel clears first.
mlir::Value counterWorkspace(BuildSite &site, mlir::Value batch, int64_t heads);

/// Says that this grid point has stored its part of what `indices` count in `counters`; the one of `count` points that says so last
/// then merges. What it does is the same whichever it is, so that it leaves the same bits.
void inLastPiece(TileBuilder &tiles, mlir::Value counters, mlir::ValueRange indices, mlir::Value count,
                 llvm::function_ref<void(TileBuilder &tiles)> merge);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_LASTPIECE_H
