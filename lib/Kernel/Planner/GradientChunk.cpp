//===- GradientChunk.cpp - A chunk of a causal readout and its cotangents ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GradientChunk.h"

#include "HostBuilder.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// Numbers of rows [batch, H, n].
static Source numbersAt(Value memory, const Place &rows) {
  return fusion::memory(memory, {entryOf(Axis::Batch), entryOf(rows.head), kernel::rowsOf(rows.tokens)});
}

GradientChunk::GradientChunk(attn::CausalReadoutGradientOp op, RegionDraft &draft, const Place &rows, const Place &keys, QuotientRows quotient)
    : draft(draft), at(placeOfFeatures(draft, op, keys)), decay(op.getDecay()), guard(op.getGuardAttr()),
      a(draft.read(op.getQueryFeatures(), placeOfFeatures(draft, op, rows))), b(writtenFeatures(KeySums(op), draft, at)),
      v(draft.read(op.getValue(), placeOfValues(draft, op, keys))), u(draft.read(op.getNumerator(), placeOfValues(draft, op, rows))),
      divides(op.divides()) {
  if (op.getDenominator())
    w = draft.read(op.getDenominator(), rows);
  if (!quotient.divisors)
    return;
  w = numbersAt(quotient.cotangents, rows);
  divideBy(numbersAt(quotient.divisors, rows));
}

static int64_t widthOf(Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(3); }

Place kernel::placeOfFeatures(const RegionDraft &draft, attn::CausalReadoutGradientOp op, const Place &at) {
  return draft.plan.featureTile(widthOf(op.getKeyFeatures())) < widthOf(op.getKeyFeatures()) ? draft.channels(at) : at;
}

Place kernel::placeOfValues(const RegionDraft &draft, attn::CausalReadoutGradientOp op, const Place &at) {
  return draft.valueTile(widthOf(op.getValue())) < widthOf(op.getValue()) ? draft.values(at) : at;
}

void GradientChunk::divideBy(Source divisors) {
  g = std::move(divisors);
  u = term(terms::normalize(guard), {term(terms::blocks(), {u, g})});
}

Source GradientChunk::left(Source x, terms::DecaySpan span) const { return decayed(std::move(x), span, decay, draft, at); }

Source GradientChunk::visible(Source products) const {
  return term(terms::lowerTriangle(), {ofChannels() ? std::move(products) : left(std::move(products), terms::DecaySpan::Between)});
}

Source GradientChunk::products(Source x, Source y) const {
  return visible(term(terms::logits(Representation::Plain, 1, draft.wide()), {std::move(x), std::move(y)}));
}

Source GradientChunk::pairs() const {
  return ofChannels() ? term(terms::decayedPairs(draft.wide()), {a, b, gateAt(decay, draft, at)}) : products(a, b);
}

Source GradientChunk::counts() const { return visible(term(terms::ones(), {})); }

Source GradientChunk::cotangents() const {
  Source both = term(terms::logits(Representation::Plain, 1, draft.wide()), {u, v});
  return visible(w ? term(terms::plus(), {both, term(terms::spread(), {w})}) : both);
}

Source GradientChunk::carried(Source x, Source state, terms::DecaySpan span, terms::Carried what) const {
  SmallVector<Source> operands{std::move(state)};
  if (x)
    operands.insert(operands.begin(), std::move(x));
  if (what == terms::Carried::Weighed)
    operands.push_back(w);
  if (decay)
    operands.push_back(decayOver(span, decay, draft, at));
  return term(terms::carriedGradient(divides, what, static_cast<bool>(decay)), operands);
}

Source GradientChunk::sumsOfOthers(Source begin, Source p, Source x, bool transposed) const {
  if (ofChannels())
    return term(terms::decayedPairSums(transposed, draft.wide()), {std::move(begin), std::move(p), std::move(x), gateAt(decay, draft, at)});
  return term(terms::pairSums(draft.wide(), transposed), {std::move(begin), term(terms::belowDiagonal(), {std::move(p)}), std::move(x)});
}

