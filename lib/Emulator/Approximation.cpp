//===- Approximation.cpp - How far approximate instructions are off -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Approximation.h"

#include "Numbers.h"

#include <algorithm>

using namespace attune::emulator;

/// The finalizer of SplitMix64: each bit of the operand decides.
static bool drawnUp(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return (bits ^ bits >> 31) & 1;
}

float ErrorBound::worst(float operand, float exact, uint64_t seed, uint32_t salt) const {
  bool fixed = operand == 0 || !std::isfinite(operand) || exact == 0 || !std::isfinite(exact);
  if (fixed || (lastPlaces == 0 && relative == 0 && absolute == 0))
    return exact;
  double place = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
  double error = std::max({lastPlaces * place, relative * std::fabs(exact), absolute});
  bool up = drawnUp((uint64_t(floatToBits(operand)) << 32 | salt) ^ seed * 0xff51afd7ed558ccd);
  auto result = static_cast<float>(double(exact) + (up ? error : -error));
  if (std::fabs(double(result) - exact) > error)
    result = std::nextafter(result, exact);
  return std::isfinite(result) ? result : exact;
}
