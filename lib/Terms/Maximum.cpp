//===- Maximum.cpp - Maxima of entries --------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogSource.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// max_f x_f of each row, or max_f |x_f|.
struct RowMaximum : Term {
  explicit RowMaximum(bool ofMagnitudes) : ofMagnitudes(ofMagnitudes) {}

  StringRef name() const override { return ofMagnitudes ? "row_magnitude" : "row_maximum"; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives(Sources operands) const override { return operands[0]->gives(); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site);                                                                // [T, m]
    return {tiles.reduceMax(ofMagnitudes ? tiles.abs(x) : x, 1)};                                     // [T]
  }

  bool ofMagnitudes;
};

/// 2^(x_f − max_f x_f).
struct InRowUnit : Term {
  StringRef name() const override { return "in_row_unit"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    kernel::LogFeatures x = logFeatures(operands[0], site);                                           // [T, m]
    Value l = x.exponents;
    return {x.at(tiles, tiles.minus(l, tiles.expand(tiles.reduceMax(l, 1), 1, tiles.shape(l))))};
  }
};

/// e^{x_f} / Σ_f e^{x_f}.
struct SoftmaxOfRows : Term {
  StringRef name() const override { return "softmax_of_rows"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type());                                    // [T, m]
    SmallVector<int64_t> shape(tiles.shape(x));
    auto ofRows = [&](Value rows) { return tiles.expand(rows, 1, shape); };
    x = tiles.exp2(tiles.times(tiles.minus(x, ofRows(tiles.reduceMax(x, 1))), tiles.constant(shape, M_LOG2E)));
    Value sums = tiles.reduceAdd(x, 1);                                                               // [T]
    return {tiles.times(x, ofRows(tiles.over(tiles.constant(tiles.shape(sums), 1), sums)))};
  }
};

/// (y, ȳ): y ⊙ (ȳ − ⟨ȳ, y⟩) of the y that it gives.
struct SoftmaxOfRowsGradient : Term {
  StringRef name() const override { return "softmax_of_rows_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value y = operands[0]->tile(site, f32), given = operands[1]->tile(site, f32);                     // [T, m]
    Value sums = tiles.reduceAdd(tiles.times(given, y), 1);                                           // [T]
    return {tiles.times(y, tiles.minus(given, tiles.expand(sums, 1, tiles.shape(y))))};
  }
};

/// The maximum of the first rows of all steps, of the second ones, …
struct Maximum : StreamedTerm {
  Maximum(int64_t rows, std::optional<double> least) : rows(rows), least(least) {}

  StringRef name() const override { return "maximum"; }
  void printParameters(raw_ostream &os) const override {
    if (least)
      os << " {least = " << *least << '}';
  }
  std::optional<Representation> takes(unsigned) const override { return gives(); }
  Representation gives() const override { return least ? Representation::Plain : Representation::Log; }
  std::optional<double> leastUnit() const override { return least; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::MaximumAttr::get(context); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return {{rows}}; }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    return {site.tiles().maximum(sums[0], operands[0]->tile(site))};
  }

  int64_t rows;
  std::optional<double> least;
};

/// The maximum of the rows: [1]; with `orZero` 0 of −∞.
struct LargestRow : Term {
  explicit LargestRow(bool orZero) : orZero(orZero) {}

  StringRef name() const override { return orZero ? "largest_row_or_zero" : "largest_row"; }
  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value rows = operands[0]->tile(site);                                                             // [T]
    Value largest = tiles.reduceMax(tiles.expand(rows, 0, {1, tiles.shape(rows)[0]}), 1);             // [1]
    return {orZero ? tiles.selectEqual(largest, -INFINITY, tiles.constant({1}, 0), largest) : largest};
  }

  bool orZero;
};
} // namespace

terms::TermPtr terms::rowMaximum() { return std::make_unique<RowMaximum>(/*ofMagnitudes=*/false); }
terms::TermPtr terms::rowMagnitude() { return std::make_unique<RowMaximum>(/*ofMagnitudes=*/true); }
terms::TermPtr terms::inRowUnit() { return std::make_unique<InRowUnit>(); }
terms::TermPtr terms::softmaxOfRows() { return std::make_unique<SoftmaxOfRows>(); }
terms::TermPtr terms::softmaxOfRowsGradient() { return std::make_unique<SoftmaxOfRowsGradient>(); }
terms::StreamedPtr terms::maximum(int64_t rows, std::optional<double> least) {
  return std::make_unique<Maximum>(rows, least);
}
terms::TermPtr terms::largestRow() { return std::make_unique<LargestRow>(/*orZero=*/false); }
terms::TermPtr terms::largestRowOrZero() { return std::make_unique<LargestRow>(/*orZero=*/true); }
