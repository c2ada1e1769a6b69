//===- ReadoutRegions.cpp - Regions of readouts and of the states they read ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fused state:  parallel over (batch, head of the state)    S, z of all keys;  then for each block of queries:  o
//   chunks:       parallel over (batch, head)                 see Regions/ChunkStage.h
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"
#include "HostBuilder.h"
#include "MapRule.h"
#include "Regions/ChunkStage.h"
#include "Regions/KeyStage.h"
#include "Regions/Regions.h"
#include "StateRules.h"
#include "Terms.h"
#include "attune/Attn/Execution.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// One launch and no workspace, and the state never leaves the core; in return a head is the work of one program.
LogicalResult HostBuilder::writeStates(const Problem &named, attn::ReadoutOp op, ArrayRef<WrittenValue> outputs, OpSet reads) {
  auto stateOp = cast<attn::StateOp>(op.getState().getDefiningOp());
  KeySums sums(stateOp);
  SeenKeys seen{sums.features, sums.lengths, false, {}};
  Problem problem = rowsProblem(named, outputs.front(), seen);
  int64_t heads = problem.heads(), own = sums.heads();
  problem.key.heads = own;
  RegionDraft draft(*this, problem, RegionPlanner::OfAll, std::move(reads));
  Axis head = own == heads ? Axis::Head : Axis::SharedHead;
  Place keys{Axis::Key, head, own};
  Source inUnits, state;
  attn::KeyMaximumOp maximum = maximumBeside(stateOp, *this);
  if (maximum && !memoryOf(maximum.getResult())) {
    inUnits = stateInFeatureUnits(maximum, stateOp, draft, existingKeys(draft.plan), keys);
    auto numbers = [&](ArrayRef<unsigned> which) { return term(terms::inTheirUnits(which), {inUnits}); };
    state = draft.shared(stateOp) = numbers({2, 1});
    for (Axis axis : {Axis::Head, Axis::SharedHead})
      draft.defineShifts(maximum.getResult(), axis, numbers({0}));
  } else {
    state = draft.tiles(sums.matrix, keys).source;
  }
  Stage queries{Axis::Query, problem.queryTile(), {{"all", Border::Begin, Border::End, false}}, draft.plan.extents};
  Source effect = stream(queries, {terms::nothing(), {}, outputsOf(draft, outputs, {Axis::Query, Axis::Head, heads})});
  if (head == Axis::SharedHead)
    effect = stream(membersOf(draft.plan, head, heads / own), {terms::nothing(), {}, {}, {effect}});
  KernelRegion region = stateKernel(draft.plan, "fused_state", head);
  region.effects = {effect};
  if (missing.contains(sums.matrix) || missing.contains(sums.sum) || kept.contains(sums.matrix))
    region.outputs = allocateState(sums).write(state, {entryOf(Axis::Batch), entryOf(head)});
  if (inUnits && kept.contains(maximum.getResult()))
    region.outputs.push_back({term(terms::select({0}), {inUnits}), resultMemory(maximum.getResult(), sums.features),
                              {entryOf(Axis::Batch), entryOf(head), columnsOf(shapeOf(maximum.getResult())[2])}});
  missing.remove(sums.matrix), missing.remove(sums.sum);
  return buildKernel(region);
}

std::pair<StateMemory, StateMemory> HostBuilder::finalStates(const KeySums &sums, const Problem &chunks) {
  if (!missing.contains(sums.matrix) && !missing.contains(sums.sum))
    return {};
  TileBuilder host(site.host, site.loc);
  bool divides = sums.needsSum() || missing.contains(sums.sum), shares = !chunks.grouped && chunks.heads() > sums.heads();
  StateMemory result;
  result.features = featureWidths(sums.features), result.width = sums.width();
  for (auto [value, memory] : {std::pair(sums.matrix, &result.matrix), std::pair(sums.sum, &result.sum), std::pair(sums.unit, &result.unit)})
    if (missing.remove(value))
      *memory = resultMemory(value, sums.features);
  // A result may lie where the initial state does, and other programs read that.
  bool apart = sums.initialMatrix && (shares || chunks.split);
  bool all = result.matrix && (!divides || result.sum) && (!sums.unit || result.unit);
  if (all && !apart)
    return {result, result};
  StateMemory made = StateMemory::allocate(site, {.units = static_cast<bool>(sums.unit), .sums = divides},
                                           host.dim(chunks.key.memory, 0), sums.heads(), featureWidths(sums.features), sums.width());
  for (Value StateMemory::*memory : {&StateMemory::matrix, &StateMemory::sum, &StateMemory::unit})
    if (!(result.*memory))
      result.*memory = made.*memory;
  return {apart ? made : result, result};
}

