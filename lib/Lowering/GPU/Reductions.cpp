//===- Reductions.cpp - Reduce, expand and mask on fragments -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row lies in the registers of a quad: reduce them, then twice exchange between neighbours. A column lies in the lanes of
// equal quad position: reduce the registers, exchange three times. Where several warps share a row or a column, their
// results are added in their order through shared memory.
//
//===----------------------------------------------------------------------===//
#include "IssuedCounts.h"
#include "Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::device;

/// Of lane numbers: the lanes that share a row, and those that share a column.
static constexpr int64_t masksOfRow[] = {1, 2}, masksOfColumn[] = {4, 8, 16};

int64_t device::exchangesOf(tile::ReduceOp reduce) {
  auto type = cast<RankedTensorType>(reduce.getSource().getType());
  tile::FragmentLayout layout(cast<tile::FragmentAttr>(type.getEncoding()), type.getShape());
  return reduce.getAxis() == 1 ? 2 * layout.rowBlocks() * static_cast<int64_t>(std::size(masksOfRow))
                               : 2 * layout.columnBlocks() * static_cast<int64_t>(std::size(masksOfColumn));
}

namespace {
struct Reduction {
  KernelState &state;
  tile::ReduceKind kind;
  tile::FragmentLayout layout;
  ArrayRef<Value> source;

  DeviceBuilder &code() { return state.code; }
  Value neutral() { return code().f32(kind == tile::ReduceKind::Add ? 0.0 : -INFINITY); }
  Value combine(Value a, Value b);
  Value element(int64_t rowBlock, int64_t block, int64_t half, int64_t second);
  SmallVector<Value> rows();
  SmallVector<Value> columns();
  SmallVector<Value> acrossRows(ArrayRef<Value> sums);
  SmallVector<Value> acrossColumns(ArrayRef<Value> sums);
};
} // namespace

Value Reduction::combine(Value a, Value b) {
  if (!a)
    return b;
  if (kind == tile::ReduceKind::Add)
    return arith::AddFOp::create(code().builder, code().loc, a, b);
  return arith::MaxNumFOp::create(code().builder, code().loc, a, b);
}

/// An element of the source, neutral where it is padding.
Value Reduction::element(int64_t rowBlock, int64_t block, int64_t half, int64_t second) {
  Value value = source[fragmentElement(layout, rowBlock, block, half, second)];
  int64_t lastColumn = (layout.warps.columns - 1) * layout.warpColumns() + (block + 1) * tile::blockSize;
  if (lastColumn > layout.columns) {
    Value column = code().add(fragmentColumn(state, layout, block), second);
    value = code().select(code().less(column, code().i32(layout.columns)), value, neutral());
  }
  if ((rowBlock + 1) * layout.rowStride() > layout.rows)
    value = code().select(code().less(fragmentRow(state, layout, rowBlock, half), code().i32(layout.rows)), value, neutral());
  return value;
}

SmallVector<Value> Reduction::rows() {
  SmallVector<Value> result;
  for (int64_t rowBlock = 0; rowBlock < layout.rowBlocks(); ++rowBlock)
    for (int64_t half = 0; half < 2; ++half) {
      Value value;
      for (int64_t block = 0; block < layout.columnBlocks(); ++block)
        for (int64_t second = 0; second < 2; ++second)
          value = combine(value, element(rowBlock, block, half, second));
      for (int64_t mask : masksOfRow)
        value = combine(value, code().exchange(value, mask));
      result.push_back(value);
    }
  return layout.warps.columns == 1 ? result : acrossColumns(result);
}

SmallVector<Value> Reduction::columns() {
  SmallVector<Value> result;
  for (int64_t block = 0; block < layout.columnBlocks(); ++block)
    for (int64_t second = 0; second < 2; ++second) {
      Value value;
      for (int64_t rowBlock = 0; rowBlock < layout.rowBlocks(); ++rowBlock)
        for (int64_t half = 0; half < 2; ++half)
          value = combine(value, element(rowBlock, block, half, second));
      for (int64_t mask : masksOfColumn)
        value = combine(value, code().exchange(value, mask));
      result.push_back(value);
    }
  return layout.warps.rows == 1 ? result : acrossRows(result);
}

/// Adds what the warps of a column of the grid have, in their order: [row of the grid][column] in shared memory.
SmallVector<Value> Reduction::acrossRows(ArrayRef<Value> sums) {
  int64_t rowBytes = layout.warps.columns * layout.warpColumns() * 4;
  SharedBuffer buffer = state.sharedUse.allocate(rowBytes * layout.warps.rows);
  Value base = code().offset(state.sharedBase, buffer.begin);
  Value first = code().mul(fragmentColumn(state, layout, 0), 4);
  state.sharedUse.beforeWrite(code(), buffer.id);
  code().ifThen(code().equal(state.group, 0), [&] {
    Value row = code().offset(base, code().add(code().mul(state.gridRow, rowBytes), first));
    for (size_t i = 0; i < sums.size(); i += 2)
      code().store(code().pair(sums[i], sums[i + 1]), code().offset(row, i * 16), 8);
  });
  state.sharedUse.beforeRead(code(), buffer.id);
  SmallVector<Value> result(sums.size());
  Type pairType = VectorType::get({2}, code().builder.getF32Type());
  for (int64_t warp = 0; warp < layout.warps.rows; ++warp)
    for (size_t i = 0; i < sums.size(); i += 2) {
      Value pair = code().load(pairType, code().offset(code().offset(base, first), warp * rowBytes + i * 16), 8);
      for (int64_t second = 0; second < 2; ++second)
        result[i + second] = combine(result[i + second], code().element(pair, second));
    }
  state.sharedUse.release(buffer.id);
  return result;
}

