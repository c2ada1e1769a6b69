//===- PessimismTest.cpp - Sums and approximations at their worst ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums are probed as the papers do it (docs/Rationale/Emulator.md): one large term, and small ones that are kept or
// lost by where they stand and how small they are. All values are worked out by hand from the published figures.
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "Approximation.h"
#include "MatrixSums.h"
#include "Numbers.h"

#include <random>

using namespace attune;
using namespace attune::emulator;
using namespace attune::test;
using Operand = MatrixSums::Operand;

namespace {

/// Products: place in the depth, a, b; the rest is 0.
struct Term {
  unsigned k;
  float a, b = 1;
};

struct Unit {
  unsigned capability;
  Operand operand = Operand::Half;
  bool halfSums = false;

  /// c + Σ a b, which each place of a tile must give.
  float operator()(float c, std::vector<Term> terms) const {
    float a[16][16] = {}, b[16][8] = {}, sums[16][8];
    for (auto &row : sums)
      std::fill_n(row, 8, c);
    for (const Term &term : terms) {
      for (auto &row : a)
        row[term.k] = term.a;
      std::fill_n(b[term.k], 8, term.b);
    }
    MatrixSums::of(capability, operand, halfSums).add(operand == Operand::Tf32 ? 8 : 16, a, *b, 8, *sums, 8);
    for (auto &row : sums)
      for (float sum : row)
        EXPECT_EQ(floatToBits(sum), floatToBits(sums[0][0]));
    return sums[0][0];
  }
};

/// The same term at places `from` to `to`.
std::vector<Term> repeated(unsigned from, unsigned to, float a, float b, std::vector<Term> others = {}) {
  for (unsigned k = from; k <= to; ++k)
    others.push_back({k, a, b});
  return others;
}

const Unit ampere{80}, hopper{90}, ampereTf32{80, Operand::Tf32}, hopperTf32{90, Operand::Tf32};

} // namespace

TEST(MatrixSums, OneBitBelowF32OnAmpereAndTwoOnHopper) {
  // 2^-24 is half a unit in the last place of 1: one bit is kept for it, on every architecture.
  EXPECT_EQ(ampere(1, repeated(0, 1, 0x1p-12f, 0x1p-12f)), 1 + 0x1p-23f);
  EXPECT_EQ(hopper(1, repeated(0, 1, 0x1p-12f, 0x1p-12f)), 1 + 0x1p-23f);
  // Four of 2^-25 are one unit: Ampere cuts each of them off.
  EXPECT_EQ(ampere(1, repeated(0, 3, 0x1p-13f, 0x1p-12f)), 1.0f);
  EXPECT_EQ(hopper(1, repeated(0, 3, 0x1p-13f, 0x1p-12f)), 1 + 0x1p-23f);
  // Eight of 2^-26: so does Hopper.
  EXPECT_EQ(hopper(1, repeated(0, 7, 0x1p-13f, 0x1p-13f)), 1.0f);
  EXPECT_EQ(ampereTf32(1, repeated(0, 3, 0x1p-13f, 0x1p-12f)), 1.0f);
  EXPECT_EQ(hopperTf32(1, repeated(0, 3, 0x1p-13f, 0x1p-12f)), 1 + 0x1p-23f);
}

TEST(MatrixSums, AllConsumerAmperesAndAdasAreAlike) {
  for (unsigned capability : {86, 87, 89})
    EXPECT_EQ(Unit{capability}(1, repeated(0, 3, 0x1p-13f, 0x1p-12f)), 1.0f) << capability;
}

