//===- MachineProbes.cpp - Rates of this machine, measured ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/MachineProbes.h"
#include "attune/Pipeline/MachinePeak.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <immintrin.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace attune;

double attune::threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

int attune::probeVectorBits() {
  if (__builtin_cpu_supports("avx512f"))
    return 512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 256 : 0;
}

/// Repeats `work`, which returns what it did, and divides by the time of this thread.
template <typename Work> static double rateOf(double seconds, Work work) {
  double start = threadSeconds(), done = 0, elapsed = 0;
  do {
    done += work();
    elapsed = threadSeconds() - start;
  } while (elapsed < seconds);
  return done / elapsed;
}

double attune::probeMultiplyAdds(double seconds) {
  int bits = probeVectorBits();
  return rateOf(seconds, [&] { return runMultiplyAdds(bits, /*rounds=*/5000) / 2; });
}

//===----------------------------------------------------------------------===//
// Tiles in the nearest cache
//===----------------------------------------------------------------------===//

template <int bits> using Floats __attribute__((vector_size(bits / 8))) = float;

/// Data has the alignment of its elements alone.
template <int bits> [[gnu::always_inline]] static inline Floats<bits> load(const float *from) {
  Floats<bits> vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

static constexpr int64_t tileElements = 64 * 32; // two of them in 16 KiB

/// The passes of softmax over a tile of scores but for the exponential: maximum, difference, sum.
template <int bits> [[gnu::always_inline]] static inline float passTile(const float *from, float *to) {
  constexpr int lanes = bits / 32, unroll = 4;
  Floats<bits> sums[unroll] = {}, low = Floats<bits>{} - 1.0f, shift = Floats<bits>{} + 0.25f;
  for (int64_t i = 0; i < tileElements; i += unroll * lanes)
    for (int j = 0; j < unroll; ++j) {
      Floats<bits> x = load<bits>(from + i + j * lanes);
      x = x > low ? x : low;
      x -= shift;
      sums[j] += x;
      std::memcpy(to + i + j * lanes, &x, sizeof(x));
    }
  Floats<bits> sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return sum[0];
}

__attribute__((target("avx512f"), noinline)) static float pass512(const float *from, float *to) {
  return passTile<512>(from, to);
}
__attribute__((target("avx2,fma"), noinline)) static float pass256(const float *from, float *to) {
  return passTile<256>(from, to);
}

double attune::probeElementwise(double seconds) {
  std::vector<float> from(tileElements, 0.5f), to(tileElements);
  bool wide = probeVectorBits() == 512;
  return rateOf(seconds, [&] {
    volatile float kept = 0;
    for (int repeat = 0; repeat < 64; ++repeat)
      kept = kept + (wide ? pass512(from.data(), to.data()) : pass256(from.data(), to.data()));
    return 64.0 * 3 * tileElements;
  });
}

// The coefficients of lib/Lowering/CPU/ExpandMath.cpp do not matter here, their number does: degree 5.
static constexpr float powers[] = {0.69314700f, 0.24022242f, 0.05550734f, 0.00967152f, 0.00132647f};

__attribute__((target("avx512f,avx512dq"), noinline)) static void exp2Tile512(const float *from, float *to) {
  for (int64_t i = 0; i < tileElements; i += 16) {
    __m512 x = _mm512_loadu_ps(from + i), p = _mm512_set1_ps(powers[4]);
    __m512 f = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    for (int term = 3; term >= 0; --term)
      p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(powers[term]));
    p = _mm512_scalef_ps(_mm512_fmadd_ps(p, f, _mm512_set1_ps(1)), x);
    _mm512_storeu_ps(to + i, _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(-126), _CMP_NLT_UQ), p));
  }
}

