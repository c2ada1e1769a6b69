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
// A piece has a fixed number of keys, so the order of sums depends on N alone.
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// The heads that have a state of their own: those of the keys, or of the queries where each maps the keys its own way.
static int64_t stateHeads(const Problem &problem, const FeatureMap &map) {
  auto memory = map.parameter ? cast<MemRefType>(map.parameter.getType()) : MemRefType();
  return memory && memory.getDimSize(0) > 1 ? problem.heads() : problem.sharedHeads();
}

/// S[m, dv] and z[m] of the keys first ≤ j < end; keys at or past `limit` do not exist.
static SmallVector<Value> stateOfKeys(TileBuilder &tiles, const Problem &problem, const FeatureMap &map,
                                      const TokenReader &key, const TokenReader &value, Value first, Value end,
                                      Value limit) {
  int64_t keyTile = problem.keyTile();
  SmallVector<Value> zero{tiles.constant({map.features, problem.valueWidth()}, 0), tiles.constant({map.features}, 0)};
  auto step = [&](TileBuilder &inner, Value j, ValueRange carried) -> SmallVector<Value> {
    Value k = key.load(inner, j, keyTile, limit);                                              // [Tk, d]
    Value v = value.load(inner, j, keyTile, limit);                                            // [Tk, dv]
    // φ(0) ≠ 0: keys that do not exist are cleared after the map.
    Value b = inner.mask(featureMap(inner, map, k), 0, inner.sub(limit, j), Value(), Value()); // [Tk, m]
    Type operand = kernelOperand(problem, inner);
    Value state = inner.dot(inner.cast(b, operand), inner.cast(v, operand), carried[0], /*transposeA=*/true);
    return {state, inner.plus(carried[1], inner.reduceAdd(b, 0))};
  };
  return loop(tiles, tile::Carry::Sum, first, end, keyTile, zero, step);
}

/// The states of the pieces into `states` [batch, F, pieces, m, dv] and `sums` [batch, F, pieces, m].
static void buildPieces(BuildSite &site, const Problem &problem, const FeatureMap &map, Value states, Value sums,
                        Value pieces) {
  KernelFrame frame(site, problem, "state", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                    hostValues({&problem.key, &problem.value}, {problem.lengths, map.parameter, states, sums}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value piece = tiles.programId(tile::Axis::KeyPiece);
  int64_t length = problem.schedule.getPiece(), heads = stateHeads(problem, map);
  Value first = tiles.mul(piece, length);
  Value limit = keyLimit(frame, tiles, problem, point);
  Value end = tiles.min(tiles.add(first, tiles.index(length)), limit);
  TokenReader key(tiles, frame, problem, problem.key, point, heads);
  TokenReader value(tiles, frame, problem, problem.value, point, heads);
  SmallVector<Value> state = stateOfKeys(tiles, problem, map, key, value, first, end, limit);
  Value c0 = tiles.index(0);
  tiles.store(state[0], frame[states], {point.batch, point.head, piece, c0, c0});
  tiles.store(state[1], frame[sums], {point.batch, point.head, piece, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.key.memory, 0), host.index(heads), pieces});
}

/// S₀ (or 0) plus the pieces, one after another.
static void buildMerge(BuildSite &site, const Problem &problem, const FeatureMap &map, Value states, Value sums,
                       Value state, Value sum) {
  KernelFrame frame(site, problem, "merge", {tile::Axis::Batch, tile::Axis::Head},
                    {states, sums, problem.initialState, problem.initialSum, state, sum});
  TileBuilder &tiles = frame.tiles;
  Value batch = tiles.programId(tile::Axis::Batch), head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  SmallVector<int64_t> shape{map.features, problem.valueWidth()};
  SmallVector<Value> carried{tiles.constant(shape, 0), tiles.constant({map.features}, 0)};
  if (problem.initialState)
    carried = {tiles.load(frame[problem.initialState], {batch, head, c0, c0}, shape),
               tiles.load(frame[problem.initialSum], {batch, head, c0}, {map.features})};
  Value statesIn = frame[states], sumsIn = frame[sums];
  auto step = [&](TileBuilder &inner, Value piece, ValueRange before) -> SmallVector<Value> {
    Value s = inner.load(statesIn, {batch, head, piece, c0, c0}, shape);
    Value z = inner.load(sumsIn, {batch, head, piece, c0}, {map.features});
    return {inner.plus(before[0], s), inner.plus(before[1], z)};
  };
  carried = loop(tiles, tile::Carry::Sum, c0, tiles.dim(statesIn, 2), 1, carried, step);
  tiles.store(carried[0], frame[state], {batch, head, c0, c0});
  tiles.store(carried[1], frame[sum], {batch, head, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(states, 0), host.dim(states, 1)});
}

void kernel::buildState(BuildSite &site, const Problem &problem, const FeatureMap &map, Value state, Value sum) {
  TileBuilder host(site.host, site.loc);
  int64_t heads = stateHeads(problem, map);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(problem.key.memory, 0);
  Value pieces = host.ceilDiv(host.dim(problem.key.memory, 2), problem.schedule.getPiece());
  Value states = site.workspace({dynamic, heads, dynamic, map.features, problem.valueWidth()}, {batch, pieces});
  Value sums = site.workspace({dynamic, heads, dynamic, map.features}, {batch, pieces});
  buildPieces(site, problem, map, states, sums, pieces);
  buildMerge(site, problem, map, states, sums, state, sum);
}

static void buildReadout(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                         Value state, Value sum) {
  SmallVector<Value> values = hostValues({&problem.query}, {map.parameter, state, sum});
  llvm::append_range(values, hostValues(problem.output));
  KernelFrame frame(site, problem, "readout", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock}, values);
  TileBuilder &tiles = frame.tiles;
  int64_t rows = problem.queryTile();
  Point point = gridPoint(frame, problem);
  Value c0 = tiles.index(0), shared = tiles.div(point.head, problem.heads() / stateHeads(problem, map));
  Value firstQuery = tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows);
  Value q = TokenReader(tiles, frame, problem, problem.query, point, problem.heads()).load(tiles, firstQuery, rows);
  Value a = featureMap(tiles, map, q);                                                           // [Tq, m]
  Value s = tiles.load(frame[state], {point.batch, shared, c0, c0}, {map.features, problem.valueWidth()}); // [m, dv]
  Value z = tiles.load(frame[sum], {point.batch, shared, c0}, {map.features});                   // [m]
  Value numerator = tiles.dot(a, s, tiles.constant({rows, problem.valueWidth()}, 0));            // [Tq, dv]
  Value denominator = tiles.reduceAdd(tiles.times(a, tiles.expand(z, 0, {rows, map.features})), 1); // [Tq]
  storeOutput(tiles, frame, problem, point, firstQuery, normalize(tiles, guard, numerator, denominator));
  frame.finish(site, queryGrid(site, problem));
}

void kernel::buildStateAndReadout(BuildSite &site, const Problem &problem, const FeatureMap &map,
                                  attn::DenominatorAttr guard) {
  Value state = problem.finalState, sum = problem.finalSum;
  if (!state) {
    TileBuilder host(site.host, site.loc);
    int64_t heads = stateHeads(problem, map);
    Value batch = host.dim(problem.key.memory, 0);
    state = site.workspace({ShapedType::kDynamic, heads, map.features, problem.valueWidth()}, batch);
    sum = site.workspace({ShapedType::kDynamic, heads, map.features}, batch);
  }
  buildState(site, problem, map, state, sum);
  buildReadout(site, problem, map, guard, state, sum);
}
