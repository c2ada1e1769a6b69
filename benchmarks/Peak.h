//===- Peak.h - The FMA peak of one thread, and medians ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_BENCHMARKS_PEAK_H
#define ATTUNE_BENCHMARKS_PEAK_H

#include <algorithm>
#include <ctime>
#include <immintrin.h>
#include <vector>

/// Seconds of this thread: time given to other programs does not count.
static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// Twelve independent sums hide the latency of the FMA on every processor in use.
#define ATTUNE_PEAK(NAME, TARGET, VECTOR, SET, FMA, LANES)                                                             \
  __attribute__((target(TARGET), noinline)) static double NAME(int64_t rounds) {                                       \
    VECTOR sums[12], x = SET(1.0000001f), y = SET(1e-9f);                                                              \
    for (auto &sum : sums)                                                                                             \
      sum = x;                                                                                                         \
    double start = now();                                                                                              \
    for (int64_t i = 0; i < rounds; ++i) {                                                                             \
      _Pragma("clang loop unroll(full)") for (int j = 0; j < 12; ++j) sums[j] = FMA(sums[j], x, y);                    \
      asm volatile("" : "+x"(sums[0]), "+x"(sums[1]));                                                                 \
    }                                                                                                                  \
    double seconds = now() - start;                                                                                    \
    for (auto &sum : sums)                                                                                             \
      asm volatile("" : : "x"(sum));                                                                                   \
    return double(rounds) * 12 * 2 * LANES / seconds;                                                                  \
  }
ATTUNE_PEAK(peak256, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, 8)
ATTUNE_PEAK(peak512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, 16)

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

#endif // ATTUNE_BENCHMARKS_PEAK_H
