//===- Length.cpp - Lengths of rows ----------------------------------------- ===//
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
struct Length : Term {
  explicit Length(bool powerOfTwo) : powerOfTwo(powerOfTwo) {}

  StringRef name() const override { return "length"; }
  void printParameters(raw_ostream &os) const override {
    if (powerOfTwo)
      os << " {power_of_two}";
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type());                                  // [T, d] or [T]
    bool isRows = tiles.shape(x).size() == 2;
    Value norm = tiles.sqrt(isRows ? tiles.reduceAdd(tiles.times(x, x), 1) : x);                    // [T]
    return {powerOfTwo ? tiles.selectEqual(norm, 0, norm, tile::powerOfTwoNextTo(tiles, norm)) : norm};
  }

  bool powerOfTwo;
};

/// The maxima of lengths up to each row, and of those before.
struct PrefixMaximum : Term {
  StringRef name() const override { return "prefix_maximum"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), before = operands[1]->tile(site);                            // [T], [1]
    int64_t rows = tiles.shape(x)[0];
    Value upTo = tiles.mask(tiles.expand(x, 0, {rows, rows}), 0, Value(), Value(), tiles.index(0)); // [T, T]
    return {tiles.maximum(tiles.reduceMax(upTo, 1), tile::repeated(tiles, before, rows))};          // [T]
  }
};
} // namespace

terms::TermPtr terms::length(bool powerOfTwo) { return std::make_unique<Length>(powerOfTwo); }
terms::TermPtr terms::prefixMaximum() { return std::make_unique<PrefixMaximum>(); }
