//===- MemoryAccess.cpp - Registers to global memory and back ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every access is guarded by the size of the memory. Where a row of the tile lies in a `c` fragment, a lane has pairs of
// neighbouring columns: they are written as one word if all rows are aligned for that, which is tested once, for the whole
// block alike.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

//===----------------------------------------------------------------------===//
// Where the tile is
//===----------------------------------------------------------------------===//

static bool coversStatically(MemRefType memory, unsigned dimension, Value index, int64_t size) {
  APInt first;
  return matchPattern(index, m_ConstantInt(&first)) && first.isZero() && memory.getDimSize(dimension) == size;
}

TileAccess device::accessOf(KernelState &state, Value memory, ValueRange indices, Value rows, RankedTensorType tile,
                         llvm::DenseMap<Value, Value> &known) {
  DeviceBuilder &code = state.code;
  const Memory &info = state.memories[memory];
  auto type = cast<MemRefType>(memory.getType());
  unsigned rank = type.getRank(), first = rank - tile.getRank();
  SmallVector<Value> at;
  for (Value index : indices)
    at.push_back(state.scalar(index, known));
  Value elements = code.i64(0);
  for (auto [index, stride] : llvm::zip_equal(at, info.strides))
    elements = code.add(elements, code.mul(index, stride));

  TileAccess access{&info, code.offset(info.pointer, code.mul(elements, info.element.getIntOrFloatBitWidth() / 8)),
                    {}, info.aligned, {}, {}};
  Value end = info.sizes[first];
  if (rows)
    end = code.smaller(end, state.scalar(rows, known));
  access.rowLimit = code.clampToI32(code.sub(end, at[first]));
  access.allRows = !rows && coversStatically(type, first, indices[first], tile.getDimSize(0));
  if (tile.getRank() == 1)
    return access;
  access.rowStride = info.strides[first];
  APInt column;
  if (!matchPattern(indices[first + 1], m_ConstantInt(&column)) || !column.isZero())
    access.aligned = code.both(access.aligned, code.equal(code.rem(at[first + 1], 8), 0));
  access.columnLimit = code.clampToI32(code.sub(info.sizes[first + 1], at[first + 1]));
  access.allColumns = coversStatically(type, first + 1, indices[first + 1], tile.getDimSize(1));
  if (access.allColumns)
    access.columnLimit = code.i32(tile.getDimSize(1));
  else
    access.columnLimit = code.smaller(access.columnLimit, code.i32(tile.getDimSize(1)));
  return access;
}

namespace {
/// The places of a thread in a `c` fragment of a tile.
struct FragmentPlaces {
  KernelState &state;
  tile::FragmentLayout layout;

  /// Row of a register pair: i32.
  Value row(int64_t rowBlock, int64_t half) {
    Value inWarp = state.code.add(state.code.mul(state.warp, tile::fragmentRows), state.group);
    return state.code.add(inWarp, rowBlock * tile::fragmentRows * layout.warps + half * 8);
  }
  /// First column of a register pair: i32.
  Value column(int64_t block) { return state.code.add(state.code.mul(state.quad, 2), block * tile::blockSize); }
  /// Position of a pair among the pairs of a thread.
  int64_t pair(int64_t rowBlock, int64_t half, int64_t block) {
    return (rowBlock * layout.columnBlocks() + block) * 2 + half;
  }
};
} // namespace

static int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

