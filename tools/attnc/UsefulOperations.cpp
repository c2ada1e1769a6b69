//===- UsefulOperations.cpp - What a function needs, whatever computes it ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
};
} // namespace

/// Every query with each of `keys` keys, half of them if causal.
static double pairs(const HeadSizes &s, double keys, double width) {
  return 2 * s.n * keys * (width + s.dv) * (s.causal ? 0.5 : 1);
}

/// Through states of m features and the sum of weights; causal: in chunks of 64.
static double states(const HeadSizes &s, double m) {
  if (s.causal)
    return 4 * s.n * m * (s.dv + 1) + 64 * s.n * (m + s.dv + 1);
  return 2 * (s.n + s.N) * m * (s.dv + 1);
}

static double windowLength(const Window &window) {
  return static_cast<double>(window.length ? *window.length : (*window.size)[0] * (*window.size)[1]);
}

static double kernelOperations(const FeatureMap &map, const HeadSizes &s) {
  bool random = map.kind == FeatureMapKind::Favor || map.kind == FeatureMapKind::FavorRelu;
  double m = random ? static_cast<double>(map.features) : map.kind == FeatureMapKind::Cosformer ? 2 * s.d : s.d;
  double features = random ? 2 * (s.n + s.N) * m * s.d : 0;
  return features + std::min(states(s, m), pairs(s, s.N, m));
}

/// The sketch of a vector costs its r numbers' products only; its r² features exist in the state alone.
static double sketchOperations(const Mechanism &m, const HeadSizes &s) {
  double r = static_cast<double>(m.sketchSize);
  double exact = m.localExact ? 2 * s.n * static_cast<double>(*m.localExact) * s.d : 0;
  return exact + std::min(states(s, r * r), pairs(s, s.N, r));
}

static double mechanismOperations(const Mechanism &m, const HeadSizes &s) {
  switch (m.kind) {
  case MechanismKind::Softmax:
  case MechanismKind::Polynomial:
    return pairs(s, m.window ? windowLength(*m.window) : s.N, s.d);
  case MechanismKind::Kernel:
    return kernelOperations(m.featureMap, s);
  case MechanismKind::Polysketch:
    return sketchOperations(m, s);
  case MechanismKind::Effatt:
    return states(s, s.d);
  case MechanismKind::Eva:
    return pairs(s, (m.window ? windowLength(*m.window) : 0) + s.N / static_cast<double>(m.chunk), s.d) +
           2 * s.N * (s.d + s.dv);
  case MechanismKind::Agent:
    return 2 * (s.n + s.N) * static_cast<double>(m.agents) * (s.d + s.dv);
  }
  llvm_unreachable("every kind of mechanism is above");
}

static double partOperations(const Spec &spec, const Part &part) {
  const Mechanism &m = part.mechanism;
  HeadSizes s{static_cast<double>(*spec.queries), static_cast<double>(*spec.keys), static_cast<double>(spec.headDim),
              static_cast<double>(spec.valueDim), spec.causal};
  double heads = static_cast<double>(part.heads), groups = heads / static_cast<double>(spec.headsPerKvHead());
  double total = 0;
  if (m.lowRank) {
    double rank = static_cast<double>(m.lowRank->rank);
    total += groups * 2 * rank * s.N * (s.d + s.dv);
    s.N = rank;
  }
  if (m.lepe)
    total += heads * 2 * s.n * s.dv * (m.lepe->grid || (m.window && m.window->grid) ? 9 : 3);
  return total + heads * mechanismOperations(m, s);
}

double attune::attnc::usefulOperations(const Spec &spec) {
  double total = 0;
  for (const Part &part : spec.parts)
    total += partOperations(spec, part);
  if (spec.projection) {
    double n = static_cast<double>(*spec.queries), N = static_cast<double>(*spec.keys);
    double d = static_cast<double>(spec.headDim), dv = static_cast<double>(spec.valueDim);
    double heads = static_cast<double>(spec.heads), groups = static_cast<double>(spec.kvHeads);
    double columns = n * heads * d + N * groups * (d + dv) + (spec.projection->output ? n * heads * dv : 0);
    total += 2 * static_cast<double>(spec.projection->modelDim) * columns;
  }
  return static_cast<double>(*spec.batch) * total;
}
