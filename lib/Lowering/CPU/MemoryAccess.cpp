//===- MemoryAccess.cpp - Rows of a tile in memory -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MemoryAccess.h"

#include "VectorOps.h"

#include "mlir/IR/Matchers.h"

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

/// The largest value of an index that is counted by a loop of constant bounds, or constant.
static std::optional<int64_t> mostOf(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument ? dyn_cast<tile::LoopOp>(argument.getOwner()->getParentOp()) : tile::LoopOp();
  if (!loop || argument != loop.getInductionVar() || !matchPattern(loop.getUpper(), m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue() - 1;
}

/// Rows before which none exist, counted from `index`; null if all are known to.
static Value missing(Emit &emit, Value lower, Value index) {
  if (!lower)
    return Value();
  Value before = emit.sub(emit.max(lower, emit.constant(0)), index);
  auto known = Emit::known(before);
  return known && *known <= 0 ? Value() : before;
}

/// Tokens of a window of `columns` columns that the memory has: those of whole rows of the image, and of the last one.
static Value windowTokens(Emit &emit, Value size, Value origin, int64_t columns, int64_t stride) {
  Value left = emit.max(emit.sub(size, origin), emit.constant(0)), width = emit.constant(stride);
  Value whole = arith::DivUIOp::create(emit, left, width), rest = arith::RemUIOp::create(emit, left, width);
  return emit.add(emit.mul(whole, columns), emit.min(rest, emit.constant(columns)));
}

/// By how much a row changes from a step of a loop to the next; none: not by the same number in each.
static std::optional<int64_t> rowsOfStep(Value row, tile::LoopOp loop) {
  if (row == loop.getInductionVar())
    return loop.getStep();
  if (!loop->isAncestor(row.getParentBlock()->getParentOp()))
    return 0;
  Operation *op = row.getDefiningOp();
  bool isSum = isa_and_present<arith::AddIOp>(op);
  if (!isSum && !isa_and_present<arith::SubIOp>(op))
    return std::nullopt;
  std::optional<int64_t> first = rowsOfStep(op->getOperand(0), loop), second = rowsOfStep(op->getOperand(1), loop);
  if (!first || !second)
    return std::nullopt;
  return isSum ? *first + *second : *first - *second;
}

/// The loop whose steps a block is one of; null: there is none. A branch is no loop.
static tile::LoopOp loopAround(Operation *op) {
  auto loop = dyn_cast<tile::LoopOp>(op->getParentOp());
  return loop && loop.isBranch() ? loopAround(loop) : loop;
}

template <typename Op> static int64_t rowsToNextOf(Op access, ArrayRef<int64_t> shape) {
  tile::LoopOp loop = loopAround(access);
  auto kernel = dyn_cast<tile::KernelOp>(access->getParentOp());
  if (shape.size() != 2 || (kernel && !kernel.getGridPosition(tile::Axis::QueryBlock)))
    return 0;
  if (access.getFold())
    return *access.getColumns();
  if (kernel)
    return shape[0];
  if (!loop)
    return 0;
  return rowsOfStep(access.getIndices()[access.getIndices().size() - 2], loop).value_or(0);
}

/// Calls `function` with the load or the store and the shape of its tile.
template <typename Function> static auto visitAccess(Operation *op, Function function) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return function(load, shapeOf(load.getResult()), cast<MemRefType>(load.getSource().getType()));
  auto store = cast<tile::StoreOp>(op);
  return function(store, shapeOf(store.getValue()), cast<MemRefType>(store.getTarget().getType()));
}

int64_t cpu::rowsToNext(Operation *op) {
  return visitAccess(op, [](auto access, ArrayRef<int64_t> shape, MemRefType) { return rowsToNextOf(access, shape); });
}

template <typename Op> static int64_t blocksToNextOf(Op access, ArrayRef<int64_t> shape) {
  auto loop = dyn_cast<tile::LoopOp>(access->getParentOp());
  OperandRange indices = access.getIndices();
  if (access.getFold() || shape.size() != 2 || indices.size() < 3)
    return 0;
  if (!loop) {
    auto id = indices[indices.size() - 3].template getDefiningOp<tile::ProgramIdOp>();
    return id && id.getAxis() == tile::Axis::Head && isa<tile::KernelOp>(access->getParentOp());
  }
  auto block = indices[indices.size() - 3].template getDefiningOp<arith::DivUIOp>();
  APInt length;
  if (!block || block.getLhs() != loop.getInductionVar() || !matchPattern(block.getRhs(), m_ConstantInt(&length)))
    return 0;
  int64_t step = loop.getStep(), each = length.getSExtValue();
  return each > 0 && step % each == 0 ? step / each : 0;
}

int64_t cpu::blocksToNext(Operation *op) {
  return visitAccess(op,
                     [](auto access, ArrayRef<int64_t> shape, MemRefType) { return blocksToNextOf(access, shape); });
}

FetchShape cpu::nextShape(Operation *op) {
  return visitAccess(op, [](auto access, ArrayRef<int64_t> shape, MemRefType memory) -> FetchShape {
    int64_t bytes = shape[1] * memory.getElementTypeBitWidth() / 8;
    bool jumps = access.getFold() && access.getColumns() != access.getStride();
    int64_t columns = jumps ? *access.getColumns() : 0, stride = jumps ? *access.getStride() : 0;
    return {shape[0], (bytes + cacheLineBytes - 1) / cacheLineBytes, columns, stride};
  });
}

/// Rows that a load fetches ahead by itself: a kernel over query blocks reads the same keys for every block, and finds
/// them in a cache.
static int64_t rowsFetchedHere(const KernelState &state, Operation *op) {
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!load || load.getFold() || state.fetchedByDots.contains(op) ||
      op->getParentOfType<tile::KernelOp>().getGridPosition(tile::Axis::QueryBlock))
    return 0;
  return rowsToNext(load);
}

