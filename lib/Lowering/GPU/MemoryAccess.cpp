//===- MemoryAccess.cpp - Where loads and stores meet memory -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All bounds of a load or store, of the memory as well as `from` and `rows`, become one range of rows of the tile and one of
// columns. With a window rows are tokens, and so are the bounds: of the memory's rows the window has those of whole rows of
// the image and a part of the last one.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

static bool coversStatically(MemRefType memory, unsigned dimension, Value index, int64_t size) {
  APInt first;
  return matchPattern(index, m_ConstantInt(&first)) && first.isZero() && memory.getDimSize(dimension) == size;
}

namespace {
/// What loads and stores have in common.
struct Operands {
  Value memory;
  RankedTensorType tile;
  ValueRange indices;
  Value lower, rows, fold;
  std::optional<int64_t> columns, stride;

  template <typename Op>
  Operands(Op op, Value memory, Value tile)
      : memory(memory), tile(cast<RankedTensorType>(tile.getType())), indices(op.getIndices()), lower(op.getLower()),
        rows(op.getRows()), fold(op.getFold()), columns(op.getColumns()), stride(op.getStride()) {}
};

/// An access under construction.
struct AccessBuilder {
  KernelState &state;
  const Operands &operands;
  llvm::DenseMap<Value, Value> &known;
  const Memory &memory;
  unsigned first; // the dimension of the memory that the tile's first one is
  SmallVector<Value> at;
  TileAccess access;

  AccessBuilder(KernelState &state, const Operands &operands, llvm::DenseMap<Value, Value> &known)
      : state(state), operands(operands), known(known), memory(state.memories[operands.memory]),
        first(operands.indices.size() - operands.tile.getRank()) {}

  DeviceBuilder &code() { return state.code; }
  MemRefType type() const { return cast<MemRefType>(operands.memory.getType()); }
  TileAccess build();
  Value end();
  /// Elements of 16 bytes, what one lane can ask for at once.
  int64_t elementsPerPiece() const { return 128 / memory.element.getIntOrFloatBitWidth(); }
  void boundRows();
  void boundColumns();
};
} // namespace

/// Rows of the memory, or tokens of the window, that exist: i64.
Value AccessBuilder::end() {
  Value size = memory.sizes[first];
  if (!operands.fold)
    return size;
  Value left = code().larger(code().sub(size, at[first]), code().i64(0));
  Value whole = code().mul(code().div(left, *operands.stride), *operands.columns);
  return code().add(whole, code().smaller(code().rem(left, *operands.stride), code().i64(*operands.columns)));
}

void AccessBuilder::boundRows() {
  int64_t rows = operands.tile.getDimSize(0);
  Value begin = operands.fold ? state.scalar(operands.fold, known) : at[first], limit = end();
  if (operands.rows)
    limit = code().smaller(limit, state.scalar(operands.rows, known));
  access.rowLimit = code().smaller(code().clampToI32(code().sub(limit, begin)), code().i32(rows));
  if (operands.lower) {
    Value lower = code().larger(state.scalar(operands.lower, known), code().i64(0));
    access.rowLower = code().clampToI32(code().sub(lower, begin));
  }
  if (operands.fold) {
    access.firstToken = code().clampToI32(begin);
    access.columns = *operands.columns, access.stride = *operands.stride;
  }
  bool bounded = operands.rows || operands.lower || operands.fold;
  access.allRows = !bounded && coversStatically(type(), first, operands.indices[first], rows);
}

void AccessBuilder::boundColumns() {
  Value column = operands.indices[first + 1], wanted = code().i32(operands.tile.getDimSize(1));
  access.rowStride = memory.strides[first];
  APInt index;
  if (!matchPattern(column, m_ConstantInt(&index)) || !index.isZero())
    access.aligned = code().both(access.aligned, code().equal(code().rem(at[first + 1], elementsPerPiece()), 0));
  access.allColumns = coversStatically(type(), first + 1, column, operands.tile.getDimSize(1));
  Value left = code().clampToI32(code().sub(memory.sizes[first + 1], at[first + 1]));
  access.columnLimit = access.allColumns ? wanted : code().smaller(left, wanted);
}

TileAccess AccessBuilder::build() {
  for (Value index : operands.indices)
    at.push_back(state.scalar(index, known));
  Value elements = code().i64(0);
  for (auto [index, stride] : llvm::zip_equal(at, memory.strides))
    elements = code().add(elements, code().mul(index, stride));
  access.memory = &memory;
  access.aligned = memory.aligned;
  access.pointer = code().offset(memory.pointer, code().mul(elements, memory.element.getIntOrFloatBitWidth() / 8));
  boundRows();
  if (operands.tile.getRank() == 2)
    boundColumns();
  return access;
}

TileAccess device::accessOf(KernelState &state, tile::LoadOp load, llvm::DenseMap<Value, Value> &known) {
  Operands operands(load, load.getSource(), load.getResult());
  return AccessBuilder(state, operands, known).build();
}

TileAccess device::accessOf(KernelState &state, tile::StoreOp store) {
  Operands operands(store, store.getTarget(), store.getValue());
  return AccessBuilder(state, operands, state.scalars).build();
}

Value device::isInside(KernelState &state, const TileAccess &access, Value row) {
  Value below = state.code.less(row, access.rowLimit);
  if (!access.rowLower)
    return below;
  Value early = state.code.less(row, access.rowLower);
  return state.code.both(below, state.code.exclusiveOr(early, state.code.truth(true)));
}

Value device::rowOffset(KernelState &state, const TileAccess &access, Value row) {
  DeviceBuilder &code = state.code;
  if (access.firstToken) {
    Value token = code.larger(code.add(access.firstToken, row), code.i32(0));
    row = code.add(token, code.mul(code.div(token, access.columns), access.stride - access.columns));
  }
  return code.mul(code.widen(row), access.rowStride);
}
