//===- EvalLepe.cpp - Depthwise convolution of the values ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnFrame.h"
#include "Shapes.h"

#include "attune/Reference/Attention.h"

using namespace mlir;
using namespace attune;
using namespace attune::reference;

namespace {
/// Tokens in rows and columns: the sequence is one row, an image what it is; blocks cut both.
struct Lattice {
  int64_t rows, columns;
  int64_t blockRows, blockColumns; ///< neighbours are of the same block
  bool isImage;                    ///< 3 × 3 neighbours, else 3

  /// The token (dy, dx) beside `token`; absent outside the block.
  std::optional<int64_t> neighbour(int64_t token, int64_t dy, int64_t dx) const {
    int64_t y = token / columns, x = token % columns;
    bool isInside = y + dy >= 0 && y + dy < rows && x + dx >= 0 && x + dx < columns;
    if (!isInside || (y + dy) / blockRows != y / blockRows || (x + dx) / blockColumns != x / blockColumns)
      return std::nullopt;
    return (y + dy) * columns + x + dx;
  }
};
} // namespace

/// Of `attn.lepe` and its gradient.
template <typename Op> static Lattice latticeOf(Op op, int64_t tokens) {
  std::optional<Window> window = Window::of(op.getWindow());
  if (window && window->gridRows)
    return {window->gridRows, window->gridColumns, window->rows, window->columns, true};
  if (window)
    return {1, tokens, 1, window->columns, false};
  if (std::optional<ArrayRef<int64_t>> grid = op.getGrid())
    return {(*grid)[0], (*grid)[1], (*grid)[0], (*grid)[1], true};
  return {1, tokens, 1, std::max<int64_t>(tokens, 1), false};
}

static LogicalResult checkLepe(AttnFrame &frame, attn::LepeOp op, const AttnValue &source, const Array &value) {
  const Array &output = source.array;
  int64_t heads = output.size(1), width = output.size(3), tokens = AttnFrame::tokensOf(source);
  if (value.size(1) < 1 || heads % value.size(1) != 0)
    return op.emitOpError() << "expected a number of heads of the values that divides " << heads << ", but got "
                            << value.size(1);
  if (failed(expectShape(op, "value", value, {output.size(0), value.size(1), tokens, width})))
    return failure();
  if (op.getGrid() && op.getGrid()->size() != 2)
    return op.emitOpError() << "expected a grid of 2 sizes, but got " << op.getGrid()->size();
  std::optional<Window> window = Window::of(op.getWindow());
  if (window && failed(check(op, window->problem(tokens))))
    return failure();
  Lattice lattice = latticeOf(op, tokens);
  if (lattice.rows * lattice.columns != tokens)
    return op.emitOpError() << "expected a grid of " << tokens << " tokens, but got " << lattice.rows << " x "
                            << lattice.columns;
  SmallVector<int64_t> shape{heads, width, 3};
  if (lattice.isImage)
    shape.push_back(3);
  if (failed(expectShape(op, "weight", frame[op.getWeight()], shape)))
    return failure();
  return op.getBias() ? expectShape(op, "bias", frame[op.getBias()], {heads, width}) : success();
}

LogicalResult attune::reference::evalLepe(AttnFrame &frame, attn::LepeOp op) {
  AttnValue source = frame.rowsFor(op.getResult(), op.getSource());
  const Array &value = frame[op.getValue()], &weight = frame[op.getWeight()];
  int64_t tokens = AttnFrame::tokensOf(source), heads = source.array.size(1), width = source.array.size(3);
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), source.array.size(0), tokens);
  if (failed(lengths) || failed(checkLepe(frame, op, source, value)))
    return failure();
  Lattice lattice = latticeOf(op, tokens);
  std::optional<Array> bias = frame.optional(op.getBias());
  std::vector<int64_t> rows = frame.rowsOf(source);
  Array result = makeArray(source.array.shape(), source.array.elements());
  auto addNeighbours = [&](int64_t b, int64_t h, int64_t r) {
    double *output = result.at({b, h, r, 0});
    for (int64_t dy = lattice.isImage ? -1 : 0; dy <= (lattice.isImage ? 1 : 0); ++dy)
      for (int64_t dx = -1; dx <= 1; ++dx) {
        std::optional<int64_t> token = lattice.neighbour(rows[r], dy, dx);
        for (int64_t c = 0; token && *token < (*lengths)[b] && c < width; ++c) {
          double tap = lattice.isImage ? weight({h, c, dy + 1, dx + 1}) : weight({h, c, dx + 1});
          output[c] += tap * value({b, h * value.size(1) / heads, *token, c});
        }
      }
    for (int64_t c = 0; bias && c < width; ++c)
      output[c] += (*bias)({h, c});
  };
  for (int64_t b = 0; b < result.size(0); ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t r = 0; r < result.size(2); ++r)
        addNeighbours(b, h, r);
  frame.set(op.getResult(), std::move(result), source.queries);
  return success();
}

LogicalResult attune::reference::evalLepeGradient(AttnFrame &frame, attn::LepeGradientOp op) {
  const Array &cotangent = frame[op.getCotangent()], &value = frame[op.getValue()], &weight = frame[op.getWeight()];
  int64_t heads = cotangent.size(1), tokens = cotangent.size(2), width = cotangent.size(3), shared = value.size(1);
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), cotangent.size(0), tokens);
  if (failed(lengths))
    return failure();
  if (shared < 1 || heads % shared != 0)
    return op.emitOpError() << "expected a number of heads of the values that divides " << heads << ", but got " << shared;
  Lattice lattice = latticeOf(op, tokens);
  if (lattice.rows * lattice.columns != tokens)
    return op.emitOpError() << "expected a grid of " << tokens << " tokens, but got " << lattice.rows << " x " << lattice.columns;
  SmallVector<int64_t> taps{heads, width, 3};
  if (lattice.isImage)
    taps.push_back(3);
  if (failed(expectShape(op, "value", value, {cotangent.size(0), shared, tokens, width})) || failed(expectShape(op, "weight", weight, taps)))
    return failure();
  Array ofValue(value.shape()), ofWeight(taps), ofBias({heads, width});
  auto addRow = [&](int64_t b, int64_t h, int64_t t) {
    for (int64_t dy = lattice.isImage ? -1 : 0; dy <= (lattice.isImage ? 1 : 0); ++dy)
      for (int64_t dx = -1; dx <= 1; ++dx) {
        std::optional<int64_t> token = lattice.neighbour(t, dy, dx);
        for (int64_t c = 0; token && *token < (*lengths)[b] && c < width; ++c) {
          SmallVector<int64_t, 4> tap{h, c};
          if (lattice.isImage)
            tap.push_back(dy + 1);
          tap.push_back(dx + 1);
          ofValue({b, h * shared / heads, *token, c}) += weight(tap) * cotangent({b, h, t, c});
          ofWeight(tap) += cotangent({b, h, t, c}) * value({b, h * shared / heads, *token, c});
        }
      }
    for (int64_t c = 0; c < width; ++c)
      ofBias({h, c}) += cotangent({b, h, t, c});
  };
  for (int64_t b = 0; b < cotangent.size(0); ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t t = 0; t < tokens; ++t)
        addRow(b, h, t);
  frame.set(op.getValueGradient(), std::move(ofValue));
  frame.set(op.getWeightGradient(), std::move(ofWeight));
  frame.set(op.getBiasGradient(), std::move(ofBias));
  return success();
}
