//===- ExpandMath.cpp - exp2 and log2 of vectors as polynomials ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exp2(x) = 2ⁿ · 2ᶠ with an integer n and f = x − n. 2ᶠ is a polynomial of degree 5 whose relative error was made as
// even as possible (least squares of the relative error at Chebyshev nodes, reweighted by the error until it levels)
// with the constant held at 1, so that exp2(0) = 1 exactly: 9.2e-8 before rounding. Rounding in f32 adds about as much.
// Where the op allows an approximation (`afn`: weights of bf16 attention) the degree is 3 and the error 1.0e-4, a
// twentieth of what rounding to bf16 costs.
//
// On AVX-512 n is x rounded down and 0 ≤ f < 1, as `vscalefps` multiplies by 2 to the power of its operand rounded down
// and `vreduceps` takes that off, of ±∞ all: one instruction each, and neither x nor n needs another. On AVX2 n is the
// nearest integer and |f| ≤ 1/2: x + 1.5·2²³ holds n in its low bits; shifted into the exponent they are added to the
// bits of 2ᶠ. Below −126 the result is 0: no denormals, and −∞ needs no case of its own.
//
// log2(x) = e + log2(1 + …) with x = 2ᵉ·m, √½ ≤ m < √2, and, for s = (m − 1)/(m + 1), |s| ≤ 0.172,
//     log2 m = 2/ln 2 · (s + s³/3 + s⁵/5 + s⁷/7 + s⁹/9)      (the next term is below 3e-10 of the first).
//
//===----------------------------------------------------------------------===//
#include "Emit.h"

#include "attune/Lowering/CPU/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

namespace attune::cpu {
#define GEN_PASS_DEF_EXPANDMATH
#include "attune/Lowering/CPU/Passes.h.inc"
} // namespace attune::cpu

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

// Coefficients of f, f², … f⁵; that of 1 is 1. For 0 ≤ f ≤ 1:
static constexpr double upwards[] = {0.6931513118098243, 0.24016445011627777, 0.05579991319980923, 0.00901703022487954,
                                     0.0018671301049480449};
static constexpr double fewerUpwards[] = {0.6951167872492524, 0.2276449891830957, 0.07706704316351884};
// For |f| ≤ 1/2:
static constexpr double powers[] = {0.6931470036506653, 0.24022242426872253, 0.05550733953714371, 0.009671523235738277,
                                    0.001326471334323287};
static constexpr double fewerPowers[] = {0.6932829296271067, 0.24221099709429803, 0.055008946219351346};
static constexpr double smallest = -126, overflow = 128;

namespace {
/// Arithmetic on vectors of f32 and of their bits.
struct Vectors {
  Emit &emit;

