//===- LowerLepe.cpp - Depthwise convolution of the values as linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sequence is one row, an image rows and columns; both are cut into blocks, and each block is padded with zeros:
//
//     result[.., y, p, x, q, c] = source + Σ_{u,w} weight[h, c, u, w] padded[.., y, p + u, x, q + w, c] [+ bias[h, c]]
//
//===----------------------------------------------------------------------===//
#include "Lower.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;

namespace {
/// How tokens are cut: [blocks of rows, rows, blocks of columns, columns] of an image, [blocks, tokens] of a sequence.
struct Cut {
  SmallVector<int64_t> sizes;
  bool isImage;
};
} // namespace

static Cut cutOf(attn::LepeOp op) {
  int64_t tokens = sizeOf(op.getSource(), 2);
  if (ShapedType::isDynamic(tokens))
    tokens = sizeOf(op.getValue(), 2);
  if (attn::WindowAttr window = op.getWindowAttr(); window && window.isGrid())
    return {{window.getGridRows() / window.getRows(), window.getRows(), window.getGridColumns() / window.getColumns(),
             window.getColumns()},
            true};
  else if (window)
    return {{ShapedType::isDynamic(tokens) ? tokens : tokens / window.getLength(), window.getLength()}, false};
  if (std::optional<ArrayRef<int64_t>> grid = op.getGrid())
    return {{1, (*grid)[0], 1, (*grid)[1]}, true};
  return {{1, tokens}, false};
}

/// [batch, heads, tokens, width] with the tokens cut.
static Value cutTokens(Loops &loops, Value tensor, const Cut &cut) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.isDynamicDim(2) && !llvm::is_contained(cut.sizes, ShapedType::kDynamic)) {
    SmallVector<int64_t> shape(type.getShape());
    shape[2] = 1;
    for (int64_t size : cut.sizes)
      shape[2] *= size;
    tensor = tensor::CastOp::create(loops.builder, loops.loc, type.clone(shape), tensor);
  }
  return loops.split(tensor, 2, cut.sizes);
}

/// A zero before and after each row and column of a block.
static Value padded(Loops &loops, Value tensor, const Cut &cut) {
  OpBuilder &builder = loops.builder;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> border(type.getRank(), builder.getIndexAttr(0));
  SmallVector<int64_t> shape(type.getShape());
  for (unsigned dimension = 3; dimension < 2 + cut.sizes.size(); dimension += 2) {
    border[dimension] = builder.getIndexAttr(1);
    shape[dimension] = type.isDynamicDim(dimension) ? shape[dimension] : shape[dimension] + 2;
  }
  Value zero = arith::ConstantOp::create(builder, loops.loc, builder.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(builder, loops.loc, type.clone(shape), tensor, border, border, zero);
}

Results attune::raise::lower(OpBuilder &builder, attn::LepeOp op) {
  int64_t heads = headsOf(op.getSource());
  Loops loops(builder, op.getLoc(), {headsOf(op.getValue()), heads});
  Cut cut = cutOf(op);
  StringRef tokens = cut.isImage ? "ypxq" : "xq", neighbours = cut.isImage ? "yp+uxq+w" : "xq+w";
  StringRef taps = cut.isImage ? "uw" : "w";
  Value source = cutTokens(loops, op.getSource(), cut);
  Value value = padded(loops, cutTokens(loops, existing(loops, op.getValue(), op.getLengths()), cut), cut);
  for (auto [place, letter] : llvm::enumerate(tokens))
    loops.size(letter, loops.sizeOf(source, 2 + place));
  std::string result = loops.names(("bh" + tokens + "c").str(), heads);
  Value sum =
      loops.sum(result + taps.str(), result,
                {loops.named(op.getWeight(), ("hc" + taps).str()), loops.named(value, ("bh" + neighbours + "c").str())},
                [](Point, ArrayRef<Number> x) { return x[0] * x[1]; });
  SmallVector<Named> inputs = {loops.named(source, ("bh" + tokens + "c").str()), {sum, result}};
  if (op.getBias())
    inputs.push_back(loops.named(op.getBias(), "hc"));
  Value all = loops.map(
      result, inputs, [](Point, ArrayRef<Number> x) { return x.size() > 3 ? x[0] + x[1] + x[2] : x[0] + x[1]; },
      elementOf(op.getResult()));
  Value flat = loops.flat(all, "bh", heads);
  return {loops.merge(flat, 2, cut.sizes.size())};
}