GradientChunk::Sums GradientChunk::sums(Source begin, Source p, Source x, bool transposed, bool ofOthers) const {
  if (!ofOthers && !ofChannels())
    return {term(terms::pairSums(draft.wide(), transposed), {std::move(begin), std::move(p), std::move(x)}), nullptr};
  Source others = sumsOfOthers(std::move(begin), p, x, transposed);
  return {term(terms::withOwnPairs(), {others, std::move(p), std::move(x)}), others};
}

GradientChunk::Sums GradientChunk::queryGradients(Source state, bool ofOthers) {
  if (guard)
    return divide(std::move(state), ofOthers);
  Source before = carried(u, std::move(state), terms::DecaySpan::Since, divides ? terms::Carried::Weighed : terms::Carried::Matrix);
  return sums(before, cotangents(), b, /*transposed=*/false, ofOthers);
}

GradientChunk::Sums GradientChunk::divide(Source state, bool ofOthers) {
  Source p = pairs(), z = carried(nullptr, state, terms::DecaySpan::Since, terms::Carried::Sum);
  auto weighed = [&](Source before, Source x) {
    return term(terms::plus(), {term(terms::rowProducts(), {a, std::move(before)}), term(terms::rowProducts(), {p, std::move(x)})});
  };
  divideBy(weighed(z, term(terms::ones(), {})));
  Source y = carried(u, std::move(state), terms::DecaySpan::Since, terms::Carried::Matrix);
  w = term(terms::denominatorGradient(guard), {weighed(y, term(terms::logits(Representation::Plain, 1, draft.wide()), {u, v})), g});
  return sums(term(terms::plusWeighed(), {y, z, w}), cotangents(), b, /*transposed=*/false, ofOthers);
}

Source GradientChunk::shares(Source x, Source y) const {
  return term(ofChannels() ? terms::times() : terms::rowProducts(), {std::move(x), std::move(y)});
}

SmallVector<RegionOutput, 3> GradientChunk::leftByQueries(const Sums &sums, const QuotientRows &quotient, const DecayShares &given) const {
  SmallVector<RegionOutput, 3> stores;
  if (quotient.divisors)
    stores = {storedRows(g, Axis::Query, quotient.divisors), storedRows(w, Axis::Query, quotient.cotangents)};
  if (given)
    stores.push_back(storedRows(shares(a, sums.ofOthers), Axis::Query, given.ofQueries));
  return stores;
}

RegionOutput kernel::storedRows(Source source, Axis rows, Value memory) {
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(Axis::Head), kernel::rowsOf(rows)};
  place.back().limit = Index::size(memory, 2);
  auto type = cast<MemRefType>(memory.getType());
  if (type.getRank() == 4)
    place.push_back(columnsOf(type.getDimSize(3)));
  return {std::move(source), memory, place};
}

Source kernel::cotangentOfState(attn::CausalReadoutGradientOp op, const RegionDraft &draft, const Place &at) {
  return op.getState() ? draft.host.stateOf(op.getState(), op.getSum(), featureWidths(op.getKeyFeatures()), at) : nullptr;
}

Source kernel::shareOfCotangent(attn::CausalReadoutGradientOp op, const RegionDraft &draft, const Place &at) {
  Source state = cotangentOfState(op, draft, at);
  int64_t share = draft.problem.heads() / draft.problem.sharedHeads();
  return state && share > 1 ? term(terms::scale(1.0 / static_cast<double>(share)), {state}) : state;
}

void kernel::storeStateShares(KernelRegion &region, const Source &cotangent, attn::CausalReadoutGradientOp op, const RegionDraft &draft, const Place &at, Value memory,
                              const Index &unless) {
  Source before = draft.host.stateOf(op.getInitialState(), op.getInitialSum(), featureWidths(op.getKeyFeatures()), at);
  Source products = term(terms::stateProducts(static_cast<bool>(op.getInitialSum()), decaysChannels(op.getDecay())), {cotangent, before});
  Dimension columns = columnsOf(cast<MemRefType>(memory.getType()).getDimSize(2));
  if (unless)
    columns.limit = (1 - min(unless, 1)) * columns.count;
  region.outputs.push_back({products, memory, {entryOf(Axis::Batch), entryOf(at.head), columns}});
}
