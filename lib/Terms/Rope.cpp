//===- Rope.cpp - Rotary positions --------------------------------------===//
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

/// The positions of a tile's rows; `begin` [1] is that of token 0, null where the step says it.
static Value positionsAt(const TileSite &site, Axis axis, const kernel::TokenStep &step, Source begin) {
  TileBuilder &tiles = site.tiles();
  Value first = site[axis].first;
  if (step.offset && !begin)
    first = tiles.add(first, site.argument(step.offset));
  Value positions = kernel::positions(tiles, site[axis].view, first, site[axis].count);
  return begin ? terms::goingOn(site, positions, begin) : positions;
}

namespace {
struct Rope : Term {
  Rope(Axis axis, const kernel::TokenStep &step) : axis(axis), step(step) {}

  StringRef name() const override { return "rope"; }
  void printParameters(raw_ostream &os) const override {
    os << " {base = " << step.number << (step.half ? ", half" : "") << (step.backwards ? ", backwards}" : "}");
  }
  void appendArguments(SmallVectorImpl<Value> &values) const override { values.push_back(step.offset); }
  AxisSet ownAxes() const override { return setOf(axis); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type());
    return {kernel::rotate(tiles, x, positionsAt(site, axis, step, operands.size() > 1 ? operands[1] : nullptr), step)};
  }

  Axis axis;
  kernel::TokenStep step;
};

struct RopeSlice : Rope {
  RopeSlice(Axis axis, const kernel::TokenStep &step, kernel::ColumnsOf of) : Rope(axis, step), of(of) {}

  StringRef name() const override { return "rope_slice"; }
  void printParameters(raw_ostream &os) const override {
    Rope::printParameters(os);
    os << " {first = " << of.first << ", width = " << of.width << '}';
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32);
    Source begin = step.positions() ? operands.back() : nullptr;
    auto partner = [&] { return operands.size() > (begin ? 2 : 1) ? operands[1]->tile(site, f32) : tiles.swapPairs(x); };
    return {kernel::rotate(tiles, x, partner, of, positionsAt(site, axis, step, begin), step)};
  }

  kernel::ColumnsOf of;
};
} // namespace

terms::TermPtr terms::ropeSlice(Axis axis, const kernel::TokenStep &step, kernel::ColumnsOf of) {
  return std::make_unique<RopeSlice>(axis, step, of);
}
terms::TermPtr terms::rope(Axis axis, const kernel::TokenStep &step) { return std::make_unique<Rope>(axis, step); }
