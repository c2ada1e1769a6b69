//===- SlicedGradients.cpp - Gradients of causal readouts of wide states ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state [m, dv] that no block of a GPU holds is cut, its features where ā and b̄ are made and its values where v̄ is; tokens and features are in memory.
//
//   queries:  parallel over (batch, head, slice of features), chunks from the first on:     Y = Σ_{j ≤ i} ⟨ō_i, v_j⟩ b_j,  Z = Σ_{j ≤ i} b_j
//   rows:     parallel over (batch, head, block of rows):      g = ⟨a, Z⟩,  w̄ of ⟨a, Y / g⟩,  ā = Y / g + w̄ Z, and what is made of ā
//   keys:     as queries, chunks from the last down:           b̄ = Σ_{i ≥ j} (⟨ū_i, v_j⟩ + w̄_i) a_i
//   values:   parallel over (batch, head, slice of values), from the last down:     v̄ = Σ_{i ≥ j} ⟨a_i, b_j⟩ ū_i
//   rows:     what is made of b̄ and v̄
//
// g and w̄ of a quotient are numbers of whole rows, which no slice has: the first pass leaves what they are made of, Y of the cotangent that is not yet
// divided. Where there is no quotient it leaves ā. Where a gradient of decay is asked for, both passes leave the sums without the pair of a token with itself
// as well, of which the kernels of rows make the shares.
//
//===----------------------------------------------------------------------===//
#include "GradientChunk.h"
#include "GradientRules.h"

#include "HostBuilder.h"
#include "MapRule.h"
#include "Regions/ChunkStage.h"
#include "Terms.h"

#include "attune/Attn/Execution.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

bool kernel::isInSlices(attn::CausalReadoutGradientOp op, const HostBuilder &host) {
  bool hasOneState = !op.getErase() && !op.getLogarithms() && !host.groups().inUnits(op);
  bool isWhole = !op.getInitialState() && !op.getState() && !attn::executionOf(op).split;
  return host.slices().isSliced() && host.slices().getTarget() == tile::TargetKind::GPU && hasOneState && isWhole;
}

namespace {
/// What a pass over chunks leaves of each row, of every query head: all of it, and without the pair of a token with itself.
struct Sums {
  Tokens all, ofOthers; ///< of others: no memory where nobody asks for them
};
} // namespace

/// Some columns of tokens, of every query head.
static RegionOutput storedSlice(Source source, Axis rows, const Tokens &to, const Dimension &columns) {
  Dimension place = kernel::rowsOf(rows);
  place.limit = Index::size(to.memory, 2);
  return {std::move(source), to.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), place, columns}};
}

namespace {
/// The kernels of one op.
class SlicedGradient {
public:
  SlicedGradient(const Problem &problem, attn::CausalReadoutGradientOp op, const DecayShares &shares, tile::ScheduleAttr slices)
      : problem(problem), op(op), shares(shares), features(widthOf(op.getKeyFeatures())),
        ofFeatures(problem.schedule.withSlices(slices.getFeatureTile(), widthOf(op.getValue()))),
        ofValues(problem.schedule.withSlices(features, slices.getValueTile())) {}

  Problem inFeatures() const { return withSchedule(ofFeatures); }
  Problem inValues() const { return withSchedule(ofValues); }