__attribute__((target("avx2,fma"), noinline)) static void exp2Tile256(const float *from, float *to) {
  for (int64_t i = 0; i < tileElements; i += 8) {
    __m256 x = _mm256_loadu_ps(from + i), clamped = _mm256_min_ps(_mm256_set1_ps(128), x);
    __m256 shifter = _mm256_set1_ps(12582912), shifted = _mm256_add_ps(clamped, shifter);
    __m256 f = _mm256_sub_ps(clamped, _mm256_sub_ps(shifted, shifter)), p = _mm256_set1_ps(powers[4]);
    for (int term = 3; term >= 0; --term)
      p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(powers[term]));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1));
    __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    p = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
    p = _mm256_and_ps(p, _mm256_cmp_ps(x, _mm256_set1_ps(-126), _CMP_GE_OQ));
    _mm256_storeu_ps(to + i, _mm256_blendv_ps(p, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
  }
}

double attune::probeExp2(double seconds) {
  std::vector<float> from(tileElements), to(tileElements);
  for (int64_t i = 0; i < tileElements; ++i)
    from[i] = -0.01f * static_cast<float>(i % 1000);
  bool wide = probeVectorBits() == 512;
  return rateOf(seconds, [&] {
    for (int repeat = 0; repeat < 64; ++repeat)
      wide ? exp2Tile512(from.data(), to.data()) : exp2Tile256(from.data(), to.data());
    volatile float kept = to[0];
    (void)kept;
    return 64.0 * tileElements;
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

template <int bits> [[gnu::always_inline]] static inline float sumAll(const float *data, size_t count) {
  constexpr size_t lanes = bits / 32, unroll = 8;
  Floats<bits> sums[unroll] = {};
  for (size_t i = 0; i + unroll * lanes <= count; i += unroll * lanes)
#pragma clang loop unroll(full)
    for (size_t j = 0; j < unroll; ++j)
      sums[j] += load<bits>(data + i + j * lanes);
  for (size_t j = 1; j < unroll; ++j)
    sums[0] += sums[j];
  return sums[0][0];
}

__attribute__((target("avx512f"), noinline)) static float sum512(const float *data, size_t count) {
  return sumAll<512>(data, count);
}
__attribute__((target("avx2,fma"), noinline)) static float sum256(const float *data, size_t count) {
  return sumAll<256>(data, count);
}

static double readOnce(llvm::ArrayRef<float> data) {
  asm volatile("" ::: "memory"); // as far as the compiler knows, the data is new
  volatile float kept = probeVectorBits() == 512 ? sum512(data.data(), data.size()) : sum256(data.data(), data.size());
  (void)kept;
  return double(data.size()) * sizeof(float);
}

double attune::probeRead(llvm::ArrayRef<float> data, double seconds) {
  // Reading the clock takes as long as reading some 20 KiB.
  size_t repeats = std::max<size_t>(1, (size_t(1) << 22) / (data.size() * sizeof(float)));
  return rateOf(seconds, [&] {
    double bytes = 0;
    for (size_t i = 0; i < repeats; ++i)
      bytes += readOnce(data);
    return bytes;
  });
}

double attune::probeReadTogether(llvm::ArrayRef<float> data, int threads, double seconds) {
  std::atomic<int> waiting{threads};
  std::vector<double> rates(threads);
  size_t part = data.size() / threads;
  auto body = [&](int thread) {
    llvm::ArrayRef<float> mine = data.slice(thread * part, part);
    // All begin together, so that nobody reads alone.
    waiting.fetch_sub(1);
    while (waiting.load() > 0)
      std::this_thread::yield();
    rates[thread] = rateOf(seconds, [&] { return readOnce(mine); });
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back(body, thread);
  body(0);
  double sum = 0;
  for (std::thread &other : others)
    other.join();
  for (double rate : rates)
    sum += rate;
  return sum;
}

static size_t cacheBytes(int level) {
  long bytes = sysconf(level);
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

size_t attune::secondLevelBytes() { return cacheBytes(_SC_LEVEL2_CACHE_SIZE); }
size_t attune::thirdLevelBytes() { return cacheBytes(_SC_LEVEL3_CACHE_SIZE); }
