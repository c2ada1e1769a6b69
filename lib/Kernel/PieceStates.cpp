//===- PieceStates.cpp - States of the pieces of a sequence ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PieceStates.h"

#include "LastPiece.h"
#include "Pieces.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

PieceStates kernel::allocatePieces(BuildSite &site, const Problem &problem, const FeatureMap &map) {
  TileBuilder host(site.host, site.loc);
  int64_t heads = parameterHeads(problem, map);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(problem.key.memory, 0), pieces = Pieces(problem).count(host);
  Value states = site.workspace({dynamic, heads, dynamic, map.features, problem.valueWidth()}, {batch, pieces});
  return {states, site.workspace({dynamic, heads, dynamic, map.features}, {batch, pieces}), Value(), Value()};
}

SmallVector<Value> kernel::sumOfPieces(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem,
                                       const FeatureMap &map, const PieceStates &memories, Value batch, Value head,
                                       Value count) {
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
  return loop(tiles, tiles.sums(), tiles.index(0), count, 1, carried, step);
}

void kernel::mergePieces(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const FeatureMap &map,
                         const PieceStates &memories, Value batch, Value head) {
  Value count = tiles.dim(frame[memories.states], 2);
  SmallVector<Value> state = sumOfPieces(tiles, frame, problem, map, memories, batch, head, count);
  storeState(tiles, map, state, {frame[memories.state], frame[memories.sum], {batch, head}});
}

void kernel::buildPieces(BuildSite &site, const Problem &problem, const FeatureMap &map, const PieceStates &memories,
                         Value counters) {
  SmallVector<Value> values{problem.lengths, map.parameter, map.shift, memories.states, memories.sums};
  if (counters)
    values.append({counters, problem.initialState, problem.initialSum, memories.state, memories.sum});
  KernelFrame frame(site, problem, counters ? "merged_state" : "state",
                    {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                    hostValues({&problem.key, &problem.value}, values));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value piece = tiles.programId(tile::Axis::KeyPiece);
  Value limit = keyLimit(frame, tiles, problem, point);
  TokenRange range = Pieces(problem).tokens(tiles, frame, piece, limit);
  KeysAtPoint keys(frame, problem, map, point, limit);
  SmallVector<Value> state =
      loop(tiles, tiles.sums(), range.first, range.end, problem.keyTile(), zeroState(tiles, map, problem.valueWidth()),
           [&](TileBuilder &inner, Value j, ValueRange carried) { return keys.add(inner, j, carried); });
  storeState(tiles, map, state, {frame[memories.states], frame[memories.sums], {point.batch, point.head, piece}});
  Value all = counters ? tiles.dim(frame[memories.states], 2) : Value();
  if (counters)
    inLastPiece(tiles, frame[counters], {point.batch, point.head}, all,
                [&](TileBuilder &inner) { mergePieces(inner, frame, problem, map, memories, point.batch, point.head); });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.key.memory, 0), host.index(parameterHeads(problem, map)),
                      host.dim(memories.states, 2)});
}
