//===- SketchState.cpp - The state of sketched attention in memory -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SketchState.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value kernel::largestEntry(TileBuilder &tiles, Value s, Value before) {
  Value rows = tiles.reduceMax(tiles.abs(s), 1);                                         // [T]
  Value all = tiles.reduceMax(tiles.expand(rows, 0, {1, tiles.shape(rows)[0]}), 1);      // [1]
  return tiles.maximum(before, all);
}

Value kernel::sketchColumn(TileBuilder &tiles, const Point &point, Value memory, Value first, Value f, int64_t rows,
                           Value limit) {
  return tiles.reduceAdd(tiles.load(memory, {point.batch, point.head, first, f}, {rows, 1}, limit), 1);
}

void SketchState::clear(TileBuilder &tiles, const Point &point) const {
  loop(tiles, tiles.sums(), tiles.index(0), tiles.index(slices()), 1, {},
       [&](TileBuilder &inner, Value f, ValueRange) -> SmallVector<Value> {
         store(inner, point, f, empty(inner));
         return {};
       });
}

SmallVector<Value> SketchState::empty(TileBuilder &tiles) const {
  return {tiles.constant({1}, leastUnit), tiles.constant({height(), valueWidth}, 0), tiles.constant({size}, 0)};
}

SmallVector<Value, 6> SketchState::indices(TileBuilder &tiles, const Point &point, Value f, unsigned zeros) const {
  SmallVector<Value, 6> result{point.batch, point.head};
  if (piece)
    result.push_back(piece);
  result.push_back(f);
  result.append(zeros, tiles.index(0));
  return result;
}

SmallVector<Value> SketchState::load(TileBuilder &tiles, const Point &point, Value f) const {
  return {tiles.load(unit, indices(tiles, point, f, 0), 1),
          tiles.load(state, indices(tiles, point, f, 2), {height(), valueWidth}),
          tiles.load(sum, indices(tiles, point, f, 1), size)};
}

void SketchState::store(TileBuilder &tiles, const Point &point, Value f, ValueRange slice) const {
  tiles.store(slice[0], unit, indices(tiles, point, f, 0));
  tiles.store(slice[1], state, indices(tiles, point, f, 2));
  tiles.store(slice[2], sum, indices(tiles, point, f, 1));
}

SmallVector<Value> SketchState::add(TileBuilder &tiles, ValueRange slice, Value s, Value column, Value v) const {
  int64_t rows = tiles.shape(s)[0];
  Value k = largestEntry(tiles, s, slice[0]);                                                             // [1]
  Value each = tiles.over(tiles.constant({1}, 1), k);                                               // [1]
  Value before = unitFactor(tiles, slice[0], k, each, 2);                                            // [1]
  Value factor = tiles.times(column, repeat(tiles, each, rows));                                     // [T]
  Value scaled = tiles.times(s, tiles.expand(repeat(tiles, each, size), 0, {rows, size}));           // [T, r]
  Value b = tiles.times(scaled, tiles.expand(factor, 1, {rows, size}));                              // [T, r]
  Value kept = tiles.times(slice[1], tiles.expand(repeat(tiles, before, size), 1, {size, valueWidth}));
  Value next = tiles.exactDot(b, tiles.cast(v, tiles.builder.getF32Type()), kept, /*transposeA=*/true); // [r, dv]
  Value sum = tiles.plus(tiles.times(slice[2], repeat(tiles, before, size)), tiles.reduceAdd(b, 0)); // [r]
  return {k, next, sum};
}

SmallVector<Value> SketchState::rescaled(TileBuilder &tiles, ValueRange slice, Value factor) const {
  Value less = tiles.times(slice[0], factor);                                                        // [1]
  Value unit = tiles.maximum(less, tiles.constant({1}, leastUnit));                                  // [1]
  Value rest = evenPower(tiles, tiles.over(less, unit), 2);                                          // [1]
  Value state = tiles.times(slice[1], tiles.expand(repeat(tiles, rest, size), 1, {size, valueWidth}));
  return {unit, state, tiles.times(slice[2], repeat(tiles, rest, size))};
}

SmallVector<Value> SketchState::read(TileBuilder &tiles, const Point &point, const PowerCarry &power, Value s,
                                     llvm::function_ref<Value(TileBuilder &, Value)> column, Value factor) const {
  int64_t rows = power.rows;
  // Products s_f s_g of a sketch below 2^-63 are below the range: rows are read in the unit of their largest entry.
  Value rowUnit = powerOfTwoNextTo(tiles, tiles.reduceMax(tiles.abs(s), 1));                         // [Tq]
  Value each = tiles.over(tiles.constant({rows}, 1), rowUnit);                                        // [Tq]
  Value scaled = tiles.times(s, tiles.expand(each, 1, {rows, size}));                                // [Tq, r]
  auto step = [&](TileBuilder &inner, Value f, ValueRange carried) -> SmallVector<Value> {
    SmallVector<Value> slice = load(inner, point, f);
    Value scaledColumn = inner.times(column(inner, f), each);                                        // [Tq]
    Value a = inner.times(scaled, inner.expand(scaledColumn, 1, {rows, size}));                      // [Tq, r]
    Value den = inner.reduceAdd(inner.times(a, inner.expand(slice[2], 0, {rows, size})), 1);         // [Tq]
    return {inner.plus(carried[0], den), inner.exactDot(a, slice[1], carried[1])};
  };
  SmallVector<Value> sums =
      loop(tiles, tiles.sums(), tiles.index(0), tiles.index(size), 1,
           {tiles.constant({rows}, 0), tiles.constant({rows, valueWidth}, 0)}, step);
  return carryOf(tiles, point, power, rowUnit, sums[0], sums[1], factor);
}

SmallVector<Value> SketchState::carryOf(TileBuilder &tiles, const Point &point, const PowerCarry &power, Value rowUnit,
                                        Value den, Value num, Value factor) const {
  Value k = tiles.load(unit, indices(tiles, point, tiles.index(0), 0), 1);                           // [1]
  Value unitOfRows = tiles.times(repeat(tiles, k, power.rows), rowUnit);                             // [Tq]
  return power.startFrom(tiles, factor ? tiles.times(unitOfRows, factor) : unitOfRows, den, num);
}
