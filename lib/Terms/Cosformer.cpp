//===- Cosformer.cpp - Features with the positions of their tokens ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "MapFormulas.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct Cosformer : Term {
  Cosformer(Axis axis, int64_t maxPosition) : axis(axis), maxPosition(maxPosition) {}

  StringRef name() const override { return "cosformer"; }
  void printParameters(raw_ostream &os) const override { os << " {max_position = " << maxPosition << '}'; }
  AxisSet ownAxes() const override { return setOf(axis); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type());                                  // [T, d]
    Value positions = positionsOf(site, operands.drop_front());                                     // [T]
    auto [sines, cosines] = kernel::cosformer(tiles, x, positions, maxPosition);
    return {sines, cosines};
  }

protected:
  /// Of the tokens at the site, which count on from `begin` if there is one.
  Value positionsOf(const TileSite &site, Sources begin) const {
    const AxisRange &rows = site[axis];
    Value positions = kernel::positions(site.tiles(), rows.view, rows.first, rows.count);
    return begin.empty() ? positions : terms::goingOn(site, positions, begin[0]);
  }

  Axis axis;
  int64_t maxPosition;
};

struct CosformerGradient : Cosformer {
  using Cosformer::Cosformer;

  StringRef name() const override { return "cosformer_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), positions = positionsOf(site, operands.drop_front(2));  // [T, d], [T]
    SmallVector<Value, 3> cotangents = operands[1]->tiles(site, f32);                               // [T, d] each
    return {kernel::cosformerGradient(tiles, x, positions, maxPosition, cotangents[0], cotangents[1])};
  }
};
} // namespace

terms::TermPtr terms::cosformerGradient(Axis axis, int64_t maxPosition) { return std::make_unique<CosformerGradient>(axis, maxPosition); }
terms::TermPtr terms::cosformer(Axis axis, int64_t maxPosition) { return std::make_unique<Cosformer>(axis, maxPosition); }
