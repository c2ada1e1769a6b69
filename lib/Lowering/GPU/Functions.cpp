//===- Functions.cpp - Functions of one f32 -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exp2 is ex2.approx, whose relative error is below 2⁻²² everywhere. lg2.approx is not used: near 1 only its absolute
// error is bounded, and the logarithm of 1 + y is taken of small y. So
//
//     log2(x) = e + log2 m, x = 2ᵉ·m, √½ ≤ m < √2, and, for s = (m − 1)/(m + 1), |s| ≤ 0.172,
//     log2 m = 2/ln 2 · (s + s³/3 + s⁵/5 + s⁷/7 + s⁹/9)          (the next term is below 3e-10 of the first).
//
// An angle of u turns is k quarters and r = u − k/4, |r| ≤ 1/8; neither taking off whole turns nor whole quarters
// rounds. For that r, with coefficients whose largest relative error is as small as their number allows,
//
//     sin 2πr = 2π·r + r³·(s₀ + s₁r² + s₂r⁴)                3.8e-9 before rounding
//     cos 2πr = 1 + r²·(c₀ + c₁r² + c₂r⁴ + c₃r⁶)            6.4e-11
//
// An odd k exchanges the two; bit 1 of k, or of k + 1 for the cosine, is the sign. sin.approx has an absolute error
// only.
//
//===----------------------------------------------------------------------===//
#include "Functions.h"
#include "IssuedCounts.h"

#include "attune/Lowering/TurnsPolynomials.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::device;

namespace {
/// Arithmetic on one f32 and its bits.
struct Numbers {
  DeviceBuilder &code;

  OpBuilder &builder() { return code.builder; }
  Value number(double value) { return code.f32(value); }
  Value bits(Value x) { return code.bitcast(x, builder().getI32Type()); }
  Value floats(Value x) { return code.bitcast(x, builder().getF32Type()); }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder(), code.loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder(), code.loc, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(builder(), code.loc, a, b); }
  Value over(Value a, Value b) { return arith::DivFOp::create(builder(), code.loc, a, b); }
  Value fma(Value a, Value b, Value c) { return LLVM::FMAOp::create(builder(), code.loc, a, b, c); }
  Value is(arith::CmpFPredicate predicate, Value a, double b) {
    return arith::CmpFOp::create(builder(), code.loc, predicate, a, number(b));
  }
  Value shiftLeft(Value a, int64_t bits) { return arith::ShLIOp::create(builder(), code.loc, a, code.i32(bits)); }

