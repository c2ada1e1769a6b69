//===- VisibleTiles.cpp - Pairs of tiles that a mask leaves ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "WorkSizes.h"

#include "llvm/Support/MathExtras.h"

using namespace attune;

/// Sequences may be longer than the square root of 2^63.
using Wide = __int128;

/// Σ_{0 ≤ i < count} ⌊(slope·i + offset) / divisor⌋ for slope, offset ≥ 0, in O(log) steps: whole multiples are summed
/// in closed form, and the rest counts lattice points under a line, which swaps the roles of slope and divisor.
static Wide floorSum(Wide count, Wide divisor, Wide slope, Wide offset) {
  Wide sum = 0;
  while (count > 0) {
    sum += count * (count - 1) / 2 * (slope / divisor) + count * (offset / divisor);
    slope %= divisor, offset %= divisor;
    Wide top = slope * count + offset;
    if (top < divisor)
      break;
    count = top / divisor, offset = top % divisor;
    std::swap(slope, divisor);
  }
  return sum;
}

double cost::visibleTiles(int64_t queries, int64_t keys, bool causal, int64_t queryTile, int64_t keyTile) {
  if (queries <= 0 || keys <= 0)
    return 0;
  int64_t blocks = llvm::divideCeil(queries, queryTile), tiles = llvm::divideCeil(keys, keyTile);
  if (!causal)
    return double(blocks) * double(tiles);
  // Block i ends before query e = min((i + 1)·queryTile, n) and visits the tiles of the keys below e + N − n. The last
  // block visits all tiles; of the others only those with a visible key count.
  int64_t offset = keys - queries + queryTile;
  int64_t first = offset > 0 ? 0 : llvm::divideCeil(1 - offset, queryTile);
  if (first >= blocks - 1)
    return double(tiles);
  return double(tiles +
                floorSum(blocks - 1 - first, keyTile, queryTile, Wide(first) * queryTile + offset + keyTile - 1));
}

double cost::visibleKeys(int64_t queries, int64_t keys, bool causal, int64_t queryTile, int64_t keyTile) {
  if (queries <= 0 || keys <= 0)
    return 0;
  int64_t blocks = llvm::divideCeil(queries, queryTile), whole = (llvm::divideCeil(keys, keyTile) - 1) * keyTile;
  // Only the last tile has an end that does not exist. Block i < blocks − 1 visits it if (i + 1)·queryTile + N − n is
  // more than the keys before it; the last block always does.
  int64_t needed = whole - keys + queries, before = needed < 0 ? 0 : std::min(needed / queryTile, blocks - 1);
  int64_t visits = causal ? blocks - before : blocks;
  return visibleTiles(queries, keys, causal, queryTile, keyTile) * double(keyTile) -
         double(visits) * double(whole + keyTile - keys);
}

double cost::visiblePairs(int64_t queries, int64_t keys, bool causal) {
  return causal ? visibleTiles(queries, keys, causal, 1, 1) : double(queries) * double(keys);
}

double cost::floorSum(int64_t count, int64_t divisor, int64_t slope, int64_t offset) {
  return double(::floorSum(Wide(count), Wide(divisor), Wide(slope), Wide(offset)));
}
