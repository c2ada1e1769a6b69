//===- Launch.cpp - Runs the grid of a kernel on the handle's threads -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each body has a range of each grid and takes pieces from its front, then from those that are left of the others'. So
// the points of one grid, which take equally long, are shared evenly, as far as they go; and a core finds in its caches
// what it fetched for the next point, and neighbouring points, whose outputs may share a cache line, are seldom two
// cores'. Which thread computes a point changes only the scratch that is used, so the result does not depend on the
// threads (decision D3).
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "Denormals.h"
#include "ParallelFor.h"

#include <atomic>

using namespace attune::rt;

namespace {

/// Points that are left, from `next` to before `end`.
struct Range {
  alignas(64) std::atomic<int64_t> next{0};
  int64_t end = 0;
};

/// Of all grids together: with more bodies than there are ranges of a grid several begin with the same one.
constexpr int32_t mostRanges = 64;

/// The points of several grids one after another, from 0 to the total.
struct Points {
  attune_rt_handle &handle;
  const attune_rt_grid *grids;
  int64_t count;
  int64_t total = 0, grain = 1;
  Range *ranges = nullptr; ///< of each grid so many, one after another
  int32_t rangeCount = 0, gridCount = 0;
};

int64_t sizeOf(const attune_rt_grid &grid) {
  const int64_t *sizes = grid.sizes;
  return sizes[0] <= 0 || sizes[1] <= 0 || sizes[2] <= 0 ? 0 : sizes[0] * sizes[1] * sizes[2];
}

/// The last axis runs fastest: the blocks of one head follow each other and find its keys in a cache.
void computePoints(const attune_rt_grid &grid, void *scratch, int64_t begin, int64_t end) {
  int64_t gy = grid.sizes[1], gz = grid.sizes[2];
  int64_t z = begin % gz, y = begin / gz % gy, x = begin / gz / gy;
  for (int64_t point = begin; point < end; ++point) {
    grid.kernel(grid.args, x, y, z, scratch);
    if (++z < gz)
      continue;
    z = 0;
    if (++y < gy)
      continue;
    y = 0;
    ++x;
  }
}

/// Those of the points begin … end - 1 that each grid has.
void computeRange(const Points &points, void *scratch, int64_t begin, int64_t end) {
  for (int64_t i = 0; i < points.count && begin < end; ++i) {
    int64_t size = sizeOf(points.grids[i]), last = end < size ? end : size;
    if (begin < last) {
      computePoints(points.grids[i], scratch, begin, last);
      begin = last;
    }
    begin -= size, end -= size;
  }
}

void *scratchOf(const attune_rt_handle &handle, int32_t body) {
  return handle.scratch ? handle.scratch + handle.scratchStride * static_cast<size_t>(body) : nullptr;
}

void pointsBody(void *context, int32_t i) {
  Points &points = *static_cast<Points *>(context);
  FlushDenormals flush;
  void *scratch = scratchOf(points.handle, i);
  for (int32_t k = 0; k < points.rangeCount * points.gridCount; ++k) {
    int32_t grid = k % points.gridCount, place = (i + k / points.gridCount) % points.rangeCount;
    Range &range = points.ranges[grid * points.rangeCount + place];
    for (;;) {
      int64_t begin = range.next.fetch_add(points.grain, std::memory_order_relaxed), end = begin + points.grain;
      if (begin >= range.end)
        break;
      computeRange(points, scratch, begin, end < range.end ? end : range.end);
    }
  }
}

/// Small enough that unequal points (causal rows) even out, large enough that the counter costs nothing.
int64_t grainOf(int64_t total, int32_t threads) {
  int64_t grain = total / (int64_t(32) * threads);
  return grain < 1 ? 1 : grain;
}

/// Computes all points on so many threads, each with a range of equal length of each grid to begin with. (More grids
/// than ranges are taken for one.)
void computeOn(Points &points, int32_t bodies) {
  Range ranges[mostRanges];
  points.gridCount = points.count <= mostRanges ? static_cast<int32_t>(points.count) : 1;
  int32_t most = mostRanges / points.gridCount;
  points.ranges = ranges, points.rangeCount = bodies < most ? bodies : most;
  points.grain = grainOf(points.total, bodies);
  int64_t first = 0;
  for (int32_t grid = 0; grid < points.gridCount; ++grid) {
    int64_t size = points.gridCount == 1 ? points.total : sizeOf(points.grids[grid]);
    for (int32_t i = 0; i < points.rangeCount; ++i) {
      Range &range = ranges[grid * points.rangeCount + i];
      range.next.store(first + size * i / points.rangeCount, std::memory_order_relaxed);
      range.end = first + size * (i + 1) / points.rangeCount;
    }
    first += size;
  }
  attune_rt_handle &handle = points.handle;
  if (handle.parallelFor)
    handle.parallelFor(handle.parallelForContext, bodies, pointsBody, &points);
  else
    runBodies(handle.pool, bodies, pointsBody, &points);
}

} // namespace

extern "C" void attune_rt_launch_together(void *launcher, const attune_rt_grid *grids, int64_t count) {
  attune_rt_handle &handle = static_cast<CpuLauncher *>(launcher)->handle;
  Points points{handle, grids, count};
  for (int64_t i = 0; i < count; ++i)
    points.total += sizeOf(grids[i]);
  if (points.total == 0)
    return;
  int32_t bodies = points.total < handle.threads ? static_cast<int32_t>(points.total) : handle.threads;
  if (bodies > 1)
    return computeOn(points, bodies);
  FlushDenormals flush;
  computeRange(points, scratchOf(handle, 0), 0, points.total);
}

extern "C" void attune_rt_launch(void *launcher, attune_rt_kernel kernel, const void *args, int64_t slots, int64_t gx,
                                 int64_t gy, int64_t gz) {
  attune_rt_grid grid{kernel, args, {gx, gy, gz}};
  attune_rt_launch_together(launcher, &grid, 1);
}
