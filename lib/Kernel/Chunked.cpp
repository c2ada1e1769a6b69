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
// Split, the sequence is cut into parts: first the states of the keys of all parts but the last are summed up, piece by piece
// (PieceStates.cpp), then the parts run side by side:
//
//   parallel over (batch, head, part);  S = S₀ + Σ_pieces before the part S, z alike;  its chunks as above
//
// The sum of a row starts from what the incoming state gives and goes on inside the chunk, in this order whoever computed
// the state: a sequence that is cut at chunks gives the same bits as one that is not, if the states are the same.
//
//===----------------------------------------------------------------------===//
#include "HeadGroup.h"
#include "PieceStates.h"
#include "Pieces.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
struct ChunkedHead {
  const Problem &problem;
  MapAtPoint map;
  attn::DenominatorAttr guard;
  const KernelFrame &frame;
  const std::deque<GroupMember> &group;
  TokenReader key, value;
  Value limit;
};

/// φ(k) and v of a chunk.
struct ChunkKeys {
  Features b; // [T, m]
  Value v;    // [T, dv]
};
} // namespace

static ChunkKeys keysOf(TileBuilder &tiles, const ChunkedHead &at, Value first) {
  int64_t chunk = at.problem.keyTile();
  Features b = at.map.features(tiles, at.key, first, chunk, Side::Key, at.limit);               // [T, m]
  b = clearRows(tiles, b, tiles.sub(at.limit, first));
  return {b, at.value.load(tiles, first, chunk, at.limit)};                                     // [T, dv]
}

/// Writes the outputs of one query head: what the state gives, then the pairs inside the chunk.
static void writeRows(TileBuilder &tiles, const ChunkedHead &at, const GroupMember &member, Value first, const Features &a,
                      const ChunkKeys &keys, Value before, Value sumBefore) {
  int64_t chunk = at.problem.keyTile();
  Type operand = kernelOperand(at.problem, tiles);
  Value w = pairWeights(tiles, a, keys.b, operand, tiles.constant({chunk, chunk}, 0));
  w = tiles.mask(w, 0, Value(), Value(), tiles.index(0));                                       // [T, T], j ≤ i
  Value numerator = tiles.dot(tiles.cast(w, operand), tiles.cast(keys.v, operand), before);     // [T, dv]
  Value denominator = tiles.plus(tiles.reduceAdd(w, 1), sumBefore);                             // [T]
  storeOutput(tiles, at.frame, at.problem, member.point, first, normalize(tiles, at.guard, numerator, denominator));
}

/// Writes the chunk's outputs; returns the next S[m, dv], z[m].
static SmallVector<Value> step(TileBuilder &tiles, const ChunkedHead &at, Value first, ValueRange carried) {
  int64_t chunk = at.problem.keyTile();
  std::optional<ChunkKeys> keys;
  for (const GroupMember &member : at.group) {
    Features a = at.map.features(tiles, member.query, first, chunk, Side::Query);               // [T, m]
    // What the state gives comes first: it alone needs the features in f32, and registers are scarce.
    auto [before, sumBefore] = readState(tiles, carried, a, tiles.builder.getF32Type());         // [T, dv], [T]
    if (!keys)
      keys = keysOf(tiles, at, first);
    writeRows(tiles, at, member, first, a, *keys, before, sumBefore);
  }
  return addKeys(tiles, carried, keys->b, keys->v, kernelOperand(at.problem, tiles));
}

/// S₀ and z₀, or zeros.
static SmallVector<Value> initialState(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem,
                                       const FeatureMap &map, Value batch, Value stateHead) {
  if (!problem.initialState)
    return zeroState(tiles, map, problem.valueWidth());
  return loadState(tiles, map, problem.valueWidth(),
                   {frame[problem.initialState], frame[problem.initialSum], {batch, stateHead}});
}

/// The kernel of the chunks; `before`: the states of the pieces, where parts of the sequence run side by side.
static void buildChunks(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                        const PieceStates &before) {
  Pieces pieces(problem);
  KernelFrame frame(site, problem, "chunked", pieces.grid(),
                    hostValues(problem, {problem.initialState, problem.initialSum, map.parameter, map.shift,
                                         before.states, before.sums}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  int64_t heads = gridHeads(problem);
  std::deque<GroupMember> group = groupAt(tiles, frame, problem, point);
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, heads); };
  Value limit = keyLimit(frame, tiles, problem, point);
  ChunkedHead at{problem, MapAtPoint(tiles, frame, problem, map, point), guard, frame, group, reader(problem.key),
                 reader(problem.value), limit};
  Value stateHead = tiles.div(point.head, heads / parameterHeads(problem, map));
  TokenRange tokens = pieces.tokensOfPoint(tiles, frame);
  SmallVector<Value> initial = problem.split ? sumOfPieces(tiles, frame, problem, map, before, point.batch, stateHead,
                                                           pieces.countBefore(tiles))
                                             : initialState(tiles, frame, problem, map, point.batch, stateHead);
  loop(tiles, tiles.sums(), tokens.first, tokens.end, problem.keyTile(), initial,
       [&](TileBuilder &inside, Value first, ValueRange carried) { return step(inside, at, first, carried); });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, pieces.gridSizes(host, batchAxis(host, problem), host.index(heads)));
}

void kernel::buildChunked(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard) {
  PieceStates before;
  if (problem.split) {
    before = allocatePieces(site, problem, map);
    buildPieces(site, problem, map, before);
  }
  buildChunks(site, problem, map, guard, before);
  if (!problem.finalState)
    return;
  // The heads of a group carry the same state, so one of them cannot own it: final states have kernels of their own.
  Problem whole = problem;
  whole.split = false;
  buildState(site, whole, map, problem.finalState, problem.finalSum);
}
