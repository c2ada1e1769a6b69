//===- GradientRules.cpp - Gradients of pairs, and what reads them ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   rows:  blocks of queries    for each key tile:    w = …;  q̄ += w k                   as every sum over keys
//   keys:  blocks of keys       for each query tile:  w = …;  v̄ += w₁ᵀ ō,  k̄ += w₂ᵀ q    one stage for all sums of weights that are made of the
//                                                                                        same ones; heads that share keys one after another
//
// Weights of pairs are made again in both from what lies in memory, so no kernel has to add to what another one adds to; on a CPU sums over keys of
// the weights that a region of keys makes come from that region (JointGradients.cpp).
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include "HostBuilder.h"
#include "Regions/KeyStage.h"
#include "Regions/Regions.h"
#include "StateRules.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Sums [feature] of a state times a factor, the same for every row of features.
static Tiles spreadSums(attn::SpreadOp op, double factor, RegionDraft &draft, const Place &at) {
  SmallVector<Source> z = sumsAt(op.getSource(), featureWidths(op.getLike()), draft, at);
  return tilesOfBlocks(llvm::map_to_vector(z, [&](const Source &sums) {
    return term(terms::overRows(at.tokens), {factor == 1 ? sums : term(terms::scale(factor), {sums})});
  }));
}

static bool spreadsSums(attn::SpreadOp op) {
  auto countsTokens = [](attn::RoleAttr role) { return role.getValue() == attn::Role::Query || role.getValue() == attn::Role::Key; };
  return llvm::none_of(op.getSourceRoles().getAsRange<attn::RoleAttr>(), countsTokens);
}

/// Of what is the same for every row the numbers are scaled.
static Tiles buildScale(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::ScaleOp>(result.getOwner());
  if (auto spread = op.getSource().getDefiningOp<attn::SpreadOp>(); spread && spreadsSums(spread))
    return spreadSums(spread, op.getFactor().convertToDouble(), draft, at);
  return {term(terms::scale(op.getFactor().convertToDouble()), {draft.read(op.getSource(), at)})};
}

static Tiles buildAdd(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::AddOp>(result.getOwner());
  SmallVector<Source> lhs = draft.blocks(op.getLhs(), at), rhs = draft.blocks(op.getRhs(), at), sums;
  for (auto [a, b] : llvm::zip_equal(lhs, rhs))
    sums.push_back(term(terms::plus(), {a, b}));
  return tilesOfBlocks(sums);
}

/// Whether pairs are powers, which of a key that nobody sees may be infinite: units of rows are of those that are seen.
static bool arePowers(Value pairs) {
  auto scale = pairs.getDefiningOp<attn::ScaleOp>();
  return (scale ? scale.getSource() : pairs).getDefiningOp<attn::PowerOp>();
}

/// Weights of pairs meet numbers of keys that exist, where their product is 0 by itself.
static Tiles buildMultiply(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::MultiplyOp>(result.getOwner());
  // Weights over the sequence meet products of tokens, which are 0 where these do not exist.
  bool isFinite = (arePairs(op.getLhs()) && !arePowers(op.getRhs())) || op.getLhs().getDefiningOp<attn::SequenceWeightsOp>();
  return {term(isFinite ? terms::times() : terms::timesUnlessZero(), {draft.read(op.getLhs(), at), draft.read(op.getRhs(), at)})};
}

static Tiles buildSpread(OpResult result, RegionDraft &draft, const Place &at) {
  return {term(terms::spread(), {draft.read(cast<attn::SpreadOp>(result.getOwner()).getSource(), at)})};
}

static Tiles buildSpreadSums(OpResult result, RegionDraft &draft, const Place &at) {
  return spreadSums(cast<attn::SpreadOp>(result.getOwner()), /*factor=*/1, draft, at);
}

const TermRule *kernel::ruleOfSpread(attn::SpreadOp op) {
  static const TermRule numbers{.sides = {Side::Rows}, .sizesOnly = 1, .build = buildSpread};
  static const TermRule sums{.sides = {Side::Memory}, .sizesOnly = 1, .build = buildSpreadSums};
  return spreadsSums(op) ? &sums : &numbers;
}

/// Tokens in memory are 0 where they do not exist.
static Tiles buildExisting(OpResult result, RegionDraft &draft, const Place &at) {
  Value source = cast<attn::ExistingOp>(result.getOwner()).getSource();
  if (at.tokens == Axis::Key && draft.host.placeOf(source))
    return draft.tiles(source, at);
  unsigned tiles = draft.tiles(source, at).which.size();
  return {term(terms::existing(at.tokens), {draft.read(source, at)}), llvm::to_vector<2>(llvm::seq<unsigned>(0, tiles)), tiles};
}