TEST(MatrixSums, GroupsOfEightOnAmpereAndSixteenOnHopper) {
  // Eight of 2^-26 are 2^-23 if they meet the 1 as one number.
  std::vector<Term> oneLater = repeated(0, 7, 0x1p-13f, 0x1p-13f, {{8, 1}});
  EXPECT_EQ(ampere(0, oneLater), 1 + 0x1p-23f);
  EXPECT_EQ(hopper(0, oneLater), 1.0f);
  // The 1 comes first: it is the sum that the second group is aligned with.
  EXPECT_EQ(ampere(0, repeated(8, 15, 0x1p-13f, 0x1p-13f, {{0, 1}})), 1.0f);
  // A 1 within the first eight is met by each of them.
  EXPECT_EQ(ampere(0, repeated(0, 6, 0x1p-13f, 0x1p-13f, {{7, 1}})), 1.0f);
}

TEST(MatrixSums, GroupsOfFourOfTf32OnAmpereAndEightOnHopper) {
  // Four of -2^-26 are -2^-24, which is a unit in the last place below 1.
  std::vector<Term> oneLater = repeated(0, 3, -0x1p-13f, 0x1p-13f, {{4, 1}});
  EXPECT_EQ(ampereTf32(0, oneLater), 1 - 0x1p-24f);
  EXPECT_EQ(hopperTf32(0, oneLater), 1.0f);
  EXPECT_EQ(ampereTf32(0, repeated(0, 2, -0x1p-13f, 0x1p-13f, {{3, 1}})), 1.0f);
}

TEST(MatrixSums, TermsAreCutOffTowardsZeroBeforeTheyAreAdded) {
  // 1 - 2^-25, cut off as a whole, would be 1 - 2^-24.
  EXPECT_EQ(ampere(1, {{0, -0x1p-13f, 0x1p-12f}}), 1.0f);
  EXPECT_EQ(ampere(-1, {{0, 0x1p-13f, 0x1p-12f}}), -1.0f);
  // Of 1.5 · 2^-24 one half is lost, whatever the sign.
  EXPECT_EQ(ampere(1, repeated(0, 1, 0x1.8p-12f, 0x1p-12f)), 1 + 0x1p-23f);
  EXPECT_EQ(ampere(1, repeated(0, 1, -0x1.8p-12f, 0x1p-12f)), 1 - 0x1p-23f);
  // Kept, and then cut off at f32: 1 + 2^-24 is 1, and -1 - 2^-24 is -1.
  EXPECT_EQ(ampere(1, {{0, 0x1p-12f, 0x1p-12f}}), 1.0f);
  EXPECT_EQ(ampere(-1, {{0, -0x1p-12f, 0x1p-12f}}), -1.0f);
}

TEST(MatrixSums, TheSumIsCutOffLikeAProduct) {
  // With 4 among the terms Ampere keeps down to 2^-22, Hopper to 2^-23.
  std::vector<Term> cancelling = {{0, 2, 2}, {1, -2, 2}};
  EXPECT_EQ(ampere(1 + 0x1p-23f, cancelling), 1.0f);
  EXPECT_EQ(hopper(1 + 0x1p-23f, cancelling), 1 + 0x1p-23f);
  EXPECT_EQ(hopper(0.5f + 0x1p-24f, cancelling), 0.5f);
}

TEST(MatrixSums, AProductHasTheExponentsOfItsOperands) {
  // 1.5 · 1.5 = 2.25 counts as of exponent 0, so 2^-24 is kept, and four of them are a unit in the last place.
  EXPECT_EQ(ampere(0, repeated(1, 4, 0x1p-12f, 0x1p-12f, {{0, 1.5f, 1.5f}})), 2.25f + 0x1p-22f);
  // The same number as the sum has exponent 1.
  EXPECT_EQ(ampere(2.25f, repeated(1, 4, 0x1p-12f, 0x1p-12f)), 2.25f);
}

TEST(MatrixSums, SubnormalOperandsHaveTheLeastExponent) {
  // 2^-24 as an f16 has exponent -14, so nothing below 2^-38 is kept beside it.
  EXPECT_EQ(ampere(0x1p-39f, {{0, 0x1p-24f}}), 0x1p-24f);
  EXPECT_EQ(ampere(0x1p-38f, {{0, 0x1p-24f}}), 0x1p-24f + 0x1p-38f);
  // As a bfloat it has exponent -24.
  Unit bfloat{80, Operand::Bfloat};
  EXPECT_EQ(bfloat(0x1p-39f, {{0, 0x1p-24f}}), 0x1p-24f + 0x1p-39f);
}

