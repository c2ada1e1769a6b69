//===- Any.h - What numbers decide -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_TILE_ANY_H
#define ATTUNE_DIALECTS_ATTUNE_TILE_ANY_H

#include "attune/Tile/Tile.h"

#define GET_OP_CLASSES
#include "attune/Tile/TileAny.h.inc"

namespace attune::tile {

/// Whether numbers decide if the loop runs at all.
inline bool isBranch(LoopOp loop) {
  return loop.getLower().getDefiningOp<AnyOp>() || loop.getUpper().getDefiningOp<AnyOp>();
}

} // namespace attune::tile

#endif // ATTUNE_DIALECTS_ATTUNE_TILE_ANY_H
