//===- WorkEstimate.h - What a kernel does, counted -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_WORKESTIMATE_H
#define ATTUNE_COST_WORKESTIMATE_H

#include <algorithm>
#include <cstdint>
#include <string>

namespace attune::cost {

/// The work of one kernel over its whole grid, independent of the device. Counts are of what the kernel executes, tails
/// of tiles included. On a GPU `products`, `nearBytes`, `wideBytes` and `shuffles` are what its instructions do
/// (attune/Lowering/GPU/Layouts.h).
struct WorkEstimate {
  double products = 0;       ///< multiply-adds in tile products (on matrix units where there are any)
  double tf32Products = 0;   ///< those of them on matrix units whose operands are tf32
  double pairProducts = 0;   ///< those of them on a CPU whose operands are bf16
  double elementwise = 0;    ///< other operations on elements of tiles
  double exps = 0;
  double mainBytes = 0;      ///< each operand once
  double nearBytes = 0;      ///< what the grid points load and store, operands as often as they are read
  double wideBytes = 0;      ///< those of them on a GPU that are asked for by 16 bytes a lane
  double shuffles = 0;       ///< on a GPU, of warps: elements that go to other lanes
  double liveBytes = 0;      ///< the tiles of one grid point
  double carriedBytes = 0;   ///< of tiles that are read and written once a step of a loop, at whose end they are needed
  double stepBytes = 0;      ///< what one such step touches
  double workspaceBytes = 0; ///< what the kernel writes for a later one
  double grain = 1;          ///< grid points, which run in parallel
  // Of it, what is left to grid points that wait for others (`merged_state`): elementwise work, bytes, how many such points.
  double lastOps = 0, lastBytes = 0, lastGrain = 0;
  int64_t launches = 1;

  /// Kernels that run one after another.
  WorkEstimate &operator+=(const WorkEstimate &other) {
    products += other.products, tf32Products += other.tf32Products;
    pairProducts += other.pairProducts, elementwise += other.elementwise, exps += other.exps;
    mainBytes += other.mainBytes, nearBytes += other.nearBytes, wideBytes += other.wideBytes;
    shuffles += other.shuffles;
    liveBytes = std::max(liveBytes, other.liveBytes);
    carriedBytes += other.carriedBytes, stepBytes = std::max(stepBytes, other.stepBytes);
    workspaceBytes += other.workspaceBytes;
    grain = std::min(grain, other.grain);
    lastOps += other.lastOps, lastBytes += other.lastBytes, lastGrain += other.lastGrain;
    launches += other.launches;
    return *this;
  }
};

struct KernelWork {
  std::string kernel; ///< the suffix of its symbol: softmax, quadratic, state, merge, readout, chunked …
  WorkEstimate work;
};

} // namespace attune::cost

#endif // ATTUNE_COST_WORKESTIMATE_H