LogicalResult HostBuilder::writeAdvance(attn::AdvanceOp op) {
  Problem problem = startProblem();
  problem.key.memory = memory(op.getTokens());
  bool known = problem.key.memory && (!op.getPosition() || memory(op.getPosition())) && (!op.getLengths() || memory(op.getLengths()));
  if (!known)
    return op.emitOpError() << "expected tokens, a position and lengths that are arguments of the function (others are not supported yet)";
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  Index count = Index::size(problem.key.memory, cast<MemRefType>(problem.key.memory.getType()).getRank() - 2);
  if (op.getLengths())
    count = Index::length(memory(op.getLengths()), count);
  SmallVector<Source> begin;
  if (op.getPosition())
    begin.push_back(beginOf(memory(op.getPosition())));
  KernelRegion region = stateKernel(plan, "advance");
  region.grid.pop_back();
  region.outputs = {{term(terms::advanced(count), begin), memory(op.getResult()), {{Axis::Batch, 1, 0, 1, 1}}}};
  return buildKernel(region);
}

/// Whether programs of chunks have some values each, which they read from memory as they are: an output that is stored as it is made, features of one block.
static bool hasValueSlices(const Problem &problem, const KeySums &sums, ArrayRef<WrittenValue> outputs, const Tokens *values) {
  bool isAlone = !problem.split && !problem.grouped && !(values && values->projection) && featureWidths(sums.features).size() == 1;
  return isAlone && llvm::none_of(outputs, [](const WrittenValue &each) { return each.output.projection || each.output.lepe; });
}

/// Split, the states of the keys of all parts but the last come first, then the parts run side by side.
LogicalResult HostBuilder::writeChunks(const Problem &named, attn::CausalReadoutOp op, ArrayRef<WrittenValue> outputs, OpSet reads) {
  KeySums sums(op);
  bool inUnits = featureGroups.inUnits(op);
  if (!inUnits && featureWidths(op.getQueryFeatures()).size() != featureWidths(sums.features).size())
    return op.emitOpError() << "expected query and key features of one map, but got features in different blocks (not supported yet)";
  if (sums.unit && !sums.unit.use_empty() && !inUnits)
    return op.emitOpError() << "expected features of favor that nothing but this divides, with a last state that stands rescaled (not "
                               "supported yet)";
  Problem problem = rowsProblem(named, outputs.front(), {sums.features, sums.lengths, /*causal=*/true, {}});
  problem.key.heads = sums.heads();
  problem.grouped = attn::executionOf(op).grouped, problem.split = attn::executionOf(op).split;
  if (inUnits && sums.decay) {
    if (problem.split || problem.grouped)
      return op.emitOpError() << "expected chunks one after another where exponents of features decay, but got " << op.getExecutionAttr();
    problem.schedule = problem.schedule.withTiles(1, 1);
  }
  bool isOfGradients = writesOnly(op, outputs);
  if (isOfGradients) // in the backward pass, whose chunks are those of gradients
    problem.schedule = scheduleOfChunks(problem.schedule, sums, llvm::any_of(reads, llvm::IsaPred<attn::RopeOp>), /*scans=*/false);
  bool isSliced = schedule.isSliced() && !inUnits && !isOfGradients && hasValueSlices(problem, sums, outputs, placeOf(sums.value));
  if (isSliced)
    problem.schedule = schedule.withSlices(featureWidths(sums.features).front(), schedule.getValueTile()), problem.value.width = sums.width();
  StateMemory before;
  if (problem.split) {
    TileBuilder host(site.host, site.loc);
    Value count = Pieces(problem).count(host), batch = host.dim(problem.key.memory, 0);
    StateMemory::Parts parts{inUnits, inUnits || !op.getDenominator().use_empty()};
    if (sums.decay || sums.erase)
      parts.transition = sums.erase ? tile::Transition::Matrix : tile::Transition::Vector;
    before = StateMemory::allocate(site, parts, batch, sums.heads(), featureWidths(sums.features), sums.width(), count);
    RegionDraft pieces(*this, keyProblem(named, sums.features, sums.lengths, sums.heads()), RegionPlanner::OfKeys);
    if (failed(buildKernel(piecesRegion(pieces, sums, before))))
      return failure();
  }
  RegionDraft draft(*this, problem, RegionPlanner::OfAll, std::move(reads));
  auto [after, result] = finalStates(sums, problem);
  if (isSliced)
    after.valueTile = result.valueTile = draft.plan.valueTile();
  if (failed(buildKernel((inUnits ? logChunkedRegion : chunkedRegion)(draft, op, outputs, before, after))))
    return failure();
  if (after.matrix == result.matrix && after.sum == result.sum)
    return success();
  Problem copied = keyProblem(named, sums.features, sums.lengths, sums.heads());
  copied.schedule = problem.schedule, copied.value.width = sums.width();
  return buildKernel(copiedStateRegion(copied, after, result));
}
