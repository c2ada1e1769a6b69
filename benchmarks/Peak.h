//===- Peak.h - The FMA peak of one thread, and medians ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_BENCHMARKS_PEAK_H
#define ATTUNE_BENCHMARKS_PEAK_H

#include "attune/Pipeline/MachinePeak.h"

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

/// Seconds of this thread: time given to other programs does not count.
static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Operations a second of multiply-adds in registers.
static double peak(const std::string &isa) {
  double start = now(), operations = attune::runMultiplyAdds(isa == "avx512" ? 512 : 256, /*rounds=*/200000);
  return operations / (now() - start);
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

#endif // ATTUNE_BENCHMARKS_PEAK_H
