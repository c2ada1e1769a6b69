//===- TogetherPrice.cpp - Seconds of several kernels in one launch ----------- -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A point goes to the core that is free first. n equal points of t seconds on cores that are free at times f_c: all points
// that begin before some time are begun in the order of their times, so the time by which n have begun decides how many each
// core gets.
//
//===----------------------------------------------------------------------===//
#include "ComputeSeconds.h"
#include "attune/Cost/KernelPrice.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace attune;
using namespace attune::cost;

WorkEstimate cost::workTogether(llvm::ArrayRef<WorkEstimate> works) {
  WorkEstimate sum = works.front();
  double grain = sum.grain;
  for (const WorkEstimate &work : works.drop_front())
    sum += work, grain += work.grain;
  sum.grain = grain, sum.launches = 1;
  return sum;
}

/// Points of t seconds that begin before `time` on a core that is free at `free`.
static double begun(double free, double time, double t) { return std::max(0.0, std::ceil((time - free) / t)); }

/// Hands out `count` points of t seconds to cores that are free at these times.
static void handOut(std::vector<double> &free, double count, double t) {
  if (count <= 0 || t <= 0)
    return;
  double cores = static_cast<double>(free.size());
  double low = *std::min_element(free.begin(), free.end());
  double high = *std::max_element(free.begin(), free.end()) + t * (count / cores + 1);
  auto allBegun = [&](double time) {
    double sum = 0;
    for (double each : free)
      sum += begun(each, time, t);
    return sum;
  };
  for (int step = 0; step < 60; ++step) {
    double middle = (low + high) / 2;
    (allBegun(middle) <= count ? low : high) = middle;
  }
  for (double &each : free) {
    double points = begun(each, low, t);
    each += points * t, count -= points;
  }
  for (; count >= 1; --count) // points that would begin at the same time
    *std::min_element(free.begin(), free.end()) += t;
}

KernelPrice cost::priceTogether(llvm::ArrayRef<WorkEstimate> works, const DeviceDescription &device) {
  if (works.size() == 1)
    return priceOf(works.front(), device);
  std::vector<double> free(static_cast<size_t>(device.cores), 0);
  double nearBytes = 0, mainBytes = 0, grain = 0;
  for (const WorkEstimate &work : works) {
    handOut(free, work.grain, work.grain > 0 ? computeSeconds(work, device) / work.grain : 0);
    nearBytes += work.nearBytes * (work.liveBytes > device.fastBytes ? 2 : 1);
    mainBytes += work.mainBytes, grain += work.grain;
  }
  double busy = std::min(grain, device.cores.value);
  KernelPrice price;
  price.launch = device.launchSeconds;
  price.compute = *std::max_element(free.begin(), free.end());
  price.nearMemory = busy > 0 ? nearBytes / (device.nearBytesPerSecond * busy) : 0;
  price.mainMemory = mainBytes / mainRate(busy, device);
  return price;
}
