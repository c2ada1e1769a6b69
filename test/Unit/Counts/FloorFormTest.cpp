//===- FloorFormTest.cpp - Sums of floors against visiting each x ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FloorForm.h"
#include "SizeProgram.h"

#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <random>

using namespace attune;
using namespace attune::cost;

namespace {
class FloorForms : public testing::Test {
protected:
  int64_t draw(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  /// A line divided, once more divided, and another one.
  FloorForm drawForm() {
    FloorForm line{draw(-200, 200), draw(-100, 100), {}};
    FloorForm form = *line.floorDiv(draw(1, 90));
    if (std::optional<FloorForm> again = form.floorDiv(draw(1, 5)))
      form = *again;
    form.add({draw(-9, 9), draw(-3, 3), {}}, draw(-3, 3));
    form.add(*FloorForm{draw(-50, 50), draw(-20, 20), {}}.floorDiv(draw(1, 30)), draw(-2, 2));
    return form;
  }
  VariableRange drawRange() {
    int64_t first = draw(0, 40);
    return {first, first + draw(1, 60)};
  }
  std::mt19937_64 random{7};
};
} // namespace

TEST_F(FloorForms, SumIsThatOfEachValue) {
  for (int i = 0; i < 2000; ++i) {
    FloorForm form = drawForm();
    VariableRange range = drawRange();
    double sum = 0;
    for (int64_t x = range.first; x < range.last; ++x)
      sum += static_cast<double>(form.at(x));
    EXPECT_EQ(form.sumOver(range), sum);
  }
}

TEST_F(FloorForms, QuotientIsThatOfEachValue) {
  int divided = 0;
  for (int i = 0; i < 2000; ++i) {
    FloorForm form = drawForm();
    int64_t divisor = draw(1, 70);
    std::optional<FloorForm> quotient = form.floorDiv(divisor);
    divided += quotient.has_value();
    for (int64_t x = 0; quotient && x < 100; ++x)
      EXPECT_EQ(quotient->at(x), llvm::divideFloorSigned(form.at(x), divisor));
  }
  EXPECT_GT(divided, 50);
}

TEST_F(FloorForms, SignIsThatOfEachValue) {
  int kinds[4] = {};
  for (int i = 0; i < 4000; ++i) {
    FloorForm form = drawForm();
    VariableRange range = drawRange();
    FormSign sign = signOver(form, range);
    ++kinds[sign.kind];
    bool positive = form.at(range.last - 1) > 0;
    for (int64_t x = range.first; x < range.last; ++x) {
      EXPECT_TRUE(sign.kind != FormSign::NotNegative || form.at(x) >= 0);
      EXPECT_TRUE(sign.kind != FormSign::NotPositive || form.at(x) <= 0);
      EXPECT_TRUE(sign.kind != FormSign::Changes || (form.at(x) > 0) == (x < sign.change ? !positive : positive));
    }
  }
  for (int count : kinds)
    EXPECT_GT(count, 20);
}

/// Keys up to the diagonal of 64 queries, in tiles of 48: ⌊⌊(64 x + 64) / 48⌋ 48 / 16⌋ = 3 ⌊(64 x + 64) / 48⌋.
TEST(FloorForm, MultiplesLeaveTheFloor) {
  FloorForm tiles = *FloorForm{64, 64, {}}.floorDiv(48), keys;
  keys.add(tiles, 48);
  FloorForm parts = *keys.floorDiv(16);
  EXPECT_EQ(parts.floors.size(), 1u);
  EXPECT_EQ(parts.at(5), 24);
}

TEST(SizePrograms, EqualInstructionsAreOne) {
  SizeProgram sizes;
  Register n = sizes.input(1), x = sizes.variable(0), start = sizes.withConstant(Step::Mul, x, 64);
  EXPECT_EQ(sizes.withConstant(Step::Mul, x, 64), start);
  EXPECT_EQ(sizes.binary(Step::Min, n, start), sizes.binary(Step::Min, start, n));
  EXPECT_EQ(sizes.withConstant(Step::Max, start, 0), start); // neither x nor 64 is negative
  EXPECT_EQ(sizes.slopeOf(sizes.binary(Step::Sub, n, start), 0), -64);
  EXPECT_EQ(sizes.slopeOf(sizes.withConstant(Step::FloorDiv, start, 48), 0), std::nullopt);
  EXPECT_EQ(sizes.atZero(sizes.binary(Step::Add, n, start), 0), n);
}
