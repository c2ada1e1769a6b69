//===- PtxFloat.cpp - Floating-point arithmetic, 9.7.3 --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results are rounded to nearest; other roundings are refused. Approximate instructions are those of the machine.
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

#include "llvm/IR/Intrinsics.h"

using namespace attune::ptx;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

namespace {
/// {.rn}{.ftz}{.sat}.type: .ftz makes subnormal operands and results zeros of their sign, .sat cuts to [0, 1] and NaN
/// to 0.
struct Mode {
  bool flush = false, saturate = false;
  DataType type;

  Value *operand(Emitter &e, unsigned index) const { return flushed(e, e.readFloat(index, type)); }
  void result(Emitter &e, Value *value) const;
  Value *flushed(Emitter &e, Value *value) const;
};
} // namespace

/// f32 and f16 are the types that have .ftz and .sat; an instruction without f16 has not taken it.
static void checkMode(Emitter &e, const Mode &mode) {
  bool has = mode.type.kind == DataType::Float && mode.type.bits <= 32;
  if ((mode.flush || mode.saturate) && !has)
    e.fail("expected no .ftz and .sat with this type");
}

static Mode modeOf(Emitter &e, bool canSaturate = true, ArrayRef<StringRef> types = {"f32", "f64"}) {
  Mode mode;
  mode.flush = e.modifier("ftz");
  mode.saturate = canSaturate && e.modifier("sat");
  mode.type = e.typeOf(types);
  checkMode(e, mode);
  return mode;
}

Value *Mode::flushed(Emitter &e, Value *value) const {
  if (!flush || e.failed())
    return value;
  Value *exponentBits = e.number(type.bits, type.bits == 16 ? 0x7c00 : 0x7f800000);
  Value *bits = e.asBits(value), *exponent = e.builder.CreateAnd(bits, exponentBits);
  Value *small = e.builder.CreateICmpEQ(exponent, e.number(type.bits, 0));
  Value *sign = e.builder.CreateAnd(bits, e.number(type.bits, uint64_t(1) << (type.bits - 1)));
  return e.builder.CreateBitCast(e.builder.CreateSelect(small, sign, bits), e.floatType(type));
}

