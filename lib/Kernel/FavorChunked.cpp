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
// z and S are carried multiplied by 2^stateOffset, as are the features b that LogPairs has made; not so beside steady
// chunks.
//
// On a CPU a chunk is steady if no logarithm of its keys is above M by more than `headroom`. Every row sees the keys
// that M comes from, so M stays, and one product has the pairs:
//
//     c = max_f L(q) + M;   a = g(q) 2^(L(q) + M − c);   b = g(k) 2^(L(k) − M);   w = lt(a bᵀ)
//     num = a S + w v;   den = a z + w 1;   z, S = (z, S) + bᵀ [1 v]
//
// The denominator is at least 1: what a 2^-126 loses of any feature is below its last place. Of the first keys, and of
// those that rise further, the way above is taken.
//
//===----------------------------------------------------------------------===//
#include "FavorPieces.h"
#include "FeatureMaps.h"
#include "HeadGroup.h"
#include "LogPairs.h"
#include "Pieces.h"

#include "attune/Tile/Any.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// Features of a steady chunk's keys are at most 2^headroom: sums of them times values are in range.
static constexpr double headroom = 60;

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
  bool steady; ///< whether steady chunks have a way of their own
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

static ChunkKeys keysOf(TileBuilder &tiles, const FavorHead &at, Value first) {
  int64_t chunk = at.problem.keyTile();
  LogFeatures keys = at.map.logarithms(tiles, at.key, first, chunk, Side::Key, at.limit);             // [T, m]
  keys.exponents = tiles.mask(keys.exponents, -std::numeric_limits<double>::infinity(), tiles.sub(at.limit, first),
                              Value(), Value());
  Value v = tiles.cast(at.value.load(tiles, first, chunk, at.limit), tiles.builder.getF32Type());     // [T, dv]
  return {keys, Value(), v};
}

static Value nextMaximum(TileBuilder &tiles, const ChunkKeys &keys, Value before) {
  return tiles.maximum(before, tiles.reduceMax(keys.features.exponents, 0));
}

static LogFeatures queriesOf(TileBuilder &tiles, const FavorHead &at, const GroupMember &member, Value first) {
  return at.map.logarithms(tiles, member.query, first, at.problem.keyTile(), Side::Query);            // [T, m]
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
  Value down = at.steady ? pairs.scale : tiles.plus(pairs.scale, tiles.constant({chunk}, stateOffset));
  Value a = queries.at(tiles, tiles.minus(t, tiles.expand(down, 1, shape)));                          // [T, m]
  Value before = tiles.dot(a, carried[2], tiles.constant({chunk, problem.valueWidth()}, 0));          // [T, dv]
  Value sumBefore = tiles.reduceAdd(tiles.times(a, tiles.expand(carried[1], 0, shape)), 1);           // [T]
  Value numerator = tiles.dot(pairs.weights, keys.v, before);                                         // [T, dv]
  Value denominator = tiles.plus(tiles.reduceAdd(pairs.weights, 1), sumBefore);                       // [T]
  Value o = normalizeInUnit(tiles, at.guard, numerator, denominator, pairs.scale);                    // [T, dv]
  storeOutput(tiles, at.frame, problem, member.point, first, o);
  if (!at.steady)
    return pairs.features;
  return tiles.times(pairs.features, tiles.constant(shape, std::exp2(-stateOffset)));
}

//===----------------------------------------------------------------------===//
// Steady chunks
//===----------------------------------------------------------------------===//

/// 1 if a key's logarithm is above M [m] by more than the headroom, else 0.
static Value rises(TileBuilder &tiles, Value exponents, Value maximum) {
  Value bound = tiles.plus(maximum, tiles.constant(tiles.shape(maximum), headroom));                  // [m]
  Value excess = tiles.minus(tiles.reduceMax(exponents, 0), bound);                                   // [m]
  return tile::AnyOp::create(tiles.builder, tiles.loc, tiles.builder.getIndexType(), excess);
}

/// Writes the rows of one query head in a steady chunk: b [T, m] are the features of the keys, z and S carried.
static void writeSteadyRows(TileBuilder &tiles, const FavorHead &at, const GroupMember &member, Value first,
                            const LogFeatures &queries, Value maximum, Value b, Value v, ValueRange carried) {
  const Problem &problem = at.problem;
  int64_t chunk = problem.keyTile();
  SmallVector<int64_t> shape(tiles.shape(b));
  Value t = tiles.plus(queries.exponents, tiles.expand(maximum, 0, shape));                           // [T, m]
  Value c = tiles.reduceMax(t, 1);                                                                    // [T]
  if (guarded(at.guard))
    c = tiles.maximum(c, tiles.constant({chunk}, leastExponent(at.guard)));
  Value a = queries.at(tiles, tiles.minus(t, tiles.expand(c, 1, shape)));                             // [T, m]
  Value w = tiles.dot(a, b, tiles.constant({chunk, chunk}, 0), false, true);
  w = tiles.mask(w, 0, Value(), Value(), tiles.index(0));                                             // [T, T], j ≤ i
  Value before = tiles.dot(a, carried[1], tiles.constant({chunk, problem.valueWidth()}, 0));          // [T, dv]
  Value sumBefore = tiles.reduceAdd(tiles.times(a, tiles.expand(carried[0], 0, shape)), 1);           // [T]
  Value numerator = tiles.dot(w, v, before);                                                          // [T, dv]
  Value denominator = tiles.plus(tiles.reduceAdd(w, 1), sumBefore);                                   // [T]
  storeOutput(tiles, at.frame, problem, member.point, first,
              normalizeInUnit(tiles, at.guard, numerator, denominator, c));
}

