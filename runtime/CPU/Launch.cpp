//===- Launch.cpp - Runs the grid of a kernel on the handle's threads -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads take pieces of the grid from a counter. Which thread computes a point changes only the scratch that is used,
// so the result does not depend on the threads (decision D3).
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "ParallelFor.h"

#include <atomic>

using namespace attune::rt;

namespace {

/// The points of several grids one after another, from 0 to the total.
struct Points {
  attune_rt_handle &handle;
  const attune_rt_grid *grids;
  int64_t count;
  int64_t total = 0, grain = 1;
  alignas(64) std::atomic<int64_t> next{0};
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

void pointsBody(void *context, int32_t i) {
  Points &points = *static_cast<Points *>(context);
  char *scratch = points.handle.scratch;
  if (scratch)
    scratch += points.handle.scratchStride * static_cast<size_t>(i);
  for (;;) {
    int64_t begin = points.next.fetch_add(points.grain, std::memory_order_relaxed);
    if (begin >= points.total)
      return;
    int64_t end = begin + points.grain;
    computeRange(points, scratch, begin, end < points.total ? end : points.total);
  }
}

/// Small enough that unequal points (causal rows) even out, large enough that the counter costs nothing.
int64_t grainOf(int64_t total, int32_t threads) {
  int64_t grain = total / (int64_t(32) * threads);
  return grain < 1 ? 1 : grain;
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
  points.grain = grainOf(points.total, bodies);
  if (bodies == 1)
    pointsBody(&points, 0);
  else if (handle.parallelFor)
    handle.parallelFor(handle.parallelForContext, bodies, pointsBody, &points);
  else
    runBodies(handle.pool, bodies, pointsBody, &points);
}

extern "C" void attune_rt_launch(void *launcher, attune_rt_kernel kernel, const void *args, int64_t slots, int64_t gx,
                                 int64_t gy, int64_t gz) {
  attune_rt_grid grid{kernel, args, {gx, gy, gz}};
  attune_rt_launch_together(launcher, &grid, 1);
}
