//===- SketchedState.cpp - The state of sketched attention ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pieces:   parallel over (batch, head, piece): block after block of the piece's keys enters every slice S_f
//   merge:    parallel over (batch, head, slice): the pieces in their order (tile-split-reduction)
//   readout:  parallel over (batch, head, query tile)
//   chunked:  parallel over (batch, head) or (batch, head, part)
//
//===----------------------------------------------------------------------===//
#include "SketchedState.h"

#include "KeyStage.h"
#include "Terms.h"
#include "attune/Kernel/SketchRules.h"
#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

bool kernel::productsOnce(const Problem &problem, const PolysketchOptions &options) {
  return problem.schedule.getTarget() == tile::TargetKind::CPU && options.form != "quadratic";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

SketchedState SketchedState::allocate(BuildSite &site, const SketchedProblem &at, Value parts) {
  TileBuilder host(site.host, site.loc);
  int64_t width = RegionPlanner(at.problem).valueTile(), slices = llvm::divideCeil(at.problem.valueWidth(), width);
  SketchedState result{{}, {}, {}, at.options.size, width, slices, productsOnce(at.problem, at.options)};
  SmallVector<Value> sizes{host.dim(at.problem.query.memory, 0)};
  SmallVector<int64_t> shape{ShapedType::kDynamic, at.problem.heads() * slices};
  if (parts)
    shape.push_back(ShapedType::kDynamic), sizes.push_back(parts);
  shape.push_back(result.slices());
  result.unit = site.workspace(shape, sizes);
  shape.push_back(result.size);
  result.sum = site.workspace(shape, sizes);
  shape.back() = result.height(), shape.push_back(result.width);
  result.matrix = site.workspace(shape, sizes);
  return result;
}

SmallVector<Dimension, 4> SketchedState::entry() const {
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(Axis::Head)};
  if (slicesOfValues > 1)
    place.back().at = Index::first(Axis::Head) * slicesOfValues + Index::first(Axis::Value) / width;
  if (part)
    place.push_back(entryOf(*part));
  return place;
}

/// The slice with this number, or that at the site.
static Dimension sliceOf(std::optional<int64_t> number = std::nullopt) {
  return number ? Dimension{std::nullopt, 1, *number} : entryOf(Axis::Slice);
}

SmallVector<Dimension, 4> SketchedState::placeOfMatrix(std::optional<int64_t> slice) const {
  SmallVector<Dimension, 4> place = entry();
  place.append({sliceOf(slice), columnsOf(height()), columnsOf(width)});
  return place;
}

SmallVector<Dimension, 4> SketchedState::placeOfRow(Index slice, Index row) const {
  SmallVector<Dimension, 4> place = entry();
  Dimension ofSlice{Axis::Slice, height()}, ofRow{Axis::Slice, 1, 0, 1, 1};
  ofRow.modulo = height(), ofSlice.at = std::move(slice), ofRow.at = std::move(row);
  place.append({ofSlice, ofRow, columnsOf(width)});
  return place;
}

SmallVector<Dimension, 4> SketchedState::placeOfSum() const {
  SmallVector<Dimension, 4> place = entry();
  place.append({columnsOf(size), columnsOf(size)});
  return place;
}

SmallVector<Dimension, 4> SketchedState::placeOfUnit(int64_t count) const {
  SmallVector<Dimension, 4> place = entry();
  place.push_back(columnsOf(count));
  return place;
}

SmallVector<RegionOutput, 1> SketchedState::write(Source slice) const {
  SmallVector<Dimension, 4> ofUnit = entry(), ofSum = entry();
  ofUnit.push_back({Axis::Slice, 1, 0, 1, 1});
  ofSum.append({entryOf(Axis::Slice), columnsOf(size)});
  return {{slice, unit, ofUnit, 0}, {slice, matrix, placeOfMatrix(), 1}, {slice, sum, ofSum, 2}};
}

Source SketchedState::read(AxisSet written) const {
  SmallVector<Source> tiles;
  for (const RegionOutput &tile : write(nullptr))
    tiles.push_back(memory(tile.memory, tile.dimensions, written));
  return term(terms::writtenState(Representation::Scaled), tiles);
}

