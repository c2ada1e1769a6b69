//===- DiagonalBlocks.cpp - Pairs inside of blocks of tokens, and others ---===//
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

/// The number of the block of each token from `first` on: ⌊i / length⌋, as the whole number next to (i − (length − 1) / 2) / length, from which
/// it is less than 1/2 away whatever the quotient is rounded to.
static Value blocksOf(TileBuilder &tiles, Value first, int64_t count, int64_t length) {
  Value middle = tiles.constant({count}, static_cast<double>(length - 1) / 2), size = tiles.constant({count}, static_cast<double>(length));
  return tiles.roundEven(tiles.over(tiles.minus(tiles.iota(first, count), middle), size));          // [count]
}

/// inside [Tq, Tk] of pairs in one block, outside [Tq, Tk] of others.
static Value choose(const TileSite &site, int64_t length, Value inside, Value outside) {
  TileBuilder &tiles = site.tiles();
  SmallVector<int64_t> shape(tiles.shape(inside));
  Value rows = blocksOf(tiles, site[Axis::Query].first, shape[0], length);                          // [Tq]
  Value columns = blocksOf(tiles, site[Axis::Key].first, shape[1], length);                         // [Tk]
  Value apart = tiles.minus(tiles.expand(rows, 1, shape), tiles.expand(columns, 0, shape));         // [Tq, Tk]
  return tiles.selectEqual(apart, 0, inside, outside);
}

namespace {
struct DiagonalBlocks : Term {
  explicit DiagonalBlocks(int64_t length) : length(length) {}

  StringRef name() const override { return "diagonal_blocks"; }
  void printParameters(raw_ostream &os) const override { os << " {length = " << length << '}'; }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Key}); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    Type f32 = site.tiles().builder.getF32Type();
    Value inside = operands[0]->tile(site, f32), outside = operands[1]->tile(site, f32);            // [Tq, Tk]
    return {choose(site, length, inside, outside)};
  }

  int64_t length;
};

struct OnlyBlocks : Term {
  OnlyBlocks(int64_t length, bool outside) : length(length), outside(outside) {}

  StringRef name() const override { return "only_blocks"; }
  void printParameters(raw_ostream &os) const override { os << " {length = " << length << (outside ? ", outside}" : "}"); }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Key}); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value w = operands[0]->tile(site, tiles.builder.getF32Type()), zero = tiles.constant(tiles.shape(w), 0); // [Tq, Tk]
    return {outside ? choose(site, length, zero, w) : choose(site, length, w, zero)};
  }

  int64_t length;
  bool outside;
};
} // namespace

terms::TermPtr terms::diagonalBlocks(int64_t length) { return std::make_unique<DiagonalBlocks>(length); }
terms::TermPtr terms::onlyBlocks(int64_t length, bool outside) { return std::make_unique<OnlyBlocks>(length, outside); }
