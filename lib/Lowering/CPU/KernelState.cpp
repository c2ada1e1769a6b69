//===- KernelState.cpp - A kernel while it is being lowered --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "DotForms.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

Value KernelState::allocate(int64_t bytes) {
  for (auto place = released.rbegin(); place != released.rend(); ++place)
    if (sizes.lookup(*place) == roundUp(bytes, 64)) {
      Value pointer = *place;
      released.erase(std::next(place).base());
      return pointer;
    }
  OpBuilder::InsertionGuard guard(emit);
  emit.setInsertionPoint(entry);
  Value pointer = emit.offset(scratch, scratchBytes);
  scratchBytes += roundUp(bytes, 64);
  sizes[pointer] = roundUp(bytes, 64);
  return pointer;
}

/// Elements from row to row. Rows a multiple of 1 KiB apart would share a few sets of the first-level cache: a product
/// reads two vectors of each of 64 rows before it comes to the next two. One line more spreads them.
static int64_t rowStride(ArrayRef<int64_t> shape, Order order, int64_t lanes) {
  int64_t inner = roundUp(innerSize(shape, order), lanes);
  return shape.size() == 2 && inner % 256 == 0 ? inner + 16 : inner;
}

Buffer KernelState::allocate(ArrayRef<int64_t> shape, Order order) {
  int64_t inner = rowStride(shape, order, emit.lanes());
  int64_t outer = shape.size() == 1 ? 1 : roundUp(outerSize(shape, order), emit.lanes());
  return {allocate(outer * inner * 4), strideOf(shape, order)};
}

Value KernelState::strideOf(ArrayRef<int64_t> shape, Order order) {
  OpBuilder::InsertionGuard guard(emit);
  emit.setInsertionPoint(entry);
  return emit.constant(rowStride(shape, order, emit.lanes()));
}

Buffer KernelState::allocateBf16(ArrayRef<int64_t> shape, Order order) {
  int64_t inner = rowStride({outerSize(shape, order), (innerSize(shape, order) + 1) / 2}, Order::Row, emit.lanes());
  Buffer buffer{allocate(roundUp(outerSize(shape, order), emit.lanes()) * inner * 4), {}};
  OpBuilder::InsertionGuard guard(emit);
  emit.setInsertionPoint(entry);
  buffer.stride = emit.constant(2 * inner);
  return buffer;
}

void KernelState::makeEdgeRows(tile::KernelOp kernel) {
  int64_t width = 0;
  kernel->walk([&](Operation *op) {
    if (isa<tile::LoadOp, tile::StoreOp>(op)) {
      Value tile = isa<tile::LoadOp>(op) ? op->getResult(0) : op->getOperand(0);
      width = std::max(width, roundUp(shapeOf(tile).back(), emit.lanes()));
    }
  });
  zeros = allocate(width * 4), dump = allocate(width * 4);
  emit.loop(emit.constant(0), emit.constant(width), emit.lanes(), [&](Value i) {
    emit.store(emit.splat(0.0), emit.offset(zeros, i, emit.getF32Type()), 64 / (16 / emit.lanes()));
  });
}

std::optional<Buffer> KernelState::find(Value tile, Order order) const {
  auto found = buffers.find({tile, static_cast<int>(rankOf(tile) == 1 ? Order::Row : order)});
  if (found == buffers.end())
    return std::nullopt;
  return found->second;
}

Buffer KernelState::destination(Value tile, Order order) {
  order = rankOf(tile) == 1 ? Order::Row : order;
  auto found = promised.find(tile);
  Buffer buffer = found != promised.end()         ? found->second
                  : heldAsBf16(tile, emit.isa) ? allocateBf16(shapeOf(tile), order)
                                               : allocate(shapeOf(tile), order);
  if (found == promised.end())
    own(tile, buffer.pointer);
  place(tile, order, buffer);
  return buffer;
}

Buffer KernelState::require(Value tile, Order order) {
  if (auto found = find(tile, order))
    return *found;
  Buffer target = allocate(shapeOf(tile), order);
  if (isFree(tile)) {
    // Not remembered: the place where it is needed next may come first in another run.
    emitCopy(*this, tile, order, target);
    return target;
  }
  own(tile, target.pointer);
  Order other = order == Order::Row ? Order::Column : Order::Row;
  emitTranspose(*this, *find(tile, other), outerSize(shapeOf(tile), other), innerSize(shapeOf(tile), other), target);
  return target;
}

void KernelState::release(Value tile) {
  auto found = parts.find(tile);
  if (found == parts.end())
    return;
  llvm::append_range(released, found->second);
  parts.erase(found);
}

bool KernelState::takeOver(Value last, Value next, Order order) {
  std::optional<Buffer> buffer = find(last, order);
  auto owner = parts.find(last);
  bool narrow = heldAsBf16(next, emit.isa);
  if (!buffer || owner == parts.end() || promised.count(next) || heldAsBf16(last, emit.isa))
    return false;
  auto part = llvm::find(owner->second, buffer->pointer);
  if (part == owner->second.end())
    return false;
  owner->second.erase(part);
  own(next, buffer->pointer);
  // Numbers of 16 bits in rows as far apart: each is written at or before what has been read.
  promise(next, {buffer->pointer, narrow ? emit.constant(2 * *Emit::known(buffer->stride)) : buffer->stride});
  return true;
}
