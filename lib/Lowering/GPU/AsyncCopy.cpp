//===- AsyncCopy.cpp - Global to shared memory by cp.async ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a block take the 16-byte chunks of a tile in turn: thread x copies chunks x, x + threads, … . A chunk that
// lies partly or wholly outside the memory is filled up with zeros by the copy itself (its source size). Where rows do not
// begin at multiples of 16 bytes, elements are copied one by one, a rolled loop that no fast case pays registers for.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

namespace {
struct Copy {
  KernelState &state;
  const TileAccess &access;
  RankedTensorType tile;
  const SharedTile &target;
  Value rowLimit; // i32

  DeviceBuilder &code() { return state.code; }
  const tile::SharedLayout &layout() const { return target.layout; }
  Value swizzled(Value row, Value chunk);
  void chunk(Value id);
  void chunks();
  void element(Value id);
};
} // namespace

/// chunk ^ x(row), x as in SharedLayout::swizzle.
static Value swizzleOf(DeviceBuilder &code, const tile::SharedLayout &layout, Value row) {
  if (layout.elementBytes == 4)
    return code.mul(code.exclusiveOr(code.rem(row, 4), code.rem(code.div(row, 4), 2)), 2);
  int64_t period = layout.swizzlePeriod();
  return code.rem(code.div(row, 8 / period), period);
}

Value Copy::swizzled(Value row, Value chunk) {
  return code().exclusiveOr(chunk, swizzleOf(code(), layout(), row));
}

/// Copies chunk `id`, counted along the rows.
void Copy::chunk(Value id) {
  OpBuilder &builder = code().builder;
  int64_t perRow = layout().chunksPerRow(), elements = layout().elementsPerChunk(), bytes = layout().elementBytes;
  Value row = code().div(id, perRow), chunk = code().rem(id, perRow);
  Value offset = code().add(code().mul(row, layout().rowBytes()), code().mul(swizzled(row, chunk), 16));
  Value column = code().mul(chunk, elements);
  Value inside = code().less(row, rowLimit), size = code().i32(16);
  if (!access.allColumns || layout().columns != tile.getDimSize(1)) {
    Value left = code().mul(code().sub(access.columnLimit, column), bytes);
    size = code().larger(code().smaller(left, code().i32(16)), code().i32(0));
  }
  size = code().select(inside, size, code().i32(0));
  // A copy of nothing still names an address: the tile's first element, which exists if anything does.
  Value some = code().less(code().i32(0), size);
  Value elementsIn = code().add(code().mul(code().widen(row), access.rowStride), code().widen(column));
  Value source = code().offset(access.pointer, code().select(some, code().mul(elementsIn, bytes), code().i64(0)));
  NVVM::CpAsyncOp::create(builder, code().loc, code().offset(target.base, offset), source, /*size=*/16,
                          NVVM::LoadCacheModifierKind::CG, size);
}

void Copy::chunks() {
  int64_t count = layout().rows * layout().chunksPerRow(), threads = state.threads();
  for (int64_t first = 0; first < count; first += threads) {
    Value id = code().add(state.thread, first);
    if (first + threads <= count)
      chunk(id);
    else
      code().ifThen(code().less(id, code().i32(count)), [&] { chunk(id); });
  }
}

/// Copies element `id`, counted along the rows, through a register.
void Copy::element(Value id) {
  OpBuilder &builder = code().builder;
  int64_t perChunk = layout().elementsPerChunk(), bytes = layout().elementBytes;
  Value row = code().div(id, layout().columns), column = code().rem(id, layout().columns);
  Value inside = code().both(code().less(row, rowLimit), code().less(column, access.columnLimit));
  auto read = scf::IfOp::create(builder, code().loc, target.element, inside, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(read.thenBlock());
    Value at = code().add(code().mul(code().widen(row), access.rowStride), code().widen(column));
    Value source = code().offset(access.pointer, code().mul(at, bytes));
    scf::YieldOp::create(builder, code().loc, code().load(target.element, source, bytes));
    builder.setInsertionPointToStart(read.elseBlock());
    scf::YieldOp::create(builder, code().loc, code().zero(target.element));
  }
  Value chunk = swizzled(row, code().div(column, perChunk));
  Value offset = code().add(code().mul(row, layout().rowBytes()),
                            code().add(code().mul(chunk, 16), code().mul(code().rem(column, perChunk), bytes)));
  code().store(read.getResult(0), code().offset(target.base, offset), bytes);
}

void device::startCopy(KernelState &state, const TileAccess &access, RankedTensorType tile, const SharedTile &target) {
  DeviceBuilder &code = state.code;
  Value rowLimit = code.smaller(access.rowLimit, code.i32(tile.getDimSize(0)));
  Copy copy{state, access, tile, target, rowLimit};
  code.ifThen(
      access.aligned, [&] { copy.chunks(); },
      [&] {
        code.loop(state.thread, target.layout.rows * target.layout.columns, state.threads(),
                  [&](Value id) { copy.element(id); });
      });
}

void device::commitCopies(KernelState &state) {
  NVVM::CpAsyncCommitGroupOp::create(state.code.builder, state.code.loc);
}

void device::waitForCopies(KernelState &state, int64_t groupsLeft) {
  NVVM::CpAsyncWaitGroupOp::create(state.code.builder, state.code.loc, groupsLeft);
}

void device::loadToShared(KernelState &state, tile::LoadOp load) {
  auto type = cast<RankedTensorType>(load.getResult().getType());
  TileAccess access = accessOf(state, load.getSource(), load.getIndices(), load.getRows(), type, state.scalars);
  SharedTile target = state.newSharedTile(cast<tile::SharedAttr>(type.getEncoding()), type.getElementType());
  state.sharedUse.beforeWrite(state.code, target.buffer);
  startCopy(state, access, type, target);
  commitCopies(state);
  waitForCopies(state, 0);
  state.tiles[load.getResult()].shared = target;
}
