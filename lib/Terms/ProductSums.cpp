//===- ProductSums.cpp - Sums of products of entries ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// Σ_fg x_f x_g Z_fg of each row.
struct Quadratic : Term {
  StringRef name() const override { return "quadratic"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), z = operands[1]->tile(site);                                 // [T, r], [r, r]
    Value products = tiles.dot(x, z, tiles.constant(tiles.shape(x), 0));                            // [T, r]
    return {tiles.reduceAdd(tiles.times(products, x), 1)};                                          // [T]
  }
};

/// How many products of two entries each column stands for: a square for itself, another one for its mirror too.
struct ProductCounts : Term {
  ProductCounts(Axis rows, int64_t columns) : rows(rows), columns(columns) {}

  StringRef name() const override { return "product_counts"; }
  AxisSet ownAxes() const override { return setOf(rows); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources) const override {
    SmallVector<float> counts(columns, 2);
    counts[0] = 1;
    return {site.tiles().expand(site.tiles().table(counts), 0, {site[rows].count, columns})};
  }

  Axis rows;
  int64_t columns;
};

/// acc + a B.
struct AddProduct : Term {
  StringRef name() const override { return "add_product"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    Value acc = operands[0]->tile(site), a = operands[1]->tile(site), b = operands[2]->tile(site);
    return {site.tiles().dot(a, b, acc)};
  }
};

/// factor · acc + aᵀ b.
struct AddTransposed : Term {
  StringRef name() const override { return "add_transposed"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value factor = operands[1]->tile(site), a = operands[2]->tile(site);                            // [1], [T, m]
    Value b = operands[3]->tile(site, tiles.builder.getF32Type());                                  // [T, n]
    return {tiles.dot(a, b, tile::rescaled(tiles, operands[0]->tile(site), factor), /*transposeA=*/true)};
  }
};

/// max(before, max |x|): [1].
struct LargestEntry : Term {
  StringRef name() const override { return "largest_entry"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value all = tile::largestEntry(tiles, operands[0]->tile(site));                                 // [1]
    return {operands.size() > 1 ? tiles.maximum(operands[1]->tile(site), all) : all};
  }
};

/// The power of two next to the largest |x| of each row.
struct RowScale : Term {
  StringRef name() const override { return "row_scale"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    return {tile::powerOfTwoNextTo(tiles, tiles.reduceMax(tiles.abs(operands[0]->tile(site)), 1))}; // [T]
  }
};

/// (before / now)^power of units, exactly 1 where they are equal.
struct Growth : Term {
  explicit Growth(int64_t power) : power(power) {}

  StringRef name() const override { return "growth"; }
  void printParameters(raw_ostream &os) const override { os << " {power = " << power << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value now = operands[1]->tile(site), inverse = operands[2]->tile(site);
    Value before = tile::repeated(tiles, operands[0]->tile(site), tiles.shape(now));
    return {tile::unitFactor(tiles, before, now, inverse, power)};
  }

  int64_t power;
};

/// x [1] as [count].
struct Repeated : Term {
  explicit Repeated(int64_t count) : count(count) {}

  StringRef name() const override { return "repeated"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    return {tile::repeated(site.tiles(), operands[0]->tile(site), count)};
  }

  int64_t count;
};

/// x [T, 1] as [T].
struct Column : Term {
  StringRef name() const override { return "column"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    return {site.tiles().reduceAdd(operands[0]->tile(site), 1)};
  }
};
} // namespace

terms::TermPtr terms::quadratic() { return std::make_unique<Quadratic>(); }
terms::TermPtr terms::productCounts(Axis rows, int64_t columns) { return std::make_unique<ProductCounts>(rows, columns); }
terms::TermPtr terms::addProduct() { return std::make_unique<AddProduct>(); }
terms::TermPtr terms::addTransposed() { return std::make_unique<AddTransposed>(); }
terms::TermPtr terms::largestEntry() { return std::make_unique<LargestEntry>(); }
terms::TermPtr terms::rowScale() { return std::make_unique<RowScale>(); }
terms::TermPtr terms::growth(int64_t power) { return std::make_unique<Growth>(power); }
terms::TermPtr terms::repeated(int64_t count) { return std::make_unique<Repeated>(count); }
terms::TermPtr terms::column() { return std::make_unique<Column>(); }
