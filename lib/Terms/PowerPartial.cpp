//===- PowerPartial.cpp - Sums of powers in a unit of each row ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "Power.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

static bool isGuarded(attn::DenominatorAttr guard) { return guard.getBias() != 0 || guard.getFloor() != 0; }

namespace {
struct PowerPartial : StreamedTerm {
  PowerPartial(int64_t degree, int64_t width, attn::DenominatorAttr guard)
      : degree(degree), width(width), least(isGuarded(guard) ? 1 : kernel::leastUnit) {}

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
    Value ratio = tiles.times(t, tiles.expand(kernel::inverseUnit(tiles, unit), 1, tiles.shape(t)));
    Value w = kernel::evenPower(tiles, ratio, degree);                                              // [Tq, Tk]
    Value den = tiles.plus(sums[0], tiles.reduceAdd(w, 1));                                         // [Tq]
    Value v = operands[1]->tile(site, tiles.builder.getF32Type());                                  // [Tk, dv]
    return {den, tiles.dot(w, v, sums[1])};                                                         // [Tq, dv]
  }

  int64_t degree, width;
  double least;
};

struct PowerFinish : Term {
  PowerFinish(int64_t degree, attn::DenominatorAttr guard) : degree(degree), guard(guard) {}

  StringRef name() const override { return "power_finish"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SiteValue state = operands[0]->read(site); // u, den, num
    Value den = state.tiles[1];
    SmallVector<int64_t> rows(tiles.shape(den));
    Value one; // 1 in the state's unit
    if (isGuarded(guard))
      one = kernel::evenPower(tiles, kernel::inverseUnit(tiles, state.tiles[0]), degree);
    if (guard.getBias() != 0)
      den = tiles.plus(den, tiles.times(one, tiles.constant(rows, guard.getBias())));
    if (guard.getFloor() != 0)
      den = tiles.maximum(den, tiles.times(one, tiles.constant(rows, guard.getFloor())));
    auto none = attn::DenominatorAttr::get(guard.getContext(), 0.0, 0.0);
    return {kernel::normalize(tiles, none, state.tiles[2], den)};
  }

  int64_t degree;
  attn::DenominatorAttr guard;
};
} // namespace

terms::StreamedPtr terms::powerPartial(int64_t degree, int64_t width, attn::DenominatorAttr guard) {
  return std::make_unique<PowerPartial>(degree, width, guard);
}
terms::TermPtr terms::powerFinish(int64_t degree, attn::DenominatorAttr guard) {
  return std::make_unique<PowerFinish>(degree, guard);
}
