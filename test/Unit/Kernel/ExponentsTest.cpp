//===- ExponentsTest.cpp - Which features are carried as exponents --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Exponents.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace attune;
using namespace attune::attn;

namespace {
class Exponents : public ::testing::Test {
protected:
  Exponents() { context.loadDialect<AttnDialect>(); }
  FeatureMapAttr focused(double power, double epsilon = 1e-6) {
    return FeatureMapAttr::get(&context, FeatureKind::Focused, 0, epsilon, 0, power);
  }
  FeatureMapAttr favor(double epsilon, double scale = 0.125) {
    return FeatureMapAttr::get(&context, FeatureKind::Favor, 64, epsilon, scale);
  }

  DenominatorAttr guard(double bias, double floor) { return DenominatorAttr::get(&context, bias, floor); }

  mlir::MLIRContext context;
};
} // namespace

TEST_F(Exponents, OfPowersBelowTheRange) {
  for (int64_t width : {1, 64, 4096})
    for (double power : {0.5, 1.0, 3.0, 4.0})
      EXPECT_FALSE(carriesExponents(focused(power), width, guard(0, 0))) << power << " of " << width;
  // The least weight beside the largest feature, 1: (ε / 30 √d)^p.
  for (int64_t width : {1, 64, 4096})
    for (double power : {0.5, 2.5, 4.0, 5.0, 6.5, 12.0})
      for (double epsilon : {1e-12, 1e-6, 1e-2, 0.5}) {
        bool normal = std::pow(epsilon / (30 * std::sqrt(double(width))), power) >= 0x1p-126;
        EXPECT_EQ(carriesExponents(focused(power, epsilon), width, guard(0, 0)), !normal) << power << " " << epsilon;
        EXPECT_EQ(carriesExponents(focused(power, epsilon), width, guard(1, 0)), !normal); // a guard changes nothing
      }
}

TEST_F(Exponents, OfFavorWhereItsStabilizerCancels) {
  EXPECT_TRUE(carriesExponents(favor(0), 64, guard(0, 0)));
  EXPECT_FALSE(carriesExponents(favor(0), 64, guard(0, 1e-6)));
  EXPECT_FALSE(carriesExponents(favor(1e-3), 64, guard(0, 0)));
}

TEST_F(Exponents, OtherMapsHaveNone) {
  EXPECT_FALSE(carriesExponents(FeatureMapAttr::get(&context, FeatureKind::Elu1), 64, guard(0, 0)));
  EXPECT_EQ(exponentSpan(FeatureMapAttr::get(&context, FeatureKind::Relu), 64), 0);
}

// Bands below the largest key hold every key: but for the last, which is open below by 30, each is 176 wide.
TEST_F(Exponents, BandsHoldTheSpan) {
  for (FeatureMapAttr map : {focused(5), focused(12), focused(30), favor(0), favor(0, 0.01)})
    for (int64_t width : {1, 8, 64}) {
      auto bands = static_cast<double>(bandCount(map, width));
      EXPECT_GE(bands * bandWidth + 30, std::min(exponentSpan(map, width), 4 * bandWidth + 30));
      EXPECT_LT((bands - 2) * bandWidth + 30, exponentSpan(map, width));
    }
}
