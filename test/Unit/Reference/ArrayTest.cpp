//===- ArrayTest.cpp - Strided views -------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Array.h"

#include "gtest/gtest.h"

using namespace attune::reference;

TEST(ArrayTest, RowMajorByDefault) {
  Array array = makeArray({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(array({1, 0}), 3);
  EXPECT_EQ(array.stride(0), 3);
  EXPECT_EQ(array.elements(), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(ArrayTest, ViewsShareTheBuffer) {
  auto buffer = std::make_shared<std::vector<double>>(std::vector<double>{0, 1, 2, 3, 4, 5});
  std::optional<Array> transposed = Array::view(buffer, 0, {3, 2}, {1, 3});
  ASSERT_TRUE(transposed);
  EXPECT_EQ(transposed->elements(), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  (*transposed)({2, 1}) = 9;
  EXPECT_EQ((*buffer)[5], 9);
}

TEST(ArrayTest, ViewsMustLieInside) {
  auto buffer = std::make_shared<std::vector<double>>(6);
  EXPECT_TRUE(Array::view(buffer, 0, {2, 3}, {3, 1}));
  EXPECT_FALSE(Array::view(buffer, 1, {2, 3}, {3, 1}));
  EXPECT_FALSE(Array::view(buffer, 0, {2, 3}, {-3, 1}));
  EXPECT_TRUE(Array::view(buffer, 3, {2, 3}, {-3, 1}));
  EXPECT_FALSE(Array::view(buffer, 0, {2, 3}, {int64_t(1) << 62, 1}));
  EXPECT_TRUE(Array::view(buffer, 0, {0, 3}, {int64_t(1) << 62, 1}));
}

TEST(ArrayTest, CountsThatNoMemoryHolds) {
  EXPECT_EQ(elementCount({3, 0, 5}), 0);
  EXPECT_FALSE(elementCount({-1}));
  EXPECT_FALSE(elementCount({int64_t(1) << 40, 2}));
  EXPECT_FALSE(elementCount({0, int64_t(1) << 41}));
}
