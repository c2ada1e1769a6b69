//===- MapFormulas.cpp - The formulas of feature maps -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MapFormulas.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value kernel::elu1(TileBuilder &tiles, Value x) {
  Value zero = tiles.constant(tiles.shape(x), 0);
  return tiles.plus(tiles.exp(tiles.minimum(x, zero)), tiles.maximum(x, zero));
}

Value kernel::relu(TileBuilder &tiles, Value x) { return tiles.maximum(x, tiles.constant(tiles.shape(x), 0)); }

Value kernel::wherePositive(TileBuilder &tiles, Value x, Value y) {
  Value zero = tiles.constant(tiles.shape(x), 0);
  return tiles.select(tiles.compare(arith::CmpFPredicate::OGT, x, zero), y, zero);
}

/// i/4M for the places i from 1: [T].
static Value cosformerTurns(TileBuilder &tiles, Value positions, int64_t maxPosition) {
  ArrayRef<int64_t> rows = tiles.shape(positions);
  Value place = tiles.plus(positions, tiles.constant(rows, 1));
  return tiles.times(place, tiles.constant(rows, 0.25 / static_cast<double>(maxPosition)));
}

Value kernel::cosformerGradient(TileBuilder &tiles, Value x, Value positions, int64_t maxPosition, Value ofSines, Value ofCosines) {
  ArrayRef<int64_t> shape = tiles.shape(x);
  Value turns = cosformerTurns(tiles, positions, maxPosition);                                          // [T]
  Value sum = tiles.plus(tiles.times(ofSines, tiles.expand(tiles.sine(turns), 1, shape)),
                         tiles.times(ofCosines, tiles.expand(tiles.cosine(turns), 1, shape)));          // [T, d]
  return wherePositive(tiles, x, sum);
}

std::pair<Value, Value> kernel::cosformer(TileBuilder &tiles, Value x, Value positions, int64_t maxPosition) {
  ArrayRef<int64_t> shape = tiles.shape(x);
  Value turns = cosformerTurns(tiles, positions, maxPosition);                                          // [T]
  Value positive = relu(tiles, x);                                                                      // [T, d]
  return {tiles.times(positive, tiles.expand(tiles.sine(turns), 1, shape)),
          tiles.times(positive, tiles.expand(tiles.cosine(turns), 1, shape))};
}

/// The square root of Σ x² of each row: [rows].
static Value norms(TileBuilder &tiles, Value x) { return tiles.sqrt(tiles.reduceAdd(tiles.times(x, x), 1)); }

// y is divided by its largest entry before the power, which
// cancels and keeps y^p and the squares in range. That entry becomes 2^k, not 1: squares of powers of ε would be below
// the normal range, where some processors take a hundred cycles for each. Rows of 2^15 entries do not overflow.
Value kernel::focused(TileBuilder &tiles, Value x, Value inverse, double power, double epsilon) {
  SmallVector<int64_t> shape(tiles.shape(x)), rows{shape[0]};
  double top = std::exp2(std::floor(56 / std::max(power, 1.0)));
  Value y = tiles.plus(relu(tiles, x), tiles.constant(shape, epsilon));
  y = tiles.times(y, tiles.expand(inverse, 0, shape));                                     // [T, d]
  Value largest = tiles.maximum(tiles.reduceMax(y, 1), tiles.constant(rows, 0x1p-60));     // [T]
  y = tiles.times(y, tiles.expand(tiles.over(tiles.constant(rows, top), largest), 1, shape));
  Value powers = tiles.power(y, power);                                                    // [T, d]
  Value unit = tiles.times(largest, tiles.constant(rows, 1 / top));                        // [T]
  Value factor = tiles.times(unit, tiles.over(norms(tiles, y), norms(tiles, powers)));     // [T]
  return tiles.times(powers, tiles.expand(factor, 1, shape));
}

