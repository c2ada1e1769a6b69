//===- LepeGradient.cpp - A depthwise convolution backwards -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   v̄_t = Σ_δ w_δ ⊙ ȳ_{t − δ}        w̄_δ = Σ_t ȳ_t ⊙ v_{t + δ}        bias̄ = Σ_t ȳ_t
//
// over neighbors in one block of an image, or of a sequence, if there are blocks. Tokens lie as they do in memory: which neighbors of a token
// are outside of its block is told by its place.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "Extents.h"
#include "KernelFrame.h"
#include "Taps.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// Tokens of a sequence, or of an image, and what stands beside them.
class Neighbors {
public:
  /// `width`: channels of a tile.
  Neighbors(const TileSite &site, const terms::Lattice &lattice, Value limit, int64_t width)
      : site(site), lattice(lattice), limit(limit), shape({site[Axis::Query].count, width}) {
    const AxisRange &rows = site[Axis::Query];
    if (lattice.across)
      across = kernel::columnsOf(tiles(), rows.first, rows.count, lattice.across);
    if (lattice.down)
      down = rowsOfImage();
  }

  /// Calls `add` with the number of each tap and its tile of `tokens` [rows, width]: 0 where there is no such neighbor.
  void forEach(const Source &tokens, function_ref<void(int64_t tap, Value neighbor)> add) const {
    bool isImage = lattice.columns != 0;
    for (int64_t y = isImage ? -1 : 0; y <= (isImage ? 1 : 0); ++y)
      for (int64_t x : {-1, 0, 1})
        add(isImage ? (y + 1) * 3 + x + 1 : x + 1, inside(inside(at(*tokens, y, x), across, x, lattice.across), down, y, lattice.down));
  }
  /// Σ of weightOf(tap) ⊙ tokens of that neighbor, [rows, width]. A sum that has what is outside gives way to the one before: one choice then serves the
  /// taps of a column.
  Value sum(const Source &tokens, function_ref<Value(int64_t tap)> weightOf) const {
    Value all;
    auto add = [&](int64_t tap, Value neighbor) {
      Value product = tiles().times(neighbor, tiles().expand(weightOf(tap), 0, shape));
      all = all ? tiles().plus(all, product) : product;
    };
    const int64_t steps[] = {0, -1, 1};
    for (int64_t x : steps) {
      Value before = all;
      for (int64_t y : ArrayRef(steps).take_front(lattice.columns ? 3 : 1)) {
        Value ofRow = all;
        add(lattice.columns ? (y + 1) * 3 + x + 1 : x + 1, at(*tokens, y, x));
        all = orBefore(all, ofRow, down, y, lattice.down);
      }
      all = orBefore(all, before, across, x, lattice.across);
    }
    return all;
  }
  int64_t taps() const { return lattice.columns ? 9 : 3; }

private:
  TileBuilder &tiles() const { return site.tiles(); }

  /// ⌊t / columns⌋ mod down of each row, counted from a multiple of columns · down on: whole numbers that f32 holds.
  Value rowsOfImage() const {
    Value inBlock = kernel::columnsOf(tiles(), site[Axis::Query].first, shape[0], lattice.columns * lattice.down);
    return kernel::floorDivide(tiles(), inBlock, lattice.columns);
  }
  /// Of rows whose neighbor `step` away along a dimension is in another block those of `before`, of the others those of `tile`.
  Value orBefore(Value tile, Value before, Value places, int64_t step, int64_t length) const {
    if (!places || step == 0)
      return tile;
    Value edge = tiles().constant(shape, static_cast<double>(step < 0 ? 0 : length - 1));
    Value apart = tiles().compare(arith::CmpFPredicate::OEQ, tiles().expand(places, 1, shape), edge);
    return tiles().select(apart, before, tile);
  }
  Value inside(Value tile, Value places, int64_t step, int64_t length) const {
    return orBefore(tile, places && step != 0 ? tiles().constant(shape, 0) : Value(), places, step, length);
  }
  Value at(const TileSource &tokens, int64_t y, int64_t x) const {
    AxisRange shifted = site[Axis::Query];
    shifted.limit = limit;
    int64_t shift = y * lattice.columns + x;
    if (shift != 0)
      shifted.first = tiles().add(shifted.first, tiles().index(shift));
    if (shift < 0)
      shifted.lower = tiles().index(0);
    return tokens.tile(site.with(Axis::Key, shifted), tiles().builder.getF32Type());                // [rows, width]
  }

