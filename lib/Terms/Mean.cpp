//===- Mean.cpp - Means of tokens --------------------------------------===//
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
/// Σ_t x_t.
struct TokenSum : StreamedTerm {
  explicit TokenSum(int64_t width) : width(width) {}

  StringRef name() const override { return "token_sum"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return {{width}}; }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type());                                    // [T, width]
    return {tiles.plus(sums[0], tiles.reduceAdd(x, 0))};
  }

  int64_t width;
};

/// Σ / count.
struct Mean : Term {
  StringRef name() const override { return "mean"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value sum = operands[0]->tile(site), count = operands[1]->tile(site);                             // [width], [1]
    SmallVector<int64_t> row{1, tiles.shape(sum)[0]};
    return {tiles.over(tiles.expand(sum, 0, row), tiles.expand(count, 1, row))};
  }
};
} // namespace

terms::StreamedPtr terms::tokenSum(int64_t width) { return std::make_unique<TokenSum>(width); }
terms::TermPtr terms::mean() { return std::make_unique<Mean>(); }
