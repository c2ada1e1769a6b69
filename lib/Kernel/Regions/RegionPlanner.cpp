//===- RegionPlanner.cpp - The sources and stages of one attention ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RegionPlanner.h"

#include "Terms.h"
#include "attune/Tile/KernelSizes.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

static unsigned tokenDimension(Value memory) { return cast<MemRefType>(memory.getType()).getRank() - 2; }

std::shared_ptr<const Extents> RegionPlanner::makeExtents(Scope scope) const {
  auto result = std::make_shared<Extents>();
  auto at = [&](Axis axis) -> Extent & { return (*result)[axis]; };
  Value q = problem.query.memory, k = problem.key.memory;
  at(Axis::Batch) = {scope == OfKeys ? k : q, 0};
  at(Axis::Head).count = problem.heads();
  at(Axis::SharedHead).count = problem.sharedHeads();
  if (scope != OfKeys)
    at(Axis::Query) = {q, tokenDimension(q), 0, Value(), problem.window, problem.shortLast};
  if (scope != OfQueries)
    at(Axis::Key) = {k, tokenDimension(k), 0, problem.lengths, problem.window, problem.shortLast};
  if (problem.causal && scope == OfAll)
    at(Axis::Key).causal = Axis::Query;
  at(Axis::Value).count = problem.valueWidth();
  return result;
}

