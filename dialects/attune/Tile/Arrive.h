//===- Arrive.h - Order between grid points -*- C++ -*--------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A counter is one word of 64 bits: a mark, then how many grid points have arrived. Workspaces come as they are, so a word
// without the mark counts as 0, and the last point leaves 0. The mark begins like a signalling NaN of f32, which
// no arithmetic leaves in memory; of words that are drawn, one in 2^40 has it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_TILE_ARRIVE_H
#define ATTUNE_DIALECTS_ATTUNE_TILE_ARRIVE_H

#include "attune/Tile/Tile.h"

namespace attune::tile {

/// Bits of the word that count; a group has at most `mostArrivals` points.
inline constexpr unsigned countBits = 24;
inline constexpr uint64_t mostArrivals = (uint64_t(1) << countBits) - 1;
/// A word with the mark and a count of 0.
inline constexpr uint64_t beginCount = uint64_t(0x7fa4a77e5e) << countBits;

/// The word after one more of `count` points; 0 after the last.
constexpr uint64_t afterArrival(uint64_t word, uint64_t count) {
  uint64_t next = (word >> countBits == beginCount >> countBits ? word : beginCount) + 1;
  return (next & mostArrivals) == count ? 0 : next;
}

} // namespace attune::tile

#endif // ATTUNE_DIALECTS_ATTUNE_TILE_ARRIVE_H
