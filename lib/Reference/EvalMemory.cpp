//===- EvalMemory.cpp - Loads and stores, of tiles and of elements -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

static SmallVector<int64_t, 4> indicesOf(const Frame &frame, ValueRange operands) {
  return llvm::map_to_vector<4>(operands, [&](mlir::Value operand) { return frame.integer(operand); });
}

/// The first `count` indices must be inside, the others must not lie before the start, but for that of `negative`.
static LogicalResult checkIndices(Operation *op, const Array &memory, ArrayRef<int64_t> indices, int64_t count,
                                  std::optional<int64_t> negative = std::nullopt) {
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    bool leading = static_cast<int64_t>(dimension) < count;
    if (static_cast<int64_t>(dimension) == negative)
      continue;
    if (index < 0 || (leading && index >= memory.size(dimension)))
      return op->emitOpError() << "expected an index of dimension " << dimension << " from 0"
                               << (leading ? " and below " + Twine(memory.size(dimension)) : Twine(" on"))
                               << ", but got " << index;
  }
  return success();
}

static LogicalResult noteRead(Frame &frame, Operation *op, const Array &memory, int64_t place) {
  if (!frame.races || frame.races->read(memory, place))
    return success();
  return op->emitOpError()
         << "expected to read what no other program writes, but got an element that one has written";
}

static LogicalResult noteWrite(Frame &frame, Operation *op, const Array &memory, int64_t place) {
  if (!frame.races || frame.races->write(memory, place))
    return success();
  return op->emitOpError()
         << "expected to write what no other program touches, but got an element that one has read or written";
}

namespace {
/// The elements of a tile in memory: calls `visit(element of the tile, place)` for those inside, in row-major order.
/// The tile's rows are numbered from `first` on, along the memory or in a window of `columns` columns.
class Access {
public:
  template <typename Op>
  Access(const Frame &frame, Op op, const Array &memory, ArrayRef<int64_t> shape, ValueRange operands)
      : op(op), memory(memory), indices(indicesOf(frame, operands)), shape(shape),
        dimension(memory.rank() - static_cast<int64_t>(shape.size())), hasLower(op.getLower()),
        columns(op.getColumns().value_or(0)), stride(op.getStride().value_or(0)) {
    first = op.getFold() ? frame.integer(op.getFold()) : indices[dimension];
    if (op.getLower())
      lower = std::max<int64_t>(frame.integer(op.getLower()), 0);
    if (op.getRows())
      limit = frame.integer(op.getRows());
  }

  LogicalResult check() const {
    if (columns && first < 0 && !hasLower)
      return op->emitOpError() << "expected a first token of the window from 0 on without a lower bound, but got "
                               << first;
    bool mayBeNegative = hasLower && !columns;
    return checkIndices(op, memory, indices, dimension, mayBeNegative ? std::optional(dimension) : std::nullopt);
  }

  template <typename Visit> LogicalResult forEach(Visit visit) const {
    bool isMatrix = shape.size() == 2;
    int64_t width = isMatrix ? std::min(shape[1], memory.size(dimension + 1) - indices[dimension + 1]) : 1;
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < width && row(i); ++j) {
        SmallVector<int64_t, 4> place = indices;
        place[dimension] = *row(i);
        if (isMatrix)
          place[dimension + 1] += j;
        if (failed(visit(isMatrix ? i * shape[1] + j : i, memory.place(place))))
          return failure();
      }
    return success();
  }

private:
  /// The row of the memory that is row i of the tile; none if it is outside.
  std::optional<int64_t> row(int64_t i) const {
    int64_t number = first + i;
    if (number < lower || number >= limit)
      return std::nullopt;
    int64_t row = columns ? indices[dimension] + number / columns * stride + number % columns : number;
    return row < memory.size(dimension) ? std::optional(row) : std::nullopt;
  }

