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

/// S[m, dv] and z[m] of the keys first ≤ j < end; keys at or past `limit` do not exist.
static SmallVector<Value> stateOfKeys(TileBuilder &tiles, const Problem &problem, attn::FeatureMapAttr map,
                                      ValueRange place, Value key, Value value, Value first, Value end, Value limit) {
  int64_t keyTile = problem.keyTile(), features = map.getFeatures(problem.width);
  SmallVector<Value> zero{tiles.constant({features, problem.valueWidth}, 0), tiles.constant({features}, 0)};
  auto step = [&](TileBuilder &inner, Value j, ValueRange carried) -> SmallVector<Value> {
    Value c0 = inner.index(0);
    Value k = inner.load(key, {place[0], place[1], j, c0}, {keyTile, problem.width}, limit);
    Value v = inner.load(value, {place[0], place[1], j, c0}, {keyTile, problem.valueWidth}, limit); // [Tk, dv]
    // φ(0) ≠ 0: keys that do not exist are cleared after the map.
    Value b = inner.mask(featureMap(inner, map, k), 0, inner.sub(limit, j), Value(), Value());      // [Tk, m]
    Type operand = kernelOperand(problem, inner);
    Value state = inner.dot(inner.cast(b, operand), inner.cast(v, operand), carried[0], /*transposeA=*/true);
    return {state, inner.plus(carried[1], inner.reduceAdd(b, 0))};
  };
  return loop(tiles, tile::Carry::Sum, first, end, keyTile, zero, step);
}

/// The states of the pieces into `states` [batch, G, pieces, m, dv] and `sums` [batch, G, pieces, m].
static void buildPieces(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map, Value states, Value sums,
                        Value pieces) {
  KernelFrame frame(site, problem, "state", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                    {problem.key, problem.value, problem.lengths, states, sums});
  TileBuilder &tiles = frame.tiles;
  Value batch = tiles.programId(tile::Axis::Batch), head = tiles.programId(tile::Axis::Head);
  Value piece = tiles.programId(tile::Axis::KeyPiece);
  int64_t length = problem.schedule.getPiece();
  Value first = tiles.mul(piece, length);
  Value limit = keyLimit(tiles, frame[problem.key], frame[problem.lengths], batch);
  Value end = tiles.min(tiles.add(first, tiles.index(length)), limit);
  SmallVector<Value> state = stateOfKeys(tiles, problem, map, {batch, head}, frame[problem.key], frame[problem.value],
                                         first, end, limit);
  Value c0 = tiles.index(0);
  tiles.store(state[0], frame[states], {batch, head, piece, c0, c0});
  tiles.store(state[1], frame[sums], {batch, head, piece, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.key, 0), host.index(problem.sharedHeads), pieces});
}

/// S₀ (or 0) plus the pieces, one after another.
static void buildMerge(BuildSite &site, const Problem &problem, int64_t features, Value states, Value sums, Value state,
                       Value sum) {
  KernelFrame frame(site, problem, "merge", {tile::Axis::Batch, tile::Axis::Head},
                    {states, sums, problem.initialState, problem.initialSum, state, sum});
  TileBuilder &tiles = frame.tiles;
  Value batch = tiles.programId(tile::Axis::Batch), head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  SmallVector<int64_t> shape{features, problem.valueWidth};
  SmallVector<Value> carried{tiles.constant(shape, 0), tiles.constant({features}, 0)};
  if (problem.initialState)
    carried = {tiles.load(frame[problem.initialState], {batch, head, c0, c0}, shape),
               tiles.load(frame[problem.initialSum], {batch, head, c0}, {features})};
  Value statesIn = frame[states], sumsIn = frame[sums];
  auto step = [&](TileBuilder &inner, Value piece, ValueRange before) -> SmallVector<Value> {
    Value s = inner.load(statesIn, {batch, head, piece, c0, c0}, shape);
    Value z = inner.load(sumsIn, {batch, head, piece, c0}, {features});
    return {inner.plus(before[0], s), inner.plus(before[1], z)};
  };
  carried = loop(tiles, tile::Carry::Sum, c0, tiles.dim(statesIn, 2), 1, carried, step);
  tiles.store(carried[0], frame[state], {batch, head, c0, c0});
  tiles.store(carried[1], frame[sum], {batch, head, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.key, 0), host.index(problem.sharedHeads)});
}

static Value workspace(BuildSite &site, ArrayRef<int64_t> shape, ValueRange sizes) {
  return tile::WorkspaceOp::create(site.host, site.loc, MemRefType::get(shape, site.host.getF32Type()), sizes);
}

void kernel::buildState(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map, Value state, Value sum) {
  TileBuilder host(site.host, site.loc);
  int64_t features = map.getFeatures(problem.width), heads = problem.sharedHeads;
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(problem.key, 0);
  Value pieces = host.ceilDiv(host.dim(problem.key, 2), problem.schedule.getPiece());
  Value states = workspace(site, {dynamic, heads, dynamic, features, problem.valueWidth}, {batch, pieces});
  Value sums = workspace(site, {dynamic, heads, dynamic, features}, {batch, pieces});
  buildPieces(site, problem, map, states, sums, pieces);
  buildMerge(site, problem, features, states, sums, state, sum);
}

static void buildReadout(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map, attn::DenominatorAttr guard,
                         Value state, Value sum) {
  KernelFrame frame(site, problem, "readout", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    {problem.query, state, sum, problem.output});
  TileBuilder &tiles = frame.tiles;
  int64_t rows = problem.queryTile(), features = map.getFeatures(problem.width);
  Value batch = tiles.programId(tile::Axis::Batch), head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  Value shared = tiles.div(head, problem.group());
  Value firstQuery = tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows);
  Value q = tiles.load(frame[problem.query], {batch, head, firstQuery, c0}, {rows, problem.width});
  Value a = featureMap(tiles, map, q);                                                       // [Tq, m]
  Value s = tiles.load(frame[state], {batch, shared, c0, c0}, {features, problem.valueWidth}); // [m, dv]
  Value z = tiles.load(frame[sum], {batch, shared, c0}, {features});                          // [m]
  Value numerator = tiles.dot(a, s, tiles.constant({rows, problem.valueWidth}, 0));
  Value denominator = tiles.reduceAdd(tiles.times(a, tiles.expand(z, 0, {rows, features})), 1); // [Tq]
  tiles.store(normalize(tiles, guard, numerator, denominator), frame[problem.output], {batch, head, firstQuery, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.query, 0), host.index(problem.heads),
                      host.ceilDiv(host.dim(problem.query, 2), rows)});
}

void kernel::buildStateAndReadout(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map,
                                  attn::DenominatorAttr guard) {
  Value state = problem.finalState, sum = problem.finalSum;
  if (!state) {
    TileBuilder host(site.host, site.loc);
    int64_t features = map.getFeatures(problem.width), heads = problem.sharedHeads;
    Value batch = host.dim(problem.key, 0);
    state = workspace(site, {ShapedType::kDynamic, heads, features, problem.valueWidth}, batch);
    sum = workspace(site, {ShapedType::kDynamic, heads, features}, batch);
  }
  buildState(site, problem, map, state, sum);
  buildReadout(site, problem, map, guard, state, sum);
}
