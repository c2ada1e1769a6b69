//===- JoinPowers.cpp - Powers in units beyond the range --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PowersApart.h"

#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;
using namespace attune::terms;

/// Powers of 2 taken apart from a number [Tq]: the rest is within a factor of √2 of 1.
static Apart apart(TileBuilder &tiles, Value number) {
  Value exponent = tiles.roundEven(tiles.log2(number));
  return {exponent, tiles.times(number, tiles.exp2(tiles.negate(exponent)))};
}

// The power of a rest is up to 2^|power|, so powers of 2 are taken apart from it again, at the latest from its 64th.
Apart terms::powerApart(TileBuilder &tiles, Value unit, int64_t power) {
  constexpr int64_t most = 64;
  assert(llvm::isPowerOf2_64(std::abs(power)) && "expected powers that are squared");
  SmallVector<int64_t> rows(tiles.shape(unit));
  Apart result = apart(tiles, unit);
  if (power < 0)
    result.rest = tiles.over(tiles.constant(rows, 1), result.rest);
  for (int64_t left = 2 * std::abs(power), sign = power < 0 ? -1 : 1, step; left > 1; left /= step, sign = 1) {
    step = std::min(left, most);
    Apart ofRest = apart(tiles, tile::wholePower(tiles, result.rest, step));
    Value exponent = tiles.times(result.exponent, tiles.constant(rows, static_cast<double>(sign * step)));
    result = {tiles.plus(exponent, ofRest.exponent), ofRest.rest};
  }
  return result;
}

Value Apart::factorTo(TileBuilder &tiles, Value top) const {
  return tiles.times(tiles.exp2(tiles.minus(exponent, top)), rest);
}

namespace {
struct JoinPowers : Term {
  JoinPowers(int64_t half, attn::DenominatorAttr guard) : half(half), guard(guard) {}

  StringRef name() const override { return "join_powers"; }
  void printParameters(raw_ostream &os) const override { os << " {half = " << half << '}'; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand < 2 ? Representation::Scaled : Representation::Plain;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override;

  int64_t half;
  attn::DenominatorAttr guard;
};
} // namespace

SmallVector<Value, 3> JoinPowers::buildTile(const TileSite &site, Sources operands) const {
  TileBuilder &tiles = site.tiles();
  SmallVector<SmallVector<Value, 3>, 2> states{operands[0]->tiles(site), operands[1]->tiles(site)}; // u, den, num
  SmallVector<int64_t> rows(tiles.shape(states[0][1])), shape(tiles.shape(states[0][2]));
  SmallVector<Apart, 2> units{powerApart(tiles, states[0][0], 1), powerApart(tiles, states[1][0], half)};
  for (auto [state, unit] : llvm::zip_equal(states, units)) // without a weight any unit will do
    unit.exponent = tiles.selectEqual(state[1], 0, tiles.constant(rows, -1e30), unit.exponent);
  Value top = tiles.maximum(units[0].exponent, units[1].exponent);
  Apart ofGuard;
  if (isGuarded(guard)) {
    Value length = tiles.maximum(operands[2]->tile(site), tiles.constant(rows, tile::leastUnit));
    ofGuard = powerApart(tiles, length, -half);
    top = tiles.maximum(top, ofGuard.exponent);
  }
  Value den, num;
  for (auto [state, unit] : llvm::zip_equal(states, units)) {
    Value factor = unit.factorTo(tiles, top);                                                       // [Tq]
    Value d = tiles.times(state[1], factor), n = tiles.times(state[2], tiles.expand(factor, 1, shape));
    den = den ? tiles.plus(den, d) : d, num = num ? tiles.plus(num, n) : n;
  }
  if (isGuarded(guard)) {
    Value factor = ofGuard.factorTo(tiles, top);                                                    // [Tq]
    den = tiles.plus(den, tiles.times(factor, tiles.constant(rows, guard.getBias())));
    den = tiles.maximum(den, tiles.times(factor, tiles.constant(rows, guard.getFloor())));
  }
  return {num, den};
}

TermPtr terms::joinPowers(int64_t half, attn::DenominatorAttr guard) { return std::make_unique<JoinPowers>(half, guard); }
