//===- Transposed.cpp - Rows as columns ------------------------------------- ===//
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
/// By a product with the identity.
struct Transposed : Term {
  StringRef name() const override { return "transposed"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    SmallVector<Value, 3> all = operands[0]->tiles(site);                                           // [T, r] each
    return llvm::map_to_vector<3>(all, [&](Value x) { return transposed(site.tiles(), x); });
  }

private:
  static Value transposed(TileBuilder &tiles, Value x) {
    int64_t rows = tiles.shape(x)[0], size = tiles.shape(x)[1];
    SmallVector<int64_t> square{size, size};
    Value places = tiles.iota(tiles.index(0), size);                                                // [r]
    Value apart = tiles.minus(tiles.expand(places, 0, square), tiles.expand(places, 1, square));    // [r, r]
    Value one = tiles.selectEqual(apart, 0, tiles.constant(square, 1), tiles.constant(square, 0));  // [r, r]
    return tiles.dot(one, x, tiles.constant({size, rows}, 0), false, /*transposeB=*/true);           // [r, T]
  }
};
} // namespace

terms::TermPtr terms::transposed() { return std::make_unique<Transposed>(); }
