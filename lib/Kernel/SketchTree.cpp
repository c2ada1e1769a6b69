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
#include "SketchTree.h"

#include "KernelFrame.h"
#include "attune/Kernel/SketchRules.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// r of a tree.
static int64_t sizeOf(const SketchMatrices &matrices) {
  return cast<MemRefType>(matrices.leaves[0].getType()).getDimSize(2);
}

bool kernel::hasPairs(const SketchMatrices &matrices) {
  int64_t width = cast<MemRefType>(matrices.leaves[0].getType()).getDimSize(1);
  return sketchHasPairs(width, static_cast<int64_t>(matrices.leaves.size()), sizeOf(matrices));
}

Value kernel::powerOfTwoNextTo(TileBuilder &tiles, Value x) {
  Value least = tiles.constant(tiles.shape(x), 0x1p-120);
  return tiles.exp2(tiles.roundEven(tiles.log2(tiles.maximum(x, least))));
}

Value kernel::sketchLength(TileBuilder &tiles, Value x, bool pairs) {
  Value norm = tiles.sqrt(tiles.reduceAdd(tiles.times(x, x), 1));                          // [T]
  if (!pairs)
    return norm;
  return tiles.selectEqual(norm, 0, norm, powerOfTwoNextTo(tiles, norm));
}

/// The matrix of this head [rows, columns].
static Value matrixOf(TileBuilder &tiles, const KernelFrame &frame, Value matrix, Value head) {
  auto type = cast<MemRefType>(matrix.getType());
  return tiles.load(frame[matrix], {head, tiles.index(0), tiles.index(0)}, {type.getDimSize(1), type.getDimSize(2)});
}

namespace {
/// A tile, or with pairs the sum of two, the second below the last place of the first.
struct Digits {
  Value high, low;
};

/// A tree at one grid point.
struct Tree {
  TileBuilder &tiles;
  const KernelFrame &frame;
  Value head;
  int64_t rows;
  unsigned logSize;
  bool pairs;

  Digits product(const Digits &a, Value matrix, Value grid) const;
  Digits leaf(const Digits &x, Value matrix) const;
  Digits side(const Digits &a, Value matrix) const;
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

/// a M [T, r]. Adding the grid [T, columns] and taking it off again leaves the digits above its last place.
Digits Tree::product(const Digits &a, Value matrix, Value grid) const {
  Value m = matrixOf(tiles, frame, matrix, head), zero = tiles.constant({rows, tiles.shape(m)[1]}, 0);
  if (!pairs)
    return {tiles.dot(a.high, m, zero), Value()};
  Value leading = tiles.minus(tiles.plus(a.high, grid), grid), rest = tiles.minus(a.high, leading);
  if (a.low)
    rest = tiles.plus(rest, a.low);
  Value exact = tiles.exactDot(leading, m, zero), small = tiles.exactDot(rest, m, zero);                      // [T, r]
  Value sum = tiles.plus(exact, small);
  return {sum, tiles.minus(small, tiles.minus(sum, exact))};
}

/// x M of x [T, d] with rows of norm at most √2, Σ |x_c| ≤ √2d.
Digits Tree::leaf(const Digits &x, Value matrix) const {
  SmallVector<int64_t> shape(tiles.shape(x.high));
  double root = std::ceil(std::log2(static_cast<double>(shape[1])) / 2);
  return shrunk(product(x, matrix, pairs ? tiles.constant(shape, 4 * std::exp2(root)) : Value()));
}

/// a M of a [T, r]. Sums of equal numbers that cancel leave 2^-44 of what was added or less, and are 0.
Digits Tree::side(const Digits &a, Value matrix) const {
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

Value kernel::sketchTree(TileBuilder &tiles, const KernelFrame &frame, const SketchMatrices &matrices, Value head,
                         Value x) {
  Tree tree{tiles, frame, head, tiles.shape(x)[0], llvm::Log2_64(sizeOf(matrices)), hasPairs(matrices)};
  SmallVector<Digits> level;
  for (Value leaf : matrices.leaves)
    level.push_back(tree.leaf({x, Value()}, leaf));                                                           // [T, r]
  unsigned side = 0;
  while (level.size() > 1) {
    SmallVector<Digits> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2, side += 2)
      next.push_back(tree.node(tree.side(level[i], matrices.nodes[side]),
                               tree.side(level[i + 1], matrices.nodes[side + 1])));
    level = std::move(next);
  }
  double steps = 2 * static_cast<double>(matrices.leaves.size()) - 1;
  Value root = tree.pairs ? tiles.plus(level[0].high, level[0].low) : level[0].high;
  return scaled(tiles, root, tree.logSize % 2 == 1 ? -steps / 2 : 0);
}