/// Adds what the warps of a row of the grid have, in their order: [column of the grid][row] in shared memory.
SmallVector<Value> Reduction::acrossColumns(ArrayRef<Value> sums) {
  int64_t columnBytes = layout.rowBlocks() * layout.rowStride() * 4;
  SharedBuffer buffer = state.sharedUse.allocate(columnBytes * layout.warps.columns);
  Value base = code().offset(state.sharedBase, buffer.begin);
  auto place = [&](int64_t i) { return code().mul(fragmentRow(state, layout, i / 2, i % 2), 4); };
  state.sharedUse.beforeWrite(code(), buffer.id);
  code().ifThen(code().equal(state.quad, 0), [&] {
    Value column = code().offset(base, code().mul(state.gridColumn, columnBytes));
    for (size_t i = 0; i < sums.size(); ++i)
      code().store(sums[i], code().offset(column, place(i)), 4);
  });
  state.sharedUse.beforeRead(code(), buffer.id);
  SmallVector<Value> result(sums.size());
  for (int64_t warp = 0; warp < layout.warps.columns; ++warp)
    for (size_t i = 0; i < sums.size(); ++i) {
      Value from = code().offset(code().offset(base, place(i)), warp * columnBytes);
      result[i] = combine(result[i], code().load(code().builder.getF32Type(), from, 4));
    }
  state.sharedUse.release(buffer.id);
  return result;
}

void device::lowerReduce(KernelState &state, tile::ReduceOp reduce) {
  SmallVector<Value> source = state.tileOf(reduce.getSource()).registers;
  Reduction reduction{state, reduce.getKind(), state.fragment(reduce.getSource()), source};
  state.tiles[reduce.getResult()].registers = reduce.getAxis() == 1 ? reduction.rows() : reduction.columns();
}

void device::lowerExpand(KernelState &state, tile::ExpandOp expand) {
  tile::FragmentLayout layout = state.fragment(expand.getResult());
  SmallVector<Value> source = elementsOf(state, expand.getSource()), result;
  for (int64_t rowBlock = 0; rowBlock < layout.rowBlocks(); ++rowBlock)
    for (int64_t block = 0; block < layout.columnBlocks(); ++block)
      for (int64_t half = 0; half < 2; ++half)
        for (int64_t second = 0; second < 2; ++second)
          result.push_back(source[expand.getAxis() == 1 ? rowBlock * 2 + half : block * 2 + second]);
  Type element = cast<RankedTensorType>(expand.getType()).getElementType();
  state.tiles[expand.getResult()].registers = registersOf(state, element, result);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

static void maskVector(KernelState &state, tile::MaskOp mask, Value fill, Value rows) {
  DeviceBuilder &code = state.code;
  tile::SliceLayout layout = sliceLayout(mask.getResult());
  SmallVector<Value> result;
  for (auto [i, value] : llvm::enumerate(state.tileOf(mask.getSource()).registers))
    result.push_back(code.select(code.less(slicePlace(state, layout, i), rows), value, fill));
  state.tiles[mask.getResult()].registers = std::move(result);
}

/// The number of columns that row `row` keeps, counted from the lane's first of a block: i32.
static Value visibleColumns(KernelState &state, tile::MaskOp mask, ArrayRef<Value> limits, Value row, Value first) {
  DeviceBuilder &code = state.code;
  Value none = code.i32(-(int64_t(1) << 30)), visible = code.i32(int64_t(1) << 30);
  if (mask.getCols())
    visible = limits[1];
  if (mask.getDiagonal())
    visible = code.smaller(visible, code.add(code.add(limits[2], row), 1));
  if (mask.getRows())
    visible = code.select(code.less(row, limits[0]), visible, none);
  return code.sub(visible, first);
}

void device::lowerMask(KernelState &state, tile::MaskOp mask) {
  DeviceBuilder &code = state.code;
  Value fill = arith::ConstantOp::create(code.builder, code.loc, mask.getFillAttr());
  SmallVector<Value> limits;
  for (Value limit : {mask.getRows(), mask.getCols(), mask.getDiagonal()})
    limits.push_back(limit ? code.clampToI32(state.scalar(limit)) : Value());
  if (cast<RankedTensorType>(mask.getType()).getRank() == 1)
    return maskVector(state, mask, fill, limits[0]);
  tile::FragmentLayout layout = state.fragment(mask.getResult());
  SmallVector<Value> result = state.tileOf(mask.getSource()).registers;
  for (int64_t rowBlock = 0; rowBlock < layout.rowBlocks(); ++rowBlock)
    for (int64_t half = 0; half < 2; ++half) {
      Value row = fragmentRow(state, layout, rowBlock, half);
      Value visible = visibleColumns(state, mask, limits, row, fragmentColumn(state, layout, 0));
      for (int64_t block = 0; block < layout.columnBlocks(); ++block)
        for (int64_t second = 0; second < 2; ++second) {
          Value &value = result[fragmentElement(layout, rowBlock, block, half, second)];
          value = code.select(code.less(code.i32(block * tile::blockSize + second), visible), value, fill);
        }
    }
  state.tiles[mask.getResult()].registers = std::move(result);
}
