//===- EvalTileOps.cpp - dot, reduce, expand, mask, iota, permutations ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileFrame.h"

#include "attune/Tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

static TileValue blank(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return {SmallVector<int64_t, 2>(tensor.getShape()), std::vector<double>(tensor.getNumElements(), 0.0)};
}

static TileValue transposed(const TileValue &tile) {
  TileValue result{{tile.columns(), tile.rows()}, std::vector<double>(tile.elements.size())};
  for (int64_t i = 0; i < tile.rows(); ++i)
    for (int64_t j = 0; j < tile.columns(); ++j)
      result.elements[j * tile.rows() + i] = tile.elements[i * tile.columns() + j];
  return result;
}

/// acc + A·B. The loop over k is outside the loop over columns: each sum still adds in order of k.
static void multiply(const TileValue &a, const TileValue &b, TileValue &acc, bool faithful) {
  int64_t inner = a.columns(), columns = b.columns();
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t k = 0; k < inner; ++k) {
      double left = a.elements[i * inner + k];
      const double *right = b.elements.data() + k * columns;
      double *sums = acc.elements.data() + i * columns;
      if (faithful)
        for (int64_t j = 0; j < columns; ++j)
          sums[j] = static_cast<float>(sums[j] + left * right[j]);
      else
        for (int64_t j = 0; j < columns; ++j)
          sums[j] += left * right[j];
    }
}

static LogicalResult evalDot(Frame &frame, tile::DotOp op) {
  TileValue acc = frame.tile(op.getAcc());
  const TileValue &a = frame.tile(op.getA()), &b = frame.tile(op.getB());
  multiply(op.getTransposeA() ? transposed(a) : a, op.getTransposeB() ? transposed(b) : b, acc, frame.faithful());
  frame.setTile(op, std::move(acc));
  return success();
}

static LogicalResult evalReduce(Frame &frame, tile::ReduceOp op) {
  const TileValue &source = frame.tile(op.getSource());
  bool isMax = op.getKind() == tile::ReduceKind::Max;
  TileValue result = blank(op.getType());
  if (isMax)
    llvm::fill(result.elements, -std::numeric_limits<double>::infinity());
  for (int64_t i = 0; i < source.rows(); ++i)
    for (int64_t j = 0; j < source.columns(); ++j) {
      double element = source.elements[i * source.columns() + j];
      double &kept = result.elements[op.getAxis() == 1 ? i : j];
      // A NaN stays once it is there: the strictest of what the description allows.
      kept = !isMax ? resultOf(kept + element, op.getType().getElementType(), frame.options.precision)
             : std::isnan(kept) || element < kept ? kept
                                                  : element;
    }
  frame.setTile(op, std::move(result));
  return success();
}

static LogicalResult evalExpand(Frame &frame, tile::ExpandOp op) {
  const TileValue &source = frame.tile(op.getSource());
  TileValue result = blank(op.getType());
  for (int64_t i = 0; i < result.rows(); ++i)
    for (int64_t j = 0; j < result.columns(); ++j)
      result.elements[i * result.columns() + j] = source.elements[op.getAxis() == 1 ? i : j];
  frame.setTile(op, std::move(result));
  return success();
}

static LogicalResult evalMask(Frame &frame, tile::MaskOp op) {
  TileValue result = frame.tile(op.getSource());
  bool isRow = result.shape.size() == 1;
  // What is absent hides nothing.
  constexpr int64_t everything = std::numeric_limits<int64_t>::max() / 2;
  auto bound = [&](mlir::Value value) { return value ? frame.integer(value) : everything; };
  int64_t rows = bound(op.getRows()), columns = bound(op.getCols()), diagonal = bound(op.getDiagonal());
  double fill = op.getFill().convertToDouble();
  int64_t width = isRow ? 1 : result.columns();
  for (int64_t i = 0; i < result.rows(); ++i)
    for (int64_t j = 0; j < width; ++j)
      if (i >= rows || j >= columns || j > i + diagonal)
        result.elements[i * width + j] = fill;
  frame.setTile(op, std::move(result));
  return success();
}

static LogicalResult evalIota(Frame &frame, tile::IotaOp op) {
  TileValue result = blank(op.getType());
  bool isInteger = op.getType().getElementType().isInteger();
  int64_t base = frame.integer(op.getBase());
  for (auto [i, element] : llvm::enumerate(result.elements)) {
    uint64_t number = static_cast<uint64_t>(base) + i;
    element = isInteger ? static_cast<int32_t>(number) : static_cast<int64_t>(number);
  }
  frame.setTile(op, std::move(result));
  return success();
}

