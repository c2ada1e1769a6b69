//===- Exponents.cpp - Features as exponents of 2 -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// log2 e · √s · x ωᵀ, less s |x|² log2 e / 2.
struct Exponents : Term {
  Exponents(double scale, bool withSquares) : scale(scale), withSquares(withSquares) {}

  StringRef name() const override { return "exponents"; }
  void printParameters(raw_ostream &os) const override {
    os << " {scale = " << scale << (withSquares ? ", squares}" : "}");
  }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), omega = operands[1]->tile(site, f32);                   // [T, d], [m, d]
    SmallVector<int64_t> shape{tiles.shape(x)[0], tiles.shape(omega)[0]};
    double factor = M_LOG2E * (scale == 0 ? 1 : std::sqrt(scale));
    Value scaled = tiles.times(x, tiles.constant(tiles.shape(x), factor));
    Value product = tiles.exactDot(scaled, omega, tiles.constant(shape, 0), false, true);           // [T, m]
    if (!withSquares)
      return {product};
    Value squares = tiles.reduceAdd(tiles.times(x, x), 1);                                          // [T]
    Value half = tiles.times(squares, tiles.constant(tiles.shape(squares), scale * M_LOG2E / 2));
    return {tiles.minus(product, tiles.expand(half, 1, shape))};
  }

  double scale;
  bool withSquares;
};

struct Existing : Term {
  explicit Existing(Axis axis) : axis(axis) {}

  StringRef name() const override { return "existing"; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives(Sources operands) const override { return operands[0]->gives(); }
  AxisSet ownAxes() const override { return setOf(axis); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    Value x = operands[0]->tile(site);                                                              // [T, columns]
    const AxisRange &rows = site[axis];
    if (!rows.limit)
      return {x};
    TileBuilder &tiles = site.tiles();
    return {tiles.mask(x, zeroOf(operands[0]->gives()), tiles.sub(rows.limit, rows.first), Value(), Value())};
  }

  Axis axis;
};
} // namespace

terms::TermPtr terms::exponents(double scale, bool withSquares) {
  return std::make_unique<Exponents>(scale, withSquares);
}
terms::TermPtr terms::existing(Axis axis) { return std::make_unique<Existing>(axis); }
