//===- RegisterAccess.cpp - Registers to global memory and back ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a row of the tile lies in a `c` fragment, a lane has pairs of neighbouring columns. If all rows are aligned for it,
// which is tested once, for the whole block alike, quads move chunks of 16 bytes (QuadChunks.h); else pairs go as one word
// if rows are aligned for that, and else elements one by one.
//
//===----------------------------------------------------------------------===//
#include "Places.h"
#include "QuadChunks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

static int64_t bytesOf(const TileAccess &access) { return access.memory->element.getIntOrFloatBitWidth() / 8; }

/// The address of a column of a row.
static Value addressOf(KernelState &state, const TileAccess &access, Value rowElements, Value column) {
  DeviceBuilder &code = state.code;
  return code.offset(access.pointer, code.mul(code.add(rowElements, code.widen(column)), bytesOf(access)));
}

/// i1: pairs of columns can be moved as one word.
static Value pairsAligned(KernelState &state, const TileAccess &access) {
  DeviceBuilder &code = state.code;
  int64_t bytes = bytesOf(access);
  Value address = LLVM::PtrToIntOp::create(code.builder, code.loc, code.builder.getI64Type(), access.pointer);
  Value all = code.either(address, code.mul(access.rowStride, bytes));
  Value even = code.widen(code.mul(access.columnLimit, bytes));
  return code.equal(code.both(code.either(all, even), code.i64(2 * bytes - 1)), 0);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static bool isAlways(Value condition) {
  APInt value;
  return matchPattern(condition, m_ConstantInt(&value)) && value.isOne();
}

/// What `make` gives if `condition` holds, else zeros of the same types.
static SmallVector<Value> orZero(DeviceBuilder &code, Value condition, TypeRange types,
                                 llvm::function_ref<SmallVector<Value>()> make) {
  if (isAlways(condition))
    return make();
  auto op = scf::IfOp::create(code.builder, code.loc, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(code.builder, code.loc, make());
  code.builder.setInsertionPointToStart(op.elseBlock());
  SmallVector<Value> zeros = llvm::map_to_vector(types, [&](Type type) { return code.zero(type); });
  scf::YieldOp::create(code.builder, code.loc, zeros);
  return SmallVector<Value>(op.getResults());
}

static Value guardedLoad(KernelState &state, Type type, Value pointer, Value inside, int64_t alignment) {
  return orZero(state.code, inside, type, [&]() -> SmallVector<Value> {
    return {state.code.load(type, pointer, alignment)};
  })[0];
}

static void loadVector(KernelState &state, tile::LoadOp load, const TileAccess &access) {
  DeviceBuilder &code = state.code;
  tile::SliceLayout layout = sliceLayout(load.getResult());
  Type element = access.memory->element;
  SmallVector<Value> elements;
  for (int64_t i = 0; i < layout.registers(); ++i) {
    Value place = slicePlace(state, layout, i);
    Value pointer = code.offset(access.pointer, code.mul(code.widen(place), bytesOf(access)));
    elements.push_back(guardedLoad(state, element, pointer, isInside(state, access, place), bytesOf(access)));
  }
  state.tiles[load.getResult()].registers = registersOf(state, element, elements);
}

namespace {
/// The rows of a tile on their way between memory and a `c` fragment.
struct RowAccess {
  KernelState &state;
  const TileAccess &access;
  tile::FragmentLayout layout;
  bool wholeRows, wholeColumns;

  RowAccess(KernelState &state, const TileAccess &access, tile::FragmentLayout layout)
      : state(state), access(access), layout(layout),
        wholeRows(access.allRows && layout.wholeRows()), wholeColumns(access.allColumns && layout.wholeColumns()) {}

  DeviceBuilder &code() { return state.code; }
  Value rowInside(Value row) { return wholeRows ? code().truth(true) : isInside(state, access, row); }
  Value columnInside(Value column) {
    return wholeColumns ? code().truth(true) : code().less(column, access.columnLimit);
  }
  SmallVector<Value> loadRow(Value row, bool asPairs);
  SmallVector<Value> load(bool asPairs);
  void storeRow(ArrayRef<Value> elements, int64_t rowBlock, int64_t half, Value row, bool asPairs);
  void store(ArrayRef<Value> elements, bool asPairs);
};
} // namespace

/// The elements of a row, column after column.
SmallVector<Value> RowAccess::loadRow(Value row, bool asPairs) {
  Type element = access.memory->element;
  int64_t bytes = bytesOf(access);
  Value offset = rowOffset(state, access, row);
  SmallVector<Value> elements;
  for (int64_t block = 0; block < layout.columnBlocks(); ++block) {
    Value column = fragmentColumn(state, layout, block), pointer = addressOf(state, access, offset, column);
    if (asPairs) {
      Value pair = guardedLoad(state, VectorType::get({2}, element), pointer, columnInside(column), 2 * bytes);
      elements.push_back(code().element(pair, 0)), elements.push_back(code().element(pair, 1));
      continue;
    }
    for (int64_t second = 0; second < 2; ++second)
      elements.push_back(guardedLoad(state, element, code().offset(pointer, second * bytes),
                                     columnInside(code().add(column, second)), bytes));
  }
  return elements;
}

SmallVector<Value> RowAccess::load(bool asPairs) {
  SmallVector<Value> elements(layout.registers());
  SmallVector<Type> types(layout.columnBlocks() * 2, access.memory->element);
  for (int64_t rowBlock = 0; rowBlock < layout.rowBlocks(); ++rowBlock)
    for (int64_t half = 0; half < 2; ++half) {
      Value row = fragmentRow(state, layout, rowBlock, half);
      SmallVector<Value> columns = orZero(code(), rowInside(row), types, [&] { return loadRow(row, asPairs); });
      for (auto [i, value] : llvm::enumerate(columns))
        elements[fragmentElement(layout, rowBlock, i / 2, half, i % 2)] = value;
    }
  return elements;
}

using Registers = SmallVector<Value>;

/// The elements as `one` loads them if `condition` holds, else as `other` does.
static Registers oneOrOther(RowAccess &rows, Value condition, llvm::function_ref<Registers()> one,
                            llvm::function_ref<Registers()> other) {
  DeviceBuilder &code = rows.code();
  SmallVector<Type> types(rows.layout.registers(), rows.access.memory->element);
  auto op = scf::IfOp::create(code.builder, code.loc, types, condition, true);
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(code.builder, code.loc, one());
  code.builder.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(code.builder, code.loc, other());
  return Registers(op.getResults());
}

static Registers loadPairs(RowAccess &rows) {
  return oneOrOther(
      rows, pairsAligned(rows.state, rows.access), [&] { return rows.load(true); }, [&] { return rows.load(false); });
}

static Registers loadRows(RowAccess &rows) {
  QuadChunks chunks(rows.state, rows.access, rows.layout);
  if (!chunks.possible())
    return loadPairs(rows);
  // Whole chunks of memory that is not aligned for them are rare: one other way, which takes any, is code enough.
  return oneOrOther(
      rows, chunks.aligned(), [&] { return chunks.load(); },
      [&] { return rows.access.allColumns ? rows.load(/*asPairs=*/false) : loadPairs(rows); });
}

void device::loadToRegisters(KernelState &state, tile::LoadOp load) {
  TileAccess access = accessOf(state, load, state.scalars);
  if (cast<RankedTensorType>(load.getResult().getType()).getRank() == 1)
    return loadVector(state, load, access);
  RowAccess rows(state, access, state.fragment(load.getResult()));
  SmallVector<Value> elements = rows.layout.columns == 1 ? rows.load(/*asPairs=*/false) : loadRows(rows);
  state.tiles[load.getResult()].registers = registersOf(state, access.memory->element, elements);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static void storeVector(KernelState &state, tile::StoreOp store, const TileAccess &access) {
  DeviceBuilder &code = state.code;
  tile::SliceLayout layout = sliceLayout(store.getValue());
  SmallVector<Value> elements = elementsOf(state, store.getValue());
  Value writer = sliceWriter(state, layout);
  for (auto [i, value] : llvm::enumerate(elements)) {
    Value place = slicePlace(state, layout, i);
    code.ifThen(code.both(writer, isInside(state, access, place)), [&, value = value] {
      code.store(value, code.offset(access.pointer, code.mul(code.widen(place), bytesOf(access))), bytesOf(access));
    });
  }
}

/// Writes all columns of a row that the thread has.
void RowAccess::storeRow(ArrayRef<Value> elements, int64_t rowBlock, int64_t half, Value row, bool asPairs) {
  int64_t bytes = bytesOf(access);
  Value offset = rowOffset(state, access, row);
  for (int64_t block = 0; block < layout.columnBlocks(); ++block) {
    Value column = fragmentColumn(state, layout, block), target = addressOf(state, access, offset, column);
    ArrayRef<Value> pair = elements.slice(fragmentElement(layout, rowBlock, block, half, 0), 2);
    auto write = [&](Value value, Value at, Value to, int64_t alignment) {
      auto store = [&] { code().store(value, to, alignment); };
      wholeColumns ? store() : code().ifThen(columnInside(at), store);
    };
    if (asPairs) {
      write(code().pair(pair[0], pair[1]), column, target, 2 * bytes);
      continue;
    }
    for (int64_t second = 0; second < 2; ++second)
      write(pair[second], code().add(column, second), code().offset(target, second * bytes), bytes);
  }
}

void RowAccess::store(ArrayRef<Value> elements, bool asPairs) {
  for (int64_t rowBlock = 0; rowBlock < layout.rowBlocks(); ++rowBlock)
    for (int64_t half = 0; half < 2; ++half) {
      Value row = fragmentRow(state, layout, rowBlock, half);
      code().ifThen(isInside(state, access, row), [&] { storeRow(elements, rowBlock, half, row, asPairs); });
    }
}

void device::lowerStore(KernelState &state, tile::StoreOp store) {
  TileAccess access = accessOf(state, store);
  if (cast<RankedTensorType>(store.getValue().getType()).getRank() == 1)
    return storeVector(state, store, access);
  RowAccess rows(state, access, state.fragment(store.getValue()));
  SmallVector<Value> elements = elementsOf(state, store.getValue());
  auto storePairs = [&] {
    state.code.ifThen(
        pairsAligned(state, access), [&] { rows.store(elements, true); }, [&] { rows.store(elements, false); });
  };
  QuadChunks chunks(state, access, rows.layout);
  if (!chunks.possible())
    return storePairs();
  state.code.ifThen(
      chunks.aligned(), [&] { chunks.store(elements); },
      [&] { access.allColumns ? rows.store(elements, /*asPairs=*/false) : storePairs(); });
}
