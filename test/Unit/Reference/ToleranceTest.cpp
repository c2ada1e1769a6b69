//===- ToleranceTest.cpp - The contract's tolerances and the error they bound ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Tolerance.h"

#include "gmock/gmock.h"

#include <cmath>
#include <limits>

using namespace attune;
using namespace attune::reference;

static const double infinity = std::numeric_limits<double>::infinity();

TEST(ToleranceTest, AsTheContractSays) {
  EXPECT_EQ(tolerance(ElementType::F32), 2e-5);
  EXPECT_EQ(tolerance(ElementType::F16), 4e-3);
  EXPECT_EQ(tolerance(ElementType::BF16), 2e-2);
  EXPECT_EQ(tolerance(ElementType::F32, 32), 2e-5);
  EXPECT_EQ(tolerance(ElementType::F32, 32.1), 4e-5);
  EXPECT_EQ(tolerance(ElementType::BF16, 0, 8), 4e-2);
  EXPECT_EQ(tolerance(ElementType::BF16, 100, 8), 4e-2);
  EXPECT_EQ(tolerance(ElementType::F16, 0, 6), 4e-3);
}

TEST(ToleranceTest, RelativeFrobeniusError) {
  EXPECT_DOUBLE_EQ(relativeError({3, 4}, {0, 5}), std::sqrt(10.0) / 5);
  EXPECT_EQ(relativeError({0, 0}, {0, 0}), 0);
  EXPECT_EQ(relativeError({0, 1e-300}, {0, 0}), infinity);
  EXPECT_EQ(relativeError({1}, {1, 1}), infinity);
  // Squares of these would leave the range of f64.
  EXPECT_DOUBLE_EQ(relativeError({1.5e200, 0}, {1e200, 0}), 0.5);
  EXPECT_DOUBLE_EQ(relativeError({1.5e-200, 0}, {1e-200, 0}), 0.5);
}

TEST(ToleranceTest, WhatIsNotFiniteCounts) {
  EXPECT_EQ(relativeError({std::nan(""), 1}, {1, 1}), infinity);
  EXPECT_EQ(relativeError({1, 1}, {std::nan(""), 1}), infinity);
  EXPECT_EQ(relativeError({-infinity, 1}, {infinity, 1}), infinity);
  EXPECT_EQ(relativeError({-infinity, 1}, {-infinity, 1}), 0);
  EXPECT_EQ(relativeError({std::nan(""), 1}, {std::nan(""), 1}), 0);
}

TEST(ToleranceTest, MismatchNamesTheWorstElement) {
  Array expected = makeArray({2, 2}, {1, 2, 3, 4}), got = makeArray({2, 2}, {1, 2, 3.5, 4});
  EXPECT_EQ(mismatch(expected, expected, 0), "");
  EXPECT_EQ(mismatch(got, expected, 1), "");
  EXPECT_THAT(mismatch(got, expected, 1e-3), testing::HasSubstr("worst at [1, 0]: expected 3"));
  EXPECT_THAT(mismatch(makeArray({2, 2}, {1, std::nan(""), 3, 4}), expected, 1),
              testing::HasSubstr("expected a finite element at [0, 1]"));
  EXPECT_NE(mismatch(makeArray({4}, {1, 2, 3, 4}), expected, 1), "");
}
