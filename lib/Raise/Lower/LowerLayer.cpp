//===- LowerLayer.cpp - What stands around a mechanism as linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Lower.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;

//===----------------------------------------------------------------------===//
// Projections
//===----------------------------------------------------------------------===//

/// The product with the bias added, in the type of the result.
static Value withBias(Loops &loops, Named product, Named bias, Type element) {
  SmallVector<Named> inputs = {product};
  if (bias.tensor)
    inputs.push_back(bias);
  else if (element.isF32())
    return product.tensor;
  return loops.map(
      product.names, inputs, [&](Point, ArrayRef<Number> x) { return bias.tensor ? x[0] + x[1] : x[0]; }, element);
}

Results attune::raise::lower(OpBuilder &builder, attn::ProjectOp op) {
  Loops loops(builder, op.getLoc());
  int64_t heads = headsOf(op.getResult()), width = sizeOf(op.getResult(), 3);
  Value weight = loops.split(op.getWeight(), 1, {heads, width});
  Value product = loops.sum("bhtck", "bhtc", {{op.getSource(), "btk"}, {weight, "khc"}},
                            [](Point, ArrayRef<Number> x) { return x[0] * x[1]; });
  Value bias = op.getBias() ? loops.split(op.getBias(), 0, {heads, width}) : Value();
  return {withBias(loops, {product, "bhtc"}, {bias, "hc"}, elementOf(op.getResult()))};
}

Results attune::raise::lower(OpBuilder &builder, attn::ProjectOutputOp op) {
  Loops loops(builder, op.getLoc());
  Value weight = loops.split(op.getWeight(), 0, {headsOf(op.getSource()), sizeOf(op.getSource(), 3)});
  Value product = loops.sum("btkhc", "btk", {{op.getSource(), "bhtc"}, {weight, "hck"}},
                            [](Point, ArrayRef<Number> x) { return x[0] * x[1]; });
  return {withBias(loops, {product, "btk"}, {op.getBias(), "k"}, elementOf(op.getResult()))};
}

Results attune::raise::lower(OpBuilder &builder, attn::CompressOp op) {
  int64_t heads = headsOf(op.getSource());
  Loops loops(builder, op.getLoc(), {sizeOf(op.getWeight(), 0), heads});
  auto over = [&](StringRef pattern) { return loops.names(pattern, heads); };
  Named source = loops.named(existing(loops, op.getSource(), op.getLengths()), "bhjc");
  Value slots = loops.sum(over("bhscj"), over("bhsc"), {source, loops.named(op.getWeight(), "hsj")},
                          [](Point, ArrayRef<Number> x) { return x[0] * x[1]; });
  return {loops.flat(slots, "bhsc", heads)};
}

//===----------------------------------------------------------------------===//
// Rows and heads
//===----------------------------------------------------------------------===//

Results attune::raise::lower(OpBuilder &builder, attn::QkNormOp op) {
  Loops loops(builder, op.getLoc());
  Named source = {op.getSource(), "bhtd"};
  auto width = static_cast<double>(sizeOf(op.getSource(), 3));
  double epsilon = op.getEpsilon().convertToDouble();
  if (op.getL2()) {
    Named squares = {loops.sum("bhtd", "bht", {source}, [](Point, ArrayRef<Number> x) { return x[0] * x[0]; }), "bht"};
    return {loops.map("bhtd", {source, squares}, [&](Point, ArrayRef<Number> x) { return x[0] / sqrt(x[1] + epsilon); },
                      elementOf(op.getResult()))};
  }
  Named mean = {loops.sum("bhtd", "bht", {source}, [&](Point, ArrayRef<Number> x) { return x[0] / width; }), "bht"};
  Named variance = {loops.sum("bhtd", "bht", {source, mean},
                              [&](Point, ArrayRef<Number> x) { return power(x[0] - x[1], 2) / width; }),
                    "bht"};
  return {loops.map(
      "bhtd", {source, mean, variance}, [&](Point, ArrayRef<Number> x) { return (x[0] - x[1]) / sqrt(x[2] + epsilon); },
      elementOf(op.getResult()))};
}

Results attune::raise::lower(OpBuilder &builder, attn::TakeHeadsOp op) {
  Loops loops(builder, op.getLoc());
  SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0)), steps(4, builder.getIndexAttr(1)), sizes;
  offsets[1] = builder.getIndexAttr(static_cast<int64_t>(op.getFirst()));
  for (unsigned dimension = 0; dimension < 4; ++dimension)
    sizes.push_back(dimension == 1 ? builder.getIndexAttr(headsOf(op.getResult()))
                                   : loops.sizeOf(op.getSource(), dimension));
  return {tensor::ExtractSliceOp::create(builder, op.getLoc(), op.getSource(), offsets, sizes, steps)};
}

Results attune::raise::lower(OpBuilder &builder, attn::ConcatHeadsOp op) {
  Loops loops(builder, op.getLoc());
  SmallVector<OpFoldResult> shape;
  for (unsigned dimension = 0; dimension < 4; ++dimension)
    shape.push_back(dimension == 1 ? builder.getIndexAttr(headsOf(op.getResult()))
                                   : loops.sizeOf(op.getParts().front(), dimension));
  Value result = tensor::EmptyOp::create(builder, op.getLoc(), shape, elementOf(op.getResult()));
  int64_t first = 0;
  for (Value part : op.getParts()) {
    SmallVector<OpFoldResult> offsets(4, builder.getIndexAttr(0)), steps(4, builder.getIndexAttr(1)), sizes(shape);
    offsets[1] = builder.getIndexAttr(first), sizes[1] = builder.getIndexAttr(headsOf(part));
    result = tensor::InsertSliceOp::create(builder, op.getLoc(), part, result, offsets, sizes, steps);
    first += headsOf(part);
  }
  return {result};
}
