//===- EffattRegion.cpp - Efficient attention ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state:    of the logarithms k (KeyState.cpp): M_f, z_f, S_f; then S_f / z_f, the mean value of feature f
//   readout:  parallel over (batch, head, query block)
//               a = 2^(q − max_f);   o = a S / Σ_f a
//
//===----------------------------------------------------------------------===//
#include "KeyState.h"
#include "Regions.h"
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// Tokens in units of log 2.
static Source logarithms(Source x) { return term(terms::scale(M_LOG2E, Representation::Log), {x}); }

KernelRegion kernel::effattMeansRegion(const Problem &problem, Value means) {
  RegionPlanner plan(problem, RegionPlanner::OfKeys);
  int64_t heads = problem.sharedHeads(), width = problem.valueWidth();
  Axis head = Axis::SharedHead;
  Stage keys = existingKeys(plan);
  keys.cut = StageCut{problem.schedule.getPiece(), problem.name + "_merge"};
  Source l = term(terms::existing(Axis::Key), {logarithms(plan.tokens(problem.key, Axis::Key, head, heads))});
  Source v = plan.tokens(problem.value, Axis::Key, head, heads);
  Source state = stateOfExponents(keys, l, v, problem.width(), width, needsWideProducts(problem));
  KernelRegion region = stateKernel(plan, "state", head);
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(head), columnsOf(problem.width()), columnsOf(width)};
  region.outputs = {{term(terms::stateMean(), {state}), means, place}};
  return region;
}

KernelRegion kernel::effattReadoutRegion(const Problem &problem, Value means) {
  RegionPlanner plan(problem);
  Dimension shared{Axis::Head, problem.heads() / problem.sharedHeads()};
  Source a = term(terms::inRowUnit(), {logarithms(plan.tokens(problem.query, Axis::Query))});
  Source s = fusion::memory(means, {entryOf(Axis::Batch), shared, columnsOf(problem.width()), columnsOf(problem.valueWidth())});
  auto none = attn::DenominatorAttr::get(problem.schedule.getContext(), 0.0, 0.0);
  return plan.region("readout", plan.finished(term(terms::normalize(none), {term(terms::weightedMean(), {a, s})})));
}
