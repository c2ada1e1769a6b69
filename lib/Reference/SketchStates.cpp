//===- SketchStates.cpp - Sketched attention from states of squares ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With φ(x) = S(x) ⊗ S(x) the weight ⟨S(q), S(k)⟩² is ⟨φ(q), φ(k)⟩: keys before a query's chunk count through
// Σ φ(k) [v 1]ᵀ, those of its chunk one by one. The other side of powerAttention. Chunks of exact weights count on from the tokens
// before: their first keys may be held from there.
//
//===----------------------------------------------------------------------===//
#include "Head.h"
#include "Sketch.h"

#include <cmath>

using namespace attune::reference;

namespace {
/// The keys of one head, with those before them that are held of their block, and their sketches.
class HeldKeys {
public:
  HeldKeys(const Head &head, const PowerOptions &options, const Sketch &sketch)
      : head(head), held(heldBefore(head, options)), key(rowsOf(head.key, options.heldKey)), value(rowsOf(head.value, options.heldValue)),
        sketches(count(), options.size) {
    for (int64_t j = 0; j < count(); ++j) {
      std::vector<double> row = sketch(key[j], key.width(), 1);
      std::copy(row.begin(), row.end(), sketches[j]);
    }
  }

  int64_t count() const { return held + head.length(); }

  /// How many tokens of the block of the first one come before it.
  static int64_t heldBefore(const Head &head, const PowerOptions &options) {
    return options.position && options.localExact ? static_cast<int64_t>((*options.position)({head.batch})) % *options.localExact : 0;
  }

private:
  Matrix rowsOf(const Matrix &own, const std::optional<Array> &before) const {
    Matrix rows(held + head.length(), own.width());
    for (int64_t j = 0; j < held && before; ++j)
      copyRow(*before, head.batch, head.inputs.sharedHead(head.head), j, rows[j]);
    for (int64_t j = 0; j < head.length(); ++j)
      std::copy(own[j], own[j] + own.width(), rows[held + j]);
    return rows;
  }

  const Head &head;

public:
  const int64_t held;
  const Matrix key, value; ///< [held + length, d], [held + length, dv]
  Matrix sketches;         ///< [held + length, r]
};

/// The state of the keys so far: Σ S(k)_f S(k)_g [v 1], of e^scale times what it holds.
class SquaredState {
public:
  SquaredState(const HeldKeys &keys, int64_t size) : keys(keys), size(size), state(size * size, keys.value.width() + 1) {}

  void start(const PowerOptions &options, int64_t batch, int64_t head) {
    double unit = options.initialScale ? std::exp((*options.initialScale)({batch, head})) : 1;
    for (int64_t f = 0; f < state.height(); ++f) {
      copyRow(*options.initialState, batch, head, f, state[f]);
      state[f][width()] = (*options.initialSum)({batch, head, f});
      for (int64_t c = 0; c <= width(); ++c)
        state[f][c] *= state[f][c] == 0 ? 0 : unit;
    }
  }

  /// The state of the keys before `end`; ends do not decrease.
  void advance(int64_t end) {
    for (end = std::min(end, keys.count()); added < end; ++added)
      for (int64_t f = 0; f < state.height(); ++f) {
        double feature = keys.sketches[added][f / size] * keys.sketches[added][f % size];
        addScaled(feature, keys.value[added], width(), state[f]);
        state[f][width()] += feature;
      }
  }

  /// Adds what a sketched query reads to `sums`.
  void read(const std::vector<double> &query, double *sums) const {
    for (int64_t f = 0; f < state.height(); ++f)
      addScaled(query[f / size] * query[f % size], state[f], state.width(), sums);
  }

  /// In a unit in which the largest sum is about 1: a power of a long key is beyond the range of files.
  void store(const SketchResults &results, int64_t batch, int64_t head) const {
    double largest = 0;
    for (int64_t f = 0; f < state.height(); ++f)
      largest = std::max(largest, std::abs(state[f][width()]));
    double scale = largest > 0 && std::isfinite(largest) ? std::round(std::log(largest)) : 0;
    results.finalScale({batch, head}) = scale;
    for (int64_t f = 0; f < state.height(); ++f) {
      results.finalSum({batch, head, f}) = state[f][width()] * std::exp(-scale);
      for (int64_t c = 0; c < width(); ++c)
        results.finalState({batch, head, f, c}) = state[f][c] * std::exp(-scale);
    }
  }

private:
  int64_t width() const { return keys.value.width(); }

