//===- LowerSoftmax.cpp - Partial results of softmax as linalg ---===//
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

//===----------------------------------------------------------------------===//
// Sight
//===----------------------------------------------------------------------===//

static Truth sameBlock(Place i, Place j, attn::WindowAttr window) {
  if (!window.isGrid())
    return i / window.getLength() == j / window.getLength();
  auto row = [&](Place token) { return token / window.getGridColumns() / window.getRows(); };
  auto column = [&](Place token) { return token % window.getGridColumns() / window.getColumns(); };
  return row(i) == row(j) && column(i) == column(j);
}

Truth Sight::operator()(Point at, std::optional<Number> length) const {
  Place i = at.index('i'), j = at.index('j');
  std::optional<Truth> result;
  auto require = [&](Truth condition) { result = result ? *result && condition : condition; };
  if (causal)
    require(j + at.place(queries.value) <= i + at.place(keys.value));
  if (window)
    require(sameBlock(i, j, window));
  if (length)
    require(j < at.place(*length));
  if (last) { // the last so many of those that are seen, i + N − n of them or all that exist
    Place end = i + at.place(keys.value) + 1, all = at.place(queries.value);
    if (length)
      end = select(end <= at.place(*length) + all, end, at.place(*length) + all);
    require(end <= j + all + *last);
  }
  return *result;
}

Value attune::raise::existing(Loops &loops, Value tensor, Value lengths) {
  if (!lengths)
    return tensor;
  std::string names = StringRef("bhtcd").take_front(cast<RankedTensorType>(tensor.getType()).getRank()).str();
  return loops.map(names, {{tensor, names}, {lengths, "b"}},
                   [](Point at, ArrayRef<Number> x) { return select(at.index('t') < at.place(x[1]), x[0], 0); });
}

bool attune::raise::mayReadNothing(Value factor) {
  Operation *op = factor.getDefiningOp();
  if (!op || !isa<attn::AttnDialect>(op->getDialect()))
    return true;
  // Lengths are the only integers among the operands of what makes weights and features.
  return llvm::any_of(op->getOperands(), [](Value operand) {
    return elementOf(operand).isInteger(32) ||
           (isa_and_nonnull<attn::VisibleOp, attn::PowerOp, attn::DiagonalBlocksOp, attn::ContractOp>(
                operand.getDefiningOp()) &&
            mayReadNothing(operand));
  });
}

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

namespace {
/// m, l and acc of attn.softmax_partial.
class PartialSoftmax {
public:
  PartialSoftmax(OpBuilder &builder, attn::SoftmaxPartialOp op)
      : op(op), loops(builder, op.getLoc(), {headsOf(op.getKey()), headsOf(op.getQuery())}),
        sight{op.getCausal(), op.getWindowAttr(), op.getLengths(), loops.placeOf(op.getQuery(), 2),
              loops.placeOf(op.getKey(), 2), op.getLast()} {}
  Results lower();

private:
  /// Of products of queries and keys.
  Value logits(Value products);
  Value onlySeen(ArrayRef<Named> inputs, double hidden, Loops::Body body);
  std::string over(StringRef pattern) { return loops.names(pattern, headsOf(op.getQuery())); }
  attn::SoftmaxPartialOp op;
  Loops loops;
  Sight sight;
};
} // namespace

/// body where query i sees key j, and the key is of the piece; else `hidden`.
Value PartialSoftmax::onlySeen(ArrayRef<Named> inputs, double hidden, Loops::Body body) {
  SmallVector<Named> all(inputs);
  if (op.getLengths())
    all.push_back({op.getLengths(), "b"});
  auto pieces = static_cast<int64_t>(op.getPieces()), piece = static_cast<int64_t>(op.getPiece());
  return loops.map(over("bhij"), all, [&](Point at, ArrayRef<Number> x) {
    Number result = body(at, x);
    if (sight.any())
      result = select(sight(at, op.getLengths() ? std::optional(x[inputs.size()]) : std::nullopt), result, hidden);
    if (pieces == 1)
      return result;
    Place length = (at.place(sight.keys.value) + (pieces - 1)) / pieces, j = at.index('j');
    return select(length * piece <= j && j < length * (piece + 1), result, hidden);
  });
}

