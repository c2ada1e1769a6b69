//===- Elementwise.cpp - Sums and products of elements ---------------------- ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// An operation on the elements of one tile, and a number.
struct OfOne : Term {
  using Build = Value (*)(TileBuilder &tiles, Value x, double number);
  OfOne(StringRef name, double number, Build build) : label(name), number(number), build(build) {}

  StringRef name() const override { return label; }
  void printParameters(raw_ostream &os) const override { os << " {" << number << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    return {build(tiles, operands[0]->tile(site, tiles.builder.getF32Type()), number)};
  }

  StringRef label;
  double number;
  Build build;
};

/// An operation on the elements of two tiles, of which the second is repeated.
struct OfTwo : Term {
  using Build = Value (TileBuilder::*)(Value a, Value b);
  OfTwo(StringRef name, Build build) : label(name), build(build) {}

  StringRef name() const override { return label; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    SmallVector<Value, 3> a = operands[0]->tiles(site, f32);
    Value b = operands[1]->tile(site, f32);
    for (Value &tile : a)
      tile = (tiles.*build)(tile, tile::repeated(tiles, b, tiles.shape(tile)));
    return a;
  }

  StringRef label;
  Build build;
};
struct TimesUnlessZero : Term {
  StringRef name() const override { return "times_unless_zero"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value a = operands[0]->tile(site, f32), b = operands[1]->tile(site, f32);
    return {tiles.selectEqual(a, 0, tiles.constant(tiles.shape(a), 0), tiles.times(a, b))};
  }
};

struct UnlessZeroRows : Term {
  StringRef name() const override { return "unless_zero_rows"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), a = operands[1]->tile(site, tiles.builder.getF32Type());     // [T, c], [T, w]
    SmallVector<int64_t> shape(tiles.shape(x));
    Value largest = tiles.expand(tiles.reduceMax(tiles.abs(a), 1), 1, shape);                       // [T, c]
    Value f32 = tiles.cast(x, tiles.builder.getF32Type());
    return {tiles.selectEqual(largest, 0, tiles.constant(shape, 0), f32)};
  }
};

/// a_i b_j.
struct Outer : Term {
  StringRef name() const override { return "outer"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value a = operands[0]->tile(site), b = operands[1]->tile(site);                                 // [rows], [columns]
    SmallVector<int64_t> shape{tiles.shape(a)[0], tiles.shape(b)[0]};
    return {tiles.times(tiles.expand(b, 0, shape), tiles.expand(a, 1, shape))};
  }
};
} // namespace

terms::TermPtr terms::inverse() {
  return std::make_unique<OfOne>("inverse", 1, [](TileBuilder &tiles, Value x, double number) {
    return tiles.over(tiles.constant(tiles.shape(x), number), x);
  });
}
terms::TermPtr terms::times() { return std::make_unique<OfTwo>("times", &TileBuilder::times); }
terms::TermPtr terms::timesUnlessZero() { return std::make_unique<TimesUnlessZero>(); }
terms::TermPtr terms::unlessZeroRows() { return std::make_unique<UnlessZeroRows>(); }
terms::TermPtr terms::plus() { return std::make_unique<OfTwo>("plus", &TileBuilder::plus); }
terms::TermPtr terms::outer() { return std::make_unique<Outer>(); }
terms::TermPtr terms::minus() { return std::make_unique<OfTwo>("minus", &TileBuilder::minus); }
terms::TermPtr terms::over() { return std::make_unique<OfTwo>("over", &TileBuilder::over); }
terms::TermPtr terms::atLeast(double least) {
  return std::make_unique<OfOne>("at_least", least, [](TileBuilder &tiles, Value x, double number) {
    return tiles.maximum(x, tiles.constant(tiles.shape(x), number));
  });
}
terms::TermPtr terms::atMost(double most) {
  return std::make_unique<OfOne>("at_most", most, [](TileBuilder &tiles, Value x, double number) {
    return tiles.minimum(x, tiles.constant(tiles.shape(x), number));
  });
}
terms::TermPtr terms::wholePower(int64_t power) {
  return std::make_unique<OfOne>("power", static_cast<double>(power), [](TileBuilder &tiles, Value x, double number) {
    return tile::wholePower(tiles, x, static_cast<int64_t>(number));
  });
}
