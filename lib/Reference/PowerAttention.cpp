//===- PowerAttention.cpp - Polynomial attention, exact and by sketches --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights are squares of roots u = |t|^{p/2}. They are carried as (u / U)² with U the largest root of the row, so that no
// square overflows where the output is finite, and exact powers as those of t / T with T the largest |t|; the guard of
// the denominator is divided by U² T^p likewise.
//
//===----------------------------------------------------------------------===//
#include "Head.h"
#include "Shapes.h"
#include "Sketch.h"

#include <cmath>

using namespace attune::reference;

/// What is wrong with an initial state.
static std::string heldProblem(const AttentionInputs &inputs, const PowerOptions &options) {
  int64_t batch = inputs.batch(), heads = inputs.heads(), features = options.size * options.size, block = options.localExact.value_or(0);
  struct Given {
    const char *name;
    const std::optional<Array> &array;
    std::vector<int64_t> shape;
  } all[] = {{"initial state", options.initialState, {batch, heads, features, inputs.value.size(3)}},
             {"initial sum", options.initialSum, {batch, heads, features}},
             {"initial scale", options.initialScale, {batch, heads}},
             {"held keys", options.heldKey, {batch, inputs.sharedHeads(), block, inputs.key.size(3)}},
             {"held values", options.heldValue, {batch, inputs.sharedHeads(), block, inputs.value.size(3)}},
             {"position", options.position, {batch}}};
  for (const Given &given : all) {
    std::string text = given.array ? differs(given.name, *given.array, given.shape) : "";
    if (!text.empty())
      return text;
  }
  return options.initialState && !options.initialSum ? "expected an initial state and its sum" : "";
}

std::string attune::reference::powerProblem(const AttentionInputs &inputs, const PowerOptions &options) {
  if (options.degree < 2 || options.degree % 2 != 0)
    return "expected an even degree from 2, but got " + std::to_string(options.degree);
  if (options.localExact && (!inputs.causal || inputs.queries() != inputs.keys()))
    return "expected exact diagonal blocks with causal, and as many queries as keys";
  bool hasStates = options.initialState || options.wantsState;
  if (hasStates && (!inputs.causal || options.signs.empty()))
    return "expected causal and a sketch with a state";
  if (std::string text = heldProblem(inputs, options); !text.empty())
    return text;
  if (options.signs.empty() && options.indices.empty())
    return "";
  std::string text = sketchProblem(options.signs, options.indices, inputs.heads(), inputs.query.size(3), options.size);
  auto transforms = static_cast<int64_t>(options.signs.size());
  if (text.empty() && 2 * (transforms + 2) / 3 != options.degree)
    text = "expected a sketch of degree " + std::to_string(options.degree / 2) + ", but got one of " +
           std::to_string((transforms + 2) / 3);
  return text;
}

namespace {
/// One head, with the sketches of its keys.
struct PowerHead {
  const Head &head;
  const PowerOptions &options;
  std::optional<Sketch> sketch;
  Matrix keySketches; ///< [N, r]

  PowerHead(const Head &head, const PowerOptions &options) : head(head), options(options) {
    if (options.signs.empty())
      return;
    sketch.emplace(options.signs, options.indices, head.head, options.size);
    keySketches = Matrix(head.inputs.keys(), options.size);
    for (int64_t j = 0; j < head.length(); ++j) {
      std::vector<double> row = (*sketch)(head.key[j], head.key.width(), 1);
      std::copy(row.begin(), row.end(), keySketches[j]);
    }
  }

  /// T and |t| / T of a row of the exact power.
  std::vector<double> ratiosOf(int64_t place, llvm::ArrayRef<int64_t> visible, double &largest) const {
    std::vector<double> ratios;
    for (int64_t j : visible)
      ratios.push_back(std::abs(options.scale * dot(head.query[place], head.key[j], head.key.width())));
    largest = largestOf(ratios);
    for (double &ratio : ratios)
      ratio = largest == 0 ? 0 : ratio / largest;
    return ratios;
  }

  /// The roots u of a row of a sketch.
  std::vector<double> rootsOf(int64_t place, llvm::ArrayRef<int64_t> visible) const {
    const double *query = head.query[place];
    std::vector<double> own = (*sketch)(query, head.query.width(), options.scale), roots;
    int64_t row = head.rows[place], block = options.localExact.value_or(1);
    for (int64_t j : visible)
      if (options.localExact && row / block == j / block)
        roots.push_back(std::pow(std::abs(options.scale * dot(query, head.key[j], head.key.width())), half()));
      else
        roots.push_back(std::abs(dot(own.data(), keySketches[j], options.size)));
    return roots;
  }

  void run(int64_t place, double *output) const {
    llvm::ArrayRef<int64_t> visible = head.keysOf(head.rows[place]);
    double unit = 1; // T
    std::vector<double> roots = sketch ? rootsOf(place, visible) : ratiosOf(place, visible, unit);
    for (double &root : roots)
      root = sketch ? root : std::pow(root, half());
    double largest = largestOf(roots), sum = 0;
    if (largest == 0)
      return;
    for (size_t i = 0; i < visible.size(); ++i) {
      double ratio = roots[i] / largest, weight = ratio * ratio;
      sum += weight;
      addScaled(weight, head.value[visible[i]], head.valueWidth(), output);
    }
    double inverse = 1 / largest / largest * std::pow(unit, -static_cast<double>(options.degree));
    double bias = options.bias == 0 ? 0 : options.bias * inverse, floor = options.floor == 0 ? 0 : options.floor * inverse;
    for (int64_t c = 0; c < head.valueWidth(); ++c)
      output[c] = guardedQuotient(output[c], sum, bias, floor);
  }

private:
  double half() const { return static_cast<double>(options.degree / 2); }

  /// A NaN stays one.
  static double largestOf(llvm::ArrayRef<double> numbers) {
    double largest = 0;
    for (double number : numbers)
      largest = std::isnan(number) || number > largest ? number : largest;
    return largest;
  }
};
} // namespace

Array attune::reference::powerAttention(const AttentionInputs &inputs, const PowerOptions &options) {
  Array output = outputOf(inputs);
  forEachHead(inputs, [&](const Head &head) {
    PowerHead power(head, options);
    for (int64_t r = 0; r < output.size(2); ++r)
      power.run(r, output.at({head.batch, head.head, r, 0}));
  });
  return output;
}
