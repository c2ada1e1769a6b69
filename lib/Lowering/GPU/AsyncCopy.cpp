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

  DeviceBuilder &code() { return state.code; }
  const tile::SharedLayout &layout() const { return target.layout; }
  Value source(Value row, Value column, int64_t rowsBefore);
  void chunk(Value first, int64_t rowsBefore);
  void chunks();
  void element(Value id);
};
} // namespace

/// The address of an element: of the row that the thread copies first, and a step that is the same for all threads. In a
/// window rows do not follow one another, so each is found for itself.
Value Copy::source(Value row, Value column, int64_t rowsBefore) {
  int64_t bytes = layout().elementBytes;
  bool window = static_cast<bool>(access.firstToken);
  Value from = rowOffset(state, access, window ? code().add(row, rowsBefore) : row);
  Value first = code().offset(access.pointer, code().mul(code().add(from, code().widen(column)), bytes));
  return rowsBefore && !window ? code().offset(first, code().mul(access.rowStride, rowsBefore * bytes)) : first;
}

/// Copies the chunk that lies `rowsBefore` rows below chunk `first`, counted along the rows.
void Copy::chunk(Value first, int64_t rowsBefore) {
  OpBuilder &builder = code().builder;
  int64_t perRow = layout().chunksPerRow(), elements = layout().elementsPerChunk(), bytes = layout().elementBytes;
  Value firstRow = code().div(first, perRow), chunk = code().rem(first, perRow);
  Value row = code().add(firstRow, rowsBefore);
  bool sameSwizzle = rowsBefore % 8 == 0;
  int64_t known = sameSwizzle ? rowsBefore * layout().rowBytes() : 0;
  Value place = sameSwizzle ? firstRow : row;
  Value offset = chunkOffset(code(), layout(), place, chunk);
  Value column = code().mul(chunk, elements);
  Value inside = isInside(state, access, row), size = code().i32(16);
  if (!access.allColumns || layout().columns != tile.getDimSize(1)) {
    Value left = code().mul(code().sub(access.columnLimit, column), bytes);
    size = code().larger(code().smaller(left, code().i32(16)), code().i32(0));
  }
  size = code().select(inside, size, code().i32(0));
  // A copy of nothing still names an address: the memory itself, which exists if anything does.
  Value some = code().less(code().i32(0), size);
  Value from = code().select(some, source(firstRow, column, rowsBefore), access.memory->pointer);
  NVVM::CpAsyncOp::create(builder, code().loc, state.addressIn(target, offset, known), from, /*size=*/16,
                          NVVM::LoadCacheModifierKind::CG, size);
}

void Copy::chunks() {
  int64_t perRow = layout().chunksPerRow(), count = layout().rows * perRow, threads = state.threads();
  for (int64_t start = 0; start < count; start += threads) {
    // Where a pass of all threads covers whole rows, a thread stays in its column.
    bool wholeRows = threads % perRow == 0;
    Value id = code().add(state.thread, start), first = wholeRows ? state.thread : id;
    auto copy = [&] { chunk(first, wholeRows ? start / perRow : 0); };
    start + threads <= count ? copy() : code().ifThen(code().less(id, code().i32(count)), copy);
  }
}

/// Copies element `id`, counted along the rows, through a register.
void Copy::element(Value id) {
  OpBuilder &builder = code().builder;
  int64_t perChunk = layout().elementsPerChunk(), bytes = layout().elementBytes;
  Value row = code().div(id, layout().columns), column = code().rem(id, layout().columns);
  Value inside = code().both(isInside(state, access, row), code().less(column, access.columnLimit));
  auto read = scf::IfOp::create(builder, code().loc, target.element, inside, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(read.thenBlock());
    scf::YieldOp::create(builder, code().loc, code().load(target.element, source(row, column, 0), bytes));
    builder.setInsertionPointToStart(read.elseBlock());
    scf::YieldOp::create(builder, code().loc, code().zero(target.element));
  }
  Value offset = code().add(chunkOffset(code(), layout(), row, code().div(column, perChunk)),
                            code().mul(code().rem(column, perChunk), bytes));
  code().store(read.getResult(0), state.addressIn(target, offset, 0), bytes);
}

void device::startCopy(KernelState &state, const TileAccess &access, RankedTensorType tile, const SharedTile &target) {
  DeviceBuilder &code = state.code;
  Copy copy{state, access, tile, target};
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
  TileAccess access = accessOf(state, load, state.scalars);
  SharedTile target = state.newSharedTile(cast<tile::SharedAttr>(type.getEncoding()), type.getElementType());
  state.sharedUse.beforeWrite(state.code, target.buffer);
  startCopy(state, access, type, target);
  commitCopies(state);
  waitForCopies(state, 0);
  state.tiles[load.getResult()].shared = target;
}
