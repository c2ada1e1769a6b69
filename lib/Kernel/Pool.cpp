//===- Pool.cpp - The mean of equal runs of tokens ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, run):  result [d] = Σ_{t in the run} x_t / the run's length
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value kernel::meanOfTokens(TileBuilder &tiles, const TokenReader &tokens, Value from, Value end, int64_t tile) {
  Type f32 = tiles.builder.getF32Type();
  SmallVector<int64_t> row{1, tokens.width()};
  auto step = [&](TileBuilder &inner, Value first, ValueRange carried) -> SmallVector<Value> {
    Value x = inner.cast(tokens.load(inner, first, tile, end), f32); // [T, width]
    return {inner.plus(carried[0], inner.reduceAdd(x, 0))};
  };
  Value zero = tiles.constant({tokens.width()}, 0);
  Value sum = loop(tiles, tiles.sums(), from, end, tile, zero, step)[0];           // [width]
  // Of no tokens at all the mean is 0, as the sum is.
  Value count = tiles.iota(tiles.max(tiles.sub(end, from), tiles.index(1)), 1);        // [1]
  return tiles.over(tiles.expand(sum, 0, row), tiles.expand(count, 1, row));           // [1, width]
}

void kernel::buildPool(BuildSite &site, const Problem &problem, const Tokens &result, Value count) {
  KernelFrame frame(site, problem, "pool", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    hostValues({&problem.query}, result.memory));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value run = tiles.programId(tile::Axis::QueryBlock), c0 = tiles.index(0);
  Value tokens = tiles.dim(frame[problem.query.memory], 2);
  int64_t runs = cast<MemRefType>(result.memory.getType()).getDimSize(2);
  Value from = multiply(tiles, run, tiles.div(tokens, runs));
  Value end = tiles.add(from, tiles.div(tokens, runs));
  TokenReader query(tiles, frame, problem, problem.query, point, problem.heads());
  Value mean = meanOfTokens(tiles, query, from, end, problem.schedule.getKeyTile());
  tiles.store(mean, frame[result.memory], {point.batch, point.head, run, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.query.memory, 0), host.index(problem.heads()), count});
}
