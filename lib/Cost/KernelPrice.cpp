//===- KernelPrice.cpp - Seconds from work and device ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ComputeSeconds.h"
#include "attune/Cost/KernelPrice.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

const char *KernelPrice::limit() const {
  double longest = std::max({compute, nearMemory, mainMemory});
  if (launch > longest)
    return "launch";
  if (longest == compute)
    return shuffles > 0 && shuffles >= compute ? "shuffles" : "compute";
  return longest == nearMemory ? "near memory" : "main memory";
}

/// From the last store of a grid point to the first load of the one that waited for it, as a part of a launch: on a GPU two fences
/// and an exchange or two in the L2 cache, about a microsecond of three (estimate, not measured); on a CPU a cache line that
/// goes from core to core, a tenth of a microsecond: less than shows beside states of 4,096 tokens, where merging by arrival and by a
/// kernel took the same time within 1 % (one thread of an EPYC with AVX-512; docs/Rationale/Fusion.md).
static double arrivalSeconds(const DeviceDescription &device) {
  return device.launchSeconds * (device.kind == tile::TargetKind::GPU ? 1.0 / 3 : 1.0 / 10);
}

/// Seconds of a grid of points that read, add up and write, side by side on the cores.
static double lastSeconds(const WorkEstimate &work, const DeviceDescription &device) {
  if (work.lastGrain == 0)
    return 0;
  double waves = std::ceil(work.lastGrain / device.cores), busy = std::min(work.lastGrain, device.cores.value);
  double compute = work.lastOps / device.elementwisePerSecond / work.lastGrain * waves;
  double near = work.lastBytes / (device.nearBytesPerSecond * busy), main = work.lastBytes / device.mainBytesPerSecond;
  return std::max({compute, near, main}) + arrivalSeconds(device);
}

/// Of all warps on one core. Words between lanes go through the unit that serves shared memory, an instruction a cycle,
/// as documented. What products and copies ask of that unit besides is not counted, so this is the least that it takes:
/// a limit of its own, beside those of the matrix units and the arithmetic, and no addition to either.
static double shuffleSeconds(const WorkEstimate &work, const DeviceDescription &device) {
  return work.shuffles > 0 ? work.shuffles / device.shufflesPerSecond : 0;
}

double cost::computeSeconds(const WorkEstimate &work, const DeviceDescription &device) {
  // The work counts each of the three products of tf32 that make one of f32.
  double passes = work.products + work.tf32Products * (device.f32ProductPasses / 3 - 1);
  passes -= work.pairProducts * (1 - device.bf16ProductPasses);
  double matrix = passes / (device.productsPerSecond * device.productEfficiency);
  double vector = (work.elementwise - work.lastOps) / device.elementwisePerSecond + work.exps / device.exp2PerSecond;
  bool sideBySide = device.kind == tile::TargetKind::GPU;
  return sideBySide ? std::max({matrix, vector, shuffleSeconds(work, device)}) : matrix + vector;
}

double cost::mainRate(double busy, const DeviceDescription &device) {
  bool shared = device.kind == tile::TargetKind::CPU;
  return device.mainBytesPerSecond * (shared ? std::max(1.0, busy) / device.cores : 1);
}

KernelPrice cost::priceOf(const WorkEstimate &work, const DeviceDescription &device) {
  double waves = std::ceil(work.grain / device.cores), busy = std::min(work.grain, device.cores.value);
  // Tiles that overflow a core's fast memory stream through the near level once per use.
  bool overflows = !device.mustFit() && work.liveBytes > device.fastBytes;
  double total = computeSeconds(work, device);
  // What a step pushes out of the fast memory comes back from beyond it, in the middle of the products that wait for it.
  if (work.stepBytes > device.fastBytes)
    total += work.carriedBytes / device.mainBytesPerSecond * busy;

  KernelPrice price;
  price.launch = work.launches * device.launchSeconds;
  price.compute = work.grain > 0 ? total / work.grain * waves : 0;
  price.shuffles = work.grain > 0 ? shuffleSeconds(work, device) / work.grain * waves : 0;
  double nearBytes = std::max(0.0, work.nearBytes - work.lastBytes);
  price.nearMemory = busy > 0 ? nearBytes * (overflows ? 2 : 1) / (device.nearBytesPerSecond * busy) : 0;
  price.mainMemory = std::max(0.0, work.mainBytes - work.lastBytes) / mainRate(busy, device);
  price.last = lastSeconds(work, device);
  return price;
}
