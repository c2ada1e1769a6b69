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
// `merged_state` is both of the first two: the grid point whose piece is stored last merges all. A piece has a fixed
// number of keys, so the order of sums depends on N alone. Fused, the tiles are those of one kernel (FusedState.cpp) and
// the keys one piece.
//
//===----------------------------------------------------------------------===//
#include "FusedState.h"
#include "LastPiece.h"
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
static Value outputOf(TileBuilder &tiles, const Problem &problem, attn::DenominatorAttr guard, const Features &a,
                      ValueRange state) {
  auto [numerator, denominator] = readState(tiles, state, a, stateOperand(problem, tiles)); // [Tq, dv], [Tq]
  return normalize(tiles, guard, numerator, denominator);
}

namespace {
/// Memories of the host: states [batch, F, pieces, m, dv] and sums [batch, F, pieces, m] of the pieces, and what they are merged
/// into [batch, F, m, dv], [batch, F, m].
struct PieceStates {
  Value states, sums, state, sum;
};
} // namespace

/// S₀ (or 0) plus the pieces, one after another.
static void mergePieces(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const FeatureMap &map,
                        const PieceStates &memories, Value batch, Value head) {
  int64_t width = problem.valueWidth();
  SmallVector<Value> carried = zeroState(tiles, map, width);
  if (problem.initialState)
    carried = loadState(tiles, map, width, {frame[problem.initialState], frame[problem.initialSum], {batch, head}});
  Value statesIn = frame[memories.states], sumsIn = frame[memories.sums];
  auto step = [&](TileBuilder &inner, Value piece, ValueRange before) {
    SmallVector<Value> next = loadState(inner, map, width, {statesIn, sumsIn, {batch, head, piece}});
    for (auto [sum, part] : llvm::zip_equal(before, next))
      part = inner.plus(sum, part);
    return next;
  };
  carried = loop(tiles, tile::Carry::Sum, tiles.index(0), tiles.dim(statesIn, 2), 1, carried, step);
  storeState(tiles, map, carried, {frame[memories.state], frame[memories.sum], {batch, head}});
}

/// The states of the pieces; with `counters` the point of the last one merges them.
static void buildPieces(BuildSite &site, const Problem &problem, const FeatureMap &map, const PieceStates &memories,
                        Value pieces, Value counters) {
  SmallVector<Value> values{problem.lengths, map.parameter, map.shift, memories.states, memories.sums};
  if (counters)
    values.append({counters, problem.initialState, problem.initialSum, memories.state, memories.sum});
  KernelFrame frame(site, problem, counters ? "merged_state" : "state",
                    {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                    hostValues({&problem.key, &problem.value}, values));
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
  storeState(tiles, map, state, {frame[memories.states], frame[memories.sums], {point.batch, point.head, piece}});
  if (counters)
    inLastPiece(tiles, frame[counters], {point.batch, point.head}, tiles.dim(frame[memories.states], 2),
                [&](TileBuilder &inner) { mergePieces(inner, frame, problem, map, memories, point.batch, point.head); });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.key.memory, 0), host.index(parameterHeads(problem, map)), pieces});
}

static void buildMerge(BuildSite &site, const Problem &problem, const FeatureMap &map, const PieceStates &memories) {
  KernelFrame frame(site, problem, "merge", {tile::Axis::Batch, tile::Axis::Head},
                    {memories.states, memories.sums, problem.initialState, problem.initialSum, memories.state, memories.sum});
  TileBuilder &tiles = frame.tiles;
  mergePieces(tiles, frame, problem, map, memories, tiles.programId(tile::Axis::Batch), tiles.programId(tile::Axis::Head));
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(memories.states, 0), host.dim(memories.states, 1)});
}

void kernel::buildState(BuildSite &site, const Problem &problem, const FeatureMap &map, Value state, Value sum) {
  TileBuilder host(site.host, site.loc);
  int64_t heads = parameterHeads(problem, map);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(problem.key.memory, 0);
  Value pieces = pieceCount(host, problem);
  Value states = site.workspace({dynamic, heads, dynamic, map.features, problem.valueWidth()}, {batch, pieces});
  Value sums = site.workspace({dynamic, heads, dynamic, map.features}, {batch, pieces});
  PieceStates memories{states, sums, state, sum};
  Value counters = problem.merged ? counterWorkspace(site, batch, heads) : Value();
  buildPieces(site, problem, map, memories, pieces, counters);
  if (!counters)
    buildMerge(site, problem, map, memories);
}

static void buildReadout(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                         Value state, Value sum) {
  auto read = [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
    Value shared = tiles.div(point.head, problem.heads() / parameterHeads(problem, map));
    TokenReader query(tiles, frame, problem, problem.query, point, problem.heads());
    MapAtPoint mapped(tiles, frame, problem, map, point);
    Features a = mapped.features(tiles, query, firstQuery, problem.queryTile(), Side::Query); // [Tq, m]
    StatePlace place{frame[state], frame[sum], {point.batch, shared}};
    return outputOf(tiles, problem, guard, a, loadState(tiles, map, problem.valueWidth(), place));     // of [m, dv], [m]
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
      return outputOf(tiles, problem, guard, a, state);
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
