//===- Rounding.cpp - Rounding of f64 to narrower formats ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Rounding.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cmath>
#include <limits>

namespace {
/// A binary format: bits of the significand with the hidden one, the least exponent of a normal number, the largest
/// number.
struct Format {
  int bits;
  int least;
  double largest;
};
} // namespace

static constexpr Format f16 = {11, -14, 65504.0};
static constexpr Format bf16 = {8, -126, 0x1.FEp127};

/// f64 to the format in one rounding: through f32 there would be two.
static double roundToFormat(double value, const Format &format) {
  if (!std::isfinite(value) || value == 0)
    return value;
  int exponent = std::max(std::ilogb(value), format.least);
  // Powers of two: neither the division nor the product rounds.
  double unit = std::ldexp(1.0, exponent - (format.bits - 1));
  double rounded = std::nearbyint(value / unit) * unit;
  if (std::fabs(rounded) > format.largest)
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

double attune::reference::roundTo(double value, mlir::Type element) {
  if (element.isF32())
    return static_cast<double>(static_cast<float>(value));
  if (element.isF16())
    return roundToFormat(value, f16);
  if (element.isBF16())
    return roundToFormat(value, bf16);
  return value;
}
