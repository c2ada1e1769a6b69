//===- KernelAttention.cpp - Kernel attention by its definition, through the state ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Rows.h"

#include "attune/Reference/Attention.h"

#include <cmath>
#include <numeric>

using namespace attune;
using namespace attune::reference;

namespace {
/// The state φ(K)ᵀ[V 1] of one key-value head, token after token.
class State {
public:
  State(const AttentionInputs &inputs, const KernelOptions &options, int64_t batch, int64_t head)
      : map(options.map), features(inputs.query.size(3)), width(inputs.value.size(3)),
        keys(inputs.key, batch, head), values(inputs.value, batch, head), state(features * width, 0.0),
        sum(features, 0.0), phi(features), row(features) {
    for (int64_t f = 0; options.initialState && f < features; ++f) {
      sum[f] = (*options.initialSum)({batch, head, f});
      for (int64_t c = 0; c < width; ++c)
        state[f * width + c] = (*options.initialState)({batch, head, f, c});
    }
  }

  void add(int64_t token) {
    mapRow(keys[token]);
    for (int64_t f = 0; f < features; ++f) {
      addScaled(phi[f], values[token], width, state.data() + f * width);
      sum[f] += phi[f];
    }
  }

  /// φ(q) · state to `numerator`, and φ(q) · sum.
  double read(Row query, double *numerator) {
    mapRow(query);
    for (int64_t f = 0; f < features; ++f)
      addScaled(phi[f], {state.data() + f * width, 1}, width, numerator);
    return std::inner_product(phi.begin(), phi.end(), sum.begin(), 0.0);
  }

  void store(double *stateOut, double *sumOut) const {
    std::copy(state.begin(), state.end(), stateOut);
    std::copy(sum.begin(), sum.end(), sumOut);
  }

private:
  void mapRow(Row source) {
    for (int64_t i = 0; i < features; ++i)
      row[i] = source.data[i * source.stride];
    applyMap(map, row.data(), features, phi.data());
  }

  attn::FeatureKind map;
  int64_t features, width;
  Rows keys, values;
  std::vector<double> state, sum, phi, row; // state[m, dv]
};

/// One key-value head of one batch entry, and the query heads that read it.
struct Group {
  const AttentionInputs &inputs;
  const KernelOptions &options;
  int64_t batch, head;
  const std::vector<int64_t> &rows;
  KernelResults &results;

  /// The rows with places `places` read the state.
  void readRows(State &state, llvm::ArrayRef<int64_t> places) const {
    int64_t shared = inputs.heads() / inputs.sharedHeads();
    for (int64_t h = head * shared; h < (head + 1) * shared; ++h)
      for (int64_t place : places) {
        double *output = results.output.at({batch, h, place, 0});
        double denominator = state.read(Rows(inputs.query, batch, h)[rows[place]], output);
        for (int64_t c = 0; c < inputs.value.size(3); ++c)
          output[c] = guardedQuotient(output[c], denominator, options.bias, options.floor);
      }
  }

  void run() const {
    State state(inputs, options, batch, head);
    // Places in the results by the token after which they read: each token for causal, the last one otherwise.
    std::vector<int64_t> places(rows.size());
    std::iota(places.begin(), places.end(), 0);
    llvm::sort(places, [&](int64_t a, int64_t b) { return rows[a] < rows[b]; });
    size_t next = 0;
    for (int64_t token = 0; token < inputs.keys(); ++token) {
      if (token < inputs.length(batch))
        state.add(token);
      for (; inputs.causal && next < places.size() && rows[places[next]] == token; ++next)
        readRows(state, places[next]);
    }
    readRows(state, llvm::ArrayRef(places).drop_front(next));
    state.store(results.finalState.at({batch, head, 0, 0}), results.finalSum.at({batch, head, 0}));
  }
};
} // namespace

KernelResults attune::reference::kernelAttention(const AttentionInputs &inputs, const KernelOptions &options) {
  std::vector<int64_t> rows = inputs.chosenRows();
  int64_t batch = inputs.batch(), shared = inputs.sharedHeads(), features = inputs.query.size(3);
  int64_t width = inputs.value.size(3);
  KernelResults results{Array({batch, inputs.heads(), static_cast<int64_t>(rows.size()), width}),
                        Array({batch, shared, features, width}), Array({batch, shared, features})};
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t g = 0; g < shared; ++g)
      Group{inputs, options, b, g, rows, results}.run();
  return results;
}