  VectorType words() { return emit.vectorOf(emit.getI32Type()); }
  Value word(int32_t value) { return arith::ConstantOp::create(emit, DenseElementsAttr::get(words(), value)); }
  Value bits(Value x) { return arith::BitcastOp::create(emit, words(), x); }
  Value floats(Value x) { return arith::BitcastOp::create(emit, emit.floats(), x); }
  Value add(Value a, Value b) { return arith::AddFOp::create(emit, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(emit, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(emit, a, b); }
  Value fma(Value a, Value b, Value c) { return LLVM::FMAOp::create(emit, a, b, c); }
  Value is(arith::CmpFPredicate predicate, Value a, Value b) { return arith::CmpFOp::create(emit, predicate, a, b); }
};
} // namespace

static Value powerOfFraction(Vectors v, ArrayRef<double> coefficients, Value f) {
  Value p = v.emit.splat(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    p = v.fma(p, f, v.emit.splat(coefficient));
  return v.fma(p, f, v.emit.splat(1.0));
}

/// An instruction of AVX-512 with f32 results in all lanes, in the current mode of rounding.
static Value inAllLanes(Emit &emit, StringRef name, Value first, Value second) {
  Value all = arith::ConstantOp::create(emit, emit.getIntegerAttr(emit.getIntegerType(16), -1));
  Value rounding = arith::ConstantOp::create(emit, emit.getI32IntegerAttr(4));
  return LLVM::CallIntrinsicOp::create(emit, emit.floats(), emit.getStringAttr(name),
                                       ValueRange{first, second, emit.splat(0.0), all, rounding})
      .getResults();
}

static Value exp2Avx512(Vectors v, ArrayRef<double> coefficients, Value x) {
  Emit &emit = v.emit;
  Value down = arith::ConstantOp::create(emit, emit.getI32IntegerAttr(9)); // towards −∞, and nothing is said of it
  Value f = inAllLanes(emit, "llvm.x86.avx512.mask.reduce.ps.512", x, down);
  Value p = powerOfFraction(v, coefficients, f);
  Value scaled = inAllLanes(emit, "llvm.x86.avx512.mask.scalef.ps.512", p, x);
  Value keep = v.is(arith::CmpFPredicate::UGE, x, emit.splat(smallest));
  return emit.select(keep, scaled, emit.splat(0.0));
}

static Value exp2Avx2(Vectors v, ArrayRef<double> coefficients, Value x) {
  Emit &emit = v.emit;
  Value most = emit.splat(overflow);
  Value clamped = emit.select(v.is(arith::CmpFPredicate::OLT, most, x), most, x);
  Value shifter = emit.splat(12582912.0), shifted = v.add(clamped, shifter);
  Value p = powerOfFraction(v, coefficients, v.sub(clamped, v.sub(shifted, shifter)));
  Value exponent = arith::ShLIOp::create(emit, v.bits(shifted), v.word(23));
  Value scaled = v.floats(arith::AddIOp::create(emit, v.bits(p), exponent));
  Value flushed = emit.select(v.is(arith::CmpFPredicate::OGE, x, emit.splat(smallest)), scaled, emit.splat(0.0));
  // The payload of a NaN in the exponent could make it a number.
  return emit.select(v.is(arith::CmpFPredicate::UNO, x, x), x, flushed);
}

static Value log2(Vectors v, Value x) {
  Emit &emit = v.emit;
  // Numbers below the normal range are scaled by 2²³ first.
  Value tiny = v.is(arith::CmpFPredicate::OLT, x, emit.splat(std::ldexp(1.0, -126)));
  Value normal = emit.select(tiny, v.mul(x, emit.splat(8388608.0)), x);
  // Subtracting the bits of √½ leaves e in the exponent's place.
  Value shifted = arith::SubIOp::create(emit, v.bits(normal), v.word(0x3f3504f3));
  Value e = arith::ShRSIOp::create(emit, shifted, v.word(23));
  Value m = v.floats(arith::SubIOp::create(emit, v.bits(normal), arith::ShLIOp::create(emit, e, v.word(23))));
  Value exponent = arith::SIToFPOp::create(emit, emit.floats(), e);
  exponent = v.sub(exponent, emit.select(tiny, emit.splat(23.0), emit.splat(0.0)));
  Value one = emit.splat(1.0);
  Value s = arith::DivFOp::create(emit, v.sub(m, one), v.add(m, one)), square = v.mul(s, s);
  Value sum = emit.splat(1.0 / 9);
  for (double odd : {7.0, 5.0, 3.0, 1.0})
    sum = v.fma(sum, square, emit.splat(1 / odd));
  Value result = v.fma(v.mul(s, emit.splat(2 / M_LN2)), sum, exponent);
  Value infinity = emit.splat(INFINITY);
  result = emit.select(v.is(arith::CmpFPredicate::OEQ, x, infinity), infinity, result);
  result = emit.select(v.is(arith::CmpFPredicate::OEQ, x, emit.splat(0.0)), emit.splat(-INFINITY), result);
  Value numbers = v.is(arith::CmpFPredicate::OGE, x, emit.splat(0.0));
  return emit.select(numbers, result, emit.splat(NAN));
}

static Value expand(Operation *op, const Isa &isa) {
  Emit emit(op->getLoc(), OpBuilder(op), isa);
  Vectors vectors{emit};
  Value x = op->getOperand(0);
  if (isa_and_nonnull<math::Log2Op>(op))
    return log2(vectors, x);
  bool approximate = bitEnumContainsAll(cast<math::Exp2Op>(op).getFastmath(), arith::FastMathFlags::afn);
  if (isa.lanes == 16)
    return exp2Avx512(vectors, approximate ? ArrayRef(fewerUpwards) : ArrayRef(upwards), x);
  return exp2Avx2(vectors, approximate ? ArrayRef(fewerPowers) : ArrayRef(powers), x);
}

namespace {
struct ExpandMath : public cpu::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    const Isa *small = findIsa("avx2"), *large = findIsa("avx512");
    getOperation()->walk([&](Operation *op) {
      if (!isa<math::Exp2Op, math::Log2Op>(op))
        return;
      auto type = dyn_cast<VectorType>(op->getResult(0).getType());
      if (!type || !type.getElementType().isF32() || type.getRank() != 1)
        return;
      const Isa *isa = type.getDimSize(0) == large->lanes   ? large
                       : type.getDimSize(0) == small->lanes ? small
                                                            : nullptr;
      if (!isa)
        return;
      op->getResult(0).replaceAllUsesWith(expand(op, *isa));
      op->erase();
    });
  }
};
} // namespace
