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
#include "PieceStates.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// S and z of each block of features, which lie one below the other behind the indices `at`.
static Source stateIn(Value state, Value sum, ArrayRef<Dimension> at, ArrayRef<int64_t> features, int64_t width) {
  SmallVector<Source> tiles;
  int64_t first = 0;
  for (int64_t count : features) {
    SmallVector<Dimension> matrix(at), vector(at);
    Dimension rows = columnsOf(count);
    rows.add = first;
    matrix.append({rows, columnsOf(width)});
    vector.push_back(rows);
    tiles.append({fusion::memory(state, matrix), fusion::memory(sum, vector)});
    first += count;
  }
  return term(terms::writtenState(Representation::Plain), tiles);
}

/// What the state begins with; null: nothing.
static Source stateBefore(const ChunkStage &chunks, const FeatureMap &map, const PieceStates &pieces) {
  const Problem &problem = chunks.problem;
  int64_t width = problem.valueWidth();
  SmallVector<int64_t, 2> features = MapAtPoint::blockWidths(map);
  Dimension head{chunks.head(), chunks.heads() / parameterHeads(problem, map)};
  SmallVector<Dimension> at{entryOf(Axis::Batch), head};
  Source initial;
  if (problem.initialState)
    initial = stateIn(problem.initialState, problem.initialSum, at, features, width);
  if (!problem.split)
    return initial;
  at.push_back(entryOf(Axis::Piece));
  SmallVector<SmallVector<int64_t>> shapes;
  for (int64_t count : features)
    shapes.append({{count, width}, {count}});
  return chunks.sumOfPieces(stateIn(pieces.states, pieces.sums, at, features, width), shapes, initial);
}

KernelRegion kernel::chunkedRegion(const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                                   const PieceStates &before) {
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
  auto sums = terms::featureSums(MapAtPoint::blockWidths(map), problem.valueWidth(), wide);
  return chunks.region(stream(stage, {std::move(sums), {b, v}, {plan.output(o)}}));
}
