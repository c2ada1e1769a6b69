//===- VisibleTilesTest.cpp - Pairs of tiles against counting one by one --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/AttentionWork.h"

#include "gtest/gtest.h"

using namespace attune;

/// Pairs of a block and a tile in which some query sees some key.
static int64_t count(int64_t queries, int64_t keys, bool causal, int64_t queryTile, int64_t keyTile) {
  std::set<std::pair<int64_t, int64_t>> tiles;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      if (!causal || j <= i + keys - queries)
        tiles.insert({i / queryTile, j / keyTile});
  return tiles.size();
}

TEST(VisibleTiles, AgreeWithCounting) {
  for (auto [queryTile, keyTile] : {std::pair<int64_t, int64_t>{1, 1}, {4, 4}, {3, 5}, {6, 2}, {2, 7}})
    for (int64_t queries = 0; queries <= 19; ++queries)
      for (int64_t keys = 0; keys <= 19; ++keys)
        for (bool causal : {false, true}) {
          // A block whose last query sees keys visits all tiles before them, also those that its other queries skip;
          // a causal block with fewer keys than queries may see none.
          EXPECT_EQ(cost::visibleTiles(queries, keys, causal, queryTile, keyTile),
                    count(queries, keys, causal, queryTile, keyTile))
              << queries << " queries, " << keys << " keys, causal " << causal << ", tiles " << queryTile << "x"
              << keyTile;
        }
}

TEST(VisibleTiles, PairsAreTilesOfOne) {
  EXPECT_EQ(cost::visiblePairs(5, 7, false), 35);
  EXPECT_EQ(cost::visiblePairs(5, 7, true), 3 + 4 + 5 + 6 + 7);
  EXPECT_EQ(cost::visiblePairs(7, 5, true), 1 + 2 + 3 + 4 + 5);
}

TEST(VisibleTiles, KeysThatExist) {
  // 90 keys in tiles of 64 end 38 short; both of two query blocks visit the last tile.
  EXPECT_EQ(cost::visibleKeys(70, 90, false, 64, 64), 2 * 90);
  // Causal, 150 of 150 in tiles of 64: 64, 128 and 150 keys.
  EXPECT_EQ(cost::visibleKeys(150, 150, true, 64, 64), 64 + 128 + 150);
  // Against one block after the other: the tiles below e + N − n, as far as there are keys.
  for (int64_t queries = 1; queries < 20; ++queries)
    for (int64_t keys = 1; keys < 20; ++keys)
      for (auto [queryTile, keyTile] : {std::pair(4, 3), std::pair(3, 4), std::pair(5, 5), std::pair(1, 7)}) {
        int64_t count = 0;
        for (int64_t first = 0; first < queries; first += queryTile) {
          int64_t end = std::min(first + queryTile, queries) + keys - queries;
          for (int64_t key = 0; key < end; key += keyTile)
            count += std::min<int64_t>(keyTile, keys - key);
        }
        EXPECT_EQ(cost::visibleKeys(queries, keys, true, queryTile, keyTile), count) << queries << " " << keys;
      }
}

TEST(VisibleTiles, LongSequencesInClosedForm) {
  // 2^20 tokens in tiles of 64: 2^14 blocks, 1 + 2 + … + 2^14 tiles.
  int64_t blocks = int64_t(1) << 14;
  EXPECT_EQ(cost::visibleTiles(blocks * 64, blocks * 64, true, 64, 64), blocks * (blocks + 1) / 2);
  // Beyond what 64 bits hold: 2^40 tokens.
  int64_t most = int64_t(1) << 40;
  EXPECT_DOUBLE_EQ(cost::visiblePairs(most, most, false), std::exp2(80));
  EXPECT_DOUBLE_EQ(cost::visiblePairs(most, most, true), std::exp2(79) * (1 + std::exp2(-40)));
}
