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
#include "FeatureMaps.h"
#include "FeatureSources.h"
#include "KeyState.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// What the state begins with; null: nothing.
static Source stateBefore(const ChunkStage &chunks, const FeatureMap &map, const StateMemory &pieces) {
  const Problem &problem = chunks.problem;
  Dimension head{chunks.head(), chunks.heads() / parameterHeads(problem, map)};
  SmallVector<Dimension> at{entryOf(Axis::Batch), head};
  Source initial;
  if (problem.initialState)
    initial = KeyState(problem, map, /*exponents=*/false).memoryOf(problem.initialState, problem.initialSum).read(at);
  return problem.split ? chunks.sumOfPieces(pieces, at, initial) : initial;
}

KernelRegion kernel::chunkedRegion(const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                                   const StateMemory &before) {
  ChunkStage chunks(problem);
  const RegionPlanner &plan = chunks.plan;
  FeatureSources features(plan, map, chunks.head(), chunks.heads());
  bool wide = needsWideProducts(problem);
  Source a = features.queries(), b = term(terms::existing(Axis::Key), {features.keys()});
  Source v = plan.tokens(problem.value, Axis::Key, chunks.head(), chunks.heads());
  Source w = term(terms::lowerTriangle(), {term(terms::logits(Representation::Plain, 1, wide), {a, b})});
  auto state = std::make_shared<BoundSource>("state", Axis::Query, Representation::Plain);
  Source o = plan.withLepe(term(terms::normalize(guard), {term(terms::readout(wide), {a, state, w, v, b, v})}));
  Stage stage = chunks.stage();
  stage.state = state, stage.begin = stateBefore(chunks, map, before);
  auto sums = terms::featureSums(featureWidths(map), problem.valueWidth(), wide);
  return chunks.region(stream(stage, {std::move(sums), {b, v}, {plan.output(o)}}));
}