namespace {
/// What loads and stores have in common, on scalars of the code.
struct AccessOperands {
  Value memory, tile, lower, rows, fold, lastIndex; ///< lastIndex: of the kernel
  SmallVector<Value> indices;
  int64_t columns, stride;

  template <typename Op>
  AccessOperands(const KernelState &state, Op op, Value memory, Value tile)
      : memory(memory), tile(tile), columns(op.getColumns().value_or(0)), stride(op.getStride().value_or(0)) {
    auto scalar = [&](Value value) { return value ? state.scalars.lookup(value) : value; };
    lower = scalar(op.getLower()), rows = scalar(op.getRows()), fold = scalar(op.getFold());
    for (Value index : op.getIndices())
      indices.push_back(scalar(index));
    lastIndex = op.getIndices().back();
  }
};
} // namespace

static AccessOperands operandsOf(const KernelState &state, Operation *op) {
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return {state, load, load.getSource(), load.getResult()};
  auto store = cast<tile::StoreOp>(op);
  return {state, store, store.getTarget(), store.getValue()};
}

MemoryAccess::MemoryAccess(KernelState &state, Operation *op) {
  Emit &emit = state.emit;
  AccessOperands operands = operandsOf(state, op);
  ArrayRef<Value> indices = operands.indices;
  ArrayRef<int64_t> shape = shapeOf(operands.tile);
  const Memory &memory = state.memories.at(operands.memory);
  element = memory.type.getElementType();
  edgeRow = isa<tile::LoadOp>(op) ? state.zeroRow() : state.dumpRow();
  Value position = emit.constant(0);
  for (auto [index, step] : llvm::zip_equal(indices, memory.strides))
    position = emit.add(position, emit.mul(index, step));
  base = emit.offset(memory.pointer, position, element);
  unsigned last = indices.size() - 1, token = indices.size() - shape.size();
  auto width = Emit::known(memory.sizes[last]), farthest = mostOf(operands.lastIndex);
  bool inside = width && farthest && *farthest + shape.back() <= *width;
  Value limit = shape.size() == 1 ? operands.rows : Value();
  if (limit || !inside)
    columns = existing(emit, memory.sizes[last], indices[last], limit, shape.back());
  if (!operands.fold)
    before = missing(emit, operands.lower, indices[token]);
  if (shape.size() == 1)
    return;
  stride = memory.strides[token];
  if (token > 0)
    blockStride = memory.strides[token - 1];
  ahead = rowsFetchedHere(state, op);
  if (!operands.fold) {
    rows = existing(emit, memory.sizes[token], indices[token], operands.rows, shape[0]);
    return;
  }
  first = operands.fold, foldColumns = operands.columns, foldStride = operands.stride;
  before = missing(emit, operands.lower, first);
  Value end = windowTokens(emit, memory.sizes[token], indices[token], foldColumns, foldStride);
  rows = emit.sub(operands.rows ? emit.min(end, operands.rows) : end, first);
}

