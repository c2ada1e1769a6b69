//===- RandomOrthogonalTest.cpp - Random matrices with orthogonal rows ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace attune;

namespace {

struct Matrix {
  int64_t rows, width;
  std::vector<double> values;

  Matrix(int64_t rows, int64_t width, uint64_t seed = 1, uint64_t first = 0)
      : rows(rows), width(width), values(drawOrthogonal(RandomTensor(seed, "omega"), first, rows, width)) {}
  double dot(int64_t a, int64_t b) const {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i)
      sum += values[a * width + i] * values[b * width + i];
    return sum;
  }
  double norm(int64_t row) const { return std::sqrt(dot(row, row)); }
};

} // namespace

TEST(DrawOrthogonal, RowsOfABlockAreOrthogonal) {
  for (auto [rows, width] : {std::pair<int64_t, int64_t>{64, 16}, {150, 64}, {5, 7}, {3, 1}, {9, 2}}) {
    Matrix matrix(rows, width);
    for (int64_t a = 0; a < rows; ++a)
      for (int64_t b = a - a % width; b < a; ++b)
        EXPECT_NEAR(matrix.dot(a, b) / (matrix.norm(a) * matrix.norm(b)), 0, 1e-12) << rows << " x " << width;
  }
}

TEST(DrawOrthogonal, BlocksAreIndependent) {
  constexpr int64_t width = 16;
  Matrix matrix(2 * width, width);
  double sum = 0;
  for (int64_t a = 0; a < width; ++a)
    for (int64_t b = width; b < 2 * width; ++b)
      sum += std::pow(matrix.dot(a, b) / (matrix.norm(a) * matrix.norm(b)), 2);
  // Over all pairs of two orthonormal bases the squares add up to the width exactly.
  EXPECT_NEAR(sum, width, 1e-9);
  EXPECT_NE(matrix.dot(0, width), 0);
}

TEST(DrawOrthogonal, NormsAreThoseOfNormalVectors) {
  // |h|² of d standard normals has mean d and variance 2d.
  constexpr int64_t rows = 20000, width = 8;
  Matrix matrix(rows, width);
  double mean = 0, square = 0;
  for (int64_t row = 0; row < rows; ++row) {
    mean += matrix.dot(row, row) / rows;
    square += std::pow(matrix.dot(row, row) - width, 2) / rows;
  }
  EXPECT_NEAR(mean, width, 5 * std::sqrt(2.0 * width / rows));
  // The fourth central moment of chi-squared is 12d(d + 4).
  double deviation = std::sqrt((12.0 * width * (width + 4) - 4.0 * width * width) / rows);
  EXPECT_NEAR(square, 2.0 * width, 5 * deviation);
}

TEST(DrawOrthogonal, EntriesAreCentredNormals) {
  // A uniform direction times an independent chi norm is a standard normal vector, in every place of a block.
  constexpr int64_t count = 4000, width = 4;
  Matrix matrix(count * width, width);
  for (int64_t place = 0; place < width * width; ++place) {
    double mean = 0, square = 0;
    for (int64_t block = 0; block < count; ++block) {
      double value = matrix.values[block * width * width + place];
      mean += value / count;
      square += value * value / count;
    }
    EXPECT_NEAR(mean, 0, 5 / std::sqrt(1.0 * count)) << place; // without the signs of R it would not be 0
    EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0 / count)) << place;
  }
}

TEST(DrawOrthogonal, DirectionsDoNotDependOnTheRowsAfterThem) {
  Matrix few(5, 8), many(20, 8);
  for (int64_t row = 0; row < 5; ++row)
    for (int64_t i = 0; i < 8; ++i)
      EXPECT_NEAR(few.values[row * 8 + i] / few.norm(row), many.values[row * 8 + i] / many.norm(row), 1e-15);
}

TEST(DrawOrthogonal, DependsOnSeedAndPlace) {
  EXPECT_EQ(Matrix(6, 4).values, Matrix(6, 4).values);
  EXPECT_NE(Matrix(6, 4).values, Matrix(6, 4, 2).values);
  EXPECT_NE(Matrix(6, 4).values, Matrix(6, 4, 1, 48).values);
}
