//===- MachineProbes.h - Rates of this machine, measured ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each probe runs for about the time it is given and returns a rate over that time. What counts is the
// time of the thread that works, so that what other programs take does not; what they do to clock and caches does.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINE_MACHINEPROBES_H
#define ATTUNE_PIPELINE_MACHINEPROBES_H

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>

namespace attune {

/// Processor time of the calling thread.
double threadSeconds();

/// Width of the vectors that the probes use: 512, 256, or 0 where the processor has neither AVX-512F nor AVX2 with FMA.
/// All probes need one of them.
int probeVectorBits();

/// Multiply-adds of f32 in registers.
double probeMultiplyAdds(double seconds);

/// Operations on the elements of an f32 tile in the nearest cache, three a load and a store: maximum, difference, sum.
double probeElementwise(double seconds);

/// Powers of two of the elements of such a tile, by the polynomial that kernels use.
double probeExp2(double seconds);

/// Bytes that one thread reads of `data`, again and again.
double probeRead(llvm::ArrayRef<float> data, double seconds);

/// Bytes that `threads` threads read together, each of a part of `data`: the sum of their rates.
double probeReadTogether(llvm::ArrayRef<float> data, int threads, double seconds);

/// Bytes of a core's second-level cache and of the third level; 0 where the system does not say.
size_t secondLevelBytes();
size_t thirdLevelBytes();

} // namespace attune

#endif // ATTUNE_PIPELINE_MACHINEPROBES_H
