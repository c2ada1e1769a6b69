//===- ElementTypeTest.cpp - Roundings, against the compiler's own types -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/ElementType.h"

#include "attune/Support/HostTensor.h"
#include "attune/Support/Random.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace attune;

namespace {

/// The rounding of LLVM's arbitrary-precision floats, an implementation of its own.
uint16_t roundBySemantics(float value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool lost = false;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

} // namespace

TEST(Rounding, EveryHalfComesBack) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    float f16 = widenF16(bits), bf16 = widenBF16(bits);
    if (std::isnan(f16))
      EXPECT_TRUE(std::isnan(widenF16(roundToF16(f16)))) << bits;
    else
      EXPECT_EQ(roundToF16(f16), bits);
    if (std::isnan(bf16))
      EXPECT_TRUE(std::isnan(widenBF16(roundToBF16(bf16)))) << bits;
    else
      EXPECT_EQ(roundToBF16(bf16), bits);
  }
}

TEST(Rounding, AgreesWithLLVMOnDrawnBits) {
  RandomTensor random(1, "rounding");
  for (uint64_t i = 0; i < 400000; ++i) {
    uint32_t bits = static_cast<uint32_t>(random.bits(i));
    if (i % 2) // exponents near those of f16, where the interesting cases are
      bits = (bits & 0x807fffff) | (96 + bits % 48) << 23;
    float value = llvm::bit_cast<float>(bits);
    if (std::isnan(value))
      continue;
    ASSERT_EQ(roundToF16(value), roundBySemantics(value, llvm::APFloat::IEEEhalf())) << bits;
    ASSERT_EQ(roundToBF16(value), roundBySemantics(value, llvm::APFloat::BFloat())) << bits;
  }
}

TEST(Rounding, TiesAndEnds) {
  EXPECT_EQ(roundToF16(65519.996f), 0x7bff); // the largest finite
  EXPECT_EQ(roundToF16(65520.0f), 0x7c00);   // halfway to 2^16: even is infinity
  EXPECT_EQ(roundToF16(0x1p-25f), 0);        // halfway to the smallest: even is 0
  EXPECT_EQ(roundToF16(0x1.000002p-25f), 1);
  EXPECT_EQ(roundToF16(-0.0f), 0x8000);
  EXPECT_EQ(roundToF16(0x1.ffep-15f), 0x0400 - 1 + 1); // the largest subnormal and a half rounds up to a normal
  EXPECT_EQ(roundToBF16(0x1.01p0f), 0x3f80);           // tie, to even
  EXPECT_EQ(roundToBF16(0x1.03p0f), 0x3f82);
  EXPECT_TRUE(std::isnan(widenBF16(roundToBF16(llvm::bit_cast<float>(0x7f800001u)))));
}

TEST(ConvertTensor, FloatsAndIntegers) {
  HostTensor tensor = HostTensor::zeros(ElementType::F64, {2});
  tensor.data<double>()[0] = 1.0 + 0x1p-11 + 0x1p-40; // above a tie of f16, but not after rounding to f32
  tensor.data<double>()[1] = -3;
  llvm::Expected<HostTensor> half = convertTensor(tensor, ElementType::F16);
  ASSERT_TRUE(static_cast<bool>(half));
  EXPECT_THAT(toDoubles(*half), testing::ElementsAre(1.0, -3.0));
  EXPECT_EQ(llvm::toString(convertTensor(tensor, ElementType::I32).takeError()), "expected i32, but got f64");

  HostTensor wide = HostTensor::zeros(ElementType::I64, {2});
  wide.data<int64_t>()[0] = -5;
  llvm::Expected<HostTensor> narrow = convertTensor(wide, ElementType::I32);
  ASSERT_TRUE(static_cast<bool>(narrow));
  EXPECT_EQ(narrow->data<int32_t>()[0], -5);
  wide.data<int64_t>()[1] = int64_t(1) << 31;
  EXPECT_EQ(llvm::toString(convertTensor(wide, ElementType::I32).takeError()),
            "expected values that fit i32, but got 2147483648");
  wide.data<int64_t>()[1] = -1;
  EXPECT_EQ(llvm::toString(convertTensor(wide, ElementType::U64).takeError()),
            "expected values that fit u64, but got -5");
}

TEST(ByteCount, RefusesWhatOverflows) {
  EXPECT_EQ(byteCount(ElementType::F32, {2, 3}), 24);
  EXPECT_EQ(byteCount(ElementType::F32, {}), 4);
  EXPECT_EQ(byteCount(ElementType::F32, {0, 5}), 0);
  EXPECT_EQ(byteCount(ElementType::F32, {-1}), std::nullopt);
  EXPECT_EQ(byteCount(ElementType::I8, {int64_t(1) << 40, int64_t(1) << 40}), std::nullopt);
  EXPECT_EQ(byteCount(ElementType::I8, {0, int64_t(1) << 40, int64_t(1) << 40}), std::nullopt);
}
