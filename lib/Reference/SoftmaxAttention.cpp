//===- SoftmaxAttention.cpp - Exact attention by its definition ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Rows.h"

#include "attune/Reference/Attention.h"

#include <cmath>
#include <limits>

using namespace attune::reference;

/// One row: the logits of the keys below `end`, their maximum, the weights, their sum, the weighted values.
static double softmaxRow(const AttentionInputs &inputs, double scale, Row query, Rows keys, Rows values, int64_t end,
                         double *output) {
  int64_t width = inputs.query.size(3), valueWidth = inputs.value.size(3);
  if (end == 0)
    return -std::numeric_limits<double>::infinity();
  std::vector<double> weights(end);
  double maximum = -std::numeric_limits<double>::infinity();
  bool invalid = false;
  for (int64_t j = 0; j < end; ++j) {
    weights[j] = scale * dot(query, keys[j], width);
    invalid |= std::isnan(weights[j]);
    maximum = std::max(maximum, weights[j]);
  }
  if (invalid)
    maximum = std::nan("");
  double sum = 0;
  for (int64_t j = 0; j < end; ++j) {
    weights[j] = std::exp(weights[j] - maximum);
    sum += weights[j];
    addScaled(weights[j], values[j], valueWidth, output);
  }
  for (int64_t c = 0; c < valueWidth; ++c)
    output[c] /= sum;
  return maximum + std::log(sum);
}

SoftmaxResults attune::reference::softmaxAttention(const AttentionInputs &inputs, double scale) {
  std::vector<int64_t> rows = inputs.chosenRows();
  auto count = static_cast<int64_t>(rows.size());
  SoftmaxResults results{Array({inputs.batch(), inputs.heads(), count, inputs.value.size(3)}),
                         Array({inputs.batch(), inputs.heads(), count})};
  for (int64_t b = 0; b < inputs.batch(); ++b)
    for (int64_t h = 0; h < inputs.heads(); ++h) {
      int64_t g = inputs.sharedHead(h);
      Rows queries(inputs.query, b, h), keys(inputs.key, b, g), values(inputs.value, b, g);
      for (int64_t r = 0; r < count; ++r)
        results.lse({b, h, r}) = softmaxRow(inputs, scale, queries[rows[r]], keys, values,
                                            inputs.visibleEnd(b, rows[r]), results.output.at({b, h, r, 0}));
    }
  return results;
}
