//===- UsefulOperations.cpp - What a function needs, whatever computes it ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Multiply-adds throughout; docs/Performance.md has the formulas as a table, and a test holds
// benchmarks/cpu_operations.py to them.
//
//===----------------------------------------------------------------------===//
#include "UsefulOperations.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace attune;

namespace {
/// Sizes of one query head of a part; keys are those that the mechanism sees.
struct HeadSizes {
  double n, N, d, dv;
  bool causal;
  double keyHeads;   ///< key-value heads for each query head
  double mappedKeys; ///< N, or all tokens where features are compressed
};
} // namespace

/// Pairs that a mask leaves of n queries and N keys of which the last belong together.
static double visible(double n, double N, bool causal) {
  if (!causal)
    return n * N;
  return n <= N ? n * (N - n / 2) : N * N / 2;
}

static double pairs(const HeadSizes &s, double keys, double width) {
  return visible(s.n, keys, s.causal) * (width + s.dv);
}

/// Blocks of `length` tokens, each with the keys of its own.
static double blockPairs(const HeadSizes &s, double length, double width) {
  return s.n * length * (s.causal ? 0.5 : 1) * (width + s.dv);
}

/// Through a state of m features by the values and the sum of weights: keys are added to it, queries read it. Causal
/// chunks of C tokens take 2 (n - C) m (dv + 1) for states and n (C + 1) / 2 pairs, linear in C, so that the least is
/// one of all pairs and of one token after another without a pair, which is this.
static double states(const HeadSizes &s, double m, double keyHeads) { return (s.n + keyHeads * s.N) * m * (s.dv + 1); }

static double windowLength(const Window &window) {
  return static_cast<double>(window.length ? *window.length : (*window.size)[0] * (*window.size)[1]);
}

static double featureCount(const FeatureMap &map, double d) {
  if (map.kind == FeatureMapKind::Favor || map.kind == FeatureMapKind::FavorRelu)
    return static_cast<double>(map.features);
  return map.kind == FeatureMapKind::Cosformer ? 2 * d : d;
}

static double kernelCount(const Mechanism &mechanism, const HeadSizes &s) {
  const FeatureMap &map = mechanism.featureMap;
  bool random = map.kind == FeatureMapKind::Favor || map.kind == FeatureMapKind::FavorRelu;
  double m = featureCount(map, s.d), keyHeads = map.perHead ? 1 : s.keyHeads;
  double maps = random ? (s.n + keyHeads * s.mappedKeys) * m * s.d : 0;
  double all = mechanism.window ? blockPairs(s, windowLength(*mechanism.window), m) : pairs(s, s.N, m);
  return maps + std::min(states(s, m, keyHeads), all);
}

/// The sketch of a row: half the degree leaves of d × r, then products of two r × r. Its square has r (r + 1) / 2
/// different features. In blocks of so many tokens weights are exact, d wide. The keys of a group are sketched for each
/// query head.
static double sketchCount(const Mechanism &m, const HeadSizes &s) {
  double r = static_cast<double>(m.sketchSize), leaves = static_cast<double>(m.degree) / 2;
  double block = m.localExact ? static_cast<double>(*m.localExact) : 0;
  double sketches = (s.n + s.N) * (leaves * s.d * r + (leaves - 1) * 2 * r * r);
  double inside = s.n * block / 2 * (s.d + s.dv + 1);
  double outside = pairs(s, s.N, r) - s.n * block / 2 * (r + s.dv);
  return sketches + inside + std::min(states(s, r * (r + 1) / 2, 1), outside);
}

/// In `local` keys of its own block and a mean of each chunk; then the means.
static double evaCount(const Mechanism &m, const HeadSizes &s) {
  double local = m.window ? windowLength(*m.window) : 0;
  return blockPairs(s, local + s.N / static_cast<double>(m.chunk), s.d) + s.N * (s.d + s.dv);
}

