//===- VisibleTiles.cpp - Pairs of tiles that a mask leaves ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/AttentionWork.h"

#include "llvm/Support/MathExtras.h"

using namespace attune;

/// Σ_{0 ≤ i < count} ⌊(slope·i + offset) / divisor⌋ for slope, offset ≥ 0, in O(log) steps: whole multiples are summed in
/// closed form, and the rest counts lattice points under a line, which swaps the roles of slope and divisor.
static int64_t floorSum(int64_t count, int64_t divisor, int64_t slope, int64_t offset) {
  int64_t sum = 0;
  while (count > 0) {
    sum += count * (count - 1) / 2 * (slope / divisor) + count * (offset / divisor);
    slope %= divisor, offset %= divisor;
    int64_t top = slope * count + offset;
    if (top < divisor)
      break;
    count = top / divisor, offset = top % divisor;
    std::swap(slope, divisor);
  }
  return sum;
}

int64_t cost::visibleTiles(int64_t queries, int64_t keys, bool causal, int64_t queryTile, int64_t keyTile) {
  if (queries <= 0 || keys <= 0)
    return 0;
  int64_t blocks = llvm::divideCeil(queries, queryTile), tiles = llvm::divideCeil(keys, keyTile);
  if (!causal)
    return blocks * tiles;
  // Block i ends before query e = min((i + 1)·queryTile, n) and visits the tiles of the keys below e + N − n. The last
  // block visits all tiles; of the others only those with a visible key count.
  int64_t offset = keys - queries + queryTile;
  int64_t first = offset > 0 ? 0 : llvm::divideCeil(1 - offset, queryTile);
  if (first >= blocks - 1)
    return tiles;
  return tiles + floorSum(blocks - 1 - first, keyTile, queryTile, first * queryTile + offset + keyTile - 1);
}

int64_t cost::visiblePairs(int64_t queries, int64_t keys, bool causal) {
  if (!causal)
    return queries * keys;
  return visibleTiles(queries, keys, causal, 1, 1);
}
