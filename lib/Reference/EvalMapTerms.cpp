//===- EvalMapTerms.cpp - Feature maps and sketches of every token -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"
#include "Sketch.h"

#include "attune/Attn/Exponents.h"
#include "attune/Reference/Attention.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

/// Heads of the result of a term: those of the source, or of its type if that has more (a parameter for each).
static int64_t headsOf(mlir::Value result, int64_t sourceHeads) {
  return std::max(cast<RankedTensorType>(result.getType()).getDimSize(1), sourceHeads);
}

/// What a map without `shift` takes: that of its side.
template <typename Op> static Shift shiftOf(Op op, const HeadMap &map, const Array *shift, int64_t batch, int64_t head) {
  if (shift)
    return {false, (*shift)({batch, head})};
  return op.getKeys() ? map.keyShift(0) : map.queryShift();
}

/// What a shift of each feature M makes of the features of a token.
static void putInUnits(bool keys, const double *unit, std::vector<double> &features) {
  std::vector<double> logarithms(features.size());
  double largest = keys ? 0 : -std::numeric_limits<double>::infinity();
  for (size_t f = 0; f < features.size(); ++f) {
    logarithms[f] = std::log(features[f]) + (keys ? -unit[f] : unit[f]);
    if (!keys)
      largest = std::max(largest, logarithms[f]);
  }
  for (size_t f = 0; f < features.size(); ++f)
    features[f] = features[f] == 0 ? 0 : std::exp(logarithms[f] - largest);
}

/// The numbers of the head in a shift of each feature; null: it has none.
static const double *unitOf(const std::optional<Array> &shift, int64_t batch, int64_t head, int64_t heads) {
  return shift && shift->rank() == 3 ? &(*shift)({batch, head * shift->size(1) / heads, 0}) : nullptr;
}

/// A number of each head, or of each of its features.
template <typename Op> static LogicalResult checkShift(Op op, const Array &shift, int64_t batch, int64_t heads, int64_t features) {
  if (shift.rank() == 2)
    return expectShape(op, "shift", shift, {batch, heads});
  int64_t own = shift.size(1);
  if (own < 1 || heads % own != 0)
    return op.emitOpError() << "expected a shift of heads that divide " << heads << ", but got " << own;
  return expectShape(op, "shift", shift, {batch, own, features});
}

static LogicalResult evalMap(AttnFrame &frame, attn::MapOp op) {
  if (readsFolded(op))
    return evalFoldedMap(frame, op);
  AttnValue value = frame.rowsFor(op.getResult(), op.getSource());
  const Array &source = value.array;
  FeatureMap map = FeatureMap::of(op.getFeatureMap());
  std::optional<Array> parameter = frame.optional(op.getParameter()), shift = frame.optional(op.getShift());
  int64_t width = source.size(3), heads = headsOf(op.getResult(), source.size(1)), tokens = AttnFrame::tokensOf(value);
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), source.size(0), tokens);
  std::optional<Array> position = frame.optional(op.getPosition());
  if (failed(lengths) || failed(check(op, map.problem(parameter ? &*parameter : nullptr, heads, width))) ||
      (position && failed(expectShape(op, "position", *position, {source.size(0)}))) ||
      (shift && failed(checkShift(op, *shift, source.size(0), heads, map.featuresOf(width)))))
    return failure();
  std::vector<int64_t> rows = frame.rowsOf(value);
  Array result({source.size(0), heads, source.size(2), map.featuresOf(width)});
  std::vector<double> row(width), features(map.featuresOf(width));
  for (int64_t h = 0; h < heads; ++h) {
    HeadMap own(map, parameter ? &*parameter : nullptr, h, width);
    for (int64_t b = 0; b < source.size(0); ++b)
      for (int64_t r = 0; r < source.size(2); ++r) {
        if (rows[r] >= (*lengths)[b])
          continue;
        copyRow(source, b, h * source.size(1) / heads, r, row.data());
        int64_t first = position ? static_cast<int64_t>((*position)({b})) : 0;
        const double *unit = unitOf(shift, b, h, heads);
        own.apply(row.data(), first + rows[r], shiftOf(op, own, shift && !unit ? &*shift : nullptr, b, h), features.data());
        if (unit)
          putInUnits(op.getKeys(), unit, features);
        std::copy(features.begin(), features.end(), result.at({b, h, r, 0}));
      }
  }
  frame.set(op.getResult(), std::move(result), value.queries);
  return success();
}

