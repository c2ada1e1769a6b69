//===- Dispatch.cpp - Instruction sets of the CPU and their names ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dispatch.h"
#include "Features.h"

#include <cstring>

using namespace attune::rt;

namespace {

struct CpuTarget {
  uint32_t target;
  const char *name;
  const char *requirements;
};

/// From the least to the best.
constexpr CpuTarget cpuTargets[] = {
    {ATTUNE_RT_AVX2, "avx2", "x86-64-v3 (avx2, fma, f16c, bmi2)"},
    {ATTUNE_RT_AVX512, "avx512", "x86-64-v4 (avx512 f, bw, cd, dq, vl)"},
    {ATTUNE_RT_AVX512_BF16, "avx512_bf16", "x86-64-v4 (avx512 f, bw, cd, dq, vl) and avx512_bf16"},
    {ATTUNE_RT_AMX, "amx",
     "x86-64-v4 (avx512 f, bw, cd, dq, vl), avx512_bf16, amx_tile and amx_bf16, and a system that permits their use"}};

/// Null for what is no CPU.
const CpuTarget *findTarget(uint32_t target) {
  for (const CpuTarget &known : cpuTargets)
    if (known.target == target)
      return &known;
  return nullptr;
}

bool isCpuTarget(uint32_t target) { return findTarget(target) != nullptr; }

const char *requirements(uint32_t target) { return findTarget(target)->requirements; }

/// The named variant, whether or not this CPU can run it.
const attune_rt_variant *findVariant(const attune_rt_descriptor &descriptor, uint32_t target) {
  for (uint64_t i = 0; i < descriptor.variant_count; ++i)
    if (descriptor.variants[i].target == target)
      return &descriptor.variants[i];
  return nullptr;
}

attune_status selectNamed(const Place &place, const attune_rt_descriptor &descriptor, const char *isa,
                          const attune_rt_variant **variant) {
  for (const CpuTarget &known : cpuTargets) {
    uint32_t target = known.target;
    if (strcmp(isa, known.name) != 0)
      continue;
    *variant = findVariant(descriptor, target);
    if (!*variant)
      return fail(ATTUNE_ERROR_UNSUPPORTED,
                  "%s_%s: option 'isa': expected an instruction set that the library holds, "
                  "but got %s; leave the option null to take the best that is there",
                  place.library, place.function, isa);
    if (cpuSupports(target))
      return ATTUNE_OK;
    return fail(ATTUNE_ERROR_UNSUPPORTED,
                "%s_%s: option 'isa': expected a CPU with %s, but this one lacks some of them; "
                "leave the option null to take the best that is there",
                place.library, place.function, requirements(target));
  }
  return fail(ATTUNE_ERROR_ARGUMENT,
              "%s_%s: option 'isa': expected null, avx2, avx512, avx512_bf16 or amx, but got '%s'", place.library,
              place.function, isa);
}

} // namespace

const char *attune::rt::isaName(uint32_t target) { return findTarget(target)->name; }

attune_status attune::rt::selectCpuVariant(const Place &place, const attune_rt_descriptor &descriptor, const char *isa,
                                           const attune_rt_variant **variant) {
  if (isa)
    return selectNamed(place, descriptor, isa, variant);
  *variant = nullptr;
  const attune_rt_variant *least = nullptr;
  for (uint64_t i = 0; i < descriptor.variant_count; ++i) {
    const attune_rt_variant &candidate = descriptor.variants[i];
    if (!isCpuTarget(candidate.target))
      continue;
    if (!least || candidate.target < least->target)
      least = &candidate;
    if (cpuSupports(candidate.target) && (!*variant || cpuRank(candidate.target) > cpuRank((*variant)->target)))
      *variant = &candidate;
  }
  if (*variant)
    return ATTUNE_OK;
  if (!least)
    return fail(ATTUNE_ERROR_UNSUPPORTED,
                "%s_%s: option 'device_type': expected a device that the library was compiled "
                "for, but it holds no code for the CPU; compile it with --target cpu",
                place.library, place.function);
  return fail(ATTUNE_ERROR_UNSUPPORTED,
              "%s_%s: expected a CPU with %s, but this one (or its operating system) lacks some "
              "of them; run on a machine that has them",
              place.library, place.function, requirements(least->target));
}
