//===- Compress.cpp - Sums of tokens with given weights ------------------===//
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
/// Σ_j E_tj k_j, block by block of the width.
struct Compress : StreamedTerm {
  Compress(ArrayRef<int64_t> widths, bool wide) : widths(widths), wide(wide) {}

  StringRef name() const override { return "compress"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t rows = site[Axis::Query].count;
    return llvm::map_to_vector(widths, [&](int64_t width) { return SmallVector<int64_t>{rows, width}; });
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    Type type = wide ? Type(site.tiles().builder.getF32Type()) : site.operand();
    Value e = operands[0]->tile(site, type);                                                          // [T, Tk]
    SmallVector<Value> next;
    for (auto [k, sum] : llvm::zip_equal(operands[1]->tiles(site, type), sums))                       // [Tk, width] each
      next.push_back(site.tiles().dot(e, k, sum));
    return next;
  }

  SmallVector<int64_t> widths;
  bool wide;
};

/// Σ_j E_tj over tokens that exist.
struct WeightSums : StreamedTerm {
  StringRef name() const override { return "weight_sums"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    return {{site[Axis::Query].count}};
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    const AxisRange &keys = site[Axis::Key];
    Value e = operands[0]->tile(site, tiles.builder.getF32Type());                                    // [T, Tk]
    e = tiles.mask(e, 0, Value(), tiles.sub(keys.limit, keys.first), Value());
    return {tiles.plus(sums[0], tiles.reduceAdd(e, 1))};
  }
};

/// x + s βᵀ.
struct AddScaledBias : Term {
  StringRef name() const override { return "add_scaled_bias"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), s = operands[1]->tile(site);                                   // [T, width], [T]
    Value bias = operands[2]->tile(site, tiles.builder.getF32Type());                                 // [width]
    ArrayRef<int64_t> shape = tiles.shape(x);
    return {tiles.plus(x, tiles.times(tiles.expand(s, 1, shape), tiles.expand(bias, 0, shape)))};
  }
};
} // namespace

terms::StreamedPtr terms::compress(ArrayRef<int64_t> widths, bool wide) { return std::make_unique<Compress>(widths, wide); }
terms::StreamedPtr terms::weightSums() { return std::make_unique<WeightSums>(); }
terms::TermPtr terms::addScaledBias() { return std::make_unique<AddScaledBias>(); }
