//===- Denormals.h - Numbers too small for kernels -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CPU_DENORMALS_H
#define ATTUNE_RT_CPU_DENORMALS_H

#include <cstdint>
#include <xmmintrin.h>

namespace attune::rt {

/// Has this thread count f32 below 2^-126 as 0, in operands and results, as long as it lives. Features, weights and gates that underflow are nothing
/// beside others, and each instruction with one takes some 150 cycles. The caller's modes and flags are as they were afterwards.
class FlushDenormals {
public:
  FlushDenormals() : before(_mm_getcsr()) { _mm_setcsr(before | toZero | areZero); }
  ~FlushDenormals() { _mm_setcsr(before); }
  FlushDenormals(const FlushDenormals &) = delete;
  FlushDenormals &operator=(const FlushDenormals &) = delete;

private:
  static constexpr uint32_t toZero = 1u << 15, areZero = 1u << 6; ///< FTZ, DAZ
  uint32_t before;
};

} // namespace attune::rt

#endif // ATTUNE_RT_CPU_DENORMALS_H
