//===- Exponents.cpp - Features as exponents of 2 -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "MapFormulas.h"

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
    Value x = operands[0]->tile(site, f32), omega = operands.size() > 1 ? operands[1]->tile(site, f32) : Value();
    double factor = M_LOG2E * (scale == 0 ? 1 : std::sqrt(scale));
    Value product = kernel::timesOmega(tiles, x, omega, factor);                                    // [T, m]
    if (!withSquares)
      return {product};
    Value half = kernel::halfSquares(tiles, x, scale);                                              // [T]
    return {tiles.minus(product, tiles.expand(half, 1, tiles.shape(product)))};
  }

  double scale;
  bool withSquares;
};

/// What a kernel of its own has written.
struct WrittenExponents : Term {
  StringRef name() const override { return "written_exponents"; }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    return operands[0]->tiles(site);
  }
};

struct Existing : Term {
  explicit Existing(Axis axis) : axis(axis) {}

  StringRef name() const override { return "existing"; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives(Sources operands) const override { return operands[0]->gives(); }
  AxisSet ownAxes() const override { return setOf(axis); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    SmallVector<Value, 3> x = operands[0]->tiles(site);                                             // [T, columns] each
    const AxisRange &rows = site[axis];
    if (!rows.limit)
      return x;
    TileBuilder &tiles = site.tiles();
    bool logarithms = operands[0]->gives() == Representation::Log; // mantissas are behind them
    for (Value &tile : MutableArrayRef(x).take_front(logarithms ? 1 : x.size()))
      tile = tiles.mask(tiles.cast(tile, tiles.builder.getF32Type()), zeroOf(operands[0]->gives()), tiles.sub(rows.limit, rows.first), Value(), Value());
    return x;
  }

  Axis axis;
};

struct RowsBefore : Term {
  RowsBefore(Axis axis, Index end) : axis(axis), end(std::move(end)) {}

  StringRef name() const override { return "rows_before"; }
  AxisSet ownAxes() const override { return setOf(axis) | end.axes(); }
  void appendArguments(SmallVectorImpl<Value> &values) const override { end.appendArguments(values); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value rows = tiles.sub(end.at(site), site[axis].first);
    SmallVector<Value, 3> x = operands[0]->tiles(site, tiles.builder.getF32Type());                 // [T, columns] each
    for (Value &tile : x)
      tile = tiles.mask(tile, 0, rows, Value(), Value());
    return x;
  }

  Axis axis;
  Index end;
};
} // namespace

terms::TermPtr terms::exponents(double scale, bool withSquares) {
  return std::make_unique<Exponents>(scale, withSquares);
}
terms::TermPtr terms::writtenExponents() { return std::make_unique<WrittenExponents>(); }
terms::TermPtr terms::existing(Axis axis) { return std::make_unique<Existing>(axis); }
terms::TermPtr terms::rowsBefore(Axis axis, Index end) { return std::make_unique<RowsBefore>(axis, std::move(end)); }