Value MemoryAccess::missesRow(Emit &emit, int64_t count) const {
  Value after = rows ? emit.less(rows, emit.constant(count)) : Value();
  Value early = before ? emit.less(emit.constant(0), before) : Value();
  return after && early ? arith::OrIOp::create(emit, after, early).getResult() : after ? after : early;
}

FoldPlace MemoryAccess::placeOfFold(Emit &emit) const {
  return {first ? first : emit.constant(0), emit.constant(foldStride - foldColumns)};
}

Buffer MemoryAccess::buffer(Emit &emit, const Fold &fold) const {
  FoldPlace place = placeOfFold(emit);
  Value start = fold || !first ? base : emit.offset(base, emit.mul(first, stride), element);
  return {start, stride, fold, place};
}

/// Rows of the memory from `base` on. Token w of a window is w + (w div columns)·(stride − columns) rows on.
Value MemoryAccess::row(Emit &emit, Value outer) const {
  if (!first || foldColumns == foldStride)
    return first ? emit.add(first, outer) : outer;
  Value token = emit.add(first, outer);
  // Of so many bits the division is a product and a shift.
  Value within = arith::AndIOp::create(emit, token, emit.constant(0x7fffffff));
  Value above = arith::DivUIOp::create(emit, within, emit.constant(foldColumns));
  return emit.add(token, emit.mul(above, foldStride - foldColumns));
}

Value MemoryAccess::address(Emit &emit, Value outer, Value inner) const {
  if (!stride)
    return emit.offset(base, inner, element);
  Value start = emit.offset(base, emit.mul(row(emit, outer), stride), element);
  if (rows)
    start = emit.select(emit.less(outer, rows), start, edgeRow);
  if (before)
    start = emit.select(emit.less(outer, before), edgeRow, start);
  return emit.offset(start, inner, element);
}

/// Of a window: the next tile of the keys, after the last the first again; or the next block of queries, after the last
/// the first of the window to the right.
FetchPlace MemoryAccess::nextInWindow(Emit &emit, Operation *op) const {
  Value rowBytes = emit.mul(stride, element.getIntOrFloatBitWidth() / 8), zero = emit.constant(0);
  Value right = emit.offset(base, emit.mul(stride, rowsToNext(op)), element);
  auto loop = dyn_cast<tile::LoopOp>(op->getParentOp());
  auto [end, length] = visitAccess(op, [&](auto access, ArrayRef<int64_t> shape, MemRefType) {
    return std::pair<Value, int64_t>(loop ? loop.getUpper() : access.getRows(), shape[0]);
  });
  APInt tokens;
  if (!end || !matchPattern(end, m_ConstantInt(&tokens)))
    return {right, rowBytes, first};
  Value next = emit.add(first, loop ? static_cast<int64_t>(loop.getStep()) : length);
  Value inside = emit.less(next, emit.constant(tokens.getSExtValue()));
  return {loop ? base : emit.select(inside, base, right), rowBytes, emit.select(inside, next, zero)};
}

