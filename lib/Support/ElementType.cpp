//===- ElementType.cpp - Element types and their roundings ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/ElementType.h"

#include "llvm/ADT/bit.h"

namespace attune {

namespace {
struct TypeFacts {
  ElementType type;
  llvm::StringLiteral name;
  unsigned bytes;
};
} // namespace

static constexpr TypeFacts table[] = {
    {ElementType::F32, "f32", 4},   {ElementType::F64, "f64", 8}, {ElementType::F16, "f16", 2},
    {ElementType::BF16, "bf16", 2}, {ElementType::I8, "i8", 1},   {ElementType::I16, "i16", 2},
    {ElementType::I32, "i32", 4},   {ElementType::I64, "i64", 8}, {ElementType::U8, "u8", 1},
    {ElementType::U16, "u16", 2},   {ElementType::U32, "u32", 4}, {ElementType::U64, "u64", 8},
    {ElementType::Bool, "bool", 1},
};

llvm::StringRef nameOf(ElementType type) { return table[static_cast<unsigned>(type)].name; }

unsigned bytesOf(ElementType type) { return table[static_cast<unsigned>(type)].bytes; }

bool isFloat(ElementType type) { return type <= ElementType::BF16; }

std::optional<ElementType> elementTypeOf(llvm::StringRef name) {
  for (const TypeFacts &facts : table)
    if (facts.name == name)
      return facts.type;
  return std::nullopt;
}

/// `bits` without its last `count` bits, rounded to nearest even.
static uint32_t dropBits(uint32_t bits, unsigned count) {
  uint32_t last = bits >> count & 1;
  return (bits + ((1u << (count - 1)) - 1) + last) >> count;
}

uint16_t roundToBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40); // quiet, so that dropping bits cannot leave an infinity
  return static_cast<uint16_t>(dropBits(bits, 16));
}

float widenBF16(uint16_t bits) { return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t roundToF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint16_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x47800000) // 2^16 and above
    return sign | 0x7c00;
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < -25) // below half of the smallest subnormal
    return sign;
  if (exponent < -14) { // a subnormal: the implicit bit becomes visible and the rest moves right
    uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    return sign | static_cast<uint16_t>(dropBits(mantissa, 13 + (-14 - exponent)));
  }
  // A carry out of the mantissa moves on into the exponent, up to infinity: as it should.
  return sign | static_cast<uint16_t>(dropBits(magnitude - (112u << 23), 13));
}

float widenF16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 31)
    return llvm::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0)
    return llvm::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

} // namespace attune
