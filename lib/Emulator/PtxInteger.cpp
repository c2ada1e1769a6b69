//===- PtxInteger.cpp - Integer arithmetic, 9.7.1 -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

#include "llvm/IR/Intrinsics.h"

using namespace attune::ptx;
using namespace llvm;

static constexpr StringRef allTypes[] = {"u16", "u32", "u64", "s16", "s32", "s64"};

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// 9.7.1.1, 9.7.1.2: add, sub{.sat}.type d, a, b
template <bool subtract> static void addOrSubtract(Emitter &e) {
  bool saturate = e.modifier("sat");
  DataType type = e.typeOf(allTypes);
  e.end(3);
  if (saturate && type != DataType{DataType::Signed, 32})
    e.fail("expected .s32 behind .sat");
  Value *a = e.read(1, type), *b = e.read(2, type);
  if (saturate)
    e.write(0, type, e.builder.CreateBinaryIntrinsic(subtract ? Intrinsic::ssub_sat : Intrinsic::sadd_sat, a, b));
  else
    e.write(0, type, subtract ? e.builder.CreateSub(a, b) : e.builder.CreateAdd(a, b));
}

/// The product in twice the width.
static Value *wideProduct(Emitter &e, DataType type, Value *a, Value *b) {
  Type *wide = e.bits(2 * type.bits);
  return type.isSigned() ? e.builder.CreateMul(e.builder.CreateSExt(a, wide), e.builder.CreateSExt(b, wide))
                         : e.builder.CreateMul(e.builder.CreateZExt(a, wide), e.builder.CreateZExt(b, wide));
}

/// The low or high half, or all of it.
static Value *productOf(Emitter &e, StringRef half, DataType type, Value *a, Value *b) {
  if (half == "lo")
    return e.builder.CreateMul(a, b);
  Value *wide = wideProduct(e, type, a, b);
  return half == "wide" ? wide : e.builder.CreateTrunc(e.builder.CreateLShr(wide, type.bits), e.bits(type.bits));
}

