//===- Dispatch.h - Instruction sets of the CPU and their names -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CPU_DISPATCH_H
#define ATTUNE_RT_CPU_DISPATCH_H

#include "Common/Status.h"

namespace attune::rt {

/// Name of a CPU target as options and messages spell it: "avx2", "avx512".
const char *isaName(uint32_t target);

/// The best variant of the library that this CPU runs or, if `isa` is not null, the one of that name.
attune_status selectCpuVariant(const Place &place, const attune_rt_descriptor &descriptor, const char *isa,
                               const attune_rt_variant **variant);

} // namespace attune::rt

#endif // ATTUNE_RT_CPU_DISPATCH_H
