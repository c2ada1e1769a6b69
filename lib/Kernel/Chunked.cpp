//===- Chunked.cpp - Causal kernel attention, chunk by chunk -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head);  S = S₀, z = z₀
//   for each chunk:  a = φ(q), b = φ(k);  w = lt(a bᵀ)
//                    num = a S + w v;  den = w 1 + a z;  o = num / guard(den)
//                    S = S + bᵀ v;  z = z + bᵀ 1
//
// The sum of a row starts from what the incoming state gives and goes on inside the chunk, in this order whoever computed
// the state: a sequence that is cut at chunks gives the same bits as one that is not, if the states are the same.
//
//===----------------------------------------------------------------------===//
#include "StateTiles.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
struct ChunkedHead {
  const Problem &problem;
  MapAtPoint map;
  attn::DenominatorAttr guard;
  const KernelFrame &frame;
  const Point &point;
  TokenReader query, key, value;
  Value limit;
};
} // namespace

/// Writes the chunk's outputs; returns the next S[m, dv], z[m].
static SmallVector<Value> step(TileBuilder &tiles, const ChunkedHead &at, Value first, ValueRange carried) {
  const Problem &problem = at.problem;
  int64_t chunk = problem.keyTile();
  Type operand = kernelOperand(problem, tiles);
  Features a = at.map.features(tiles, at.query, first, chunk, Side::Query);                     // [T, m]
  // What the state gives comes first: it alone needs the features in f32, and registers are scarce.
  auto [before, sumBefore] = readState(tiles, carried, a);                                      // [T, dv], [T]
  Features b = at.map.features(tiles, at.key, first, chunk, Side::Key, at.limit);               // [T, m]
  b = clearRows(tiles, b, tiles.sub(at.limit, first));
  Value v = at.value.load(tiles, first, chunk, at.limit);                                       // [T, dv]
  Value w = pairWeights(tiles, a, b, operand, tiles.constant({chunk, chunk}, 0));
  w = tiles.mask(w, 0, Value(), Value(), tiles.index(0));                                       // [T, T], j ≤ i
  Value numerator = tiles.dot(tiles.cast(w, operand), tiles.cast(v, operand), before);          // [T, dv]
  Value denominator = tiles.plus(tiles.reduceAdd(w, 1), sumBefore);                             // [T]
  storeOutput(tiles, at.frame, problem, at.point, first, normalize(tiles, at.guard, numerator, denominator));
  return addKeys(tiles, carried, b, v, operand);
}

/// S₀ and z₀, or zeros.
static SmallVector<Value> initialState(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem,
                                       const FeatureMap &map, Value batch, Value stateHead) {
  if (!problem.initialState)
    return zeroState(tiles, map, problem.valueWidth());
  return loadState(tiles, map, problem.valueWidth(),
                   {frame[problem.initialState], frame[problem.initialSum], {batch, stateHead}});
}

void kernel::buildChunked(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard) {
  KernelFrame frame(site, problem, "chunked", {tile::Axis::Batch, tile::Axis::Head},
                    hostValues(problem, {problem.initialState, problem.initialSum, map.parameter, map.shift}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, problem.heads()); };
  Value limit = keyLimit(frame, tiles, problem, point);
  ChunkedHead at{problem,
                 MapAtPoint(tiles, frame, problem, map, point),
                 guard,
                 frame,
                 point,
                 reader(problem.query),
                 reader(problem.key),
                 reader(problem.value),
                 limit};
  Value tokens = queryCount(tiles, problem, frame[problem.query.memory]);
  Value stateHead = tiles.div(point.head, problem.heads() / parameterHeads(problem, map));
  SmallVector<Value> initial = initialState(tiles, frame, problem, map, point.batch, stateHead);
  loop(tiles, tile::Carry::Sum, tiles.index(0), tokens, problem.keyTile(), initial,
       [&](TileBuilder &inside, Value first, ValueRange carried) { return step(inside, at, first, carried); });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {batchAxis(host, problem), host.index(problem.heads())});
  // The heads of a group carry the same state, so one of them cannot own it: final states have kernels of their own.
  if (problem.finalState)
    buildState(site, problem, map, problem.finalState, problem.finalSum);
}