  Operation *op;
  const Array &memory;
  SmallVector<int64_t, 4> indices;
  ArrayRef<int64_t> shape; ///< of the tile
  int64_t dimension;       ///< of the memory: the first that is tiled
  bool hasLower;
  int64_t columns, stride; ///< of a fold; 0 without
  int64_t first, lower = 0, limit = std::numeric_limits<int64_t>::max();
};
} // namespace

static LogicalResult evalLoad(Frame &frame, tile::LoadOp op) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
  const Array &memory = frame.memory(op.getSource());
  Access access(frame, op, memory, shape, op.getIndices());
  if (failed(access.check()))
    return failure();
  TileValue tile{SmallVector<int64_t, 2>(shape), std::vector<double>(op.getType().getNumElements(), 0.0)};
  LogicalResult read = access.forEach([&](int64_t element, int64_t place) {
    tile.elements[element] = memory.element(place);
    return noteRead(frame, op, memory, place);
  });
  frame.setTile(op, std::move(tile));
  return read;
}

static LogicalResult evalStore(Frame &frame, tile::StoreOp op) {
  const TileValue &tile = frame.tile(op.getValue());
  const Array &memory = frame.memory(op.getTarget());
  Access access(frame, op, memory, tile.shape, op.getIndices());
  if (failed(access.check()))
    return failure();
  return access.forEach([&](int64_t element, int64_t place) {
    memory.element(place) = tile.elements[element];
    return noteWrite(frame, op, memory, place);
  });
}

static LogicalResult evalElementLoad(Frame &frame, memref::LoadOp op) {
  const Array &memory = frame.memory(op.getMemRef());
  SmallVector<int64_t, 4> indices = indicesOf(frame, op.getIndices());
  if (failed(checkIndices(op, memory, indices, memory.rank())) ||
      failed(noteRead(frame, op, memory, memory.place(indices))))
    return failure();
  double element = memory(indices);
  if (isa<FloatType>(op.getType())) {
    frame.set(op, element);
    return success();
  }
  if (!(std::fabs(element) < 0x1p53))
    return op.emitOpError() << "expected an integer that has been written, but got " << element;
  frame.set(op, static_cast<int64_t>(element));
  return success();
}

static LogicalResult evalElementStore(Frame &frame, memref::StoreOp op) {
  const Array &memory = frame.memory(op.getMemRef());
  SmallVector<int64_t, 4> indices = indicesOf(frame, op.getIndices());
  if (failed(checkIndices(op, memory, indices, memory.rank())))
    return failure();
  mlir::Value stored = op.getValueToStore();
  bool isFloat = isa<FloatType>(stored.getType());
  memory(indices) = isFloat ? frame.number(stored) : static_cast<double>(frame.integer(stored));
  return noteWrite(frame, op, memory, memory.place(indices));
}

static LogicalResult evalDim(Frame &frame, memref::DimOp op) {
  const Array &memory = frame.memory(op.getSource());
  int64_t dimension = frame.integer(op.getIndex());
  if (dimension < 0 || dimension >= memory.rank())
    return op.emitOpError() << "expected a dimension below " << memory.rank() << ", but got " << dimension;
  frame.set(op, memory.size(dimension));
  return success();
}

static LogicalResult evalCollapse(Frame &frame, memref::CollapseShapeOp op) {
  SmallVector<SmallVector<int64_t, 2>> groups;
  for (ArrayRef<int64_t> group : op.getReassociationIndices())
    groups.emplace_back(group);
  std::optional<Array> result = frame.memory(op.getSrc()).collapsed(groups);
  if (!result)
    return op.emitOpError() << "expected dimensions that lie one after another without gaps";
  frame.set(op, *result);
  return success();
}

std::optional<LogicalResult> attune::reference::evalMemoryOp(Frame &frame, Operation &op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return evalLoad(frame, load);
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return evalStore(frame, store);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return evalElementLoad(frame, load);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return evalElementStore(frame, store);
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
    return evalCollapse(frame, collapse);
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return isa<MemRefType>(dim.getSource().getType()) ? std::optional(evalDim(frame, dim)) : std::nullopt;
  return std::nullopt;
}
