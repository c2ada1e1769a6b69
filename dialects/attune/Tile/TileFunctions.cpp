//===- TileFunctions.cpp - Functions of tiles as elementwise ops -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/TileBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace attune::tile;

//===----------------------------------------------------------------------===//
// One op each
//===----------------------------------------------------------------------===//

Value TileBuilder::negate(Value a) { return arith::NegFOp::create(builder, loc, a); }
Value TileBuilder::abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
Value TileBuilder::sqrt(Value a) { return math::SqrtOp::create(builder, loc, a); }
Value TileBuilder::roundEven(Value a) { return math::RoundEvenOp::create(builder, loc, a); }
Value TileBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
Value TileBuilder::sine(Value turns) { return SineOp::create(builder, loc, turns); }
Value TileBuilder::cosine(Value turns) { return CosineOp::create(builder, loc, turns); }
Value TileBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}
Value TileBuilder::select(Value condition, Value then, Value otherwise) {
  return arith::SelectOp::create(builder, loc, condition, then, otherwise);
}

//===----------------------------------------------------------------------===//
// Exponentials, logarithms, powers
//===----------------------------------------------------------------------===//

Value TileBuilder::exp(Value a) { return exp2(times(a, constant(shape(a), M_LOG2E))); }
Value TileBuilder::log(Value a) { return times(log2(a), constant(shape(a), M_LN2)); }

/// x^p for an integer p ≥ 1, by squaring.
static Value integerPower(TileBuilder &tiles, Value x, int64_t p) {
  Value result;
  for (Value square = x;; square = tiles.times(square, square)) {
    if (p & 1)
      result = result ? tiles.times(result, square) : square;
    if ((p >>= 1) == 0)
      return result;
  }
}

Value TileBuilder::power(Value x, double p) {
  constexpr double most = 64; // six squarings; beyond, the logarithm is as exact
  if (p == 0)
    return constant(shape(x), 1);
  if (p == 0.5)
    return sqrt(x);
  if (p < 0)
    return over(constant(shape(x), 1), power(x, -p));
  if (p == std::floor(p) && p <= most)
    return integerPower(*this, x, static_cast<int64_t>(p));
  return exp2(times(log2(x), constant(shape(x), p)));
}

Value TileBuilder::softplus(Value x) {
  Value one = constant(shape(x), 1), zero = constant(shape(x), 0);
  // e^−|x| ≤ 1 does not overflow. Of a small y, 1 + y keeps only d = (1 + y) − 1: log(1 + d) · y / d is log(1 + y) to
  // the last places, and y itself once d is 0.
  Value y = exp2(times(abs(x), constant(shape(x), -M_LOG2E)));
  Value sum = plus(one, y), d = minus(sum, one);
  Value logarithm = select(compare(arith::CmpFPredicate::OEQ, d, zero), y, times(log(sum), over(y, d)));
  return plus(maximum(x, zero), logarithm);
}

Value TileBuilder::tanh(Value x) {
  auto number = [&](double value) { return constant(shape(x), value); };
  // 1 − 2 / (e²ˣ + 1) cancels for small x. Up to 0.6 Padé's x P(x²) / Q(x²) misses tanh by 3e-15 of it, and cancels nowhere.
  constexpr double numerator[] = {1, 378, 17325, 135135}, denominator[] = {28, 3150, 62370, 135135};
  Value square = times(x, x);
  auto polynomial = [&](ArrayRef<double> coefficients) {
    Value result = number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      result = fma(result, square, number(coefficient));
    return result;
  };
  Value small = compare(arith::CmpFPredicate::OLT, abs(x), number(0.6));
  Value grown = plus(exp2(times(x, number(2 * M_LOG2E))), number(1));
  Value quotient = over(select(small, times(x, polynomial(numerator)), number(2)), select(small, polynomial(denominator), grown));
  return select(small, quotient, minus(number(1), quotient));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value TileBuilder::integers(ArrayRef<int64_t> shape, int32_t value) {
  auto type = RankedTensorType::get(shape, builder.getI32Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value));
}
Value TileBuilder::bitAnd(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
Value TileBuilder::popCount(Value a) { return math::CtPopOp::create(builder, loc, a); }
Value TileBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}
Value TileBuilder::toFloat(Value a) {
  return arith::SIToFPOp::create(builder, loc, RankedTensorType::get(shape(a), builder.getF32Type()), a);
}

Value TileBuilder::hadamard(Value i, Value j) {
  Value odd = bitAnd(popCount(bitAnd(i, j)), integers(shape(i), 1));
  Value even = compare(arith::CmpIPredicate::eq, odd, integers(shape(i), 0));
  return select(even, constant(shape(i), 1), constant(shape(i), -1));
}