FetchPlace MemoryAccess::place(Emit &emit) const {
  return {base, emit.mul(stride, element.getIntOrFloatBitWidth() / 8), first ? first : emit.constant(0)};
}

FetchPlace MemoryAccess::nextPlace(Emit &emit, Operation *op) const {
  if (first)
    return nextInWindow(emit, op);
  int64_t number = rowsToNext(op);
  Value step = number ? emit.mul(stride, number) : emit.mul(blockStride, blocksToNext(op));
  return {emit.offset(base, step, element), emit.mul(stride, element.getIntOrFloatBitWidth() / 8), emit.constant(0)};
}

void MemoryAccess::prefetchNext(Emit &emit, Value outer, Value inner) const {
  if (ahead == 0)
    return;
  // Past the end of the memory a prefetch does nothing.
  Value place = emit.add(emit.mul(emit.add(outer, ahead), stride), inner);
  LLVM::Prefetch::create(emit, emit.offset(base, place, element), /*rw=*/0, /*hint=*/2, /*cache=*/1);
}

Value MemoryAccess::mask(Emit &emit, Value inner, int64_t valid) const {
  Value keep;
  if (columns) {
    Value bound = emit.sub(columns, inner);
    keep = emit.lanesBelow(valid < emit.lanes() ? emit.min(bound, emit.constant(valid)) : bound);
  } else if (valid < emit.lanes()) {
    keep = emit.lanesBelow(valid);
  }
  if (stride || !before)
    return keep;
  Value early = emit.lanesBelow(emit.sub(before, inner));
  return andNot(emit, keep ? keep : emit.lanesBelow(emit.lanes()), early);
}

Value MemoryAccess::load(Emit &emit, Value outer, Value inner, int64_t valid) const {
  Value pointer = address(emit, outer, inner), keep = mask(emit, inner, valid);
  VectorType type = emit.vectorOf(storageOf(element));
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (keep && valid == 1 && !columns && stride) { // a column: an element of each row
    Value zero = arith::ConstantOp::create(emit, emit.getZeroAttr(type));
    Value one = emit.load(pointer, type.getElementType(), bytes);
    return toFloats(emit, vector::InsertOp::create(emit, one, zero, ArrayRef<int64_t>{0}), element);
  }
  return toFloats(emit, keep ? emit.maskedLoad(pointer, keep, type) : emit.load(pointer, type, bytes), element);
}

Value MemoryAccess::loadStored(Emit &emit, Value outer, Value inner, int64_t count) const {
  return emit.load(address(emit, outer, inner), VectorType::get({count}, storageOf(element)),
                   element.getIntOrFloatBitWidth() / 8);
}

/// The only lane that a store writes, if it is known to be only one.
std::optional<int64_t> MemoryAccess::onlyLane(Emit &emit, Value inner, int64_t valid) const {
  bool fromLower = !stride && before;
  std::optional<int64_t> low = fromLower ? Emit::known(emit.sub(before, inner)) : 0;
  std::optional<int64_t> high = columns ? Emit::known(emit.sub(columns, inner)) : valid;
  if (!low || !high || std::min(*high, valid) - std::max<int64_t>(*low, 0) != 1)
    return std::nullopt;
  return std::max<int64_t>(*low, 0);
}

void MemoryAccess::store(Emit &emit, Value value, Value outer, Value inner, int64_t valid) const {
  Value pointer = address(emit, outer, inner), keep = mask(emit, inner, valid);
  value = fromFloats(emit, value, element);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  // One lane goes out by itself: LLVM 22 turns a narrowing masked store of one lane into a store of the wide element.
  if (auto lane = onlyLane(emit, inner, valid))
    emit.store(vector::ExtractOp::create(emit, value, ArrayRef<int64_t>{*lane}), emit.offset(pointer, *lane * bytes),
               bytes);
  else if (keep)
    emit.maskedStore(value, pointer, keep);
  else
    emit.store(value, pointer, bytes);
}
