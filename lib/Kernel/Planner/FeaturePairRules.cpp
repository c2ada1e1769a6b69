//===- FeaturePairRules.cpp - Attention over features, pair by pair -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   rows:  o, lse                 as quotients of weights of pairs (PairRules.cpp)
//   rows:  for each key tile:     a ⊙ ā += Σ_j a b / g p̄,   p̄ = visible(ō vᵀ − δ)
//   keys:  for each query tile:   b ⊙ b̄ += Σ_i a b / g p̄,   v̄ += Σ_i w / g ō
//
// Products of pairs are made where they are read. Where features are numbers, all is as it is of numbers.
//
//===----------------------------------------------------------------------===//
#include "FeaturePairRules.h"

#include "GradientRules.h"
#include "HostBuilder.h"
#include "StateRules.h"
#include "Terms.h"
#include "attune/Attn/Exponents.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

template <typename Op> static SeenKeys keysOf(Op op) { return {op.getKey(), op.getLengths(), op.getCausal(), op.getWindowAttr()}; }

SeenKeys kernel::keysOfFeatures(Operation *op) {
  return TypeSwitch<Operation *, SeenKeys>(op).Case<attn::FeatureAttentionOp, attn::FeatureQueryGradientOp, attn::FeatureKeyGradientsOp>(
      [](auto op) { return keysOf(op); });
}

/// Σ_j w_ij v_j and Σ_j w_ij of numbers, in a unit of each row otherwise.
static Source sumsOf(attn::FeatureAttentionOp op, RegionDraft &draft, const Place &at) {
  if (draft.host.groups().inUnits(op))
    return sumsInUnits({op.getQuery(), op.getKey(), op.getValue(), op.getGuard(), keysOf(op)}, draft, at);
  Place keys = RegionDraft::keysOf(at);
  Source a = draft.read(op.getQuery(), draft.channels(at)), b = draft.read(op.getKey(), draft.channels(keys));
  Source w = draft.plan.pairs(a, b, draft.channelsOf(op.getQuery()), Representation::Plain, 1, draft.wide());
  int64_t width = draft.valueTile(cast<RankedTensorType>(op.getValue().getType()).getDimSize(3));
  return stream(draft.keys(keysOf(op)),
                {terms::weightedSums({width}, draft.wide(), /*withSums=*/true), {term(terms::visible(), {w}), draft.read(op.getValue(), draft.values(keys))}});
}

static Tiles buildAttention(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::FeatureAttentionOp>(result.getOwner());
  Source &sums = draft.shared(op);
  if (!sums)
    sums = sumsOf(op, draft, at);
  bool inUnits = draft.host.groups().inUnits(op), isOutput = result == op.getOutput();
  if (inUnits)
    return {term(isOutput ? terms::normalizeInUnit(op.getGuard()) : terms::logDivisorInUnit(op.getGuard()), {sums})};
  return {isOutput ? term(terms::normalize(op.getGuard()), {sums}) : term(terms::logDivisor(op.getGuard()), {term(terms::select({1}), {sums})})};
}