  const TileSite &site;
  const terms::Lattice &lattice;
  Value limit;
  SmallVector<int64_t> shape;
  Value across, down; ///< places in the block [rows]; null: no edge counts
};

struct LepeValues : Term {
  LepeValues(terms::Taps taps, terms::Lattice lattice) : taps(std::move(taps)), lattice(lattice) {}

  StringRef name() const override { return "lepe_values"; }
  void printParameters(raw_ostream &os) const override { lattice.print(os); }
  void appendArguments(SmallVectorImpl<Value> &values) const override { values.push_back(taps.weight); }
  AxisSet ownAxes() const override { return setOf({Axis::Head, Axis::Query}); }
  AxisSet movedAxes() const override { return setOf(Axis::Key); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Neighbors neighbors(site, lattice, Value(), taps.width);
    Value weight = site.argument(taps.weight), head = site[Axis::Head].first;
    if (!taps.packed)
      weight = kernel::flatTaps(tiles, weight);
    return {neighbors.sum(operands[0], [&](int64_t tap) {
      int64_t opposite = neighbors.taps() - 1 - tap; // ȳ of the token that is δ before
      return taps.packed ? tiles.load(weight, {head, tiles.index(opposite), tiles.index(0)}, taps.width)
                         : kernel::weightsOfTap(tiles, weight, head, opposite);                     // [width]
    })};
  }

  terms::Taps taps;
  terms::Lattice lattice;
};

/// A tile [width, 1] of each tap, then [width] of the bias.
struct LepeProducts : StreamedTerm {
  LepeProducts(int64_t width, terms::Lattice lattice, Extent values) : width(width), lattice(lattice), values(std::move(values)) {}

  StringRef name() const override { return "lepe_products"; }
  void printParameters(raw_ostream &os) const override { lattice.print(os); }
  void appendArguments(SmallVectorImpl<Value> &arguments) const override { arguments.push_back(values.lengths); }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  AxisSet ownAxes() const override { return setOf({Axis::Batch, Axis::Query}); }
  AxisSet movedAxes() const override { return setOf(Axis::Key); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return lattice.shapes(width); }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Value cotangent = operands[0]->tile(site, tiles.builder.getF32Type());                          // [rows, width]
    Value limit = values.lengths ? limitOf(site, values, site[Axis::Query].view) : Value();
    SmallVector<Value> next(sums);
    Neighbors(site, lattice, limit, width).forEach(operands[1], [&](int64_t tap, Value value) {
      Value sum = tiles.reduceAdd(tiles.times(cotangent, value), 0);                                // [width]
      next[tap] = tiles.plus(sums[tap], tiles.expand(sum, 1, {width, 1}));
    });
    next.back() = tiles.plus(sums.back(), tiles.reduceAdd(cotangent, 0));
    return next;
  }

  int64_t width;
  terms::Lattice lattice;
  Extent values;
};
} // namespace

SmallVector<SmallVector<int64_t>> terms::Lattice::shapes(int64_t width) const {
  SmallVector<SmallVector<int64_t>> shapes(columns ? 9 : 3, {width, 1});
  shapes.push_back({width});
  return shapes;
}

void terms::Lattice::print(raw_ostream &os) const {
  os << " {taps = " << (columns ? 9 : 3);
  for (auto [name, number] : {std::pair("columns", columns), std::pair("across", across), std::pair("down", down)})
    if (number)
      os << ", " << name << " = " << number;
  os << '}';
}

terms::TermPtr terms::lepeValues(Taps taps, Lattice lattice) { return std::make_unique<LepeValues>(std::move(taps), lattice); }
terms::StreamedPtr terms::lepeProducts(int64_t width, Lattice lattice, fusion::Extent values) {
  return std::make_unique<LepeProducts>(width, lattice, std::move(values));
}
