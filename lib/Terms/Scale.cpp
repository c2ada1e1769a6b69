//===- Scale.cpp - A number times each token ----------------------------===//
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
struct Scale : Term {
  Scale(double factor, Representation representation) : factor(factor), representation(representation) {}

  StringRef name() const override { return "scale"; }
  void printParameters(raw_ostream &os) const override { os << " {factor = " << factor << '}'; }
  Representation gives(Sources) const override { return representation; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    SmallVector<Value, 3> sums = operands[0]->tiles(site, f32);
    for (const Source &further : operands.drop_front())
      for (auto [sum, x] : llvm::zip_equal(sums, further->tiles(site, f32)))
        sum = tiles.plus(sum, x);
    for (Value &sum : sums)
      if (factor != 1)
        sum = tiles.times(sum, tiles.constant(tiles.shape(sum), factor));
    return sums;
  }

  double factor;
  Representation representation;
};
} // namespace

terms::TermPtr terms::scale(double factor, Representation gives) { return std::make_unique<Scale>(factor, gives); }