TEST(MatrixSums, AtTheEndsOfTheRange) {
  Unit bfloat{80, Operand::Bfloat};
  EXPECT_EQ(bfloat(0, {{0, 0x1p100f, 0x1p27f}}), 0x1p127f);
  EXPECT_EQ(bfloat(0, {{0, 0x1p100f, 0x1p28f}}), INFINITY);
  EXPECT_EQ(bfloat(1, {{0, 0x1p-130f, 0x1p-130f}}), 1.0f);
  EXPECT_EQ(bfloat(0, {{0, 0x1p-100f, 0x1p-49f}}), 0x1p-149f);
  EXPECT_EQ(bfloat(0, {{0, 0x1p100f, 0x1p100f}, {1, -0x1p100f, 0x1p100f}}), 0.0f);
  EXPECT_EQ(ampere(0, {}), 0.0f);
}

TEST(MatrixSums, WhatIsNotFiniteStaysInItsColumn) {
  float a[16][16] = {}, b[16][8] = {}, sums[16][8] = {};
  a[0][0] = 1, b[0][3] = INFINITY, b[0][4] = NAN, b[0][5] = 1, sums[0][5] = 0x1p-25f, sums[0][6] = INFINITY;
  MatrixSums::of(80, Operand::Half, false).add(16, a, *b, 8, *sums, 8);
  EXPECT_EQ(sums[0][3], INFINITY);
  EXPECT_TRUE(std::isnan(sums[0][4]));
  EXPECT_EQ(sums[0][5], 1.0f);
  EXPECT_EQ(sums[0][6], INFINITY);
  EXPECT_EQ(sums[0][0], 0.0f);
  EXPECT_TRUE(std::isnan(sums[1][3])); // 0 · ∞
}

TEST(MatrixSums, SumsInHalfAreRoundedAfterEachGroup) {
  Unit ampereHalf{80, Operand::Half, true}, hopperHalf{90, Operand::Half, true};
  EXPECT_EQ(ampereHalf(1, {{0, 0x1p-11f}}), 1.0f);                                  // a tie, to even
  EXPECT_EQ(ampereHalf(1 + 0x1p-10f, {{0, 0x1p-11f}}), 1 + 0x1p-9f);                // a tie, to even
  EXPECT_EQ(ampereHalf(1, {{0, 0x1p-11f}, {1, 0x1p-12f, 0x1p-12f}}), 1 + 0x1p-10f); // above a tie
  EXPECT_EQ(ampereHalf(1, {{0, 0x1p-11f}, {8, 0x1p-11f}}), 1.0f);
  EXPECT_EQ(hopperHalf(1, {{0, 0x1p-11f}, {8, 0x1p-11f}}), 1 + 0x1p-10f);
}

TEST(MatrixSums, NearTheExactSum) {
  // Each of at most 17 terms loses less than 2^(e - bits), the sum less than a unit in the last place.
  std::mt19937 random(5);
  std::uniform_real_distribution<float> draw(-2, 2);
  for (int trial = 0; trial < 200; ++trial) {
    float a[16][16], b[16][8], sums[16][8];
    for (auto &row : a)
      for (float &element : row)
        element = halfToFloat(floatToHalf(draw(random)));
    for (auto &row : b)
      for (float &element : row)
        element = halfToFloat(floatToHalf(draw(random)));
    std::fill_n(*sums, 128, 3.0f);
    MatrixSums::of(90, Operand::Half, false).add(16, a, *b, 8, *sums, 8);
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned j = 0; j < 8; ++j) {
        double exact = 3;
        for (unsigned k = 0; k < 16; ++k)
          exact += double(a[row][k]) * b[k][j];
        EXPECT_NEAR(sums[row][j], exact, 17 * 0x1p-24 + std::fabs(exact) * 0x1p-23);
      }
  }
}

