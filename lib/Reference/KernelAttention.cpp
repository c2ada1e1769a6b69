//===- KernelAttention.cpp - Kernel attention by its definition, through the state ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Gates.h"
#include "Head.h"
#include "Shapes.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <map>

using namespace attune;
using namespace attune::reference;

//===----------------------------------------------------------------------===//
// What can be wrong
//===----------------------------------------------------------------------===//

/// A parameter with a row a query head makes a state of each.
static int64_t stateHeads(const AttentionInputs &inputs, const KernelOptions &options) {
  return options.parameter && options.parameter->size(0) > 1 ? options.parameter->size(0) : inputs.sharedHeads();
}

static int64_t positionOf(const std::optional<Array> &position, int64_t batch) {
  return position ? static_cast<int64_t>((*position)({batch})) : 0;
}

static std::string stateProblem(const AttentionInputs &inputs, const KernelOptions &options) {
  if ((options.initialSum && !options.initialState) || (options.initialScale && !options.initialSum) ||
      (options.initialState && !inputs.causal))
    return "expected an initial state, its sum with it and its scale with both, and with causal";
  if ((options.initialState || options.wantsState) && (inputs.window || options.compressKey))
    return "expected no state with a window or compression";
  if (!options.initialState)
    return "";
  llvm::SmallVector<int64_t> sum{inputs.batch(), stateHeads(inputs, options),
                                 options.map.featuresOf(inputs.query.size(3))};
  llvm::SmallVector<int64_t> state = sum;
  state.push_back(inputs.value.size(3));
  std::string text = differs("initial state", *options.initialState, state);
  for (auto [name, array] : {std::pair("initial sum", &options.initialSum), std::pair("initial scale", &options.initialScale)})
    if (text.empty() && *array)
      text = differs(name, **array, sum);
  return text;
}

static std::string gateProblem(const AttentionInputs &inputs, const KernelOptions &options) {
  llvm::SmallVector<int64_t> tokens{inputs.batch(), stateHeads(inputs, options), inputs.keys()};
  auto check = [&](llvm::StringRef name, const std::optional<Array> &gate, int64_t entries) -> std::string {
    if (!gate)
      return "";
    if (!inputs.causal || inputs.window)
      return ("expected no " + name + " without causal, and none with a window").str();
    llvm::SmallVector<int64_t> shape = tokens;
    if (gate->rank() == 1)
      shape = {tokens[1]};
    else if (gate->rank() == 4)
      shape.push_back(entries);
    return differs(name, *gate, shape);
  };
  int64_t features = options.map.featuresOf(inputs.query.size(3));
  for (std::string text : {check("decay", options.decay, features), check("erase", options.erase, features),
                           check("write", options.write, inputs.value.size(3))})
    if (!text.empty())
      return text;
  return "";
}

static std::string compressionProblem(const AttentionInputs &inputs, const KernelOptions &options) {
  if (!options.compressKey != !options.compressValue || (options.compressKey && (inputs.causal || inputs.window)))
    return "expected E and F together, without causal and window";
  if (!options.compressKey)
    return "";
  const Array &e = *options.compressKey, &f = *options.compressValue;
  if (e.rank() != 3 || f.rank() != 3)
    return "expected E and F of rank 3";
  auto check = [&](llvm::StringRef name, const Array &weight) {
    return differs(name, weight, {weight.size(0) == 1 ? 1 : inputs.sharedHeads(), e.size(1), inputs.keys()});
  };
  std::string text = check("E", e);
  return text.empty() ? check("F", f) : text;
}

static std::string positionProblem(const AttentionInputs &inputs, const KernelOptions &options) {
  const FeatureMap &map = options.map;
  if (options.position)
    if (std::string text = differs("position", *options.position, {inputs.batch()}); !text.empty())
      return text;
  int64_t last = std::max(inputs.queries(), inputs.keys()), first = 0;
  for (int64_t b = 0; b < inputs.batch(); ++b)
    first = std::max(first, positionOf(options.position, b));
  last += last ? first : 0;
  if (map.kind != attn::FeatureKind::Cosformer || last <= map.maxPosition)
    return "";
  return "expected at most max_position = " + std::to_string(map.maxPosition) + " tokens, but got " +
         (first ? std::to_string(first) + " before " + std::to_string(last - first) : std::to_string(last));
}

