//===- ReadoutGradientRules.cpp - Gradients of causal readouts, chunk by chunk ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   queries:  parallel over (batch, head), chunks from the first on:    ā, then S += Bᵀ V, z += Bᵀ 1
//   keys:     parallel over (batch, head), chunks from the last down:   b̄, v̄, then R += Aᵀ ū, ζ += Aᵀ w̄
//
// The states of the second pass are those of what comes behind, so that nothing is taken off again that has been added.
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include "HostBuilder.h"
#include "Regions/ChunkStage.h"
#include "StateRules.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

namespace {
/// What both passes read at the chunk of a site.
struct Chunk {
  Chunk(attn::CausalReadoutGradientOp op, RegionDraft &draft, const Place &rows, const Place &keys)
      : a(draft.read(op.getQueryFeatures(), rows)), b(existingFeatures(op.getKeyFeatures(), draft, keys)), v(draft.read(op.getValue(), keys)),
        u(draft.read(op.getNumerator(), rows)), divides(static_cast<bool>(op.getDenominator())) {
    if (divides)
      w = draft.read(op.getDenominator(), rows);
  }
  /// p and p̄ of pairs j ≤ i.
  Source pairs(RegionDraft &draft) const {
    return term(terms::lowerTriangle(), {term(terms::logits(Representation::Plain, 1, draft.wide()), {a, b})});
  }
  Source cotangents(RegionDraft &draft) const {
    Source products = term(terms::logits(Representation::Plain, 1, draft.wide()), {u, v});
    if (divides)
      products = term(terms::plus(), {products, term(terms::spread(), {w})});
    return term(terms::lowerTriangle(), {products});
  }

  Source a, b, v, u, w; ///< of w: null without denominators
  bool divides;
};
} // namespace

/// The result of a reduction that a value is made of.
static OpResult resultBehind(Value value, Operation *reduction) {
  while (value.getDefiningOp() != reduction) {
    Operation *op = value.getDefiningOp();
    value = *llvm::find_if(op->getOperands(), [&](Value operand) { return reductionOf(operand) == reduction; });
  }
  return cast<OpResult>(value);
}

/// All tiles of a source.
static Tiles blocksOf(Source source, unsigned count) { return {std::move(source), llvm::to_vector<2>(llvm::seq<unsigned>(0, count)), count}; }

static KernelRegion queriesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs) {
  ChunkStage chunks(draft.problem);
  Place rows = chunks.rows(), keys = chunks.keys();
  Chunk chunk(op, draft, rows, keys);
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  SmallVector<Source> operands{chunk.u, state, chunk.cotangents(draft), chunk.b};
  if (chunk.divides)
    operands.push_back(chunk.w);
  draft.defineResults(op, {blocksOf(term(terms::queryReadoutGradient(draft.wide(), chunk.divides), operands), widths.size()), Tiles(), Tiles()});
  Stage stage = chunks.stage();
  stage.state = state;
  StepForm step{terms::featureSums(widths, shapeOf(op.getValue())[3], draft.wide(), chunk.divides), {chunk.b, chunk.v}};
  for (const WrittenValue &each : outputs)
    llvm::append_range(step.outputs, everyRowOf(draft, each, rows));
  KernelRegion region = chunks.region(stream(stage, std::move(step)));
  region.suffix = "query_gradients";
  return region;
}

/// The stage of the second pass, with what it stores of each chunk.
static KernelRegion keysRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op,
                               function_ref<SmallVector<RegionOutput, 1>(Source ofKeys, Source ofValues)> outputs) {
  ChunkStage chunks(draft.problem);
  Place rows = chunks.rows(), keys = chunks.keys();
  Chunk chunk(op, draft, rows, keys);
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source both = term(terms::keyReadoutGradient(draft.wide(), chunk.divides),
                     {chunk.v, chunk.b, state, chunk.cotangents(draft), chunk.pairs(draft), chunk.a, chunk.u});
  auto tiles = static_cast<unsigned>(widths.size());
  Source ofKeys = term(terms::select(llvm::to_vector(llvm::seq<unsigned>(0, tiles))), {both});
  if (draft.problem.lengths)
    ofKeys = term(terms::existing(Axis::Key), {ofKeys});
  Stage stage = chunks.stage();
  stage.state = state, stage.reverse = true;
  SmallVector<Source> operands{chunk.a, chunk.u};
  if (chunk.divides)
    operands.push_back(chunk.w);
  StepForm step{terms::cotangentSums(widths, shapeOf(op.getValue())[3], draft.wide(), chunk.divides), operands};
  step.outputs = outputs(ofKeys, term(terms::select({tiles}), {both}));
  KernelRegion region = chunks.region(stream(stage, std::move(step)));
  region.suffix = "key_gradients";
  return region;
}

