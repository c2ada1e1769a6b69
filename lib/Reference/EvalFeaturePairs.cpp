//===- EvalFeaturePairs.cpp - Attention over given features -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"

#include "Head.h"

#include "attune/Reference/Attention.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

namespace {
/// Features of queries and of keys, and values, whose heads several of queries may share.
struct Features {
  template <typename Op> Features(AttnFrame &frame, Op op) : query(frame[op.getQuery()]), key(frame[op.getKey()]), value(frame[op.getValue()]) {}

  LogicalResult check(Operation *op) const {
    for (const Array *shared : {&key, &value})
      if (shared->size(1) < 1 || query.size(1) % shared->size(1) != 0)
        return op->emitOpError() << "expected heads that divide those of queries, " << query.size(1) << ", but got " << shared->size(1);
    if (failed(expectShape(op, "key", key, {query.size(0), key.size(1), key.size(2), query.size(3)})))
      return failure();
    return expectShape(op, "value", value, {key.size(0), value.size(1), key.size(2), value.size(3)});
  }
  double valueAt(int64_t b, int64_t h, int64_t j, int64_t c) const { return value({b, h * value.size(1) / query.size(1), j, c}); }
  double queryAt(int64_t b, int64_t h, int64_t i, int64_t f) const { return query({b, h, i, f}); }
  double keyAt(int64_t b, int64_t h, int64_t j, int64_t f) const { return key({b, h * key.size(1) / query.size(1), j, f}); }
  double product(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t f = 0; f < query.size(3); ++f)
      sum += queryAt(b, h, i, f) * keyAt(b, h, j, f);
    return sum;
  }
  SmallVector<int64_t, 4> rows() const { return {query.size(0), query.size(1), query.size(2)}; }
  /// With as many heads as queries have.
  SmallVector<int64_t, 4> tokens(int64_t count, int64_t width) const { return {query.size(0), query.size(1), count, width}; }

  const Array &query, &key, &value;
};
} // namespace

/// Calls `visit(b, h, i, j)` for each pair that sees each other.
template <typename Op, typename Visit> static LogicalResult forEachSeen(AttnFrame &frame, Op op, const Features &features, Visit visit) {
  if (failed(features.check(op)))
    return failure();
  auto sizesOf = [](const Array &x) { return Array({x.size(0), x.size(1), x.size(2), 0}); };
  AttentionInputs sizes{sizesOf(features.query), sizesOf(features.key), sizesOf(features.key), frame.optional(op.getLengths()), op.getCausal(),
                        std::nullopt, std::nullopt, Window::of(op.getWindow()), std::nullopt};
  if (failed(check(op, sizes.problem())))
    return failure();
  forEachHead(sizes, [&](const Head &head) {
    for (int64_t i = 0; i < features.query.size(2); ++i)
      for (int64_t j : head.keysOf(i))
        visit(head.batch, head.head, i, j);
  });
  return success();
}

static LogicalResult evalFeatureAttention(AttnFrame &frame, attn::FeatureAttentionOp op) {
  Features features(frame, op);
  int64_t width = features.value.size(3);
  Array sums(features.rows()), lse(features.rows()), output(features.tokens(features.query.size(2), width));
  auto add = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    double w = features.product(b, h, i, j);
    sums({b, h, i}) += w;
    for (int64_t c = 0; c < width && w != 0; ++c)
      output({b, h, i, c}) += w * features.valueAt(b, h, j, c);
  };
  if (failed(forEachSeen(frame, op, features, add)))
    return failure();
  double bias = op.getGuard().getBias(), floor = op.getGuard().getFloor();
  for (int64_t row = 0; row < sums.count(); ++row) {
    double guarded = sums.element(row) + bias, divisor = floor != 0 ? std::max(guarded, floor) : guarded;
    lse.element(row) = std::log(divisor);
    for (int64_t c = 0; c < width; ++c) {
      double &entry = output.element(row * width + c);
      entry = divisor == 0 ? 0 : entry / divisor;
    }
  }
  frame.set(op.getOutput(), std::move(output));
  frame.set(op.getLse(), std::move(lse));
  return success();
}

/// 1 / g.
static double shareOf(double lse) { return std::isinf(lse) ? 0 : std::exp(-lse); }

/// Calls `visit(b, h, i, j, share, s)` for each pair that sees each other, with e^{−lse_i} and what reaches ln w_ij in that share.
template <typename Op, typename Visit> static LogicalResult forEachShare(AttnFrame &frame, Op op, const Features &features, Visit visit) {
  const Array &lse = frame[op.getLse()], &cotangent = frame[op.getCotangent()], &sums = frame[op.getSums()];
  int64_t width = features.value.size(3);
  if (failed(expectShape(op, "lse", lse, features.rows())) || failed(expectShape(op, "sums", sums, features.rows())) ||
      failed(expectShape(op, "cotangent", cotangent, features.tokens(features.query.size(2), width))))
    return failure();
  return forEachSeen(frame, op, features, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    double s = sums({b, h, i});
    for (int64_t c = 0; c < width; ++c)
      s += cotangent({b, h, i, c}) * features.valueAt(b, h, j, c);
    visit(b, h, i, j, shareOf(lse({b, h, i})), s);
  });
}

static LogicalResult evalQueryGradient(AttnFrame &frame, attn::FeatureQueryGradientOp op) {
  Features features(frame, op);
  Array result(features.tokens(features.query.size(2), features.query.size(3)));
  auto add = [&](int64_t b, int64_t h, int64_t i, int64_t j, double share, double s) {
    for (int64_t f = 0; f < features.query.size(3); ++f)
      result({b, h, i, f}) += features.queryAt(b, h, i, f) * features.keyAt(b, h, j, f) * share * s;
  };
  if (failed(forEachShare(frame, op, features, add)))
    return failure();
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalKeyGradients(AttnFrame &frame, attn::FeatureKeyGradientsOp op) {
  Features features(frame, op);
  const Array &cotangent = frame[op.getCotangent()];
  int64_t keys = features.key.size(2), width = features.value.size(3);
  Array ofFeatures(features.tokens(keys, features.key.size(3))), ofValues(features.tokens(keys, width));
  auto add = [&](int64_t b, int64_t h, int64_t i, int64_t j, double share, double s) {
    for (int64_t f = 0; f < features.key.size(3); ++f)
      ofFeatures({b, h, j, f}) += features.queryAt(b, h, i, f) * features.keyAt(b, h, j, f) * share * s;
    double weight = features.product(b, h, i, j) * share;
    for (int64_t c = 0; c < width; ++c)
      ofValues({b, h, j, c}) += weight * cotangent({b, h, i, c});
  };
  if (failed(forEachShare(frame, op, features, add)))
    return failure();
  frame.set(op.getFeatures(), std::move(ofFeatures));
  frame.set(op.getValues(), std::move(ofValues));
  return success();
}

void attune::reference::addFeaturePairs(Evaluators &all) { all.add(evalFeatureAttention, evalQueryGradient, evalKeyGradients); }
