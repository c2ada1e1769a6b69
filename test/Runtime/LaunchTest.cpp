//===- LaunchTest.cpp - In what order the points of a grid are computed ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/Launch.h"

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>
#include <xmmintrin.h>

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

/// Half of the smallest normal number.
void halve(const void *args, int64_t x, int64_t, int64_t, void *) {
  volatile float smallest = 0x1p-126f, half = 0.5f;
  (*static_cast<std::vector<float> *const *>(args))->at(static_cast<size_t>(x)) = smallest * half;
}

TEST(Launch, NumbersBelowTheNormalOnesAreZeroInKernelsAlone) {
  for (int32_t threads : {1, 3}) {
    std::vector<float> halves(7, 1);
    std::vector<float> *args = &halves;
    attune_rt_handle handle{};
    handle.threads = threads;
    handle.parallelFor = [](void *, int32_t bodies, attune_body body, void *context) {
      for (int32_t i = 0; i < bodies; ++i)
        body(context, i);
    };
    CpuLauncher launcher{handle};
    unsigned modes = _mm_getcsr();
    attune_rt_launch(&launcher, halve, &args, 1, 7, 1, 1);
    EXPECT_EQ(halves, std::vector<float>(7, 0));
    EXPECT_EQ(_mm_getcsr(), modes);
  }
}

//===----------------------------------------------------------------------===//
// Several bodies
//===----------------------------------------------------------------------===//

constexpr int64_t manyPoints = 390;

/// How often each point of a grid {1, 1, n} was visited, and the first one of all.
struct Counts {
  std::array<std::atomic<int32_t>, manyPoints> times{};
  std::atomic<int64_t> first{-1};
};

void count(const void *args, int64_t, int64_t, int64_t z, void *) {
  Counts &counts = **static_cast<Counts *const *>(args);
  ++counts.times[static_cast<size_t>(z)];
  int64_t none = -1;
  counts.first.compare_exchange_strong(none, z);
}

/// One after another, the last body first.
void backwards(void *, int32_t bodies, attune_body body, void *context) {
  while (bodies-- > 0)
    body(context, bodies);
}

void allAtOnce(void *, int32_t bodies, attune_body body, void *context) {
  std::vector<std::thread> threads;
  for (int32_t i = 0; i < bodies; ++i)
    threads.emplace_back(body, context, i);
  for (std::thread &thread : threads)
    thread.join();
}

void launchOn(attune_parallel_for parallelFor, int32_t bodies, int64_t points, Counts &counts) {
  attune_rt_handle handle{};
  handle.threads = bodies, handle.parallelFor = parallelFor;
  CpuLauncher launcher{handle};
  Counts *args = &counts;
  attune_rt_launch(&launcher, count, &args, 1, 1, 1, points);
}

TEST(Launch, BodiesComputeEveryPointOnceWhateverTheirOrder) {
  for (attune_parallel_for parallelFor : {backwards, allAtOnce})
    for (int32_t bodies : {2, 3, 7, 64, 70})
      for (int64_t points : {int64_t(1), int64_t(5), int64_t(64), manyPoints}) {
        Counts counts;
        launchOn(parallelFor, bodies, points, counts);
        for (int64_t z = 0; z < manyPoints; ++z)
          ASSERT_EQ(counts.times[static_cast<size_t>(z)], z < points)
              << z << " of " << points << ", " << bodies << " bodies";
      }
}

TEST(Launch, BodiesComputeEveryPointOfSeveralGridsOnce) {
  for (attune_parallel_for parallelFor : {backwards, allAtOnce})
    for (int32_t bodies : {2, 3, 70})
      for (size_t grids : {2u, 3u, 64u, 70u}) {
        std::vector<Counts> counts(grids);
        std::vector<Counts *> args;
        for (Counts &each : counts)
          args.push_back(&each);
        auto pointsOf = [](size_t grid) { return int64_t(grid % 5) * 7; }; // some have none
        std::vector<attune_rt_grid> all;
        for (size_t i = 0; i < grids; ++i)
          all.push_back({count, &args[i], {1, 1, pointsOf(i)}});
        attune_rt_handle handle{};
        handle.threads = bodies, handle.parallelFor = parallelFor;
        CpuLauncher launcher{handle};
        attune_rt_launch_together(&launcher, all.data(), int64_t(grids));
        for (size_t i = 0; i < grids; ++i)
          for (int64_t z = 0; z < manyPoints; ++z)
            ASSERT_EQ(counts[i].times[static_cast<size_t>(z)], z < pointsOf(i))
                << z << " of grid " << i << " of " << grids << ", " << bodies << " bodies";
      }
}

TEST(Launch, EachBodyBeginsWithARangeOfEachGrid) {
  // Four points, of which those of the second grid take longest: the last body begins with one of each.
  Counts shortPoints, longPoints;
  Counts *args[] = {&shortPoints, &longPoints};
  attune_rt_grid grids[] = {{count, &args[0], {1, 1, 2}}, {count, &args[1], {1, 1, 2}}};
  attune_rt_handle handle{};
  handle.threads = 2, handle.parallelFor = backwards;
  CpuLauncher launcher{handle};
  attune_rt_launch_together(&launcher, grids, 2);
  EXPECT_EQ(shortPoints.first, 1);
  EXPECT_EQ(longPoints.first, 1);
}

TEST(Launch, EachBodyBeginsWithARangeOfItsOwn) {
  for (auto [bodies, first] : {std::array<int32_t, 2>{2, 195}, {3, 260}}) {
    Counts counts;
    launchOn(backwards, bodies, manyPoints, counts);
    EXPECT_EQ(counts.first, first) << bodies << " bodies, the last first";
  }
}

} // namespace
