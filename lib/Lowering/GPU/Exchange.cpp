//===- Exchange.cpp - Elements that go to other threads -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A permutation of columns stays within the four lanes of a quad, which have whole rows: every element is one shuffle away,
// or at home. A rank-1 tile that lies along rows and is wanted along columns, or the other way round, goes through shared
// memory.
//
//===----------------------------------------------------------------------===//
#include "IssuedCounts.h"
#include "Places.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

//===----------------------------------------------------------------------===//
// Columns in another order
//===----------------------------------------------------------------------===//

namespace {
/// Where the four lanes of a quad find one element of a row: lane and number among its elements of the row.
struct QuadSource {
  int64_t lane[4], element[4];
  bool isAtHome() const {
    return llvm::all_of(llvm::seq(4), [&](int quad) { return lane[quad] == quad && element[quad] == element[0]; });
  }
};
} // namespace

static QuadSource sourceOf(ArrayRef<int64_t> order, int64_t block, int64_t second) {
  QuadSource source;
  for (int64_t quad = 0; quad < 4; ++quad) {
    int64_t column = block * tile::blockSize + quad * 2 + second;
    // Padding may come from anywhere.
    int64_t from = column < static_cast<int64_t>(order.size()) ? order[column] : column;
    source.lane[quad] = from % tile::blockSize / 2;
    source.element[quad] = from / tile::blockSize * 2 + from % 2;
  }
  return source;
}

/// Elements of the row, of which a lane has one or another.
static SmallVector<int64_t, 4> sourcesOf(const QuadSource &source) {
  SmallVector<int64_t, 4> elements;
  for (int64_t element : source.element)
    if (!source.isAtHome() && !llvm::is_contained(elements, element))
      elements.push_back(element);
  return elements;
}

/// Registers of the rows of a lane, one after another: of a vector, one row.
static int64_t rowsOf(tile::PermuteColumnsOp permute) {
  auto type = cast<RankedTensorType>(permute.getType());
  if (type.getRank() == 1)
    return 1;
  return tile::FragmentLayout(cast<tile::FragmentAttr>(type.getEncoding()), type.getShape()).rowBlocks() * 2;
}

int64_t device::exchangesOf(tile::PermuteColumnsOp permute) {
  ArrayRef<int64_t> order = permute.getPermutation();
  int64_t exchanges = 0;
  for (int64_t i = 0; i < 2 * static_cast<int64_t>(llvm::divideCeil(order.size(), tile::blockSize)); ++i)
    exchanges += static_cast<int64_t>(sourcesOf(sourceOf(order, i / 2, i % 2)).size());
  return rowsOf(permute) * exchanges;
}

/// numbers[quad]: i32.
static Value ofQuad(KernelState &state, ArrayRef<int64_t> numbers) {
  DeviceBuilder &code = state.code;
  Value result = code.i32(numbers[3]);
  for (int64_t quad = 2; quad >= 0; --quad)
    result = code.select(code.equal(state.quad, quad), code.i32(numbers[quad]), result);
  return result;
}

/// An element of a row, of the row's elements in this lane.
static Value permuted(KernelState &state, ArrayRef<Value> row, const QuadSource &source) {
  if (source.isAtHome())
    return row[source.element[0]];
  DeviceBuilder &code = state.code;
  Value lane = code.add(code.sub(state.lane, state.quad), ofQuad(state, source.lane)), result;
  for (int64_t element : sourcesOf(source)) {
    Value got = code.fromLane(row[element], lane);
    Value here = code.equal(ofQuad(state, source.element), element);
    result = result ? code.select(here, got, result) : got;
  }
  return result;
}

void device::lowerPermuteColumns(KernelState &state, tile::PermuteColumnsOp permute) {
  SmallVector<Value> source = state.tileOf(permute.getSource()).registers, result(source.size());
  ArrayRef<int64_t> order = permute.getPermutation();
  bool isVector = cast<RankedTensorType>(permute.getType()).getRank() == 1;
  int64_t blocks = llvm::divideCeil(order.size(), tile::blockSize);
  int64_t rows = rowsOf(permute);
  auto place = [&](int64_t row, int64_t block, int64_t second) {
    return isVector ? block * 2 + second : ((row / 2 * blocks + block) * 2 + row % 2) * 2 + second;
  };
  for (int64_t row = 0; row < rows; ++row) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < blocks * 2; ++i)
      elements.push_back(source[place(row, i / 2, i % 2)]);
    for (int64_t i = 0; i < blocks * 2; ++i)
      result[place(row, i / 2, i % 2)] = permuted(state, elements, sourceOf(order, i / 2, i % 2));
  }
  state.tiles[permute.getResult()].registers = std::move(result);
}

//===----------------------------------------------------------------------===//
// Rank-1 tiles along the other axis
//===----------------------------------------------------------------------===//

/// Bytes of an element in shared memory; a truth takes a word.
static Value inMemory(DeviceBuilder &code, Value value) {
  return value.getType().isInteger(1) ? code.select(value, code.i32(1), code.i32(0)) : value;
}

void device::lowerSliceConversion(KernelState &state, tile::ConvertLayoutOp convert) {
  DeviceBuilder &code = state.code;
  tile::SliceLayout from = sliceLayout(convert.getSource()), to = sliceLayout(convert.getResult());
  Type element = cast<RankedTensorType>(convert.getType()).getElementType();
  Type stored = element.isInteger(1) ? Type(code.builder.getI32Type()) : element;
  int64_t bytes = stored.getIntOrFloatBitWidth() / 8;
  SharedBuffer buffer = state.sharedUse.allocate(from.size * bytes);
  Value base = code.offset(state.sharedBase, buffer.begin);
  SmallVector<Value> source = elementsOf(state, convert.getSource()), result;
  state.sharedUse.beforeWrite(code, buffer.id);
  Value writer = sliceWriter(state, from);
  for (auto [i, value] : llvm::enumerate(source)) {
    Value place = slicePlace(state, from, i);
    code.ifThen(code.both(writer, code.less(place, code.i32(from.size))), [&, value = value] {
      code.store(inMemory(code, value), code.offset(base, code.mul(place, bytes)), bytes);
    });
  }
  state.sharedUse.beforeRead(code, buffer.id);
  for (int64_t i = 0; i < to.registers(); ++i) {
    // Past the end there is nothing to read, and what is held there does not matter.
    Value place = code.smaller(slicePlace(state, to, i), code.i32(to.size - 1));
    Value value = code.load(stored, code.offset(base, code.mul(place, bytes)), bytes);
    result.push_back(element.isInteger(1) ? code.equal(value, 1) : value);
  }
  state.tiles[convert.getResult()].registers = registersOf(state, element, result);
  state.sharedUse.release(buffer.id);
}