/// The largest logarithm of each feature.
static LogicalResult evalFeatureMaximum(AttnFrame &frame, attn::KeyMaximumOp op, const FeatureMap &map, ArrayRef<int64_t> lengths) {
  constexpr double nothing = -1e30;
  const Array &key = frame[op.getKey()], &parameter = frame[op.getParameter()];
  int64_t heads = headsOf(op.getResult(), key.size(1)), width = key.size(3), count = map.featuresOf(width);
  Array result({key.size(0), heads, count});
  std::vector<double> row(width), features(count);
  for (int64_t h = 0; h < heads; ++h) {
    HeadMap own(map, &parameter, h, width);
    for (int64_t b = 0; b < key.size(0); ++b) {
      double *largest = result.at({b, h, 0});
      std::fill(largest, largest + count, nothing);
      for (int64_t j = 0; j < lengths[b]; ++j) {
        copyRow(key, b, h * key.size(1) / heads, j, row.data());
        own.apply(row.data(), j, own.keyShift(0), features.data());
        for (int64_t f = 0; f < count; ++f)
          largest[f] = std::max(largest[f], std::log(features[f]));
      }
    }
  }
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalKeyMaximum(AttnFrame &frame, attn::KeyMaximumOp op) {
  const Array &key = frame[op.getKey()], &parameter = frame[op.getParameter()];
  FeatureMap map = FeatureMap::of(op.getFeatureMap());
  int64_t heads = headsOf(op.getResult(), key.size(1)), width = key.size(3);
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), key.size(0), key.size(2));
  if (failed(lengths) || failed(check(op, map.problem(&parameter, heads, width))))
    return failure();
  if (attn::isOfFeatures(op.getResult()))
    return evalFeatureMaximum(frame, op, map, *lengths);
  if (!map.isFavor())
    return op.emitOpError() << "expected the feature map favor";
  Array result({key.size(0), heads});
  std::vector<double> row(width), exponents(map.features);
  for (int64_t h = 0; h < heads; ++h) {
    HeadMap own(map, &parameter, h, width);
    for (int64_t b = 0; b < key.size(0); ++b)
      for (int64_t j = 0; j < (*lengths)[b]; ++j) {
        copyRow(key, b, h * key.size(1) / heads, j, row.data());
        double largest = own.exponents(row.data(), exponents.data());
        result({b, h}) = j == 0 ? largest : std::max(result({b, h}), largest);
      }
  }
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalSketch(AttnFrame &frame, attn::SketchOp op) {
  AttnValue value = frame.rowsFor(op.getResult(), op.getSource());
  const Array &source = value.array;
  std::vector<Array> signs = arraysOf(frame, op.getSigns()), indices = arraysOf(frame, op.getIndices());
  auto size = static_cast<int64_t>(op.getSize());
  int64_t heads = headsOf(op.getResult(), source.size(1)), width = source.size(3);
  if (failed(check(op, sketchProblem(signs, indices, heads, width, size))))
    return failure();
  Array result({source.size(0), heads, source.size(2), size});
  std::vector<double> row(width);
  for (int64_t h = 0; h < heads; ++h) {
    Sketch sketch(signs, indices, h, size);
    for (int64_t b = 0; b < source.size(0); ++b)
      for (int64_t r = 0; r < source.size(2); ++r) {
        copyRow(source, b, h * source.size(1) / heads, r, row.data());
        std::vector<double> entries = sketch(row.data(), width, op.getScale().convertToDouble());
        std::copy(entries.begin(), entries.end(), result.at({b, h, r, 0}));
      }
  }
  frame.set(op.getResult(), std::move(result), value.queries);
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Calls `visit` with the map of each head and each token that exists: its batch entry, its head, its row, and what reaches its features.
template <typename Op, typename Visit> static LogicalResult forEachToken(AttnFrame &frame, Op op, Visit visit) {
  const Array &source = frame[op.getSource()], &cotangent = frame[op.getCotangent()];
  FeatureMap map = FeatureMap::of(op.getFeatureMap());
  std::optional<Array> parameter = frame.optional(op.getParameter()), shift = frame.optional(op.getShift());
  std::optional<Array> position = frame.optional(op.getPosition());
  int64_t width = source.size(3), heads = cotangent.size(1);
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), source.size(0), source.size(2));
  if (failed(lengths) || failed(check(op, map.problem(parameter ? &*parameter : nullptr, heads, width))) ||
      failed(expectShape(op, "cotangent", cotangent, {source.size(0), heads, source.size(2), map.featuresOf(width)})) ||
      (position && failed(expectShape(op, "position", *position, {source.size(0)}))) ||
      (shift && failed(checkShift(op, *shift, source.size(0), heads, map.featuresOf(width)))))
    return failure();
  std::vector<double> row(width), features(map.featuresOf(width)), mapped(features.size());
  for (int64_t h = 0; h < heads; ++h) {
    HeadMap own(map, parameter ? &*parameter : nullptr, h, width);
    for (int64_t b = 0; b < source.size(0); ++b)
      for (int64_t t = 0; t < (*lengths)[b]; ++t) {
        copyRow(source, b, h * source.size(1) / heads, t, row.data());
        copyRow(cotangent, b, h, t, features.data());
        int64_t place = (position ? static_cast<int64_t>((*position)({b})) : 0) + t;
        const double *unit = unitOf(shift, b, h, heads);
        Shift ownShift = shiftOf(op, own, shift && !unit ? &*shift : nullptr, b, h);
        if (op.getLogarithms() || unit) { // through φ̄ of what the map is without a shift of each feature
          own.apply(row.data(), place, ownShift, mapped.data());
          std::vector<double> given = mapped;
          if (unit)
            putInUnits(op.getKeys(), unit, given);
          for (auto [cotangent, feature, inUnit] : llvm::zip_equal(features, mapped, given))
            cotangent = feature == 0 ? 0 : op.getLogarithms() ? cotangent / feature : cotangent * (inUnit / feature);
        }
        visit(b, h, t, [&](double *tokens, double *parameterGradient) {
          own.pullBack(row.data(), place, ownShift, features.data(), tokens, parameterGradient);
        });
      }
  }
  return success();
}

