//===- PtxLogic.cpp - Logic, shifts, comparison and selection, 9.7.6 and 9.7.8 ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"

using namespace attune::ptx;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

/// 9.7.8.1 to 9.7.8.3: and, or, xor.type d, a, b
template <llvm::Instruction::BinaryOps operation> static void combine(Emitter &e) {
  DataType type = e.typeOf({"pred", "b16", "b32", "b64"});
  e.end(3);
  Value *a = e.read(1, type), *b = e.read(2, type);
  e.write(0, type, e.builder.CreateBinOp(operation, a, b));
}

/// 9.7.8.4: not.type d, a
static void invert(Emitter &e) {
  DataType type = e.typeOf({"pred", "b16", "b32", "b64"});
  e.end(2);
  e.write(0, type, e.builder.CreateNot(e.read(1, type)));
}

/// 9.7.8.6: lop3.b32 d, a, b, c, immLut: bit i of the table is the result where the operands' bits are i = 4 a + 2 b +
/// c.
static void combineThree(Emitter &e) {
  e.require("b32");
  e.end(5);
  Value *operands[] = {e.read(1, b32), e.read(2, b32), e.read(3, b32)};
  uint64_t table = e.immediate(4, 255);
  Value *result = e.number(32, 0);
  for (unsigned row = 0; row < 8; ++row) {
    if (!(table >> row & 1))
      continue;
    Value *term = e.number(32, ~0u);
    for (unsigned i = 0; i < 3; ++i)
      term = e.builder.CreateAnd(term, row >> (2 - i) & 1 ? operands[i] : e.builder.CreateNot(operands[i]));
    result = e.builder.CreateOr(result, term);
  }
  e.write(0, b32, result);
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// 9.7.8.8: shl.type d, a, b; the amount has 32 bits, and what is more than the width counts as the width.
static void shiftLeft(Emitter &e) {
  DataType type = e.typeOf({"b16", "b32", "b64"});
  e.end(3);
  Value *a = e.read(1, type), *amount = e.read(2, u32);
  Value *beyond = e.builder.CreateICmpUGE(amount, e.number(32, type.bits));
  Value *cut = e.builder.CreateSelect(beyond, e.number(32, 0), amount);
  Value *shifted = e.builder.CreateShl(a, e.builder.CreateZExtOrTrunc(cut, e.bits(type.bits)));
  e.write(0, type, e.builder.CreateSelect(beyond, e.number(type.bits, 0), shifted));
}

/// 9.7.8.9: shr.type d, a, b, filled with the sign of signed types.
static void shiftRight(Emitter &e) {
  DataType type = e.typeOf({"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"});
  e.end(3);
  Value *a = e.read(1, type), *amount = e.read(2, u32);
  Value *last = e.number(32, type.bits - 1), *beyond = e.builder.CreateICmpUGT(amount, last);
  Value *cut = e.builder.CreateSelect(beyond, last, amount);
  Value *by = e.builder.CreateZExtOrTrunc(cut, e.bits(type.bits));
  if (type.isSigned())
    return e.write(0, type, e.builder.CreateAShr(a, by));
  e.write(0, type, e.builder.CreateSelect(beyond, e.number(type.bits, 0), e.builder.CreateLShr(a, by)));
}

/// 9.7.8.7: shf.{l,r}.{clamp,wrap}.b32 d, a, b, c shifts [b, a], b being the high half; l takes the high half of the
/// result, r the low one. clamp cuts the amount to 32, wrap takes it modulo 32.
static void funnelShift(Emitter &e) {
  bool left = e.modifierOf({"l", "r"}) == "l", clamp = e.modifierOf({"clamp", "wrap"}) == "clamp";
  e.require("b32");
  e.end(4);
  auto &builder = e.builder;
  Value *low = builder.CreateZExt(e.read(1, b32), e.bits(64)), *high = builder.CreateZExt(e.read(2, b32), e.bits(64));
  Value *amount = e.read(3, u32);
  amount =
      clamp ? builder.CreateBinaryIntrinsic(Intrinsic::umin, amount, e.number(32, 32)) : builder.CreateAnd(amount, 31);
  Value *both = builder.CreateOr(builder.CreateShl(high, 32), low), *by = builder.CreateZExt(amount, e.bits(64));
  Value *shifted = left ? builder.CreateLShr(builder.CreateShl(both, by), 32) : builder.CreateLShr(both, by);
  e.write(0, b32, builder.CreateTrunc(shifted, e.bits(32)));
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Operators of 9.7.6.2 on integers; lo, ls, hi, hs are unsigned, whatever the type says.
static CmpInst::Predicate integerPredicate(StringRef name, bool isSigned) {
  return StringSwitch<CmpInst::Predicate>(name)
      .Case("eq", CmpInst::ICMP_EQ)
      .Case("ne", CmpInst::ICMP_NE)
      .Case("lt", isSigned ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
      .Case("le", isSigned ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
      .Case("gt", isSigned ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
      .Case("ge", isSigned ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
      .Case("lo", CmpInst::ICMP_ULT)
      .Case("ls", CmpInst::ICMP_ULE)
      .Case("hi", CmpInst::ICMP_UGT)
      .Default(CmpInst::ICMP_UGE);
}

/// On floating-point numbers: equ to geu are true of NaN, the others false.
static CmpInst::Predicate floatPredicate(StringRef name) {
  return StringSwitch<CmpInst::Predicate>(name)
      .Case("eq", CmpInst::FCMP_OEQ)
      .Case("ne", CmpInst::FCMP_ONE)
      .Case("lt", CmpInst::FCMP_OLT)
      .Case("le", CmpInst::FCMP_OLE)
      .Case("gt", CmpInst::FCMP_OGT)
      .Case("ge", CmpInst::FCMP_OGE)
      .Case("equ", CmpInst::FCMP_UEQ)
      .Case("neu", CmpInst::FCMP_UNE)
      .Case("ltu", CmpInst::FCMP_ULT)
      .Case("leu", CmpInst::FCMP_ULE)
      .Case("gtu", CmpInst::FCMP_UGT)
      .Case("geu", CmpInst::FCMP_UGE)
      .Case("num", CmpInst::FCMP_ORD)
      .Default(CmpInst::FCMP_UNO);
}

/// setp.op{.and,or,xor}.type p{|q}, a, b{, {!}c}: p is the comparison, q its opposite, each combined with c.
static void storeComparison(Emitter &e, Value *comparison, StringRef combination) {
  auto combined = [&](Value *value) -> Value * {
    if (combination.empty())
      return value;
    Value *c = e.read(3, predicate);
    return combination == "and"  ? e.builder.CreateAnd(value, c)
           : combination == "or" ? e.builder.CreateOr(value, c)
                                 : e.builder.CreateXor(value, c);
  };
  const Operand &target = e.operand(0);
  if (target.kind != Operand::Pair)
    return e.write(0, predicate, combined(comparison));
  Value *first = combined(comparison), *second = combined(e.builder.CreateNot(comparison));
  e.write(target.parts[0], predicate, first);
  e.write(target.parts[1], predicate, second);
}

/// 9.7.6.2, integers.
static void compareIntegers(Emitter &e) {
  StringRef operation = e.modifierOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"});
  StringRef combination = e.optionalModifier({"and", "or", "xor"});
  DataType type = e.typeOf({"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"});
  e.end(combination.empty() ? 3 : 4);
  if (type.kind == DataType::Bits && operation != "eq" && operation != "ne")
    e.fail("expected .eq or .ne of untyped bits");
  Value *a = e.read(1, type), *b = e.read(2, type);
  storeComparison(e, e.builder.CreateICmp(integerPredicate(operation, type.isSigned()), a, b), combination);
}

/// 9.7.6.2, floating-point numbers, and 9.7.7.2 of .f16 and .bf16.
static void compareFloats(Emitter &e) {
  StringRef operation =
      e.modifierOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  StringRef combination = e.optionalModifier({"and", "or", "xor"});
  DataType type = e.typeOf({"f32", "f64", "f16", "bf16"});
  if (type.kind == DataType::Bfloat)
    e.needs(78, 90);
  e.end(combination.empty() ? 3 : 4);
  Value *a = e.readFloat(1, type), *b = e.readFloat(2, type);
  storeComparison(e, e.builder.CreateFCmp(floatPredicate(operation), a, b), combination);
}

/// 9.7.6.3: selp.type d, a, b, c: a where c is true.
static void choose(Emitter &e) {
  DataType type = e.typeOf({"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"});
  e.end(4);
  Value *a = e.read(1, type), *b = e.read(2, type), *c = e.read(3, predicate);
  e.write(0, type, e.builder.CreateSelect(c, a, b));
}

void attune::ptx::addLogicHandlers(HandlerTable &table) {
  table["and"] = combine<llvm::Instruction::And>;
  table["or"] = combine<llvm::Instruction::Or>;
  table["xor"] = combine<llvm::Instruction::Xor>;
  table["not"] = invert;
  table["lop3"] = combineThree;
  table["shl"] = shiftLeft;
  table["shr"] = shiftRight;
  table["shf"] = funnelShift;
  table["setp"] = compareIntegers;
  table["setp.f"] = compareFloats;
  table["selp"] = choose;
}