/// Both ways of a chunk, one of which is taken; returns the next M, z, S. Heads of a group map their queries on that
/// way: their exponents would all be held at once before it.
static SmallVector<Value> branch(TileBuilder &tiles, const FavorHead &at, Value first, const LogFeatures &queries,
                                 ChunkKeys keys, ValueRange carried) {
  const LogFeatures &logs = keys.features;
  Value rising = rises(tiles, logs.exponents, carried[0]), maximum = carried[0];
  auto eachHead = [&](TileBuilder &inside, auto &&write) {
    for (const GroupMember &member : at.group)
      write(member, at.group.size() == 1 ? queries : queriesOf(inside, at, member, first));
  };
  auto steady = [&](TileBuilder &inside, Value, ValueRange before) -> SmallVector<Value> {
    Value below = inside.expand(maximum, 0, inside.shape(logs.exponents));
    Value b = logs.at(inside, inside.minus(logs.exponents, below));                                   // [T, m]
    eachHead(inside, [&](const GroupMember &member, const LogFeatures &own) {
      writeSteadyRows(inside, at, member, first, own, maximum, b, keys.v, before);
    });
    return {inside.plus(before[0], inside.reduceAdd(b, 0)), inside.dot(b, keys.v, before[1], /*transposeA=*/true)};
  };
  auto rise = [&](TileBuilder &inside, Value, ValueRange before) -> SmallVector<Value> {
    Value b;
    keys.maximum = nextMaximum(inside, keys, before[0]);
    eachHead(inside, [&](const GroupMember &member, const LogFeatures &own) {
      b = writeRows(inside, at, member, first, own, keys, before);
    });
    return nextState(inside, before, keys.maximum, b, keys.v);
  };
  SmallVector<Value> sums =
      loop(tiles, tiles.sums(), rising, tiles.index(1), 1, carried.drop_front(), steady);
  return loop(tiles, tiles.rescaledSums(), tiles.index(0), rising, 1, {maximum, sums[0], sums[1]}, rise);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Writes the chunk's outputs; returns the next M [m], z [m], S [m, dv].
static SmallVector<Value> step(TileBuilder &tiles, const FavorHead &at, Value first, ValueRange carried) {
  LogFeatures queries = queriesOf(tiles, at, at.group.front(), first);
  ChunkKeys keys = keysOf(tiles, at, first);
  if (at.steady)
    return branch(tiles, at, first, queries, keys, carried);
  keys.maximum = nextMaximum(tiles, keys, carried[0]);
  Value b;
  for (const GroupMember &member : at.group) {
    if (b)
      queries = queriesOf(tiles, at, member, first);
    b = writeRows(tiles, at, member, first, queries, keys, carried);
  }
  return nextState(tiles, carried, keys.maximum, b, keys.v);
}

/// The kernel of the chunks; `before`: the states of the pieces, where parts of the sequence run side by side.
static void buildChunks(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                        const LogStates &before) {
  Pieces pieces(problem);
  SmallVector<Value> values = hostValues(problem, map.parameter);
  if (problem.split)
    llvm::append_range(values, before.memories());
  KernelFrame frame(site, problem, "chunked", pieces.grid(), values);
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  int64_t heads = gridHeads(problem);
  std::deque<GroupMember> group = groupAt(tiles, frame, problem, point);
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, heads); };
  FavorHead at{problem,
               MapAtPoint(tiles, frame, problem, map, point),
               frame,
               group,
               reader(problem.key),
               reader(problem.value),
               keyLimit(frame, tiles, problem, point),
               attn::bandCount(map.map, map.width),
               guard,
               problem.schedule.getTarget() == tile::TargetKind::CPU};
  TokenRange tokens = pieces.tokensOfPoint(tiles, frame);
  SmallVector<Value> initial;
  if (problem.split) {
    Value head = tiles.div(point.head, heads / parameterHeads(problem, map));
    initial = mergeOfPieces(tiles, frame, before, point.batch, head, pieces.countBefore(tiles));
    if (!at.steady) // as chunks carry z and S
      for (Value &number : llvm::drop_begin(initial))
        number = tiles.times(number, tiles.constant(tiles.shape(number), std::exp2(stateOffset)));
  } else {
    initial = emptyLogState(tiles, map.features, problem.valueWidth());
  }
  loop(tiles, tiles.rescaledSums(), tokens.first, tokens.end, problem.keyTile(), initial,
       [&](TileBuilder &inside, Value first, ValueRange carried) { return step(inside, at, first, carried); });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, pieces.gridSizes(host, batchAxis(host, problem), host.index(heads)));
}

void kernel::buildFavorChunked(BuildSite &site, const Problem &problem, const FeatureMap &map,
                               attn::DenominatorAttr guard) {
  buildChunks(site, problem, map, guard, problem.split ? buildFavorPieces(site, problem, map) : LogStates());
}
