//===- EvalLayer.cpp - What stands around a mechanism in a layer ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"
#include "Matrix.h"
#include "attune/Attn/CompressFirst.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

//===----------------------------------------------------------------------===//
// Projections
//===----------------------------------------------------------------------===//

static int64_t staticSize(mlir::Value value, unsigned dimension) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dimension);
}

static Matrix matrixOf(const Array &array) {
  Matrix rows(array.size(0), array.size(1));
  for (int64_t i = 0; i < array.size(0); ++i)
    for (int64_t j = 0; j < array.size(1); ++j)
      rows[i][j] = array({i, j});
  return rows;
}

static std::vector<double> biasOf(const std::optional<Array> &bias, int64_t width) {
  return bias ? bias->elements() : std::vector<double>(width, 0.0);
}

static LogicalResult checkProjection(Operation *op, const Array &weight, const std::optional<Array> &bias,
                                     int64_t inner, int64_t outer) {
  if (failed(expectShape(op, "weight", weight, {inner, outer})))
    return failure();
  return bias ? expectShape(op, "bias", *bias, {outer}) : success();
}

static LogicalResult evalProject(AttnFrame &frame, attn::ProjectOp op) {
  AttnValue value = frame.rowsFor(op.getResult(), op.getSource(), 1);
  const Array &x = value.array;
  std::optional<Array> bias = frame.optional(op.getBias());
  int64_t heads = staticSize(op.getResult(), 1), width = staticSize(op.getResult(), 3);
  if (failed(checkProjection(op, frame[op.getWeight()], bias, x.size(2), heads * width)))
    return failure();
  Matrix weight = matrixOf(frame[op.getWeight()]);
  std::vector<double> start = biasOf(bias, heads * width);
  Array result({x.size(0), heads, x.size(1), width});
  for (int64_t b = 0; b < x.size(0); ++b)
    for (int64_t t = 0; t < x.size(1); ++t) {
      std::vector<double> row(heads * width, 0.0);
      for (int64_t i = 0; i < x.size(2); ++i)
        addScaled(x({b, t, i}), weight[i], heads * width, row.data());
      addScaled(1, start.data(), heads * width, row.data());
      for (int64_t h = 0; h < heads; ++h)
        std::copy_n(row.data() + h * width, width, result.at({b, h, t, 0}));
    }
  frame.set(op.getResult(), std::move(result), value.queries);
  return success();
}

static LogicalResult evalProjectOutput(AttnFrame &frame, attn::ProjectOutputOp op) {
  AttnValue value = frame.rowsFor(op.getResult(), op.getSource());
  const Array &source = value.array;
  std::optional<Array> bias = frame.optional(op.getBias());
  int64_t heads = source.size(1), width = source.size(3), outer = staticSize(op.getResult(), 2);
  if (failed(checkProjection(op, frame[op.getWeight()], bias, heads * width, outer)))
    return failure();
  Matrix weight = matrixOf(frame[op.getWeight()]);
  std::vector<double> start = biasOf(bias, outer);
  Array result({source.size(0), source.size(2), outer});
  for (int64_t b = 0; b < source.size(0); ++b)
    for (int64_t t = 0; t < source.size(2); ++t) {
      double *row = result.at({b, t, 0});
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t c = 0; c < width; ++c)
          addScaled(source({b, h, t, c}), weight[h * width + c], outer, row);
      addScaled(1, start.data(), outer, row);
    }
  frame.set(op.getResult(), std::move(result), value.queries);
  return success();
}

//===----------------------------------------------------------------------===//
// Maps of tokens
//===----------------------------------------------------------------------===//

/// Calls `map(entry, row, numbers)` on a copy of every row of every head.
template <typename Map> static Array mapRows(const Array &source, Map map) {
  Array result = makeArray(source.shape(), source.elements());
  for (int64_t b = 0; b < source.size(0); ++b)
    for (int64_t h = 0; h < source.size(1); ++h)
      for (int64_t r = 0; r < source.size(2); ++r)
        map(b, r, result.at({b, h, r, 0}));
  return result;
}

/// By the angle of each position, times `direction`.
template <typename Op> static LogicalResult rotate(AttnFrame &frame, Op op, double direction) {
  AttnValue value = frame.rowsFor(op.getResult(), op.getSource());
  int64_t width = value.array.size(3), pairs = width / 2, first = 0;
  if (width % 2 != 0)
    return op.emitOpError() << "expected an even width, but got " << width;
  std::optional<Array> positions;
  if (op.getAligned() && isa<IntegerType>(getElementTypeOrSelf(op.getAligned().getType())))
    positions = frame[op.getAligned()];
  else if (op.getAligned())
    first = AttnFrame::tokensOf(frame.get(op.getAligned())) - AttnFrame::tokensOf(value);
  if (positions && failed(expectShape(op, "aligned", *positions, {value.array.size(0)})))
    return failure();
  double base = op.getBase().convertToDouble();
  std::vector<int64_t> rows = frame.rowsOf(value);
  std::vector<double> frequencies;
  for (int64_t i = 0; i < pairs; ++i)
    frequencies.push_back(std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width)));
  Array result = mapRows(value.array, [&](int64_t b, int64_t r, double *x) {
    int64_t position = rows[r] + (positions ? static_cast<int64_t>((*positions)({b})) : first);
    for (int64_t i = 0; i < pairs; ++i) {
      double angle = direction * static_cast<double>(position) * frequencies[i], c = std::cos(angle), s = std::sin(angle);
      double &a = x[op.getHalf() ? i : 2 * i], &b = x[op.getHalf() ? i + pairs : 2 * i + 1];
      double left = a, right = b;
      a = left * c - right * s;
      b = right * c + left * s;
    }
  });
  frame.set(op.getResult(), std::move(result), value.queries);
  return success();
}

