//===- Matrix.h - Rows of numbers of one head ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_MATRIX_H
#define ATTUNE_LIB_REFERENCE_MATRIX_H

#include "attune/Reference/Array.h"

namespace attune::reference {

/// Row-major and contiguous, so that the loops over a row are those that a compiler makes vectors of.
class Matrix {
public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t columns, double fill = 0) : columns(columns), entries(rows * columns, fill) {}

  double *operator[](int64_t row) { return entries.data() + row * columns; }
  const double *operator[](int64_t row) const { return entries.data() + row * columns; }
  int64_t width() const { return columns; }
  int64_t height() const { return columns == 0 ? 0 : static_cast<int64_t>(entries.size()) / columns; }

private:
  int64_t columns = 0;
  std::vector<double> entries;
};

/// One row of [batch, heads, tokens, width], or of any array of rank 4, to contiguous memory.
inline void copyRow(const Array &array, int64_t batch, int64_t head, int64_t row, double *to) {
  const double *from = array.size(3) ? array.at({batch, head, row, 0}) : nullptr;
  for (int64_t c = 0; c < array.size(3); ++c)
    to[c] = from[c * array.stride(3)];
}

/// The first `count` rows of a head; further ones, up to the array's number of tokens, are 0 and are not read.
inline Matrix headOf(const Array &array, int64_t batch, int64_t head, int64_t count) {
  Matrix rows(array.size(2), array.size(3));
  for (int64_t row = 0; row < count; ++row)
    copyRow(array, batch, head, row, rows[row]);
  return rows;
}

/// Entry `index` of the first dimension of a rank-3 array [heads, rows, columns]; a single one serves every head.
inline Matrix parameterOf(const Array &array, int64_t index) {
  Matrix rows(array.size(1), array.size(2));
  int64_t head = array.size(0) == 1 ? 0 : index;
  for (int64_t row = 0; row < array.size(1); ++row)
    for (int64_t c = 0; c < array.size(2); ++c)
      rows[row][c] = array({head, row, c});
  return rows;
}

/// Four sums side by side: a processor adds them at once, and rounding errors are fewer.
inline double dot(const double *a, const double *b, int64_t width) {
  double sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= width; i += 4)
    for (int64_t lane = 0; lane < 4; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  for (; i < width; ++i)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// sums += factor · row.
inline void addScaled(double factor, const double *row, int64_t width, double *sums) {
  for (int64_t i = 0; i < width; ++i)
    sums[i] += factor * row[i];
}

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_MATRIX_H
