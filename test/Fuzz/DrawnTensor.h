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

/// One argument of run or prepare: right at first, then with a few fields changed.
class DrawnTensor {
public:
  DrawnTensor(const attune_tensor_info &info, GuardedBuffer &buffer) : info(info), buffer(&buffer) {}

  void draw(Choices &choices, const Sizes &sizes);
  const DLTensor *get() const { return isNull ? nullptr : &tensor; }

  /// Whether attune.h says that it is accepted where these sizes are known so far; takes its sizes up.
  bool isRight(Sizes &sizes) const;
  /// Whether every element that it describes lies in the buffer; of one that is no tensor at all, false.
  bool isInside() const;
  bool isOutput() const { return info.role == ATTUNE_OUTPUT || info.role == ATTUNE_OPTIONAL_OUTPUT; }
  /// Whether two of its elements are one.
  bool overlapsItself() const;
  /// Whether every byte of the buffer that is not one of an element is still this one.
  bool leftAlone(uint8_t byte) const;

  void print() const;

private:
  void spoil(Choices &choices);
  bool hasSizes(Sizes &sizes) const;
  bool isEmpty() const;
  bool hasStrides() const;
  /// Distances of the first and the last byte from the address; false if they are beyond what 64 bits hold.
  bool extent(__int128 &low, __int128 &high) const;
  int64_t stride(int dim) const;
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset; }
  std::vector<int64_t> offsets() const;
  void place(bool atEnd);

  attune_tensor_info info;
  GuardedBuffer *buffer;
  DLTensor tensor{};
  // As long as they are told to be, on the heap: a step outside shows.
  std::unique_ptr<int64_t[]> shape, strides;
  int room = 0;
  bool isNull = false;
};

} // namespace attune::fuzz

#endif // ATTUNE_TEST_FUZZ_DRAWNTENSOR_H
