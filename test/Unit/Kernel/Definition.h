//===- Definition.h - What attention is, in plain loops ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The definition that the kernels are tested against: every pair of every head, in float64, one loop a formula sign.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_KERNEL_DEFINITION_H
#define ATTUNE_TEST_UNIT_KERNEL_DEFINITION_H

#include "attune/Reference/Array.h"

#include <cmath>
#include <optional>

namespace attune::test {

struct Shape {
  int64_t batch = 1, heads = 1, sharedHeads = 1, queries = 1, keys = 1, width = 1, valueWidth = 1;
};

struct Inputs {
  Shape shape;
  reference::Array query, key, value;
  std::optional<reference::Array> lengths, initialState, initialSum;
  bool causal = false;
  double scale = 1, bias = 0, floor = 0;

  bool sees(int64_t b, int64_t i, int64_t j) const {
    if (lengths && j >= static_cast<int64_t>((*lengths)({b})))
      return false;
    return !causal || j <= i + shape.keys - shape.queries;
  }
  int64_t shared(int64_t head) const { return head * shape.sharedHeads / shape.heads; }
};

inline double dot(const Inputs &in, int64_t b, int64_t h, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t c = 0; c < in.shape.width; ++c)
    sum += in.query({b, h, i, c}) * in.key({b, in.shared(h), j, c});
  return sum;
}

inline double elu1(double x) { return x > 0 ? x + 1 : std::exp(x); }

/// One output row of exact attention; lse if asked for.
inline std::vector<double> softmaxRow(const Inputs &in, int64_t b, int64_t h, int64_t i, double *lse = nullptr) {
  double maximum = -INFINITY, sum = 0;
  for (int64_t j = 0; j < in.shape.keys; ++j)
    if (in.sees(b, i, j))
      maximum = std::max(maximum, in.scale * dot(in, b, h, i, j));
  std::vector<double> row(in.shape.valueWidth, 0);
  for (int64_t j = 0; j < in.shape.keys; ++j) {
    if (!in.sees(b, i, j))
      continue;
    double weight = std::exp(in.scale * dot(in, b, h, i, j) - maximum);
    sum += weight;
    for (int64_t c = 0; c < in.shape.valueWidth; ++c)
      row[c] += weight * in.value({b, in.shared(h), j, c});
  }
  for (double &x : row)
    x = sum == 0 ? 0 : x / sum;
  if (lse)
    *lse = sum == 0 ? -INFINITY : maximum + std::log(sum);
  return row;
}

/// One output row of elu + 1 attention.
inline std::vector<double> elu1Row(const Inputs &in, int64_t b, int64_t h, int64_t i) {
  const Shape &s = in.shape;
  int64_t g = in.shared(h);
  double denominator = 0;
  std::vector<double> row(s.valueWidth, 0);
  for (int64_t j = 0; j < s.keys; ++j) {
    if (!in.sees(b, i, j))
      continue;
    double weight = 0;
    for (int64_t f = 0; f < s.width; ++f)
      weight += elu1(in.query({b, h, i, f})) * elu1(in.key({b, g, j, f}));
    denominator += weight;
    for (int64_t c = 0; c < s.valueWidth; ++c)
      row[c] += weight * in.value({b, g, j, c});
  }
  for (int64_t f = 0; in.initialState && f < s.width; ++f) {
    double feature = elu1(in.query({b, h, i, f}));
    denominator += feature * (*in.initialSum)({b, g, f});
    for (int64_t c = 0; c < s.valueWidth; ++c)
      row[c] += feature * (*in.initialState)({b, g, f, c});
  }
  denominator = std::max(denominator + in.bias, in.floor);
  for (double &x : row)
    x = denominator == 0 ? 0 : x / denominator;
  return row;
}

/// S[f, c] (c < valueWidth) and z[f] (c = valueWidth) after all keys.
inline double finalState(const Inputs &in, int64_t b, int64_t g, int64_t f, int64_t c) {
  bool isSum = c == in.shape.valueWidth;
  double sum = !in.initialState ? 0 : isSum ? (*in.initialSum)({b, g, f}) : (*in.initialState)({b, g, f, c});
  int64_t limit = in.lengths ? static_cast<int64_t>((*in.lengths)({b})) : in.shape.keys;
  for (int64_t j = 0; j < limit; ++j)
    sum += elu1(in.key({b, g, j, f})) * (isSum ? 1 : in.value({b, g, j, c}));
  return sum;
}

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_KERNEL_DEFINITION_H