std::string attune::reference::kernelProblem(const AttentionInputs &inputs, const KernelOptions &options) {
  if (inputs.causal && inputs.queries() != inputs.keys())
    return "expected as many queries as keys with causal, but got " + std::to_string(inputs.queries()) + " and " +
           std::to_string(inputs.keys());
  const Array *parameter = options.parameter ? &*options.parameter : nullptr;
  for (std::string text :
       {stateProblem(inputs, options), gateProblem(inputs, options), compressionProblem(inputs, options), positionProblem(inputs, options),
        options.map.problem(parameter, inputs.heads(), inputs.query.size(3))})
    if (!text.empty())
      return text;
  return "";
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

namespace {
/// The state φ(K)ᵀ[V 1] of one head, token after token.
class State {
public:
  State(const HeadMap &map, Shift keyShift, int64_t width, int64_t first)
      : map(map), keyShift(keyShift), queryShift(map.queryShift()), state(map.features(), width), sum(map.features(), 0.0),
        phi(map.features()), first(first) {}

  void start(const KernelOptions &options, int64_t batch, int64_t head) {
    state = headOf(*options.initialState, batch, head, map.features());
    for (int64_t f = 0; options.initialSum && f < map.features(); ++f)
      sum[f] = (*options.initialSum)({batch, head, f});
  }

  void add(const double *key, const double *value, const TokenGates &gates) {
    map.apply(key, first + gates.token, keyShift, phi.data());
    gates.enter(phi.data(), value, state, sum);
  }

  /// Adds φ(q) · state to `numerator`, and returns φ(q) · sum.
  double read(const double *query, int64_t token, double *numerator) {
    map.apply(query, first + token, queryShift, phi.data());
    for (int64_t f = 0; f < map.features(); ++f)
      addScaled(phi[f], state[f], state.width(), numerator);
    return dot(phi.data(), sum.data(), map.features());
  }

  void store(double *stateOut, double *sumOut) const {
    std::copy(state[0], state[0] + map.features() * state.width(), stateOut);
    std::copy(sum.begin(), sum.end(), sumOut);
  }

private:
  const HeadMap &map;
  Shift keyShift, queryShift;
  Matrix state; ///< [m, dv]
  std::vector<double> sum, phi;
  int64_t first; ///< the place of token 0
};
} // namespace

/// What is subtracted from the keys' exponents; the maxima are over all keys that exist, also with a window.
static Shift keyShiftOf(const Head &head, const HeadMap &map) {
  double largest = -std::numeric_limits<double>::infinity();
  std::vector<double> exponent(map.features());
  for (int64_t j = 0; map.shiftNeedsKeys() && j < head.length(); ++j)
    largest = std::max(largest, map.exponents(head.key[j], exponent.data()));
  return map.keyShift(largest);
}

/// Every row reads the state of the keys that it sees; those of a block are a growing prefix of its tokens.
static void stateAttention(const Head &head, const HeadMap &map, const KernelOptions &options,
                           const KernelResults &results) {
  Shift keyShift = keyShiftOf(head, map);
  auto gate = [](const std::optional<Array> &array) { return array ? &*array : nullptr; };
  std::map<int64_t, std::vector<int64_t>> placesOfBlocks;
  if (options.wantsState)
    placesOfBlocks[0]; // also where no row is chosen
  for (int64_t r = 0; r < static_cast<int64_t>(head.rows.size()); ++r)
    placesOfBlocks[head.blocks.blockOf(head.rows[r])].push_back(r);
  int64_t group = head.inputs.heads() / stateHeads(head.inputs, options), shared = head.head / group;
  for (auto &[block, places] : placesOfBlocks) {
    llvm::stable_sort(places, [&](int64_t a, int64_t b) { return head.rows[a] < head.rows[b]; });
    State state(map, keyShift, head.valueWidth(), positionOf(options.position, head.batch));
    if (options.initialState)
      state.start(options, head.batch, shared);
    llvm::ArrayRef<int64_t> tokens = head.blocks[block];
    size_t added = 0;
    auto addUntil = [&](size_t end) {
      for (; added < end; ++added)
        state.add(head.key[tokens[added]], head.value[tokens[added]],
                  {gate(options.decay), gate(options.erase), gate(options.write), head.batch, shared, tokens[added]});
    };
    for (int64_t r : places) {
      addUntil(head.keysOf(head.rows[r]).size());
      double *output = results.output.at({head.batch, head.head, r, 0});
      double denominator = state.read(head.query[r], head.rows[r], output);
      for (int64_t c = 0; c < head.valueWidth(); ++c)
        output[c] = options.divides ? guardedQuotient(output[c], denominator, options.bias, options.floor) : output[c];
    }
    if (!options.wantsState || head.head % group != 0)
      continue;
    addUntil(head.length());
    state.store(results.finalState.at({head.batch, shared, 0, 0}), results.finalSum.at({head.batch, shared, 0}));
  }
}

//===----------------------------------------------------------------------===//
// Naive FLuRKA
//===----------------------------------------------------------------------===//

/// o = φ(Q) (E φ(K))ᵀ (F V), without stabilizers.
static void compressedAttention(const Head &head, const HeadMap &map, const KernelOptions &options,
                                const Array &output) {
  int64_t shared = head.inputs.sharedHead(head.head), m = map.features(), width = head.valueWidth();
  Matrix e = parameterOf(*options.compressKey, shared), f = parameterOf(*options.compressValue, shared);
  Matrix keys(e.height(), m), values(e.height(), width), state(m, width);
  std::vector<double> phi(m);
  for (int64_t j = 0; j < head.length(); ++j) {
    map.apply(head.key[j], j, {}, phi.data());
    for (int64_t slot = 0; slot < e.height(); ++slot) {
      addScaled(e[slot][j], phi.data(), m, keys[slot]);
      addScaled(f[slot][j], head.value[j], width, values[slot]);
    }
  }
  for (int64_t slot = 0; slot < e.height(); ++slot)
    for (int64_t i = 0; i < m; ++i)
      addScaled(keys[slot][i], values[slot], width, state[i]);
  for (int64_t r = 0; r < output.size(2); ++r) {
    map.apply(head.query[r], head.rows[r], {}, phi.data());
    for (int64_t i = 0; i < m; ++i)
      addScaled(phi[i], state[i], width, output.at({head.batch, head.head, r, 0}));
  }
}

//===----------------------------------------------------------------------===//
// All heads
//===----------------------------------------------------------------------===//

KernelResults attune::reference::kernelAttention(const AttentionInputs &inputs, const KernelOptions &options) {
  int64_t width = inputs.query.size(3), features = options.map.featuresOf(width);
  KernelResults results{outputOf(inputs), {}, {}, {}};
  if (options.wantsState) {
    int64_t heads = stateHeads(inputs, options);
    results.finalState = Array({inputs.batch(), heads, features, inputs.value.size(3)});
    results.finalSum = Array({inputs.batch(), heads, features});
    results.finalScale = Array({inputs.batch(), heads, features});
  }
  bool cancels =
      options.map.isFavor() && options.map.epsilon == 0 && options.divides && options.bias == 0 && options.floor == 0;
  forEachHead(inputs, [&](const Head &head) {
    HeadMap map(options.map, options.parameter ? &*options.parameter : nullptr, head.head, width);
    if (options.compressKey)
      compressedAttention(head, map, options, results.output);
    else if (cancels && (options.rescales || options.initialScale || (!options.wantsState && !options.initialState)))
      favorAttention(head, map, options, head.head * stateHeads(inputs, options) / inputs.heads(), results);
    else
      stateAttention(head, map, options, results);
  });
  return results;
}
