//===- MachinePeak.h - What this machine can do at most ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_MACHINEPEAK_H
#define ATTUNE_PIPELINE_MACHINEPEAK_H

#include <cstdint>

namespace attune {

/// Runs f32 multiply-adds on vectors of 256 or 512 bits in registers, as many at a time as fill a core, for so many
/// rounds; returns the number of operations, two each. The processor must have them (AVX2 with FMA, AVX-512F).
double runMultiplyAdds(int bits, int64_t rounds);

/// f32 operations a second (a fused multiply-add counts two) of one core with the widest vectors it has, measured now
/// over about `seconds`. The clock of a shared machine moves, so measure between the runs that it is compared with.
double measureFmaPeak(double seconds);

} // namespace attune

#endif // ATTUNE_PIPELINE_MACHINEPEAK_H