//===----------------------------------------------------------------------===//
// Sketches with a state
//===----------------------------------------------------------------------===//

namespace {
/// The sources of sketches beside a state, of queries or keys.
class StateSources {
public:
  StateSources(const SketchedPairs &pairs, const SketchedState &state)
      : at(pairs.at), pairs(pairs), plan(pairs.plan), state(state), value(pairs.values()),
        size(at.unit.running ? sizeInUnit() : Source()) {}

  /// Outputs from the state of keys before the site.
  Source readout(AxisSet written, Source factor) const;
  /// The stage that stores the identity.
  Source clear(std::shared_ptr<const Extents> extents) const { return slices(extents, state.write(term(terms::noSquares(state.shapes()), {}))); }
  /// A stage over all slices that stores these.
  Source slices(std::shared_ptr<const Extents> extents, SmallVector<RegionOutput, 1> outputs) const;
  /// Stages that add the keys within the blocks to the state.
  SmallVector<Source, 2> update(std::shared_ptr<const Extents> extents) const;

  // Units that run along the sequence.
  /// (M_before / M_i)^p' of queries, or (M_before / M_last)^p' of the block.
  Source growthOf(Source now) const;
  Source runningAt(Position position) const;

private:
  Source entriesOf(const Sketched &of, Axis axis, std::optional<int64_t> first) const;
  Source columnOf(const Sketched &of, Axis axis) const;
  Source products(const Sketched &of, Axis axis, Source inverse) const;
  Source oppositeProducts(const Sketched &of, Axis axis, Source inverse) const;
  Source readProducts(AxisSet written, Source inverse) const;
  SmallVector<Source, 2> updateProducts(const Stage &keys) const;
  SmallVector<Source, 2> updateSlices(Stage keys) const;
  Source sizeInUnit() const;
  Source sized(Source x) const { return size ? term(terms::times(), {x, size}) : x; }
  Stage sliceStage(int64_t count, std::shared_ptr<const Extents> extents) const;

  const SketchedProblem &at;
  const SketchedPairs &pairs;
  const RegionPlanner &plan;
  const SketchedState &state;
  Source value, size; ///< of keys: v, and their length in the unit of the block, if that runs along the sequence
};
} // namespace

/// Entries f … f+r/2-1 of sketches [T, r/2], from the slice's f or from `first` on.
Source StateSources::entriesOf(const Sketched &of, Axis axis, std::optional<int64_t> first) const {
  Dimension window = columnsOf(state.height());
  first ? (void)(window.add = *first) : (void)(window.axis = Axis::Slice);
  return memory(of.tokens.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(axis), window});
}

/// Entry f of sketches [T].
Source StateSources::columnOf(const Sketched &of, Axis axis) const {
  Dimension batch = entryOf(Axis::Batch), head = entryOf(Axis::Head), rows = rowsOf(axis);
  if (!of.columns)
    return term(terms::column(), {memory(of.tokens.memory, {batch, head, rows, {Axis::Slice, 1, 0, 1, 1}})});
  rows.fromRange = true;
  return memory(of.columns, {batch, head, tileOf(axis, at.grid), entryOf(Axis::Slice), rows});
}

/// (|k_j| / M_last)^p'.
Source StateSources::sizeInUnit() const {
  Source lengths = memory(at.unit.lengths, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Key)});
  Source last = term(terms::inverse(), {pairs.atLeast(runningAt(Position::Last))});
  return term(terms::wholePower(at.half()), {term(terms::times(), {lengths, last})});
}

/// s_f (s_f, …, s_(f+r/2-1)) of rows times `inverse` [T].
Source StateSources::products(const Sketched &of, Axis axis, Source inverse) const {
  Source window = entriesOf(of, axis, std::nullopt), column = columnOf(of, axis);
  if (axis == Axis::Key)
    window = sized(window), column = sized(column);
  return term(terms::times(), {term(terms::times(), {window, inverse}), term(terms::times(), {column, inverse})});
}

/// (s_0 s_(r/2), …) of such rows.
Source StateSources::oppositeProducts(const Sketched &of, Axis axis, Source inverse) const {
  Source first = entriesOf(of, axis, 0), second = entriesOf(of, axis, state.height());
  if (axis == Axis::Key)
    first = sized(first), second = sized(second);
  return term(terms::times(), {term(terms::times(), {first, inverse}), term(terms::times(), {second, inverse})});
}

