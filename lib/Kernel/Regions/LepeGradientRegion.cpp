//===- LepeGradientRegion.cpp - Gradients of a positional encoding ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   lepe_values:      parallel over (batch, head of the values, token block)    v̄ [T, dv] = Σ_head of the group Σ_δ w_δ ⊙ ȳ_{t − δ}
//   lepe_parameters:  parallel over (head, channels)    w̄_δ [channels] = Σ_batch Σ_t ȳ_t ⊙ v_{t + δ}, bias̄ [channels] = Σ_batch Σ_t ȳ_t
//
// Of parameters a program has all tokens of its channels, entry by entry: the order of sums depends on the sizes alone.
//
//===----------------------------------------------------------------------===//
#include "LepeGradientRegion.h"

#include "KeyStage.h"
#include "Planner/GradientRules.h"
#include "RegionPlanner.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

KernelRegion kernel::lepeValuesRegion(const Problem &problem, const LepeGradient &lepe, const Tokens &result, bool adds) {
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  int64_t width = result.width, members = lepe.cotangent.heads / result.heads, rows = problem.queryTile();
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = lepe.cotangent.heads, (*extents)[Axis::SharedHead].count = result.heads;
  plan.extents = extents;
  Axis head = members == 1 ? Axis::Head : Axis::SharedHead;
  terms::Taps taps{lepe.weight, lepe.packed, width, std::nullopt, false, {}, false};
  Source given = plan.tokens(lepe.cotangent, Axis::Key, Axis::Head, lepe.cotangent.heads);
  Source values = term(terms::lepeValues(taps, lepe.lattice), {given});
  if (members > 1)
    values = stream(membersOf(plan, head, members), {terms::compose(Representation::Plain, {{rows, width}}), {values}});
  if (lepe.lengths)
    values = term(terms::rowsBefore(Axis::Query, Index::length(lepe.lengths, Index::size(problem.query.memory, 2))), {values});
  KernelRegion region = stateKernel(plan, "lepe_values", head);
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, rows});
  region.outputs = {storeOrAdd(values, result.memory, {entryOf(Axis::Batch), {head, 1, result.firstHead}, rowsOf(Axis::Query), columnsOf(width)}, adds)};
  return region;
}

KernelRegion kernel::lepeParametersRegion(const Problem &problem, const LepeGradient &lepe, const Tokens &value, Value weight, Value bias) {
  constexpr int64_t most = 32; // channels of a program: the sums of 9 taps stay in registers
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  int64_t width = value.width, channels = width % most == 0 ? most : width, heads = lepe.cotangent.heads;
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = heads, (*extents)[Axis::Value].count = width;
  plan.extents = extents;
  Dimension columns{Axis::Value, 1, 0, 1, channels};
  Source given = plan.tokens(lepe.cotangent, Axis::Query, Axis::Head, heads, columns), v = plan.tokens(value, Axis::Key, Axis::Head, heads, columns);
  Extent values{value.memory, 2, 0, lepe.lengths};
  Stage tokens{Axis::Query, problem.queryTile(), {{"tokens", Border::Begin, Border::End, false}}, extents};
  Stage batch{Axis::Batch, 1, {{"batch", Border::Begin, Border::End, false}}, extents};
  Source each = stream(tokens, {terms::lepeProducts(channels, lepe.lattice, values), {given, v}});
  SmallVector<SmallVector<int64_t>> shapes = lepe.lattice.shapes(channels);
  Source sums = stream(batch, {terms::compose(Representation::Plain, shapes), {each}});
  KernelRegion region{problem.name, "lepe_parameters", problem.schedule, {}, extents, {}};
  region.grid = {{Axis::Head, tile::Axis::Head}, {Axis::Value, tile::Axis::Head, channels}};
  auto taps = static_cast<unsigned>(shapes.size() - 1);
  for (unsigned tap = 0; weight && tap < taps; ++tap)
    region.outputs.push_back({sums, weight, {entryOf(Axis::Head), columns, {std::nullopt, 1, tap, 1, 1}}, tap});
  if (bias)
    region.outputs.push_back({sums, bias, {entryOf(Axis::Head), columns}, taps});
  return region;
}
