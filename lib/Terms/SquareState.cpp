//===- SquareState.cpp - Sums of products of two entries --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// S = Σ_j (s_j ⊗ s_j) v_j and z = Σ_j s_j ⊗ s_j over rows s_j, a slice S_f, z_f for the entry f of the first factor. Both are in
// the square of a unit K, the largest |entry| so far: powers of long rows would overflow. What is read of S cancels, so products
// drop nothing of it, whatever the storage.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// K, S_f = Σ_j s_jf s_j v_jᵀ, z_f = Σ_j s_jf s_j.
struct SquareState : StreamedTerm {
  SquareState(int64_t size, int64_t width) : size(size), width(width) {}

  StringRef name() const override { return "square_state"; }
  Representation gives() const override { return Representation::Scaled; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    return tile::RescaledSumAttr::get(context, 2, tile::Unit::Scalar);
  }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return {{1}, {size, width}, {size}}; }
  Value buildUnit(const TileSite &site, Sources operands) const override {
    return tile::largestEntry(site.tiles(), operands[0]->tile(site));                               // [1]
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value unit, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Value s = operands[0]->tile(site), column = operands[1]->tile(site);                            // [T, r], [T]
    Value v = operands[2]->tile(site, tiles.builder.getF32Type());                                  // [T, dv]
    Value each = tile::inverseUnit(tiles, unit);                                                    // [1]
    Value factor = tile::rescaled(tiles, column, each);                                             // [T]
    Value scaled = tiles.times(s, tiles.expand(tile::repeated(tiles, each, size), 0, tiles.shape(s))); // [T, r]
    Value b = tile::rescaled(tiles, scaled, factor);                                                // [T, r]
    Value next = tiles.exactDot(b, v, sums[0], /*transposeA=*/true);                                // [r, dv]
    return {next, tiles.plus(sums[1], tiles.reduceAdd(b, 0))};
  }

  int64_t size, width;
};

/// Σ_f a_f z_f and Σ_f a_f S_f over the slices, of rows a_f = s_f s in a unit of their own.
struct SquareReadout : StreamedTerm {
  explicit SquareReadout(int64_t width) : width(width) {}

  StringRef name() const override { return "square_readout"; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  AxisSet ownAxes() const override { return setOf(Axis::Query); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t rows = site[Axis::Query].count;
    return {{rows}, {rows, width}}; // den, num
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Value a = operands[0]->tile(site), S = operands[1]->tile(site), z = operands[2]->tile(site);    // [Tq, r], [r, dv], [r]
    Value den = tiles.reduceAdd(tiles.times(a, tiles.expand(z, 0, tiles.shape(a))), 1);             // [Tq]
    return {tiles.plus(sums[0], den), tiles.exactDot(a, S, sums[1])};
  }

  int64_t width;
};

/// What powerPartial carries, from sums in the unit m^degree, in the unit of a state of it or more.
struct PowerFrom : Term {
  explicit PowerFrom(int64_t degree) : degree(degree) {}

  StringRef name() const override { return "power_from"; }
  void printParameters(raw_ostream &os) const override { os << " {degree = " << degree << '}'; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand < 3 ? Representation::Plain : Representation::Scaled;
  }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value m = operands[0]->tile(site), den = operands[1]->tile(site), num = operands[2]->tile(site); // [Tq], [Tq], [Tq, dv]
    Value least = operands.size() > 3 ? operands[3]->tiles(site)[0] : tiles.constant(tiles.shape(m), tile::leastUnit);
    Value unit = tiles.maximum(least, m);                                                           // [Tq]
    Value factor = tile::wholePower(tiles, tiles.times(m, tile::inverseUnit(tiles, unit)), degree);  // [Tq]
    return {unit, tiles.times(den, factor), tile::rescaled(tiles, num, factor)};
  }

  int64_t degree;
};

/// The state of no entries.
struct NoSquares : Term {
  explicit NoSquares(SmallVector<SmallVector<int64_t>> shapes) : shapes(std::move(shapes)) {}

  StringRef name() const override { return "no_squares"; }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources) const override {
    SmallVector<Value, 3> state;
    for (const SmallVector<int64_t> &shape : shapes)
      state.push_back(site.tiles().constant(shape, state.empty() ? tile::leastUnit : 0));
    return state;
  }

  SmallVector<SmallVector<int64_t>> shapes;
};

/// A state whose unit shrinks by a factor [1]: its entries were in a smaller unit.
struct Shrunk : Term {
  StringRef name() const override { return "shrunk"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Scaled : Representation::Plain;
  }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);
    Value less = tiles.times(state[0], operands[1]->tile(site));                                    // [1]
    state[0] = tiles.maximum(less, tiles.constant({1}, tile::leastUnit));
    Value rest = tile::wholePower(tiles, tiles.over(less, state[0]), 2);                             // [1]
    for (Value &sum : llvm::drop_begin(state))
      sum = tile::rescaled(tiles, sum, rest);
    return state;
  }
};
} // namespace

terms::StreamedPtr terms::squareState(int64_t size, int64_t width) { return std::make_unique<SquareState>(size, width); }
terms::StreamedPtr terms::squareReadout(int64_t width) { return std::make_unique<SquareReadout>(width); }
terms::TermPtr terms::powerFrom(int64_t degree) { return std::make_unique<PowerFrom>(degree); }
terms::TermPtr terms::noSquares(SmallVector<SmallVector<int64_t>> shapes) {
  return std::make_unique<NoSquares>(std::move(shapes));
}
terms::TermPtr terms::shrunk() { return std::make_unique<Shrunk>(); }
