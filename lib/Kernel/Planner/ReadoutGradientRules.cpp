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
//   decay:    parallel over (batch, head of the decay), from the first: ḡ_t = ⟨S, S̄⟩ + Σ_{j < t} (⟨b_j, b̄_j⟩ − ⟨a_j, ā_j⟩)
//
// Where rows are scanned these are sums of what came before a row and behind it, without pairs (ScannedGradients.cpp). The states of the
// second pass are those of what comes behind, so that nothing is taken off again that has been added. The third pass reads numbers of rows
// that the first two leave.
//
// Split, both passes run over the parts of the sequence side by side. Before each come the spans of its pieces: of keys in all parts but the last,
// of rows, from their ends down, in all parts but the first.
//
//===----------------------------------------------------------------------===//
#include "GradientChunk.h"
#include "GradientRules.h"
#include "LogGradientRules.h"
#include "ScanRules.h"
#include "ScannedGradients.h"

#include "HostBuilder.h"
#include "Pieces.h"
#include "Regions/BatchSums.h"
#include "Regions/ChunkStage.h"
#include "Regions/KeyStage.h"
#include "Regions/Regions.h"
#include "Terms.h"

#include "attune/Attn/Execution.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

OpResult kernel::resultBehind(Value value, Operation *reduction) {
  while (value.getDefiningOp() != reduction) {
    Operation *op = value.getDefiningOp();
    value = *llvm::find_if(op->getOperands(), [&](Value operand) { return reductionOf(operand) == reduction; });
  }
  return cast<OpResult>(value);
}

Tiles kernel::blocksOf(Source source, unsigned count) { return {std::move(source), llvm::to_vector<2>(llvm::seq<unsigned>(0, count)), count}; }

static KernelRegion queriesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs, const DecayShares &shares,
                                  const QuotientRows &quotient, const StateMemory &pieces) {
  if (draft.host.groups().inUnits(op))
    return logQueriesRegion(draft, op, outputs, shares, quotient, pieces);
  if (scansRows(draft.problem, KeySums(op), op.divides()))
    return scannedQueriesRegion(draft, op, outputs, shares, quotient, pieces);
  ChunkStage chunks(draft.problem);
  Place rows = chunks.rows(), keys = chunks.keys();
  GradientChunk chunk(op, draft, rows, keys);
  KeySums ofKeys(op);
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  GradientChunk::Sums sums = chunk.queryGradients(state, static_cast<bool>(shares));
  Source ofQueries = op.getLogarithms() ? term(terms::times(), {chunk.a, sums.all}) : sums.all;
  draft.defineResults(op, {blocksOf(ofQueries, widths.size()), Tiles(), Tiles(), Tiles()});
  Stage stage = chunks.stage();
  stage.state = state, stage.begin = chunks.stateBefore(ofKeys, draft, Representation::Plain, pieces, chunk.divides);
  StepForm step = keySums(ofKeys, draft, chunk.b, chunk.v, keys, chunk.divides);
  for (const WrittenValue &each : outputs)
    llvm::append_range(step.outputs, everyRowOf(draft, each, rows));
  llvm::append_range(step.outputs, chunk.leftByQueries(sums, quotient, shares));
  KernelRegion region = chunks.region(stream(stage, std::move(step)));
  region.suffix = "query_gradients";
  return region;
}

StepForm kernel::rowSums(const GradientChunk &chunk, attn::CausalReadoutGradientOp op, RegionDraft &draft, const Place &at) {
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  Place keys = placeOfFeatures(draft, op, at);
  if (keys.slice)
    widths = {draft.plan.featureTile(widths[0])};
  SmallVector<Source> operands{chunk.left(chunk.a, terms::DecaySpan::Since), chunk.u};
  if (op.getDecay())
    operands.push_back(decayOver(terms::DecaySpan::Whole, op.getDecay(), draft, keys, widths[0]));
  if (chunk.divides)
    operands.push_back(chunk.w);
  return {terms::featureSums(widths, draft.valueTile(shapeOf(op.getValue())[3]), draft.wide(), chunk.divides, static_cast<bool>(op.getDecay()), chunk.divides),
          operands};
}