  /// Y, and Z of a quotient; or ā.
  KernelRegion queries(RegionDraft &draft, const Sums &y, const Sums &z);
  KernelRegion rows(RegionDraft &draft, const Sums &y, const Sums &z, ArrayRef<WrittenValue> outputs, const QuotientRows &quotient);
  KernelRegion keys(RegionDraft &draft, const QuotientRows &quotient, const Sums &result);
  KernelRegion values(RegionDraft &draft, const QuotientRows &quotient, const Tokens &result);
  /// ⟨b, b̄⟩ of others, and the gradient of what keys enter with.
  KernelRegion keyShares(RegionDraft &draft, const Sums &cotangents, Value written);

private:
  static int64_t widthOf(Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(3); }
  Problem withSchedule(tile::ScheduleAttr schedule) const {
    Problem own = problem;
    own.schedule = schedule;
    return own;
  }
  Source sharesOf(Source x, Source y) {
    return term(decaysChannels(op.getDecay()) ? terms::times() : terms::rowProducts(), {std::move(x), std::move(y)});
  }
  KernelRegion blocksOfRows(const RegionDraft &draft, StringRef suffix) const {
    KernelRegion region{problem.name, suffix.str(), draft.problem.schedule, {{Axis::Batch, tile::Axis::Batch}, {Axis::Head, tile::Axis::Head}}, draft.plan.extents, {}};
    region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, draft.problem.queryTile()});
    return region;
  }
  KernelRegion chunksOf(RegionDraft &draft, const ChunkStage &chunks, const Stage &stage, StepForm step, StringRef suffix) const {
    KernelRegion region = chunks.region(stream(stage, std::move(step)));
    draft.plan.addFeatureSlices(region, features);
    region.suffix = suffix.str();
    return region;
  }

  /// The stores of a chunk's sums.
  void store(StepForm &step, const RegionDraft &draft, const GradientChunk::Sums &sums, Axis rows, const Sums &to) const {
    auto existing = [&](Source x) { return problem.lengths && rows == Axis::Key ? term(terms::existing(rows), {x}) : x; };
    step.outputs.push_back(storedSlice(existing(sums.all), rows, to.all, draft.plan.featureColumns(features)));
    if (to.ofOthers.memory)
      step.outputs.push_back(storedSlice(existing(sums.ofOthers), rows, to.ofOthers, draft.plan.featureColumns(features)));
  }

  const Problem &problem;
  attn::CausalReadoutGradientOp op;
  const DecayShares &shares;
  int64_t features;
  tile::ScheduleAttr ofFeatures, ofValues;
};
} // namespace

using Blocks = SmallVector<Source>;

static Source joined(const Blocks &blocks) { return blocks.size() == 1 ? blocks.front() : term(terms::blocks(), blocks); }

/// Whole rows, in the blocks that features lie in.
static Blocks rowsIn(const RegionDraft &draft, const Tokens &tokens, ArrayRef<int64_t> widths) {
  return llvm::map_to_vector(blockColumns(widths), [&](const Dimension &columns) {
    return draft.plan.tokens(tokens, Axis::Query, Axis::Head, draft.problem.heads(), columns);
  });
}

KernelRegion SlicedGradient::queries(RegionDraft &draft, const Sums &y, const Sums &z) {
  ChunkStage chunks(draft.problem);
  Place keys = chunks.keys();
  GradientChunk chunk(op, draft, chunks.rows(), keys);
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  bool others = static_cast<bool>(shares);
  Stage stage = chunks.stage();
  stage.state = state;
  StepForm step = keySums(KeySums(op), draft, chunk.b, chunk.v, placeOfFeatures(draft, op, keys), chunk.divides);
  if (op.getGuard()) {
    Source before = chunk.carried(chunk.u, state, terms::DecaySpan::Since, terms::Carried::Matrix);
    Source ofKeys = chunk.carried(nullptr, state, terms::DecaySpan::Since, terms::Carried::Sum);
    store(step, draft, chunk.sums(before, chunk.cotangents(), chunk.b, /*transposed=*/false, others), Axis::Query, y);
    store(step, draft, chunk.sums(ofKeys, chunk.counts(), chunk.b, /*transposed=*/false, others), Axis::Query, z);
  } else {
    store(step, draft, chunk.queryGradients(state, others), Axis::Query, y);
  }
  return chunksOf(draft, chunks, stage, std::move(step), "query_gradients");
}