Stage StateSources::sliceStage(int64_t count, std::shared_ptr<const Extents> extents) const {
  auto own = std::make_shared<Extents>(*extents);
  (*own)[Axis::Slice] = {};
  (*own)[Axis::Slice].count = count;
  return {Axis::Slice, 1, {{"slices", Border::Begin, Border::End, false}}, own};
}

Source StateSources::slices(std::shared_ptr<const Extents> extents, SmallVector<RegionOutput, 1> outputs) const {
  return stream(sliceStage(state.slices(), std::move(extents)), {terms::nothing(), {}, std::move(outputs)});
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

Source StateSources::runningAt(Position position) const {
  Dimension token{Axis::Block, 1, 0, 1, 1};
  token.position = position;
  return memory(at.unit.running, {entryOf(Axis::Batch), entryOf(Axis::Head), token});
}

Source StateSources::growthOf(Source now) const {
  Source inverse = term(terms::inverse(), {pairs.atLeast(now)});
  return term(terms::growth(at.half()), {runningAt(Position::Before), now, inverse});
}

//===----------------------------------------------------------------------===//
// Readouts
//===----------------------------------------------------------------------===//

/// Products s_f s_g of a sketch below 2^-63 are below the range: rows are read in the unit of their largest entry.
Source StateSources::readout(AxisSet written, Source factor) const {
  Source s = plan.tokens(at.query.tokens, Axis::Query), unit = term(terms::rowScale(), {s});
  Source inverse = term(terms::inverse(), {unit}), scaled = term(terms::times(), {s, inverse});
  SmallVector<Source> sums{term(terms::times(), {unit, memory(state.unit, state.placeOfUnit(1), written)})};
  if (factor)
    sums[0] = term(terms::times(), {sums[0], factor});
  if (state.once) {
    sums.push_back(term(terms::quadratic(), {scaled, memory(state.sum, state.placeOfSum(), written)}));
    sums.push_back(readProducts(written, inverse));
  } else {
    Source a = term(terms::times(), {scaled, term(terms::times(), {columnOf(at.query, Axis::Query), inverse})});
    Source slice = state.read(written);
    Source all = stream(sliceStage(state.size, plan.extents),
                        {terms::squareReadout(state.width), {a, term(terms::select({1}), {slice}), term(terms::select({2}), {slice})}});
    sums.append({term(terms::select({0}), {all}), term(terms::select({1}), {all})});
  }
  if (Source start = pairs.start())
    sums.push_back(start);
  return term(terms::powerFrom(2), sums);
}

Source StateSources::readProducts(AxisSet written, Source inverse) const {
  Source counts = term(terms::productCounts(Axis::Query, state.height()), {});
  Source counted = term(terms::times(), {products(at.query, Axis::Query, inverse), counts});
  Source S = memory(state.matrix, state.placeOfMatrix(), written);
  Source num = stream(sliceStage(state.size, plan.extents), {terms::contract(Axis::Query, state.width, /*wide=*/true), {counted, S}});
  if (state.size == 1)
    return num;
  Source twice = term(terms::scale(2), {oppositeProducts(at.query, Axis::Query, inverse)});
  return term(terms::addProduct(), {num, twice, memory(state.matrix, state.placeOfMatrix(state.size), written)});
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

SmallVector<Source, 2> StateSources::update(std::shared_ptr<const Extents> extents) const {
  Stage keys{Axis::Key, at.grid.rows, {{"keys", Border::Begin, Border::End, /*masked=*/true}}, extents};
  return state.once ? updateProducts(keys) : updateSlices(keys);
}

/// Slice after slice reads the keys, so there are few enough for a cache.
SmallVector<Source, 2> StateSources::updateSlices(Stage keys) const {
  Source s = sized(plan.tokens(at.key.tokens, Axis::Key)), column = sized(columnOf(at.key, Axis::Key));
  keys.begin = state.read(setOf(Axis::Block));
  if (at.unit.running)
    keys.begin = term(terms::shrunk(), {keys.begin, growthOf(runningAt(Position::Last))});
  Source slice = stream(keys, {terms::squareState(state.size, state.width), {s, column, value}});
  return {slices(keys.extents, state.write(slice))};
}

/// Tile after tile enters all slices. K alone has the growth of M, and may then be below the range of units.
SmallVector<Source, 2> StateSources::updateProducts(const Stage &keys) const {
  SmallVector<Source, 2> stages;
  AxisSet written = setOf({Axis::Block, Axis::Key});
  if (at.unit.running) {
    SmallVector<RegionOutput, 1> unit{state.write(nullptr)[0]};
    Source before = memory(unit[0].memory, unit[0].dimensions, setOf(Axis::Block));
    unit[0].source = term(terms::times(), {before, growthOf(runningAt(Position::Last))});
    stages.push_back(slices(keys.extents, unit));
  }
  Source s = sized(plan.tokens(at.key.tokens, Axis::Key)), before = memory(state.unit, state.placeOfUnit(1), written);
  Source now = term(terms::atLeast(tile::leastUnit), {term(terms::largestEntry(), {s, before})});
  Source each = term(terms::inverse(), {now}), kept = term(terms::growth(2), {before, now, each});
  Source inverse = term(terms::repeated(at.grid.rows), {each}), scaled = term(terms::times(), {s, inverse});
  auto add = [&](Value to, ArrayRef<Dimension> place, Source a, Source b) {
    return RegionOutput{term(terms::addTransposed(), {memory(to, place, written), kept, a, b}), to, SmallVector<Dimension, 4>(place)};
  };
  StepForm step{terms::nothing(), {}};
  step.outputs.push_back({term(terms::repeated(state.slices()), {now}), state.unit, state.placeOfUnit(state.slices())});
  step.outputs.push_back(add(state.sum, state.placeOfSum(), scaled, scaled));
  if (state.size > 1)
    step.outputs.push_back(add(state.matrix, state.placeOfMatrix(state.size), oppositeProducts(at.key, Axis::Key, inverse), value));
  RegionOutput window = add(state.matrix, state.placeOfMatrix(), products(at.key, Axis::Key, inverse), value);
  step.effects.push_back(stream(sliceStage(state.size, keys.extents), {terms::nothing(), {}, {window}}));
  stages.push_back(stream(keys, step));
  return stages;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Blocks of `step` keys that exist, and the keys within each.
static Stage blocksOf(const RegionPlanner &plan, int64_t step, Extent extent) {
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Block] = extent;
  (*extents)[Axis::Key].causal = std::nullopt, (*extents)[Axis::Key].within = Axis::Block;
  return {Axis::Block, step, {{"blocks", Border::Begin, Border::End, /*masked=*/true}}, extents};
}

KernelRegion kernel::sketchedStateRegion(const SketchedProblem &at, const SketchedState &result) {
  SketchedPairs pairs(at);
  RegionPlanner plan(at.problem, RegionPlanner::OfKeys);
  StateSources sources(pairs, result);
  bool split = at.problem.split;
  // Tiles of keys do not leave the blocks of a causal attention.
  int64_t piece = at.problem.schedule.getPiece(), most = piece % keysOfSketchBlock == 0 ? keysOfSketchBlock : piece;
  Extent keys = (*plan.extents)[Axis::Key];
  KernelRegion region = stateKernel(plan, "pieces", Axis::Head);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = at.problem.heads();
  plan.addValueSlices(region);
  if (split) {
    (*extents)[Axis::Part] = keys, (*extents)[Axis::Part].lengths = {};
    (*extents)[Axis::Part].cuts = cutsOf(at.problem, at.grid.block);
    (*extents)[Axis::Piece].memory = result.matrix, (*extents)[Axis::Piece].dimension = 2;
    keys.ofPiece = true;
    region.grid.push_back({Axis::Piece, tile::Axis::KeyPiece});
  }
  plan.extents = region.extents = extents;
  Stage blocks = blocksOf(plan, split ? at.grid.block : most, keys);
  if (!split)
    blocks.cut = StageCut{piece, at.problem.name + "_merge", tile::RescaledSumAttr::get(region.schedule.getContext(), 2, tile::Unit::Scalar)};
  region.effects = {sources.clear(plan.extents), stream(blocks, {terms::nothing(), {}, {}, sources.update(blocks.extents)})};
  return region;
}

KernelRegion kernel::sketchedReadoutRegion(const SketchedProblem &at, const SketchedState &state) {
  SketchedPairs pairs(at);
  Source sums = StateSources(pairs, state).readout({}, nullptr);
  KernelRegion region = stateKernel(pairs.plan, "readout", Axis::Head);
  pairs.plan.addValueSlices(region);
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, at.grid.rows});
  region.outputs = {pairs.plan.output(pairs.finished(sums))};
  return region;
}

