//===- SketchTree.cpp - The tree of a sketch -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   leaf_i = r^-½ x M_i;   node = r^-½ (a A) ⊙ (b B), level by level;   matrices of ±1
//
// The factor r^-½ stays out of the matrices: with entries ±1 sums that cancel do so exactly, and a small sketch, many of
// whose columns are equal, may be exactly 0. For the same reason only its power of two is applied at each step, which
// keeps products in range; what is left of it, 2^-½ a step of odd log₂ r, is applied to the root.
//
// With pairs a sum of ±a_c is made of two: of the leading digits of all a_c, on one grid so coarse that their sum is exact
// in any order, and of the rest.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// A tile, or with pairs the sum of two, the second below the last place of the first.
struct Digits {
  Value high, low;
};

/// The tree of one tile. Its matrices are read where they are multiplied with.
struct Tree {
  const TileSite &site;
  TileBuilder &tiles;
  int64_t rows;
  bool pairs;
  unsigned logSize = 0;

  Digits product(const Digits &a, const Source &matrix, Value grid) const;
  Digits leaf(const Source &product);
  Digits side(const Digits &a, const Source &matrix) const;
  Digits node(const Digits &a, const Digits &b) const;
  Digits shrunk(Digits a) const;
};
} // namespace

static Value scaled(TileBuilder &tiles, Value tile, double exponent) {
  return exponent == 0 ? tile : tiles.times(tile, tiles.constant(tiles.shape(tile), std::exp2(exponent)));
}

/// The power of two of r^-½.
Digits Tree::shrunk(Digits a) const {
  double exponent = -static_cast<double>(logSize / 2);
  return {scaled(tiles, a.high, exponent), a.low ? scaled(tiles, a.low, exponent) : Value()};
}

/// Adds a M [T, r] to sums, with a grid those of leading digits and of the rest. Adding the grid [T, columns] and taking it off again leaves the
/// digits above its last place.
static SmallVector<Value, 3> addProducts(TileBuilder &tiles, const Digits &a, Value m, Value grid, ValueRange sums) {
  if (!grid)
    return {tiles.dot(a.high, m, sums[0])};
  Value leading = tiles.minus(tiles.plus(a.high, grid), grid), rest = tiles.minus(a.high, leading);
  if (a.low)
    rest = tiles.plus(rest, a.low);
  return {tiles.exactDot(leading, m, sums[0]), tiles.exactDot(rest, m, sums[1])};
}

static Digits sumOf(TileBuilder &tiles, ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return {parts[0], Value()};
  Value exact = parts[0], small = parts[1], sum = tiles.plus(exact, small);                                   // [T, r]
  return {sum, tiles.minus(small, tiles.minus(sum, exact))};
}

/// a M [T, r].
Digits Tree::product(const Digits &a, const Source &matrix, Value grid) const {
  Value m = matrix->tile(site), zero = tiles.constant({rows, tiles.shape(m)[1]}, 0);
  return sumOf(tiles, addProducts(tiles, a, m, grid, pairs ? ValueRange{zero, zero} : ValueRange{zero}));
}

Digits Tree::leaf(const Source &product) {
  Digits sum = sumOf(tiles, product->tiles(site));
  logSize = llvm::Log2_64(tiles.shape(sum.high)[1]);
  return shrunk(sum);
}

/// a M of a [T, r]. Sums of equal numbers that cancel leave 2^-44 of what was added or less, and are 0.
Digits Tree::side(const Digits &a, const Source &matrix) const {
  if (!pairs)
    return product(a, matrix, Value());
  SmallVector<int64_t> shape(tiles.shape(a.high));
  auto size = static_cast<double>(shape[1]);
  Value largest = tiles.reduceMax(tiles.abs(a.high), 1);                                                      // [T]
  Value grid = tiles.expand(tiles.times(largest, tiles.constant({rows}, 4 * size)), 1, shape);                // [T, r]
  Digits sum = product(a, matrix, grid);
  Value noise = tiles.times(grid, tiles.constant(shape, size * 0x1p-46)), zero = tiles.constant(shape, 0);
  Value counts = tiles.compare(arith::CmpFPredicate::OLE, tiles.abs(sum.high), noise);
  return {tiles.select(counts, zero, sum.high), tiles.select(counts, zero, sum.low)};
}