static LogicalResult evalRope(AttnFrame &frame, attn::RopeOp op) { return rotate(frame, op, 1); }
static LogicalResult evalRopeGradient(AttnFrame &frame, attn::RopeGradientOp op) { return rotate(frame, op, -1); }

static LogicalResult evalQkNorm(AttnFrame &frame, attn::QkNormOp op) {
  AttnValue value = frame.rowsFor(op.getResult(), op.getSource());
  int64_t width = value.array.size(3);
  auto count = static_cast<double>(width);
  double epsilon = op.getEpsilon().convertToDouble();
  bool l2 = op.getL2();
  Array result = mapRows(value.array, [&](int64_t, int64_t, double *x) {
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < width && !l2; ++c)
      mean += x[c];
    mean /= count;
    for (int64_t c = 0; c < width; ++c)
      variance += (x[c] - mean) * (x[c] - mean);
    double deviation = std::sqrt((l2 ? variance : variance / count) + epsilon);
    for (int64_t c = 0; c < width; ++c)
      x[c] = (x[c] - mean) / deviation;
  });
  frame.set(op.getResult(), std::move(result), value.queries);
  return success();
}

/// x̄ = (ȳ − mean(ȳ) − y mean(ȳ ⊙ y)) / σ, with l2 x̄ = (ȳ − y ⟨ȳ, y⟩) / σ; 0 where ȳ is, whatever the token is.
static void pullBackNorm(const double *x, int64_t width, double epsilon, bool l2, double *cotangent) {
  if (std::all_of(cotangent, cotangent + width, [](double entry) { return entry == 0; }))
    return;
  double mean = 0, square = 0, along = 0, own = 0, count = l2 ? 1 : static_cast<double>(width);
  for (int64_t c = 0; c < width && !l2; ++c)
    mean += x[c] / count, own += cotangent[c] / count;
  for (int64_t c = 0; c < width; ++c)
    square += (x[c] - mean) * (x[c] - mean);
  double deviation = std::sqrt(square / count + epsilon);
  for (int64_t c = 0; c < width; ++c)
    along += cotangent[c] * (x[c] - mean) / deviation / count;
  for (int64_t c = 0; c < width; ++c)
    cotangent[c] = (cotangent[c] - own - (x[c] - mean) / deviation * along) / deviation;
}