static Tiles buildDenominatorGradient(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::DenominatorGradientOp>(result.getOwner());
  return {term(op.getLogarithms() ? terms::logDivisorGradient(op.getGuard()) : terms::denominatorGradient(op.getGuard()), {draft.read(op.getDelta(), at), draft.read(op.getDenominator(), at)})};
}

static Tiles buildRopeGradient(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::RopeGradientOp>(result.getOwner());
  TokenStep step{TokenStep::Kind::Rope, op.getBase().convertToDouble(), op.getHalf(), /*backwards=*/true, draft.host.offsetOf(op)};
  SmallVector<Source> operands{draft.read(op.getSource(), at)};
  if (step.positions())
    operands.push_back(beginOf(step.positions()));
  return {term(terms::rope(at.tokens, step), operands)};
}

/// Behind a reduction of keys tokens that do not exist are 0; where the cotangent comes from memory nothing says which these are.
static Tiles buildQkNormGradient(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::QkNormGradientOp>(result.getOwner());
  Source x = draft.read(op.getSource(), at), cotangent = draft.read(op.getCotangent(), at);
  if (draft.host.placeOf(op.getCotangent()) || !reductionOf(op.getCotangent()))
    x = term(terms::unlessZeroRows(), {x, cotangent});
  return {term(terms::qkNormGradient(op.getEpsilon().convertToDouble(), op.getL2()), {x, cotangent})};
}

//===----------------------------------------------------------------------===//
// Weights of softmax
//===----------------------------------------------------------------------===//

static Tiles buildSoftmaxWeights(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::SoftmaxWeightsOp>(result.getOwner());
  Place keys = RegionDraft::keysOf(at);
  SoftmaxLogits logits{op.getScale().convertToDouble()};
  if (op.getSoftcap())
    logits.softcap = op.getSoftcap()->convertToDouble();
  if (op.getSlopes())
    logits.slope = gateAt(op.getSlopes(), draft, at);
  // On a GPU scaled keys would be a tile of their own beside the keys.
  logits.scalesKeys = draft.streamsQueries && draft.problem.schedule.getTarget() == tile::TargetKind::CPU;
  Source key = scaledKeys(op.getKey(), logits.scale, draft, keys);
  logits.areScaled = key != nullptr;
  Source s = softmaxLogits(draft.plan, *draft.plan.extents, draft.read(op.getQuery(), at), key ? key : draft.read(op.getKey(), keys), logits,
                           draft.channelsOf(op.getQuery()));
  s = term(terms::visible(), {s});
  if (std::optional<Source> weights = weightsOfTile(op, s, draft))
    return {*weights};
  return {term(terms::softmaxWeights(), {s, draft.read(op.getLse(), at)})};
}

