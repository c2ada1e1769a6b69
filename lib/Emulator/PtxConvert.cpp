//===- PtxConvert.cpp - Conversions, 9.7.9.21 -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   cvt{.irnd,.frnd}{.ftz}{.sat}.dtype.atype  d, a
//   cvt.rn.f16x2.f32                          d, a, b     a becomes the upper half, b the lower
//   cvt.rna.tf32.f32                          d, a
//
// Conversions to integers cut to the range of the type. NaN gives 0 if both are narrower than 64 bits, else the highest bit
// of the type.
//
//===----------------------------------------------------------------------===//
#include "PtxEmitter.h"

#include "llvm/IR/Intrinsics.h"

using namespace attune::ptx;
using namespace llvm;

static bool isReal(DataType type) { return type.kind == DataType::Float || type.kind == DataType::Bfloat; }
static bool isHalf(DataType type) { return isReal(type) && type.bits == 16; }
static StringRef halfName(DataType type) { return type.kind == DataType::Bfloat ? "bf16" : "f16"; }

namespace {
struct Conversion {
  StringRef integerRounding; ///< rni, rzi, rmi, rpi
  bool nearest = false;      ///< .rn
  bool flush = false, saturate = false;
  DataType to, from;
};
} // namespace

//===----------------------------------------------------------------------===//
// Packed and alternate formats
//===----------------------------------------------------------------------===//

/// The 16 bits of a number, in 32.
static Value *toHalf(Emitter &e, StringRef format, Value *value) {
  return e.device(("attune." + format + ".of.f32").str(), e.bits(32), value);
}

static void convertPair(Emitter &e, StringRef format) {
  e.require("f32");
  e.end(3);
  e.needs(70, 80);
  Value *high = toHalf(e, format, e.readFloat(1, f32)), *low = toHalf(e, format, e.readFloat(2, f32));
  e.write(0, b32, e.builder.CreateOr(e.builder.CreateShl(high, 16), low));
}

