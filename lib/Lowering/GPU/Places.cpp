//===- Places.cpp - Which elements of a tile a thread has ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Places.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static Value rowOf(KernelState &state, tile::WarpGrid warps, int64_t rowBlock, int64_t half) {
  DeviceBuilder &code = state.code;
  Value inBlock = code.add(code.mul(state.gridRow, tile::fragmentRows), state.group);
  return code.add(inBlock, rowBlock * tile::fragmentRows * warps.rows + half * 8);
}

static Value columnOf(KernelState &state, tile::WarpGrid warps, int64_t blocksOfWarp, int64_t block) {
  DeviceBuilder &code = state.code;
  Value column = code.add(code.mul(state.quad, 2), block * tile::blockSize);
  if (warps.columns == 1)
    return column;
  return code.add(column, code.mul(state.gridColumn, blocksOfWarp * tile::blockSize));
}

Value device::fragmentRow(KernelState &state, const tile::FragmentLayout &layout, int64_t rowBlock, int64_t half) {
  return rowOf(state, layout.warps, rowBlock, half);
}

Value device::fragmentColumn(KernelState &state, const tile::FragmentLayout &layout, int64_t block) {
  return columnOf(state, layout.warps, layout.columnBlocks(), block);
}

Value device::slicePlace(KernelState &state, const tile::SliceLayout &layout, int64_t index) {
  if (layout.axis == 1)
    return rowOf(state, layout.warps, index / 2, index % 2);
  return state.code.add(columnOf(state, layout.warps, layout.blocks(), index / 2), index % 2);
}

Value device::sliceWriter(KernelState &state, const tile::SliceLayout &layout) {
  DeviceBuilder &code = state.code;
  return layout.axis == 1 ? code.both(code.equal(state.quad, 0), code.equal(state.gridColumn, 0))
                          : code.both(code.equal(state.group, 0), code.equal(state.gridRow, 0));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

tile::SliceLayout device::sliceLayout(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return {cast<tile::SliceAttr>(type.getEncoding()), type.getDimSize(0)};
}

int64_t device::elementCount(RankedTensorType type) {
  if (auto slice = dyn_cast<tile::SliceAttr>(type.getEncoding()))
    return tile::SliceLayout(slice, type.getDimSize(0)).registers();
  return tile::FragmentLayout(cast<tile::FragmentAttr>(type.getEncoding()), type.getShape()).registers();
}

static bool isPacked(Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16; }

SmallVector<Value> device::elementsOf(KernelState &state, Value tile) {
  SmallVector<Value> registers = state.tileOf(tile).registers;
  if (!isPacked(cast<RankedTensorType>(tile.getType()).getElementType()))
    return registers;
  SmallVector<Value> elements;
  for (Value pair : registers)
    for (int64_t second = 0; second < 2; ++second)
      elements.push_back(state.code.element(pair, second));
  return elements;
}

SmallVector<Value> device::registersOf(KernelState &state, Type element, ArrayRef<Value> elements) {
  if (!isPacked(element))
    return SmallVector<Value>(elements);
  SmallVector<Value> pairs;
  for (size_t i = 0; i + 1 < elements.size(); i += 2)
    pairs.push_back(state.code.pair(elements[i], elements[i + 1]));
  return pairs;
}