/// b̄ and v̄ of every query head in memory, blocks of features side by side.
static SmallVector<RegionOutput, 1> outputsOfHeads(Source ofKeys, Source ofValues, ArrayRef<int64_t> widths, const kernel::Tokens &keys,
                                                   const kernel::Tokens &values) {
  SmallVector<RegionOutput, 1> outputs;
  auto add = [&](const Source &source, unsigned tile, const kernel::Tokens &to, int64_t column, int64_t width) {
    Dimension columns = columnsOf(width), rows = kernel::rowsOf(Axis::Key);
    columns.add = column, rows.limit = Index::size(to.memory, 2);
    outputs.push_back({source, to.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), rows, columns}, tile});
  };
  int64_t column = 0;
  for (auto [tile, width] : llvm::enumerate(widths))
    add(ofKeys, tile, keys, column, width), column += width;
  add(ofValues, 0, values, 0, values.width);
  return outputs;
}

/// Blocks of features that every query head has in memory, added up over those of the shared head at a place.
static Source sumOverHeads(const RegionDraft &draft, const kernel::Tokens &tokens, ArrayRef<int64_t> widths, int64_t rows) {
  SmallVector<Source> blocks;
  SmallVector<SmallVector<int64_t>> shapes;
  int64_t column = 0;
  for (int64_t width : widths) {
    Dimension columns = columnsOf(width);
    columns.add = column, column += width;
    blocks.push_back(fusion::memory(tokens.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), kernel::rowsOf(Axis::Query), columns}));
    shapes.push_back({rows, width});
  }
  Stage members = membersOf(draft.plan, Axis::SharedHead, tokens.heads / draft.problem.sharedHeads());
  Source all = blocks.size() == 1 ? blocks.front() : term(terms::blocks(), blocks);
  return stream(members, {terms::compose(Representation::Plain, shapes), {all}});
}

/// A region of blocks of rows for each shared head.
static KernelRegion rowsOfSharedHeads(const RegionDraft &draft, StringRef suffix) {
  const Problem &problem = draft.problem;
  KernelRegion region{problem.name, suffix.str(), problem.schedule, {{Axis::Batch, tile::Axis::Batch}, {Axis::SharedHead, tile::Axis::Head}},
                      draft.plan.extents, {}};
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, problem.queryTile()});
  return region;
}

static void storeSharedRows(KernelRegion &region, RegionDraft &draft, const WrittenValue &each) {
  llvm::append_range(region.outputs, everyRowOf(draft, each, {Axis::Query, Axis::SharedHead, draft.problem.sharedHeads()}));
}

