//===- Rows.h - Rows of a head, and sums over them -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_ROWS_H
#define ATTUNE_LIB_REFERENCE_ROWS_H

#include "attune/Reference/Array.h"

namespace attune::reference {

/// One row of a head: its entries are `stride` apart.
struct Row {
  const double *data;
  int64_t stride;
};

/// The rows of one head of [batch, heads, tokens, width].
class Rows {
public:
  Rows(const Array &array, int64_t batch, int64_t head)
      : data(array.count() ? array.at({batch, head, 0, 0}) : nullptr), rowStride(array.stride(2)),
        stride(array.stride(3)) {}

  Row operator[](int64_t row) const { return {data + row * rowStride, stride}; }

private:
  const double *data;
  int64_t rowStride, stride;
};

/// Four sums side by side: a processor adds them at once, and rounding errors are fewer.
inline double dot(Row a, Row b, int64_t width) {
  double sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= width; i += 4)
    for (int64_t lane = 0; lane < 4; ++lane)
      sums[lane] += a.data[(i + lane) * a.stride] * b.data[(i + lane) * b.stride];
  for (; i < width; ++i)
    sums[0] += a.data[i * a.stride] * b.data[i * b.stride];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// sums += factor · row.
inline void addScaled(double factor, Row row, int64_t width, double *sums) {
  if (row.stride == 1)
    for (int64_t i = 0; i < width; ++i)
      sums[i] += factor * row.data[i];
  else
    for (int64_t i = 0; i < width; ++i)
      sums[i] += factor * row.data[i * row.stride];
}

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_ROWS_H
