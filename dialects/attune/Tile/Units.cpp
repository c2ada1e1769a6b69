//===- Units.cpp - From one unit to another -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Units.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::tile;

Value tile::powerOfTwoNextTo(TileBuilder &tiles, Value x) {
  Value least = tiles.constant(tiles.shape(x), 0x1p-120);
  return tiles.exp2(tiles.roundEven(tiles.log2(tiles.maximum(x, least))));
}

Value tile::largestEntry(TileBuilder &tiles, Value x) {
  Value rows = tiles.reduceMax(tiles.abs(x), 1);                                                // [R]
  return tiles.reduceMax(tiles.expand(rows, 0, {1, tiles.shape(rows)[0]}), 1);                  // [1]
}

Value tile::wholePower(TileBuilder &tiles, Value x, int64_t degree) {
  Value result;
  for (Value square = x; degree > 0; degree /= 2, square = degree > 0 ? tiles.times(square, square) : square)
    if (degree % 2 == 1)
      result = result ? tiles.times(result, square) : square;
  return result;
}

Value tile::inverseUnit(TileBuilder &tiles, Value x) {
  ArrayRef<int64_t> shape = tiles.shape(x);
  return tiles.over(tiles.constant(shape, 1), tiles.maximum(x, tiles.constant(shape, leastUnit)));
}

Value tile::unitFactor(TileBuilder &tiles, Value before, Value now, Value inverse, int64_t degree) {
  ArrayRef<int64_t> shape = tiles.shape(now);
  Value factor = wholePower(tiles, tiles.times(before, inverse), degree);
  return tiles.select(tiles.compare(arith::CmpFPredicate::OEQ, before, now), tiles.constant(shape, 1), factor);
}

Value tile::repeated(TileBuilder &tiles, Value x, ArrayRef<int64_t> shape) {
  if (tiles.shape(x).size() == 1 && tiles.shape(x)[0] != shape[0])
    x = tiles.reduceAdd(tiles.expand(x, 1, {1, shape[0]}), 0);
  return tiles.shape(x).size() < shape.size() ? tiles.expand(x, 1, shape) : x;
}

Value tile::rescaled(TileBuilder &tiles, Value sum, Value factor) {
  SmallVector<int64_t> shape(tiles.shape(sum));
  return tiles.times(sum, repeated(tiles, factor, shape));
}

OpenState RescaledSumAttr::buildJoin(OpBuilder &builder, Location loc, ValueRange state, Value unit,
                                     bool maybeNone) const {
  TileBuilder tiles(builder, loc);
  Value joined = tiles.maximum(state[0], unit), divisor = joined, factor;                       // [R]
  SmallVector<int64_t> rows(tiles.shape(joined));
  if (getPower() == exp2) {
    // A row that has seen no entry yet has the unit −∞; exp2 of −∞ − 0 is 0, of −∞ − −∞ it would be NaN.
    if (maybeNone)
      divisor = tiles.selectEqual(joined, -INFINITY, tiles.constant(rows, 0), joined);
    factor = tiles.exp2(tiles.minus(state[0], divisor));
  } else {
    factor = unitFactor(tiles, state[0], joined, inverseUnit(tiles, joined), getPower());
  }
  OpenState open{joined, divisor, {}};
  for (Value sum : state.drop_front())
    open.sums.push_back(rescaled(tiles, sum, factor));
  return open;
}
