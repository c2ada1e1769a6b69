//===- SketchTreeGradient.cpp - The derivative of the tree of a sketch ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   leaf_i = r^-½ x M_i;   node = r^-½ (a A) ⊙ (b B), level by level                        as in SketchTree.cpp
//   ā = r^-½ (ȳ ⊙ b B) Aᵀ;   b̄ = r^-½ (ȳ ⊙ a A) Bᵀ;   x̄ = Σ_i r^-½ leaf̄_i M_iᵀ
//
// Products in f32, of ±1 and numbers that are kept where they are made: what the forward pass rounds twice to cancel is a relative error of the
// row here, as it is in every other product.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// A node of the tree, with the sides that its operands are multiplied with.
struct Node {
  Value left, right; ///< a A and b B [T, r]
  Source a, b;       ///< A and B [r, r]
};

struct SketchTreeGradient : Term {
  explicit SketchTreeGradient(int64_t leaves) : leaves(leaves) {}

  StringRef name() const override { return "sketch_tree_gradient"; }
  void printParameters(raw_ostream &os) const override { os << " {leaves = " << leaves << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), root = operands[1]->tile(site, f32);                      // [T, d], [T, r]
    Sources matrices = operands.slice(2, leaves), sides = operands.drop_front(2 + leaves);
    SmallVector<int64_t> shape(tiles.shape(root)), tokens(tiles.shape(x));
    Value zero = tiles.constant(shape, 0), step = tiles.constant(shape, 1 / std::sqrt(static_cast<double>(shape[1])));
    SmallVector<SmallVector<Node>> levels;
    SmallVector<Value> values;                                                                        // [T, r] each
    if (leaves > 1) // a single one is linear
      for (const Source &matrix : matrices)
        values.push_back(tiles.times(tiles.dot(x, matrix->tile(site), zero), step));
    while (values.size() > 1) {
      SmallVector<Value> next;
      SmallVector<Node> &nodes = levels.emplace_back();
      for (size_t i = 0; i + 1 < values.size(); i += 2, sides = sides.drop_front(2)) {
        Node node{tiles.dot(values[i], sides[0]->tile(site), zero), tiles.dot(values[i + 1], sides[1]->tile(site), zero), sides[0], sides[1]};
        next.push_back(tiles.times(tiles.times(node.left, node.right), step));
        nodes.push_back(node);
      }
      values = std::move(next);
    }
    SmallVector<Value> cotangents{root};
    for (ArrayRef<Node> nodes : llvm::reverse(levels)) {
      SmallVector<Value> next;
      for (auto [node, given] : llvm::zip_equal(nodes, cotangents)) {
        Value scaled = tiles.times(given, step);                                                      // [T, r]
        next.push_back(tiles.dot(tiles.times(scaled, node.right), node.a->tile(site), zero, false, /*transposeB=*/true));
        next.push_back(tiles.dot(tiles.times(scaled, node.left), node.b->tile(site), zero, false, /*transposeB=*/true));
      }
      cotangents = std::move(next);
    }
    Value sum = tiles.constant(tokens, 0);                                                            // [T, d]
    for (auto [matrix, given] : llvm::zip_equal(matrices, cotangents))
      sum = tiles.dot(tiles.times(given, step), matrix->tile(site), sum, false, /*transposeB=*/true);
    return {sum};
  }

  int64_t leaves;
};
} // namespace

terms::TermPtr terms::sketchTreeGradient(int64_t leaves) { return std::make_unique<SketchTreeGradient>(leaves); }
