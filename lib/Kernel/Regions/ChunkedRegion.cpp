//===- ChunkedRegion.cpp - Causal kernel attention, chunk by chunk ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for each chunk:  a = φ(q), b = φ(k);  w = lt(a bᵀ)
//                    num = a S + w v;  den = w 1 + a z;  o = num / guard(den)
//                    S = S + bᵀ v;  z = z + bᵀ 1
//
// The sum of a row starts from what the incoming state gives and goes on inside the chunk, in this order whoever computed
// the state: a sequence that is cut at chunks gives the same bits as one that is not, if the states are the same.
//
//===----------------------------------------------------------------------===//
#include "ChunkStage.h"
#include "Planner/StateRules.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

KernelRegion kernel::chunkedRegion(RegionDraft &draft, attn::CausalReadoutOp op, ArrayRef<WrittenValue> outputs,
                                   const StateMemory &before) {
  ChunkStage chunks(draft.problem);
  KeySums sums(op);
  Place rows = chunks.rows(), keys = chunks.keys();
  Source a = draft.read(op.getQueryFeatures(), rows), b = existingFeatures(sums.features, draft, keys);
  Source v = draft.read(sums.value, keys);
  Source w = term(terms::lowerTriangle(), {term(terms::logits(Representation::Plain, 1, draft.wide()), {a, b})});
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  draft.define(op, term(terms::readout(draft.wide()), {a, state, w, v, b, v}), 2);
  Stage stage = chunks.stage();
  stage.state = state, stage.begin = chunks.stateBefore(sums, draft, before);
  auto step = terms::featureSums(featureWidths(sums.features), sums.width(), draft.wide());
  return chunks.region(stream(stage, {std::move(step), {b, v}, outputsOf(draft, outputs, rows)}));
}