static void convertToTf32(Emitter &e) {
  e.require("rna.tf32.f32");
  e.end(2);
  e.needs(70, 80);
  e.write(0, b32, e.device("llvm.nvvm.f2tf32.rna", e.bits(32), e.readFloat(1, f32)));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Cut to the range of the result first, with .sat.
static Value *saturated(Emitter &e, const Conversion &c, Value *value) {
  APInt most = c.to.isSigned() ? APInt::getSignedMaxValue(c.to.bits) : APInt::getMaxValue(c.to.bits);
  unsigned wide = std::max(c.from.bits, c.to.bits) + 1;
  Type *type = e.bits(wide);
  value = c.from.isSigned() ? e.builder.CreateSExt(value, type) : e.builder.CreateZExt(value, type);
  APInt least = c.to.isSigned() ? APInt::getSignedMinValue(c.to.bits).sext(wide) : APInt::getZero(wide);
  value = e.builder.CreateBinaryIntrinsic(Intrinsic::smin, value, ConstantInt::get(e.context, most.zext(wide)));
  return e.builder.CreateBinaryIntrinsic(Intrinsic::smax, value, ConstantInt::get(e.context, least));
}

static void convertIntegers(Emitter &e, const Conversion &c) {
  if (!c.integerRounding.empty() || c.nearest || c.flush)
    return e.fail("expected no rounding between integers");
  Value *value = e.readNarrow(e.operand(1), c.from);
  if (c.saturate)
    value = saturated(e, c, value);
  Type *type = e.bits(c.to.bits);
  value = c.from.isSigned() ? e.builder.CreateSExtOrTrunc(value, type) : e.builder.CreateZExtOrTrunc(value, type);
  e.writeExtended(e.operand(0), c.to, value);
}

static void fromInteger(Emitter &e, const Conversion &c) {
  if (!c.nearest || c.saturate || isHalf(c.to))
    return e.fail("expected .rn, and f32 or f64, of an integer");
  Value *value = e.readNarrow(e.operand(1), c.from);
  Type *real = e.floatType(c.to);
  e.write(0, c.to, c.from.isSigned() ? e.builder.CreateSIToFP(value, real) : e.builder.CreateUIToFP(value, real));
}

//===----------------------------------------------------------------------===//
// Floating-point numbers
//===----------------------------------------------------------------------===//

/// To an integer that is still a floating-point number.
static Value *rounded(Emitter &e, StringRef rounding, Value *value) {
  auto id = rounding == "rni"   ? Intrinsic::roundeven
            : rounding == "rzi" ? Intrinsic::trunc
            : rounding == "rmi" ? Intrinsic::floor
                                : Intrinsic::ceil;
  return e.builder.CreateUnaryIntrinsic(id, value);
}

static void toInteger(Emitter &e, const Conversion &c) {
  if (c.integerRounding.empty() || c.nearest || c.flush || isHalf(c.from))
    return e.fail("expected .rni, .rzi, .rmi or .rpi, and f32 or f64, towards an integer");
  Value *value = rounded(e, c.integerRounding, e.readFloat(1, c.from));
  auto id = c.to.isSigned() ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
  Type *type = e.bits(c.to.bits);
  Value *integer = e.builder.CreateIntrinsic(id, {type, value->getType()}, {value});
  if (c.from.bits == 64 || c.to.bits == 64) {
    Value *highest = e.number(c.to.bits, uint64_t(1) << (c.to.bits - 1));
    integer = e.builder.CreateSelect(e.builder.CreateFCmpUNO(value, value), highest, integer);
  }
  e.writeExtended(e.operand(0), c.to, integer);
}

static void fromHalf(Emitter &e, const Conversion &c) {
  if (c.to != f32 || !c.integerRounding.empty() || c.nearest || c.flush || c.saturate)
    return e.fail("expected f32, and no rounding, of a number of 16 bits");
  Value *bits = e.builder.CreateZExt(e.read(1, c.from), e.bits(32));
  e.write(0, c.to, e.device(("attune.f32.of." + halfName(c.from)).str(), e.builder.getFloatTy(), bits));
}

static void toHalfFrom(Emitter &e, const Conversion &c) {
  if (c.from != f32 || !c.nearest || c.flush || c.saturate)
    return e.fail("expected .rn, and f32, towards a number of 16 bits");
  e.write(0, c.to, e.builder.CreateTrunc(toHalf(e, halfName(c.to), e.readFloat(1, f32)), e.bits(16)));
}

static void convertFloats(Emitter &e, const Conversion &c) {
  if (isHalf(c.from))
    return fromHalf(e, c);
  if (isHalf(c.to))
    return toHalfFrom(e, c);
  bool same = c.to == c.from;
  if (c.flush || c.saturate || (same ? c.nearest : !c.integerRounding.empty()))
    return e.fail("conversion that is not modelled");
  Value *value = e.readFloat(1, c.from);
  if (same)
    return e.write(0, c.to, c.integerRounding.empty() ? value : rounded(e, c.integerRounding, value));
  if (c.nearest != (c.to.bits < c.from.bits))
    e.fail("expected .rn towards fewer bits, and only there");
  e.write(0, c.to, e.builder.CreateFPCast(value, e.floatType(c.to)));
}

//===----------------------------------------------------------------------===//
// cvt
//===----------------------------------------------------------------------===//

static void convert(Emitter &e) {
  static constexpr StringRef types[] = {"u8",  "u16", "u32", "u64", "s8",  "s16",
                                        "s32", "s64", "f16", "f32", "f64", "bf16"};
  if (e.nextModifier() == "rna")
    return convertToTf32(e);
  Conversion c;
  c.nearest = e.modifier("rn");
  if (StringRef format = e.nextModifier(); c.nearest && format.ends_with("f16x2"))
    return convertPair(e, e.modifierOf({"f16x2", "bf16x2"}).drop_back(2));
  if (!c.nearest)
    c.integerRounding = e.optionalModifier({"rni", "rzi", "rmi", "rpi"});
  c.flush = e.modifier("ftz");
  c.saturate = e.modifier("sat");
  c.to = e.typeOf(types);
  c.from = e.typeOf(types);
  e.end(2);
  if (e.failed())
    return;
  if (isReal(c.to) && isReal(c.from))
    convertFloats(e, c);
  else if (isReal(c.to))
    fromInteger(e, c);
  else if (isReal(c.from))
    toInteger(e, c);
  else
    convertIntegers(e, c);
}

void attune::ptx::addConvertHandlers(HandlerTable &table) { table["cvt"] = convert; }