static Tiles buildSoftcapGradient(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::SoftcapGradientOp>(result.getOwner());
  double factor = op.getScale().convertToDouble() / op.getSoftcap().convertToDouble();
  return {term(terms::softcapGradient(factor), {draft.read(op.getProduct(), at), draft.read(op.getCotangent(), at)})};
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

Tiles kernel::buildRowProducts(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::ContractOp>(result.getOwner());
  if (std::optional<Source> products = productsOfTile(op, draft, at))
    return {*products};
  Source products = term(terms::rowProducts(), {draft.read(op.getLhs(), at), draft.read(op.getRhs(), at)});
  return {multipliesKeys(op) && draft.problem.lengths ? term(terms::existing(at.tokens), {products}) : products}; // maps are of anything there
}

/// The sums over queries that a region computes, in their order.
SmallVector<attn::ContractOp> kernel::sumsOverQueries(const RegionDraft &draft, const void *stream) {
  SmallVector<attn::ContractOp> sums;
  for (Operation *op : draft.reads)
    if (auto contract = dyn_cast<attn::ContractOp>(op); contract && sumsQueries(contract) && streamOf(op) == stream)
      sums.push_back(contract);
  llvm::sort(sums, [](attn::ContractOp a, attn::ContractOp b) { return a->isBeforeInBlock(b); });
  return sums;
}

/// The widths of the tiles that such sums have: one for each block of what is summed.
static SmallVector<int64_t> widthsOf(ArrayRef<attn::ContractOp> sums) {
  SmallVector<int64_t> widths;
  for (attn::ContractOp sum : sums)
    llvm::append_range(widths, featureWidths(sum.getRhs()));
  return widths;
}

Stage kernel::queriesOfKeys(const RegionDraft &draft, const SeenKeys &seen) {
  auto extents = std::make_shared<Extents>(*draft.plan.extents);
  Extent &keys = (*extents)[Axis::Key];
  keys = draft.host.extentOf(seen.keys, seen.lengths);
  keys.window = draft.problem.window, keys.shortLast = draft.problem.shortLast, keys.last = seen.last;
  if (seen.causal)
    keys.causal = Axis::Query;
  (*extents)[Axis::Query].sees = Axis::Key;
  auto isOfTile = [&](Operation *op) {
    auto weights = dyn_cast<attn::SoftmaxWeightsOp>(op);
    return weights && draft.host.isMadeInTile(weights, weights.getLse());
  };
  bool some = seen.lengths || !draft.partSums.empty() || llvm::any_of(draft.reads, isOfTile); // sums over keys have those behind the last one
  Stage stage{Axis::Query, draft.problem.queryTile(), {{"all", Border::Begin, Border::End, some}}, extents};
  if (seen.causal)
    stage.segments = {{"entering", Border::Begin, Border::Entered, /*masked=*/true}, {"seen", Border::Entered, Border::Seen, some}};
  if (seen.last)
    stage.segments.push_back({"leaving", Border::Seen, Border::End, /*masked=*/true});
  return stage;
}

Tiles kernel::buildSumOverQueries(OpResult result, RegionDraft &draft, const Place &at) {
  Operation *op = result.getOwner();
  const void *stream = streamOf(op);
  SmallVector<attn::ContractOp> sums = sumsOverQueries(draft, stream);
  Source &source = draft.shared(stream);
  if (!source) {
    Place rows{Axis::Query, at.head, at.heads};
    SmallVector<Source> operands;
    for (attn::ContractOp sum : sums) {
      Source w = visibleWeights(sum.getLhs(), draft, rows);
      for (const Source &x : draft.blocks(sum.getRhs(), rows))
        llvm::append_range(operands, ArrayRef<Source>{w, x});
    }
    source = fusion::stream(queriesOfKeys(draft, keysOfSum(op)), {terms::transposedSums(widthsOf(sums), draft.wide()), operands, sumsOfParts(draft, at)});
  }
  Tiles tiles{source, {}, 0};
  for (attn::ContractOp sum : sums)
    for (size_t tile = 0; tile < featureWidths(sum.getRhs()).size(); ++tile, ++tiles.of)
      if (sum == op)
        tiles.which.push_back(tiles.of);
  return tiles;
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// The shapes of the tiles of a source that sums over queries, or else of tokens of this width.
static SmallVector<SmallVector<int64_t>> shapesOf(attn::SumHeadsOp op, const RegionDraft &draft, const Place &at, unsigned tiles) {
  int64_t rows = at.tokens == Axis::Key ? draft.problem.keyTile() : draft.problem.queryTile();
  SmallVector<SmallVector<int64_t>> shapes;
  auto contract = op.getSource().getDefiningOp<attn::ContractOp>();
  Operation *source = op.getSource().getDefiningOp();
  if (source && tiles > 1 && source->getNumResults() == tiles)
    for (Value each : source->getResults())
      shapes.push_back({rows, shapeOf(each)[3]});
  else if (contract && sumsQueries(contract) && !draft.host.memoryOf(op.getSource()))
    for (int64_t width : widthsOf(sumsOverQueries(draft, streamOf(contract))))
      shapes.push_back({rows, width});
  else
    for (int64_t width : featureWidths(op.getSource()))
      shapes.push_back({rows, width});
  assert(shapes.size() == tiles && "a tile for each sum");
  return shapes;
}

/// What all tiles of the source sum up to over the heads of a group.
static Tiles buildSumHeads(OpResult result, RegionDraft &draft, const Place &at) {
  auto op = cast<attn::SumHeadsOp>(result.getOwner());
  int64_t heads = shapeOf(op.getSource())[1];
  Tiles each = draft.tiles(op.getSource(), {at.tokens, Axis::Head, heads});
  Source &sum = draft.shared(each.source.get());
  if (!sum) {
    sum = stream(membersOf(draft.plan, at.head, heads / at.heads), {terms::compose(Representation::Plain, shapesOf(op, draft, at, each.of)), {each.source}});
  }
  return {sum, each.which, each.of};
}

//===----------------------------------------------------------------------===//
// Blocks of keys
//===----------------------------------------------------------------------===//

SmallVector<RegionOutput, 1> kernel::everyRowOf(RegionDraft &draft, const WrittenValue &written, const Place &at) {
  const auto &[value, output] = written;
  Dimension rows = rowsOf(at.tokens);
  attn::WindowAttr window = draft.problem.window;
  if (draft.problem.lengths)
    rows.limit = window && window.isGrid() ? Index(window.getLength()) : Index::size(output.memory, 2);
  Tiles tiles = draft.tiles(value, at);
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), {at.head, 1, output.firstHead}, rows};
  if (shapeOf(value).size() == 3)
    return {{tiles.source, output.memory, place, tiles.which.front()}};
  SmallVector<int64_t, 2> widths{shapeOf(value)[3]};
  if (tiles.which.size() > 1)
    widths = featureWidths(value);
  SmallVector<RegionOutput, 1> outputs;
  int64_t column = 0;
  for (auto [tile, width] : llvm::zip_equal(tiles.which, widths)) {
    Dimension columns = columnsOf(width);
    columns.add = column, column += width;
    outputs.push_back({tiles.source, output.memory, {place[0], place[1], rows, columns}, tile});
  }
  return outputs;
}

