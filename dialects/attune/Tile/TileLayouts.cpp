//===- TileLayouts.cpp - The algebra of layouts on a GPU ----------------------- ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/TileLayouts.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace attune::tile;

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyGrid(function_ref<InFlightDiagnostic()> emitError, WarpGrid warps) {
  if (warps.rows < 1 || warps.columns < 1)
    return emitError() << "expected at least one warp, but got a grid of " << warps.rows << " x " << warps.columns;
  return success();
}

LogicalResult FragmentAttr::verify(function_ref<InFlightDiagnostic()> emitError, FragmentRole role, int64_t inner,
                                   WarpGrid warps) {
  if (inner != 8 && inner != 16)
    return emitError() << "expected inner 8 or 16, but got " << inner;
  return verifyGrid(emitError, warps);
}

LogicalResult SliceAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t axis, WarpGrid warps) {
  if (axis != 0 && axis != 1)
    return emitError() << "expected axis 0 or 1, but got " << axis;
  return verifyGrid(emitError, warps);
}

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns,
                                 int64_t panel) {
  if (rows < 1 || columns < 1 || columns % blockSize != 0)
    return emitError() << "expected rows and a multiple of " << blockSize << " columns, but got " << rows << " x "
                       << columns;
  if (panel == 0)
    return success();
  if (panel != 16 && panel != 32 && panel != 64)
    return emitError() << "expected panels of 16, 32 or 64 columns, but got " << panel;
  if (columns % panel != 0 || rows % blockSize != 0)
    return emitError() << "expected whole panels of " << panel << " columns and rows in eights, but got " << rows
                       << " x " << columns;
  return success();
}

LogicalResult ConvertLayoutOp::verify() {
  auto from = cast<RankedTensorType>(getSource().getType()), to = cast<RankedTensorType>(getResult().getType());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError() << "expected a result of the source's shape and element type, but got " << to;
  if (!from.getEncoding() || !to.getEncoding())
    return emitOpError() << "expected a layout on source and result";
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

int64_t FragmentLayout::rowBlocks() const {
  return llvm::divideCeil(rows, role == FragmentRole::B ? blockSize : rowStride());
}
int64_t FragmentLayout::columnBlocks() const {
  return llvm::divideCeil(llvm::divideCeil(columns, blockSize), columnWarps());
}

int64_t FragmentLayout::registers() const {
  return rowBlocks() * columnBlocks() * (role == FragmentRole::B ? 2 : 4);
}

/// The register of a block of A or C that holds the upper or lower half of the rows, first or second of a pair.
static int64_t registerInBlock(bool exchanged, int64_t half, int64_t pair) {
  return exchanged ? pair * 2 + half : half * 2 + pair;
}

RegisterPlace FragmentLayout::placeOf(int64_t row, int64_t column) const {
  int64_t warpColumn = column / warpColumns(), columnBlock = column % warpColumns() / blockSize;
  if (role == FragmentRole::B) { // B[k, n]: the transpose of a block of C
    int64_t block = columnBlock * rowBlocks() + row / blockSize;
    return {warpColumn * warps.rows, (column % 8) * 4 + (row % 8) / 2, block * 2 + row % 2};
  }
  bool exchanged = role == FragmentRole::A && inner == 8;
  int64_t warpRow = row / fragmentRows % warps.rows, block = row / rowStride() * columnBlocks() + columnBlock;
  return {warpRow + warpColumn * warps.rows, (row % 8) * 4 + (column % 8) / 2,
          block * 4 + registerInBlock(exchanged, (row / 8) % 2, column % 2)};
}

std::optional<std::pair<int64_t, int64_t>> FragmentLayout::elementAt(RegisterPlace place) const {
  int64_t group = place.lane / 4, pair = place.lane % 4 * 2, row, column;
  int64_t warpRow = place.warp % warps.rows, warpColumn = columnWarps() == 1 ? 0 : place.warp / warps.rows;
  if (role == FragmentRole::B) {
    int64_t block = place.index / 2;
    row = block % rowBlocks() * blockSize + pair + place.index % 2;
    column = block / rowBlocks() * blockSize + group;
  } else {
    bool exchanged = role == FragmentRole::A && inner == 8;
    int64_t block = place.index / 4, low = place.index % 2, high = place.index / 2 % 2;
    int64_t half = exchanged ? low : high, second = exchanged ? high : low;
    row = block / columnBlocks() * rowStride() + warpRow * fragmentRows + half * 8 + group;
    column = block % columnBlocks() * blockSize + pair + second;
  }
  column += warpColumn * warpColumns();
  if (row >= rows || column >= columns)
    return std::nullopt;
  return std::make_pair(row, column);
}

bool attune::tile::isFreeConversion(FragmentLayout from, FragmentLayout to) {
  if (from.rows != to.rows || from.columns != to.columns || from.warps != to.warps || from.copies() != to.copies())
    return false;
  for (int64_t row = 0; row < from.rows; ++row)
    for (int64_t column = 0; column < from.columns; ++column) {
      RegisterPlace a = from.placeOf(row, column), b = to.placeOf(row, column);
      if (a.lane != b.lane || a.warp != b.warp)
        return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

int64_t SliceLayout::blocks() const {
  return axis == 1 ? llvm::divideCeil(size, fragmentRows * warps.rows)
                   : llvm::divideCeil(llvm::divideCeil(size, blockSize), warps.columns);
}

std::optional<int64_t> SliceLayout::elementAt(RegisterPlace place) const {
  int64_t block = place.index / 2, low = place.index % 2, element;
  if (axis == 1)
    element = (block * warps.rows + place.warp % warps.rows) * fragmentRows + low * 8 + place.lane / 4;
  else
    element = (place.warp / warps.rows * blocks() + block) * blockSize + place.lane % 4 * 2 + low;
  return element < size ? std::optional<int64_t>(element) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

int64_t SharedLayout::swizzlePeriod() const {
  return std::min<int64_t>(8, int64_t(1) << llvm::countr_zero(static_cast<uint64_t>(chunksPerPanel())));
}

int64_t SharedLayout::swizzle(int64_t row) const {
  if (elementBytes == 4)
    return 2 * ((row % 4) ^ (row / 4 % 2));
  int64_t period = swizzlePeriod();
  return row / (8 / period) % period;
}

int64_t SharedLayout::offsetOf(int64_t row, int64_t column) const {
  int64_t chunk = column % panel / elementsPerChunk() ^ swizzle(row);
  return column / panel * panelBytes() + row * rowBytes() + chunk * 16 + column % elementsPerChunk() * elementBytes;
}

SharedAttr attune::tile::sharedFor(RankedTensorType tile) {
  int64_t columns = llvm::alignTo(tile.getDimSize(1), tile.getElementType().isF32() ? 32 : fragmentRows);
  return SharedAttr::get(tile.getContext(), llvm::alignTo(tile.getDimSize(0), fragmentRows), columns);
}

RankedTensorType attune::tile::withLayout(RankedTensorType tile, Attribute layout) {
  return RankedTensorType::get(tile.getShape(), tile.getElementType(), layout);
}
