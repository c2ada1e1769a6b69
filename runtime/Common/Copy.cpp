//===- Copy.cpp - Row-major copies of tensors -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copy.h"

#include <cstring>

using namespace attune::rt;

/// Writes the rows from dimension `dim` on, whose first element is `source`; returns the end of what was written.
static char *copyFrom(char *to, const SlotView &from, size_t bytes, uint32_t dim, const char *source) {
  bool adjacent = dim + 1 == from.rank && from.stride(dim) == 1;
  if (dim == from.rank || adjacent) {
    size_t length = adjacent ? bytes * static_cast<size_t>(from.size(dim)) : bytes;
    memcpy(to, source, length);
    return to + length;
  }
  for (int64_t i = 0; i < from.size(dim); ++i)
    to = copyFrom(to, from, bytes, dim + 1, source + i * from.stride(dim) * static_cast<int64_t>(bytes));
  return to;
}

bool attune::rt::bytesOf(const SlotView &view, uint32_t dtype, size_t &bytes) {
  bytes = 0;
  if (view.empty()) // the product of the other sizes may be anything
    return true;
  uint64_t product = static_cast<uint64_t>(elementBytes(dtype));
  for (uint32_t dim = 0; dim < view.rank; ++dim)
    if (__builtin_mul_overflow(product, static_cast<uint64_t>(view.size(dim)), &product))
      return false;
  bytes = product;
  return product <= PTRDIFF_MAX;
}

void attune::rt::copyRows(char *to, const SlotView &from, size_t elementBytes) {
  copyFrom(to, from, elementBytes, 0, from.data());
}

void attune::rt::adopt(const SlotView &view, char *data) {
  view.slots[0] = reinterpret_cast<uint64_t>(data);
  uint64_t stride = 1;
  for (uint32_t dim = view.rank; dim-- > 0; stride *= static_cast<uint64_t>(view.size(dim)))
    view.slots[1 + view.rank + dim] = stride;
}
