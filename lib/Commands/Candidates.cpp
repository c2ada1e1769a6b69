//===- Candidates.cpp - Attentions that could take exact softmax's place --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every candidate is written as YAML and parsed, so that the rules of specs decide alone what is possible here.
//
//===----------------------------------------------------------------------===//
#include "Candidates.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/WriteSpec.h"

#include "llvm/ADT/STLExtras.h"

using namespace attune;
using namespace attune::attnc;

/// The spec as parsed from its YAML; nothing if a rule does not hold.
static std::optional<Spec> parsed(const Spec &spec) {
  SourceFile file("candidate.yaml", writeSpec(spec));
  Spec result;
  Diagnostics diagnostics;
  return parseSpec(file, result, diagnostics) == SpecStatus::Good ? std::optional(result) : std::nullopt;
}

/// The divisor of `number` nearest to `wish`, by ratio.
static int64_t divisorNear(int64_t number, int64_t wish) {
  int64_t best = 1;
  auto distance = [&](int64_t x) { return std::max(double(x) / wish, double(wish) / x); };
  for (int64_t low = 1; low * low <= number; ++low)
    if (number % low == 0)
      for (int64_t divisor : {low, number / low})
        if (distance(divisor) < distance(best))
          best = divisor;
  return best;
}

static Mechanism of(llvm::StringRef kind) {
  Mechanism mechanism;
  mechanism.kind = mechanismKindOf(kind);
  return mechanism;
}

static Mechanism ofMap(FeatureMapKind kind) {
  Mechanism mechanism = of("kernel");
  mechanism.featureMap = featureMapOf(kind);
  mechanism.denominator.floor = mechanism.featureMap.floor;
  return mechanism;
}

static Mechanism withFeatures(FeatureMapKind kind, int64_t features) {
  Mechanism mechanism = ofMap(kind);
  mechanism.featureMap.features = features;
  return mechanism;
}

static Mechanism compressed(Mechanism mechanism, int64_t rank) {
  mechanism.lowRank.emplace().rank = rank;
  return mechanism;
}

static Mechanism windowed(Mechanism mechanism, int64_t length) {
  mechanism.window.emplace().length = length;
  return mechanism;
}

namespace {
/// Collects what is possible for one spec.
class Collector {
public:
  explicit Collector(const Spec &base) : base(base) {}

  void addHeads(std::string label, std::vector<Part> parts) {
    Spec spec = base;
    spec.hasParts = parts.size() > 1;
    spec.parts = std::move(parts);
    spec.pin.clear();
    if (llvm::none_of(spec.parts, [](const Part &part) { return part.mechanism.isScaled(); }))
      spec.scale.reset();
    bool known = llvm::any_of(list, [&](const Candidate &other) { return writeSpec(other.spec) == writeSpec(spec); });
    if (std::optional<Spec> possible = parsed(spec); possible && !known)
      list.push_back({std::move(label), std::move(*possible)});
  }
  void add(std::string label, Mechanism mechanism) {
    Part whole;
    whole.heads = base.heads;
    whole.mechanism = std::move(mechanism);
    addHeads(std::move(label), {std::move(whole)});
  }
  void addOwn() { list.push_back({"as specified", base, /*isOwn=*/true}); }

  std::vector<Candidate> list;

private:
  const Spec &base;
};
} // namespace

static std::string count(int64_t number, const char *what) { return std::to_string(number) + " " + what; }

static void addKernels(Collector &all, const Spec &spec) {
  int64_t longest = std::max(*spec.queries, *spec.keys);
  all.add("linear, elu + 1", ofMap(FeatureMapKind::Elu1));
  Mechanism decaying = ofMap(FeatureMapKind::Elu1);
  decaying.decay = Per::Head;
  all.add("linear, elu + 1, decaying", decaying);
  all.add("linear, relu", ofMap(FeatureMapKind::Relu));
  all.add("focused linear", ofMap(FeatureMapKind::Focused));
  Mechanism cosformer = ofMap(FeatureMapKind::Cosformer);
  cosformer.featureMap.maxPosition = longest;
  all.add("cosFormer", cosformer);
  for (int64_t features : {spec.headDim, 2 * spec.headDim, 4 * spec.headDim})
    all.add("Performer, " + count(features, "features"), withFeatures(FeatureMapKind::Favor, features));
  Mechanism relu = withFeatures(FeatureMapKind::FavorRelu, 2 * spec.headDim);
  relu.featureMap.normalize = true;
  all.add("Performer (relu), " + count(2 * spec.headDim, "features"), relu);
}