KernelRegion SlicedGradient::rows(RegionDraft &draft, const Sums &y, const Sums &z, ArrayRef<WrittenValue> outputs, const QuotientRows &quotient) {
  Place at{Axis::Query, Axis::Head, problem.heads()};
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  Source a = draft.read(op.getQueryFeatures(), at), all = joined(rowsIn(draft, y.all, widths)), others, g, w;
  if (shares)
    others = joined(rowsIn(draft, y.ofOthers, widths));
  if (op.getGuard()) {
    Source ofKeys = joined(rowsIn(draft, z.all, widths));
    g = term(terms::rowProducts(), {a, ofKeys});
    auto divided = [&](const Tokens &sums) {
      return joined(llvm::map_to_vector<2>(rowsIn(draft, sums, widths), [&](const Source &x) {
        return term(terms::normalize(op.getGuardAttr()), {term(terms::blocks(), {x, g})});
      }));
    };
    all = divided(y.all);
    w = term(terms::denominatorGradient(op.getGuardAttr()), {term(terms::rowProducts(), {a, all}), g});
    all = term(terms::plusWeighed(), {all, ofKeys, w});
    if (shares)
      others = term(terms::plusWeighed(), {divided(y.ofOthers), joined(rowsIn(draft, z.ofOthers, widths)), w});
  }
  draft.defineResults(op, {blocksOf(all, widths.size()), Tiles(), Tiles(), Tiles()});
  KernelRegion region = blocksOfRows(draft, "rows");
  for (const WrittenValue &each : outputs)
    llvm::append_range(region.outputs, everyRowOf(draft, each, at));
  if (quotient.divisors) {
    region.outputs.push_back(storedRows(g, Axis::Query, quotient.divisors));
    region.outputs.push_back(storedRows(w, Axis::Query, quotient.cotangents));
  }
  if (shares)
    region.outputs.push_back(storedRows(sharesOf(a, others), Axis::Query, shares.ofQueries));
  return region;
}

KernelRegion SlicedGradient::keys(RegionDraft &draft, const QuotientRows &quotient, const Sums &result) {
  ChunkStage chunks(draft.problem);
  Place at = chunks.keys();
  GradientChunk chunk(op, draft, chunks.rows(), at, quotient);
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source behind = chunk.carried(chunk.v, state, terms::DecaySpan::Until, chunk.divides ? terms::Carried::Both : terms::Carried::Matrix);
  Stage stage = chunks.stage();
  stage.state = state, stage.reverse = true;
  StepForm step = rowSums(chunk, op, draft, at);
  store(step, draft, chunk.sums(behind, chunk.cotangents(), chunk.a, /*transposed=*/true, static_cast<bool>(shares)), Axis::Key, result);
  return chunksOf(draft, chunks, stage, std::move(step), "key_gradients");
}

KernelRegion SlicedGradient::values(RegionDraft &draft, const QuotientRows &quotient, const Tokens &result) {
  ChunkStage chunks(draft.problem);
  Place at = chunks.keys();
  GradientChunk chunk(op, draft, chunks.rows(), at, quotient);
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source ofValues = term(terms::valueReadoutGradient(draft.wide(), chunk.divides), {chunk.left(chunk.b, terms::DecaySpan::Until), state, chunk.pairs(), chunk.u});
  Stage stage = chunks.stage();
  stage.state = state, stage.reverse = true;
  StepForm step = rowSums(chunk, op, draft, at);
  step.outputs.push_back(storedSlice(ofValues, Axis::Key, result, draft.plan.valueColumns()));
  return chunksOf(draft, chunks, stage, std::move(step), "value_gradients");
}

