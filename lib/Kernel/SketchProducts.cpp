//===- SketchProducts.cpp - The state of sketched attention, each product once --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   S_f = Σ_j s_jf (s_jf, s_j(f+1), …, s_j(f+r/2-1)) ⊗ v_j    f = 0 … r-1, places modulo r
//   S_r = Σ_j (s_j0 s_j(r/2), …, s_j(r/2-1) s_j(r-1)) ⊗ v_j
//   Z   = Σ_j s_j ⊗ s_j
//
// r (r + 1) / 2 of the r² products of a sketch's entries differ, and these slices have just those. All but the squares
// stand for two, so the readout counts them twice. Entries f … f+r/2-1 are a window of a sketch in memory, where the first
// ones stand once more behind the last. Of a row whose root ⟨S(q), S(k)⟩ nearly cancels, the sum over a slice nearly
// cancels too, and leaves little to be rounded in the sum over slices: slices by the distance of the two entries have twice
// the error.
//
//===----------------------------------------------------------------------===//
#include "SketchState.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value SketchState::loadUnit(TileBuilder &tiles, const Point &point) const {
  return tiles.load(unit, indices(tiles, point, tiles.index(0), 0), 1);
}

void SketchState::storeUnit(TileBuilder &tiles, const Point &point, Value k) const {
  tiles.store(repeat(tiles, k, slices()), unit, indices(tiles, point, tiles.index(0), 0));
}

void SketchState::shrink(TileBuilder &tiles, const Point &point, Value factor) const {
  storeUnit(tiles, point, tiles.times(loadUnit(tiles, point), factor));
}

/// s_f (s_f, …, s_(f+r/2-1)) of rows in a unit, 1 / unit [T].
static Value products(TileBuilder &tiles, const SketchEntries &entries, Value f, Value inverse, int64_t height) {
  SmallVector<int64_t> shape{tiles.shape(inverse)[0], height};
  Value window = tiles.times(entries.window(tiles, f), tiles.expand(inverse, 1, shape)); // [T, r/2]
  return tiles.times(window, tiles.expand(tiles.times(entries.column(tiles, f), inverse), 1, shape));
}

/// (s_0 s_(r/2), …) of such rows.
static Value oppositeProducts(TileBuilder &tiles, const SketchEntries &entries, Value inverse, int64_t height) {
  Value each = tiles.expand(inverse, 1, {tiles.shape(inverse)[0], height}); // [T, r/2]
  return tiles.times(tiles.times(entries.window(tiles, tiles.index(0)), each),
                     tiles.times(entries.window(tiles, tiles.index(height)), each));
}

void SketchState::addProducts(TileBuilder &tiles, const Point &point, Value s, Value v,
                              const SketchEntries &entries) const {
  int64_t rows = tiles.shape(s)[0];
  Value before = loadUnit(tiles, point);                                                   // [1]
  Value k = tiles.maximum(largestEntry(tiles, s, before), tiles.constant({1}, leastUnit)); // [1]
  Value each = tiles.over(tiles.constant({1}, 1), k);                                      // [1]
  Value kept = unitFactor(tiles, before, k, each, 2);                                      // [1]
  storeUnit(tiles, point, k);
  Value inverse = repeat(tiles, each, rows); // [T]
  auto add = [&](TileBuilder &inner, Value b, Value memory, Value f, Value x, ArrayRef<int64_t> shape) {
    SmallVector<Value, 6> at = indices(inner, point, f, 2);
    if (memory == sum)
      at.pop_back();
    Value factor = inner.expand(repeat(inner, kept, shape[0]), 1, shape);
    Value next = inner.dot(b, x, inner.times(inner.load(memory, at, shape), factor), /*transposeA=*/true);
    inner.store(next, memory, at);
  };
  Value scaled = tiles.times(s, tiles.expand(inverse, 1, {rows, size})); // [T, r]
  add(tiles, scaled, sum, tiles.index(0), scaled, {size, size});
  loop(tiles, tiles.sums(), tiles.index(0), tiles.index(size), 1, {},
       [&](TileBuilder &inner, Value f, ValueRange) -> SmallVector<Value> {
         add(inner, products(inner, entries, f, inverse, height()), state, f, v, {height(), valueWidth});
         return {};
       });
  if (size > 1)
    add(tiles, oppositeProducts(tiles, entries, inverse, height()), state, tiles.index(size), v,
        {height(), valueWidth});
}

SmallVector<Value> SketchState::readProducts(TileBuilder &tiles, const Point &point, const PowerCarry &power, Value s,
                                             const SketchEntries &entries, Value factor) const {
  int64_t rows = power.rows;
  // Products of entries of a sketch below 2^-63 are below the range: rows are read in the unit of their largest entry.
  Value rowUnit = powerOfTwoNextTo(tiles, tiles.reduceMax(tiles.abs(s), 1)); // [Tq]
  Value inverse = tiles.over(tiles.constant({rows}, 1), rowUnit);            // [Tq]
  Value scaled = tiles.times(s, tiles.expand(inverse, 1, {rows, size}));     // [Tq, r]
  SmallVector<Value, 6> first = indices(tiles, point, tiles.index(0), 1);
  Value squares = tiles.dot(scaled, tiles.load(sum, first, {size, size}), tiles.constant({rows, size}, 0));
  Value den = tiles.reduceAdd(tiles.times(squares, scaled), 1); // [Tq]
  SmallVector<float> counted(height(), 2);
  counted[0] = 1;
  Value counts = tiles.expand(tiles.table(counted), 0, {rows, height()}); // [Tq, r/2]
  auto read = [&](TileBuilder &inner, Value a, Value f, Value num) {
    return inner.dot(a, inner.load(state, indices(inner, point, f, 2), {height(), valueWidth}), num);
  };
  auto step = [&](TileBuilder &inner, Value f, ValueRange carried) -> SmallVector<Value> {
    return {read(inner, inner.times(products(inner, entries, f, inverse, height()), counts), f, carried[0])};
  };
  Value none = tiles.constant({rows, valueWidth}, 0), num = none;
  num = loop(tiles, tiles.sums(), tiles.index(0), tiles.index(size), 1, none, step)[0];
  if (size > 1) {
    Value twice = tiles.times(oppositeProducts(tiles, entries, inverse, height()), tiles.constant({rows, height()}, 2));
    num = read(tiles, twice, tiles.index(size), num);
  }
  return carryOf(tiles, point, power, rowUnit, den, num, factor);
}
