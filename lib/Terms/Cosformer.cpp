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
    const AxisRange &rows = site[axis];
    Value positions = kernel::positions(tiles, rows.view, rows.first, rows.count);                  // [T]
    if (operands.size() > 1)
      positions = terms::goingOn(site, positions, operands[1]);
    auto [sines, cosines] = kernel::cosformer(tiles, x, positions, maxPosition);
    return {sines, cosines};
  }

  Axis axis;
  int64_t maxPosition;
};
} // namespace

terms::TermPtr terms::cosformer(Axis axis, int64_t maxPosition) { return std::make_unique<Cosformer>(axis, maxPosition); }
