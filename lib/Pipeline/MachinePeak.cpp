//===- MachinePeak.cpp - What this machine can do at most ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Twelve independent chains of fused multiply-adds in registers: more than latency × throughput asks for on any x86-64
// core with AVX2, and within the sixteen registers that AVX2 has. Every chain begins with another number, so that no two
// are the same computation.
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/MachinePeak.h"

#include <chrono>

using namespace attune;

static constexpr int chains = 12;

template <int bits> using Floats __attribute__((vector_size(bits / 8))) = float;

/// The sum of all, to be kept from the optimiser. Inlined, so that it is compiled for its caller's processor.
template <int bits> [[gnu::always_inline]] static inline float runChains(int64_t rounds) {
  Floats<bits> sums[chains];
  for (int i = 0; i < chains; ++i)
    sums[i] = Floats<bits>{} + 0.001f * static_cast<float>(i + 1);
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      sums[i] = sums[i] * 0.999f + 0.001f;
  for (int i = 1; i < chains; ++i)
    sums[0] += sums[i];
  float total = 0;
  for (int lane = 0; lane < bits / 32; ++lane)
    total += sums[0][lane];
  return total;
}

__attribute__((target("avx512f"), noinline)) static float run512(int64_t rounds) { return runChains<512>(rounds); }
__attribute__((target("avx2,fma"), noinline)) static float run256(int64_t rounds) { return runChains<256>(rounds); }

double attune::runMultiplyAdds(int bits, int64_t rounds) {
  volatile float kept = bits == 512 ? run512(rounds) : run256(rounds);
  (void)kept;
  return 2.0 * chains * (bits / 32) * static_cast<double>(rounds);
}

double attune::measureFmaPeak(double seconds) {
  using Clock = std::chrono::steady_clock;
  bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && !__builtin_cpu_supports("fma"))
    return 0;
  double best = 0;
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    auto start = Clock::now();
    double operations = runMultiplyAdds(wide ? 512 : 256, /*rounds=*/20000);
    double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    best = best > operations / elapsed ? best : operations / elapsed;
  } while (Clock::now() < end);
  return best;
}
