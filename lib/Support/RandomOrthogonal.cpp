//===- RandomOrthogonal.cpp - Random matrices with orthogonal rows -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Random.h"

#include <algorithm>
#include <cmath>

// A fused multiply-add would round differently from machine to machine.
#pragma STDC FP_CONTRACT OFF

namespace attune {

static double dot(const double *a, const double *b, int64_t width) {
  double sum = 0;
  for (int64_t i = 0; i < width; ++i)
    sum += a[i] * b[i];
  return sum;
}

/// Takes what is along the `count` unit rows before it out of `row`, and makes it a unit vector.
static void orthonormalize(const double *block, int64_t count, int64_t width, double *row) {
  // Once leaves an error of the order of the rounding times the condition of the block; twice is enough.
  for (int pass = 0; pass < 2; ++pass)
    for (int64_t other = 0; other < count; ++other) {
      const double *unit = block + other * width;
      double along = dot(unit, row, width);
      for (int64_t i = 0; i < width; ++i)
        row[i] -= along * unit[i];
    }
  double norm = std::sqrt(dot(row, row, width));
  for (int64_t i = 0; i < width; ++i)
    row[i] /= norm;
}

static double chi(const RandomTensor &random, uint64_t first, int64_t width) {
  double sum = 0;
  for (int64_t i = 0; i < width; ++i) {
    double value = random.normal(first + i);
    sum += value * value;
  }
  return std::sqrt(sum);
}

std::vector<double> drawOrthogonal(const RandomTensor &random, uint64_t first, int64_t rows, int64_t width) {
  std::vector<double> result(rows * width);
  for (int64_t i = 0; i < rows * width; ++i)
    result[i] = random.normal(first + i);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t block = row - row % width;
    orthonormalize(&result[block * width], row - block, width, &result[row * width]);
  }
  for (int64_t row = 0; row < rows; ++row) {
    double norm = chi(random, first + (rows + row) * width, width);
    for (int64_t i = 0; i < width; ++i)
      result[row * width + i] *= norm;
  }
  return result;
}

} // namespace attune
