//===- State.cpp - Kernel attention in two passes: state and readout -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state:    parallel over (batch, KV head, piece)      S = φ(K)ᵀ V, z = φ(K)ᵀ 1 over the keys of the piece
//   merge:    parallel over (batch, KV head)             S = S₀ + Σ_pieces S, in the order of the pieces
//   readout:  parallel over (batch, head, query block)   o = φ(q) S / guard(φ(q) z)
//
// A piece has a fixed number of keys, so the order of sums depends on N alone. Fused, the tiles are those of one kernel
// (FusedState.cpp) and the keys one piece.
//
//===----------------------------------------------------------------------===//
#include "FusedState.h"
#include "QueryBlocks.h"
#include "StateTiles.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
/// The keys that a grid point maps; those at or past `limit` do not exist.
struct KeysAtPoint {
  KeysAtPoint(KernelFrame &frame, const Problem &problem, const FeatureMap &map, const Point &point, Value limit)
      : problem(problem), key(frame.tiles, frame, problem, problem.key, point, parameterHeads(problem, map)),
        value(frame.tiles, frame, problem, problem.value, point, parameterHeads(problem, map)),
        mapped(frame.tiles, frame, problem, map, point), limit(limit) {}

  /// S[m, dv] and z[m] with the tile at j added.
  SmallVector<Value> add(TileBuilder &tiles, Value j, ValueRange carried) const {
    int64_t keyTile = problem.keyTile();
    Features b = mapped.features(tiles, key, j, keyTile, Side::Key, limit); // [Tk, m]
    b = clearRows(tiles, b, tiles.sub(limit, j)); // φ(0) ≠ 0: keys that do not exist are cleared after the map
    Value v = value.load(tiles, j, keyTile, limit);                         // [Tk, dv]
    return addKeys(tiles, carried, b, v, kernelOperand(problem, tiles));
  }

  const Problem &problem;
  TokenReader key, value;
  MapAtPoint mapped;
  Value limit;
};
} // namespace

/// o [Tq, dv] of features a [Tq, m].
static Value outputOf(TileBuilder &tiles, attn::DenominatorAttr guard, const Features &a, ValueRange state) {
  auto [numerator, denominator] = readState(tiles, state, a); // [Tq, dv], [Tq]
  return normalize(tiles, guard, numerator, denominator);
}

/// The states of the pieces into `states` [batch, F, pieces, m, dv] and `sums` [batch, F, pieces, m].
static void buildPieces(BuildSite &site, const Problem &problem, const FeatureMap &map, Value states, Value sums,
                        Value pieces) {
  KernelFrame frame(site, problem, "state", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                    hostValues({&problem.key, &problem.value},
                               {problem.lengths, map.parameter, map.shift, states, sums}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value piece = tiles.programId(tile::Axis::KeyPiece);
  int64_t length = problem.schedule.getPiece();
  Value first = tiles.mul(piece, length);
  Value limit = keyLimit(frame, tiles, problem, point);
  Value end = tiles.min(tiles.add(first, tiles.index(length)), limit);
  KeysAtPoint keys(frame, problem, map, point, limit);
  SmallVector<Value> state =
      loop(tiles, tile::Carry::Sum, first, end, problem.keyTile(), zeroState(tiles, map, problem.valueWidth()),
           [&](TileBuilder &inner, Value j, ValueRange carried) { return keys.add(inner, j, carried); });
  storeState(tiles, map, state, {frame[states], frame[sums], {point.batch, point.head, piece}});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.key.memory, 0), host.index(parameterHeads(problem, map)), pieces});
}

