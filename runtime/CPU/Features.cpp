//===- Features.cpp - What this processor runs ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Features.h"

#include "attune-rt/Descriptor.h"

#include <cpuid.h>
#include <cstdlib>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

using namespace attune::rt;

namespace {

struct Features {
  bool avx2 = false;
  bool avx512 = false;
  bool bf16 = false;  ///< dot products of bf16 beside avx512
  bool tiles = false; ///< products of tiles of bf16 beside those, which the system still has to permit
};

/// The state components that the operating system saves: a feature that cpuid reports is unusable without its
/// registers.
uint32_t savedState() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool hasAll(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

/// The levels x86-64-v3 and x86-64-v4, which the compiler gives its CPU targets.
Features detect() {
  constexpr uint32_t first = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C | bit_MOVBE | bit_POPCNT;
  constexpr uint32_t avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
  constexpr uint32_t avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  constexpr uint32_t ymm = 0x6, zmm = 0xe6; // xmm and ymm; those, masks and both halves of zmm
  Features features;
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !hasAll(c, first))
    return features;
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !hasAll(c, bit_LZCNT))
    return features;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return features;
  uint32_t saved = savedState();
  features.avx2 = hasAll(b, avx2) && hasAll(saved, ymm);
  features.avx512 = features.avx2 && hasAll(b, avx512) && hasAll(saved, zmm);
  constexpr uint32_t amx = 1u << 24 | 1u << 22, tiles = 0x60000; // amx_tile and amx_bf16; configuration and contents
  bool hasTiles = hasAll(d, amx) && hasAll(saved, tiles);
  uint32_t a1;
  features.bf16 = features.avx512 && a >= 1 && __get_cpuid_count(7, 1, &a1, &b, &c, &d) && hasAll(a1, bit_AVX512BF16);
  features.tiles = features.bf16 && hasTiles;
  return features;
}

/// Asks Linux once to let this process use tiles: it saves 8 kB more for each thread that does.
bool permitsTiles() {
#ifdef __linux__
  constexpr long request = 0x1023, contents = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool permitted = syscall(SYS_arch_prctl, request, contents) == 0;
  return permitted;
#else
  return false;
#endif
}

/// Tests run the code on processors without the instructions, which something else executes there.
bool assumesTiles() {
  const char *text = getenv("ATTUNE_ASSUME_AMX");
  return text && strcmp(text, "1") == 0;
}

} // namespace

bool attune::rt::cpuSupports(uint32_t target) {
  Features features = detect();
  switch (target) {
  case ATTUNE_RT_AVX2:
    return features.avx2;
  case ATTUNE_RT_AVX512:
    return features.avx512;
  case ATTUNE_RT_AVX512_BF16:
    return features.bf16;
  case ATTUNE_RT_AMX:
    return features.bf16 && ((features.tiles && permitsTiles()) || assumesTiles());
  default:
    return false;
  }
}

// Intel's cores take as long for a dot product of bf16 as for the multiply-adds of f32 in its place, or longer: they have
// matrix units for it.
int64_t attune::rt::cpuRank(uint32_t target) {
  uint32_t a, b, c, d;
  bool intel = __get_cpuid(0, &a, &b, &c, &d) && b == signature_INTEL_ebx;
  return target == ATTUNE_RT_AVX512_BF16 && intel ? -1 : int64_t(target);
}
