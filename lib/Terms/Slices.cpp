//===- Slices.cpp - Features of which a tile has a slice ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct ExistingFeatures : Term {
  explicit ExistingFeatures(int64_t count) : count(count) {}

  StringRef name() const override { return "existing_features"; }
  void printParameters(raw_ostream &os) const override { os << " {count = " << count << '}'; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives(Sources operands) const override { return operands[0]->gives(); }
  AxisSet ownAxes() const override { return setOf(Axis::Feature); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> x = operands[0]->tiles(site);                                             // [T, c] each
    for (Value &tile : x)
      tile = tiles.mask(tile, zeroOf(operands[0]->gives()), Value(), tiles.sub(tiles.index(count), site[Axis::Feature].first),
                        Value());
    return x;
  }

  int64_t count;
};

struct Filled : Term {
  Filled(Axis rows, int64_t columns, double value) : rows(rows), columns(columns), value(value) {}

  StringRef name() const override { return "filled"; }
  void printParameters(raw_ostream &os) const override { os << " {value = " << value << '}'; }
  AxisSet ownAxes() const override { return setOf(rows); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources) const override {
    return {site.tiles().constant({site[rows].count, columns}, value)};
  }

  Axis rows;
  int64_t columns;
  double value;
};

struct Lowered : Term {
  StringRef name() const override { return "lowered"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? std::optional(Representation::Log) : std::nullopt;
  }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), c = operands[1]->tile(site);                                 // [T, c] or [T], [T]
    bool isMatrix = tiles.shape(x).size() == 2;
    SmallVector<Value, 3> lowered = operands[0]->tiles(site); // mantissas are behind exponents
    lowered.front() = tiles.minus(x, isMatrix ? tiles.expand(c, 1, tiles.shape(x)) : c);
    return lowered;
  }
};

struct Powers : Term {
  Powers(double epsilon, double factor) : epsilon(epsilon), factor(factor) {}

  StringRef name() const override { return "powers"; }
  void printParameters(raw_ostream &os) const override {
    os << " {epsilon = " << epsilon << ", factor = " << factor << '}';
  }
  std::optional<Representation> takes(unsigned) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value power = tiles.exp2(operands[0]->tile(site));                                              // [T, c]
    Value sum = tiles.plus(power, tiles.constant(tiles.shape(power), epsilon));
    return {tiles.times(sum, tiles.constant(tiles.shape(power), factor))};
  }

  double epsilon, factor;
};

struct LargestForRows : Term {
  explicit LargestForRows(Axis rows) : rows(rows) {}

  StringRef name() const override { return "largest_for_rows"; }
  Representation gives(Sources) const override { return Representation::Log; }
  AxisSet ownAxes() const override { return setOf(rows); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site);                                                              // [c] or [1, 1]
    int64_t count = site[rows].count;
    if (tiles.shape(x).size() == 1)
      return {tiles.reduceMax(tiles.expand(x, 0, {count, tiles.shape(x)[0]}), 1)};                  // [T]
    Value ones = tiles.constant({count, 1}, 1);
    return {tiles.reduceAdd(tiles.exactDot(ones, x, tiles.constant({count, 1}, 0)), 1)};            // [T]
  }

  Axis rows;
};
} // namespace

terms::TermPtr terms::existingFeatures(int64_t count) { return std::make_unique<ExistingFeatures>(count); }
terms::TermPtr terms::filled(Axis rows, int64_t columns, double value) {
  return std::make_unique<Filled>(rows, columns, value);
}
terms::TermPtr terms::powers(double epsilon, double factor) { return std::make_unique<Powers>(epsilon, factor); }
terms::TermPtr terms::largestForRows(Axis rows) { return std::make_unique<LargestForRows>(rows); }
terms::TermPtr terms::lowered() { return std::make_unique<Lowered>(); }
