//===- SignMatrix.cpp - Columns of a Hadamard matrix with signs ------------- ===//
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
struct SignMatrix : Term {
  StringRef name() const override { return "sign_matrix"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value sign = operands[0]->tile(site, tiles.builder.getF32Type());                               // [rows]
    Value index = operands[1]->tile(site);                                                          // [columns]
    int64_t rows = tiles.shape(sign)[0];
    SmallVector<int64_t> shape{rows, tiles.shape(index)[0]};
    Value places = tiles.expand(tiles.iotaIntegers(tiles.index(0), rows), 1, shape);                // [rows, columns]
    Value entries = tiles.hadamard(places, tiles.expand(index, 0, shape));                          // [rows, columns]
    return {tiles.times(entries, tiles.expand(sign, 1, shape))};
  }
};
} // namespace

terms::TermPtr terms::signMatrix() { return std::make_unique<SignMatrix>(); }
