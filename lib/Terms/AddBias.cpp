//===- AddBias.cpp - A bias of each column ------------------------------===//
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
struct AddBias : Term {
  explicit AddBias(Axis axis) : axis(axis) {}

  StringRef name() const override { return "add_bias"; }
  AxisSet ownAxes() const override { return setOf(axis); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site);                                  // [rows, columns]
    Value b = operands[1]->tile(site, tiles.builder.getF32Type());      // [columns]
    Value sum = tiles.plus(x, tiles.expand(b, 0, tiles.shape(x)));
    const AxisRange &rows = site[axis];
    return {rows.limit ? tiles.mask(sum, 0, tiles.sub(rows.limit, rows.first), Value(), Value()) : sum};
  }

  Axis axis;
};
} // namespace

terms::TermPtr terms::addBias(Axis axis) { return std::make_unique<AddBias>(axis); }