KernelRegion SlicedGradient::keyShares(RegionDraft &draft, const Sums &cotangents, Value written) {
  Place at{Axis::Query, Axis::Head, problem.heads()};
  KernelRegion region = blocksOfRows(draft, "key_shares");
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  // b̄ of a key that does not exist is 0, whatever that key holds.
  auto existing = [&](ArrayRef<Source> blocks, ArrayRef<Source> cotangents) {
    return llvm::map_to_vector(llvm::zip_equal(blocks, cotangents), [](auto pair) {
      return term(terms::unlessZeroRows(), {std::get<0>(pair), std::get<1>(pair)});
    });
  };
  if (shares) {
    Blocks others = rowsIn(draft, cotangents.ofOthers, widths), b = existing(draft.blocks(op.getKeyFeatures(), at), others);
    if (op.getWrite()) {
      for (Source &block : b)
        block = term(terms::times(), {block, gateAt(op.getWrite(), draft, at)});
      b = existing(b, others);
    }
    region.outputs.push_back(storedRows(sharesOf(joined(b), joined(others)), Axis::Query, shares.ofKeys));
  }
  if (written) {
    Blocks all = rowsIn(draft, cotangents.all, widths);
    region.outputs.push_back(storedRows(term(terms::rowProducts(), {joined(existing(draft.blocks(op.getKeyFeatures(), at), all)), joined(all)}), Axis::Query, written));
  }
  return region;
}

LogicalResult HostBuilder::writeSlicedGradient(const Problem &problem, tile::ScheduleAttr ofRows, attn::CausalReadoutGradientOp op,
                                               ArrayRef<WrittenValue> ofQueries, ArrayRef<WrittenValue> ofKeys, const DecayShares &shares,
                                               const OpSet &reads) {
  SlicedGradient slices(problem, op, shares, schedule);
  int64_t heads = problem.heads(), features = cast<RankedTensorType>(op.getKeyFeatures().getType()).getDimSize(3);
  bool asksKeys = !ofKeys.empty() || shares;
  QuotientRows quotient;
  if (op.getGuard() && asksKeys)
    quotient = allocateQuotient(heads, op);
  // The columns of a rotation change places within a warp, of which rows of chunks have several.
  Problem rows = problem;
  if (llvm::any_of(reads, llvm::IsaPred<attn::RopeOp, attn::RopeGradientOp>))
    rows.schedule = ofRows;
  auto sumsLike = [&](Value rows) {
    Sums sums{allocateRows(rows, heads, features), {}};
    if (shares)
      sums.ofOthers = allocateRows(rows, heads, features);
    return sums;
  };
  if (!ofQueries.empty() || shares || quotient.divisors) {
    Sums y = sumsLike(op.getQueryFeatures()), z;
    if (op.getGuard())
      z = sumsLike(op.getQueryFeatures());
    RegionDraft sums(*this, slices.inFeatures(), RegionPlanner::OfAll, reads), draft(*this, rows, RegionPlanner::OfQueries, reads);
    if (failed(buildKernel(slices.queries(sums, y, z))) || failed(buildKernel(slices.rows(draft, y, z, ofQueries, quotient))))
      return failure();
  }
  if (!asksKeys)
    return success();
  Sums keys = sumsLike(op.getKeyFeatures());
  Tokens values = allocateRows(op.getValue(), heads, problem.valueWidth()), written;
  RegionDraft sums(*this, slices.inFeatures(), RegionPlanner::OfAll, reads), readouts(*this, slices.inValues(), RegionPlanner::OfAll, reads);
  if (failed(buildKernel(slices.keys(sums, quotient, keys))) || failed(buildKernel(slices.values(readouts, quotient, values))))
    return failure();
  if (op.getWrite())
    written = {allocateNumbers(heads, op.getKeyFeatures()), 0, heads, 1, {}};
  if (shares || op.getWrite()) {
    RegionDraft draft(*this, problem, RegionPlanner::OfQueries, reads);
    if (failed(buildKernel(slices.keyShares(draft, keys, written.memory))))
      return failure();
  }
  if (failed(writeSumsOfHeads(rows, op, 1, ofKeys, keys.all, reads)) || failed(writeSumsOfHeads(rows, op, 2, ofKeys, values, reads)))
    return failure();
  return op.getWrite() ? writeSumsOfHeads(rows, op, cast<OpResult>(op.getWriteGradient()).getResultNumber(), ofKeys, written, reads) : success();
}