LogicalResult HostBuilder::writeKeyGradients(const Problem &problem, attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs,
                                             const OpSet &reads) {
  RegionDraft draft(*this, problem, RegionPlanner::OfAll, reads);
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  int64_t ofValues = shapeOf(op.getValue())[1];
  if (problem.heads() == problem.sharedHeads() && problem.heads() == ofValues)
    return buildKernel(keysRegion(draft, op, [&](Source ofKeys, Source ofValue) {
      draft.defineResults(op, {Tiles(), blocksOf(ofKeys, widths.size()), Tiles{ofValue}});
      SmallVector<RegionOutput, 1> stores;
      for (const WrittenValue &each : outputs)
        llvm::append_range(stores, everyRowOf(draft, each, {Axis::Key, Axis::Head, problem.heads()}));
      return stores;
    }));
  Tokens keys = allocateRows(op.getKeyFeatures(), problem.heads(), shapeOf(op.getKeyFeatures())[3]);
  Tokens values = allocateRows(op.getValue(), problem.heads(), problem.valueWidth());
  if (failed(buildKernel(keysRegion(draft, op, [&](Source ofKeys, Source ofValue) { return outputsOfHeads(ofKeys, ofValue, widths, keys, values); }))))
    return failure();
  // Features may have more heads than values: what is made of one and of the other is summed apart.
  for (unsigned number : {1u, 2u}) {
    Problem sums = problem;
    sums.query = rowsOf(op.getKeyFeatures()), sums.query.heads = problem.heads();
    sums.key.heads = number == 1 ? problem.sharedHeads() : ofValues;
    if (failed(writeSumsOfHeads(sums, op, number, outputs, {keys, values}, reads)))
      return failure();
  }
  return success();
}

LogicalResult HostBuilder::writeSumsOfHeads(const Problem &sums, attn::CausalReadoutGradientOp op, unsigned number, ArrayRef<WrittenValue> outputs,
                                            const std::pair<Tokens, Tokens> &ofHeads, const OpSet &reads) {
  RegionDraft summed(*this, sums, RegionPlanner::OfQueries, reads);
  auto extents = std::make_shared<Extents>(*summed.plan.extents); // the rows are keys
  (*extents)[Axis::Query].lengths = sums.lengths;
  summed.plan.extents = extents;
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  Tiles keys = blocksOf(sumOverHeads(summed, ofHeads.first, widths, sums.queryTile()), widths.size());
  Tiles values{sumOverHeads(summed, ofHeads.second, ofHeads.second.width, sums.queryTile())};
  summed.defineResults(op, {Tiles(), keys, values});
  KernelRegion region = rowsOfSharedHeads(summed, "head_sums");
  for (const WrittenValue &each : outputs)
    if (resultBehind(each.value, op).getResultNumber() == number)
      storeSharedRows(region, summed, each);
  return region.outputs.empty() ? success() : LogicalResult(buildKernel(region));
}

LogicalResult HostBuilder::writeReadoutGradient(const Problem &named, attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs,
                                                const OpSet &reads) {
  SmallVector<WrittenValue> ofQueries, ofKeys;
  for (const WrittenValue &each : outputs)
    (resultBehind(each.value, op).getResultNumber() == 0 ? ofQueries : ofKeys).push_back(each);
  Problem problem;
  problem.name = named.name, problem.schedule = named.schedule, problem.causal = true;
  problem.query = rowsOf(op.getQueryFeatures()), problem.key = rowsOf(op.getKeyFeatures());
  problem.query.heads = shapeOf(op.getQueryFeatures())[1], problem.key.heads = shapeOf(op.getKeyFeatures())[1];
  problem.value.width = shapeOf(op.getValue())[3];
  Value lengths = op.getLengths() ? op.getLengths() : lengthsOf(op.getKeyFeatures());
  problem.lengths = memoryOf(lengths);
  if (!ofQueries.empty()) {
    RegionDraft draft(*this, problem, RegionPlanner::OfAll, reads);
    if (failed(buildKernel(queriesRegion(draft, op, ofQueries))))
      return failure();
  }
  return ofKeys.empty() ? success() : writeKeyGradients(problem, op, ofKeys, reads);
}

/// What the heads of a group have in memory, added up.
LogicalResult HostBuilder::writeHeadSums(const Problem &named, attn::SumHeadsOp op, ArrayRef<WrittenValue> outputs, OpSet reads) {
  Problem problem;
  problem.name = named.name, problem.schedule = named.schedule;
  problem.query = rowsOf(op.getSource()), problem.query.heads = shapeOf(op.getSource())[1];
  problem.key.heads = shapeOf(op.getResult())[1];
  RegionDraft draft(*this, problem, RegionPlanner::OfQueries, std::move(reads));
  KernelRegion region = rowsOfSharedHeads(draft, "head_sums");
  for (const WrittenValue &each : outputs)
    storeSharedRows(region, draft, each);
  return buildKernel(region);
}
