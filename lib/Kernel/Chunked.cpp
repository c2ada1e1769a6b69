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
#include "KernelFrame.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
struct ChunkedHead {
  const Problem &problem;
  attn::FeatureMapAttr map;
  attn::DenominatorAttr guard;
  Value query, key, value, output, batch, head, sharedHead, limit;
};
} // namespace

/// The features of a chunk's keys, 0 for keys that do not exist: [T, m].
static Value keyFeatures(TileBuilder &tiles, const ChunkedHead &at, Value first) {
  Value k = tiles.load(at.key, {at.batch, at.sharedHead, first, tiles.index(0)},
                       {at.problem.keyTile(), at.problem.width}, at.limit);
  return tiles.mask(featureMap(tiles, at.map, k), 0, tiles.sub(at.limit, first), Value(), Value());
}

/// Writes the chunk's outputs; returns the next S[m, dv], z[m].
static SmallVector<Value> step(TileBuilder &tiles, const ChunkedHead &at, Value first, ValueRange carried) {
  const Problem &problem = at.problem;
  int64_t chunk = problem.keyTile(), width = problem.valueWidth, features = at.map.getFeatures(problem.width);
  Type operand = kernelOperand(problem, tiles);
  Value c0 = tiles.index(0);
  Value q = tiles.load(at.query, {at.batch, at.head, first, c0}, {chunk, problem.width});
  Value a = featureMap(tiles, at.map, q);                                                       // [T, m]
  // What the state gives comes first: it alone needs the features in f32, and registers are scarce.
  Value before = tiles.dot(a, carried[0], tiles.constant({chunk, width}, 0));                   // [T, dv]
  Value sumBefore = tiles.reduceAdd(tiles.times(a, tiles.expand(carried[1], 0, {chunk, features})), 1); // [T]
  Value b = keyFeatures(tiles, at, first);                                                      // [T, m]
  Value v = tiles.load(at.value, {at.batch, at.sharedHead, first, c0}, {chunk, width}, at.limit); // [T, dv]
  Value w = tiles.dot(tiles.cast(a, operand), tiles.cast(b, operand), tiles.constant({chunk, chunk}, 0), false, true);
  w = tiles.mask(w, 0, Value(), Value(), c0);                                                   // [T, T], j ≤ i
  Value numerator = tiles.dot(tiles.cast(w, operand), tiles.cast(v, operand), before);          // [T, dv]
  Value denominator = tiles.plus(tiles.reduceAdd(w, 1), sumBefore);                             // [T]
  tiles.store(normalize(tiles, at.guard, numerator, denominator), at.output,
              {at.batch, at.head, first, c0});
  Value state = tiles.dot(tiles.cast(b, operand), tiles.cast(v, operand), carried[0], /*transposeA=*/true); // [m, dv]
  return {state, tiles.plus(carried[1], tiles.reduceAdd(b, 0))};
}

/// S₀ and z₀, or zeros.
static SmallVector<Value> initialState(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem,
                                       int64_t features, Value batch, Value sharedHead) {
  SmallVector<int64_t> shape{features, problem.valueWidth};
  if (!problem.initialState)
    return {tiles.constant(shape, 0), tiles.constant({features}, 0)};
  Value c0 = tiles.index(0);
  return {tiles.load(frame[problem.initialState], {batch, sharedHead, c0, c0}, shape),
          tiles.load(frame[problem.initialSum], {batch, sharedHead, c0}, {features})};
}

void kernel::buildChunked(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map,
                          attn::DenominatorAttr guard) {
  KernelFrame frame(site, problem, "chunked", {tile::Axis::Batch, tile::Axis::Head},
                    {problem.query, problem.key, problem.value, problem.lengths, problem.initialState,
                     problem.initialSum, problem.output});
  TileBuilder &tiles = frame.tiles;
  ChunkedHead at{problem, map, guard, frame[problem.query], frame[problem.key], frame[problem.value],
                 frame[problem.output], {}, {}, {}, {}};
  at.batch = tiles.programId(tile::Axis::Batch);
  at.head = tiles.programId(tile::Axis::Head);
  at.sharedHead = tiles.div(at.head, problem.group());
  at.limit = keyLimit(tiles, at.key, frame[problem.lengths], at.batch);
  Value tokens = tiles.dim(at.query, 2);
  SmallVector<Value> initial = initialState(tiles, frame, problem, map.getFeatures(problem.width), at.batch,
                                            at.sharedHead);
  loop(tiles, tile::Carry::Sum, tiles.index(0), tokens, problem.keyTile(), initial,
       [&](TileBuilder &inside, Value first, ValueRange carried) { return step(inside, at, first, carried); });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.query, 0), host.index(problem.heads)});
  // The heads of a group carry the same state, so one of them cannot own it: final states have kernels of their own.
  if (problem.finalState)
    buildState(site, problem, map, problem.finalState, problem.finalSum);
}
