//===- SketchUnit.cpp - The running unit of causal sketched keys -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SketchUnit.h"

#include "SketchTree.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value kernel::repeat(TileBuilder &tiles, Value x, int64_t rows) {
  return tiles.reduceAdd(tiles.expand(x, 1, {1, rows}), 0);
}

RunningUnit kernel::buildRunningUnit(BuildSite &site, const Problem &problem, const SketchMatrices &matrices) {
  TileBuilder host(site.host, site.loc);
  Value batch = host.dim(problem.query.memory, 0), count = host.dim(problem.query.memory, 2);
  auto numbers = [&] {
    return site.workspace({ShapedType::kDynamic, problem.heads(), ShapedType::kDynamic}, {batch, count});
  };
  RunningUnit result{numbers(), numbers(), static_cast<int64_t>(matrices.leaves.size())};
  KernelFrame frame(site, problem, "running", {tile::Axis::Batch, tile::Axis::Head},
                    hostValues({&problem.key, &problem.query}, {problem.lengths, result.lengths, result.largest}));
  TileBuilder &tiles = frame.tiles;
  RunningUnit inside = result.in(frame);
  Point point = gridPoint(frame, problem);
  Value limit = keyLimit(frame, tiles, problem, point), c0 = tiles.index(0);
  int64_t rows = problem.keyTile();
  TokenReader key(tiles, frame, problem, problem.key, point, problem.heads());
  auto step = [&](TileBuilder &inner, Value first, ValueRange carried) -> SmallVector<Value> {
    Value k = inner.cast(key.load(inner, first, rows, limit), inner.builder.getF32Type());               // [T, d]
    Value lengths = sketchLength(inner, k, hasPairs(matrices));                                          // [T]
    Value upTo = inner.mask(inner.expand(lengths, 0, {rows, rows}), 0, Value(), Value(), inner.index(0)); // [T, T]
    Value here = inner.maximum(inner.reduceMax(upTo, 1), repeat(inner, carried[0], rows));               // [T]
    inner.store(lengths, inside.lengths, {point.batch, point.head, first});
    inner.store(here, inside.largest, {point.batch, point.head, first});
    return {inner.maximum(carried[0], inner.reduceMax(inner.expand(lengths, 0, {1, rows}), 1))};         // [1]
  };
  // A null key has no direction: any unit will do.
  loop(tiles, tiles.maxima(), c0, tiles.dim(frame[problem.query.memory], 2), rows, tiles.constant({1}, 0x1p-120), step);
  frame.finish(site, {batch, host.index(problem.heads())});
  return result;
}

RunningUnit RunningUnit::in(const KernelFrame &frame) const {
  return *this ? RunningUnit{frame[lengths], frame[largest], power} : *this;
}

/// 1 / M [rows]. Rows past the end read 0.
static Value inverse(TileBuilder &tiles, Value largest) {
  ArrayRef<int64_t> shape = tiles.shape(largest);
  return tiles.over(tiles.constant(shape, 1), tiles.maximum(largest, tiles.constant(shape, 0x1p-120)));
}

Value RunningUnit::ofQueries(TileBuilder &tiles, const Point &point, Value first, int64_t rows) const {
  return tiles.load(largest, {point.batch, point.head, first}, rows);
}

Value RunningUnit::ofPairs(TileBuilder &tiles, const Point &point, Value firstQuery, Value firstKey, int64_t rows,
                           Value limit) const {
  SmallVector<int64_t> pairs{rows, rows};
  Value k = tiles.load(lengths, {point.batch, point.head, firstKey}, rows, limit);      // [Tk]
  Value each = inverse(tiles, ofQueries(tiles, point, firstQuery, rows));               // [Tq]
  return evenPower(tiles, tiles.times(tiles.expand(k, 0, pairs), tiles.expand(each, 1, pairs)), power);
}

Value RunningUnit::ofKeys(TileBuilder &tiles, const Point &point, Value first, int64_t rows, Value limit,
                          Value last) const {
  Value k = tiles.load(lengths, {point.batch, point.head, first}, rows, limit);         // [T]
  Value each = inverse(tiles, ofQueries(tiles, point, last, 1));                        // [1]
  return evenPower(tiles, tiles.times(k, repeat(tiles, each, rows)), power);
}

Value RunningUnit::ofState(TileBuilder &tiles, const Point &point, Value before, Value first, int64_t rows) const {
  Value now = ofQueries(tiles, point, first, rows);                                     // [Tq]
  Value then = repeat(tiles, ofQueries(tiles, point, before, 1), rows);                 // [Tq]
  return unitFactor(tiles, then, now, inverse(tiles, now), power);
}
