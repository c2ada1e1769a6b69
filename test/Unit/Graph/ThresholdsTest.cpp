//===- ThresholdsTest.cpp - Lengths at which plans change -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Thresholds.h"

#include "gtest/gtest.h"

using namespace attune::graph;

static constexpr int64_t longest = int64_t(1) << 20;

static std::vector<std::pair<unsigned, int64_t>> solve(unsigned plans, PriceAt price, unsigned most = 3) {
  std::vector<std::pair<unsigned, int64_t>> segments;
  for (const Segment &segment : solveThresholds(plans, price, longest, most))
    segments.push_back({segment.plan, segment.from});
  return segments;
}

using Segments = std::vector<std::pair<unsigned, int64_t>>;

/// 10·L, 100 + 5·L, 1000 + L: equal at 20 and at 225.
static double lines(unsigned plan, int64_t length) {
  constexpr double start[] = {0, 100, 1000}, slope[] = {10, 5, 1};
  return start[plan] + slope[plan] * length;
}

TEST(Thresholds, SamplesAreDense) {
  auto lengths = sampleLengths(longest);
  EXPECT_EQ(lengths.front(), 1);
  EXPECT_EQ(lengths.back(), longest);
  for (size_t index = 1; index < lengths.size(); ++index) {
    EXPECT_GT(lengths[index], lengths[index - 1]);
    EXPECT_TRUE(lengths[index] == lengths[index - 1] + 1 || lengths[index] <= 1.25 * lengths[index - 1]);
  }
  EXPECT_EQ(sampleLengths(1).size(), 1u);
}

TEST(Thresholds, CrossingsOfLinesAreExact) {
  EXPECT_EQ(solve(3, lines), (Segments{{0, 0}, {1, 21}, {2, 226}}));
  EXPECT_EQ(solve(1, lines), (Segments{{0, 0}}));
}

TEST(Thresholds, TheLeastUsefulPlanGoesWhereThereAreTooMany) {
  // Plan 1 saves least: at most 700 of 1,100 where 10·L = 1000 + L, which is at 111.1.
  EXPECT_EQ(solve(3, lines, 2), (Segments{{0, 0}, {2, 112}}));
  // One plan: at L = 1 plan 0 costs a hundredth of plan 2, at 2^20 plan 2 a tenth of plan 0.
  EXPECT_EQ(solve(3, lines, 1).size(), 1u);
}

TEST(Thresholds, EqualPlansNeedOneFunction) {
  EXPECT_EQ(solve(2, [](unsigned, int64_t length) { return double(length); }), (Segments{{0, 0}}));
  // Half a percent is not worth a function.
  EXPECT_EQ(
      solve(2, [](unsigned plan, int64_t length) { return plan ? 0.995 * (length + 0.1) : double(length); }).size(),
      1u);
}

TEST(Thresholds, NoPlanComesTwice) {
  // Plan 1 costs 1.5; plan 0 costs 1 up to 100, 2 up to 1,000, and then 1.45: a little less than plan 1.
  auto price = [](unsigned plan, int64_t length) {
    return plan == 1 ? 1.5 : length <= 100 ? 1.0 : length <= 1000 ? 2.0 : 1.45;
  };
  EXPECT_EQ(solve(2, price), (Segments{{0, 0}, {1, 101}}));
}

TEST(Thresholds, StepsOfTilesDoNotMakePlansTakeTurns) {
  // Plan 1 pays for whole tiles of 64 with 9 a tile and 40 once, plan 0 pays 10/64 a token: the lead changes many
  // times.
  auto price = [](unsigned plan, int64_t length) {
    return plan == 1 ? 40.0 + 9.0 * ((length + 63) / 64) : 10.0 * length / 64;
  };
  Segments segments = solve(2, price);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].first, 0u);
  EXPECT_EQ(segments[1].first, 1u);
  EXPECT_LT(price(1, segments[1].second), price(0, segments[1].second));
}

TEST(Crossovers, OnEitherSide) {
  auto above = findCrossover(0, 1, lines, 10, longest);
  ASSERT_TRUE(above);
  EXPECT_EQ(above->length, 21);
  EXPECT_FALSE(above->below);
  auto below = findCrossover(2, 1, lines, 1000, longest);
  ASSERT_TRUE(below);
  EXPECT_EQ(below->length, 225); // the tie: from there on plan 1 is not cheaper
  EXPECT_TRUE(below->below);
  EXPECT_FALSE(findCrossover(0, 1, [](unsigned plan, int64_t) { return plan + 1.0; }, 10, longest));
}