static void addLowRank(Collector &all, const Spec &spec) {
  for (int64_t share : {16, 8, 4}) {
    int64_t rank = std::max<int64_t>(*spec.keys / share, 1);
    all.add("Linformer, rank " + std::to_string(rank), compressed(of("softmax"), rank));
  }
  int64_t rank = std::max<int64_t>(*spec.keys / 8, 1);
  all.add("FLuRKA, rank " + std::to_string(rank) + ", " + count(2 * spec.headDim, "features"),
          compressed(withFeatures(FeatureMapKind::Favor, 2 * spec.headDim), rank));
  all.add("FLuRKA, rank " + std::to_string(rank) + ", elu + 1", compressed(ofMap(FeatureMapKind::Elu1), rank));
}

static void addPowers(Collector &all, const Spec &spec) {
  for (int64_t degree : {2, 4}) {
    Mechanism power = of("polynomial");
    power.degree = degree;
    all.add("polynomial of degree " + std::to_string(degree), power);
  }
  for (int64_t size : {16, 32}) {
    Mechanism sketch = of("polysketch");
    sketch.degree = 4, sketch.sketchSize = size;
    all.add("PolySketchFormer, sketches of " + std::to_string(size), sketch);
    if (!spec.causal)
      continue;
    sketch.localExact = divisorNear(*spec.queries, 256);
    all.add("PolySketchFormer, sketches of " + std::to_string(size) + ", exact within " +
                std::to_string(*sketch.localExact),
            sketch);
  }
}

static void addBlocked(Collector &all, const Spec &spec) {
  for (int64_t last : {64, 128, 256, 512})
    if (last < *spec.keys) {
      Mechanism near = of("softmax");
      near.window.emplace().last = last;
      all.add("the last " + count(last, "keys"), near);
    }
  for (int64_t wish : {64, 128, 256, 512}) {
    int64_t length = divisorNear(*spec.keys, wish);
    if (length < *spec.keys) // a window over everything is exact softmax
      all.add("windows of " + std::to_string(length), windowed(of("softmax"), length));
  }
  Mechanism eva = of("eva");
  int64_t window = divisorNear(*spec.keys, 128);
  eva.chunk = divisorNear(window, 16);
  all.add("EVA, windows of " + std::to_string(window) + ", chunks of " + std::to_string(eva.chunk),
          windowed(eva, window));
  all.add("efficient attention", of("effatt"));
  Mechanism agent = of("agent");
  agent.agents = divisorNear(*spec.queries, std::max<int64_t>(*spec.queries / 64, 49));
  all.add("agent attention, " + count(agent.agents, "agents"), agent);
  // ELFATT: one half of the heads over all tokens, the other within windows.
  Part linear, local;
  linear.heads = spec.heads / 2, linear.mechanism = of("effatt");
  local.firstHead = linear.heads, local.heads = spec.heads - linear.heads;
  local.mechanism = windowed(of("softmax"), divisorNear(*spec.keys, 64));
  if (linear.heads > 0)
    all.addHeads("ELFATT, windows of " + std::to_string(*local.mechanism.window->length), {linear, local});
}

static bool isExact(const Spec &spec) {
  return llvm::all_of(spec.parts, [](const Part &part) {
    const Mechanism &mechanism = part.mechanism;
    return mechanism.name() == "softmax" && !mechanism.window && !mechanism.lowRank && !mechanism.lepe;
  });
}

std::vector<Candidate> attune::attnc::candidatesFor(const Spec &resolved) {
  Collector all(resolved);
  if (!isExact(resolved))
    all.addOwn();
  addKernels(all, resolved);
  addLowRank(all, resolved);
  addPowers(all, resolved);
  addBlocked(all, resolved);
  return std::move(all.list);
}

Spec attune::attnc::adopt(const Spec &spec, const Spec &chosen) {
  Spec open = chosen;
  open.batch = spec.batch, open.queries = spec.queries, open.keys = spec.keys;
  open.keysFollowQueries = spec.keysFollowQueries;
  return parsed(open).value_or(chosen);
}
