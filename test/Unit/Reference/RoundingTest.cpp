//===- RoundingTest.cpp - f32, f16 and bf16 to nearest even --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Rounding.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace attune::reference;

namespace {
struct RoundingTest : testing::Test {
  mlir::MLIRContext context;
  mlir::Builder builder{&context};
};

double byAPFloat(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool loses;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}
} // namespace

TEST_F(RoundingTest, TiesGoToEven) {
  // 2049 and 2051 lie half way between the f16 numbers around them, which are 2 apart.
  EXPECT_EQ(roundTo(2049, builder.getF16Type()), 2048);
  EXPECT_EQ(roundTo(2051, builder.getF16Type()), 2052);
  EXPECT_EQ(roundTo(257, builder.getBF16Type()), 256);
  EXPECT_EQ(roundTo(259, builder.getBF16Type()), 260);
  EXPECT_EQ(roundTo(16777217, builder.getF32Type()), 16777216);
}

TEST_F(RoundingTest, OneRoundingNotTwo) {
  // Just above half a unit: f32 would round it down to the tie, and the tie to even, 1.
  double value = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(roundTo(value, builder.getF16Type()), 1 + 0x1p-10);
}

TEST_F(RoundingTest, EndsOfTheRange) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(roundTo(65519, builder.getF16Type()), 65504);
  EXPECT_EQ(roundTo(65520, builder.getF16Type()), infinity);
  EXPECT_EQ(roundTo(-1e39, builder.getBF16Type()), -infinity);
  EXPECT_EQ(roundTo(0x1p-24, builder.getF16Type()), 0x1p-24);
  EXPECT_EQ(roundTo(0x1p-25, builder.getF16Type()), 0);
  EXPECT_EQ(roundTo(0x1.8p-25, builder.getF16Type()), 0x1p-24);
  EXPECT_EQ(roundTo(infinity, builder.getF16Type()), infinity);
  EXPECT_TRUE(std::isnan(roundTo(std::nan(""), builder.getBF16Type())));
  EXPECT_TRUE(std::signbit(roundTo(-1e-30, builder.getF16Type())));
}

TEST_F(RoundingTest, AgreesWithAPFloat) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-160, 140);
  for (int i = 0; i < 20000; ++i) {
    double value = std::ldexp(mantissa(random), exponent(random) / (i % 2 ? 1 : 8));
    EXPECT_EQ(roundTo(value, builder.getF16Type()), byAPFloat(value, llvm::APFloat::IEEEhalf())) << value;
    EXPECT_EQ(roundTo(value, builder.getBF16Type()), byAPFloat(value, llvm::APFloat::BFloat())) << value;
    EXPECT_EQ(roundTo(value, builder.getF32Type()), byAPFloat(value, llvm::APFloat::IEEEsingle())) << value;
  }
}

TEST_F(RoundingTest, IdealKeepsAll) {
  EXPECT_EQ(resultOf(0.1, builder.getF16Type(), Precision::Ideal), 0.1);
  EXPECT_NE(resultOf(0.1, builder.getF16Type(), Precision::Faithful), 0.1);
}
