//===- FeatureMapTest.cpp - Feature maps at points where the answer is known ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/FeatureMap.h"

#include "gmock/gmock.h"

#include <cmath>
#include <numbers>

using namespace attune;
using namespace attune::reference;
using attn::FeatureKind;
using attn::Stabilizer;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

static std::vector<double> apply(const FeatureMap &map, std::vector<double> x, const Array *parameter = nullptr,
                                 Shift shift = {}, int64_t position = 0) {
  auto width = static_cast<int64_t>(x.size());
  HeadMap own(map, parameter, 0, width);
  std::vector<double> phi(own.features());
  own.apply(x.data(), position, shift, phi.data());
  return phi;
}

TEST(FeatureMapTest, WithoutParameters) {
  EXPECT_THAT(apply({FeatureKind::Elu1}, {2, 0, -1}), ElementsAre(3, 1, DoubleEq(std::exp(-1))));
  EXPECT_THAT(apply({FeatureKind::Relu}, {2, 0, -1}), ElementsAre(2, 0, 0));
  EXPECT_THAT(apply({FeatureKind::TensorSquare}, {2, -3}), ElementsAre(4, -6, -6, 9));
  EXPECT_THAT(apply({FeatureKind::Softmax}, {0, std::log(3)}), ElementsAre(DoubleEq(0.25), DoubleEq(0.75)));
  EXPECT_THAT(apply({FeatureKind::Softmax}, {1e4, 0}), ElementsAre(1, 0));
}

TEST(FeatureMapTest, CosformerCountsPositionsFromOne) {
  FeatureMap map{FeatureKind::Cosformer};
  map.maxPosition = 3; // angle of the second token: π / 3
  EXPECT_THAT(apply(map, {2, -1}, nullptr, {}, 1),
              ElementsAre(DoubleEq(2 * std::sin(std::numbers::pi / 3)), 0, DoubleEq(2 * std::cos(std::numbers::pi / 3)), 0));
}

TEST(FeatureMapTest, FocusedKeepsTheNorm) {
  FeatureMap map{FeatureKind::Focused};
  map.power = 2;
  // softplus(log(e − 1)) = 1: y = (3, 4), y² = (9, 16), |y| / |y²| = 5 / √337.
  double one = std::log(std::expm1(1));
  Array focus = makeArray({1, 2}, {one, one});
  std::vector<double> phi = apply(map, {3, 4}, &focus);
  EXPECT_NEAR(phi[0], 9 * 5 / std::sqrt(337), 1e-14);
  EXPECT_NEAR(phi[1], 16 * 5 / std::sqrt(337), 1e-14);
  map.power = 200; // no power overflows
  EXPECT_NEAR(apply(map, {1e3, 1}, &focus)[0], std::hypot(1e3, 1), 1e-10);
}

TEST(FeatureMapTest, FavorAndItsShifts) {
  FeatureMap map{FeatureKind::Favor};
  map.features = 2, map.scale = 4, map.epsilon = 0.5;
  Array omega = makeArray({1, 2, 1}, {1, -3});
  // x' = 2: projections 2 and −6, less |x'|²/2 = 2.
  double root = std::sqrt(2);
  EXPECT_THAT(apply(map, {1}, &omega), ElementsAre(DoubleEq(1.5 / root), DoubleEq((std::exp(-8) + 0.5) / root)));
  EXPECT_THAT(apply(map, {1}, &omega, {true, 0}), ElementsAre(DoubleEq(1.5 / root), DoubleEq((std::exp(-8) + 0.5) / root)));
  EXPECT_THAT(apply(map, {1}, &omega, {false, -8}), ElementsAre(DoubleEq((std::exp(8) + 0.5) / root), DoubleEq(1.5 / root)));
  double exponents[2];
  EXPECT_EQ(HeadMap(map, &omega, 0, 1).exponents(std::vector<double>{1}.data(), exponents), 0);
  EXPECT_THAT(exponents, ElementsAre(0, -8));
  EXPECT_EQ(HeadMap(map, &omega, 0, 1).keyShift(7).value, 4.5); // |ω|²/2 of the longest
  map.stabilizer = Stabilizer::Projection;
  EXPECT_EQ(HeadMap(map, &omega, 0, 1).exponents(std::vector<double>{1}.data(), exponents), 2);
  EXPECT_EQ(HeadMap(map, &omega, 0, 1).keyShift(7).value, 7);
  map.stabilizer = Stabilizer::None;
  EXPECT_EQ(HeadMap(map, &omega, 0, 1).keyShift(7).value, 0);
  EXPECT_FALSE(HeadMap(map, &omega, 0, 1).queryShift().ofRow);
}

TEST(FeatureMapTest, FavorReluOfItsOwnHead) {
  FeatureMap map{FeatureKind::FavorRelu};
  map.features = 1, map.epsilon = 0.25;
  Array omega = makeArray({2, 1, 2}, {1, 1, 2, -1});
  HeadMap second(map, &omega, 1, 2);
  double phi = 0;
  second.apply(std::vector<double>{3, 1}.data(), 0, {}, &phi);
  EXPECT_EQ(phi, 5.25);
  second.apply(std::vector<double>{-3, 1}.data(), 0, {}, &phi);
  EXPECT_EQ(phi, 0.25);
}

TEST(FeatureMapTest, ParametersThatDoNotFit) {
  FeatureMap map{FeatureKind::Favor};
  map.features = 3;
  Array omega({2, 3, 4});
  EXPECT_EQ(map.problem(&omega, 2, 4), "");
  EXPECT_THAT(map.problem(&omega, 5, 4), HasSubstr("expected omega of [5, 3, 4], but got [2, 3, 4]"));
  EXPECT_THAT(map.problem(nullptr, 2, 4), HasSubstr("expected a parameter of favor, but got none"));
  EXPECT_THAT(FeatureMap{}.problem(&omega, 2, 4), HasSubstr("expected no parameter of elu1, but got one"));
}
