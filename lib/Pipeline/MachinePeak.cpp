//===- MachinePeak.cpp - What this machine can do at most ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Twelve independent chains of fused multiply-adds in registers: more than latency × throughput asks for on any x86-64
// core with AVX2, and within the sixteen registers that AVX2 has when the factors are read from memory.
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/MachinePeak.h"

#include <chrono>
#include <cstdint>
#include <immintrin.h>

using namespace attune;

static constexpr int chains = 12;
static constexpr int64_t roundsPerCall = 20000;

__attribute__((target("avx512f"))) static void fma512() {
  __m512 sums[chains], factor = _mm512_set1_ps(0.999f), addend = _mm512_set1_ps(0.001f);
  for (__m512 &sum : sums)
    sum = addend;
  for (int64_t round = 0; round < roundsPerCall; ++round)
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i) {
      sums[i] = _mm512_fmadd_ps(sums[i], factor, addend);
      asm volatile("" : "+v"(sums[i]));
    }
}

__attribute__((target("avx2,fma"))) static void fma256() {
  __m256 sums[chains], factor = _mm256_set1_ps(0.999f), addend = _mm256_set1_ps(0.001f);
  for (__m256 &sum : sums)
    sum = addend;
  for (int64_t round = 0; round < roundsPerCall; ++round)
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i) {
      sums[i] = _mm256_fmadd_ps(sums[i], factor, addend);
      asm volatile("" : "+x"(sums[i]));
    }
}

double attune::measureFmaPeak(double seconds) {
  using Clock = std::chrono::steady_clock;
  bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && !__builtin_cpu_supports("fma"))
    return 0;
  double operations = 2.0 * chains * roundsPerCall * (wide ? 16 : 8), best = 0;
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    auto start = Clock::now();
    wide ? fma512() : fma256();
    double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    best = best > operations / elapsed ? best : operations / elapsed;
  } while (Clock::now() < end);
  return best;
}
