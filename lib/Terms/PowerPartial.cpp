//===- PowerPartial.cpp - Sums of powers in a unit of each row ----------===//
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
using terms::isGuarded;

namespace {
struct PowerPartial : StreamedTerm {
  PowerPartial(int64_t degree, int64_t width, attn::DenominatorAttr guard)
      : degree(degree), width(width), least(isGuarded(guard) ? 1 : tile::leastUnit) {}

  StringRef name() const override { return "power_partial"; }
  void printParameters(raw_ostream &os) const override { os << " {degree = " << degree << '}'; }
  Representation gives() const override { return Representation::Scaled; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    return tile::RescaledSumAttr::get(context, degree);
  }
  /// With a guard at least 1, so that the guard in that unit does not overflow.
  std::optional<double> leastUnit() const override { return least; }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t rows = site[Axis::Query].count;
    return {{rows}, {rows}, {rows, width}}; // u, den, num
  }
  Value buildUnit(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value t = operands[0]->tile(site);                                                              // [Tq, Tk]
    return tiles.reduceMax(tiles.abs(t), 1);                                                        // [Tq]
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value unit,
                                       ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Value t = operands[0]->tile(site);                                                              // [Tq, Tk]
    Value ratio = tiles.times(t, tiles.expand(tile::inverseUnit(tiles, unit), 1, tiles.shape(t)));
    Value w = tile::wholePower(tiles, ratio, degree);                                              // [Tq, Tk]
    Value den = tiles.plus(sums[0], tiles.reduceAdd(w, 1));                                         // [Tq]
    Value v = operands[1]->tile(site, tiles.builder.getF32Type());                                  // [Tk, dv]
    return {den, tiles.dot(w, v, sums[1])};                                                         // [Tq, dv]
  }

  int64_t degree, width;
  double least;
};

/// The unit is what sums were divided by, so it starts at the least number that they are divided by. length^-power may be
/// infinite only where the true numbers vanish.
struct PowerStart : Term {
  PowerStart(int64_t power, int64_t width) : power(power), width(width) {}

  StringRef name() const override { return "power_start"; }
  void printParameters(raw_ostream &os) const override { os << " {power = " << power << '}'; }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value length = operands[0]->tile(site);                                                         // [Tq]
    int64_t rows = tiles.shape(length)[0];
    Value one = tile::wholePower(tiles, tile::inverseUnit(tiles, length), power);                    // [Tq]
    Value unit = tiles.maximum(tiles.constant({rows}, tile::leastUnit), tiles.minimum(one, tiles.constant({rows}, 0x1p60)));
    return {unit, tiles.constant({rows}, 0), tiles.constant({rows, width}, 0)};
  }

  int64_t power, width;
};

struct PowerFinish : Term {
  PowerFinish(int64_t degree, attn::DenominatorAttr guard, int64_t power) : degree(degree), guard(guard), power(power) {}

  StringRef name() const override { return "power_finish"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Scaled : Representation::Plain;
  }
  /// 1 in the state's unit.
  Value ofOne(const TileSite &site, Value unit, Sources operands) const {
    TileBuilder &tiles = site.tiles();
    if (operands.size() == 1)
      return tile::wholePower(tiles, tile::inverseUnit(tiles, unit), degree);
    SmallVector<int64_t> rows(tiles.shape(unit));
    Value length = tiles.maximum(operands[1]->tile(site), tiles.constant(rows, tile::leastUnit));   // [Tq]
    terms::Apart ofUnit = terms::powerApart(tiles, unit, -degree / 2), ofLength = terms::powerApart(tiles, length, -power * degree / 2);
    // Larger only where the true numbers vanish.
    Value exponent = tiles.minimum(tiles.plus(ofUnit.exponent, ofLength.exponent), tiles.constant(rows, 120));
    return tiles.times(tiles.exp2(exponent), tiles.times(ofUnit.rest, ofLength.rest));
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SiteValue state = operands[0]->read(site); // u, den, num
    Value den = state.tiles[1];
    SmallVector<int64_t> rows(tiles.shape(den));
    Value one;
    if (isGuarded(guard))
      one = ofOne(site, state.tiles[0], operands);
    if (guard.getBias() != 0)
      den = tiles.plus(den, tiles.times(one, tiles.constant(rows, guard.getBias())));
    if (guard.getFloor() != 0)
      den = tiles.maximum(den, tiles.times(one, tiles.constant(rows, guard.getFloor())));
    auto none = attn::DenominatorAttr::get(guard.getContext(), 0.0, 0.0);
    return {kernel::normalize(tiles, none, state.tiles[2], den)};
  }

  int64_t degree;
  attn::DenominatorAttr guard;
  int64_t power;
};
} // namespace

terms::StreamedPtr terms::powerPartial(int64_t degree, int64_t width, attn::DenominatorAttr guard) {
  return std::make_unique<PowerPartial>(degree, width, guard);
}
terms::TermPtr terms::powerStart(int64_t power, int64_t width) { return std::make_unique<PowerStart>(power, width); }
terms::TermPtr terms::powerFinish(int64_t degree, attn::DenominatorAttr guard, int64_t power) {
  return std::make_unique<PowerFinish>(degree, guard, power);
}
