//===- Approximation.h - How far approximate instructions are off ---*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The PTX ISA bounds the errors of the approximate instructions (section 9.7.3). At its worst a result is off by the
// bound, up or down as the operand and a seed decide: the same operand gives the same result, as on a device, and
// neighbouring operands may be off in different directions. Results that the manual's tables fix (of zeros, infinities
// and NaN) and results that are zero, infinite or NaN stay.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_APPROXIMATION_H
#define ATTUNE_EMULATOR_APPROXIMATION_H

#include <cstdint>

namespace attune::emulator {

/// The largest of three.
struct ErrorBound {
  int lastPlaces = 0; ///< units in the last place of the result
  double relative = 0, absolute = 0;

  /// What an instruction may give whose result for `operand` would be `exact` if it were rounded correctly. Another
  /// operand, if there is one, is part of `salt`.
  float worst(float operand, float exact, uint64_t seed, uint32_t salt = 0) const;
};

inline constexpr ErrorBound noError;
inline constexpr ErrorBound boundOfExp2{2};       ///< section 9.7.3.21
inline constexpr ErrorBound boundOfReciprocal{2}; ///< section 9.7.3.13 has 1
/// Section 9.7.3.16 has 2^-22.9, which is one unit or two.
inline constexpr ErrorBound boundOfRootReciprocal{2};
/// Section 9.7.3.20: absolute 2^-22 between 1/2 and 2, where the result is below 1, and relative 2^-22 elsewhere.
inline constexpr ErrorBound boundOfLog2{2, 0x1p-22, 0x1p-22};
inline constexpr ErrorBound boundOfRoot{0, 0x1p-23};           ///< section 9.7.3.15
inline constexpr ErrorBound boundOfTangent{0, 0x1p-11};        ///< section 9.7.3.22
inline constexpr ErrorBound boundOfQuotient{2};                ///< section 9.7.3.8: div.approx and div.full
/// Section 9.7.3.18: 2^-20.5 of angles up to 2 pi, 2^-14.7 up to 100 pi, and nothing is said of others.
inline constexpr ErrorBound boundOfSine{0, 0, 0x1.6a09e6p-21}, boundOfLargeSine{0, 0, 0x1.3b2c48p-15},
    boundOfAnySine{0, 0, 1};
inline constexpr float boundedAngle = 0x1.921fb6p+2f;

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_APPROXIMATION_H