/// y = (relu(x) + ε) inverse in units of the largest entry of its row, times a power of two (see `focused`): [T, d].
static Value inUnitOfLargest(TileBuilder &tiles, Value x, Value inverse, double power, double epsilon) {
  SmallVector<int64_t> shape(tiles.shape(x)), rows{shape[0]};
  double top = std::exp2(std::floor(56 / std::max(power, 1.0)));
  Value y = tiles.times(tiles.plus(relu(tiles, x), tiles.constant(shape, epsilon)), tiles.expand(inverse, 0, shape)); // [T, d]
  Value largest = tiles.maximum(tiles.reduceMax(y, 1), tiles.constant(rows, 0x1p-60));                  // [T]
  return tiles.times(y, tiles.expand(tiles.over(tiles.constant(rows, top), largest), 1, shape));
}

/// ȳ of y = (relu(x) + ε) inverse, in units of the largest entry, of which nothing is left where it counts twice.
static Value cotangentOfFocused(TileBuilder &tiles, Value x, Value inverse, double power, double epsilon, Value cotangent) {
  SmallVector<int64_t> shape(tiles.shape(x)), rows{shape[0]};
  auto ofRows = [&](Value numbers) { return tiles.expand(numbers, 1, shape); };
  Value y = inUnitOfLargest(tiles, x, inverse, power, epsilon);                                         // [T, d]
  Value powers = tiles.power(y, power), slopes = tiles.times(tiles.power(y, power - 1), tiles.constant(shape, power));
  Value norm = norms(tiles, y), inverseNorm = tiles.over(tiles.constant(rows, 1), norms(tiles, powers)); // [T]
  Value u = tiles.times(powers, ofRows(inverseNorm));                                                   // [T, d]
  Value along = ofRows(tiles.reduceAdd(tiles.times(cotangent, u), 1));
  Value across = tiles.minus(cotangent, tiles.times(along, u));
  return tiles.plus(tiles.times(along, tiles.over(y, ofRows(norm))),
                    tiles.times(tiles.times(slopes, ofRows(tiles.times(norm, inverseNorm))), across));
}

Value kernel::focusedGradient(TileBuilder &tiles, Value x, Value inverse, double power, double epsilon, Value cotangent) {
  Value gradient = cotangentOfFocused(tiles, x, inverse, power, epsilon, cotangent);                    // [T, d]
  return wherePositive(tiles, x, tiles.times(gradient, tiles.expand(inverse, 0, tiles.shape(x))));
}

/// −σ(f) / softplus(f) of each column, σ(f) = 1 − e^{−softplus(f)}.
static Value slopeOfFocus(TileBuilder &tiles, Value inverse) {
  SmallVector<int64_t> columns(tiles.shape(inverse));
  Value rest = tiles.exp2(tiles.over(tiles.constant(columns, -M_LOG2E), inverse));                      // [d]
  return tiles.times(tiles.minus(rest, tiles.constant(columns, 1)), inverse);
}

Value kernel::focusGradient(TileBuilder &tiles, Value x, Value inverse, double power, double epsilon, Value cotangent) {
  SmallVector<int64_t> shape(tiles.shape(x));
  Value gradient = cotangentOfFocused(tiles, x, inverse, power, epsilon, cotangent);                    // [T, d]
  Value slope = tiles.times(slopeOfFocus(tiles, inverse), inverse);
  Value y = tiles.plus(relu(tiles, x), tiles.constant(shape, epsilon));
  return tiles.times(tiles.times(y, gradient), tiles.expand(slope, 0, shape));
}

/// y_c ȳ_c [T, d] of y = (relu(x) + ε) inverse from what reaches the logarithms of u |y|, u = y^p / |y^p|, in units of the largest entry.
static Value productsOfFocused(TileBuilder &tiles, Value x, Value inverse, double power, double epsilon, Value cotangent) {
  SmallVector<int64_t> shape(tiles.shape(x));
  auto ofRows = [&](Value numbers) { return tiles.expand(numbers, 1, shape); };
  Value y = inUnitOfLargest(tiles, x, inverse, power, epsilon);                                         // [T, d]
  Value powers = tiles.power(y, power);
  auto shares = [&](Value entries) {
    Value squares = tiles.times(entries, entries);
    return tiles.over(squares, ofRows(tiles.reduceAdd(squares, 1)));
  };
  Value total = ofRows(tiles.reduceAdd(cotangent, 1));
  Value across = tiles.minus(cotangent, tiles.times(total, shares(powers)));
  return tiles.plus(tiles.times(total, shares(y)), tiles.times(across, tiles.constant(shape, power)));
}

