//===- KeyMaximum.cpp - The largest exponents of keys ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// key_maximum:  parallel over (batch, head)
//                 for each key tile:  M_j = max(M_j, max_f L_jf) of the tile's j-th key        ⟨ω, x'⟩ alone for `projection`
//                 c = max_j M_j
//
// Of each feature M_f = max_j L_jf is the unit of a state of the keys, which the same kernel makes if there is one. Maxima are in units of log 2, as
// the maps take them.
//
//===----------------------------------------------------------------------===//
#include "MapRule.h"

#include "HostBuilder.h"
#include "Regions/KeyStage.h"
#include "Regions/SlicedFeaturesRegion.h"
#include "StateRules.h"
#include "Terms.h"
#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static int64_t lastSize(Value value) { return cast<RankedTensorType>(value.getType()).getShape().back(); }

attn::StateOp kernel::stateBesideMaximum(attn::KeyMaximumOp op) {
  for (Operation *user : op->getUsers())
    if (auto map = dyn_cast<attn::MapOp>(user); map && map.getKeys() && map.getSource() == op.getKey())
      for (Operation *reader : map->getUsers())
        if (auto state = dyn_cast<attn::StateOp>(reader))
          return state;
  return {};
}

attn::KeyMaximumOp kernel::maximumBeside(attn::StateOp state, const HostBuilder &host) {
  auto map = state.getFeatures().getDefiningOp<attn::MapOp>();
  bool hasShifts = map && attn::isOfFeatures(map.getShift());
  auto maximum = hasShifts ? map.getShift().getDefiningOp<attn::KeyMaximumOp>() : attn::KeyMaximumOp();
  return maximum && !host.slices().isSliced() && stateBesideMaximum(maximum) == state ? maximum : attn::KeyMaximumOp();
}

Source kernel::stateInFeatureUnits(attn::KeyMaximumOp op, attn::StateOp read, RegionDraft &draft, const Stage &keys, const Place &at) {
  Source l = term(terms::existing(Axis::Key), {exponentsOf(op.getKey(), op.getParameter(), op.getFeatureMap(), draft, at, /*squares=*/true)});
  Source v = read ? draft.read(read.getValue(), at) : term(terms::filled(Axis::Key, 1, 1), {});
  return stateOfExponents(keys, l, v, lastSize(op.getResult()), read ? lastSize(read.getValue()) : 1, draft.wide() || !read);
}

LogicalResult kernel::materializeFeatureMaximum(attn::KeyMaximumOp op, HostBuilder &host, const Problem &named) {
  if (host.memoryOf(op.getResult()) || host.slices().isSliced())
    return success();
  attn::StateOp read = stateBesideMaximum(op);
  if (read && failed(host.bringTokens(read.getValue()))) // nobody may have read them yet
    return failure();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getResult().getType()).getShape(); // [batch, heads, m]
  RegionDraft draft(host, host.keyProblem(named, op.getKey(), op.getLengths(), shape[1]), RegionPlanner::OfKeys);
  Stage keys = existingKeys(draft.plan);
  bool merged = read && isMerged(read);
  keys.cut = StageCut{draft.problem.schedule.getPiece(), merged ? "" : draft.problem.name + "_merge"};
  int64_t width = read ? lastSize(read.getValue()) : 1;
  Source state = stateInFeatureUnits(op, read, draft, keys, {Axis::Key, Axis::Head, shape[1]});
  KernelRegion region = stateKernel(draft.plan, merged ? "merged_state" : read ? "state" : "feature_maximum");
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(Axis::Head), columnsOf(shape[2])};
  region.outputs = {{term(terms::select({0}), {state}), host.resultMemory(op.getResult(), op.getKey()), place}};
  if (read) {
    region.outputs.push_back({term(terms::select({1}), {state}), host.resultMemory(read.getSum(), op.getKey()), place});
    place.push_back(columnsOf(width));
    region.outputs.push_back({term(terms::select({2}), {state}), host.resultMemory(read.getState(), op.getKey()), place});
  }
  return host.buildKernel(region);
}

LogicalResult kernel::materializeKeyMaximum(Operation *op, HostBuilder &host, const Problem &ofReader) {
  auto maximum = cast<attn::KeyMaximumOp>(op);
  if (attn::isOfFeatures(maximum.getResult()))
    return materializeFeatureMaximum(maximum, host, ofReader);
  int64_t heads = cast<RankedTensorType>(maximum.getResult().getType()).getDimSize(1);
  Problem named = host.startProblem();
  RegionDraft draft(host, host.keyProblem(named, maximum.getKey(), maximum.getLengths(), heads), RegionPlanner::OfKeys);
  Place at{Axis::Key, Axis::Head, heads};
  attn::FeatureMapAttr map = maximum.getFeatureMap();
  if (host.slices().isSliced()) {
    Problem problem = draft.problem;
    problem.schedule = host.slices();
    FeatureSlices slices{problem, map, host.memoryOf(maximum.getParameter()), Value(), map.getFeatureCount(),
                         lastSize(maximum.getKey()), false, false, true, heads};
    slices.result = host.allocateRows(maximum.getKey(), heads, slices.width());
    if (failed(host.buildKernel(slices.region())))
      return failure();
    return host.buildKernel(slices.maximumRegion(slices.result, host.resultMemory(maximum.getResult(), maximum.getKey())));
  }
  // |x'|² is left out of the queries' logarithms, which is what `projection` wants.
  bool squares = map.getStabilizer() != attn::Stabilizer::Projection;
  SmallVector<Source> operands{draft.read(maximum.getKey(), at), draft.parameter(maximum.getParameter(), at)};
  Source l = term(terms::exponents(map.getScale(), squares), operands);
  Source rows = term(terms::existing(Axis::Key), {term(terms::rowMaximum(), {l})});
  Source maxima = stream(existingKeys(draft.plan), {terms::maximum(named.keyTile()), {rows}});
  KernelRegion region = stateKernel(draft.plan, "key_maximum");
  Dimension one{Axis::Head, 1, 0, 1, 1};
  Value memory = host.resultMemory(maximum.getResult(), maximum.getKey());
  region.outputs = {{term(terms::largestRowOrZero(), {maxima}), memory, {entryOf(Axis::Batch), one}}};
  return host.buildKernel(region);
}
