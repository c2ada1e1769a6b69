//===- BlockNeed.h - What a thread block of each kernel holds at once -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_BLOCKNEED_H
#define ATTUNE_LIB_COST_BLOCKNEED_H

#include "attune/Cost/AttentionShape.h"
#include "attune/Tile/Tile.h"

namespace attune::cost {

/// What a thread block takes of a multiprocessor where it takes most.
struct BlockNeed {
  int64_t registers = 0; ///< of one thread, for elements of tiles
  int64_t bytes = 0;     ///< of shared memory
};

/// The most that any kernel of an attention needs. Lengths play no part.
BlockNeed blockNeed(const AttentionShape &shape, tile::ScheduleAttr schedule);

/// Bytes of shared memory that no kernel of an attention exceeds when it is made with as few stages as it takes: at least what is
/// then asked of the device.
int64_t leastBytes(const AttentionShape &shape, tile::ScheduleAttr schedule);

/// True if queries and keys come in tiles of the same size.
bool hasSquareTiles(const AttentionShape &shape);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_BLOCKNEED_H
