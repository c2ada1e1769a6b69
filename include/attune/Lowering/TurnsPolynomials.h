//===- TurnsPolynomials.h - Sine and cosine of a part of a turn -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One set of coefficients for the code of CPUs and of GPUs, so that both round alike.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_TURNSPOLYNOMIALS_H
#define ATTUNE_LOWERING_TURNSPOLYNOMIALS_H

namespace attune {

inline constexpr double sines[] = {-41.34167233, 81.59376671, -75.44560302};
inline constexpr double cosines[] = {-19.73920868, 64.93932185, -85.44323628, 59.22924372};
inline constexpr double turnHigh = 0x1.921fb4p+2, turnLow = 3.0199159795074593e-07; // their sum is 2π

} // namespace attune

#endif // ATTUNE_LOWERING_TURNSPOLYNOMIALS_H