  /// coefficients[0] + coefficients[1]·x + …
  Value polynomial(ArrayRef<double> coefficients, Value x) {
    Value sum = number(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
};
} // namespace

static Value log2(Numbers n, Value x) {
  DeviceBuilder &code = n.code;
  // Numbers below the normal range are scaled by 2²³ first.
  Value tiny = n.is(arith::CmpFPredicate::OLT, x, 0x1p-126);
  Value normal = code.select(tiny, n.mul(x, n.number(0x1p23)), x);
  // Subtracting the bits of √½ leaves e in the exponent's place.
  Value shifted = code.sub(n.bits(normal), code.i32(0x3f3504f3));
  Value e = arith::ShRSIOp::create(n.builder(), code.loc, shifted, code.i32(23));
  Value m = n.floats(code.sub(n.bits(normal), n.shiftLeft(e, 23)));
  Value exponent = arith::SIToFPOp::create(n.builder(), code.loc, n.builder().getF32Type(), e);
  exponent = n.sub(exponent, code.select(tiny, n.number(23), n.number(0)));
  Value s = n.over(n.sub(m, n.number(1)), n.add(m, n.number(1))), square = n.mul(s, s);
  Value sum = n.polynomial({1, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9}, square);
  Value result = n.fma(n.mul(s, n.number(2 / M_LN2)), sum, exponent);
  result = code.select(n.is(arith::CmpFPredicate::OEQ, x, INFINITY), n.number(INFINITY), result);
  result = code.select(n.is(arith::CmpFPredicate::OEQ, x, 0), n.number(-INFINITY), result);
  return code.select(n.is(arith::CmpFPredicate::OGE, x, 0), result, n.number(NAN));
}

static Value sineOfTurns(Numbers n, Value turns, bool isCosine) {
  DeviceBuilder &code = n.code;
  Value part = n.sub(turns, LLVM::RoundEvenOp::create(n.builder(), code.loc, turns)); // |part| ≤ 1/2
  // Adding 1.5·2²³ rounds to an integer, which the low bits then hold.
  Value shifter = n.number(0x1.8p23), shifted = n.fma(part, n.number(4), shifter);
  Value r = n.fma(n.sub(shifted, shifter), n.number(-0.25), part), square = n.mul(r, r);
  Value rest = n.fma(n.polynomial(sines, square), square, n.number(turnLow));
  Value sine = n.fma(r, n.number(turnHigh), n.mul(r, rest));
  Value cosine = n.fma(n.polynomial(cosines, square), square, n.number(1));
  Value quarter = code.add(n.bits(shifted), isCosine ? 1 : 0);
  Value odd = code.equal(code.both(quarter, code.i32(1)), 1);
  Value sign = n.shiftLeft(code.both(quarter, code.i32(2)), 30);
  return n.floats(code.exclusiveOr(n.bits(code.select(odd, cosine, sine)), sign));
}

bool device::isFunction(Operation *op) {
  return isa<math::Exp2Op, math::Log2Op, math::AbsFOp, math::SqrtOp, math::RoundEvenOp, math::FloorOp, math::CeilOp,
             math::FmaOp, math::CtPopOp, tile::SineOp, tile::CosineOp>(op);
}

Value device::emitFunction(DeviceBuilder &code, Operation *op, ValueRange operands) {
  auto make = [&](auto tag) -> Value {
    return decltype(tag)::create(code.builder, code.loc, operands[0].getType(), operands);
  };
  if (isa<math::Exp2Op>(op))
    return code.intrinsic("llvm.nvvm.ex2.approx.ftz.f32", operands[0].getType(), operands[0]);
  if (isa<math::Log2Op>(op))
    return log2({code}, operands[0]);
  if (isa<tile::SineOp, tile::CosineOp>(op))
    return sineOfTurns({code}, operands[0], isa<tile::CosineOp>(op));
  if (isa<math::AbsFOp>(op))
    return make(LLVM::FAbsOp());
  if (isa<math::SqrtOp>(op))
    return make(LLVM::SqrtOp());
  if (isa<math::RoundEvenOp>(op))
    return make(LLVM::RoundEvenOp());
  if (isa<math::FloorOp>(op))
    return make(LLVM::FFloorOp());
  if (isa<math::CeilOp>(op))
    return make(LLVM::FCeilOp());
  if (isa<math::CtPopOp>(op))
    return make(LLVM::CtPopOp());
  if (isa<math::FmaOp>(op))
    return make(LLVM::FMAOp());
  return Value();
}

/// What a function is made of: constants, and bits taken as another type, are no instructions.
static int64_t operationsMadeBy(llvm::function_ref<void(Numbers, Value)> function) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect, LLVM::LLVMDialect>();
  Block made;
  OpBuilder builder(&context);
  builder.setInsertionPointToStart(&made);
  DeviceBuilder code(builder, builder.getUnknownLoc());
  function({code}, made.addArgument(builder.getF32Type(), builder.getUnknownLoc()));
  return llvm::count_if(made, [](Operation &op) {
    return !op.hasTrait<OpTrait::ConstantLike>() && !isa<LLVM::BitcastOp, arith::BitcastOp>(op);
  });
}

int64_t device::operationsOf(Operation *op) {
  static const int64_t logarithm = operationsMadeBy([](Numbers n, Value x) { log2(n, x); });
  static const int64_t sine = operationsMadeBy([](Numbers n, Value x) { sineOfTurns(n, x, /*isCosine=*/false); });
  return isa<math::Log2Op>(op) ? logarithm : isa<tile::SineOp, tile::CosineOp>(op) ? sine : 0;
}