Stage kernel::membersOf(const RegionPlanner &plan, Axis shared, int64_t count) {
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = count, (*extents)[Axis::Head].memberOf = shared;
  return {Axis::Head, 1, {{"group", Border::Begin, Border::End, false}}, extents};
}

/// A program for each block of keys, with all the queries that see it.
LogicalResult HostBuilder::writeKeys(const Problem &named, Operation *reduction, ArrayRef<WrittenValue> outputs, OpSet reads) {
  SeenKeys seen = ruleOf(reduction)->keys(reduction);
  Problem problem;
  problem.name = named.name, problem.schedule = named.schedule;
  problem.query = rowsOf(rowsOfPairs(reduction->getOperand(0))), problem.key = rowsOf(seen.keys);
  problem.query.heads = shapeOf(reduction->getResult(0))[1];
  int64_t heads = shapeOf(outputs.front().value)[1];
  problem.key.heads = heads, problem.causal = seen.causal, problem.window = seen.window, problem.lengths = memoryOf(seen.lengths);
  problem.shortLast = seen.window && packed;
  for (const WrittenValue &each : outputs)
    if (shapeOf(each.value)[1] != heads || each.output.lepe || each.output.projection)
      return emitError(each.value.getLoc()) << "expected results of one number of heads from one sum over queries, with nothing behind them "
                                               "(others are not supported yet)";
  RegionDraft draft(*this, problem, RegionPlanner::OfAll, std::move(reads));
  draft.streamsQueries = true;
  Axis head = heads == problem.heads() ? Axis::Head : Axis::SharedHead;
  Place at{Axis::Key, head, heads};
  if (SmallVector<attn::ContractOp> joint = sumsBeside(draft.reads, streamOf(reduction)); !joint.empty())
    return cutsQueries(joint.front()) ? writeJointlyByQueries(draft, reduction, outputs, at, joint) : writeJointly(draft, reduction, outputs, at, joint);
  KernelRegion region = stateKernel(draft.plan, ruleOf(reduction)->kernel, head);
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, problem.keyTile()});
  for (const WrittenValue &each : outputs)
    llvm::append_range(region.outputs, everyRowOf(draft, each, at));
  return buildKernel(region);
}

void kernel::addGradientRules(TermRules &rules) {
  constexpr Side rows = Side::Rows, keys = Side::Keys;
  rules.add<attn::ScaleOp>({.sides = {rows}, .isEpilogue = true, .build = buildScale});
  rules.add<attn::AddOp>({.sides = {rows, rows}, .build = buildAdd});
  rules.add<attn::MultiplyOp>({.sides = {rows, rows}, .build = buildMultiply});
  rules.add<attn::ExistingOp>({.sides = {rows}, .build = buildExisting});
  rules.add<attn::SoftmaxWeightsOp>({.sides = {rows, keys, rows}, .build = buildSoftmaxWeights});
  rules.add<attn::SoftcapGradientOp>({.sides = {rows, rows}, .build = buildSoftcapGradient});
  rules.add<attn::DenominatorGradientOp>({.sides = {rows, rows}, .build = buildDenominatorGradient});
  rules.add<attn::RopeGradientOp>({.sides = {rows}, .sizesOnly = 1, .isEpilogue = true, .build = buildRopeGradient});
  rules.add<attn::QkNormGradientOp>({.sides = {rows, rows}, .isEpilogue = true, .build = buildQkNormGradient});
  rules.add<attn::MapParameterGradientOp>({.sides = {rows, rows}, .materialize = materializeParameterParts});
  // Behind the first three there are lengths, gates, states, cotangents and what keys that erase write.
  rules.add<attn::CausalReadoutGradientOp>(
      {.sides = {rows, keys, keys, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows}, .frame = Frame::ChunkGradients});
  rules.add<attn::SumHeadsOp>({.sides = {rows}, .isEpilogue = true, .build = buildSumHeads});
}
