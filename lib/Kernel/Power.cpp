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

SmallVector<Value> PowerCarry::start(TileBuilder &tiles) const {
  // The unit is what sums were divided by, so it starts at the least number that they are divided by. With a guard it is
  // at least 1 in true logits, so that the guard in that unit does not overflow. length^-power may be infinite only
  // where the true logits vanish.
  Value m = tiles.constant({rows}, leastUnit);
  if (guarded())
    m = length ? tiles.maximum(m, tiles.minimum(evenPower(tiles, inverseUnit(tiles, length), power),
                                                tiles.constant({rows}, 0x1p60)))
               : tiles.constant({rows}, 1);
  return {m, tiles.constant({rows}, 0), tiles.constant({rows, valueWidth}, 0)};
}

SmallVector<Value> PowerCarry::startFrom(TileBuilder &tiles, Value m, Value den, Value num) const {
  Value unit = tiles.maximum(start(tiles)[0], m);                                 // [Tq]
  Value factor = evenPower(tiles, tiles.times(m, inverseUnit(tiles, unit)), degree);  // [Tq]
  return {unit, tiles.times(den, factor), tiles.times(num, tiles.expand(factor, 1, {rows, valueWidth}))};
}

SmallVector<Value> PowerCarry::step(TileBuilder &tiles, ValueRange carried, Value logits, Value v) const {
  SmallVector<int64_t> pairs(tiles.shape(logits));
  Value m = tiles.maximum(carried[0], tiles.reduceMax(tiles.abs(logits), 1));             // [Tq]
  Value each = inverseUnit(tiles, m);                                                          // [Tq]
  Value before = unitFactor(tiles, carried[0], m, each, degree);                           // [Tq]
  Value w = evenPower(tiles, tiles.times(logits, tiles.expand(each, 1, pairs)), degree);   // [Tq, Tk]
  Value den = tiles.plus(tiles.times(carried[1], before), tiles.reduceAdd(w, 1));          // [Tq]
  Value num = tiles.times(carried[2], tiles.expand(before, 1, {rows, valueWidth}));        // [Tq, dv]
  return {m, den, tiles.dot(w, tiles.cast(v, tiles.builder.getF32Type()), num)};
}

namespace {
/// A number 2^exponent · rest for each row [Tq].
struct Scaled {
  Value exponent, rest;
};
} // namespace

/// Powers of 2 taken apart from a number [Tq]: the rest is within a factor of √2 of 1.
static Scaled apart(TileBuilder &tiles, Value number) {
  Value exponent = tiles.roundEven(tiles.log2(number));
  return {exponent, tiles.times(number, tiles.exp2(tiles.negate(exponent)))};
}

/// unit^(2·power) as 2^exponent · rest, for |power| a power of two. Negative ones too. The power of a rest is up to
/// 2^|power|, so powers of 2 are taken apart from it again, at the latest from its 64th.
static Scaled powerOf(TileBuilder &tiles, Value unit, int64_t power) {
  constexpr int64_t most = 64;
  assert(llvm::isPowerOf2_64(std::abs(power)) && "expected powers that are squared");
  SmallVector<int64_t> rows(tiles.shape(unit));
  Scaled result = apart(tiles, unit);
  if (power < 0)
    result.rest = tiles.over(tiles.constant(rows, 1), result.rest);
  for (int64_t left = 2 * std::abs(power), sign = power < 0 ? -1 : 1, step; left > 1; left /= step, sign = 1) {
    step = std::min(left, most);
    Scaled ofRest = apart(tiles, evenPower(tiles, result.rest, step));
    Value exponent = tiles.times(result.exponent, tiles.constant(rows, static_cast<double>(sign * step)));
    result = {tiles.plus(exponent, ofRest.exponent), ofRest.rest};
  }
  return result;
}

Value PowerCarry::ofGuard(TileBuilder &tiles, Value m) const {
  if (!length)
    return evenPower(tiles, inverseUnit(tiles, m), degree);
  Value lengths = tiles.maximum(length, tiles.constant({rows}, leastUnit));                 // [Tq]
  Scaled unit = powerOf(tiles, m, -degree / 2), scale = powerOf(tiles, lengths, -power * degree / 2);
  // Larger only where the true logits vanish.
  Value exponent = tiles.minimum(tiles.plus(unit.exponent, scale.exponent), tiles.constant({rows}, 120));
  return tiles.times(tiles.exp2(exponent), tiles.times(unit.rest, scale.rest));
}

Value PowerCarry::finish(TileBuilder &tiles, ValueRange carried) const {
  Value den = carried[1];
  if (guarded()) {
    Value scale = ofGuard(tiles, carried[0]);                                               // [Tq]
    if (guard.getBias() != 0)
      den = tiles.plus(den, tiles.times(scale, tiles.constant({rows}, guard.getBias())));
    if (guard.getFloor() != 0)
      den = tiles.maximum(den, tiles.times(scale, tiles.constant({rows}, guard.getFloor())));
  }
  auto none = attn::DenominatorAttr::get(tiles.builder.getContext(), 0.0, 0.0);
  return normalize(tiles, none, carried[2], den);
}

/// What takes sums in a unit to the unit 2^top: [Tq].
static Value factorTo(TileBuilder &tiles, const Scaled &unit, Value top) {
  return tiles.times(tiles.exp2(tiles.minus(unit.exponent, top)), unit.rest);
}

SmallVector<Value> kernel::mergeUnits(TileBuilder &tiles, ValueRange roots, ValueRange logits, int64_t half,
                                      const ApartGuard &guard) {
  SmallVector<int64_t> rows(tiles.shape(roots[0])), shape(tiles.shape(roots[2]));
  double bias = guard.guard.getBias(), floor = guard.guard.getFloor();
  Value none = tiles.constant(rows, -1e30);
  SmallVector<Scaled, 2> units{powerOf(tiles, roots[0], 1), powerOf(tiles, logits[0], half)};
  units[0].exponent = tiles.selectEqual(roots[1], 0, none, units[0].exponent); // without a weight any unit will do
  units[1].exponent = tiles.selectEqual(logits[1], 0, none, units[1].exponent);
  Value top = tiles.maximum(units[0].exponent, units[1].exponent);
  Scaled guardUnit;
  if (bias != 0 || floor != 0) {
    Value length = tiles.maximum(guard.length, tiles.constant(rows, leastUnit));
    guardUnit = powerOf(tiles, length, -half);
    top = tiles.maximum(top, guardUnit.exponent);
  }
  SmallVector<ValueRange, 2> carries{roots, logits};
  Value den, num;
  for (auto [carried, unit] : llvm::zip_equal(carries, units)) {
    Value factor = factorTo(tiles, unit, top);                                               // [Tq]
    Value d = tiles.times(carried[1], factor), n = tiles.times(carried[2], tiles.expand(factor, 1, shape));
    den = den ? tiles.plus(den, d) : d, num = num ? tiles.plus(num, n) : n;
  }
  if (guardUnit.exponent) {
    Value factor = factorTo(tiles, guardUnit, top);                                          // [Tq]
    den = tiles.plus(den, tiles.times(factor, tiles.constant(rows, bias)));
    den = tiles.maximum(den, tiles.times(factor, tiles.constant(rows, floor)));
  }
  return {roots[0], den, num};
}