/// 9.7.1.3: mul.{hi,lo,wide}.type d, a, b; 9.7.1.4: mad.{hi,lo,wide}.type d, a, b, c. Those of .wide have results, and
/// c, of twice the width.
template <bool add> static void multiply(Emitter &e) {
  StringRef half = e.modifierOf({"lo", "hi", "wide"});
  DataType type = e.typeOf(allTypes), result = type;
  e.end(add ? 4 : 3);
  if (half == "wide" && type.bits == 64)
    e.fail("expected operands of 16 or 32 bits with .wide");
  if (half == "wide")
    result.bits *= 2;
  if (e.failed())
    return;
  Value *product = productOf(e, half, type, e.read(1, type), e.read(2, type));
  e.write(0, result, add ? e.builder.CreateAdd(product, e.read(3, result)) : product);
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

/// 9.7.1.8, 9.7.1.9: div, rem.type d, a, b. A division by zero gives an unspecified value: here all ones.
template <bool remainder> static void divide(Emitter &e) {
  DataType type = e.typeOf(allTypes);
  e.end(3);
  Value *a = e.read(1, type), *b = e.read(2, type);
  auto &builder = e.builder;
  Value *zero = builder.CreateICmpEQ(b, e.number(type.bits, 0)), *divisor = b;
  Value *ones = Constant::getAllOnesValue(b->getType());
  if (type.isSigned()) { // the quotient by -1 may not fit: it is a negation
    Value *minusOne = builder.CreateICmpEQ(b, ones);
    divisor = builder.CreateSelect(builder.CreateOr(zero, minusOne), e.number(type.bits, 1), b);
    Value *quotient = remainder ? builder.CreateSRem(a, divisor) : builder.CreateSDiv(a, divisor);
    if (!remainder)
      quotient = builder.CreateSelect(minusOne, builder.CreateNeg(a), quotient);
    return e.write(0, type, builder.CreateSelect(zero, ones, quotient));
  }
  divisor = builder.CreateSelect(zero, e.number(type.bits, 1), b);
  Value *quotient = remainder ? builder.CreateURem(a, divisor) : builder.CreateUDiv(a, divisor);
  e.write(0, type, builder.CreateSelect(zero, ones, quotient));
}

//===----------------------------------------------------------------------===//
// One operand, extrema
//===----------------------------------------------------------------------===//

/// 9.7.1.10, 9.7.1.11: abs, neg.type d, a
template <bool absolute> static void changeSign(Emitter &e) {
  DataType type = e.typeOf({"s16", "s32", "s64"});
  e.end(2);
  Value *a = e.read(1, type), *negative = e.builder.CreateNeg(a);
  Value *isNegative = e.builder.CreateICmpSLT(a, e.number(type.bits, 0));
  e.write(0, type, absolute ? e.builder.CreateSelect(isNegative, negative, a) : negative);
}

/// 9.7.1.12, 9.7.1.13: min, max.type d, a, b
template <bool greatest> static void extremum(Emitter &e) {
  DataType type = e.typeOf(allTypes);
  e.end(3);
  auto id = type.isSigned() ? (greatest ? Intrinsic::smax : Intrinsic::smin)
            : greatest      ? Intrinsic::umax
                            : Intrinsic::umin;
  Value *a = e.read(1, type), *b = e.read(2, type);
  e.write(0, type, e.builder.CreateBinaryIntrinsic(id, a, b));
}

/// 9.7.1.14, 9.7.1.15: popc, clz.{b32,b64} d, a. The count has 32 bits.
template <bool zeros> static void count(Emitter &e) {
  DataType type = e.typeOf({"b32", "b64"});
  e.end(2);
  Value *a = e.read(1, type);
  Value *number = zeros ? e.builder.CreateBinaryIntrinsic(Intrinsic::ctlz, a, e.builder.getFalse())
                        : e.builder.CreateUnaryIntrinsic(Intrinsic::ctpop, a);
  e.write(0, u32, e.builder.CreateZExtOrTrunc(number, e.bits(32)));
}

/// 9.7.1.18: brev.type d, a
static void reverseBits(Emitter &e) {
  DataType type = e.typeOf({"b32", "b64"});
  e.end(2);
  e.write(0, type, e.builder.CreateUnaryIntrinsic(Intrinsic::bitreverse, e.read(1, type)));
}

//===----------------------------------------------------------------------===//
// Bit fields
//===----------------------------------------------------------------------===//

/// The low 8 bits of an operand in `width` bits: positions and lengths.
static Value *lowByte(Emitter &e, unsigned operand, unsigned width) {
  return e.builder.CreateZExtOrTrunc(e.builder.CreateAnd(e.read(operand, u32), 255), e.bits(width));
}

/// 9.7.1.19: bfe.type d, a, b, c extracts c bits of a from bit b on. Beyond the end of a, and of a signed type beyond
/// the field, bits are those of the sign: of the field's last bit, or a's if the field goes on beyond it.
static void extract(Emitter &e) {
  DataType type = e.typeOf({"u32", "u64", "s32", "s64"});
  e.end(4);
  auto &builder = e.builder;
  Value *a = e.read(1, type), *position = lowByte(e, 2, type.bits), *length = lowByte(e, 3, type.bits);
  // In twice the width, where cut positions and lengths shift by less than it.
  Type *wide = e.bits(2 * type.bits);
  auto cut = [&](Value *x, unsigned most) {
    return builder.CreateZExt(builder.CreateBinaryIntrinsic(Intrinsic::umin, x, e.number(type.bits, most)), wide);
  };
  Value *extended = type.isSigned() ? builder.CreateSExt(a, wide) : builder.CreateZExt(a, wide);
  Value *field = builder.CreateAShr(extended, cut(position, type.bits));
  Value *room = builder.CreateSub(ConstantInt::get(wide, 2 * type.bits), cut(length, type.bits));
  room = builder.CreateAnd(room, 2 * type.bits - 1); // of an empty field, which counts as 0 below
  Value *up = builder.CreateShl(field, room);
  Value *down = type.isSigned() ? builder.CreateAShr(up, room) : builder.CreateLShr(up, room);
  Value *empty = builder.CreateICmpEQ(length, e.number(type.bits, 0));
  e.write(0, type, builder.CreateSelect(empty, e.number(type.bits, 0), builder.CreateTrunc(down, e.bits(type.bits))));
}

/// 9.7.1.20: bfi.type f, a, b, c, d puts the d low bits of a into b, from bit c on.
static void insert(Emitter &e) {
  DataType type = e.typeOf({"b32", "b64"});
  e.end(5);
  auto &builder = e.builder;
  Type *wide = e.bits(2 * type.bits);
  Value *limit = ConstantInt::get(wide, type.bits);
  auto cut = [&](unsigned operand) {
    return builder.CreateBinaryIntrinsic(Intrinsic::umin, lowByte(e, operand, 2 * type.bits), limit);
  };
  Value *a = builder.CreateZExt(e.read(1, type), wide), *b = builder.CreateZExt(e.read(2, type), wide);
  Value *position = cut(3), *length = cut(4), *one = ConstantInt::get(wide, 1);
  Value *low = builder.CreateSub(builder.CreateShl(one, length), one), *mask = builder.CreateShl(low, position);
  Value *inserted = builder.CreateAnd(builder.CreateShl(a, position), mask);
  Value *kept = builder.CreateAnd(b, builder.CreateNot(mask));
  e.write(0, type, builder.CreateTrunc(builder.CreateOr(inserted, kept), e.bits(type.bits)));
}

void attune::ptx::addIntegerHandlers(HandlerTable &table) {
  table["add"] = addOrSubtract<false>;
  table["sub"] = addOrSubtract<true>;
  table["mul"] = multiply<false>;
  table["mad"] = multiply<true>;
  table["div"] = divide<false>;
  table["rem"] = divide<true>;
  table["abs"] = changeSign<true>;
  table["neg"] = changeSign<false>;
  table["min"] = extremum<false>;
  table["max"] = extremum<true>;
  table["popc"] = count<false>;
  table["clz"] = count<true>;
  table["brev"] = reverseBits;
  table["bfe"] = extract;
  table["bfi"] = insert;
}