/// The spans of pieces of rows for the parts before them.
static KernelRegion rowPiecesRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const QuotientRows &quotient, const StateMemory &spans) {
  if (draft.host.groups().inUnits(op))
    return logRowPiecesRegion(draft, op, quotient, spans);
  ChunkStage chunks(draft.problem);
  Place keys = chunks.keys();
  draft.plan.extents = chunks.piecesBehind(spans);
  GradientChunk chunk(op, draft, chunks.rows(), keys, quotient);
  Stage stage = chunks.stage();
  stage.extents = draft.plan.extents, stage.reverse = true;
  KernelRegion region = stateKernel(draft.plan, "row_pieces");
  region.grid.push_back({Axis::Piece, tile::Axis::KeyPiece});
  Source transition;
  if (spans.transition) {
    Source whole = decayOver(terms::DecaySpan::Whole, op.getDecay(), draft, keys, spans.features[0]);
    transition = term(terms::transition(), {stream(existingKeys(draft.plan), {terms::decaySums(spans.features[0]), {whole}})});
  }
  region.outputs = spans.write(stream(stage, rowSums(chunk, op, draft, keys)), {entryOf(Axis::Batch), entryOf(Axis::Head), chunks.spanOfPiece()}, transition);
  return region;
}

/// The stage of the second pass, with what it stores of each chunk, and of the state before the first token.
static KernelRegion keysRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const QuotientRows &quotient, const DecayShares &shares, const StateMemory &before,
                               const StateMemory &pieces, OutputsOfKeys outputs) {
  if (draft.host.groups().inUnits(op))
    return logKeysRegion(draft, op, quotient, shares, before, pieces, outputs);
  if (scansRows(draft.problem, KeySums(op), op.divides()))
    return scannedKeysRegion(draft, op, quotient, shares, before, pieces, outputs);
  ChunkStage chunks(draft.problem);
  Place rows = chunks.rows(), keys = chunks.keys();
  GradientChunk chunk(op, draft, rows, keys, quotient);
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source behind = chunk.carried(chunk.v, state, terms::DecaySpan::Until, chunk.divides ? terms::Carried::Both : terms::Carried::Matrix);
  GradientChunk::Sums sums = chunk.sums(behind, chunk.cotangents(), chunk.a, /*transposed=*/true, static_cast<bool>(shares));
  Source ofValues = term(terms::valueReadoutGradient(draft.wide(), chunk.divides),
                         {chunk.left(chunk.b, terms::DecaySpan::Until), state, chunk.pairs(), chunk.u});
  auto existing = [&](Source x) { return draft.problem.lengths ? term(terms::existing(Axis::Key), {x}) : x; };
  Source ofKeys = existing(op.getLogarithms() ? term(terms::times(), {chunk.b, sums.all}) : sums.all), ofShares;
  if (op.getWrite())
    ofShares = existing(term(terms::rowProducts(), {existingFeatures(op.getKeyFeatures(), draft, keys), sums.all}));
  Stage stage = chunks.stage();
  stage.state = state, stage.reverse = true, stage.begin = shareOfCotangent(op, draft, keys);
  if (draft.problem.split)
    stage.begin = chunks.sumOfPiecesBehind(pieces, {entryOf(Axis::Batch), entryOf(Axis::Head)}, stage.begin);
  StepForm step = rowSums(chunk, op, draft, keys);
  step.outputs = outputs({ofKeys, ofValues, ofShares});
  if (shares)
    step.outputs.push_back(storedRows(chunk.shares(chunk.b, sums.ofOthers), Axis::Key, shares.ofKeys));
  KernelRegion region = chunks.region(stream(stage, std::move(step)));
  region.suffix = "key_gradients";
  if (before.matrix)
    chunks.store(region, region.effects.front(), before, /*reverse=*/true);
  if (shares.ofState)
    storeStateShares(region, region.effects.front(), op, draft, keys, shares.ofState, chunks.inOtherParts(region, /*reverse=*/true));
  return region;
}

