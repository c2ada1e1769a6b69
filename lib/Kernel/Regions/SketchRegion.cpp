//===- SketchRegion.cpp - Sketches of tokens --------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   matrix:  parallel over (head)                       M [rows, r] = sign_i · (−1)^popcount(i & index_c)
//   largest: parallel over (batch, head)                K = max_j |k_j|
//   running: parallel over (batch, head)                M_i = max_{j ≤ i} |k_j|, and |k_j|
//   sketch:  parallel over (batch, head, token block)   S = the root of the tree over x̂ · |x|^p'
//   sketch_gradient: the same                           x̄ = |x|^(p'−1) J(x̂)ᵀ S̄ of the tree's derivative J
//
// The token is divided by its norm before the products and multiplied by a power of the norm after them: a sketch of degree
// p' is homogeneous, and the products of a tree overflow before their result does. From p' = 8 on that power overflows
// too, so keys are taken in the unit K; weights are relative to the largest of their row anyway. If causal a later key would
// set the unit of earlier rows, which have units M_i of their own instead.
//
//===----------------------------------------------------------------------===//
#include "SketchRegion.h"

#include "KeyStage.h"
#include "Terms.h"
#include "attune/Kernel/SketchRules.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

static int64_t sizeOf(Value memory, unsigned dimension) { return cast<MemRefType>(memory.getType()).getDimSize(dimension); }

bool SketchMatrices::hasPairs() const { return sketchHasPairs(sizeOf(leaves[0], 1), degree(), sizeOf(leaves[0], 2)); }

KernelRegion kernel::signMatrixRegion(const Problem &problem, Value sign, Value index, Value matrix) {
  auto extents = std::make_shared<Extents>();
  (*extents)[Axis::Head] = {matrix, 0};
  Dimension rows = columnsOf(sizeOf(matrix, 1)), columns = columnsOf(sizeOf(matrix, 2));
  Source signs = memory(sign, {entryOf(Axis::Head), rows}), indices = memory(index, {entryOf(Axis::Head), columns});
  KernelRegion region{problem.name, "matrix", problem.schedule, {{Axis::Head, tile::Axis::Head}}, extents, {}};
  region.outputs = {{term(terms::signMatrix(), {signs, indices}), matrix, {entryOf(Axis::Head), rows, columns}}};
  return region;
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

KernelRegion kernel::largestKeyRegion(const Problem &problem, const KeyUnit &unit) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  Source x = plan.columns(problem.key, Axis::Key);
  Source norms = plan.length(x, Axis::Key, problem.key.width, /*powerOfTwo=*/false);
  Source largest = stream(existingKeys(plan), {terms::maximum(1, 0), {term(terms::largestRow(), {norms})}});
  KernelRegion region = stateKernel(plan, "largest", Axis::Head);
  Dimension one{Axis::Head, 1, 0, 1, 1};
  region.outputs = {{term(terms::atLeast(leastLength), {largest}), unit.largest, {entryOf(Axis::Batch), one}}};
  return region;
}

KernelRegion kernel::runningUnitRegion(const Problem &problem, const SketchMatrices &matrices, const KeyUnit &unit, Source given) {
  RegionPlanner plan(problem);
  auto before = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source x = plan.columns(problem.key, Axis::Key);
  Source lengths = plan.length(x, Axis::Key, problem.key.width, matrices.hasPairs());
  Stage tokens{Axis::Query, problem.keyTile(), {{"all", Border::Begin, Border::End, false}}, plan.extents};
  tokens.together = Axis::Key, tokens.state = before, tokens.begin = given;
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query)};
  StepForm step{terms::maximum(1, leastLength), {term(terms::largestRow(), {lengths})}};
  step.outputs.push_back({lengths, unit.lengths, place});
  Dimension last = columnsOf(1);
  last.at = Index::size(problem.query.memory, cast<MemRefType>(problem.query.memory.getType()).getRank() - 2);
  if (given)
    place.back().limit = last.at;
  step.outputs.push_back({term(terms::prefixMaximum(), {lengths, before}), unit.running, place});
  KernelRegion region = stateKernel(plan, "running", Axis::Head);
  region.effects = {stream(tokens, step)};
  if (!given)
    return region;
  region.outputs = {{given, unit.running, {entryOf(Axis::Batch), entryOf(Axis::Head), last}}};
  return region;
}

//===----------------------------------------------------------------------===//
// Sketches
//===----------------------------------------------------------------------===//

/// The tree over x / length, of which a tile may have some columns. Divided by it, not multiplied by its inverse: one channel gives ±1
/// exactly.
static Source treeOver(const RegionPlanner &plan, const SketchMatrices &matrices, Source x, Source length) {
  Source direction = term(terms::over(), {x, term(terms::atLeast(leastLength), {length})});
  int64_t width = sizeOf(matrices.leaves[0], 1), size = sizeOf(matrices.leaves[0], 2);
  bool pairs = matrices.hasPairs();
  SmallVector<Source> operands;
  for (Value matrix : matrices.leaves) {
    Source m = memory(matrix, {entryOf(Axis::Head), plan.featureColumns(width), columnsOf(size)});
    operands.push_back(plan.isSliced() ? stream(plan.slices(width), {terms::sketchLeaves(Axis::Query, width, size, pairs), {direction, m}})
                                       : term(terms::sketchLeaf(width, pairs), {direction, m}));
  }
  for (Value matrix : matrices.nodes)
    operands.push_back(memory(matrix, {entryOf(Axis::Head), columnsOf(size), columnsOf(size)}));
  return term(terms::sketchTree(matrices.degree(), matrices.hasPairs()), operands);
}