/// The tiles of queries of a block: all, or those with rows that are wanted.
static Stage queriesOf(const SketchedProblem &at, std::shared_ptr<const Extents> extents) {
  int64_t rows = at.grid.rows;
  Segment queries{"queries", Border::Begin, Border::End, /*masked=*/!at.grid.even()};
  if (at.firstRow) {
    Index block = Index::first(Axis::Block);
    queries = {"queries", block + max(at.firstRow - block, 0) / rows * rows, min(block + at.grid.block, at.endRow), /*masked=*/true};
  }
  return {Axis::Query, rows, {queries}, std::move(extents)};
}

/// What the state of parts begins with.
static Source beginOfParts(const StateSources &sources, const SketchedState &state, const SketchedState &pieces,
                           const std::shared_ptr<const Extents> &extents) {
  Stage all{Axis::Piece, 1, {{"before", Border::Begin, Border::End, false}}, extents};
  Source sum = stream(all, {terms::compose(Representation::Scaled, state.shapes(), /*squares=*/true), {pieces.read({})}});
  return sources.slices(extents, state.write(sum));
}

KernelRegion kernel::sketchedBlocksRegion(const SketchedProblem &at, const SketchedState &state, const SketchedState *pieces,
                                          bool begun, const SketchedState *left) {
  SketchedPairs pairs(at);
  RegionPlanner &plan = pairs.plan;
  KernelRegion region = stateKernel(plan, "chunked", Axis::Head);
  plan.addValueSlices(region);
  auto extents = std::make_shared<Extents>(*plan.extents);
  Extent tokens = (*extents)[Axis::Query];
  tokens.block = 0;
  (*extents)[Axis::Query].within = Axis::Block;
  if (pieces) {
    SequenceCuts cuts = cutsOf(at.problem, at.grid.block);
    (*extents)[Axis::Part] = {(*extents)[Axis::Key].memory, (*extents)[Axis::Key].dimension};
    (*extents)[Axis::Part].cuts = cuts;
    (*extents)[Axis::Piece].size = Index::first(Axis::Part) * cuts.perPart;
    tokens.ofPart = true;
    region.grid.push_back({Axis::Part, tile::Axis::KeyPiece});
  }
  plan.extents = region.extents = extents;
  StateSources sources(pairs, state);
  AxisSet written = setOf({Axis::Block, Axis::Query});
  Source before = sources.readout(written, at.unit.running ? sources.growthOf(pairs.running()) : Source());
  Source outputs =
      stream(queriesOf(at, extents), {terms::nothing(), {}, {plan.output(pairs.withOwnBlock(before, extents))}});
  Stage blocks = blocksOf(plan, at.grid.block, tokens);
  auto over = [&](Segment segment, bool enter) {
    Stage some = blocks;
    some.segments = {std::move(segment)};
    StepForm block{terms::nothing(), {}, {}, {outputs}};
    if (enter)
      llvm::append_range(block.effects, sources.update(blocks.extents));
    region.effects.push_back(stream(some, block));
  };
  if (!begun)
    region.effects.push_back(pieces ? beginOfParts(sources, state, *pieces, extents) : sources.clear(extents));
  if (!at.full) {
    over(blocks.segments.front(), /*enter=*/true);
    return region;
  }
  over({"full", Border::Begin, at.full, /*masked=*/true}, /*enter=*/true);
  if (left)
    region.effects.push_back(sources.slices(extents, left->write(state.read({}))));
  over({"rest", at.full, Border::End, /*masked=*/true}, /*enter=*/at.past);
  return region;
}
