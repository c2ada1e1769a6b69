//===- Advance.cpp - Places of tokens that go on from others -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "attune/Tile/Units.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

Value terms::goingOn(const TileSite &site, Value positions, const Source &begin) {
  TileBuilder &tiles = site.tiles();
  Value first = tiles.toFloat(begin->tile(site));                                                   // [1], exact below 2^24
  return tiles.plus(positions, tile::repeated(tiles, first, tiles.shape(positions)[0]));
}

namespace {
/// begin + tokens, as [1] in i32.
struct Advanced : Term {
  explicit Advanced(Index tokens) : tokens(std::move(tokens)) {}

  StringRef name() const override { return "advanced"; }
  AxisSet ownAxes() const override { return tokens.axes(); }
  void appendArguments(SmallVectorImpl<Value> &values) const override { tokens.appendArguments(values); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value count = tiles.iotaIntegers(tokens.at(site), 1);
    return {operands.empty() ? count : tiles.add(operands[0]->tile(site), count)};
  }

  Index tokens;
};
} // namespace

terms::TermPtr terms::advanced(Index tokens) { return std::make_unique<Advanced>(std::move(tokens)); }
