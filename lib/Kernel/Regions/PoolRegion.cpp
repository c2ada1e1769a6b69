//===- PoolRegion.cpp - The mean of equal runs of tokens ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pool:    parallel over (batch, head, run)   result [d] = Σ_{t in the run} x_t / the run's length
//   unpool:  the same                           x̄_t = ȳ [d] / the run's length of each of its tokens t
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

namespace {
/// The tokens of run number `first(Axis::Query)`, of as many as there are rows.
struct Runs {
  Runs(const Problem &problem, const Tokens &tokens, const Tokens &rows)
      : plan(problem, RegionPlanner::OfQueries), length(Index::size(tokens.memory, 2) / Index::size(rows.memory, 2)),
        from(Index::first(Axis::Query) * length) {
    auto extents = std::make_shared<Extents>(*plan.extents);
    (*extents)[Axis::Query] = {rows.memory, 2};
    plan.extents = extents;
  }

  Stage tokens() const {
    return {Axis::Key, plan.problem.schedule.getKeyTile(), {{"run", from, from + length, /*masked=*/true}}, plan.extents};
  }
  /// Of no tokens at all a mean is 0, as their sum is.
  Source number() const { return fusion::number(max(length, 1)); }
  KernelRegion region(StringRef suffix) const {
    GridAxis batch{Axis::Batch, tile::Axis::Batch}, head{Axis::Head, tile::Axis::Head}, run{Axis::Query, tile::Axis::QueryBlock};
    return {plan.problem.name, suffix.str(), plan.problem.schedule, {batch, head, run}, plan.extents, {}};
  }

  RegionPlanner plan;
  Index length, from;
};
} // namespace

KernelRegion kernel::poolRegion(const Problem &problem, const Tokens &result) {
  Runs runs(problem, problem.query, result);
  Source sum = stream(runs.tokens(), {terms::tokenSum(result.width), {runs.plan.tokens(problem.query, Axis::Key)}});
  KernelRegion region = runs.region("pool");
  region.outputs = {{term(terms::mean(), {sum, runs.number()}), result.memory,
                     {entryOf(Axis::Batch), entryOf(Axis::Head), Dimension{Axis::Query, 1, 0, 1, 1}, columnsOf(result.width)}}};
  return region;
}

KernelRegion kernel::unpoolRegion(const Problem &problem, const Tokens &result) {
  Runs runs(problem, result, problem.query);
  SmallVector<Dimension, 4> row{entryOf(Axis::Batch), entryOf(Axis::Head), entryOf(Axis::Query), columnsOf(result.width)};
  Source share = term(terms::over(), {fusion::memory(problem.query.memory, row), runs.number()});     // [d]
  Dimension tokens = rowsOf(Axis::Key);
  tokens.limit = runs.from + runs.length;
  StepForm step{terms::nothing(), {}};
  step.outputs.push_back({term(terms::overRows(Axis::Key), {share}), result.memory,
                          {entryOf(Axis::Batch), entryOf(Axis::Head), tokens, columnsOf(result.width)}});
  KernelRegion region = runs.region("unpool");
  region.effects = {stream(runs.tokens(), step)};
  return region;
}
