//===- KernelPrice.cpp - Seconds from work and device ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/KernelPrice.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

const char *KernelPrice::limit() const {
  double longest = std::max({compute, nearMemory, mainMemory});
  if (launch > longest)
    return "launch";
  return longest == compute ? "compute" : longest == nearMemory ? "near memory" : "main memory";
}

KernelPrice cost::priceOf(const WorkEstimate &work, const DeviceDescription &device) {
  // The work counts each of the three products of tf32 that make one of f32.
  double passes = work.products + work.tf32Products * (device.f32ProductPasses / 3 - 1);
  double matrix = passes / (device.productsPerSecond * device.productEfficiency);
  double vector = work.elementwise / device.elementwisePerSecond + work.exps / device.exp2PerSecond;
  bool sideBySide = device.kind == tile::TargetKind::GPU;
  double total = sideBySide ? std::max(matrix, vector) : matrix + vector;
  double waves = std::ceil(work.grain / device.cores), busy = std::min(work.grain, device.cores.value);
  // Tiles that overflow a core's fast memory stream through the near level once per use.
  bool overflows = work.liveBytes > device.fastBytes;
  // What a step pushes out of the fast memory comes back from beyond it, in the middle of the products that wait for it.
  if (work.stepBytes > device.fastBytes)
    total += work.carriedBytes / device.mainBytesPerSecond * busy;

  KernelPrice price;
  price.launch = work.launches * device.launchSeconds;
  price.compute = work.grain > 0 ? total / work.grain * waves : 0;
  price.nearMemory = busy > 0 ? work.nearBytes * (overflows ? 2 : 1) / (device.nearBytesPerSecond * busy) : 0;
  price.mainMemory = work.mainBytes / device.mainBytesPerSecond;
  return price;
}
