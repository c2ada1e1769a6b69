//===- EvalSoftmaxTerms.cpp - Partial results of online softmax ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"
#include "Rows.h"

#include "Head.h"

#include "attune/Reference/Attention.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

static constexpr double lowest = -std::numeric_limits<double>::infinity();

namespace {
/// m, l and acc of some rows: [batch, H, R], [batch, H, R], [batch, H, R, dv].
struct Partial {
  Array maximum, sum, accumulator;

  Partial(ArrayRef<int64_t> rows, int64_t width)
      : maximum(rows, lowest), sum(rows), accumulator({rows[0], rows[1], rows[2], width}) {}

  /// Adds weight e^{logit} with value `row`, rescaling what is there if the maximum grows.
  void add(ArrayRef<int64_t> place, double logit, Row row) {
    double &m = maximum(place), &l = sum(place);
    int64_t width = accumulator.size(3);
    double *acc = accumulator.at({place[0], place[1], place[2], 0});
    double next = logit > m || std::isnan(logit) ? logit : m;
    double kept = m == lowest ? 0 : std::exp(m - next), weight = std::exp(logit - next);
    l = l * kept + weight;
    for (int64_t c = 0; c < width; ++c)
      acc[c] *= kept;
    addScaled(weight, row, width, acc);
    m = next;
  }
};
} // namespace

static LogicalResult evalPartial(AttnFrame &frame, attn::SoftmaxPartialOp op) {
  AttnValue query = frame.rowsFor(op.getMaximum(), op.getQuery());
  AttentionInputs inputs{query.array,    frame[op.getKey()],  frame[op.getValue()], frame.optional(op.getLengths()),
                         op.getCausal(), frame.rowsOf(query), query.queries,        Window::of(op.getWindow()),
                         op.getLast()};
  if (std::string problem = inputs.problem(); !problem.empty())
    return op.emitOpError() << problem;
  auto pieces = static_cast<int64_t>(op.getPieces());
  int64_t piece = inputs.keys() / pieces + (inputs.keys() % pieces != 0); // ⌈N / pieces⌉ keys
  int64_t begin = piece * static_cast<int64_t>(op.getPiece());
  Logits logits = logitsOf(frame, op);
  auto count = static_cast<int64_t>(inputs.chosenRows().size());
  Partial partial({inputs.batch(), inputs.heads(), count}, inputs.value.size(3));
  forEachHead(inputs, [&](const Head &head) {
    Rows values(inputs.value, head.batch, inputs.sharedHead(head.head));
    for (int64_t r = 0; r < count; ++r)
      for (int64_t j : head.keysOf(head.rows[r]))
        if (j >= begin && j < begin + piece)
          partial.add({head.batch, head.head, r},
                      logits(dot(head.query[r], head.key[j], inputs.query.size(3)), head.head,
                             inputs.distance(head.rows[r], j)),
                      values[j]);
  });
  frame.set(op.getMaximum(), std::move(partial.maximum), query.queries);
  frame.set(op.getSum(), std::move(partial.sum), query.queries);
  frame.set(op.getAccumulator(), std::move(partial.accumulator), query.queries);
  return success();
}

/// Calls `visit` with each row of [batch, H, R].
template <typename Visit> static void forEachRow(ArrayRef<int64_t> shape, Visit visit) {
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t h = 0; h < shape[1]; ++h)
      for (int64_t r = 0; r < shape[2]; ++r)
        visit(b, h, r);
}

static LogicalResult checkPartial(Operation *op, const Array &maximum, const Array &sum, const Array &accumulator,
                                  ArrayRef<int64_t> shape) {
  if (failed(expectShape(op, "accumulator", accumulator, shape)) ||
      failed(expectShape(op, "maximum", maximum, shape.drop_back())))
    return failure();
  return expectShape(op, "sum", sum, shape.drop_back());
}

static LogicalResult evalMerge(AttnFrame &frame, attn::SoftmaxMergeOp op) {
  auto rows = [&](mlir::Value operand) { return frame.rowsFor(op.getMaximum(), operand).array; };
  Array acc1 = rows(op.getFirstAccumulator()), acc2 = rows(op.getSecondAccumulator());
  Array m1 = rows(op.getFirstMaximum()), m2 = rows(op.getSecondMaximum());
  Array l1 = rows(op.getFirstSum()), l2 = rows(op.getSecondSum());
  if (failed(checkPartial(op, m1, l1, acc1, acc1.shape())) || failed(checkPartial(op, m2, l2, acc2, acc1.shape())))
    return failure();
  Partial merged(m1.shape(), acc1.size(3));
  forEachRow(m1.shape(), [&](int64_t b, int64_t h, int64_t r) {
    double m = std::max(m1({b, h, r}), m2({b, h, r}));
    auto factor = [&](const Array &side) { return side({b, h, r}) == lowest ? 0 : std::exp(side({b, h, r}) - m); };
    double first = factor(m1), second = factor(m2);
    merged.maximum({b, h, r}) = m;
    merged.sum({b, h, r}) = first * l1({b, h, r}) + second * l2({b, h, r});
    for (int64_t c = 0; c < acc1.size(3); ++c)
      merged.accumulator({b, h, r, c}) = first * acc1({b, h, r, c}) + second * acc2({b, h, r, c});
  });
  std::optional<int64_t> queries = frame.rowsFor(op.getMaximum(), op.getFirstMaximum()).queries;
  frame.set(op.getMaximum(), std::move(merged.maximum), queries);
  frame.set(op.getSum(), std::move(merged.sum), queries);
  frame.set(op.getAccumulator(), std::move(merged.accumulator), queries);
  return success();
}

static LogicalResult evalFinish(AttnFrame &frame, attn::SoftmaxFinishOp op) {
  AttnValue maximum = frame.rowsFor(op.getOutput(), op.getMaximum());
  Array m = maximum.array, l = frame.rowsFor(op.getOutput(), op.getSum()).array;
  Array acc = frame.rowsFor(op.getOutput(), op.getAccumulator()).array;
  if (failed(checkPartial(op, m, l, acc, acc.shape())))
    return failure();
  Array output(acc.shape()), lse(m.shape());
  forEachRow(m.shape(), [&](int64_t b, int64_t h, int64_t r) {
    double sum = l({b, h, r});
    lse({b, h, r}) = sum == 0 ? lowest : m({b, h, r}) + std::log(sum);
    for (int64_t c = 0; c < acc.size(3); ++c)
      output({b, h, r, c}) = sum == 0 ? 0 : acc({b, h, r, c}) / sum;
  });
  std::optional<int64_t> queries = maximum.queries;
  frame.set(op.getOutput(), std::move(output), queries);
  frame.set(op.getLse(), std::move(lse), queries);
  return success();
}

void attune::reference::addSoftmaxTerms(Evaluators &all) { all.add(evalPartial, evalMerge, evalFinish); }