Value kernel::focusedLogGradient(TileBuilder &tiles, Value x, Value inverse, double power, double epsilon, Value cotangent) {
  Value products = productsOfFocused(tiles, x, inverse, power, epsilon, cotangent);                     // [T, d]
  return wherePositive(tiles, x, tiles.over(products, tiles.plus(relu(tiles, x), tiles.constant(tiles.shape(x), epsilon))));
}

Value kernel::focusLogGradient(TileBuilder &tiles, Value x, Value inverse, double power, double epsilon, Value cotangent) {
  Value products = productsOfFocused(tiles, x, inverse, power, epsilon, cotangent);                     // [T, d]
  return tiles.times(products, tiles.expand(slopeOfFocus(tiles, inverse), 0, tiles.shape(x)));
}

/// e and x · 2^-e of x > 0, e integer and the other about 1.
static std::pair<Value, Value> splitExponent(TileBuilder &tiles, Value x) {
  Value least = tiles.constant(tiles.shape(x), std::numeric_limits<float>::min());
  Value number = tiles.maximum(x, least), e = tiles.roundEven(tiles.log2(number));
  return {e, tiles.times(number, tiles.exp2(tiles.negate(e)))};
}

/// g 2^L = x^p: with x = f 2^e, p e and p log2 f, each split into an integer and the rest before they lose digits.
static LogFeatures powerExponents(TileBuilder &tiles, Value x, double p) {
  SmallVector<int64_t> shape(tiles.shape(x));
  auto high = static_cast<float>(std::min(p, 0x1p60));
  auto [e, fraction] = splitExponent(tiles, x);
  Value factor = tiles.constant(shape, high), low = tiles.constant(shape, std::min(p, 0x1p60) - high);
  Value product = tiles.roundEven(tiles.times(e, factor)), logarithm = tiles.log2(fraction);
  Value rest = tiles.fma(e, factor, tiles.negate(product));
  rest = tiles.fma(logarithm, factor, tiles.fma(tiles.plus(e, logarithm), low, rest));
  Value whole = tiles.roundEven(rest);
  return {tiles.plus(product, whole), tiles.exp2(tiles.minus(rest, whole))};
}

LogFeatures kernel::focusedExponents(TileBuilder &tiles, Value x, Value inverse, double power, double epsilon) {
  SmallVector<int64_t> shape(tiles.shape(x));
  Value y = tiles.plus(relu(tiles, x), tiles.constant(shape, epsilon));
  y = tiles.times(y, tiles.expand(inverse, 0, shape));                                    // [T, d]
  Value largest = tiles.reduceMax(y, 1);                                                  // [T]
  y = tiles.over(y, tiles.expand(largest, 1, shape));
  LogFeatures powers = powerExponents(tiles, y, power);                      // [T, d]
  Value ratio = tiles.over(norms(tiles, y), norms(tiles, powers.at(tiles, powers.exponents)));
  auto [exponent, factor] = splitExponent(tiles, tiles.times(largest, ratio));            // [T]
  return {tiles.plus(powers.exponents, tiles.expand(exponent, 1, shape)),
          tiles.times(powers.mantissas, tiles.expand(factor, 1, shape))};
}

Value kernel::timesOmega(TileBuilder &tiles, Value x, Value omega, double factor) {
  if (factor != 1)
    x = tiles.times(x, tiles.constant(tiles.shape(x), factor));
  if (!omega)
    return x;
  SmallVector<int64_t> shape{tiles.shape(x)[0], tiles.shape(omega)[0]};
  return tiles.exactDot(x, omega, tiles.constant(shape, 0), /*transposeA=*/false, /*transposeB=*/true);
}

Value kernel::halfSquares(TileBuilder &tiles, Value x, double scale) {
  Value squares = tiles.reduceAdd(tiles.times(x, x), 1);
  return tiles.times(squares, tiles.constant(tiles.shape(squares), scale * M_LOG2E / 2));
}