static LogicalResult evalQkNormGradient(AttnFrame &frame, attn::QkNormGradientOp op) {
  const Array &source = frame[op.getSource()], &cotangent = frame[op.getCotangent()];
  if (failed(expectShape(op, "cotangent", cotangent, source.shape())))
    return failure();
  std::vector<double> row(source.size(3));
  Array result = makeArray(cotangent.shape(), cotangent.elements());
  for (int64_t b = 0; b < source.size(0); ++b)
    for (int64_t h = 0; h < source.size(1); ++h)
      for (int64_t t = 0; t < source.size(2); ++t) {
        copyRow(source, b, h, t, row.data());
        pullBackNorm(row.data(), source.size(3), op.getEpsilon().convertToDouble(), op.getL2(), result.at({b, h, t, 0}));
      }
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalCompress(AttnFrame &frame, attn::CompressOp op) {
  if (attn::ProjectOp project = attn::projectionAfter(op))
    return evalCompressFirst(frame, op, project);
  const Array &source = frame[op.getSource()], &weight = frame[op.getWeight()];
  int64_t heads = source.size(1), tokens = source.size(2), width = source.size(3);
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), source.size(0), tokens);
  if (failed(lengths) || failed(expectShape(op, "weight", weight, {weight.size(0), weight.size(1), tokens})))
    return failure();
  if (weight.size(0) < 1 || heads % weight.size(0) != 0)
    return op.emitOpError() << "expected a number of heads of the weight that divides " << heads << ", but got "
                            << weight.size(0);
  Array result({source.size(0), heads, weight.size(1), width});
  for (int64_t b = 0; b < source.size(0); ++b)
    for (int64_t g = 0; g < heads; ++g) {
      Matrix rows = headOf(source, b, g, (*lengths)[b]), own = parameterOf(weight, g * weight.size(0) / heads);
      for (int64_t slot = 0; slot < weight.size(1); ++slot)
        for (int64_t j = 0; j < (*lengths)[b]; ++j)
          addScaled(own[slot][j], rows[j], width, result.at({b, g, slot, 0}));
    }
  frame.set(op.getResult(), std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients of projections
//===----------------------------------------------------------------------===//

static LogicalResult evalTranspose(AttnFrame &frame, attn::TransposeOp op) {
  const Array &source = frame[op.getSource()];
  if (source.rank() != 2)
    return op.emitOpError() << "expected a matrix, but got rank " << source.rank();
  Array result({source.size(1), source.size(0)});
  for (int64_t i = 0; i < source.size(0); ++i)
    for (int64_t j = 0; j < source.size(1); ++j)
      result({j, i}) = source({i, j});
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalWeightGradient(AttnFrame &frame, attn::WeightGradientOp op) {
  const Array &heads = frame[op.getHeads()], &model = frame[op.getModel()];
  if (failed(expectShape(op, "model", model, {heads.size(0), heads.size(2), model.size(2)})))
    return failure();
  int64_t width = heads.size(1) * heads.size(3), columns = model.size(2);
  bool output = op.getOutput();
  Array result(output ? ArrayRef<int64_t>{width, columns} : ArrayRef<int64_t>{columns, width});
  for (int64_t b = 0; b < model.size(0); ++b)
    for (int64_t t = 0; t < model.size(1); ++t)
      for (int64_t i = 0; i < columns; ++i)
        for (int64_t e = 0; e < width; ++e) {
          double x = heads({b, e / heads.size(3), t, e % heads.size(3)}), y = model({b, t, i});
          if ((output ? y : x) != 0) // else the other may be anything
            result(output ? ArrayRef<int64_t>{e, i} : ArrayRef<int64_t>{i, e}) += x * y;
        }
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalTokenSum(AttnFrame &frame, attn::TokenSumOp op) {
  const Array &source = frame[op.getSource()];
  bool perHead = source.rank() == 4;
  int64_t width = source.size(perHead ? 3 : 2), heads = perHead ? source.size(1) : 1, tokens = source.size(perHead ? 2 : 1);
  Array result({heads * width});
  for (int64_t b = 0; b < source.size(0); ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t c = 0; c < width; ++c)
          result({h * width + c}) += perHead ? source({b, h, t, c}) : source({b, t, c});
  frame.set(op.getResult(), std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Copies the heads first … of `from` to the heads to … of `result`.
static void copyHeads(const Array &from, int64_t first, const Array &result, int64_t to, int64_t count) {
  for (int64_t b = 0; b < from.size(0); ++b)
    for (int64_t h = 0; h < count; ++h)
      for (int64_t t = 0; t < from.size(2); ++t)
        copyRow(from, b, first + h, t, result.at({b, to + h, t, 0}));
}

static LogicalResult evalTakeHeads(AttnFrame &frame, attn::TakeHeadsOp op) {
  AttnValue value = frame.rowsFor(op.getResult(), op.getSource());
  int64_t count = staticSize(op.getResult(), 1);
  auto first = static_cast<int64_t>(op.getFirst());
  if (first < 0 || first + count > value.array.size(1))
    return op.emitOpError() << "expected heads from 0 and below " << value.array.size(1) << ", but got " << first
                            << " to " << first + count;
  Array result({value.array.size(0), count, value.array.size(2), value.array.size(3)});
  copyHeads(value.array, first, result, 0, count);
  frame.set(op.getResult(), std::move(result), value.queries);
  return success();
}

static LogicalResult evalRepeatHeads(AttnFrame &frame, attn::RepeatHeadsOp op) {
  AttnValue value = frame.rowsFor(op.getResult(), op.getSource());
  int64_t count = staticSize(op.getResult(), 1), times = count / value.array.size(1);
  Array result({value.array.size(0), count, value.array.size(2), value.array.size(3)});
  for (int64_t h = 0; h < count; ++h)
    copyHeads(value.array, h / times, result, h, 1);
  frame.set(op.getResult(), std::move(result), value.queries);
  return success();
}

static LogicalResult evalConcatHeads(AttnFrame &frame, attn::ConcatHeadsOp op) {
  if (op.getParts().empty())
    return op.emitOpError() << "expected a part, but got none";
  std::vector<AttnValue> parts;
  for (mlir::Value part : op.getParts())
    parts.push_back(frame.rowsFor(op.getResult(), part));
  SmallVector<int64_t> shape(parts.front().array.shape());
  shape[1] = 0;
  for (const AttnValue &part : parts)
    shape[1] += part.array.size(1);
  Array result(shape);
  int64_t head = 0;
  for (const AttnValue &part : parts) {
    int64_t count = part.array.size(1);
    if (failed(expectShape(op, "a part", part.array, {shape[0], count, shape[2], shape[3]})))
      return failure();
    copyHeads(part.array, 0, result, head, count);
    head += count;
  }
  frame.set(op.getResult(), std::move(result), parts.front().queries);
  return success();
}

void attune::reference::addLayers(Evaluators &all) {
  all.add(evalProject, evalProjectOutput, evalRope, evalQkNorm, evalCompress, evalLepe, evalTakeHeads, evalRepeatHeads,
          evalConcatHeads, evalRopeGradient, evalQkNormGradient, evalTranspose, evalWeightGradient, evalTokenSum, evalLepeGradient);
}
