//===- MemoryAccess.cpp - Rows of a tile in memory -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MemoryAccess.h"

#include "VectorOps.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// How many of `extent` elements from `index` on exist; null if all are known to.
static Value existing(Emit &emit, Value size, Value index, Value limit, int64_t extent) {
  auto knownSize = Emit::known(size), knownIndex = Emit::known(index);
  Value left;
  if (!knownSize || !knownIndex || *knownIndex + extent > *knownSize)
    left = emit.sub(size, index);
  if (limit) {
    Value below = emit.sub(limit, index);
    left = left ? emit.min(left, below) : below;
  }
  return left;
}

/// Rows by which a load moves from step to step of the loop around it, if what it reads is worth fetching ahead: a
/// kernel over query blocks reads the same keys for every block, and finds them in a cache.
static int64_t rowsPerStep(Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  auto loop = dyn_cast<tile::LoopOp>(op->getParentOp());
  if (!load || !loop || rankOf(load.getResult()) != 2 ||
      op->getParentOfType<tile::KernelOp>().getGridPosition(tile::Axis::QueryBlock))
    return 0;
  Value row = load.getIndices()[load.getIndices().size() - 2];
  return row == loop.getInductionVar() ? loop.getStep() : 0;
}

MemoryAccess::MemoryAccess(KernelState &state, Operation *op) {
  Emit &emit = state.emit;
  auto load = dyn_cast<tile::LoadOp>(op);
  auto store = dyn_cast<tile::StoreOp>(op);
  Value memoryValue = load ? load.getSource() : store.getTarget(), tile = load ? load.getResult() : store.getValue();
  Value limit = load ? load.getRows() : store.getRows();
  limit = limit ? state.scalars.lookup(limit) : limit;
  const Memory &memory = state.memories.find(memoryValue)->second;
  element = memory.type.getElementType();
  edgeRow = load ? state.zeroRow() : state.dumpRow();

  SmallVector<Value> indices;
  for (Value index : load ? load.getIndices() : store.getIndices())
    indices.push_back(state.scalars.lookup(index));
  Value position = emit.constant(0);
  for (auto [index, step] : llvm::zip(indices, memory.strides))
    position = emit.add(position, emit.mul(index, step));
  base = emit.offset(memory.pointer, position, element);
  unsigned last = indices.size() - 1;
  columns =
      existing(emit, memory.sizes[last], indices[last], rankOf(tile) == 1 ? limit : Value(), shapeOf(tile).back());
  if (rankOf(tile) == 1)
    return;
  stride = memory.strides[last - 1];
  ahead = rowsPerStep(op);
  rows = existing(emit, memory.sizes[last - 1], indices[last - 1], limit, shapeOf(tile)[0]);
}

Value MemoryAccess::address(Emit &emit, Value outer, Value inner) const {
  Value row = base;
  if (stride)
    row = emit.offset(row, emit.mul(outer, stride), element);
  if (rows)
    row = emit.select(emit.less(outer, rows), row, edgeRow);
  return emit.offset(row, inner, element);
}

void MemoryAccess::prefetchNext(Emit &emit, Value outer, Value inner) const {
  if (ahead == 0)
    return;
  // Past the end of the memory a prefetch does nothing.
  Value place = emit.add(emit.mul(emit.add(outer, ahead), stride), inner);
  LLVM::Prefetch::create(emit, emit.offset(base, place, element), /*rw=*/0, /*hint=*/2, /*cache=*/1);
}

Value MemoryAccess::mask(Emit &emit, Value inner, int64_t valid) const {
  if (columns) {
    Value bound = emit.sub(columns, inner);
    return emit.lanesBelow(valid < emit.lanes() ? emit.min(bound, emit.constant(valid)) : bound);
  }
  return valid < emit.lanes() ? emit.lanesBelow(valid) : Value();
}

Value MemoryAccess::load(Emit &emit, Value outer, Value inner, int64_t valid) const {
  Value pointer = address(emit, outer, inner), keep = mask(emit, inner, valid);
  VectorType type = emit.vectorOf(storageOf(element));
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  return toFloats(emit, keep ? emit.maskedLoad(pointer, keep, type) : emit.load(pointer, type, bytes), element);
}

void MemoryAccess::store(Emit &emit, Value value, Value outer, Value inner, int64_t valid) const {
  Value pointer = address(emit, outer, inner), keep = mask(emit, inner, valid);
  value = fromFloats(emit, value, element);
  // One lane goes out by itself: LLVM 22 turns a narrowing masked store of one lane into a store of the wide element.
  std::optional<int64_t> left = columns ? Emit::known(emit.sub(columns, inner)) : std::nullopt;
  bool isOneLane = columns ? left && std::min(*left, valid) == 1 : valid == 1;
  if (isOneLane)
    emit.store(vector::ExtractOp::create(emit, value, ArrayRef<int64_t>{0}), pointer,
               element.getIntOrFloatBitWidth() / 8);
  else if (keep)
    emit.maskedStore(value, pointer, keep);
  else
    emit.store(value, pointer, element.getIntOrFloatBitWidth() / 8);
}