/// ḡ of the tokens of each head that has a decay of its own; of a decay of the head their sums over the tokens of each entry, [batch, heads, 1].
static KernelRegion decayRegion(RegionDraft &draft, attn::CausalReadoutGradientOp op, const DecayShares &given, Value result) {
  const Problem &problem = draft.problem;
  int64_t rank = cast<RankedTensorType>(op.getDecay().getType()).getRank(), width = rank == 4 ? shapeOf(op.getDecay())[3] : 1;
  auto read = [&](Value memory) {
    SmallVector<Dimension> place{entryOf(Axis::Batch), entryOf(Axis::Head), kernel::rowsOf(Axis::Query)};
    if (rank == 4)
      place.push_back(columnsOf(width));
    return fusion::memory(memory, place);
  };
  SmallVector<int64_t> shape{problem.keyTile()};
  if (rank == 4)
    shape.push_back(width);
  Source shares = term(terms::minus(), {read(given.ofKeys), read(given.ofQueries)});
  auto ofMembers = [&](Source each, ArrayRef<int64_t> shape) {
    if (problem.heads() == problem.sharedHeads())
      return each;
    SmallVector<SmallVector<int64_t>> shapes{SmallVector<int64_t>(shape)};
    return stream(membersOf(draft.plan, Axis::SharedHead, problem.heads() / problem.sharedHeads()), {terms::compose(Representation::Plain, shapes), {each}});
  };
  shares = ofMembers(shares, shape);
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source ofTokens = term(terms::prefixSums(), {shares, state});
  if (problem.lengths || rank == 1) // a sum over tokens has no rows past the last one
    ofTokens = term(terms::existing(Axis::Key), {ofTokens});
  Stage stage = ChunkStage(problem).stage();
  stage.state = state;
  Axis head = problem.heads() == problem.sharedHeads() ? Axis::Head : Axis::SharedHead;
  if (given.ofState)
    stage.begin = ofMembers(fusion::memory(given.ofState, {entryOf(Axis::Batch), entryOf(Axis::Head), columnsOf(width)}), {width});
  KernelRegion region{problem.name, "decay_gradients", problem.schedule, {{Axis::Batch, tile::Axis::Batch}, {head, tile::Axis::Head}}, draft.plan.extents, {}};
  if (rank > 1) {
    StepForm step{terms::rowTotals(width, 1), {shares}};
    SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(head), kernel::rowsOf(Axis::Key)};
    place.back().limit = Index::size(given.ofKeys, 2);
    if (rank == 4)
      place.push_back(columnsOf(width));
    step.outputs.push_back({ofTokens, result, place});
    region.effects = {stream(stage, std::move(step))};
    return region;
  }
  if (stage.begin)
    stage.begin = term(terms::blocks(), {stage.begin, term(terms::scale(0), {stage.begin})});
  Source ofEntry = term(terms::select({1}), {stream(stage, {terms::rowTotals(1, 2), {shares, ofTokens}})});
  region.outputs = {{ofEntry, result, {entryOf(Axis::Batch), entryOf(head), columnsOf(1)}}};
  return region;
}

/// b̄ and v̄ of every query head in memory, blocks of features side by side, and w̄.
static SmallVector<RegionOutput, 1> outputsOfHeads(const KeyCotangents &cotangents, ArrayRef<int64_t> widths, const kernel::Tokens &keys,
                                                   const kernel::Tokens &values, const kernel::Tokens &shares) {
  SmallVector<RegionOutput, 1> outputs;
  auto add = [&](const Source &source, unsigned tile, const kernel::Tokens &to, int64_t column, int64_t width) {
    Dimension columns = columnsOf(width), rows = kernel::rowsOf(Axis::Key);
    columns.add = column, rows.limit = Index::size(to.memory, 2);
    outputs.push_back({source, to.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), rows, columns}, tile});
  };
  int64_t column = 0;
  for (auto [tile, width] : llvm::enumerate(widths))
    add(cotangents.keys, tile, keys, column, width), column += width;
  add(cotangents.values, 0, values, 0, values.width);
  if (cotangents.shares)
    outputs.push_back(storedRows(cotangents.shares, Axis::Key, shares.memory));
  return outputs;
}

