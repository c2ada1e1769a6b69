//===- KeyState.cpp - The state of keys and what reads it -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state:        parallel over (batch, head of the state, piece of the keys)    S = φ(K)ᵀ V, z = φ(K)ᵀ 1 over the keys of the piece
//                 composed by the last point, or by a kernel of its own (tile-split-reduction)
//   readout:      parallel over (batch, head, query block)                       o = φ(q) S / guard(φ(q) z)
//   fused_state:  parallel over (batch, head of the state)                       S, z over all keys;
//                   for each query head of the group, for each query tile:       o = φ(q) S / guard(φ(q) z)
//
// A piece has a fixed number of keys, so the order of sums depends on N alone. Fused there is one launch and no workspace, and the
// state never leaves the core; in return a head is the work of one grid point.
//
// Of exponents, S and z are in units 2^M of each feature, and the readout in a unit of each row:
//
//   c = max_f L(q) + M;   a = g(q) 2^(L(q) + M − c);   o = a S / guard(a z)
//
// Some feature has a = g, and its z counts its largest key as g: the denominator is about 1 at least.
//
//===----------------------------------------------------------------------===//
#include "KeyState.h"

#include "FeatureMaps.h"
#include "FeatureSources.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

KeyState::KeyState(const Problem &problem, const FeatureMap &map, bool exponents)
    : problem(problem), map(map), exponents(exponents), count(parameterHeads(problem, map)),
      head(count == problem.heads() ? Axis::Head : Axis::SharedHead) {}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static SmallVector<int64_t, 2> widthsOf(const FeatureMap &map, bool exponents) {
  return exponents ? SmallVector<int64_t, 2>{map.features} : featureWidths(map);
}

StateMemory KeyState::allocate(BuildSite &site, Value pieces) const {
  TileBuilder host(site.host, site.loc);
  Value batch = host.dim(problem.key.memory, 0);
  return StateMemory::allocate(site, exponents, batch, count, widthsOf(map, exponents), problem.valueWidth(), pieces);
}

StateMemory KeyState::memoryOf(Value matrix, Value sum) const {
  return {matrix, sum, Value(), widthsOf(map, exponents), problem.valueWidth()};
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

Stage kernel::existingKeys(const RegionPlanner &plan) {
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Key].causal = std::nullopt;
  return {Axis::Key, plan.problem.keyTile(), {{"keys", Border::Begin, Border::End, /*masked=*/true}}, extents};
}

Source kernel::stateOfExponents(Stage keys, Source l, Source v, int64_t features, int64_t width, bool wide) {
  auto unit = std::make_shared<BoundSource>("unit", Axis::Key, Representation::Plain);
  keys.unit = unit;
  Source b = term(terms::inUnit(), {l, unit});
  return stream(keys, {terms::state(features, width, wide), {b, v, l}});
}

KernelRegion kernel::stateKernel(const RegionPlanner &plan, StringRef suffix, Axis head) {
  const Problem &problem = plan.problem;
  GridAxis batch{Axis::Batch, tile::Axis::Batch};
  return {problem.name, suffix.str(), problem.schedule, {batch, {head, tile::Axis::Head}}, plan.extents, {}};
}

Source KeyState::over(const RegionPlanner &plan, Stage keys) const {
  FeatureSources features(plan, map, head, count);
  int64_t width = problem.valueWidth();
  bool wide = needsWideProducts(problem);
  Source v = plan.tokens(problem.value, Axis::Key, head, count);
  if (exponents)
    return stateOfExponents(keys, features.keyExponents(), v, map.features, width, wide);
  // φ(0) ≠ 0: keys that do not exist are cleared after the map.
  Source b = term(terms::existing(Axis::Key), {features.keys()});
  return stream(keys, {terms::featureSums(featureWidths(map), width, wide), {b, v}});
}

KernelRegion KeyState::stateRegion(const StateMemory &result) const {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  Stage stage = existingKeys(plan);
  stage.cut = StageCut{problem.schedule.getPiece(), problem.merged ? "" : problem.name + "_merge"};
  if (problem.initialState)
    stage.begin = memoryOf(problem.initialState, problem.initialSum).read(entry());
  KernelRegion region = stateKernel(plan, problem.merged ? "merged_state" : "state", head);
  region.outputs = result.write(over(plan, stage), entry());
  return region;
}

KernelRegion KeyState::piecesRegion(const StateMemory &result) const {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  auto extents = std::make_shared<Extents>(*plan.extents);
  Extent &part = (*extents)[Axis::Part], &key = (*extents)[Axis::Key];
  part.memory = key.memory, part.dimension = key.dimension, part.cuts = cutsOf(problem, problem.keyTile());
  (*extents)[Axis::Piece].memory = result.matrix, (*extents)[Axis::Piece].dimension = 2;
  key.ofPiece = true;
  plan.extents = extents;
  KernelRegion region = stateKernel(plan, "state", head);
  region.grid.push_back({Axis::Piece, tile::Axis::KeyPiece});
  SmallVector<Dimension> at = entry();
  at.push_back(entryOf(Axis::Piece));
  region.outputs = result.write(over(plan, existingKeys(plan)), at);
  return region;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// o [Tq, dv] of a block of queries. A GPU's products take the state as it was summed.
Source KeyState::output(const RegionPlanner &plan, attn::DenominatorAttr guard, Source state) const {
  FeatureSources features(plan, map, head, count);
  bool wide = needsWideProducts(problem) || problem.schedule.getTarget() == tile::TargetKind::GPU;
  if (!exponents)
    return term(terms::normalize(guard), {term(terms::stateReadout(wide), {features.queries(), state})});
  Source q = features.queryExponents(), c = term(terms::rowUnit(guard), {q, state});
  return term(terms::normalizeInUnit(guard), {term(terms::stateReadoutInUnit(wide), {q, state, c})});
}

KernelRegion KeyState::readoutRegion(attn::DenominatorAttr guard, const StateMemory &state) const {
  RegionPlanner plan(problem);
  Dimension shared{Axis::Head, problem.heads() / count};
  return plan.region("readout", plan.finished(output(plan, guard, state.read({entryOf(Axis::Batch), shared}))));
}

KernelRegion KeyState::fusedRegion(attn::DenominatorAttr guard) const {
  RegionPlanner plan(problem);
  Source state = over(plan, existingKeys(plan)), o = plan.withLepe(output(plan, guard, state));
  Stage queries{Axis::Query, problem.queryTile(), {{"all", Border::Begin, Border::End, false}}, plan.extents};
  Source outputs = stream(queries, {terms::nothing(), {}, {plan.output(o)}});
  if (head == Axis::SharedHead) {
    auto extents = std::make_shared<Extents>(*plan.extents);
    (*extents)[Axis::Head].count = problem.heads() / count, (*extents)[Axis::Head].memberOf = head;
    Stage members{Axis::Head, 1, {{"group", Border::Begin, Border::End, false}}, extents};
    outputs = stream(members, {terms::nothing(), {}, {}, {outputs}});
  }
  KernelRegion region = stateKernel(plan, "fused_state", head);
  region.effects = {outputs};
  if (problem.finalState)
    region.outputs = memoryOf(problem.finalState, problem.finalSum).write(state, entry());
  return region;
}
