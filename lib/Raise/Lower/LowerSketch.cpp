//===- LowerSketch.cpp - The tree of TensorSRHTs as linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transform x D H [index] is a product with the matrix  sign[c] · (−1)^popcount(c & index[s]).
//
//===----------------------------------------------------------------------===//
#include "Lower.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;

namespace {
class SketchTree {
public:
  SketchTree(OpBuilder &builder, attn::SketchOp op)
      : op(op), heads(headsOf(op.getResult())), loops(builder, op.getLoc(), {headsOf(op.getSource()), heads}) {}
  Value build();

private:
  Named matrix(size_t transform, int64_t width);
  Named transformed(Named x, size_t transform, double factor);
  attn::SketchOp op;
  int64_t heads;
  Loops loops;
};
} // namespace

/// The matrix of a transform, of the rows that entries of x have: what x is padded with is 0.
Named SketchTree::matrix(size_t transform, int64_t width) {
  OpBuilder &b = loops.builder;
  Value sign = op.getSigns()[transform];
  if (sizeOf(sign, 1) != width) {
    SmallVector<OpFoldResult> offsets(2, b.getIndexAttr(0)), steps(2, b.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = {b.getIndexAttr(heads), b.getIndexAttr(width)};
    sign = tensor::ExtractSliceOp::create(b, loops.loc, sign, offsets, sizes, steps);
  }
  auto body = [&](Point at, ArrayRef<Number> x) {
    Place both = at.index('d').apply<arith::AndIOp>(at.place(x[1]));
    // The parity of the ones: halves are folded onto each other.
    for (int64_t shift = llvm::PowerOf2Ceil(llvm::Log2_64_Ceil(width) + 1) / 2; shift > 0; shift /= 2)
      both = both.apply<arith::XOrIOp>(both.apply<arith::ShRUIOp>(both.constant(shift)));
    return select(both % 2 == 0, x[0], x[0] * -1);
  };
  std::string names = loops.names("hds", heads);
  return {loops.map(names, {loops.named(sign, "hd"), loops.named(op.getIndices()[transform], "hs")}, body), names};
}

Named SketchTree::transformed(Named x, size_t transform, double factor) {
  Named by = matrix(transform, sizeOf(x.tensor, x.names.size() - 1));
  std::string names = loops.names("bhts", heads), over = loops.names("bhtsd", heads);
  Value product = loops.sum(over, names, {x, by}, [](Point, ArrayRef<Number> y) { return y[0] * y[1]; });
  if (factor != 1)
    product = loops.map(names, {{product, names}}, [&](Point, ArrayRef<Number> y) { return y[0] * factor; });
  return {product, names};
}

Value SketchTree::build() {
  size_t leaves = (op.getSigns().size() + 2) / 3, next = leaves;
  double root = 1 / std::sqrt(static_cast<double>(op.getSize()));
  // The scale is taken once, of the whole: the sketch has the degree of the number of leaves.
  double scale = std::pow(op.getScale().convertToDouble(), static_cast<double>(leaves));
  std::string names = loops.names("bhts", heads), asInput = loops.names("bhtd", heads);
  SmallVector<Named> level;
  for (size_t leaf = 0; leaf < leaves; ++leaf)
    level.push_back(transformed(loops.named(op.getSource(), "bhtd"), leaf, leaves == 1 ? root * scale : root));
  while (level.size() > 1) {
    SmallVector<Named> above;
    for (size_t i = 0; i < level.size(); i += 2, next += 2) {
      Named a = transformed({level[i].tensor, asInput}, next, 1);
      Named b = transformed({level[i + 1].tensor, asInput}, next + 1, 1);
      double factor = level.size() == 2 ? root * scale : root;
      above.push_back(
          {loops.map(names, {a, b}, [&](Point, ArrayRef<Number> x) { return x[0] * x[1] * factor; }), names});
    }
    level = std::move(above);
  }
  return loops.flat(level.front().tensor, "bhts", heads);
}

Results attune::raise::lower(OpBuilder &builder, attn::SketchOp op) { return {SketchTree(builder, op).build()}; }