//===----------------------------------------------------------------------===//
// Approximations
//===----------------------------------------------------------------------===//

TEST(ErrorBound, TwoUnitsUpOrDown) {
  unsigned up = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    float operand = 1 + 0x1p-10f * float(i), exact = 1.5f;
    float worst = boundOfExp2.worst(operand, exact, 1);
    EXPECT_TRUE(worst == 1.5f + 0x1p-22f || worst == 1.5f - 0x1p-22f) << worst;
    EXPECT_EQ(worst, boundOfExp2.worst(operand, exact, 1));
    up += worst > exact;
  }
  // Of 1000 fair draws; 16 is the standard deviation.
  EXPECT_NEAR(up, 500, 80);
}

TEST(ErrorBound, TheSeedDecides) {
  unsigned others = 0;
  for (unsigned i = 0; i < 1000; ++i)
    others += boundOfExp2.worst(float(i + 1), 1.5f, 1) != boundOfExp2.worst(float(i + 1), 1.5f, 2);
  EXPECT_NEAR(others, 500, 80);
}

TEST(ErrorBound, UnitsAreThoseOfTheResult) {
  // Below 1 a unit in the last place is half as large; the direction is the operand's.
  float one = boundOfExp2.worst(3, 1, 1), eighth = boundOfExp2.worst(3, 0.125f, 1);
  EXPECT_EQ(std::fabs(one - 1), 0x1p-22f);
  EXPECT_EQ(eighth * 8, one);
  EXPECT_EQ(boundOfExp2.worst(3, -1, 1) < -1, one < 1);
  EXPECT_EQ(std::fabs(boundOfExp2.worst(3, 0x1p-140f, 1) - 0x1p-140f), 0x1p-148f);
}

TEST(ErrorBound, RelativeAndAbsolute) {
  EXPECT_EQ(std::fabs(boundOfLog2.worst(1.5f, 0x1p-4f, 1) - 0x1p-4f), 0x1p-22f);
  EXPECT_EQ(std::fabs(double(boundOfLog2.worst(1, 0x1p-30f, 1)) - 0x1p-30), 0x1p-22);
  EXPECT_EQ(std::fabs(boundOfLog2.worst(256, 8, 1) - 8), 0x1p-19f);
  EXPECT_EQ(std::fabs(boundOfTangent.worst(1, 0.75f, 1) - 0.75f), 0.75f * 0x1p-11f);
  EXPECT_EQ(std::fabs(boundOfRoot.worst(4, 2, 1) - 2), 0x1p-22f);
}

TEST(ErrorBound, WhatTheManualFixesStays) {
  EXPECT_EQ(boundOfExp2.worst(0, 1, 1), 1.0f);
  EXPECT_EQ(boundOfExp2.worst(-0.0f, 1, 1), 1.0f);
  EXPECT_EQ(boundOfExp2.worst(-INFINITY, 0, 1), 0.0f);
  EXPECT_EQ(boundOfReciprocal.worst(0, INFINITY, 1), INFINITY);
  EXPECT_EQ(boundOfReciprocal.worst(INFINITY, 0, 1), 0.0f);
  EXPECT_TRUE(std::isnan(boundOfExp2.worst(NAN, NAN, 1)));
  for (float operand = 1; operand < 20; ++operand)
    EXPECT_TRUE(std::isfinite(boundOfReciprocal.worst(operand, std::numeric_limits<float>::max(), 1)));
}

//===----------------------------------------------------------------------===//
// In programs
//===----------------------------------------------------------------------===//

