//===- BatchSums.cpp - Sums over all tokens of a batch ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   weight_gradient:  parallel over (head, columns of it, D block)    [64, columns] = Σ_batch Σ_tokens x [T, 64]ᵀ · c [T, columns]
//   token_sum:        parallel over (head, columns of it) or (D block)    [columns] = Σ_batch Σ_tokens c [T, columns]
//
//   number_sum:       parallel over head    [1] = Σ_batch Σ_tokens x [T]
//   parameter_parts:     parallel over (batch, head, block of features, piece)    [64, d] = Σ_tokens l [T, 64]ᵀ · x [T, d], or [d] = Σ_tokens l
//   parameter_gradient:  parallel over (head of the parameter, block of features)    [64, d] = Σ_batch Σ_head of the parts
//
// Of weights one program has all tokens of its part of the weight, entry by entry: the order of sums depends on the sizes alone, and no memory has
// a part for each entry.
//
//===----------------------------------------------------------------------===//
#include "BatchSums.h"

#include "KeyStage.h"
#include "Planner/GradientRules.h"
#include "Regions.h"
#include "Terms.h"
#include "attune/Tile/KernelSizes.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

Source kernel::sumOfBatch(const RegionPlanner &plan, Source each, ArrayRef<int64_t> shape) {
  SmallVector<SmallVector<int64_t>> shapes{SmallVector<int64_t>(shape)};
  Stage batch{Axis::Batch, 1, {{"batch", Border::Begin, Border::End, false}}, plan.extents};
  return stream(batch, {terms::compose(Representation::Plain, shapes), {std::move(each)}});
}

Source kernel::sumOfHeads(const RegionPlanner &plan, Source each, int64_t count, ArrayRef<int64_t> shape) {
  SmallVector<SmallVector<int64_t>> shapes{SmallVector<int64_t>(shape)};
  return stream(membersOf(plan, Axis::SharedHead, count), {terms::compose(Representation::Plain, shapes), {std::move(each)}});
}

/// Columns of a head that a program has: all, or a part of heads that are wider than two blocks of the model.
static int64_t columnsOfHead(int64_t width) {
  constexpr int64_t most = 2 * tile::modelTile, least = most / 8;
  int64_t parts = llvm::divideCeil(width, most);
  while (width % parts != 0)
    ++parts;
  return width / parts < least ? width : width / parts;
}

namespace {
/// What a program has of the columns of heads, or of a model, and of tokens.
struct BatchSums {
  BatchSums(const Problem &problem) : plan(problem, RegionPlanner::OfKeys) {}

  void countHeads(const Tokens &heads) {
    Extents own = *plan.extents;
    own[Axis::Head].count = heads.heads, own[Axis::Value].count = heads.width;
    plan.extents = std::make_shared<Extents>(own);
    columns = columnsOfHead(heads.width);
    grid.push_back({Axis::Head, tile::Axis::Head});
    grid.push_back({Axis::Value, tile::Axis::Head, columns});
  }
  void countModel(Value model) {
    Extents own = *plan.extents;
    own[Axis::Model] = {model, 2};
    plan.extents = std::make_shared<Extents>(own);
    grid.push_back({Axis::Model, tile::Axis::ValueBlock, tile::modelTile});
  }

  Source tokens(const Tokens &heads) const {
    return plan.tokens(heads, Axis::Key, Axis::Head, heads.heads, Dimension{Axis::Value, 1, 0, 1, columns});
  }
  static Source tokens(Value model) { return fusion::memory(model, {entryOf(Axis::Batch), rowsOf(Axis::Key), modelColumns()}); }
  static Dimension modelColumns() { return {Axis::Model, 1, 0, 1, tile::modelTile}; }
  /// The columns of heads side by side.
  Dimension columnsOfHeads(int64_t width) const {
    Dimension place{Axis::Head, 1, 0, width, columns};
    if (columns < width)
      place.at = Index::first(Axis::Head) * width + Index::first(Axis::Value);
    return place;
  }

  /// What a stage over the tokens of an entry carries, summed up over entries.
  Source sums(StepForm form, ArrayRef<int64_t> shape) const {
    Stage tokens{Axis::Key, plan.problem.keyTile(), {{"tokens", Border::Begin, Border::End, false}}, plan.extents};
    return sumOfBatch(plan, stream(tokens, std::move(form)), shape);
  }

  KernelRegion region(StringRef suffix, Source sums, Value memory, ArrayRef<Dimension> place) const {
    KernelRegion region{plan.problem.name, suffix.str(), plan.problem.schedule, {}, plan.extents, {}};
    region.grid.assign(grid.begin(), grid.end());
    region.outputs = {{std::move(sums), memory, SmallVector<Dimension, 4>(place)}};
    return region;
  }

  RegionPlanner plan;
  int64_t columns = 0; ///< of a head, which a program has
  SmallVector<GridAxis, 3> grid;
};
} // namespace

