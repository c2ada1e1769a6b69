//===- TensorMap.h - Descriptors of tensors for bulk copies -----*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver's descriptors are opaque and 128 bytes long; these have the size and hold what cuTensorMapEncodeTiled
// takes. Dimension 0 is the innermost. Elements outside the tensor are read as zeros and not stored.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_TENSORMAP_H
#define ATTUNE_EMULATOR_TENSORMAP_H

#include "Machine.h"

namespace attune::emulator {

struct alignas(64) TensorMap {
  static constexpr uint64_t expectedMark = 0x70616d2d6e737474;
  uint64_t mark = expectedMark;
  char *base = nullptr;
  uint32_t sizes[5] = {};
  uint32_t boxes[5] = {};
  uint64_t strides[4] = {}; ///< in bytes, of dimensions 1 and on
  uint8_t rank = 0, elementBytes = 0;
  uint8_t swizzleBytes = 0; ///< 0, 32, 64 or 128: the width of a row whose pieces are exchanged

  /// Null if there is none.
  static const TensorMap *at(const void *address) {
    auto *map = static_cast<const TensorMap *>(address);
    return map && uintptr_t(map) % 64 == 0 && map->mark == expectedMark ? map : nullptr;
  }

  uint32_t boxBytes() const;
  /// The box at these coordinates: pieces of shared memory with their place in the tensor, null outside it.
  std::vector<CopyPiece> piecesOf(char *shared, const std::vector<int32_t> &coordinates) const;
};
static_assert(sizeof(TensorMap) == 128);

/// The address of a byte in shared memory whose 16-byte pieces are exchanged within rows of `width` bytes; 0: not.
inline uint64_t swizzled(uint64_t address, uint32_t width) {
  return width ? address ^ ((address >> 7 & (width / 16 - 1)) << 4) : address;
}

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_TENSORMAP_H
