//===- EvalGradientTerms.cpp - Terms of gradients: entries, heads, tokens, pairs ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"
#include "Gates.h"

#include "Head.h"

#include "attune/Reference/Attention.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

//===----------------------------------------------------------------------===//
// Entry by entry
//===----------------------------------------------------------------------===//

/// 0 where the first factor is, whatever the second one is.
static double product(double first, double second) { return first == 0 ? 0 : first * second; }

/// combine(x, y) of the entries of two arrays of the same sizes.
template <typename Combine> static LogicalResult combineEntries(AttnFrame &frame, Operation *op, mlir::Value lhs, mlir::Value rhs, Combine combine) {
  const Array &x = frame[lhs], &y = frame[rhs];
  if (failed(expectShape(op, "rhs", y, x.shape())))
    return failure();
  std::vector<double> entries = x.elements();
  for (auto [entry, other] : llvm::zip_equal(entries, y.elements()))
    entry = combine(entry, other);
  frame.set(op->getResult(0), makeArray(x.shape(), entries));
  return success();
}

static LogicalResult evalAdd(AttnFrame &frame, attn::AddOp op) {
  return combineEntries(frame, op, op.getLhs(), op.getRhs(), std::plus<>());
}

static LogicalResult evalMultiply(AttnFrame &frame, attn::MultiplyOp op) { return combineEntries(frame, op, op.getLhs(), op.getRhs(), product); }

static LogicalResult evalSoftcapGradient(AttnFrame &frame, attn::SoftcapGradientOp op) {
  double factor = op.getScale().convertToDouble() / op.getSoftcap().convertToDouble();
  return combineEntries(frame, op, op.getCotangent(), op.getProduct(), [&](double cotangent, double weight) {
    double capped = std::tanh(factor * weight);
    return product(cotangent, 1 - capped * capped);
  });
}

/// As `normalize` guards its denominators.
static LogicalResult evalDenominatorGradient(AttnFrame &frame, attn::DenominatorGradientOp op) {
  double bias = op.getGuard().getBias(), floor = op.getGuard().getFloor();
  if (op.getLogarithms())
    return combineEntries(frame, op, op.getDelta(), op.getDenominator(), [&](double delta, double logarithm) {
      return std::isinf(logarithm) || (floor != 0 && logarithm <= std::log(floor)) ? 0 : -delta;
    });
  return combineEntries(frame, op, op.getDelta(), op.getDenominator(), [&](double delta, double denominator) {
    double guarded = denominator + bias;
    return guarded == 0 || (floor != 0 && guarded <= floor) ? 0 : -delta / guarded;
  });
}

static LogicalResult evalScale(AttnFrame &frame, attn::ScaleOp op) {
  std::vector<double> entries = frame[op.getSource()].elements();
  double factor = op.getFactor().convertToDouble();
  for (double &entry : entries)
    entry *= factor;
  frame.set(op.getResult(), makeArray(frame[op.getSource()].shape(), entries));
  return success();
}