KernelRegion kernel::weightGradientRegion(const Problem &problem, const Tokens &heads, Value model, Value weight, bool output) {
  BatchSums sums(problem);
  sums.countHeads(heads), sums.countModel(model);
  Source c = sums.tokens(heads), x = sums.tokens(model);
  bool wide = needsWideProducts(problem);
  Dimension ofHeads = sums.columnsOfHeads(heads.width), ofModel = sums.modelColumns();
  int64_t a = output ? sums.columns : ofModel.count, b = output ? ofModel.count : sums.columns;
  // A token that the other factor leaves out may hold anything.
  SmallVector<Source> factors = output ? SmallVector<Source>{term(terms::unlessZeroRows(), {c, x}), x}
                                       : SmallVector<Source>{term(terms::unlessZeroRows(), {x, c}), c};
  Source all = sums.sums({terms::featureSums({a}, b, wide, /*withSums=*/false), factors}, {a, b});
  return sums.region("weight_gradient", all, weight, output ? ArrayRef{ofHeads, ofModel} : ArrayRef{ofModel, ofHeads});
}

KernelRegion kernel::tokenSumRegion(const Problem &problem, const Tokens &heads, Value result) {
  BatchSums sums(problem);
  sums.countHeads(heads);
  Source all = sums.sums({terms::tokenSum(sums.columns), {sums.tokens(heads)}}, {sums.columns});
  return sums.region("token_sum", all, result, sums.columnsOfHeads(heads.width));
}

KernelRegion kernel::tokenSumRegion(const Problem &problem, Value model, Value result) {
  BatchSums sums(problem);
  sums.countModel(model);
  Source all = sums.sums({terms::tokenSum(tile::modelTile), {sums.tokens(model)}}, {tile::modelTile});
  return sums.region("token_sum", all, result, sums.modelColumns());
}

KernelRegion kernel::partsOfParameterRegion(const Problem &problem, const Tokens &rows, Source tokens, Value parts, int64_t width) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  Stage keys = existingKeys(plan);
  keys.cut = StageCut{problem.schedule.getPiece(), problem.name + "_parts_merge"};
  KernelRegion region = stateKernel(plan, "parameter_parts");
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(Axis::Head)};
  if (!tokens) {
    Source sums = stream(keys, {terms::tokenSum(width), {plan.tokens(rows, Axis::Key, Axis::Head, rows.heads)}});
    place.push_back(columnsOf(width));
    region.outputs = {{sums, parts, place}};
    return region;
  }
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Feature].count = rows.width;
  region.extents = extents;
  Dimension features{Axis::Feature, 1, 0, 1, std::min(rows.width, tile::modelTile)};
  region.grid.push_back({Axis::Feature, tile::Axis::Head, features.count});
  Source l = plan.tokens(rows, Axis::Key, Axis::Head, rows.heads, features);
  bool wide = needsWideProducts(problem);
  Source sums = stream(keys, {terms::featureSums({features.count}, width, wide, /*withSums=*/false), {l, std::move(tokens)}});
  llvm::append_range(place, ArrayRef{features, columnsOf(width)});
  region.outputs = {{sums, parts, place}};
  return region;
}

KernelRegion kernel::parameterGradientRegion(const Problem &problem, ArrayRef<Value> parts, Value parameter) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  ArrayRef<int64_t> shape = cast<MemRefType>(parameter.getType()).getShape(); // [W, d] or [W, m, d]
  bool ofFeatures = shape.size() == 3;
  Extents extents = *plan.extents;
  extents[Axis::Batch] = {parts.front(), 0}, extents[Axis::SharedHead].count = shape[0];
  if (ofFeatures)
    extents[Axis::Feature].count = shape[1];
  plan.extents = std::make_shared<Extents>(extents);
  SmallVector<Dimension, 2> own{columnsOf(shape.back())};
  SmallVector<int64_t, 2> sizes{shape.back()};
  GridAxis head{Axis::SharedHead, tile::Axis::Head};
  KernelRegion region{problem.name, "parameter_gradient", problem.schedule, {head}, plan.extents, {}};
  if (ofFeatures) {
    Dimension features{Axis::Feature, 1, 0, 1, std::min(shape[1], tile::modelTile)};
    own.insert(own.begin(), features), sizes.insert(sizes.begin(), features.count);
    region.grid.push_back({Axis::Feature, tile::Axis::Head, features.count});
  }
  Source all;
  for (Value part : parts) {
    SmallVector<Dimension> place{entryOf(Axis::Batch), entryOf(Axis::Head)};
    llvm::append_range(place, own);
    int64_t heads = cast<MemRefType>(part.getType()).getDimSize(1);
    Source sums = sumOfBatch(plan, sumOfHeads(plan, fusion::memory(part, place), heads / shape[0], sizes), sizes);
    all = all ? term(terms::plus(), {all, sums}) : sums;
  }
  SmallVector<Dimension, 4> place{entryOf(Axis::SharedHead)};
  llvm::append_range(place, own);
  region.outputs = {{all, parameter, place}};
  return region;
}

KernelRegion kernel::numberSumRegion(const Problem &problem, const Tokens &numbers, double factor, Value result) {
  BatchSums sums(problem);
  Extents own = *sums.plan.extents;
  own[Axis::Head].count = numbers.heads;
  own[Axis::Batch] = {numbers.memory, 0}, own[Axis::Key] = {numbers.memory, 2};
  sums.plan.extents = std::make_shared<Extents>(own);
  sums.grid.push_back({Axis::Head, tile::Axis::Head});
  Source x = fusion::memory(numbers.memory, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Key)});
  Source all = sums.sums({terms::rowTotals(1, 1), {x}}, {1});
  return sums.region("number_sum", term(terms::scale(factor), {all}), result, Dimension{Axis::Head, 1, 0, 1, 1});
}
