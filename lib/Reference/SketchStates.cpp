//===- SketchStates.cpp - Sketched attention from states of squares ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With φ(x) = S(x) ⊗ S(x) the weight ⟨S(q), S(k)⟩² is ⟨φ(q), φ(k)⟩: keys before a query's chunk count through
// Σ φ(k) [v 1]ᵀ, those of its chunk one by one. The other side of powerAttention.
//
//===----------------------------------------------------------------------===//
#include "Head.h"
#include "Sketch.h"

#include <cmath>

using namespace attune::reference;

namespace {
/// One head, with the sketches of its keys and the state of the keys so far.
class SketchedHead {
public:
  SketchedHead(const Head &head, const PowerOptions &options)
      : head(head), options(options), sketch(options.signs, options.indices, head.head, options.size),
        sketches(head.inputs.keys(), options.size), state(options.size * options.size, head.valueWidth() + 1) {
    for (int64_t j = 0; j < head.length(); ++j) {
      std::vector<double> row = sketch(head.key[j], head.key.width(), 1);
      std::copy(row.begin(), row.end(), sketches[j]);
    }
  }

  /// The state of the keys before `end`; ends do not decrease.
  void advance(int64_t end) {
    for (end = std::min(end, head.length()); added < end; ++added)
      for (int64_t f = 0; f < state.height(); ++f) {
        double feature = sketches[added][f / options.size] * sketches[added][f % options.size];
        addScaled(feature, head.value[added], head.valueWidth(), state[f]);
        state[f][head.valueWidth()] += feature;
      }
  }

  /// The output of the row at `place`: the state, and beside it the visible keys from `first`.
  void run(int64_t place, int64_t first, double *output) const {
    std::vector<double> query = sketch(head.query[place], head.query.width(), options.scale);
    std::vector<double> sums(head.valueWidth() + 1, 0.0);
    for (int64_t f = 0; f < state.height(); ++f)
      addScaled(query[f / options.size] * query[f % options.size], state[f], state.width(), sums.data());
    for (int64_t j : head.keysOf(head.rows[place]))
      if (j >= first) {
        double weight = weightOf(place, j, query);
        addScaled(weight, head.value[j], head.valueWidth(), sums.data());
        sums.back() += weight;
      }
    for (int64_t c = 0; c < head.valueWidth(); ++c)
      output[c] = guardedQuotient(sums[c], sums.back(), options.bias, options.floor);
  }

private:
  double weightOf(int64_t place, int64_t key, const std::vector<double> &query) const {
    if (options.localExact)
      return std::pow(options.scale * dot(head.query[place], head.key[key], head.query.width()),
                      static_cast<double>(options.degree));
    double root = dot(query.data(), sketches[key], options.size);
    return root * root;
  }

  const Head &head;
  const PowerOptions &options;
  Sketch sketch;
  Matrix sketches; ///< [N, r]
  Matrix state;    ///< [r², dv + 1]
  int64_t added = 0;
};
} // namespace

Array attune::reference::sketchedByStates(const AttentionInputs &inputs, const PowerOptions &options) {
  // Without an order the one chunk is none; the length of others is a schedule, and any would do.
  int64_t chunk = inputs.causal ? options.localExact.value_or(5) : 0;
  Array output = outputOf(inputs);
  forEachHead(inputs, [&](const Head &head) {
    SketchedHead sketched(head, options);
    std::vector<int64_t> order(head.rows.size());
    for (size_t r = 0; r < order.size(); ++r)
      order[r] = static_cast<int64_t>(r);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return head.rows[a] < head.rows[b]; });
    for (int64_t r : order) {
      int64_t first = chunk ? head.rows[r] / chunk * chunk : inputs.keys();
      sketched.advance(first);
      sketched.run(r, first, output.at({head.batch, head.head, r, 0}));
    }
  });
  return output;
}