namespace {
/// What pairs add to gradients, of one op.
template <typename Op> struct PairShares {
  PairShares(Op op, RegionDraft &draft, const Place &rows) : draft(draft), inUnits(draft.host.groups().inUnits(op)), causal(op.getCausal()) {
    Place keys = RegionDraft::keysOf(rows);
    auto map = op.getKey().template getDefiningOp<attn::MapOp>();
    query = draft.read(op.getQuery(), rows), key = existingFeatures(op.getKey(), draft, keys);
    unit = term(terms::unitOfLse(), {draft.read(op.getLse(), rows)}), given = draft.read(op.getCotangent(), rows);
    Source products = draft.plan.pairs(given, draft.read(op.getValue(), keys), draft.channelsOf(op.getValue()), Representation::Plain, 1, draft.wide());
    pairs = term(terms::visible(), {term(terms::plus(), {products, term(terms::spread(), {draft.read(op.getSums(), rows)})})});
    if (inUnits)
      bands = attn::bandCount(map.getFeatureMap(), map.getSource().getType().getDimSize(3)), largest = term(terms::featureUnit(), {key});
  }

  /// Of a segment: where every row sees every key one product has all pairs.
  int64_t bandsOf(bool masked) const { return masked && causal ? bands : 0; }
  Source logarithms(bool masked, bool ofKeys) const {
    if (inUnits)
      return term(terms::logPairSums(bandsOf(masked), ofKeys), {query, key, largest, unit, pairs});
    return term(terms::featureSums(ofKeys), {term(terms::sharesOfRows(), {query, unit}), key, pairs});
  }
  Source values(bool masked, int64_t features) const {
    Source w = inUnits ? term(terms::logPairWeights(bandsOf(masked)), {query, key, largest, unit})
                       : term(terms::sharesOfRows(), {draft.plan.pairs(query, key, features, Representation::Plain, 1, draft.wide()), unit});
    return term(terms::valueShares(draft.wide()), {term(terms::visible(), {w}), given});
  }

  RegionDraft &draft;
  bool inUnits, causal;
  int64_t bands = 0;
  Source query, key, largest, unit, given, pairs; ///< features, R of the keys, lse, ō, p̄
};
} // namespace

/// The sum over a stage whose segments have forms of their own, by whether they are masked.
static Source sumOverPairs(Stage stage, SmallVector<SmallVector<int64_t>> shapes, function_ref<Source(bool masked)> shares) {
  auto form = [&](bool masked) { return StepForm{terms::compose(Representation::Plain, shapes), {shares(masked)}}; };
  bool masked = stage.segments.front().masked;
  for (Segment &segment : llvm::drop_begin(stage.segments))
    if (segment.masked != masked)
      segment.form = std::make_shared<StepForm>(form(segment.masked));
  return stream(stage, form(masked));
}

static Tiles buildQueryGradient(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::FeatureQueryGradientOp>(result.getOwner());
  PairShares shares(op, draft, at);
  return {sumOverPairs(draft.keys(keysOf(op)), {{draft.problem.queryTile(), op.getQuery().getType().getDimSize(3)}},
                       [&](bool masked) { return shares.logarithms(masked, /*ofKeys=*/false); })};
}

static Tiles buildKeyGradients(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::FeatureKeyGradientsOp>(result.getOwner());
  Source &sums = draft.shared(op);
  int64_t rows = draft.problem.keyTile(), features = op.getKey().getType().getDimSize(3), width = op.getValues().getType().getDimSize(3);
  if (!sums) {
    PairShares shares(op, draft, {Axis::Query, at.head, at.heads});
    sums = sumOverPairs(queriesOfKeys(draft, keysOf(op)), {{rows, features}, {rows, width}}, [&](bool masked) {
      return term(terms::writtenState(Representation::Plain), {shares.logarithms(masked, /*ofKeys=*/true), shares.values(masked, features)});
    });
  }
  return {sums, {result.getResultNumber()}, 2};
}

void kernel::addFeaturePairRules(TermRules &rules) {
  constexpr Side atRows = Side::Rows, keys = Side::Keys;
  rules.add<attn::FeatureAttentionOp>(
      {.sides = {atRows, keys, keys}, .frame = Frame::Rows, .kernel = "quadratic", .build = buildAttention, .keys = keysOfFeatures});
  rules.add<attn::FeatureQueryGradientOp>({.sides = {atRows, keys, keys, atRows, atRows, atRows}, .frame = Frame::Rows, .kernel = "query_gradients",
                                           .build = buildQueryGradient, .keys = keysOfFeatures});
  rules.add<attn::FeatureKeyGradientsOp>({.sides = {atRows, keys, keys, atRows, atRows, atRows}, .frame = Frame::Keys, .kernel = "key_gradients",
                                          .build = buildKeyGradients, .keys = keysOfFeatures});
}
