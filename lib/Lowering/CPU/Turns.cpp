//===- Turns.cpp - Sine and cosine of angles in turns, as polynomials ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An angle of u turns is k quarters and r = u − k/4, |r| ≤ 1/8; neither taking off whole turns nor whole quarters
// rounds. For that r, with coefficients whose largest relative error is as small as their number allows (least squares
// at Chebyshev nodes, reweighted by the error until it levels),
//
//     sin 2πr = 2π·r + r³·(s₀ + s₁r² + s₂r⁴)               3.8e-9 before rounding
//     cos 2πr = 1 + r²·(c₀ + c₁r² + c₂r⁴ + c₃r⁶)           6.4e-11
//
// 2π is the f32 below it and the rest: the rest goes to the sum in brackets, and being positive it keeps the sign of r
// = ±0. An odd k exchanges the two; bit 1 of k, or of k + 1 for the cosine, is the sign.
//
//===----------------------------------------------------------------------===//
#include "VectorOps.h"

#include "attune/Lowering/TurnsPolynomials.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

namespace {
struct Turns {
  Emit &emit;

  VectorType words() { return emit.vectorOf(emit.getI32Type()); }
  Value word(int32_t value) { return arith::ConstantOp::create(emit, DenseElementsAttr::get(words(), value)); }
  Value bits(Value x) { return arith::BitcastOp::create(emit, words(), x); }
  Value floats(Value x) { return arith::BitcastOp::create(emit, emit.floats(), x); }
  Value fma(Value a, Value b, Value c) { return LLVM::FMAOp::create(emit, a, b, c); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(emit, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(emit, a, b); }

  /// coefficients[0] + coefficients[1]·x + …
  Value polynomial(ArrayRef<double> coefficients, Value x) {
    Value sum = emit.splat(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, emit.splat(coefficient));
    return sum;
  }
  Value sine(Value r, Value square) {
    Value rest = fma(polynomial(sines, square), square, emit.splat(turnLow));
    return fma(r, emit.splat(turnHigh), mul(r, rest));
  }
  Value cosine(Value square) { return fma(polynomial(cosines, square), square, emit.splat(1.0)); }
};
} // namespace

Value cpu::emitSine(Emit &emit, Value turns, bool isCosine) {
  Turns t{emit};
  Value part = t.sub(turns, LLVM::RoundEvenOp::create(emit, turns)); // |part| ≤ 1/2
  // Adding 1.5·2²³ rounds to an integer, which the low bits then hold.
  Value shifter = emit.splat(12582912.0), shifted = t.fma(part, emit.splat(4.0), shifter);
  Value r = t.fma(t.sub(shifted, shifter), emit.splat(-0.25), part);
  Value square = t.mul(r, r), sine = t.sine(r, square), cosine = t.cosine(square);
  Value quarter = t.bits(shifted);
  if (isCosine)
    quarter = arith::AddIOp::create(emit, quarter, t.word(1));
  Value odd =
      arith::CmpIOp::create(emit, arith::CmpIPredicate::ne, arith::AndIOp::create(emit, quarter, t.word(1)), t.word(0));
  Value sign = arith::ShLIOp::create(emit, arith::AndIOp::create(emit, quarter, t.word(2)), t.word(30));
  Value magnitude = t.bits(emit.select(odd, cosine, sine));
  return t.floats(arith::XOrIOp::create(emit, magnitude, sign));
}
