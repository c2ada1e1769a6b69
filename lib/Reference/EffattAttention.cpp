//===- EffattAttention.cpp - Efficient attention and agents by their definition ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Head.h"
#include "Shapes.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace attune::reference;

static constexpr double lowest = -std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// EFFATT
//===----------------------------------------------------------------------===//

/// S[f, :] = Σ_j softmax_j(k_jf) v_j over the keys that exist; ln Σ_j e^{k_jf} into `lse`.
static Matrix stateOf(const Head &head, std::vector<double> &lse) {
  int64_t width = head.key.width();
  std::vector<double> largest(width, lowest), sum(width, 0.0);
  for (int64_t j = 0; j < head.length(); ++j)
    for (int64_t f = 0; f < width; ++f)
      largest[f] = std::max(largest[f], head.key[j][f]);
  Matrix state(width, head.valueWidth());
  for (int64_t j = 0; j < head.length(); ++j)
    for (int64_t f = 0; f < width; ++f) {
      double weight = std::exp(head.key[j][f] - largest[f]);
      sum[f] += weight;
      addScaled(weight, head.value[j], head.valueWidth(), state[f]);
    }
  for (int64_t f = 0; f < width; ++f)
    for (int64_t c = 0; head.length() > 0 && c < head.valueWidth(); ++c)
      state[f][c] /= sum[f];
  lse.assign(width, std::numeric_limits<double>::infinity());
  for (int64_t f = 0; head.length() > 0 && f < width; ++f)
    lse[f] = largest[f] + std::log(sum[f]);
  return state;
}

Array attune::reference::efficientAttention(const AttentionInputs &inputs, EffattState *left) {
  Array output = outputOf(inputs);
  int64_t shared = inputs.key.size(1), width = inputs.key.size(3), valueWidth = inputs.value.size(3);
  if (left)
    *left = {Array({inputs.batch(), shared, width, valueWidth}), Array({inputs.batch(), shared, width})};
  forEachHead(inputs, [&](const Head &head) {
    std::vector<double> lse;
    Matrix state = stateOf(head, lse);
    for (int64_t f = 0, g = inputs.sharedHead(head.head); left && f < width; ++f) {
      left->lse({head.batch, g, f}) = lse[f];
      std::copy_n(state[f], valueWidth, left->state.at({head.batch, g, f, 0}));
    }
    for (int64_t r = 0; r < output.size(2); ++r) {
      std::vector<double> weights(head.query[r], head.query[r] + head.query.width());
      softmaxInPlace(weights);
      for (int64_t f = 0; f < head.query.width(); ++f)
        addScaled(weights[f], state[f], head.valueWidth(), output.at({head.batch, head.head, r, 0}));
    }
  });
  return output;
}

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

std::string attune::reference::agentProblem(const AttentionInputs &inputs, int64_t agents) {
  if (inputs.tokens)
    return "expected every query for the agents, but got chosen rows alone";
  return doesNotDivide("a number of agents", agents, "the number of queries", inputs.queries());
}

/// The means of `count` equal runs of all queries of a head.
static Matrix poolQueries(const Head &head, int64_t count) {
  const Array &query = head.inputs.query;
  int64_t run = query.size(2) / count;
  Matrix means(count, query.size(3));
  std::vector<double> row(query.size(3));
  for (int64_t token = 0; token < query.size(2); ++token) {
    copyRow(query, head.batch, head.head, token, row.data());
    addScaled(1, row.data(), query.size(3), means[token / run]);
  }
  for (int64_t c = 0; c < count; ++c)
    for (int64_t i = 0; i < query.size(3); ++i)
      means[c][i] /= static_cast<double>(run);
  return means;
}

Array attune::reference::agentAttention(const AttentionInputs &inputs, int64_t agents, double scale, Array *lse) {
  Array output = outputOf(inputs);
  if (lse)
    *lse = Array(output.shape().drop_back());
  forEachHead(inputs, [&](const Head &head) {
    Matrix pooled = poolQueries(head, agents), values(agents, head.valueWidth());
    std::vector<int64_t> all(std::max(agents, head.inputs.keys()));
    std::iota(all.begin(), all.end(), 0);
    llvm::ArrayRef<int64_t> indices(all);
    for (int64_t a = 0; a < agents; ++a)
      softmaxRow(pooled[a], head.key, head.value, indices.take_front(head.length()), scale, values[a]);
    for (int64_t r = 0; r < output.size(2); ++r) {
      double sum = softmaxRow(head.query[r], pooled, values, indices.take_front(agents), scale, output.at({head.batch, head.head, r, 0}));
      if (lse)
        (*lse)({head.batch, head.head, r}) = sum;
    }
  });
  return output;
}
