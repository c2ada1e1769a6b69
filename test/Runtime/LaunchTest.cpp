//===- LaunchTest.cpp - In what order the points of a grid are computed ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/Launch.h"

#include <array>
#include <gtest/gtest.h>
#include <vector>

using namespace attune::rt;

namespace {

using Visited = std::vector<std::array<int64_t, 3>>;

void note(const void *args, int64_t x, int64_t y, int64_t z, void *) {
  (*static_cast<Visited *const *>(args))->push_back({x, y, z});
}

/// What one thread visits, in order.
Visited visited(const std::vector<std::array<int64_t, 3>> &sizes) {
  Visited points;
  Visited *args = &points;
  attune_rt_handle handle{};
  handle.threads = 1;
  CpuLauncher launcher{handle};
  std::vector<attune_rt_grid> grids;
  for (auto [x, y, z] : sizes)
    grids.push_back({note, &args, {x, y, z}});
  attune_rt_launch_together(&launcher, grids.data(), static_cast<int64_t>(grids.size()));
  return points;
}

TEST(Launch, BlocksOfOneHeadFollowEachOther) {
  // (batch, head, query block)
  EXPECT_EQ(visited({{2, 1, 3}}), (Visited{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2}}));
  EXPECT_EQ(visited({{1, 2, 2}}), (Visited{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}}));
}

TEST(Launch, EveryPointOfEveryGridComesOnce) {
  // 390 points: more than one in a piece.
  Visited points = visited({{5, 7, 11}, {0, 3, 3}, {1, 5, 1}});
  Visited expected;
  for (auto [gx, gy, gz] : {std::array<int64_t, 3>{5, 7, 11}, {1, 5, 1}})
    for (int64_t x = 0; x < gx; ++x)
      for (int64_t y = 0; y < gy; ++y)
        for (int64_t z = 0; z < gz; ++z)
          expected.push_back({x, y, z});
  EXPECT_EQ(points, expected);
}

} // namespace
