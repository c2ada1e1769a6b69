//===- LowerBlocked.cpp - Pools and softmax over the sequence as linalg ---===//
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

static constexpr double infinity = std::numeric_limits<double>::infinity();

Results attune::raise::lower(OpBuilder &builder, attn::PoolOp op) {
  Loops loops(builder, op.getLoc());
  auto count = static_cast<int64_t>(op.getCount());
  int64_t tokens = sizeOf(op.getSource(), 2), run = ShapedType::isDynamic(tokens) ? tokens : tokens / count;
  Value runs = loops.split(op.getSource(), 2, {count, run});
  Value sums = loops.sum("bhcdt", "bhcd", {{runs, "bhctd"}}, [](Point, ArrayRef<Number> x) { return x[0]; });
  Place length = loops.placeOf(runs, 3);
  return {loops.map("bhcd", {{sums, "bhcd"}},
                    [&](Point at, ArrayRef<Number> x) { return x[0] / at.place(length.value).number().narrowed(); })};
}

Results attune::raise::lower(OpBuilder &builder, attn::SequenceSoftmaxOp op) {
  Loops loops(builder, op.getLoc());
  Value lengths = op.getLengths();
  SmallVector<Named> source = {{op.getSource(), "bhtd"}};
  if (lengths)
    source.push_back({lengths, "b"});
  Named largest = {loops.maximum("bhdt", "bhd", source,
                                 [&](Point at, ArrayRef<Number> x) {
                                   return lengths ? select(at.index('t') < at.place(x[1]), x[0], -infinity) : x[0];
                                 }),
                   "bhd"};
  SmallVector<Named> both = {source[0], largest};
  both.append(source.begin() + 1, source.end());
  Named weights = {loops.map("bhtd", both,
                             [&](Point at, ArrayRef<Number> x) {
                               Number weight = exp(x[0] - x[1]);
                               return lengths ? select(at.index('t') < at.place(x[2]), weight, 0) : weight;
                             }),
                   "bhtd"};
  Named sum = {loops.sum("bhdt", "bhd", {weights}, [](Point, ArrayRef<Number> x) { return x[0]; }), "bhd"};
  // Without a token that exists there is no sum, and no weight.
  return {loops.map("bhtd", {weights, sum}, [&](Point, ArrayRef<Number> x) {
    return lengths ? select(x[1].isZero(), x[0], x[0] / x[1]) : x[0] / x[1];
  })};
}