static LogicalResult evalPermute(Frame &frame, tile::PermuteColumnsOp op) {
  const TileValue &source = frame.tile(op.getSource());
  TileValue result = source;
  for (size_t row = 0; row < source.elements.size(); row += source.columns())
    for (auto [column, from] : llvm::enumerate(op.getPermutation()))
      result.elements[row + column] = source.elements[row + from];
  frame.setTile(op, std::move(result));
  return success();
}

static LogicalResult evalScan(Frame &frame, tile::ScanOp op) {
  const TileValue &a = frame.tile(op.getA()), &b = frame.tile(op.getB()), &v = frame.tile(op.getV());
  TileValue state = frame.tile(op.getState()), result = frame.tile(op.getAcc());
  int64_t rows = op.getRows(), features = op.getFeatures(), columns = op.getColumns();
  mlir::Type f32 = mlir::Float32Type::get(op.getContext());
  auto rounded = [&](double x) { return resultOf(x, f32, frame.options.precision); };
  auto fade = [&](int64_t t) { // by row t of the factors
    const TileValue &factors = frame.tile(op.getDecay());
    for (int64_t i = 0; i < features; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double factor = op.getDecayColumns() ? factors.elements[t * columns + j] : factors.elements[t * features + i];
        state.elements[i * columns + j] = rounded(state.elements[i * columns + j] * factor);
      }
  };
  auto read = [&](int64_t t) {
    for (int64_t i = 0; i < features; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double &sum = result.elements[t * columns + j];
        sum = rounded(sum + a.elements[t * features + i] * state.elements[i * columns + j]);
      }
  };
  TileValue allWritten = v;
  /// v of row t, without what S has for it.
  auto written = [&](int64_t t) {
    std::vector<double> u(v.elements.begin() + t * columns, v.elements.begin() + (t + 1) * columns);
    if (!op.getErase())
      return u;
    const TileValue &x = frame.tile(op.getErase());
    for (int64_t i = 0; i < features; ++i)
      for (int64_t j = 0; j < columns; ++j)
        u[j] = rounded(u[j] - x.elements[t * features + i] * state.elements[i * columns + j]);
    std::copy(u.begin(), u.end(), allWritten.elements.begin() + t * columns);
    return u;
  };
  bool fades = op.getDecay() && !op.decaysOnce();
  if (op.decaysOnce())
    fade(0);
  for (int64_t step = 0; step < rows; ++step) {
    int64_t t = op.getReverse() ? rows - 1 - step : step;
    if (fades && !op.getReverse())
      fade(t);
    if (op.getExclusive())
      read(t);
    std::vector<double> u = written(t);
    for (int64_t i = 0; i < features; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double &sum = state.elements[i * columns + j];
        sum = rounded(sum + b.elements[t * features + i] * u[j]);
      }
    if (!op.getExclusive())
      read(t);
    if (fades && op.getReverse())
      fade(t);
  }
  frame.setTile(op.getResult(), std::move(result));
  frame.setTile(op.getNext(), std::move(state));
  if (op.getWritten())
    frame.setTile(op.getWritten(), std::move(allWritten));
  return success();
}

std::optional<LogicalResult> attune::reference::evalTileOp(Frame &frame, Operation &op) {
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    return evalScan(frame, scan);
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return evalDot(frame, dot);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return evalReduce(frame, reduce);
  if (auto expand = dyn_cast<tile::ExpandOp>(op))
    return evalExpand(frame, expand);
  if (auto mask = dyn_cast<tile::MaskOp>(op))
    return evalMask(frame, mask);
  if (auto iota = dyn_cast<tile::IotaOp>(op))
    return evalIota(frame, iota);
  if (auto permute = dyn_cast<tile::PermuteColumnsOp>(op))
    return evalPermute(frame, permute);
  if (auto any = dyn_cast<tile::AnyOp>(op)) {
    // What is not a number is not at most 0 either.
    bool found = llvm::any_of(frame.tile(any.getTile()).elements, [](double x) { return !(x <= 0); });
    frame.set(any, int64_t(found));
    return success();
  }
  if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    frame.set(id, frame.point[*frame.kernel.getGridPosition(id.getAxis())]);
    return success();
  }
  return std::nullopt;
}