void Mode::result(Emitter &e, Value *value) const {
  value = flushed(e, value);
  if (saturate) { // comparisons with NaN are false
    Type *real = e.floatType(type);
    Value *zero = ConstantFP::get(real, 0.0), *one = ConstantFP::get(real, 1.0);
    value = e.builder.CreateSelect(e.builder.CreateFCmpOGT(value, zero), value, zero);
    value = e.builder.CreateSelect(e.builder.CreateFCmpOLT(value, one), value, one);
  }
  e.write(0, type, value);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// 9.7.3.3 to 9.7.3.5: add, sub, mul{.rn}{.ftz}{.sat}.type d, a, b, and 9.7.4.1 to 9.7.4.3, which have .f16 and .bf16: there
/// the host computes in f32 and rounds once more, which is exact, as f32 has more than twice their digits.
template <llvm::Instruction::BinaryOps operation> static void compute(Emitter &e) {
  e.modifier("rn");
  Mode mode = modeOf(e, /*canSaturate=*/true, {"f32", "f64", "f16", "bf16"});
  if (mode.type.kind == DataType::Bfloat)
    e.needs(78, 90);
  e.end(3);
  Value *a = mode.operand(e, 1), *b = mode.operand(e, 2);
  mode.result(e, e.builder.CreateBinOp(operation, a, b));
}

/// 9.7.3.6: fma.rn{.ftz}{.sat}.type d, a, b, c
static void fused(Emitter &e) {
  e.require("rn");
  Mode mode = modeOf(e);
  e.end(4);
  Value *a = mode.operand(e, 1), *b = mode.operand(e, 2), *c = mode.operand(e, 3);
  mode.result(e, e.builder.CreateIntrinsic(e.floatType(mode.type), Intrinsic::fma, {a, b, c}));
}

/// 9.7.3.8: div.rn{.ftz}.type d, a, b, and div.{approx,full}{.ftz}.f32, which is the machine's.
static void quotient(Emitter &e) {
  StringRef kind = e.modifierOf({"rn", "approx", "full"});
  Mode mode = modeOf(e, false);
  e.end(3);
  Value *a = mode.operand(e, 1), *b = mode.operand(e, 2);
  if (kind == "rn" || mode.type != f32)
    return mode.result(e, e.builder.CreateFDiv(a, b));
  mode.result(e, e.device(kind == "full" ? "llvm.nvvm.div.full" : "llvm.nvvm.div.approx.f", a->getType(), {a, b}));
}

/// 9.7.3.9, 9.7.3.10: abs, neg{.ftz}.type d, a change the sign alone; 9.7.4.6, 9.7.4.7 have .f16 and .bf16.
template <bool absolute> static void changeSign(Emitter &e) {
  Mode mode = modeOf(e, false, {"f32", "f64", "f16", "bf16"});
  if (mode.type.kind == DataType::Bfloat)
    e.needs(70, 80);
  e.end(2);
  Value *a = mode.operand(e, 1);
  mode.result(e, absolute ? e.builder.CreateUnaryIntrinsic(Intrinsic::fabs, a) : e.builder.CreateFNeg(a));
}

/// 9.7.3.11, 9.7.3.12: min, max{.ftz}{.NaN}.f32 d, a, b. Of a number and NaN the number; with .NaN, NaN. +0 is more
/// than -0. 9.7.4.8, 9.7.4.9 have .f16 and .bf16.
template <bool greatest> static void extremum(Emitter &e) {
  Mode mode;
  mode.flush = e.modifier("ftz");
  bool keepNan = e.modifier("NaN");
  mode.type = e.typeOf({"f32", "f64", "f16", "bf16"});
  checkMode(e, mode);
  if (keepNan && mode.type.bits == 64)
    e.fail("expected .f32, .f16 or .bf16 behind .NaN");
  if (mode.type.bits == 16)
    e.needs(70, 80);
  e.end(3);
  auto id = greatest ? (keepNan ? Intrinsic::maximum : Intrinsic::maximumnum)
                     : (keepNan ? Intrinsic::minimum : Intrinsic::minimumnum);
  Value *a = mode.operand(e, 1), *b = mode.operand(e, 2);
  if (mode.type.bits != 16 || e.failed())
    return mode.result(e, e.builder.CreateBinaryIntrinsic(id, a, b));
  Type *real = e.builder.getFloatTy(); // one of two numbers, whatever the type
  Value *chosen = e.builder.CreateBinaryIntrinsic(id, e.builder.CreateFPExt(a, real), e.builder.CreateFPExt(b, real));
  mode.result(e, e.builder.CreateFPTrunc(chosen, e.floatType(mode.type)));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// An approximate instruction of the machine: name.approx{.ftz}.f32 d, a.
static void approximate(Emitter &e, StringRef name) {
  bool flush = e.modifier("ftz");
  e.require("f32");
  e.end(2);
  Value *a = e.readFloat(1, f32);
  e.write(0, f32, e.device(("llvm.nvvm." + name + ".approx" + (flush ? ".ftz" : "") + ".f").str(), a->getType(), a));
}

/// 9.7.3.17, 9.7.3.19 to 9.7.3.22: rsqrt, sin, cos, lg2, ex2, tanh
static void function(Emitter &e) {
  e.require("approx");
  approximate(e, e.current->opcode);
}

/// 9.7.3.13, 9.7.3.15: rcp, sqrt.{approx,rn}{.ftz}.type d, a
template <bool root> static void reciprocalOrRoot(Emitter &e) {
  if (e.modifierOf({"rn", "approx"}) == "approx")
    return approximate(e, e.current->opcode);
  Mode mode = modeOf(e, false);
  e.end(2);
  Value *a = mode.operand(e, 1), *one = ConstantFP::get(a->getType(), 1.0);
  mode.result(e, root ? e.builder.CreateUnaryIntrinsic(Intrinsic::sqrt, a) : e.builder.CreateFDiv(one, a));
}

void attune::ptx::addFloatHandlers(HandlerTable &table) {
  table["add.f"] = compute<llvm::Instruction::FAdd>;
  table["sub.f"] = compute<llvm::Instruction::FSub>;
  table["mul.f"] = compute<llvm::Instruction::FMul>;
  table["fma"] = fused;
  table["div.f"] = quotient;
  table["abs.f"] = changeSign<true>;
  table["neg.f"] = changeSign<false>;
  table["min.f"] = extremum<false>;
  table["max.f"] = extremum<true>;
  table["rcp"] = reciprocalOrRoot<false>;
  table["sqrt"] = reciprocalOrRoot<true>;
  for (StringRef name : {"rsqrt", "sin", "cos", "lg2", "ex2", "tanh"})
    table[name] = function;
}
