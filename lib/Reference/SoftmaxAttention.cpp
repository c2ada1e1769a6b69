//===- SoftmaxAttention.cpp - Exact attention by its definition ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Head.h"

#include <cmath>
#include <limits>

using namespace attune::reference;

static constexpr double lowest = -std::numeric_limits<double>::infinity();

double attune::reference::softmaxInPlace(llvm::MutableArrayRef<double> weights) {
  double maximum = lowest, sum = 0;
  for (double weight : weights)
    maximum = std::isnan(weight) || weight > maximum ? weight : maximum;
  if (maximum == lowest) {
    std::fill(weights.begin(), weights.end(), 0.0);
    return lowest;
  }
  for (double &weight : weights)
    sum += weight = std::exp(weight - maximum);
  for (double &weight : weights)
    weight /= sum;
  return maximum + std::log(sum);
}

double attune::reference::softmaxRow(const double *query, const Matrix &keys, const Matrix &values,
                                     llvm::ArrayRef<int64_t> visible, double scale, double *output) {
  std::vector<double> weights;
  weights.reserve(visible.size());
  for (int64_t j : visible)
    weights.push_back(scale * dot(query, keys[j], keys.width()));
  double lse = softmaxInPlace(weights);
  for (size_t place = 0; place < visible.size(); ++place)
    addScaled(weights[place], values[visible[place]], values.width(), output);
  return lse;
}

SoftmaxResults attune::reference::softmaxAttention(const AttentionInputs &inputs, double scale) {
  Array output = outputOf(inputs);
  SoftmaxResults results{output, Array(output.shape().drop_back())};
  forEachHead(inputs, [&](const Head &head) {
    for (int64_t r = 0; r < output.size(2); ++r)
      results.lse({head.batch, head.head, r}) =
          softmaxRow(head.query[r], head.key, head.value, head.keysOf(head.rows[r]), scale,
                     output.at({head.batch, head.head, r, 0}));
  });
  return results;
}