/// Blocks of features that every query head has in memory, or a number of each row, added up over those of the shared head at a place.
static Source sumOverHeads(const RegionDraft &draft, const kernel::Tokens &tokens, ArrayRef<int64_t> widths, int64_t rows) {
  SmallVector<Source> blocks;
  SmallVector<SmallVector<int64_t>> shapes;
  int64_t column = 0;
  for (int64_t width : widths) {
    Dimension columns = columnsOf(width);
    columns.add = column, column += width;
    SmallVector<Dimension> place{entryOf(Axis::Batch), entryOf(Axis::Head), kernel::rowsOf(Axis::Query)};
    shapes.push_back({rows});
    if (cast<MemRefType>(tokens.memory.getType()).getRank() == 4)
      place.push_back(columns), shapes.back().push_back(width);
    blocks.push_back(fusion::memory(tokens.memory, place));
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

/// The rows are keys, of which there may be fewer than tokens.
static void limitRows(RegionDraft &draft) {
  auto extents = std::make_shared<Extents>(*draft.plan.extents);
  (*extents)[Axis::Query].lengths = draft.problem.lengths;
  draft.plan.extents = extents;
}

static void storeSharedRows(KernelRegion &region, RegionDraft &draft, const WrittenValue &each) {
  llvm::append_range(region.outputs, everyRowOf(draft, each, {Axis::Query, Axis::SharedHead, draft.problem.sharedHeads()}));
}

StateMemory HostBuilder::allocateSpans(const Problem &problem, attn::CausalReadoutGradientOp op, int64_t heads) {
  TileBuilder host(site.host, site.loc);
  StateMemory::Parts parts{.units = groups().inUnits(op), .sums = op.divides()};
  if (op.getDecay())
    parts.transition = tile::Transition::Vector;
  return StateMemory::allocate(site, parts, host.dim(problem.key.memory, 0), heads, featureWidths(op.getKeyFeatures()), shapeOf(op.getValue())[3],
                               Pieces(problem).count(host));
}

LogicalResult HostBuilder::writeKeyGradients(const Problem &problem, attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs,
                                             const QuotientRows &quotient, const DecayShares &shares, const StateMemory &before, const OpSet &reads) {
  StateMemory pieces;
  if (problem.split) {
    RegionDraft rows(*this, problem, RegionPlanner::OfAll, reads);
    pieces = allocateSpans(problem, op, problem.heads());
    if (failed(buildKernel(rowPiecesRegion(rows, op, quotient, pieces))))
      return failure();
  }
  RegionDraft draft(*this, problem, RegionPlanner::OfAll, reads);
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  int64_t ofValues = shapeOf(op.getValue())[1];
  if (problem.heads() == problem.sharedHeads() && problem.heads() == ofValues)
    return buildKernel(keysRegion(draft, op, quotient, shares, before, pieces, [&](const KeyCotangents &cotangents) {
      SmallVector<Tiles> results(op.getNumResults());
      results[1] = blocksOf(cotangents.keys, widths.size()), results[2] = {cotangents.values};
      if (cotangents.shares)
        results[cast<OpResult>(op.getWriteGradient()).getResultNumber()] = {cotangents.shares};
      draft.defineResults(op, results);
      SmallVector<RegionOutput, 1> stores;
      for (const WrittenValue &each : outputs)
        llvm::append_range(stores, everyRowOf(draft, each, {Axis::Key, Axis::Head, problem.heads()}));
      return stores;
    }));
  Tokens keys = allocateRows(op.getKeyFeatures(), problem.heads(), shapeOf(op.getKeyFeatures())[3]);
  Tokens values = allocateRows(op.getValue(), problem.heads(), problem.valueWidth());
  Tokens written;
  if (op.getWrite())
    written = {allocateNumbers(problem.heads(), op.getKeyFeatures()), 0, problem.heads(), 1, {}};
  auto ofHeads = [&](const KeyCotangents &cotangents) { return outputsOfHeads(cotangents, widths, keys, values, written); };
  if (failed(buildKernel(keysRegion(draft, op, quotient, shares, before, pieces, ofHeads))))
    return failure();
  // Features may have more heads than values: what is made of one and of the other is summed apart.
  if (failed(writeSumsOfHeads(problem, op, 1, outputs, keys, reads)) || failed(writeSumsOfHeads(problem, op, 2, outputs, values, reads)))
    return failure();
  return op.getWrite() ? writeSumsOfHeads(problem, op, cast<OpResult>(op.getWriteGradient()).getResultNumber(), outputs, written, reads) : success();
}

LogicalResult HostBuilder::writeSumsOfHeads(const Problem &problem, attn::CausalReadoutGradientOp op, unsigned number, ArrayRef<WrittenValue> outputs,
                                            const Tokens &ofHeads, const OpSet &reads) {
  Problem sums = problem;
  sums.query = rowsOf(op.getKeyFeatures()), sums.query.heads = problem.heads();
  sums.key.heads = shapeOf(op.getResult(number))[1];
  RegionDraft summed(*this, sums, RegionPlanner::OfQueries, reads);
  limitRows(summed);
  SmallVector<int64_t, 2> widths = number == 1 ? featureWidths(op.getKeyFeatures()) : SmallVector<int64_t, 2>{ofHeads.width};
  SmallVector<Tiles> results(op.getNumResults());
  results[number] = blocksOf(sumOverHeads(summed, ofHeads, widths, sums.queryTile()), widths.size());
  summed.defineResults(op, results);
  KernelRegion region = rowsOfSharedHeads(summed, "head_sums");
  for (const WrittenValue &each : outputs)
    if (resultBehind(each.value, op).getResultNumber() == number)
      storeSharedRows(region, summed, each);
  return region.outputs.empty() ? success() : LogicalResult(buildKernel(region));
}

QuotientRows HostBuilder::allocateQuotient(int64_t heads, attn::CausalReadoutGradientOp op) {
  auto numbers = [&] { return allocateNumbers(heads, op.getQueryFeatures()); };
  return {numbers(), numbers(), groups().inUnits(op) ? numbers() : Value()};
}

DecayShares HostBuilder::allocateShares(attn::CausalReadoutGradientOp op) {
  int64_t heads = shapeOf(op.getQueryFeatures())[1], features = shapeOf(op.getKeyFeatures())[3];
  bool channels = decaysChannels(op.getDecay());
  auto rows = [&] { return channels ? allocateRows(op.getKeyFeatures(), heads, features).memory : allocateNumbers(heads, op.getKeyFeatures()); };
  DecayShares shares{rows(), rows(), Value()};
  TileBuilder host(site.host, site.loc);
  if (op.getInitialState())
    shares.ofState = site.workspace({ShapedType::kDynamic, heads, channels ? features : 1}, host.dim(rowsOf(op.getKeyFeatures()).memory, 0));
  return shares;
}

StateMemory HostBuilder::stateGradients(attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs) {
  StateMemory result;
  for (const WrittenValue &each : outputs) {
    if (each.value == op.getStateGradient())
      result.matrix = each.output.memory;
    if (each.value == op.getSumGradient())
      result.sum = each.output.memory;
  }
  if (!result.matrix && !result.sum)
    return {};
  SmallVector<int64_t, 2> widths = featureWidths(op.getKeyFeatures());
  TileBuilder host(site.host, site.loc);
  StateMemory all = StateMemory::allocate(site, {.sums = op.divides()}, host.dim(rowsOf(op.getKeyFeatures()).memory, 0),
                                          shapeOf(op.getKeyFeatures())[1], widths, shapeOf(op.getValue())[3]);
  for (Value StateMemory::*memory : {&StateMemory::matrix, &StateMemory::sum})
    if (result.*memory)
      all.*memory = result.*memory;
  return all;
}

/// Cotangents of the states that query heads have of their own, added up over those that share one.
LogicalResult HostBuilder::writeStateSums(const Problem &problem, const StateMemory &ofHeads, const StateMemory &result) {
  RegionDraft draft(*this, problem, RegionPlanner::OfAll);
  KernelRegion region = stateKernel(draft.plan, "state_sums", Axis::SharedHead);
  Stage members = membersOf(draft.plan, Axis::SharedHead, problem.heads() / problem.sharedHeads());
  Source sum = stream(members, {terms::compose(Representation::Plain, ofHeads.shapes()), {ofHeads.read({entryOf(Axis::Batch), entryOf(Axis::Head)})}});
  region.outputs = result.write(sum, {entryOf(Axis::Batch), entryOf(Axis::SharedHead)});
  return buildKernel(region);
}

/// A chunk costs its rows squared several times over, and a state twice: on a CPU 16 rows are fastest (docs/Rationale/Gradients.md). Where rows are scanned 32
/// are, of which each costs the same; but 16 where they decay, as fewer of them span less (Terms/UsualDecay.cpp). On a GPU threads
/// hold the state and the cotangents of a chunk in registers: warps share their columns, so many that nothing spills, and where features decay or
/// erase apart, or states are large, chunks have 16 rows, too. Where tokens rotate a warp has all columns, and keys that erase have 32 rows then.
tile::ScheduleAttr kernel::scheduleOfChunks(tile::ScheduleAttr s, const KeySums &sums, bool rotates, bool scans) {
  bool gpu = s.getTarget() == tile::TargetKind::GPU;
  if (gpu && rotates && !sums.erase)
    return s;
  constexpr int64_t rowsOfWarp = 16;
  int64_t rows = scans && !sums.decay ? 32 : 16, warps = s.getWarps(), columns = s.getWarpColumns();
  if (gpu && rotates) {
    rows = 32, warps = rows / rowsOfWarp, columns = 1;
  } else if (gpu) {
    constexpr int64_t narrow = 64, largeState = 8192;
    int64_t features = shapeOf(sums.features)[3], width = sums.width();
    bool isTight = sums.erase || decaysChannels(sums.decay) || features * width > largeState;
    rows = isTight ? rowsOfWarp : 2 * rowsOfWarp, warps = std::max(features, width) > narrow ? 8 : 4, columns = warps * rowsOfWarp / rows;
  }
  return s.withTiles(rows, rows).withWarps(warps, columns);
}

/// Whether features are products of two entries of a sketch.
static bool areSquares(Value features) {
  attn::MapOp map = mapOf(features);
  attn::FeatureKind kind = map ? map.getFeatureMap().getKind() : attn::FeatureKind::Identity;
  return kind == attn::FeatureKind::TensorSquare || kind == attn::FeatureKind::SymmetricSquare;
}

LogicalResult HostBuilder::writeReadoutGradient(const Problem &named, attn::CausalReadoutGradientOp op, ArrayRef<WrittenValue> outputs,
                                                const OpSet &reads) {
  SmallVector<WrittenValue, 2> ofQueries, ofKeys;
  Value ofDecay;
  for (const WrittenValue &each : outputs) {
    if (each.value == op.getDecayGradient())
      ofDecay = each.output.memory;
    else if (each.value != op.getStateGradient() && each.value != op.getSumGradient())
      (resultBehind(each.value, op).getResultNumber() == 0 ? ofQueries : ofKeys).push_back(each);
  }
  StateMemory before = stateGradients(op, outputs), ofHeads = before;
  Problem problem;
  problem.name = named.name, problem.schedule = named.schedule, problem.causal = true;
  problem.query = rowsOf(op.getQueryFeatures()), problem.key = rowsOf(op.getKeyFeatures());
  problem.query.heads = shapeOf(op.getQueryFeatures())[1], problem.key.heads = shapeOf(op.getKeyFeatures())[1];
  problem.value.width = shapeOf(op.getValue())[3];
  // A decay's gradient is the difference of sums over tokens, and weights are squares of sums that may nearly cancel: operands of 16 bits would be too few.
  problem.wide = ofDecay || areSquares(op.getKeyFeatures());
  bool inUnits = groups().inUnits(op), rotates = llvm::any_of(reads, llvm::IsaPred<attn::RopeOp, attn::RopeGradientOp>);
  tile::ScheduleAttr usual = scheduleOfChunks(named.schedule, KeySums(op), rotates, !inUnits && scansRows(problem, KeySums(op), op.divides()));
  problem.schedule = inUnits && op.getDecay() ? usual.withTiles(1, 1) : usual; // as forwards
  problem.lengths = memoryOf(KeySums(op).lengths);
  problem.split = attn::executionOf(op).split;
  DecayShares shares = ofDecay ? allocateShares(op) : DecayShares();
  TileBuilder host(site.host, site.loc);
  if (before.matrix && problem.heads() > problem.sharedHeads())
    ofHeads = StateMemory::allocate(site, {.sums = static_cast<bool>(before.sum)}, host.dim(problem.key.memory, 0), problem.heads(), before.features, before.width);
  if (isInSlices(op, *this)) {
    problem.schedule = scheduleOfChunks(named.schedule, KeySums(op), /*rotates=*/false, /*scans=*/false); // of tokens in memory
    if (failed(writeSlicedGradient(problem, named.schedule, op, ofQueries, ofKeys, shares, reads)))
      return failure();
  } else if (op.getErase()) {
    llvm::append_range(ofQueries, ofKeys);
    if (failed(writeErasingGradient(problem, op, ofQueries, shares, ofHeads, reads)))
      return failure();
  } else {
    RegionDraft draft(*this, problem, RegionPlanner::OfAll, reads);
    bool asksKeys = !ofKeys.empty() || shares || before.matrix;
    QuotientRows quotient;
    if (op.getGuard() && asksKeys)
      quotient = allocateQuotient(problem.heads(), op);
    bool asksQueries = !ofQueries.empty() || shares || quotient.divisors;
    StateMemory pieces;
    if (asksQueries && problem.split) {
      KeySums sums(op);
      Problem ofPieces = keyProblem(problem, sums.features, sums.lengths, sums.heads());
      RegionDraft keys(*this, ofPieces, RegionPlanner::OfKeys);
      pieces = allocateSpans(problem, op, sums.heads());
      if (failed(buildKernel(piecesRegion(keys, sums, pieces))))
        return failure();
    }
    if (asksQueries && failed(buildKernel(queriesRegion(draft, op, ofQueries, shares, quotient, pieces))))
      return failure();
    if (asksKeys && failed(writeKeyGradients(problem, op, ofKeys, quotient, shares, ofHeads, reads)))
      return failure();
  }
  if (ofHeads.matrix != before.matrix && failed(writeStateSums(problem, ofHeads, before)))
    return failure();
  if (!ofDecay)
    return success();
  problem.split = false;
  problem.schedule = usual;
  problem.key.heads = shapeOf(op.getDecay())[cast<RankedTensorType>(op.getDecay().getType()).getRank() == 1 ? 0 : 1];
  RegionDraft draft(*this, problem, RegionPlanner::OfAll, reads);
  if (cast<RankedTensorType>(op.getDecay().getType()).getRank() > 1)
    return buildKernel(decayRegion(draft, op, shares, ofDecay));
  // Sequences that lie end to end have states of their own: each entry is one by itself.
  Tokens ofEntries{site.workspace({ShapedType::kDynamic, problem.key.heads, 1}, host.dim(problem.key.memory, 0)), 0, problem.key.heads, 1, {}};
  if (failed(buildKernel(decayRegion(draft, op, shares, ofEntries.memory))))
    return failure();
  return buildKernel(numberSumRegion(problem, ofEntries, 1, ofDecay));
}

/// What the heads of a group have in memory, added up.
LogicalResult HostBuilder::writeHeadSums(const Problem &named, attn::SumHeadsOp op, ArrayRef<WrittenValue> outputs, OpSet reads) {
  Problem problem;
  problem.name = named.name, problem.schedule = named.schedule;
  problem.query = rowsOf(op.getSource()), problem.query.heads = shapeOf(op.getSource())[1];
  problem.key.heads = shapeOf(op.getResult())[1];
  auto gradient = dyn_cast_or_null<attn::CausalReadoutGradientOp>(reductionOf(op.getSource()));
  bool isBehindKeys = gradient && resultBehind(op.getSource(), gradient).getResultNumber() > 0;
  problem.lengths = memoryOf(isBehindKeys ? KeySums(gradient).lengths : lengthsOfRows(op.getSource(), *this));
  RegionDraft draft(*this, problem, RegionPlanner::OfQueries, std::move(reads));
  limitRows(draft);
  KernelRegion region = rowsOfSharedHeads(draft, "head_sums");
  for (const WrittenValue &each : outputs)
    storeSharedRows(region, draft, each);
  if (problem.lengths && !isBehindKeys) // of which the pass over keys leaves 0
    for (RegionOutput &each : region.outputs)
      each.source = term(terms::existing(Axis::Query), {each.source});
  return buildKernel(region);
}
