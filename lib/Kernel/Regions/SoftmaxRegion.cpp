//===- SoftmaxRegion.cpp - Exact attention by online softmax ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, query block)
//     m = −∞, l = 0, acc = 0
//     for each key tile:  s = scale·log2e · q kᵀ;  m' = max(m, max_j s);  w = exp2(s − m')
//                         l = l·exp2(m − m') + Σ_j w;  acc = acc·exp2(m − m') + w v
//     o = acc / l;   lse = (m + log2 l) · ln 2
//
//===----------------------------------------------------------------------===//
#include "RegionPlanner.h"
#include "Regions.h"
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// The scale goes into the query if that is exact enough (f32 operands), else onto the scores.
KernelRegion kernel::softmaxRegion(const Problem &problem, double scale) {
  RegionPlanner plan(problem);
  double factor = scale * M_LOG2E;
  bool ofQuery = problem.schedule.getOperand().isF32();
  Source q = plan.tokens(problem.query, Axis::Query), k = plan.tokens(problem.key, Axis::Key);
  if (ofQuery)
    q = term(terms::scale(factor), {q});
  Source s = term(terms::logits(Representation::Log, ofQuery ? 1 : factor, /*wide=*/false), {q, k});
  Source seen = term(terms::visible(), {s}), v = plan.tokens(problem.value, Axis::Key);
  Stage keys = plan.keys();
  if (problem.split)
    keys.cut = StageCut{};
  Source state = stream(keys, {terms::softmaxPartial(problem.valueWidth()), {seen, v}});
  std::optional<RegionOutput> lse;
  if (problem.lse)
    lse = RegionOutput{term(terms::logSumExp(), {state}), problem.lse,
                       {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query)}};
  return plan.region("softmax", plan.finished(term(terms::softmaxFinish(), {state})), lse);
}
