//===- Numbers.h - Sixteen-bit and tensor-core number formats ---*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written without branches and without the compiler's own half types, so that they vectorise for any x86-64 and need no
// support routines.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_NUMBERS_H
#define ATTUNE_EMULATOR_NUMBERS_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attune::emulator {

inline float bitsToFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t floatToBits(float value) { return std::bit_cast<uint32_t>(value); }

/// The exponent is moved by a multiplication, which also makes half's subnormal numbers normal.
inline float halfToFloat(uint16_t half) {
  uint32_t magnitude = uint32_t(half & 0x7fff) << 13;
  uint32_t finite = floatToBits(bitsToFloat(magnitude) * 0x1p112f);
  uint32_t special = magnitude | 0x7f800000u;
  uint32_t bits = (half & 0x7c00) == 0x7c00 ? special : finite;
  return bitsToFloat(bits | uint32_t(half & 0x8000) << 16);
}

/// Rounds to nearest, ties to even.
inline uint16_t floatToHalf(float value) {
  uint32_t bits = floatToBits(value), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return uint16_t(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000) // rounds to 65536 or is larger
    return uint16_t(sign | 0x7c00);
  if (magnitude < 0x38800000) { // subnormal: adding 0.5 aligns the last place of half with that of float
    float aligned = bitsToFloat(magnitude) + 0.5f;
    return uint16_t(sign | (floatToBits(aligned) - 0x3f000000));
  }
  uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return uint16_t(sign | ((rounded - 0x38000000) >> 13));
}

inline float bfloatToFloat(uint16_t value) { return bitsToFloat(uint32_t(value) << 16); }

/// Rounds to nearest, ties to even; NaN stays quiet NaN.
inline uint16_t floatToBfloat(float value) {
  uint32_t bits = floatToBits(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// The matrix unit ignores the 13 low bits of a tf32 operand.
inline float truncateToTf32(float value) { return bitsToFloat(floatToBits(value) & 0xffffe000u); }

/// cvt.rna.tf32.f32: to nearest, ties away from zero.
inline uint32_t roundToTf32(float value) {
  uint32_t bits = floatToBits(value);
  if ((bits & 0x7f800000) == 0x7f800000)
    return bits;
  return (bits + 0x1000) & 0xffffe000u;
}

/// .ftz: subnormal numbers become a zero of the same sign.
inline float flushToZero(float value) {
  return (floatToBits(value) & 0x7f800000) == 0 ? std::copysign(0.0f, value) : value;
}

/// To f32, towards zero: matrix units do not round their sums.
inline float cutOff(double value) {
  auto nearest = static_cast<float>(value);
  bool beyond = std::fabs(nearest) > std::fabs(value) && std::fabs(value) <= std::numeric_limits<float>::max();
  return bitsToFloat(floatToBits(nearest) - beyond);
}

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_NUMBERS_H
