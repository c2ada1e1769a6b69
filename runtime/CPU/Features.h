//===- Features.h - What this processor runs ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler has this file too, for code for the machine that it runs on alone.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CPU_FEATURES_H
#define ATTUNE_RT_CPU_FEATURES_H

#include <cstdint>

namespace attune::rt {

/// Whether the CPU and the operating system both support the target.
bool cpuSupports(uint32_t target);

/// Of the targets that a CPU supports the better one has the higher rank.
int64_t cpuRank(uint32_t target);

} // namespace attune::rt

#endif // ATTUNE_RT_CPU_FEATURES_H