/// S₀ (or 0) plus the pieces, one after another.
static void buildMerge(BuildSite &site, const Problem &problem, const FeatureMap &map, Value states, Value sums,
                       Value state, Value sum) {
  KernelFrame frame(site, problem, "merge", {tile::Axis::Batch, tile::Axis::Head},
                    {states, sums, problem.initialState, problem.initialSum, state, sum});
  TileBuilder &tiles = frame.tiles;
  Value batch = tiles.programId(tile::Axis::Batch), head = tiles.programId(tile::Axis::Head);
  int64_t width = problem.valueWidth();
  SmallVector<Value> carried = zeroState(tiles, map, width);
  if (problem.initialState)
    carried = loadState(tiles, map, width, {frame[problem.initialState], frame[problem.initialSum], {batch, head}});
  Value statesIn = frame[states], sumsIn = frame[sums];
  auto step = [&](TileBuilder &inner, Value piece, ValueRange before) {
    SmallVector<Value> next = loadState(inner, map, width, {statesIn, sumsIn, {batch, head, piece}});
    for (auto [sum, part] : llvm::zip_equal(before, next))
      part = inner.plus(sum, part);
    return next;
  };
  carried = loop(tiles, tile::Carry::Sum, tiles.index(0), tiles.dim(statesIn, 2), 1, carried, step);
  storeState(tiles, map, carried, {frame[state], frame[sum], {batch, head}});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(states, 0), host.dim(states, 1)});
}

void kernel::buildState(BuildSite &site, const Problem &problem, const FeatureMap &map, Value state, Value sum) {
  TileBuilder host(site.host, site.loc);
  int64_t heads = parameterHeads(problem, map);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(problem.key.memory, 0);
  Value pieces = host.ceilDiv(tokenCount(host, problem.key.memory), problem.schedule.getPiece());
  Value states = site.workspace({dynamic, heads, dynamic, map.features, problem.valueWidth()}, {batch, pieces});
  Value sums = site.workspace({dynamic, heads, dynamic, map.features}, {batch, pieces});
  buildPieces(site, problem, map, states, sums, pieces);
  buildMerge(site, problem, map, states, sums, state, sum);
}

static void buildReadout(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                         Value state, Value sum) {
  auto read = [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
    Value shared = tiles.div(point.head, problem.heads() / parameterHeads(problem, map));
    TokenReader query(tiles, frame, problem, problem.query, point, problem.heads());
    MapAtPoint mapped(tiles, frame, problem, map, point);
    Features a = mapped.features(tiles, query, firstQuery, problem.queryTile(), Side::Query); // [Tq, m]
    StatePlace place{frame[state], frame[sum], {point.batch, shared}};
    return outputOf(tiles, guard, a, loadState(tiles, map, problem.valueWidth(), place));     // of [m, dv], [m]
  };
  buildQueryBlocks(site, problem, "readout", hostValues({&problem.query}, {map.parameter, state, sum}), read);
}

/// The kernel that keeps the state; it is stored only if somebody else reads it.
static void buildFused(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard) {
  int64_t heads = parameterHeads(problem, map);
  auto prepare = [&](KernelFrame &frame, const Point &point, Value limit) {
    auto keys = std::make_shared<KeysAtPoint>(frame, problem, map, point, limit);
    StateSteps steps;
    steps.empty = zeroState(frame.tiles, map, problem.valueWidth());
    steps.add = [=](TileBuilder &tiles, Value first, ValueRange state) { return keys->add(tiles, first, state); };
    steps.read = [=, &problem](TileBuilder &tiles, const TokenReader &query, Value first, ValueRange state) {
      Features a = keys->mapped.features(tiles, query, first, problem.queryTile(), Side::Query); // [Tq, m]
      return outputOf(tiles, guard, a, state);
    };
    if (problem.finalState)
      steps.finish = [=, &frame, &problem, &map, &point](TileBuilder &tiles, ValueRange state) {
        storeState(tiles, map, state, {frame[problem.finalState], frame[problem.finalSum], {point.batch, point.head}});
        return SmallVector<Value>(state);
      };
    return steps;
  };
  buildFusedState(site, problem, heads, {map.parameter, map.shift, problem.finalState, problem.finalSum}, prepare);
}

void kernel::buildStateAndReadout(BuildSite &site, const Problem &problem, const FeatureMap &map,
                                  attn::DenominatorAttr guard) {
  if (problem.fused)
    return buildFused(site, problem, map, guard);
  Value state = problem.finalState, sum = problem.finalSum;
  if (!state) {
    TileBuilder host(site.host, site.loc);
    int64_t heads = parameterHeads(problem, map);
    Value batch = host.dim(problem.key.memory, 0);
    state = site.workspace({ShapedType::kDynamic, heads, map.features, problem.valueWidth()}, batch);
    sum = site.workspace({ShapedType::kDynamic, heads, map.features}, batch);
  }
  buildState(site, problem, map, state, sum);
  buildReadout(site, problem, map, guard, state, sum);
}