static Value rowPointer(KernelState &state, const TileAccess &access, Value row) {
  DeviceBuilder &code = state.code;
  Value elements = code.mul(code.widen(row), access.rowStride);
  return code.offset(access.pointer, code.mul(elements, bytesOf(access.memory->element)));
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// *pointer if `inside`, else 0.
static Value guardedLoad(KernelState &state, Value pointer, Value inside) {
  DeviceBuilder &code = state.code;
  Type type = code.builder.getF32Type();
  APInt always;
  if (matchPattern(inside, m_ConstantInt(&always)) && always.isOne())
    return code.load(type, pointer, 4);
  auto op = scf::IfOp::create(code.builder, code.loc, type, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(code.builder, code.loc, code.load(type, pointer, 4));
  code.builder.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(code.builder, code.loc, code.f32(0));
  return op.getResult(0);
}

static Value inside(KernelState &state, Value position, Value limit, bool always) {
  return always ? state.code.truth(true) : state.code.less(position, limit);
}

/// Element of a rank-1 tile in register `index`: i32.
static Value slicePlace(KernelState &state, const tile::SliceLayout &layout, int64_t index) {
  DeviceBuilder &code = state.code;
  if (layout.axis == 0)
    return code.add(code.mul(state.quad, 2), index / 2 * tile::blockSize + index % 2);
  Value inWarp = code.add(code.mul(state.warp, tile::fragmentRows), state.group);
  return code.add(inWarp, index / 2 * tile::fragmentRows * layout.warps + index % 2 * 8);
}

static void loadVector(KernelState &state, tile::LoadOp load, const TileAccess &access) {
  DeviceBuilder &code = state.code;
  auto type = cast<RankedTensorType>(load.getResult().getType());
  tile::SliceLayout layout(cast<tile::SliceAttr>(type.getEncoding()), type.getDimSize(0));
  ThreadTile &result = state.tiles[load.getResult()];
  Value limit = code.smaller(access.rowLimit, code.i32(layout.size));
  for (int64_t i = 0; i < layout.registers(); ++i) {
    Value place = slicePlace(state, layout, i);
    Value pointer = code.offset(access.pointer, code.mul(code.widen(place), 4));
    result.registers.push_back(guardedLoad(state, pointer, code.less(place, limit)));
  }
}

void device::loadToRegisters(KernelState &state, tile::LoadOp load) {
  DeviceBuilder &code = state.code;
  auto type = cast<RankedTensorType>(load.getResult().getType());
  TileAccess access = accessOf(state, load.getSource(), load.getIndices(), load.getRows(), type, state.scalars);
  if (type.getRank() == 1)
    return loadVector(state, load, access);
  FragmentPlaces places{state, state.fragment(load.getResult())};
  SmallVector<Value> registers(places.layout.registers());
  bool wholeRows = access.allRows && type.getDimSize(0) % (tile::fragmentRows * state.warps) == 0;
  bool wholeColumns = access.allColumns && type.getDimSize(1) % tile::blockSize == 0;
  Value rowLimit = code.smaller(access.rowLimit, code.i32(type.getDimSize(0)));
  for (int64_t rowBlock = 0; rowBlock < places.layout.rowBlocks(); ++rowBlock)
    for (int64_t half = 0; half < 2; ++half) {
      Value row = places.row(rowBlock, half), pointer = rowPointer(state, access, row);
      Value rowInside = inside(state, row, rowLimit, wholeRows);
      for (int64_t block = 0; block < places.layout.columnBlocks(); ++block)
        for (int64_t second = 0; second < 2; ++second) {
          Value column = code.add(places.column(block), second);
          Value bytes = code.mul(code.widen(column), 4);
          Value ok = code.both(rowInside, inside(state, column, access.columnLimit, wholeColumns));
          registers[places.pair(rowBlock, half, block) * 2 + second] =
              guardedLoad(state, code.offset(pointer, bytes), ok);
        }
    }
  state.tiles[load.getResult()].registers = std::move(registers);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static void storeVector(KernelState &state, tile::StoreOp store, const TileAccess &access) {
  DeviceBuilder &code = state.code;
  auto type = cast<RankedTensorType>(store.getValue().getType());
  tile::SliceLayout layout(cast<tile::SliceAttr>(type.getEncoding()), type.getDimSize(0));
  // Of the lanes that hold the same element, one writes.
  Value writer = layout.axis == 1 ? code.equal(state.quad, 0)
                                  : code.both(code.equal(state.group, 0), code.equal(state.warp, 0));
  Value limit = code.smaller(access.rowLimit, code.i32(layout.size));
  for (int64_t i = 0; i < layout.registers(); ++i) {
    Value place = slicePlace(state, layout, i);
    Value value = state.tileOf(store.getValue()).registers[i];
    code.ifThen(code.both(writer, code.less(place, limit)),
                [&] { code.store(value, code.offset(access.pointer, code.mul(code.widen(place), 4)), 4); });
  }
}

/// The two elements of a pair, as one vector.
static Value pairOf(KernelState &state, const ThreadTile &tile, int64_t pair, bool packed) {
  return packed ? tile.registers[pair] : state.code.pair(tile.registers[pair * 2], tile.registers[pair * 2 + 1]);
}

/// Writes all columns of a row that the thread has.
static void storeRow(KernelState &state, FragmentPlaces &places, const TileAccess &access, const ThreadTile &tile,
                     int64_t rowBlock, int64_t half, bool asPairs, bool wholeColumns) {
  DeviceBuilder &code = state.code;
  int64_t bytes = bytesOf(access.memory->element);
  Value pointer = rowPointer(state, access, places.row(rowBlock, half));
  for (int64_t block = 0; block < places.layout.columnBlocks(); ++block) {
    Value column = places.column(block);
    Value vector = pairOf(state, tile, places.pair(rowBlock, half, block), bytes == 2);
    Value target = code.offset(pointer, code.mul(code.widen(column), bytes));
    if (asPairs) {
      auto write = [&] { code.store(vector, target, 2 * bytes); };
      wholeColumns ? write() : code.ifThen(code.less(column, access.columnLimit), write);
      continue;
    }
    for (int64_t second = 0; second < 2; ++second)
      code.ifThen(code.less(code.add(column, second), access.columnLimit),
                  [&] { code.store(code.element(vector, second), code.offset(target, second * bytes), bytes); });
  }
}

/// i1: pairs of columns can be written as one word.
static Value pairsAligned(KernelState &state, const TileAccess &access) {
  DeviceBuilder &code = state.code;
  int64_t bytes = bytesOf(access.memory->element);
  Value address = LLVM::PtrToIntOp::create(code.builder, code.loc, code.builder.getI64Type(), access.pointer);
  Value all = code.either(address, code.mul(access.rowStride, bytes));
  Value even = code.widen(code.mul(access.columnLimit, bytes));
  return code.equal(code.both(code.either(all, even), code.i64(2 * bytes - 1)), 0);
}

void device::lowerStore(KernelState &state, tile::StoreOp store) {
  DeviceBuilder &code = state.code;
  auto type = cast<RankedTensorType>(store.getValue().getType());
  TileAccess access = accessOf(state, store.getTarget(), store.getIndices(), store.getRows(), type, state.scalars);
  if (type.getRank() == 1)
    return storeVector(state, store, access);
  FragmentPlaces places{state, state.fragment(store.getValue())};
  const ThreadTile &tile = state.tileOf(store.getValue());
  Value rowLimit = code.smaller(access.rowLimit, code.i32(type.getDimSize(0)));
  bool wholeColumns = access.allColumns && type.getDimSize(1) % tile::blockSize == 0;
  auto rows = [&](bool asPairs) {
    for (int64_t rowBlock = 0; rowBlock < places.layout.rowBlocks(); ++rowBlock)
      for (int64_t half = 0; half < 2; ++half)
        code.ifThen(code.less(places.row(rowBlock, half), rowLimit), [&] {
          storeRow(state, places, access, tile, rowBlock, half, asPairs, wholeColumns);
        });
  };
  code.ifThen(pairsAligned(state, access), [&] { rows(true); }, [&] { rows(false); });
}
