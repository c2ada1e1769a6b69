//===- PoolRegion.cpp - The mean of equal runs of tokens ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, run):  result [d] = Σ_{t in the run} x_t / the run's length
//
//===----------------------------------------------------------------------===//
#include "RegionPlanner.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

KernelRegion kernel::poolRegion(const Problem &problem, const Tokens &result) {
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  auto extents = std::make_shared<Extents>(*plan.extents);
  int64_t runs = cast<MemRefType>(result.memory.getType()).getDimSize(2);
  Index length = Index::size(problem.query.memory, 2) / runs, from = Index::first(Axis::Query) * length;
  (*extents)[Axis::Query] = {Value(), 0, runs};
  Stage tokens{Axis::Key, problem.schedule.getKeyTile(), {{"run", from, from + length, /*masked=*/true}}, extents};
  Source sum = stream(tokens, {terms::tokenSum(result.width), {plan.tokens(problem.query, Axis::Key)}});
  GridAxis batch{Axis::Batch, tile::Axis::Batch}, head{Axis::Head, tile::Axis::Head}, run{Axis::Query, tile::Axis::QueryBlock};
  KernelRegion region{problem.name, "pool", problem.schedule, {batch, head, run}, extents, {}};
  Dimension row{Axis::Query, 1, 0, 1, 1};
  // Of no tokens at all the mean is 0, as the sum is.
  region.outputs = {{term(terms::mean(), {sum, number(max(length, 1))}), result.memory,
                     {entryOf(Axis::Batch), entryOf(Axis::Head), row, columnsOf(result.width)}}};
  return region;
}
