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

Value device::fragmentRow(KernelState &state, const tile::FragmentLayout &layout, int64_t rowBlock, int64_t half) {
  DeviceBuilder &code = state.code;
  Value inWarp = code.add(code.mul(state.warp, tile::fragmentRows), state.group);
  return code.add(inWarp, rowBlock * tile::fragmentRows * layout.warps + half * 8);
}

Value device::fragmentColumn(KernelState &state, const tile::FragmentLayout &, int64_t block) {
  return state.code.add(state.code.mul(state.quad, 2), block * tile::blockSize);
}

Value device::slicePlace(KernelState &state, const tile::SliceLayout &layout, int64_t index) {
  DeviceBuilder &code = state.code;
  if (layout.axis == 0)
    return code.add(code.mul(state.quad, 2), index / 2 * tile::blockSize + index % 2);
  Value inWarp = code.add(code.mul(state.warp, tile::fragmentRows), state.group);
  return code.add(inWarp, index / 2 * tile::fragmentRows * layout.warps + index % 2 * 8);
}

Value device::sliceWriter(KernelState &state, const tile::SliceLayout &layout) {
  DeviceBuilder &code = state.code;
  return layout.axis == 1 ? code.equal(state.quad, 0)
                          : code.both(code.equal(state.group, 0), code.equal(state.warp, 0));
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