  const HeldKeys &keys;
  int64_t size;
  Matrix state; ///< [r², dv + 1]
  int64_t added = 0;
};

/// One head. Tokens are counted from the first one that is held.
class SketchedHead {
public:
  SketchedHead(const Head &head, const PowerOptions &options)
      : head(head), options(options), sketch(options.signs, options.indices, head.head, options.size), keys(head, options, sketch),
        state(keys, options.size) {
    if (options.initialState)
      state.start(options, head.batch, head.head);
  }

  /// Where the chunk of a row begins: the state is of the keys before it. Without an order the one chunk is none; the length of others
  /// is a schedule, and any would do.
  int64_t chunkOf(int64_t row) const {
    if (!head.inputs.causal)
      return keys.count();
    int64_t chunk = options.localExact.value_or(5);
    return (keys.held + row) / chunk * chunk;
  }

  /// The output of the row at `place`: the state, and beside it the visible keys of its chunk. Rows do not decrease.
  void run(int64_t place, double *output) {
    int64_t first = chunkOf(head.rows[place]);
    state.advance(first);
    std::vector<double> query = sketch(head.query[place], head.query.width(), options.scale);
    std::vector<double> sums(head.valueWidth() + 1, 0.0);
    state.read(query, sums.data());
    for (int64_t j = first; j < std::min(keys.held + head.rows[place] + 1, keys.count()); ++j) {
      double weight = weightOf(place, j, query);
      addScaled(weight, keys.value[j], head.valueWidth(), sums.data());
      sums.back() += weight;
    }
    for (int64_t c = 0; c < head.valueWidth(); ++c)
      output[c] = guardedQuotient(sums[c], sums.back(), options.bias, options.floor);
  }

  /// What is left for the tokens behind: the state of whole blocks, and the keys of the last one.
  void store(SquaredState left, const SketchResults &results) const {
    int64_t block = options.localExact.value_or(1), whole = keys.count() / block * block;
    left.advance(whole);
    left.store(results, head.batch, head.head);
    for (int64_t j = whole; j < keys.count(); ++j)
      for (auto [rows, to] : {std::pair(&keys.key, &results.finalKey), std::pair(&keys.value, &results.finalValue)})
        for (int64_t c = 0; c < rows->width(); ++c)
          (*to)({head.batch, head.inputs.sharedHead(head.head), j - whole, c}) = (*rows)[j][c];
  }

  const SquaredState &now() const { return state; }

private:
  double weightOf(int64_t place, int64_t key, const std::vector<double> &query) const {
    if (options.localExact)
      return std::pow(options.scale * dot(head.query[place], keys.key[key], head.query.width()), static_cast<double>(options.degree));
    double root = dot(query.data(), keys.sketches[key], options.size);
    return root * root;
  }

  const Head &head;
  const PowerOptions &options;
  Sketch sketch;
  HeldKeys keys;
  SquaredState state;
};
} // namespace

static SketchResults resultsOf(const AttentionInputs &inputs, const PowerOptions &options) {
  SketchResults results{outputOf(inputs), {}, {}, {}, {}, {}};
  if (!options.wantsState)
    return results;
  int64_t batch = inputs.batch(), features = options.size * options.size;
  results.finalState = Array({batch, inputs.heads(), features, inputs.value.size(3)});
  results.finalSum = Array({batch, inputs.heads(), features});
  results.finalScale = Array({batch, inputs.heads()});
  int64_t block = options.localExact.value_or(0);
  results.finalKey = Array({batch, inputs.sharedHeads(), block, inputs.key.size(3)});
  results.finalValue = Array({batch, inputs.sharedHeads(), block, inputs.value.size(3)});
  return results;
}

SketchResults attune::reference::sketchedByStates(const AttentionInputs &inputs, const PowerOptions &options) {
  SketchResults results = resultsOf(inputs, options);
  forEachHead(inputs, [&](const Head &head) {
    SketchedHead sketched(head, options);
    if (options.wantsState)
      sketched.store(sketched.now(), results);
    std::vector<int64_t> order(head.rows.size());
    for (size_t r = 0; r < order.size(); ++r)
      order[r] = static_cast<int64_t>(r);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return head.rows[a] < head.rows[b]; });
    for (int64_t r : order)
      sketched.run(r, results.output.at({head.batch, head.head, r, 0}));
  });
  return results;
}