static LogicalResult evalSpread(AttnFrame &frame, attn::SpreadOp op) {
  const Array &source = frame[op.getSource()];
  Array result(frame[op.getLike()].shape());
  SmallVector<int64_t> placeOf; // of each dimension of the source in the result
  for (Attribute role : op.getSourceRoles())
    placeOf.push_back(llvm::find(op.getLikeRoles(), role) - op.getLikeRoles().begin());
  SmallVector<int64_t> expected = llvm::map_to_vector(placeOf, [&](int64_t place) { return result.size(place); });
  if (failed(expectShape(op, "source", source, expected)))
    return failure();
  SmallVector<int64_t> indices(result.rank()), own(source.rank());
  for (int64_t number = 0; number < result.count(); ++number) {
    for (int64_t rest = number, i = result.rank(); i-- > 0; rest /= result.size(i))
      indices[i] = rest % result.size(i);
    for (auto [dimension, place] : llvm::enumerate(placeOf))
      own[dimension] = indices[place];
    result(indices) = source(own);
  }
  frame.set(op.getResult(), std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Heads and tokens
//===----------------------------------------------------------------------===//

static LogicalResult evalSumHeads(AttnFrame &frame, attn::SumHeadsOp op) {
  const Array &source = frame[op.getSource()];
  int64_t dimension = op.getParameter() ? 0 : 1, heads = source.size(dimension);
  int64_t shared = cast<RankedTensorType>(op.getResult().getType()).getDimSize(dimension);
  if (ShapedType::isDynamic(shared) || shared < 1 || heads % shared != 0)
    return op.emitOpError() << "expected a number of heads that divides " << heads << ", but got " << shared;
  SmallVector<int64_t> shape(source.shape());
  shape[dimension] = shared;
  Array result(shape);
  int64_t inner = 1;
  for (int64_t size : source.shape().drop_front(dimension + 1))
    inner *= size;
  std::vector<double> entries = source.elements();
  for (int64_t number = 0; number < source.count(); ++number) {
    int64_t head = number / inner % heads, outer = number / inner / heads;
    result.element((outer * shared + head * shared / heads) * inner + number % inner) += entries[number];
  }
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalPlaceHeads(AttnFrame &frame, attn::PlaceHeadsOp op) {
  const Array &source = frame[op.getSource()];
  int64_t first = static_cast<int64_t>(op.getFirst()), heads = cast<RankedTensorType>(op.getResult().getType()).getDimSize(1);
  if (first < 0 || first + source.size(1) > heads)
    return op.emitOpError() << "expected heads from 0 and below " << heads << ", but got " << first << " to " << first + source.size(1);
  Array result({source.size(0), heads, source.size(2), source.size(3)});
  for (int64_t b = 0; b < source.size(0); ++b)
    for (int64_t h = 0; h < source.size(1); ++h)
      for (int64_t t = 0; t < source.size(2) && source.size(3) > 0; ++t)
        copyRow(source, b, h, t, result.at({b, first + h, t, 0}));
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalExisting(AttnFrame &frame, attn::ExistingOp op) {
  const Array &source = frame[op.getSource()];
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), source.size(0), source.size(2));
  if (failed(lengths))
    return failure();
  Array result(source.shape());
  for (int64_t b = 0; b < source.size(0); ++b)
    for (int64_t h = 0; h < source.size(1); ++h)
      for (int64_t t = 0; t < (*lengths)[b] && source.size(3) > 0; ++t)
        copyRow(source, b, h, t, result.at({b, h, t, 0}));
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalSaved(AttnFrame &frame, attn::SavedOp op) {
  frame.set(op.getResult(), frame[op.getComputed()]);
  return success();
}

static LogicalResult evalKeep(AttnFrame &frame, attn::KeepOp op) {
  frame.set(op.getResult(), frame[op.getSource()]);
  return success();
}

static LogicalResult evalUnpool(AttnFrame &frame, attn::UnpoolOp op) {
  const Array &source = frame[op.getSource()];
  Array result(frame[op.getLike()].shape());
  int64_t count = source.size(2), tokens = result.size(2);
  if (failed(expectShape(op, "source", source, {result.size(0), result.size(1), count, result.size(3)})))
    return failure();
  if (count < 1 || tokens % count != 0)
    return op.emitOpError() << "expected a number of runs that divides " << tokens << " tokens, but got " << count;
  int64_t run = tokens / count;
  for (int64_t b = 0; b < result.size(0); ++b)
    for (int64_t h = 0; h < result.size(1); ++h)
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t c = 0; c < result.size(3); ++c)
          result({b, h, t, c}) = source({b, h, t / run, c}) / static_cast<double>(run);
  frame.set(op.getResult(), std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

static LogicalResult evalSoftmaxWeights(AttnFrame &frame, attn::SoftmaxWeightsOp op) {
  const Array &lse = frame[op.getLse()];
  AttentionInputs inputs{frame[op.getQuery()], frame[op.getKey()], frame[op.getKey()], frame.optional(op.getLengths()), op.getCausal(),
                         std::nullopt, std::nullopt, Window::of(op.getWindow()), op.getLast()};
  if (failed(check(op, inputs.problem())) || failed(expectShape(op, "lse", lse, {inputs.batch(), inputs.heads(), inputs.queries()})))
    return failure();
  Logits logits = logitsOf(frame, op);
  Array result({inputs.batch(), inputs.heads(), inputs.queries(), inputs.keys()});
  forEachHead(inputs, [&](const Head &head) {
    for (int64_t i = 0; i < inputs.queries(); ++i)
      for (int64_t j : head.keysOf(i)) {
        double logit = logits(dot(head.query[i], head.key[j], inputs.query.size(3)), head.head, inputs.distance(i, j));
        result({head.batch, head.head, i, j}) = std::exp(logit - lse({head.batch, head.head, i}));
      }
  });
  frame.set(op.getResult(), std::move(result));
  return success();
}

/// Calls `visit` with the indices of each pair.
template <typename Visit> static void forEachPair(const Array &weights, Visit visit) {
  for (int64_t b = 0; b < weights.size(0); ++b)
    for (int64_t h = 0; h < weights.size(1); ++h)
      for (int64_t i = 0; i < weights.size(2); ++i)
        for (int64_t j = 0; j < weights.size(3); ++j)
          visit(b, h, i, j);
}

static LogicalResult evalDistanceSums(AttnFrame &frame, attn::DistanceSumsOp op) {
  const Array &weights = frame[op.getWeights()];
  Array result({weights.size(1)});
  forEachPair(weights, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    result({h}) += product(weights({b, h, i, j}), static_cast<double>(std::abs(i + weights.size(3) - weights.size(2) - j)));
  });
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalDecaySums(AttnFrame &frame, attn::DecaySumsOp op) {
  const Array &weights = frame[op.getWeights()];
  auto type = op.getResult().getType();
  int64_t heads = type.getDimSize(type.getRank() == 3 ? 1 : 0), tokens = weights.size(3);
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), weights.size(0), tokens);
  if (failed(lengths) || failed(expectShape(op, "weights", weights, {weights.size(0), weights.size(1), tokens, tokens})))
    return failure();
  Array sums({weights.size(0), heads, tokens});
  forEachPair(weights, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    for (int64_t t = j + 1; t <= i && t < (*lengths)[b]; ++t)
      sums({b, h * heads / weights.size(1), t}) += weights({b, h, i, j});
  });
  if (type.getRank() == 3) {
    frame.set(op.getResult(), std::move(sums));
    return success();
  }
  Array result({heads});
  for (int64_t number = 0; number < sums.count(); ++number)
    result.element(number / tokens % heads) += sums.element(number);
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalOnlyBlocks(AttnFrame &frame, attn::OnlyBlocksOp op) {
  const Array &weights = frame[op.getWeights()];
  auto block = static_cast<int64_t>(op.getBlock());
  Array result(weights.shape());
  forEachPair(weights, [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    if ((i / block == j / block) != op.getOutside())
      result({b, h, i, j}) = weights({b, h, i, j});
  });
  frame.set(op.getResult(), std::move(result));
  return success();
}

void attune::reference::addGradientTerms(Evaluators &all) {
  all.add(evalAdd, evalMultiply, evalScale, evalSpread, evalSumHeads, evalPlaceHeads, evalExisting, evalKeep, evalSaved, evalUnpool, evalSoftmaxWeights,
          evalSoftcapGradient, evalDistanceSums, evalDecaySums, evalOnlyBlocks, evalDenominatorGradient);
}