/// Each of the products is 2^-25, beside 1; the kernel has eight of them.
static std::vector<float> multipliedBeside1(EmulatorOptions options) {
  std::string operands, small = "i32 " + std::to_string(floatToBits(0x1p-13f));
  for (unsigned r = 0; r < 4; ++r)
    operands += small + ", ";
  operands += "i32 " + std::to_string(floatToBits(0x1p-12f)) + ", i32 " + std::to_string(floatToBits(0x1p-12f));
  std::string body = "  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.tf32(" + operands +
                     ", float 1.0, float 1.0, float 1.0, float 1.0)\n";
  body += R"(  %o = getelementptr {float, float, float, float}, ptr %out, i64 %t
  store {float, float, float, float} %d, ptr %o)";
  std::vector<float> out(128);
  Program program(kernel("ptr %out", body), options);
  EXPECT_EQ(program.buffer(out).run({32}), "");
  return out;
}

TEST(Pessimistic, MmaOfEachArchitecture) {
  EmulatorOptions options;
  EXPECT_EQ(multipliedBeside1(options), std::vector<float>(128, 1 + 0x1p-22f));
  options.pessimistic = true;
  EXPECT_EQ(multipliedBeside1(options), std::vector<float>(128, 1.0f));
  options.chip = "sm_90";
  EXPECT_EQ(multipliedBeside1(options), std::vector<float>(128, 1 + 0x1p-22f));
}

TEST(Pessimistic, AChipThatIsNone) {
  EmulatorOptions options;
  options.chip = "cpu";
  EXPECT_EQ(Program(kernel("", ""), options).error, "expected a chip as sm_80, but got 'cpu'");
}

/// out[t] = function(in[t]).
static std::vector<float> evaluate(const std::string &function, std::vector<float> in, bool pessimistic) {
  EmulatorOptions options;
  options.pessimistic = pessimistic;
  Program program(kernel("ptr %in, ptr %out", R"(  %i = getelementptr float, ptr %in, i64 %t
  %x = load float, ptr %i
  %r = call float @llvm.nvvm.)" + function + R"((float %x)
  %o = getelementptr float, ptr %out, i64 %t
  store float %r, ptr %o)"),
                  options);
  std::vector<float> out(in.size());
  EXPECT_EQ(program.buffer(in).buffer(out).run({uint32_t(in.size())}), "");
  return out;
}

TEST(Pessimistic, ApproximationsAreTwoUnitsOffAndRoundedOnesAreNot) {
  std::vector<float> in;
  for (unsigned i = 0; i < 100; ++i)
    in.push_back(0.6251f + float(i) / 64); // no power of two among them or their results
  for (std::string function : {"ex2.approx.ftz.f32", "rcp.approx.ftz.f", "rsqrt.approx.f"}) {
    std::vector<float> exact = evaluate(function, in, false), worst = evaluate(function, in, true);
    unsigned up = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(std::abs(int(floatToBits(worst[i]) - floatToBits(exact[i]))), 2) << function << " of " << in[i];
      up += worst[i] > exact[i];
    }
    EXPECT_NEAR(up, 50, 30) << function;
  }
  for (std::string function : {"sqrt.rn.f", "rcp.rn.f"})
    EXPECT_EQ(evaluate(function, in, true), evaluate(function, in, false)) << function;
}

// Section 9.7.3.18: 2^-20.5 up to 2 pi, 2^-14.7 up to 100 pi, no bound beyond.
TEST(Pessimistic, LargeAnglesHaveLargeErrors) {
  for (std::string function : {"sin.approx.f", "cos.approx.f"}) {
    std::vector<float> in = {1, -6.25f, 6.3f, -314, 315, 1e6f}, near = evaluate(function, in, false),
                       far = evaluate(function, in, true);
    double bounds[] = {0x1.6a09e6p-21, 0x1.6a09e6p-21, 0x1.3b2c48p-15, 0x1.3b2c48p-15, 1, 1};
    for (size_t i = 0; i < in.size(); ++i)
      EXPECT_NEAR(std::fabs(far[i] - near[i]), bounds[i], 1.2e-7) << function << " of " << in[i];
  }
}
