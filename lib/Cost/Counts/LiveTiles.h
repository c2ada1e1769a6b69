//===- LiveTiles.h - Bytes of tiles that a program holds -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_COUNTS_LIVETILES_H
#define ATTUNE_LIB_COST_COUNTS_LIVETILES_H

#include "attune/Tile/Tile.h"

namespace attune::cost {

/// The most bytes of tiles that are live at once where a block is run. A tile is live from the op that makes it to the last
/// one that reads it. Constants and `tile.expand` hold nothing: an element of them is known without the tile.
double liveBytes(mlir::Block &block);

/// Those of what a loop carries from step to step.
double carriedBytes(tile::LoopOp loop);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_COUNTS_LIVETILES_H