/// Stores of s [T, r]. Entries past the end of a memory are dropped: of a sketch that follows itself only half is kept.
static void store(KernelRegion &region, Source s, const Sketched &result) {
  int64_t size = result.tokens.width;
  Dimension batch = entryOf(Axis::Batch), head = entryOf(Axis::Head), columns = columnsOf(size);
  region.outputs.push_back({s, result.tokens.memory, {batch, head, rowsOf(Axis::Query), columns}});
  if (!result.columns)
    return;
  columns.add = size;
  if (size > 1) // of windows that pass the end
    region.outputs.push_back({s, result.tokens.memory, {batch, head, rowsOf(Axis::Query), columns}});
  Dimension entries = columnsOf(size), rows = columnsOf(result.grid.rows);
  region.outputs.push_back({term(terms::transposed(), {s}), result.columns, {batch, head, tileOf(Axis::Query, result.grid), entries, rows}});
}

KernelRegion kernel::sketchRegion(const Problem &problem, const Tokens &tokens, const SketchMatrices &matrices, double scale,
                                  const KeyUnit &unit, const Sketched &result) {
  Problem own = problem;
  own.query = tokens;
  RegionPlanner plan(own, RegionPlanner::OfQueries);
  auto extents = std::make_shared<Extents>(*plan.extents);
  int64_t heads = result.tokens.heads;
  (*extents)[Axis::Head].count = heads, (*extents)[Axis::Query].block = result.grid.block;
  plan.extents = extents;
  Source x = plan.tokens(tokens, Axis::Query, Axis::Head, heads, plan.featureColumns(tokens.width));
  Source norm = plan.length(x, Axis::Query, tokens.width, matrices.hasPairs());
  Source s = treeOver(plan, matrices, x, norm), length = term(terms::scale(scale), {norm});
  if (unit.largest) {
    Source largest = memory(unit.largest, {entryOf(Axis::Batch), {Axis::Head, 1, 0, 1, 1}});
    length = term(result.lengths ? terms::times() : terms::over(), {length, largest});
  }
  KernelRegion region = stateKernel(plan, "sketch", Axis::Head);
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, result.grid.rows});
  if (!result.lengths && !unit.running)
    s = term(terms::times(), {s, term(terms::atMost(0x1p120), {term(terms::wholePower(matrices.degree()), {length})})});
  store(region, s, result);
  if (result.lengths)
    region.outputs.push_back({length, result.lengths, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query)}});
  return region;
}

KernelRegion kernel::sketchGradientRegion(const Problem &problem, const Tokens &tokens, const Tokens &cotangent, const SketchMatrices &matrices,
                                          double scale, const Tokens &result) {
  Problem own = problem;
  own.query = tokens;
  RegionPlanner plan(own, RegionPlanner::OfQueries);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = result.heads;
  plan.extents = extents;
  auto rowsOfTokens = [&](const Tokens &each) { return plan.tokens(each, Axis::Query, Axis::Head, result.heads, columnsOf(each.width)); };
  Source root = rowsOfTokens(cotangent), x = term(terms::unlessZeroRows(), {rowsOfTokens(tokens), root});
  Source length = term(terms::atLeast(leastLength), {term(terms::length(/*powerOfTwo=*/true), {x})});
  int64_t size = sizeOf(matrices.leaves[0], 2);
  SmallVector<Source> operands{term(terms::over(), {x, length}), root};
  for (Value matrix : matrices.leaves)
    operands.push_back(memory(matrix, {entryOf(Axis::Head), columnsOf(tokens.width), columnsOf(size)}));
  for (Value matrix : matrices.nodes)
    operands.push_back(memory(matrix, {entryOf(Axis::Head), columnsOf(size), columnsOf(size)}));
  Source gradient = term(terms::sketchTreeGradient(matrices.degree()), operands);
  if (scale != 1)
    length = term(terms::scale(scale), {length}), gradient = term(terms::scale(scale), {gradient});
  if (matrices.degree() > 1)
    gradient = term(terms::times(), {gradient, term(terms::atMost(0x1p120), {term(terms::wholePower(matrices.degree() - 1), {length})})});
  KernelRegion region = stateKernel(plan, "sketch_gradient", Axis::Head);
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, problem.queryTile()});
  region.outputs = {{gradient, result.memory, {entryOf(Axis::Batch), {Axis::Head, 1, result.firstHead}, rowsOf(Axis::Query), columnsOf(result.width)}}};
  return region;
}
