//===- Warpgroups.h - Which products are made by warpgroups -*- C++ -*---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_WARPGROUPS_H
#define ATTUNE_LIB_LOWERING_GPU_WARPGROUPS_H

#include "attune/Tile/Tile.h"
#include "attune/Tile/Warpgroup.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace attune::device {

/// Why the warpgroups of a grid cannot make a product, as what it was expected to have; nothing if they can. It looks
/// at shapes and types alone.
std::optional<std::string> whyNotByWarpgroups(tile::DotOp dot, tile::WarpGrid warps);
/// Can each warpgroup read its rows of the first operand from shared memory?
bool readsFirstFromShared(tile::DotOp dot, tile::WarpGrid warps);
/// Must it, since the operand lies across, several warps share a row, or the last step of k is not whole?
bool needsFirstInShared(tile::DotOp dot, tile::WarpGrid warps);

/// The products of a kernel that warpgroups make: those that they can, of operands in shared memory that they read
/// alone. What one product takes from panels no other product may want without.
llvm::DenseSet<mlir::Operation *> productsByWarpgroups(tile::KernelOp kernel, tile::WarpGrid warps);

/// Is the layout that of a tile in panels, as warpgroups read it?
bool isInPanels(mlir::Type tile);
/// Has a kernel such tiles?
bool hasPanels(tile::KernelOp kernel);

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_WARPGROUPS_H