static LogicalResult evalMapGradient(AttnFrame &frame, attn::MapGradientOp op) {
  const Array &source = frame[op.getSource()], &cotangent = frame[op.getCotangent()];
  Array result({source.size(0), cotangent.size(1), source.size(2), source.size(3)});
  if (failed(forEachToken(frame, op, [&](int64_t b, int64_t h, int64_t t, auto pullBack) { pullBack(result.at({b, h, t, 0}), nullptr); })))
    return failure();
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalMapParameterGradient(AttnFrame &frame, attn::MapParameterGradientOp op) {
  Array result(frame[op.getParameter()].shape());
  std::vector<double> tokens(frame[op.getSource()].size(3)); // which nobody reads
  int64_t rows = result.size(0), rowSize = rows == 0 ? 0 : result.count() / rows;
  auto add = [&](int64_t, int64_t h, int64_t, auto pullBack) { pullBack(tokens.data(), &result.element(rows == 1 ? 0 : h * rowSize)); };
  if (failed(forEachToken(frame, op, add)))
    return failure();
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalSketchGradient(AttnFrame &frame, attn::SketchGradientOp op) {
  const Array &source = frame[op.getSource()], &cotangent = frame[op.getCotangent()];
  std::vector<Array> signs = arraysOf(frame, op.getSigns()), indices = arraysOf(frame, op.getIndices());
  auto size = static_cast<int64_t>(op.getSize());
  int64_t heads = cotangent.size(1), width = source.size(3);
  if (failed(check(op, sketchProblem(signs, indices, heads, width, size))) ||
      failed(expectShape(op, "cotangent", cotangent, {source.size(0), heads, source.size(2), size})))
    return failure();
  Array result({source.size(0), heads, source.size(2), width});
  std::vector<double> row(width), entries(size);
  for (int64_t h = 0; h < heads; ++h) {
    Sketch sketch(signs, indices, h, size);
    for (int64_t b = 0; b < source.size(0); ++b)
      for (int64_t t = 0; t < source.size(2); ++t) {
        copyRow(source, b, h * source.size(1) / heads, t, row.data());
        copyRow(cotangent, b, h, t, entries.data());
        std::vector<double> tokens = sketch.pullBack(row.data(), width, op.getScale().convertToDouble(), entries);
        std::copy(tokens.begin(), tokens.end(), result.at({b, h, t, 0}));
      }
  }
  frame.set(op.getResult(), std::move(result));
  return success();
}

void attune::reference::addMapTerms(Evaluators &all) {
  all.add(evalMap, evalKeyMaximum, evalSketch, evalMapGradient, evalMapParameterGradient, evalSketchGradient);
}