Value PartialSoftmax::logits(Value products) {
  double scale = op.getScale().convertToDouble(), cap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0;
  SmallVector<Named> inputs = {{products, over("bhij")}};
  if (op.getSlopes())
    inputs.push_back(loops.named(op.getSlopes(), "h"));
  return onlySeen(inputs, -infinity, [&](Point at, ArrayRef<Number> x) {
    Number s = x[0] * scale;
    if (cap != 0)
      s = tanh(s * (1 / cap)) * cap;
    if (!op.getSlopes())
      return s;
    Place i = at.index('i') + at.place(sight.keys.value), j = at.index('j') + at.place(sight.queries.value);
    return s - select(j <= i, i - j, j - i).number().narrowed() * x[1];
  });
}

Results PartialSoftmax::lower() {
  Named query = loops.named(op.getQuery(), "bhid"), key = loops.named(op.getKey(), "bhjd");
  Named value = loops.named(existing(loops, op.getValue(), op.getLengths()), "bhjv");
  Value products =
      loops.sum(over("bhijd"), over("bhij"), {query, key}, [](Point, ArrayRef<Number> x) { return x[0] * x[1]; });
  Named scores = {logits(products), over("bhij")};
  Value maximum = loops.maximum(over("bhij"), over("bhi"), {scores}, [](Point, ArrayRef<Number> x) { return x[0]; });
  Named weights = {
      onlySeen({scores, {maximum, over("bhi")}}, 0, [](Point, ArrayRef<Number> x) { return exp(x[0] - x[1]); }),
      over("bhij")};
  Value sum = loops.sum(over("bhij"), over("bhi"), {weights}, [](Point, ArrayRef<Number> x) { return x[0]; });
  Value accumulator =
      loops.sum(over("bhijv"), over("bhiv"), {weights, value}, [](Point, ArrayRef<Number> x) { return x[0] * x[1]; });
  int64_t heads = headsOf(op.getQuery());
  return {loops.flat(maximum, "bhi", heads), loops.flat(sum, "bhi", heads), loops.flat(accumulator, "bhiv", heads)};
}

Results attune::raise::lower(OpBuilder &builder, attn::SoftmaxPartialOp op) {
  return PartialSoftmax(builder, op).lower();
}

//===----------------------------------------------------------------------===//
// Merge and finish
//===----------------------------------------------------------------------===//

Results attune::raise::lower(OpBuilder &builder, attn::SoftmaxMergeOp op) {
  Loops loops(builder, op.getLoc());
  Named first = {op.getFirstMaximum(), "bhi"}, second = {op.getSecondMaximum(), "bhi"};
  Named maximum = {loops.map("bhi", {first, second}, [](Point, ArrayRef<Number> x) { return larger(x[0], x[1]); }),
                   "bhi"};
  auto factor = [&](Named side) -> Named {
    return {loops.map("bhi", {side, maximum},
                      [](Point, ArrayRef<Number> x) {
                        Truth empty = x[0].compare(arith::CmpFPredicate::OEQ, x[0].constant(-infinity));
                        return select(empty, x[0].constant(0), exp(x[0] - x[1]));
                      }),
            "bhi"};
  };
  Named ofFirst = factor(first), ofSecond = factor(second);
  auto merged = [&](Value a, Value b, StringRef names) {
    return loops.map(names, {ofFirst, {a, names.str()}, ofSecond, {b, names.str()}},
                     [](Point, ArrayRef<Number> x) { return x[0] * x[1] + x[2] * x[3]; });
  };
  return {maximum.tensor, merged(op.getFirstSum(), op.getSecondSum(), "bhi"),
          merged(op.getFirstAccumulator(), op.getSecondAccumulator(), "bhiv")};
}

Results attune::raise::lower(OpBuilder &builder, attn::SoftmaxFinishOp op) {
  Loops loops(builder, op.getLoc());
  Named sum = {op.getSum(), "bhi"};
  Value output = loops.map(
      "bhiv", {{op.getAccumulator(), "bhiv"}, sum},
      [](Point, ArrayRef<Number> x) { return select(!x[1].isZero(), x[0] / x[1], 0); }, elementOf(op.getOutput()));
  // The logarithm of 0 is −∞, and −∞ the maximum.
  Value lse = op.getLse().use_empty() ? Value()
                                      : loops.map("bhi", {{op.getMaximum(), "bhi"}, sum},
                                                  [](Point, ArrayRef<Number> x) { return x[0] + log(x[1]); });
  return {output, lse};
}
