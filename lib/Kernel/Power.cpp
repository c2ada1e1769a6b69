//===- Power.cpp - The carry of attention whose weights are even powers ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Power.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value kernel::evenPower(TileBuilder &tiles, Value x, int64_t degree) {
  Value result;
  for (Value square = x; degree > 0; degree /= 2, square = degree > 0 ? tiles.times(square, square) : square)
    if (degree % 2 == 1)
      result = result ? tiles.times(result, square) : square;
  return result;
}

/// 1 / max(x, the smallest normal number).
static Value inverse(TileBuilder &tiles, Value x) {
  ArrayRef<int64_t> shape = tiles.shape(x);
  return tiles.over(tiles.constant(shape, 1), tiles.maximum(x, tiles.constant(shape, leastUnit)));
}

SmallVector<Value> PowerCarry::start(TileBuilder &tiles) const {
  // The unit is what sums were divided by, so it starts at the least number that they are divided by. With a guard it is
  // at least 1 in true logits, so that the guard in that unit does not overflow. 1 / rowScale may be infinite only where
  // the true logits vanish.
  Value m = tiles.constant({rows}, leastUnit);
  if (guarded())
    m = rowScale ? tiles.maximum(m, tiles.minimum(inverse(tiles, rowScale), tiles.constant({rows}, 0x1p60)))
                 : tiles.constant({rows}, 1);
  return {m, tiles.constant({rows}, 0), tiles.constant({rows, valueWidth}, 0)};
}

SmallVector<Value> PowerCarry::startFrom(TileBuilder &tiles, Value m, Value den, Value num) const {
  Value unit = tiles.maximum(start(tiles)[0], m);                                 // [Tq]
  Value factor = evenPower(tiles, tiles.times(m, inverse(tiles, unit)), degree);  // [Tq]
  return {unit, tiles.times(den, factor), tiles.times(num, tiles.expand(factor, 1, {rows, valueWidth}))};
}

SmallVector<Value> PowerCarry::step(TileBuilder &tiles, ValueRange carried, Value logits, Value v) const {
  SmallVector<int64_t> pairs(tiles.shape(logits));
  Value m = tiles.maximum(carried[0], tiles.reduceMax(tiles.abs(logits), 1));             // [Tq]
  Value each = inverse(tiles, m);                                                          // [Tq]
  Value before = evenPower(tiles, tiles.times(carried[0], each), degree);                  // [Tq]
  Value w = evenPower(tiles, tiles.times(logits, tiles.expand(each, 1, pairs)), degree);   // [Tq, Tk]
  Value den = tiles.plus(tiles.times(carried[1], before), tiles.reduceAdd(w, 1));          // [Tq]
  Value num = tiles.times(carried[2], tiles.expand(before, 1, {rows, valueWidth}));        // [Tq, dv]
  return {m, den, tiles.dot(w, tiles.cast(v, tiles.builder.getF32Type()), num)};
}

Value PowerCarry::finish(TileBuilder &tiles, ValueRange carried) const {
  Value den = carried[1];
  if (guarded()) {
    Value unit = rowScale ? tiles.times(carried[0], rowScale) : carried[0];
    Value scale = evenPower(tiles, inverse(tiles, unit), degree);                           // [Tq], unit^-degree
    if (guard.getBias() != 0)
      den = tiles.plus(den, tiles.times(scale, tiles.constant({rows}, guard.getBias())));
    if (guard.getFloor() != 0)
      den = tiles.maximum(den, tiles.times(scale, tiles.constant({rows}, guard.getFloor())));
  }
  auto none = attn::DenominatorAttr::get(tiles.builder.getContext(), 0.0, 0.0);
  return normalize(tiles, none, carried[2], den);
}

SmallVector<Value> kernel::mergeUnits(TileBuilder &tiles, ValueRange roots, ValueRange logits, int64_t half) {
  SmallVector<int64_t> rows(tiles.shape(roots[0])), shape(tiles.shape(roots[2]));
  Value top, den, num, none = tiles.constant(rows, -1e30);
  SmallVector<Value, 2> exponents, rests; // of both units' roots [Tq]
  SmallVector<ValueRange, 2> carries{roots, logits};
  for (auto [carried, power] : llvm::zip_equal(carries, SmallVector<int64_t>{1, half})) {
    Value e = tiles.roundEven(tiles.log2(carried[0]));
    rests.push_back(evenPower(tiles, tiles.times(carried[0], tiles.exp2(tiles.negate(e))), 2 * power));
    e = tiles.times(e, tiles.constant(rows, static_cast<double>(power)));
    exponents.push_back(tiles.selectEqual(carried[1], 0, none, e)); // without a weight any unit will do
    top = top ? tiles.maximum(top, exponents.back()) : exponents.back();
  }
  for (auto [carried, e, rest] : llvm::zip_equal(carries, exponents, rests)) {
    Value factor = tiles.exp2(tiles.times(tiles.minus(e, top), tiles.constant(rows, 2)));
    factor = tiles.times(factor, rest);                                                      // [Tq]
    Value d = tiles.times(carried[1], factor), n = tiles.times(carried[2], tiles.expand(factor, 1, shape));
    den = den ? tiles.plus(den, d) : d, num = num ? tiles.plus(num, n) : n;
  }
  return {roots[0], den, num};
}
