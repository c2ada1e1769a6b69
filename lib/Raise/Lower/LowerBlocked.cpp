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

namespace {
/// The largest entry of each feature, e^{x − largest} of each token, 0 of those that do not exist, and their sums.
struct SequenceSums {
  SequenceSums(Loops &loops, Value source, Value lengths) {
    SmallVector<Named> tokens = {{source, "bhtd"}};
    if (lengths)
      tokens.push_back({lengths, "b"});
    largest = {loops.maximum("bhdt", "bhd", tokens,
                             [&](Point at, ArrayRef<Number> x) {
                               return lengths ? select(at.index('t') < at.place(x[1]), x[0], -infinity) : x[0];
                             }),
               "bhd"};
    SmallVector<Named> both = {tokens[0], largest};
    both.append(tokens.begin() + 1, tokens.end());
    weights = {loops.map("bhtd", both,
                         [&](Point at, ArrayRef<Number> x) {
                           Number weight = exp(x[0] - x[1]);
                           return lengths ? select(at.index('t') < at.place(x[2]), weight, 0) : weight;
                         }),
               "bhtd"};
    sum = {loops.sum("bhdt", "bhd", {weights}, [](Point, ArrayRef<Number> x) { return x[0]; }), "bhd"};
  }

  Named largest, weights, sum;
};
} // namespace

Results attune::raise::lower(OpBuilder &builder, attn::SequenceSoftmaxOp op) {
  Loops loops(builder, op.getLoc());
  SequenceSums sums(loops, op.getSource(), op.getLengths());
  bool mayBeNone = static_cast<bool>(op.getLengths()); // then there is no sum, and no weight
  return {loops.map("bhtd", {sums.weights, sums.sum}, [&](Point, ArrayRef<Number> x) {
    return mayBeNone ? select(x[1].isZero(), x[0], x[0] / x[1]) : x[0] / x[1];
  })};
}

Results attune::raise::lower(OpBuilder &builder, attn::SequenceLseOp op) {
  Loops loops(builder, op.getLoc());
  SequenceSums sums(loops, op.getSource(), op.getLengths());
  return {loops.map("bhd", {sums.largest, sums.sum}, [](Point, ArrayRef<Number> x) { return select(x[1].isZero(), infinity, x[0] + log(x[1])); })};
}

Results attune::raise::lower(OpBuilder &builder, attn::SequenceWeightsOp op) {
  Loops loops(builder, op.getLoc());
  Value lengths = op.getLengths();
  SmallVector<Named> source = {{op.getSource(), "bhtd"}, {op.getLse(), "bhd"}};
  if (lengths)
    source.push_back({lengths, "b"});
  return {loops.map("bhtd", source, [&](Point at, ArrayRef<Number> x) {
    Number weight = exp(x[0] - x[1]);
    return lengths ? select(at.index('t') < at.place(x[2]), weight, 0) : weight;
  })};
}
