//===- CpuWork.cpp - What a CPU does for a launch -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/KernelCounts.h"

using namespace attune;
using namespace attune::cost;
using tile::Counted;

/// Operations of a sine: the turns are taken off, then a polynomial.
static constexpr double opsOfSine = 8;
/// A logarithm beside an exponential: a division more. An estimate, not measured; only features with exponents have any.
static constexpr double expsOfLogarithm = 1.5;

WorkEstimate cost::cpuWork(const EvaluatedCounts &counts, double liveBytes) {
  const tile::OpCount &count = counts.count;
  WorkEstimate work;
  work.products = count.macs(), work.pairProducts = count[Counted::MacsBF16];
  work.elementwise = count[Counted::Elementwise] + opsOfSine * count[Counted::Sines];
  work.exps = count[Counted::Exponentials] + expsOfLogarithm * count[Counted::Logarithms];
  work.nearBytes = count.bytes(), work.mainBytes = counts.footprint.launch.bytes();
  work.liveBytes = liveBytes, work.grain = counts.busyPrograms, work.workspaceBytes = counts.footprint.launch.workspace;
  work.lastOps = counts.last[Counted::Elementwise], work.lastBytes = counts.last.bytes(), work.lastGrain = counts.lastPrograms;
  for (const CarryingLoop &loop : counts.loops) {
    if (loop.liveBytes < work.stepBytes)
      continue;
    // What a step carries is read and written.
    work.stepBytes = loop.liveBytes, work.carriedBytes = 2 * loop.steps * loop.carriedBytes;
  }
  return work;
}
