//===- ProjectionRegion.cpp - Projections with kernels of their own ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   projection:         parallel over (batch, head, token block)      [T, width] = Σ_D x [T, D] · W [D, width of the head]
//   output projection:  parallel over (batch, token block, D block)   [T, 64] = Σ_head o [T, dv] · W [dv of the head, 64], of one or the sum of
//                                                                               several
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

/// The columns of the model at the site; of packed weights [blocks of columns, heads · width, 64] the grid counts blocks.
static Dimension modelColumns(bool packed) { return {Axis::Model, 1, 0, packed ? tile::modelTile : 1, tile::modelTile}; }

static bool isPacked(Value weight) { return cast<MemRefType>(weight.getType()).getRank() == 3; }

Source kernel::projectedHeads(const RegionPlanner &plan, const Tokens &source, bool areSums, const OutputProjection &projection) {
  const auto &[weight, bias, transposed] = projection;
  int64_t width = source.width, block = tile::modelTile;
  // A loop over rows of packed weights, so that a product fetches the rows of the next one.
  bool packed = isPacked(weight);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = source.heads * (packed ? width : 1);
  Dimension columns = modelColumns(packed), rows{Axis::Head, 1, 0, packed ? 1 : width, width};
  Source o = plan.tokens(source, Axis::Query, Axis::Head, (*extents)[Axis::Head].count);
  Source w = packed       ? fusion::memory(weight, {entryOf(Axis::Model), rows, columnsOf(block)})
             : transposed ? fusion::memory(weight, {columns, rows})
                          : fusion::memory(weight, {rows, columns});
  Stage heads{Axis::Head, packed ? width : 1, {{"all", Border::Begin, Border::End, false}}, extents};
  bool wide = areSums && needsWideProducts(plan.problem);
  Source y = stream(heads, {terms::contract(Axis::Query, block, wide, transposed), {o, w}});
  return bias ? term(terms::addBias(Axis::Query), {y, fusion::memory(bias, {columns})}) : y;
}

KernelRegion kernel::outputProjectionRegion(const Problem &problem, Value packed, llvm::function_ref<Source(const RegionPlanner &)> rows) {
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  Value result = problem.output.memory;
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Model] = packed ? Extent{packed, 0} : Extent{result, 2};
  plan.extents = extents;
  GridAxis batch{Axis::Batch, tile::Axis::Batch}, tokens{Axis::Query, tile::Axis::QueryBlock, problem.queryTile()};
  GridAxis blocks{Axis::Model, tile::Axis::ValueBlock, packed ? 1 : tile::modelTile};
  KernelRegion region{problem.name, "project_output", problem.schedule, {batch, tokens, blocks}, extents, {}};
  region.outputs = {{rows(plan), result, {entryOf(Axis::Batch), rowsOf(Axis::Query), modelColumns(static_cast<bool>(packed))}}};
  return region;
}
