//===- FavorAttention.cpp - FAVOR whose stabilizers cancel ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// o = Σ_f e^{Lq_f + M_f} S_f / Σ_f e^{Lq_f + M_f} z_f with S_f = Σ_j e^{Lk_jf − M_f} v_j, z_f the same of ones, and M_f
// the largest exponent of feature f among the keys so far: a feature's own maximum makes z_f at least 1.
//
//===----------------------------------------------------------------------===//
#include "Gates.h"
#include "Head.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>
#include <map>

using namespace attune::reference;

static constexpr double lowest = -std::numeric_limits<double>::infinity();

namespace {
/// M, S and z, key after key.
class LogState {
public:
  LogState(const HeadMap &map, int64_t width)
      : map(map), maximum(map.features(), lowest), state(map.features(), width + 1), exponent(map.features()) {}

  /// A key that counts `written` times.
  void add(const double *key, const double *value, double written) {
    map.exponents(key, exponent.data());
    int64_t width = state.width() - 1;
    for (int64_t f = 0; f < map.features(); ++f) {
      raise(f, exponent[f]);
      double weight = written * std::exp(exponent[f] - maximum[f]);
      addScaled(weight, value, width, state[f]);
      state[f][width] += weight;
    }
    isEmpty = false;
  }

  /// From a state of features of unit norm m^{-1/2} e^L, which stands rescaled; a row of zeros holds nothing.
  void start(const KernelOptions &options, int64_t batch, int64_t shared) {
    int64_t width = state.width() - 1;
    for (int64_t f = 0; f < map.features(); ++f) {
      for (int64_t c = 0; c < width; ++c)
        state[f][c] = (*options.initialState)({batch, shared, f, c});
      state[f][width] = (*options.initialSum)({batch, shared, f});
      if (std::all_of(state[f], state[f] + width + 1, [](double entry) { return entry == 0; }))
        continue;
      maximum[f] = (options.initialScale ? (*options.initialScale)({batch, shared, f}) : 0) + halfLogCount();
      isEmpty = false;
    }
  }

  void store(const KernelResults &results, int64_t batch, int64_t shared) const {
    int64_t width = state.width() - 1;
    for (int64_t f = 0; f < map.features(); ++f) {
      std::copy(state[f], state[f] + width, results.finalState.at({batch, shared, f, 0}));
      *results.finalSum.at({batch, shared, f}) = state[f][width];
      *results.finalScale.at({batch, shared, f}) = maximum[f] == lowest ? 0 : maximum[f] - halfLogCount();
    }
  }

  /// The output of a query; `output` is 0 before. Without keys it stays so.
  void read(const double *query, double *output) {
    if (isEmpty)
      return;
    map.exponents(query, exponent.data());
    double largest = lowest;
    for (int64_t f = 0; f < map.features(); ++f)
      largest = std::max(largest, exponent[f] += maximum[f]);
    int64_t width = state.width() - 1;
    double denominator = 0;
    for (int64_t f = 0; f < map.features(); ++f) {
      double weight = std::exp(exponent[f] - largest);
      addScaled(weight, state[f], width, output);
      denominator += weight * state[f][width];
    }
    for (int64_t c = 0; c < width; ++c)
      output[c] /= denominator;
  }

private:
  double halfLogCount() const { return std::log(static_cast<double>(map.features())) / 2; }
  void raise(int64_t f, double next) {
    if (!(next > maximum[f] || std::isnan(next)))
      return;
    double kept = maximum[f] == lowest ? 0 : std::exp(maximum[f] - next);
    for (int64_t c = 0; c < state.width(); ++c)
      state[f][c] *= kept;
    maximum[f] = next;
  }

  const HeadMap &map;
  std::vector<double> maximum;
  Matrix state; ///< [m, dv + 1]: S and z
  std::vector<double> exponent;
  bool isEmpty = true;
};
} // namespace

void attune::reference::favorAttention(const Head &head, const HeadMap &map, const KernelOptions &options, int64_t shared,
                                       const KernelResults &results) {
  std::map<int64_t, std::vector<int64_t>> placesOfBlocks; // places of rows, ascending by row
  if (options.wantsState)
    placesOfBlocks[0]; // also where no row is chosen
  for (int64_t r = 0; r < static_cast<int64_t>(head.rows.size()); ++r)
    placesOfBlocks[head.blocks.blockOf(head.rows[r])].push_back(r);
  for (auto &[block, places] : placesOfBlocks) {
    llvm::stable_sort(places, [&](int64_t a, int64_t b) { return head.rows[a] < head.rows[b]; });
    LogState state(map, head.valueWidth());
    if (options.initialState)
      state.start(options, head.batch, shared);
    llvm::ArrayRef<int64_t> tokens = head.blocks[block];
    size_t added = 0;
    auto addUntil = [&](size_t end) {
      for (; added < end; ++added)
        state.add(head.key[tokens[added]], head.value[tokens[added]],
                  options.write ? gateAt(*options.write, head.batch, shared, tokens[added], 0) : 1);
    };
    for (int64_t r : places) {
      addUntil(head.keysOf(head.rows[r]).size());
      state.read(head.query[r], results.output.at({head.batch, head.head, r, 0}));
    }
    if (!options.wantsState)
      continue;
    addUntil(head.length());
    state.store(results, head.batch, shared);
  }
}
