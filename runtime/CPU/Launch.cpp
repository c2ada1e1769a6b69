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

struct Grid {
  attune_rt_handle &handle;
  attune_rt_kernel kernel;
  const void *args;
  int64_t gx, gy;
  int64_t total, grain;
  alignas(64) std::atomic<int64_t> next{0};
};

void computePoints(Grid &grid, void *scratch, int64_t begin, int64_t end) {
  int64_t x = begin % grid.gx, y = begin / grid.gx % grid.gy, z = begin / grid.gx / grid.gy;
  for (int64_t point = begin; point < end; ++point) {
    grid.kernel(grid.args, x, y, z, scratch);
    if (++x < grid.gx)
      continue;
    x = 0;
    if (++y < grid.gy)
      continue;
    y = 0;
    ++z;
  }
}

void gridBody(void *context, int32_t i) {
  Grid &grid = *static_cast<Grid *>(context);
  char *scratch = grid.handle.scratch;
  if (scratch)
    scratch += grid.handle.scratchStride * static_cast<size_t>(i);
  for (;;) {
    int64_t begin = grid.next.fetch_add(grid.grain, std::memory_order_relaxed);
    if (begin >= grid.total)
      return;
    int64_t end = begin + grid.grain;
    computePoints(grid, scratch, begin, end < grid.total ? end : grid.total);
  }
}

/// Small enough that unequal points (causal rows) even out, large enough that the counter costs nothing.
int64_t grainOf(int64_t total, int32_t threads) {
  int64_t grain = total / (int64_t(32) * threads);
  return grain < 1 ? 1 : grain;
}

} // namespace

extern "C" void attune_rt_launch(void *launcher, attune_rt_kernel kernel, const void *args, int64_t slots, int64_t gx,
                                 int64_t gy, int64_t gz) {
  attune_rt_handle &handle = static_cast<CpuLauncher *>(launcher)->handle;
  if (gx <= 0 || gy <= 0 || gz <= 0)
    return;
  int64_t total = gx * gy * gz;
  int32_t bodies = total < handle.threads ? static_cast<int32_t>(total) : handle.threads;
  Grid grid{handle, kernel, args, gx, gy, total, grainOf(total, bodies)};
  if (bodies == 1)
    gridBody(&grid, 0);
  else if (handle.parallelFor)
    handle.parallelFor(handle.parallelForContext, bodies, gridBody, &grid);
  else
    runBodies(handle.pool, bodies, gridBody, &grid);
}