/// a ⊙ b.
Digits Tree::node(const Digits &a, const Digits &b) const {
  Value product = tiles.times(a.high, b.high);
  if (!pairs)
    return shrunk({product, Value()});
  Value lost = tiles.fma(a.high, b.high, tiles.negate(product));
  Value cross = tiles.plus(tiles.times(a.high, b.low), tiles.times(a.low, b.high));
  return shrunk({product, tiles.plus(lost, cross)});
}

namespace {
struct SketchTree : Term {
  SketchTree(int64_t leaves, bool pairs) : leaves(leaves), pairs(pairs) {}

  StringRef name() const override { return "sketch_tree"; }
  void printParameters(raw_ostream &os) const override {
    os << " {leaves = " << leaves << (pairs ? ", pairs}" : "}");
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Tree tree{site, tiles, tiles.shape(operands[0]->tiles(site)[0])[0], pairs};
    SmallVector<Digits> level;
    for (const Source &leaf : operands.take_front(leaves))
      level.push_back(tree.leaf(leaf));                                                                       // [T, r]
    Sources sides = operands.drop_front(leaves);
    while (level.size() > 1) {
      SmallVector<Digits> next;
      for (size_t i = 0; i + 1 < level.size(); i += 2, sides = sides.drop_front(2))
        next.push_back(tree.node(tree.side(level[i], sides[0]), tree.side(level[i + 1], sides[1])));
      level = std::move(next);
    }
    double steps = 2 * static_cast<double>(leaves) - 1;
    Value root = pairs ? tiles.plus(level[0].high, level[0].low) : level[0].high;
    return {scaled(tiles, root, tree.logSize % 2 == 1 ? -steps / 2 : 0)};
  }

  int64_t leaves;
  bool pairs;
};

/// x M of x [T, d] with rows of norm at most √2, Σ |x_c| ≤ √2d: the grid is that of all columns, of which x may be a slice.
struct Leaf {
  int64_t width;
  bool pairs;

  SmallVector<Value, 3> add(const TileSite &site, Sources operands, ValueRange sums) const {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), m = operands[1]->tile(site);                                           // [T, c], [c, r]
    double root = std::ceil(std::log2(static_cast<double>(width)) / 2);
    Value grid = pairs ? tiles.constant(tiles.shape(x), 4 * std::exp2(root)) : Value();
    return addProducts(tiles, {x, Value()}, m, grid, sums);
  }
};

struct SketchLeaf : Term {
  explicit SketchLeaf(Leaf leaf) : leaf(leaf) {}

  StringRef name() const override { return "sketch_leaf"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), m = operands[1]->tile(site);                                           // [T, d], [d, r]
    Value zero = tiles.constant({tiles.shape(x)[0], tiles.shape(m)[1]}, 0);
    return leaf.add(site, operands, {zero, zero});
  }

  Leaf leaf;
};

struct SketchLeaves : StreamedTerm {
  SketchLeaves(Axis rows, int64_t size, Leaf leaf) : rows(rows), size(size), leaf(leaf) {}

  StringRef name() const override { return "sketch_leaves"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  AxisSet ownAxes() const override { return setOf(rows); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    return SmallVector<SmallVector<int64_t>>(leaf.pairs ? 2 : 1, {site[rows].count, size});
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    return SmallVector<Value>(leaf.add(site, operands, sums));
  }

  Axis rows;
  int64_t size;
  Leaf leaf;
};
} // namespace

terms::TermPtr terms::sketchLeaf(int64_t width, bool pairs) {
  return std::make_unique<SketchLeaf>(Leaf{width, pairs});
}
terms::StreamedPtr terms::sketchLeaves(Axis rows, int64_t width, int64_t size, bool pairs) {
  return std::make_unique<SketchLeaves>(rows, size, Leaf{width, pairs});
}
terms::TermPtr terms::sketchTree(int64_t leaves, bool pairs) { return std::make_unique<SketchTree>(leaves, pairs); }
