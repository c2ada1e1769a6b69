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

namespace {
struct Rope : Term {
  Rope(Axis axis, const kernel::TokenStep &step) : axis(axis), step(step) {}

  StringRef name() const override { return "rope"; }
  void printParameters(raw_ostream &os) const override {
    os << " {base = " << step.number << (step.half ? ", half}" : "}");
  }
  void appendArguments(SmallVectorImpl<Value> &values) const override { values.push_back(step.offset); }
  AxisSet ownAxes() const override { return setOf(axis); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type()), first = site[axis].first;
    if (step.offset)
      first = tiles.add(first, site.argument(step.offset));
    return {kernel::rotate(tiles, x, kernel::positions(tiles, site[axis].view, first, site[axis].count), step)};
  }

  Axis axis;
  kernel::TokenStep step;
};
} // namespace

terms::TermPtr terms::rope(Axis axis, const kernel::TokenStep &step) { return std::make_unique<Rope>(axis, step); }
