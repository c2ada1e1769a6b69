//===- GpuWork.cpp - What a GPU does for a launch -------------------------===//
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

WorkEstimate cost::gpuWork(const EvaluatedCounts &counts, double liveBytes) {
  const tile::OpCount &count = counts.count;
  WorkEstimate work;
  work.products = count.macs(), work.tf32Products = count[Counted::MacsTF32];
  work.elementwise = count[Counted::Elementwise], work.exps = count[Counted::Exponentials];
  work.nearBytes = count.bytes(), work.wideBytes = counts.bytesInPieces, work.shuffles = counts.shuffles;
  work.mainBytes = counts.footprint.launch.bytes(), work.liveBytes = liveBytes, work.grain = counts.busyPrograms, work.workspaceBytes = counts.footprint.launch.workspace;
  work.lastOps = counts.last[Counted::Elementwise], work.lastBytes = counts.last.bytes(), work.lastGrain = counts.lastPrograms;
  return work;
}
