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
                                     llvm::ArrayRef<int64_t> visible,
                                     llvm::function_ref<double(double product, int64_t key)> logit, double *output) {
  std::vector<double> weights;
  weights.reserve(visible.size());
  for (int64_t j : visible)
    weights.push_back(logit(dot(query, keys[j], keys.width()), j));
  double lse = softmaxInPlace(weights);
  for (size_t place = 0; place < visible.size(); ++place)
    addScaled(weights[place], values[visible[place]], values.width(), output);
  return lse;
}

double attune::reference::softmaxRow(const double *query, const Matrix &keys, const Matrix &values,
                                     llvm::ArrayRef<int64_t> visible, double scale, double *output) {
  return softmaxRow(query, keys, values, visible, [=](double product, int64_t) { return scale * product; }, output);
}

double Logits::operator()(double product, int64_t head, int64_t distance) const {
  double logit = scale * product;
  if (softcap)
    logit = *softcap * std::tanh(logit / *softcap);
  return slopes ? logit - (*slopes)({head}) * static_cast<double>(distance) : logit;
}

SoftmaxResults attune::reference::softmaxAttention(const AttentionInputs &inputs, const Logits &logits) {
  Array output = outputOf(inputs);
  SoftmaxResults results{output, Array(output.shape().drop_back())};
  forEachHead(inputs, [&](const Head &head) {
    for (int64_t r = 0; r < output.size(2); ++r) {
      auto logit = [&](double product, int64_t j) { return logits(product, head.head, inputs.distance(head.rows[r], j)); };
      results.lse({head.batch, head.head, r}) = softmaxRow(head.query[r], head.key, head.value, head.keysOf(head.rows[r]),
                                                           logit, output.at({head.batch, head.head, r, 0}));
    }
  });
  return results;
}
