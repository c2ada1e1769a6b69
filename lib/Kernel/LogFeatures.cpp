//===- LogFeatures.cpp - Features given by their logarithms ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LogFeatures.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value LogFeatures::at(TileBuilder &tiles, Value x) const {
  Value power = tiles.exp2(x);
  return mantissas ? tiles.times(power, mantissas) : power;
}

double kernel::leastExponent(attn::DenominatorAttr guard) {
  // In a unit of the guard's own size, weights of a thousandth of a millionth of it would be lost, and with them outputs
  // that are tiny beside the values, but all that there are. In one so much smaller the guard is 2^range.
  constexpr int range = 96;
  double largest = std::max(guard.getBias(), guard.getFloor());
  return largest > 0 ? std::floor(std::log2(largest)) - range : noLogarithm;
}

/// number · 2^-c [T], neither of which need be in range.
static Value inUnit(TileBuilder &tiles, double number, Value c) {
  ArrayRef<int64_t> rows = tiles.shape(c);
  int exponent = 0;
  double mantissa = std::frexp(number, &exponent);
  return tiles.times(tiles.exp2(tiles.minus(tiles.constant(rows, exponent), c)), tiles.constant(rows, mantissa));
}

GuardedInUnit kernel::guardInUnit(TileBuilder &tiles, attn::DenominatorAttr guard, Value denominator, Value c) {
  if (guard.getBias() != 0)
    denominator = tiles.plus(denominator, inUnit(tiles, guard.getBias(), c));
  if (guard.getFloor() == 0)
    return {denominator, Value()};
  Value floor = inUnit(tiles, guard.getFloor(), c);
  return {tiles.maximum(denominator, floor), tiles.compare(arith::CmpFPredicate::OLE, denominator, floor)};
}

Value kernel::normalizeInUnit(TileBuilder &tiles, attn::DenominatorAttr guard, Value numerator, Value denominator,
                              Value c) {
  auto none = attn::DenominatorAttr::get(tiles.builder.getContext(), 0.0, 0.0);
  return normalize(tiles, none, numerator, guardInUnit(tiles, guard, denominator, c).divisor);
}
