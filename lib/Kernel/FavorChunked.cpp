//===- FavorChunked.cpp - Exponents of features, chunk by chunk --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head);  M, z, S of no key (LogState.h)
//   for each chunk:  M' = max(M, max_j L(k));   w, c, b = pairs(L(q), L(k), M') with c ≥ max_f L(q) + M   (LogPairs.h)
//                    a = g(q) 2^(L(q) + M − c);   num = a S + w v;   den = a z + w 1;   o = num / guard(den)
//                    M, z, S = M', 2^(M − M') (z, S) + bᵀ [1 v]
//
// z and S are carried multiplied by 2^stateOffset, as are the features b that LogPairs has made.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"
#include "HeadGroup.h"
#include "LogPairs.h"
#include "LogState.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
struct FavorHead {
  const Problem &problem;
  MapAtPoint map;
  const KernelFrame &frame;
  const std::deque<GroupMember> &group;
  TokenReader key, value;
  Value limit;
  int64_t bands;
  attn::DenominatorAttr guard;
};
} // namespace

/// M', z, S after the chunk's keys: b [T, m] is relative to M'.
static SmallVector<Value> nextState(TileBuilder &tiles, ValueRange carried, Value maximum, Value b, Value v) {
  Value factor = tiles.exp2(tiles.minus(carried[0], maximum));                                        // [m]
  Value sum = tiles.plus(tiles.times(carried[1], factor), tiles.reduceAdd(b, 0));                     // [m]
  Value before = tiles.times(carried[2], tiles.expand(factor, 1, tiles.shape(carried[2])));           // [m, dv]
  return {maximum, sum, tiles.dot(b, v, before, /*transposeA=*/true)};
}

namespace {
/// A chunk's keys.
struct ChunkKeys {
  LogFeatures features; // [T, m]
  Value maximum;        // M' [m], with those of earlier chunks
  Value v;              // [T, dv]
};
} // namespace

static ChunkKeys keysOf(TileBuilder &tiles, const FavorHead &at, Value first, Value before) {
  int64_t chunk = at.problem.keyTile();
  LogFeatures keys = at.map.logarithms(tiles, at.key, first, chunk, Side::Key, at.limit);             // [T, m]
  keys.exponents = tiles.mask(keys.exponents, -std::numeric_limits<double>::infinity(), tiles.sub(at.limit, first),
                              Value(), Value());
  Value v = tiles.cast(at.value.load(tiles, first, chunk, at.limit), tiles.builder.getF32Type());     // [T, dv]
  return {keys, tiles.maximum(before, tiles.reduceMax(keys.exponents, 0)), v};
}

/// Writes the outputs of one query head; returns the features of the keys [T, m], relative to M', which are those of every
/// head.
static Value writeRows(TileBuilder &tiles, const FavorHead &at, const GroupMember &member, Value first,
                       const LogFeatures &queries, const ChunkKeys &keys, ValueRange carried) {
  const Problem &problem = at.problem;
  int64_t chunk = problem.keyTile();
  SmallVector<int64_t> shape{chunk, tiles.shape(carried[0])[0]};
  Value t = tiles.plus(queries.exponents, tiles.expand(carried[0], 0, shape));                        // [T, m]
  Value least = tiles.reduceMax(t, 1);                                                                // [T]
  if (guarded(at.guard))
    least = tiles.maximum(least, tiles.constant({chunk}, leastExponent(at.guard)));
  LogPairs pairs = logPairs(tiles, queries, keys.features, keys.maximum, least, at.bands);
  Value down = tiles.plus(pairs.scale, tiles.constant({chunk}, stateOffset));
  Value a = queries.at(tiles, tiles.minus(t, tiles.expand(down, 1, shape)));                          // [T, m]
  Value before = tiles.dot(a, carried[2], tiles.constant({chunk, problem.valueWidth()}, 0));          // [T, dv]
  Value sumBefore = tiles.reduceAdd(tiles.times(a, tiles.expand(carried[1], 0, shape)), 1);           // [T]
  Value numerator = tiles.dot(pairs.weights, keys.v, before);                                         // [T, dv]
  Value denominator = tiles.plus(tiles.reduceAdd(pairs.weights, 1), sumBefore);                       // [T]
  Value o = normalizeInUnit(tiles, at.guard, numerator, denominator, pairs.scale);                    // [T, dv]
  storeOutput(tiles, at.frame, problem, member.point, first, o);
  return pairs.features;
}

/// Writes the chunk's outputs; returns the next M [m], z [m], S [m, dv].
static SmallVector<Value> step(TileBuilder &tiles, const FavorHead &at, Value first, ValueRange carried) {
  std::optional<ChunkKeys> keys;
  Value b;
  for (const GroupMember &member : at.group) {
    LogFeatures queries = at.map.logarithms(tiles, member.query, first, at.problem.keyTile(), Side::Query); // [T, m]
    if (!keys)
      keys = keysOf(tiles, at, first, carried[0]);
    b = writeRows(tiles, at, member, first, queries, *keys, carried);
  }
  return nextState(tiles, carried, keys->maximum, b, keys->v);
}

void kernel::buildFavorChunked(BuildSite &site, const Problem &problem, const FeatureMap &map,
                               attn::DenominatorAttr guard) {
  KernelFrame frame(site, problem, "chunked", {tile::Axis::Batch, tile::Axis::Head}, hostValues(problem, map.parameter));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  std::deque<GroupMember> group = groupAt(tiles, frame, problem, point);
  auto reader = [&](const Tokens &tokens) {
    return TokenReader(tiles, frame, problem, tokens, point, gridHeads(problem));
  };
  FavorHead at{problem,
               MapAtPoint(tiles, frame, problem, map, point),
               frame,
               group,
               reader(problem.key),
               reader(problem.value),
               keyLimit(frame, tiles, problem, point),
               attn::bandCount(map.map, map.width),
               guard};
  loop(tiles, tile::Carry::Softmax, tiles.index(0), queryCount(tiles, problem, frame[problem.query.memory]),
       problem.keyTile(), emptyLogState(tiles, map.features, problem.valueWidth()),
       [&](TileBuilder &inside, Value first, ValueRange carried) { return step(inside, at, first, carried); });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {batchAxis(host, problem), host.index(gridHeads(problem))});
}
