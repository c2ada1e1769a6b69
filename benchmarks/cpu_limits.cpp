//===- cpu_limits.cpp - What limits a CPU's kernels, for benchmarks/cpu.py ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library with a C interface, so that limits are measured in the process that times the kernels and their
// peers. All threads of a probe begin together, each on a processor of its own; a rate is the sum of theirs, over the
// time of each thread.
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/MachineProbes.h"

#include <atomic>
#include <cstdint>
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace attune;

namespace {
enum Limit : int32_t { MultiplyAdds, Bf16Products, Exponentials, Read, Issue };
} // namespace

static constexpr int64_t dotRounds = 5000;
static constexpr int dotChains = 24; // of the 32 registers
static constexpr int64_t issueRounds = 500;

/// Twenty-four chains of dot products of pairs in registers; the numbers are random, as the clock may depend on them.
__attribute__((target("avx512f,avx512bf16"), noinline)) static float runBf16Products(int64_t rounds) {
  alignas(64) uint16_t left[32], right[32];
  uint32_t state = 1;
  for (int i = 0; i < 32; ++i) {
    state = state * 1664525u + 1013904223u;
    left[i] = uint16_t(0x3f00u | (state >> 24 & 0x7fu)), right[i] = uint16_t(0x3c00u | (state >> 16 & 0x7fu));
  }
  auto a = __m512bh(_mm512_load_si512(left)), b = __m512bh(_mm512_load_si512(right));
  __m512 sums[dotChains];
  for (int i = 0; i < dotChains; ++i)
    sums[i] = _mm512_set1_ps(0.001f * float(i + 1));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < dotChains; ++i)
      sums[i] = _mm512_dpbf16_ps(sums[i], a, b);
    asm volatile("" : "+v"(a), "+v"(b));
  }
  for (int i = 1; i < dotChains; ++i)
    sums[0] = _mm512_add_ps(sums[0], sums[i]);
  return _mm512_reduce_add_ps(sums[0]);
}

/// Products of tiles in registers, four sums of one tile each way; of random numbers, as zeros cost less.
__attribute__((target("amx-tile,amx-bf16"), noinline)) static void runTileProducts(int64_t rounds) {
  struct alignas(64) {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t columnBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } config;
  alignas(64) uint16_t numbers[512];
  uint32_t state = 1;
  for (uint16_t &number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = uint16_t(0x3c00u | (state >> 31 << 15) | (state >> 24 & 0x7fu));
  }
  _tile_loadconfig(&config);
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3);
  _tile_loadd(4, numbers, 64);
  _tile_loadd(5, numbers, 64);
  _tile_loadd(6, numbers, 64);
  _tile_loadd(7, numbers, 64);
  for (int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

/// Whether the processor has tiles and Linux lets this process use them.
static bool hasTiles() {
  constexpr long request = 0x1023, contents = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool has = __builtin_cpu_supports("amx-bf16") && syscall(SYS_arch_prctl, request, contents) == 0;
  return has;
}

/// Multiply-adds of bf16 a second by products of tiles.
static double probeTileProducts(double seconds) {
  double start = threadSeconds(), done = 0, elapsed = 0;
  do {
    runTileProducts(dotRounds);
    done += double(dotRounds) * 4 * 16 * 16 * 32;
    elapsed = threadSeconds() - start;
  } while (elapsed < seconds);
  return done / elapsed;
}

/// Multiply-adds of bf16 a second, of tiles where there are any; 0 where the processor has no such instruction.
static double probeBf16Products(double seconds) {
  if (hasTiles())
    return probeTileProducts(seconds);
  if (!__builtin_cpu_supports("avx512bf16"))
    return 0;
  double start = threadSeconds(), done = 0, elapsed = 0;
  volatile float kept = 0;
  do {
    kept = kept + runBf16Products(dotRounds);
    done += double(dotRounds) * dotChains * 32;
    elapsed = threadSeconds() - start;
  } while (elapsed < seconds);
  return done / elapsed;
}

/// Instructions a second that do nothing: as many as the core can take in, so half of that where another program has
/// its other hardware thread.
static double probeIssue(double seconds) {
  double start = threadSeconds(), done = 0, elapsed = 0;
  do {
    for (int64_t round = 0; round < issueRounds; ++round)
      asm volatile(".rept 256\n\tnop\n\t.endr");
    done += double(issueRounds) * 256;
    elapsed = threadSeconds() - start;
  } while (elapsed < seconds);
  return done / elapsed;
}

static double probe(int32_t limit, llvm::ArrayRef<float> memory, double seconds) {
  switch (limit) {
  case MultiplyAdds:
    return probeMultiplyAdds(seconds);
  case Bf16Products:
    return probeBf16Products(seconds);
  case Exponentials:
    return probeExp2(seconds);
  case Read:
    return probeRead(memory, seconds);
  case Issue:
    return probeIssue(seconds);
  }
  return 0;
}

static void stayOn(int32_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/// What `threads` threads do a second together, thread i on processors[i]; of Read each has `bytes` of its own.
extern "C" double attune_limit(int32_t limit, int64_t bytes, int32_t threads, const int32_t *processors,
                               double seconds) {
  std::atomic<int32_t> waiting{threads};
  std::vector<double> rates(static_cast<size_t>(threads));
  auto body = [&](int32_t thread) {
    stayOn(processors[thread]);
    std::vector<float> memory(limit == Read ? static_cast<size_t>(bytes) / sizeof(float) : 0, 1.0f);
    waiting.fetch_sub(1);
    while (waiting.load() > 0)
      std::this_thread::yield();
    rates[static_cast<size_t>(thread)] = probe(limit, memory, seconds);
  };
  std::vector<std::thread> started;
  for (int32_t thread = 0; thread < threads; ++thread)
    started.emplace_back(body, thread);
  for (std::thread &thread : started)
    thread.join();
  double sum = 0;
  for (double rate : rates)
    sum += rate;
  return sum;
}

/// Runs a compiled library `count` times, as Python takes longer to call it than a small run lasts. The status of the
/// first run that fails, or 0.
extern "C" int32_t attune_repeat(int32_t (*run)(void *, void *, void *, size_t, void *), void *handle, void *tensors,
                                 void *workspace, size_t bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (int32_t status = run(handle, tensors, workspace, bytes, /*stream=*/nullptr))
      return status;
  return 0;
}
