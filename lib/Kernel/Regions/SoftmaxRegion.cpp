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
Source kernel::softmaxLogits(const RegionPlanner &plan, const Extents &extents, Source query, Source key, const SoftmaxLogits &logits,
                             int64_t channels) {
  double factor = logits.areScaled ? M_LOG2E : logits.scale * M_LOG2E;
  bool ofTokens = plan.problem.schedule.getOperand().isF32() && !logits.areScaled;
  if (Source &tokens = logits.scalesKeys ? key : query; ofTokens)
    tokens = term(terms::scale(factor), {tokens});
  Source s = plan.pairs(query, key, channels, Representation::Log, ofTokens ? 1 : factor, /*wide=*/false);
  if (logits.softcap)
    s = term(terms::softcap(*logits.softcap * M_LOG2E), {s});
  if (logits.slope)
    s = term(terms::alibi(extents[Axis::Query], extents[Axis::Key]), {s, logits.slope});
  return s;
}

Source kernel::softmaxState(const RegionPlanner &plan, Stage keys, ArrayRef<Source> qkv, const SoftmaxLogits &logits,
                            int64_t channels, int64_t width) {
  Source s = softmaxLogits(plan, *keys.extents, qkv[0], qkv[1], logits, channels);
  return stream(std::move(keys), {terms::softmaxPartial(width), {term(terms::visible(), {s}), qkv[2]}});
}

KernelRegion kernel::softmaxRegion(const Problem &problem, double scale, Value lse) {
  RegionPlanner plan(problem);
  auto slice = [&](const Tokens &of, Axis axis, Dimension columns) {
    return plan.tokens(of, axis, Axis::Head, problem.heads(), columns);
  };
  Dimension channels = plan.featureColumns(problem.width());
  SmallVector<Source> qkv{slice(problem.query, Axis::Query, channels), slice(problem.key, Axis::Key, channels),
                          slice(problem.value, Axis::Key, plan.valueColumns())};
  Source state = softmaxState(plan, plan.keys(), qkv, {scale}, problem.width(), plan.valueTile());
  KernelRegion region = plan.region("softmax", plan.finished(term(terms::softmaxFinish(), {state})));
  if (lse)
    region.outputs.insert(region.outputs.begin(),
                          {term(terms::logSumExp(), {state}), lse, {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query)}});
  return region;
}