Stage RegionPlanner::all(Axis axis, int64_t step) const {
  return {axis, step, {{"all", Border::Begin, Border::End, false}}, extents};
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// A stage over the columns of x, then the bias.
Source RegionPlanner::projected(const Tokens &tokens, Axis axis, Dimension head) const {
  Value weight = tokens.projection->weight, bias = tokens.projection->bias;
  int64_t width = tokens.width, step = tile::modelTile;
  Dimension model{Axis::Model, 1, 0, 1, step}, columnsOfHead = head;
  columnsOfHead.scale = columnsOfHead.count = width;
  bool prepared = cast<MemRefType>(weight.getType()).getRank() == 3;
  Source x = fusion::memory(tokens.memory, {entryOf(Axis::Batch), rowsOf(axis), model});
  bool transposed = tokens.projection->transposed;
  Source w = prepared     ? fusion::memory(weight, {head, model, columnsOf(width)})
             : transposed ? fusion::memory(weight, {columnsOfHead, model})
                          : fusion::memory(weight, {model, columnsOfHead});
  Stage stage = all(Axis::Model, step);
  auto own = std::make_shared<Extents>(*extents);
  (*own)[Axis::Model] = {tokens.memory, 2};
  stage.extents = own;
  Source result = stream(stage, {terms::contract(axis, width, /*wide=*/false, transposed), {x, w}});
  return bias ? fusion::term(terms::addBias(axis), {result, fusion::memory(bias, {columnsOfHead})}) : result;
}

Source RegionPlanner::tokens(const Tokens &tokens, Axis axis, Axis headAxis, int64_t heads,
                             std::optional<Dimension> columns) const {
  Dimension head{headAxis, heads / tokens.heads, tokens.firstHead}, all = columnsOf(tokens.width);
  Source x = tokens.projection ? projected(tokens, axis, head)
                               : fusion::memory(tokens.memory, {entryOf(Axis::Batch), head, rowsOf(axis), columns.value_or(all)});
  for (const TokenStep &step : tokens.steps) {
    SmallVector<Source> operands{x};
    if (step.positions())
      operands.push_back(beginOf(step.positions()));
    x = term(step.kind == TokenStep::Kind::Rope ? terms::rope(axis, step)
                                                : terms::qkNorm(step.number, step.kind == TokenStep::Kind::L2),
             operands);
  }
  return x;
}

Source kernel::beginOf(Value positions) { return fusion::memory(positions, {{Axis::Batch, 1, 0, 1, 1}}); }

Stage RegionPlanner::keys(bool dearSteps, bool dearMasks) const {
  // Beside the two or three products of f32 on matrix units one mask costs next to nothing, and the second body would be half of the
  // code.
  bool gpu = problem.schedule.getTarget() == tile::TargetKind::GPU;
  bool oneLoop = gpu && !dearMasks && (problem.schedule.getOperand().isF32() || dearSteps);
  Stage stage{Axis::Key, problem.keyTile(), {{"masked", Border::Begin, Border::End, true}}, extents};
  if (!oneLoop)
    stage.segments = {{"seen", Border::Begin, Border::Seen, false}, {"rest", Border::Seen, Border::End, true}};
  return stage;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

Dimension RegionPlanner::valueColumns() const {
  return isSliced() ? Dimension{Axis::Value, 1, 0, 1, valueTile()} : columnsOf(problem.valueWidth());
}

Dimension RegionPlanner::featureColumns(int64_t width) const {
  return isSliced() ? Dimension{Axis::Feature, 1, 0, 1, featureTile(width)} : columnsOf(width);
}

Stage RegionPlanner::over(Axis axis, int64_t count, int64_t step) const {
  auto own = std::make_shared<Extents>(*extents);
  (*own)[axis].count = count;
  Stage stage = all(axis, step);
  stage.extents = own;
  return stage;
}

Source RegionPlanner::pairs(Source a, Source b, int64_t width, Representation gives, double scale, bool wide) const {
  if (!isSliced())
    return term(terms::logits(gives, scale, wide), {std::move(a), std::move(b)});
  bool scaled = scale != 1;
  auto digits = wide ? terms::Digits::Wide : terms::Digits::Operand;
  Source sums = stream(slices(width), {terms::pairs(Axis::Query, Axis::Key, scaled ? Representation::Plain : gives, digits),
                                       {std::move(a), std::move(b)}});
  return scaled ? term(terms::scale(scale, gives), {sums}) : sums;
}

Source RegionPlanner::length(Source x, Axis rows, int64_t width, bool powerOfTwo) const {
  if (isSliced())
    x = stream(slices(width), {terms::squares(rows, 1), {std::move(x)}});
  return term(terms::length(powerOfTwo), {std::move(x)});
}

void RegionPlanner::addValueSlices(KernelRegion &region) const {
  if (isSliced())
    region.grid.push_back({Axis::Value, tile::Axis::Head, valueTile()});
}

void RegionPlanner::addFeatureSlices(KernelRegion &region, int64_t count) const {
  if (!isSliced())
    return;
  auto own = std::make_shared<Extents>(*region.extents);
  (*own)[Axis::Feature].count = count;
  region.extents = own;
  region.grid.push_back({Axis::Feature, tile::Axis::Head, featureTile(count)});
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Source RegionPlanner::withLepe(Source o, const Output &output) const {
  if (!output.lepe)
    return o;
  const Lepe &lepe = *output.lepe;
  Extent extent{lepe.value.memory, tokenDimension(lepe.value.memory), 0, lepe.lengths};
  if (lepe.inWindow)
    extent.window = problem.window;
  Dimension columns = isSliced() ? valueColumns() : columnsOf(lepe.value.width);
  SmallVector<Source> operands{o, tokens(lepe.value, Axis::Key, Axis::Head, problem.heads(), columns)};
  if (lepe.bias)
    operands.push_back(fusion::memory(lepe.bias, {entryOf(Axis::Head), columns}));
  terms::Taps taps{lepe.weight, lepe.packed, columns.count, lepe.columns, lepe.inWindow, extent, isSliced()};
  return fusion::term(terms::lepe(taps), operands);
}

/// The output of a head with what comes after the attention.
Source RegionPlanner::finished(Source o, const Output &output, int64_t width) const {
  o = withLepe(o, output);
  if (!output.projection)
    return o;
  const auto &[weight, bias, transposed] = *output.projection;
  int64_t model = cast<MemRefType>(output.memory.getType()).getDimSize(2);
  Dimension rows{Axis::Head, 1, 0, width, width}, columns = columnsOf(model);
  Source w = transposed ? fusion::memory(weight, {columns, rows}) : fusion::memory(weight, {rows, columns});
  Source y = stream(all(Axis::Head, 1), {terms::contract(Axis::Query, model, /*wide=*/false, transposed), {o, w}});
  return bias ? fusion::term(terms::addBias(Axis::Query), {y, fusion::memory(bias, {columnsOf(model)})}) : y;
}

RegionOutput RegionPlanner::output(Source o, const Output &output, int64_t width, int64_t column) const {
  auto type = cast<MemRefType>(output.memory.getType());
  if (output.projection)
    return {o, output.memory, {entryOf(Axis::Batch), rowsOf(Axis::Query), columnsOf(type.getDimSize(2))}};
  RegionOutput result{o, output.memory, {entryOf(Axis::Batch), {Axis::Head, 1, output.firstHead}, rowsOf(Axis::Query)}};
  if (width)
    result.dimensions.push_back(isSliced() ? valueColumns() : columnsOf(width)), result.dimensions.back().add = column;
  else if (isSliced())
    result.alikeAlong = Axis::Value;
  return result;
}

KernelRegion RegionPlanner::region(StringRef suffix, ArrayRef<RegionOutput> outputs) const {
  GridAxis query{Axis::Query, tile::Axis::QueryBlock, problem.queryTile()};
  KernelRegion region{problem.name, suffix.str(), problem.schedule, {{Axis::Batch, tile::Axis::Batch}}, extents, {}};
  if (!problem.output.projection) {
    region.grid.push_back({Axis::Head, tile::Axis::Head});
    addValueSlices(region);
  }
  region.grid.push_back(query);
  region.outputs.assign(outputs.begin(), outputs.end());
  return region;
}

KernelRegion RegionPlanner::region(StringRef suffix, Source o) const {
  return region(suffix, output(std::move(o), problem.output, problem.valueWidth()));
}
