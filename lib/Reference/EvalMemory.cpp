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

using namespace mlir;
using namespace attune;
using namespace attune::reference;

static SmallVector<int64_t, 4> indicesOf(const Frame &frame, ValueRange operands) {
  return llvm::map_to_vector<4>(operands, [&](mlir::Value operand) { return frame.integer(operand); });
}

/// The first `count` indices must be inside, the others must not lie before the start.
static LogicalResult checkIndices(Operation *op, const Array &memory, ArrayRef<int64_t> indices, int64_t count) {
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    bool leading = static_cast<int64_t>(dimension) < count;
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
         << "expected to read what no other grid point writes, but got an element that one has written";
}

static LogicalResult noteWrite(Frame &frame, Operation *op, const Array &memory, int64_t place) {
  if (!frame.races || frame.races->write(memory, place))
    return success();
  return op->emitOpError()
         << "expected to write what no other grid point touches, but got an element that one has read or written";
}

namespace {
/// The elements of a tile in memory: calls `visit(element of the tile, place)` for those inside, in row-major order.
struct Access {
  Operation *op;
  const Array &memory;
  SmallVector<int64_t, 4> indices;
  ArrayRef<int64_t> shape;      ///< of the tile
  std::optional<int64_t> limit; ///< of the first tiled dimension

  LogicalResult check() const {
    return checkIndices(op, memory, indices, memory.rank() - static_cast<int64_t>(shape.size()));
  }

  template <typename Visit> LogicalResult forEach(Visit visit) const {
    int64_t first = memory.rank() - static_cast<int64_t>(shape.size());
    int64_t end = std::min(memory.size(first), limit.value_or(memory.size(first)));
    int64_t rows = std::min(shape[0], end - indices[first]);
    int64_t columns = shape.size() == 2 ? std::min(shape[1], memory.size(first + 1) - indices[first + 1]) : 1;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        int64_t place = memory.place(indices) + i * memory.stride(first);
        if (shape.size() == 2)
          place += j * memory.stride(first + 1);
        if (failed(visit(shape.size() == 2 ? i * shape[1] + j : i, place)))
          return failure();
      }
    return success();
  }
};
} // namespace

static LogicalResult evalLoad(Frame &frame, tile::LoadOp op) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
  const Array &memory = frame.memory(op.getSource());
  Access access{op, memory, indicesOf(frame, op.getIndices()), shape, std::nullopt};
  if (op.getRows())
    access.limit = frame.integer(op.getRows());
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
  Access access{op, memory, indicesOf(frame, op.getIndices()), tile.shape, std::nullopt};
  if (op.getRows())
    access.limit = frame.integer(op.getRows());
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

std::optional<LogicalResult> attune::reference::evalMemoryOp(Frame &frame, Operation &op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return evalLoad(frame, load);
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return evalStore(frame, store);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return evalElementLoad(frame, load);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return evalElementStore(frame, store);
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return isa<MemRefType>(dim.getSource().getType()) ? std::optional(evalDim(frame, dim)) : std::nullopt;
  return std::nullopt;
}
