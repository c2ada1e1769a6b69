//===- SketchUnit.cpp - The running unit of causal sketched keys -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SketchUnit.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value kernel::repeat(TileBuilder &tiles, Value x, int64_t rows) {
  return tiles.reduceAdd(tiles.expand(x, 1, {1, rows}), 0);
}

Value kernel::sketchLength(TileBuilder &tiles, Value x, bool pairs) {
  Value norm = tiles.sqrt(tiles.reduceAdd(tiles.times(x, x), 1));                          // [T]
  return pairs ? tiles.selectEqual(norm, 0, norm, tile::powerOfTwoNextTo(tiles, norm)) : norm;
}

Value kernel::largestNorm(TileBuilder &tiles, Value largest, const Point &point, int64_t rows) {
  Value one = tiles.load(largest, {point.batch, point.head}, 1);                                           // [1]
  return tiles.reduceAdd(tiles.expand(one, 1, {1, rows}), 0);                                              // [T]
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