static double mechanismCount(const Mechanism &m, const HeadSizes &s) {
  switch (m.kind) {
  case MechanismKind::Softmax:
  case MechanismKind::Polynomial:
    return m.window ? blockPairs(s, windowLength(*m.window), s.d) : pairs(s, s.N, s.d);
  case MechanismKind::Kernel:
    return kernelCount(m, s);
  case MechanismKind::Polysketch:
    return sketchCount(m, s);
  case MechanismKind::Effatt:
    return (s.n + s.keyHeads * s.N) * s.d * s.dv;
  case MechanismKind::Eva:
    return evaCount(m, s);
  case MechanismKind::Agent:
    return (s.n + s.N) * static_cast<double>(m.agents) * (s.d + s.dv);
  }
  llvm_unreachable("every kind of mechanism is above");
}

//===----------------------------------------------------------------------===//
// Keys and values: projected, compressed
//===----------------------------------------------------------------------===//

namespace {
/// What it takes to make the keys, or the values, of a part: after the projection if there is one, or E x first.
struct Making {
  double after;  ///< projected, then compressed
  double shared; ///< E x, which another tensor may share
  double before; ///< and what is then left
};
} // namespace

/// Tensors of `width` channels for `heads` key-value heads; a projection reads `model` channels, 0: there is none.
static Making making(const std::optional<LowRank> &lowRank, double tokens, double heads, double width, double model) {
  double projected = heads * tokens * model * width;
  if (!lowRank)
    return {projected, 0, projected};
  double rank = static_cast<double>(lowRank->rank);
  return {projected + heads * rank * tokens * width, rank * tokens * model * (lowRank->perHead ? heads : 1),
          heads * rank * model * width};
}

/// Keys that are rotated, normed or mapped before they are compressed cannot be compressed first.
static bool keysStay(const Spec &spec, const Mechanism &m) {
  return spec.rope || spec.qkNorm || m.lowRank->order == CompressionOrder::AfterMap;
}

static double makeKeysAndValues(const Spec &spec, const Part &part, const HeadSizes &s) {
  const Mechanism &m = part.mechanism;
  double heads = static_cast<double>(part.heads) * s.keyHeads;
  double model = spec.projection ? static_cast<double>(spec.projection->modelDim) : 0;
  Making keys = making(m.lowRank, s.N, heads, s.d, model), values = making(m.lowRank, s.N, heads, s.dv, model);
  if (m.lowRank && m.lowRank->order == CompressionOrder::AfterMap) // the features are compressed, of each token
    keys.after += heads * static_cast<double>(m.lowRank->rank) * s.N * (featureCount(m.featureMap, s.d) - s.d);
  if (!m.lowRank || !spec.projection)
    return keys.after + values.after;
  double valuesFirst = keys.after + values.shared + values.before, none = keys.after + values.after;
  if (keysStay(spec, m))
    return std::min(none, valuesFirst);
  double keysFirst = keys.shared + keys.before;
  double bothFirst = keysFirst + values.before + (m.lowRank->tied ? 0 : values.shared);
  return std::min({none, valuesFirst, keysFirst + values.after, bothFirst});
}

static double partCount(const Spec &spec, const Part &part) {
  const Mechanism &m = part.mechanism;
  HeadSizes s{static_cast<double>(*spec.queries),
              static_cast<double>(*spec.keys),
              static_cast<double>(spec.headDim),
              static_cast<double>(spec.valueDim),
              spec.causal,
              1 / static_cast<double>(spec.headsPerKvHead()),
              static_cast<double>(*spec.keys)};
  double heads = static_cast<double>(part.heads), total = makeKeysAndValues(spec, part, s);
  if (spec.projection)
    total +=
        heads * s.n * static_cast<double>(spec.projection->modelDim) * (s.d + (spec.projection->output ? s.dv : 0));
  if (m.lepe)
    total += heads * s.n * s.dv * (m.lepe->grid || (m.window && m.window->grid) ? 9 : 3);
  if (m.lowRank) {
    s.N = static_cast<double>(m.lowRank->rank);
    if (m.lowRank->order == CompressionOrder::BeforeMap)
      s.mappedKeys = s.N;
  }
  return total + heads * mechanismCount(m, s);
}

double attune::attnc::usefulOperations(const Spec &spec) {
  double total = 0;
  for (const Part &part : spec.parts)
    total += partCount(spec, part);
  return 2 * static_cast<double>(*spec.batch) * total;
}
