//===- SlotStateRegion.cpp - Kernel attention over compressed features ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state:    parallel over (batch, head)                S [m, dv] = Σ_slots (E φ(K))ᵀ (F V)
//   readout:  parallel over (batch, head, query block)   o = φ(q) S
//
// The compressed features and values are made by CompressionRegion.cpp.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"
#include "FeatureSources.h"
#include "KeyState.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

KernelRegion kernel::slotStateRegion(const Problem &problem, const FeatureMap &map, Value state) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  int64_t heads = problem.sharedHeads(), width = problem.valueWidth();
  Axis head = Axis::SharedHead;
  Stage slots{Axis::Key, problem.keyTile(), {{"slots", Border::Begin, Border::End, /*masked=*/false}}, plan.extents};
  Source b = plan.tokens(problem.key, Axis::Key, head, heads), v = plan.tokens(problem.value, Axis::Key, head, heads);
  auto sums = terms::featureSums({map.features}, width, needsWideProducts(problem), /*withSums=*/false);
  KernelRegion region = stateKernel(plan, "state", head);
  StateMemory memory{state, Value(), Value(), {map.features}, width};
  region.outputs = memory.write(stream(slots, {std::move(sums), {b, v}}), {entryOf(Axis::Batch), entryOf(head)});
  return region;
}

KernelRegion kernel::slotReadoutRegion(const Problem &problem, const FeatureMap &map, Value state) {
  RegionPlanner plan(problem);
  Dimension shared{Axis::Head, problem.heads() / problem.sharedHeads()};
  Source a = FeatureSources(plan, map, Axis::Head, problem.heads()).queries();
  StateMemory memory{state, Value(), Value(), featureWidths(map), problem.valueWidth()};
  Source s = memory.read({entryOf(Axis::Batch), shared});
  return plan.region("readout", plan.finished(term(terms::stateReadout(/*wide=*/true, /*divides=*/false), {a, s})));
}
