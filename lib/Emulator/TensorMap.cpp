//===- TensorMap.cpp - Descriptors of tensors for bulk copies --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TensorMap.h"

using namespace attune;
using namespace attune::emulator;

uint32_t TensorMap::boxBytes() const {
  uint32_t bytes = elementBytes;
  for (unsigned i = 0; i < rank; ++i)
    bytes *= boxes[i];
  return bytes;
}

/// One row of the box: the elements inside the tensor, and zeros before and after them.
static void appendRow(const TensorMap &map, const char *row, int64_t column, uint64_t place,
                      std::vector<CopyPiece> &pieces) {
  uint32_t width = map.boxes[0] * map.elementBytes, step = map.swizzleBytes ? 16 : width;
  auto end = int64_t(map.sizes[0]) * map.elementBytes, at = column * map.elementBytes;
  for (uint32_t done = 0; done < width;) {
    int64_t byte = at + done;
    bool inside = row && byte >= 0 && byte < end;
    int64_t left = std::min<int64_t>(width - done, step - done % step); // of this piece
    int64_t run = inside ? end - byte : byte < 0 ? -byte : left;
    auto bytes = uint32_t(std::min(left, run));
    pieces.push_back(
        {reinterpret_cast<char *>(swizzled(place + done, map.swizzleBytes)), inside ? row + byte : nullptr, bytes});
    done += bytes;
  }
}

std::vector<CopyPiece> TensorMap::piecesOf(char *shared, const std::vector<int32_t> &coordinates) const {
  std::vector<CopyPiece> pieces;
  uint32_t rows = boxBytes() / (boxes[0] * elementBytes);
  for (uint32_t row = 0; row < rows; ++row) {
    const char *from = base;
    uint32_t rest = row;
    for (unsigned i = 1; i < rank; ++i) {
      int64_t index = int64_t(coordinates[i]) + rest % boxes[i];
      rest /= boxes[i];
      from = from && index >= 0 && index < sizes[i] ? from + index * int64_t(strides[i - 1]) : nullptr;
    }
    uint64_t place = uint64_t(uintptr_t(shared)) + uint64_t(row) * boxes[0] * elementBytes;
    appendRow(*this, from, coordinates[0], place, pieces);
  }
  return pieces;
}
