//===- NumbersTest.cpp - Number formats against the compiler's own --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Numbers.h"

#include "llvm/ADT/APFloat.h"

#include "gtest/gtest.h"

#include <random>

using namespace attune::emulator;
using llvm::APFloat;

static float decodeBy(const llvm::fltSemantics &format, uint16_t bits) {
  APFloat value(format, llvm::APInt(16, bits));
  bool loses;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
  return value.convertToFloat();
}

static uint16_t encodeBy(const llvm::fltSemantics &format, float number) {
  APFloat value(number);
  bool loses;
  value.convert(format, APFloat::rmNearestTiesToEven, &loses);
  return uint16_t(value.bitcastToAPInt().getZExtValue());
}

TEST(Numbers, DecodesEveryHalfAndBfloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float half = halfToFloat(uint16_t(bits)), bfloat = bfloatToFloat(uint16_t(bits));
    if ((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff))
      EXPECT_TRUE(std::isnan(half)) << bits;
    else
      EXPECT_EQ(floatToBits(half), floatToBits(decodeBy(APFloat::IEEEhalf(), uint16_t(bits)))) << bits;
    if (!std::isnan(bfloat))
      EXPECT_EQ(floatToBits(bfloat), floatToBits(decodeBy(APFloat::BFloat(), uint16_t(bits)))) << bits;
  }
}

TEST(Numbers, RoundsToNearestEven) {
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    uint32_t bits = uint32_t(random());
    if (i % 2) // many near the range of half, with ties
      bits = (bits & 0x80000000) | (0x33000000 + bits % 0x15000000);
    if (i % 4 == 1)
      bits &= ~0xfffu;
    float value = bitsToFloat(bits);
    if (std::isnan(value))
      continue;
    EXPECT_EQ(floatToHalf(value), encodeBy(APFloat::IEEEhalf(), value)) << bits;
    EXPECT_EQ(floatToBfloat(value), encodeBy(APFloat::BFloat(), value)) << bits;
  }
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(NAN))));
  EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBfloat(bitsToFloat(0x7f800001)))));
}

TEST(Numbers, Tf32AndFlushing) {
  EXPECT_EQ(bitsToFloat(roundToTf32(1 + 0x1p-11f)), 1 + 0x1p-10f); // a tie goes away from zero
  EXPECT_EQ(bitsToFloat(roundToTf32(1 + 0x1p-12f)), 1.0f);
  EXPECT_EQ(truncateToTf32(1 + 0x1p-11f), 1.0f);
  EXPECT_EQ(flushToZero(0x1p-130f), 0.0f);
  EXPECT_TRUE(std::signbit(flushToZero(-0x1p-130f)));
  EXPECT_EQ(flushToZero(0x1p-126f), 0x1p-126f);
}
