//===- SketchedPairs.cpp - Attention through sketches in memory -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   polysketch: parallel over (batch, head, query tile): pairs with the keys before the block, then inside it
//
// A tile of queries never leaves its block.
//
//===----------------------------------------------------------------------===//
#include "SketchedPairs.h"

#include "KeyStage.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// Queries in blocks of exact weights.
static RegionPlanner planOf(const SketchedProblem &at) {
  RegionPlanner plan(at.problem);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Query].block = at.grid.block;
  plan.extents = extents;
  return plan;
}

SketchedPairs::SketchedPairs(const SketchedProblem &at) : at(at), plan(planOf(at)) {}

static attn::DenominatorAttr unguarded(attn::DenominatorAttr guard) {
  return attn::DenominatorAttr::get(guard.getContext(), 0.0, 0.0);
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

Source SketchedPairs::atLeast(Source lengths) { return term(terms::atLeast(0x1p-120), {std::move(lengths)}); }

Source SketchedPairs::running() const {
  return memory(at.unit.running, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query)});
}

/// |scale M q| of the queries; without a running unit M what stands beside them.
Source SketchedPairs::length() const {
  Source length = memory(at.query.lengths, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query)});
  if (at.unit.running)
    length = term(terms::times(), {length, running()});
  return term(terms::atMost(0x1p120), {length}); // finite, and so are its powers of 2
}

Source SketchedPairs::start() const {
  return at.guarded() && !at.exactApart() ? term(terms::powerStart(at.half(), plan.valueTile()), {length()}) : Source();
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// ⟨S(q), S(k)⟩, of keys in the unit of their query.
Source SketchedPairs::roots() const {
  Source q = plan.tokens(at.query.tokens, Axis::Query), k = plan.tokens(at.key.tokens, Axis::Key);
  Source t = term(terms::logits(Representation::Plain, 1, /*wide=*/true), {q, k});
  if (!at.unit.running)
    return t;
  Source lengths = memory(at.unit.lengths, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Key)});
  Source ratio = term(terms::outer(), {term(terms::inverse(), {atLeast(running())}), lengths});
  return term(terms::times(), {t, term(terms::wholePower(at.half()), {ratio})});
}

/// ⟨q / |q|, k⟩ in the same unit. Divided by |q| and M_i one after the other: of null tokens the product of both passes the range.
Source SketchedPairs::exactLogits() const {
  Source q = plan.columns(at.problem.query, Axis::Query), k = plan.columns(at.problem.key, Axis::Key);
  int64_t width = at.problem.query.width;
  Source unit = term(terms::inverse(), {atLeast(plan.length(q, Axis::Query, width, at.options.matrices.hasPairs()))});
  if (at.unit.largest)
    unit = term(terms::over(), {unit, memory(at.unit.largest, {entryOf(Axis::Batch), {Axis::Head, 1, 0, 1, 1}})});
  q = term(terms::times(), {q, unit});
  if (at.unit.running)
    q = term(terms::over(), {q, atLeast(running())});
  return plan.pairs(q, k, width, Representation::Plain, 1, /*wide=*/true);
}

Source SketchedPairs::values() const {
  return plan.tokens(at.problem.value, Axis::Key, Axis::Head, at.problem.heads(), plan.valueColumns());
}

Source SketchedPairs::sketched(Stage keys, Source begin) const {
  keys.begin = std::move(begin);
  return stream(keys, {terms::powerPartial(2, plan.valueTile(), unguarded(at.options.guard)), {roots(), values()}});
}

/// Carries take the roots of weights; of degree p the logits themselves.
Source SketchedPairs::withOwnBlock(Source sums, std::shared_ptr<const Extents> extents) const {
  Stage own{Axis::Key, at.grid.rows, {{"own", Border::Block, Border::RowsEnd, /*masked=*/true}}, std::move(extents)};
  bool apart = at.exactApart();
  Source t = at.options.localExact ? exactLogits() : roots();
  if (at.options.localExact && !apart)
    t = term(terms::wholePower(at.half()), {t});
  if (!apart)
    own.begin = sums;
  auto sum = terms::powerPartial(apart ? at.options.degree : 2, plan.valueTile(), unguarded(at.options.guard));
  Source state = stream(own, {std::move(sum), {term(terms::lowerTriangle(), {t}), values()}});
  if (!apart)
    return finished(state);
  SmallVector<Source> operands{sums, state};
  if (at.guarded())
    operands.push_back(length());
  Source joined = term(terms::joinPowers(at.half(), at.options.guard), operands);
  return plan.withLepe(term(terms::normalize(unguarded(at.options.guard)), {joined}));
}

Source SketchedPairs::finished(Source sums) const {
  SmallVector<Source> operands{std::move(sums)};
  if (at.guarded())
    operands.push_back(length());
  return plan.withLepe(term(terms::powerFinish(2, at.options.guard, at.half()), operands));
}

KernelRegion kernel::sketchedPairsRegion(const SketchedProblem &at) {
  SketchedPairs pairs(at);
  const RegionPlanner &plan = pairs.plan;
  Segment keys{"keys", Border::Begin, Border::End, /*masked=*/true}, before{"before", Border::Begin, Border::Block, false};
  bool causal = at.problem.causal;
  Source sums = pairs.sketched({Axis::Key, at.grid.rows, {causal ? before : keys}, plan.extents}, pairs.start());
  KernelRegion region = stateKernel(plan, "polysketch", Axis::Head);
  plan.addValueSlices(region);
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, at.grid.rows});
  region.outputs = {plan.output(causal ? pairs.withOwnBlock(sums, plan.extents) : pairs.finished(sums))};
  return region;
}
