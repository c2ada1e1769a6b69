//===- Copy.h - Row-major copies of tensors ---------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_COPY_H
#define ATTUNE_RT_COMMON_COPY_H

#include "Handle.h"

#include <cstdlib>

namespace attune::rt {

/// Memory that is freed at the end of the scope, unless it is taken.
struct Memory {
  char *data = nullptr;
  Memory() = default;
  ~Memory() { free(data); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// At least one byte, so that null means there is none.
  bool allocate(size_t bytes, size_t alignment) {
    data = static_cast<char *>(aligned_alloc(alignment, roundUp(bytes ? bytes : 1, alignment)));
    return data != nullptr;
  }
  char *take() {
    char *taken = data;
    data = nullptr;
    return taken;
  }
};

/// Bytes of a row-major tensor of the view's sizes; false if they are past any memory.
bool bytesOf(const SlotView &view, uint32_t dtype, size_t &bytes);

/// Copies a tensor of any strides to row-major order.
void copyRows(char *to, const SlotView &from, size_t elementBytes);

/// Makes a slot view a row-major tensor of its sizes at `data`.
void adopt(const SlotView &view, char *data);

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_COPY_H
