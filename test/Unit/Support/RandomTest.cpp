//===- RandomTest.cpp - Random numbers: known answers and distributions --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace attune;
using testing::ElementsAre;

namespace {

constexpr int64_t drawn = 200000;

std::vector<double> normals(uint64_t seed, llvm::StringRef name) {
  RandomTensor random(seed, name);
  std::vector<double> result;
  for (int64_t i = 0; i < drawn; ++i)
    result.push_back(random.normal(i));
  return result;
}

double moment(const std::vector<double> &values, int power) {
  double sum = 0;
  for (double value : values)
    sum += std::pow(value, power);
  return sum / static_cast<double>(values.size());
}

double normalCdf(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

} // namespace

// The vectors that the authors of the generator publish with it.
TEST(Philox, KnownAnswers) {
  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(NormalQuantile, InvertsTheDistribution) {
  for (double p : {1e-15, 1e-9, 1e-4, 0.01, 0.074, 0.076, 0.3, 0.5, 0.7, 0.925, 0.99, 0.9999}) {
    double z = normalQuantile(p);
    EXPECT_NEAR(normalCdf(z) / p, 1, 2e-13) << p;
    EXPECT_NEAR(normalQuantile(1 - p), -z, 1e-13 + 1e-15 / p) << p;
  }
  EXPECT_EQ(normalQuantile(0.5), 0);
  // Φ(z) = 0.975 at the z that every table of the normal distribution prints.
  EXPECT_NEAR(normalQuantile(0.975), 1.959963984540054, 1e-14);
}

TEST(RandomTensor, MomentsOfTheNormal) {
  // Each bound is five standard deviations of the estimate.
  std::vector<double> values = normals(3, "q");
  double n = std::sqrt(static_cast<double>(drawn));
  EXPECT_NEAR(moment(values, 1), 0, 5 / n);
  EXPECT_NEAR(moment(values, 2), 1, 5 * std::sqrt(2.0) / n);
  EXPECT_NEAR(moment(values, 3), 0, 5 * std::sqrt(15.0) / n);
  EXPECT_NEAR(moment(values, 4), 3, 5 * std::sqrt(96.0) / n);
}

TEST(RandomTensor, KolmogorovSmirnov) {
  std::vector<double> values = normals(5, "v");
  std::sort(values.begin(), values.end());
  double worst = 0;
  for (int64_t i = 0; i < drawn; ++i) {
    double p = normalCdf(values[i]);
    worst = std::max(
        {worst, std::fabs(p - static_cast<double>(i) / drawn), std::fabs(p - static_cast<double>(i + 1) / drawn)});
  }
  EXPECT_LT(worst * std::sqrt(static_cast<double>(drawn)), 2.2); // exceeded once in 8000
}

TEST(RandomTensor, NeighboursNamesAndSeedsAreIndependent) {
  std::vector<double> a = normals(1, "q"), b = normals(1, "k"), c = normals(2, "q");
  auto correlation = [](const std::vector<double> &x, const std::vector<double> &y, size_t shift) {
    double sum = 0;
    for (size_t i = 0; i + shift < x.size(); ++i)
      sum += x[i] * y[i + shift];
    return sum / static_cast<double>(x.size());
  };
  double bound = 5 / std::sqrt(static_cast<double>(drawn));
  EXPECT_NEAR(correlation(a, a, 1), 0, bound);
  EXPECT_NEAR(correlation(a, a, 2), 0, bound);
  EXPECT_NEAR(correlation(a, b, 0), 0, bound);
  EXPECT_NEAR(correlation(a, c, 0), 0, bound);
}

TEST(RandomTensor, BelowIsUniform) {
  RandomTensor random(9, "lengths");
  std::vector<int64_t> counts(7);
  for (int64_t i = 0; i < 70000; ++i)
    ++counts.at(random.below(i, 7));
  for (int64_t count : counts)
    EXPECT_NEAR(count, 10000, 5 * std::sqrt(10000.0 * 6 / 7));
}
