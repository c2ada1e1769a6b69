//===- Lepe.cpp - A depthwise convolution beside an output --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "Extents.h"
#include "Taps.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct Lepe : Term {
  explicit Lepe(terms::Taps taps) : taps(std::move(taps)) {}

  StringRef name() const override { return "lepe"; }
  void printParameters(raw_ostream &os) const override {
    os << " {taps = " << (taps.columns ? 9 : 3);
    if (taps.columns)
      os << ", columns = " << *taps.columns;
    os << (taps.inView ? ", in_view}" : "}");
  }
  void appendArguments(SmallVectorImpl<Value> &values) const override {
    values.append({taps.weight, taps.extent.lengths});
  }
  AxisSet ownAxes() const override {
    return setOf({Axis::Batch, Axis::Head, Axis::Query}) | (taps.ofSlice ? setOf(Axis::Value) : AxisSet());
  }
  AxisSet movedAxes() const override { return setOf(Axis::Key); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override;

  terms::Taps taps;
};

/// The convolution at one site.
struct Convolution {
  const terms::Taps &taps;
  const TileSite &site;
  const TileSource &value;
  Value weight;  // [heads, width, taps], or packed
  AxisRange rows;    // of the output, as tokens of the values
  Value columns; // of each row in its image [rows]; null in one dimension

  TileBuilder &tiles() const { return site.tiles(); }
  SmallVector<int64_t> shape() const { return {rows.count, taps.width}; }
  Value addTap(Value sum, int64_t tap, int64_t shift) const;
  Value isOutside(int64_t deltaX) const;
  Value addAll(Value sum) const;
};
} // namespace

/// sum + w_tap ⊙ v_{t + shift}: the values of rows beside those of the site. Of no sum the product.
Value Convolution::addTap(Value sum, int64_t tap, int64_t shift) const {
  AxisRange shifted = rows;
  if (shift != 0)
    shifted.first = tiles().add(rows.first, tiles().index(shift));
  if (shift < 0)
    shifted.lower = tiles().index(0);
  Value v = value.tile(site.with(Axis::Key, shifted), tiles().builder.getF32Type());               // [rows, width]
  Value head = site[Axis::Head].first, channel = taps.ofSlice ? site[Axis::Value].first : tiles().index(0);
  Value w = taps.packed ? tiles().load(weight, {head, tiles().index(tap), channel}, taps.width)
                        : kernel::weightsOfTap(tiles(), weight, head, tap, channel, taps.width);   // [width]
  Value product = tiles().times(v, tiles().expand(w, 0, shape()));
  return sum ? tiles().plus(sum, product) : product;
}

/// Whether the neighbor δx of each row lies in another row of the image: i1 [rows, width].
Value Convolution::isOutside(int64_t deltaX) const {
  double edge = deltaX < 0 ? 0 : *taps.columns - 1;
  Value column = tiles().expand(columns, 1, shape());
  return tiles().compare(arith::CmpFPredicate::OEQ, column, tiles().constant(shape(), edge));
}

/// Of an image the rows at an edge leave the three taps of a column out as one.
Value Convolution::addAll(Value sum) const {
  if (!taps.columns) {
    for (int64_t delta : {-1, 0, 1})
      sum = addTap(sum, delta + 1, delta);
    return sum;
  }
  for (int64_t deltaX : {0, -1, 1}) {
    Value before = sum;
    for (int64_t deltaY : {-1, 0, 1})
      sum = addTap(sum, (deltaY + 1) * 3 + deltaX + 1, *taps.columns * deltaY + deltaX);
    if (deltaX != 0)
      sum = tiles().select(isOutside(deltaX), before, sum);
  }
  return sum;
}

/// The rows of the site as tokens of the values: of the view, or of the whole sequence where neighbors beyond the view
/// count.
static AxisRange rowsOfValues(const TileSite &site, bool inView) {
  AxisRange rows = site[Axis::Query];
  rows.limit = Value(); // rows that the site leaves out are neighbors, too
  if (!rows.view.window || inView)
    return rows;
  return {site.tiles().add(rows.view.origin, rows.first), rows.count, Value(), Value(), {}};
}

SmallVector<Value, 3> Lepe::buildTile(const TileSite &site, Sources operands) const {
  TileBuilder &tiles = site.tiles();
  AxisRange rows = rowsOfValues(site, taps.inView);
  if (taps.extent.lengths)
    rows.limit = limitOf(site, taps.extent, rows.view);
  Value weight = site.argument(taps.weight);
  if (!taps.packed)
    weight = kernel::flatTaps(tiles, weight);
  Value columns = taps.columns ? kernel::columnsOf(tiles, rows.first, rows.count, *taps.columns) : Value();
  Convolution convolution{taps, site, *operands[1], weight, rows, columns};
  Value o = operands[0]->tile(site), bias;
  if (operands.size() > 2)
    bias = tiles.expand(operands[2]->tile(site, tiles.builder.getF32Type()), 0, convolution.shape());
  return {tiles.plus(o, convolution.addAll(bias))};
}

terms::TermPtr terms::lepe(Taps taps) { return std::make_unique<Lepe>(std::move(taps)); }
