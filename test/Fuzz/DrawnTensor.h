//===- DrawnTensor.h - A tensor that may be wrong, and what is wrong ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_FUZZ_DRAWNTENSOR_H
#define ATTUNE_TEST_FUZZ_DRAWNTENSOR_H

#include "GuardedBuffer.h"

#include "attune-rt/attune.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <memory>
#include <vector>

namespace attune::fuzz {

using Choices = FuzzedDataProvider;
using Sizes = std::array<int64_t, 3>; // batch, queries, keys; -1: not known yet
using Wide = __int128;

/// One argument of run or prepare: right at first, then with a few fields changed.
class DrawnTensor {
public:
  DrawnTensor(const attune_tensor_info &info, GuardedBuffer &buffer) : info(info), own(&buffer), buffer(&buffer) {}

  /// Beside one end of its own buffer, or of another one.
  void draw(Choices &choices, const Sizes &sizes, GuardedBuffer *other = nullptr);
  const DLTensor *get() const { return isNull ? nullptr : &tensor; }

  /// Whether attune.h says that it is accepted where these sizes are known so far; takes its sizes up.
  bool isRight(Sizes &sizes) const;
  /// Whether every element that it describes lies in the buffer; of one that is no tensor at all, false.
  bool isInside() const;
  bool isLengths() const { return info.dtype.code == kDLInt; }
  bool isOutput() const { return info.role == ATTUNE_OUTPUT || info.role == ATTUNE_OPTIONAL_OUTPUT; }
  /// Where its elements begin, of one that is right and inside.
  std::vector<uintptr_t> elements() const;

  void print() const;

private:
  void spoil(Choices &choices);
  bool hasSizes(Sizes &sizes) const;
  bool isEmpty() const;
  bool hasStrides() const;
  /// Distances of the first byte and of the end from the address; false if they are too far apart.
  bool extent(Wide &low, Wide &high) const;
  int64_t stride(int dim) const;
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset; }
  void place(GuardedBuffer &where, Choices &choices);

  attune_tensor_info info;
  GuardedBuffer *own, *buffer; // `buffer`: where it lies this time
  DLTensor tensor{};
  // As long as they are told to be, on the heap: a step outside shows.
  std::unique_ptr<int64_t[]> shape, strides;
  int room = 0;
  bool isNull = false;
};

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_DRAWNTENSOR_H
