//===- ProjectionRegion.cpp - Projections with kernels of their own ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   projection:         parallel over (batch, head, token block)      [T, width] = Σ_D x [T, D] · W [D, width of the head]
//   output projection:  parallel over (batch, token block, D block)   [T, 64] = Σ_head o [T, dv] · W [dv of the head, 64]
//
//===----------------------------------------------------------------------===//
#include "RegionPlanner.h"
#include "Regions.h"
#include "Terms.h"
#include "attune/Tile/KernelSizes.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

KernelRegion kernel::projectionRegion(const Problem &problem) {
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  return plan.region("project", plan.tokens(problem.query, Axis::Query));
}

KernelRegion kernel::outputProjectionRegion(const Problem &problem, bool areSums, const OutputProjection &projection) {
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  const Tokens &source = problem.query;
  Value weight = projection.weight, result = problem.output.memory;
  int64_t width = source.width, block = tile::modelTile;
  // A loop over rows of packed weights, so that a product fetches the rows of the next one.
  bool packed = cast<MemRefType>(weight.getType()).getRank() == 3;
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = source.heads * (packed ? width : 1);
  if (packed) // [blocks of columns, heads · width, 64]
    (*extents)[Axis::Model] = {weight, 0};
  else
    (*extents)[Axis::Model] = {result, 2};
  plan.extents = extents;
  Dimension columns{Axis::Model, 1, 0, packed ? block : 1, block}, rows{Axis::Head, 1, 0, packed ? 1 : width, width};
  Source o = plan.tokens(source, Axis::Query, Axis::Head, (*extents)[Axis::Head].count);
  Source w = packed ? fusion::memory(weight, {entryOf(Axis::Model), rows, columnsOf(block)})
                    : fusion::memory(weight, {rows, columns});
  Stage heads{Axis::Head, packed ? width : 1, {{"all", Border::Begin, Border::End, false}}, extents};
  bool wide = areSums && needsWideProducts(problem);
  Source y = stream(heads, {terms::contract(Axis::Query, block, wide), {o, w}});
  if (projection.bias)
    y = term(terms::addBias(Axis::Query), {y, fusion::memory(projection.bias, {columns})});
  GridAxis batch{Axis::Batch, tile::Axis::Batch}, tokens{Axis::Query, tile::Axis::QueryBlock, problem.queryTile()};
  GridAxis blocks{Axis::Model, tile::Axis::ValueBlock, packed ? 1 : block};
  KernelRegion region{problem.name, "project_output", problem.schedule, {batch, tokens, blocks}, extents, {}};
  region.outputs = {{y, result, {entryOf(Axis::Batch), rowsOf(Axis::Query), columns}}};
  return region;
}
