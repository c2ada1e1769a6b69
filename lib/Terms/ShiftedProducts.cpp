//===- ShiftedProducts.cpp - Products of the entries of a token, shift by shift ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   φ_s,c = w_s x_c x_{c + s}:   x̄_c = Σ_s w_s (Φ̄_s,c x_{c + s} + Φ̄_s,c−s x_{c − s}),   columns counted round
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// Column c + shift in the place of column c.
static Value shifted(TileBuilder &tiles, Value x, int64_t shift) {
  int64_t width = tiles.shape(x).back(), first = (shift + width) % width;
  if (first == 0)
    return x;
  SmallVector<int64_t> order = llvm::map_to_vector(llvm::seq(width), [&](int64_t column) { return (column + first) % width; });
  return tiles.permuteColumns(x, order);
}

namespace {
struct ShiftedProduct : Term {
  ShiftedProduct(int64_t shift, double weight) : shift(shift), weight(weight) {}

  StringRef name() const override { return "shifted_product"; }
  void printParameters(raw_ostream &os) const override { os << " {shift = " << shift << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type());                                  // [T, r]
    Value product = tiles.times(x, shifted(tiles, x, shift));
    return {weight == 1 ? product : tiles.times(product, tiles.constant(tiles.shape(x), weight))};
  }

  int64_t shift;
  double weight;
};

struct ShiftedProductsGradient : Term {
  explicit ShiftedProductsGradient(ArrayRef<double> weights) : weights(weights) {}

  StringRef name() const override { return "shifted_products_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), all;                                                    // [T, r]
    for (auto [number, weight] : llvm::enumerate(weights)) {
      auto shift = static_cast<int64_t>(number);
      Value reaching = operands[number + 1]->tile(site, f32);                                       // [T, r]
      if (weight != 1)
        reaching = tiles.times(reaching, tiles.constant(tiles.shape(x), weight));
      Value ahead = tiles.times(reaching, shifted(tiles, x, shift)), behind = shifted(tiles, tiles.times(reaching, x), -shift);
      Value both = tiles.plus(ahead, behind);
      all = all ? tiles.plus(all, both) : both;
    }
    return {all};
  }

  SmallVector<double> weights;
};
} // namespace

terms::TermPtr terms::shiftedProduct(int64_t shift, double weight) { return std::make_unique<ShiftedProduct>(shift, weight); }
terms::TermPtr terms::shiftedProductsGradient(ArrayRef<double> weights) { return std::make_unique<ShiftedProductsGradient>(weights); }
