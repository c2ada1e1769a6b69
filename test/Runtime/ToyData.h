//===- ToyData.h - Tensors for the toy library and its results ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RUNTIME_TOYDATA_H
#define ATTUNE_TEST_RUNTIME_TOYDATA_H

#include "ToyLibrary.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace toy {

/// A DLTensor that owns its data, sizes and strides.
struct Tensor {
  std::vector<char> bytes;
  std::vector<int64_t> shape, strides;
  DLTensor tensor{};

  Tensor() = default;
  Tensor(std::vector<int64_t> sizes, DLDataType dtype = {kDLFloat, 32, 1});
  Tensor(Tensor &&other) noexcept { *this = std::move(other); }
  Tensor &operator=(Tensor &&other) noexcept;

  template <typename T = float> T *data() { return reinterpret_cast<T *>(tensor.data); }
  int64_t elements() const;
  /// Element at an index, through the strides.
  float &at(std::vector<int64_t> index);
};

/// [batch, heads, rows, columns] that lies in memory as [batch, rows, heads, columns].
Tensor sequenceMajor(int64_t batch, int64_t heads, int64_t rows, int64_t columns);

/// Small whole numbers, so that every order of sums gives equal bits.
void fillWithIntegers(Tensor &tensor, uint32_t seed);

/// All tensors of a run; the optional ones are left out of `tensors` until a test adds them.
struct Case {
  int64_t batch, queries, keys;
  Tensor q, k, v, keyLengths, o, initialState, lse, finalState;
  toy_tensors tensors{};

  Case(int64_t batch, int64_t queries, int64_t keys, bool sequenceMajorInputs = false);
  void addOptional();
  /// The results, computed from the definitions in double precision.
  double expectedState(int64_t b, int64_t g, int64_t f, int64_t c);
  double expectedOutput(int64_t b, int64_t h, int64_t i, int64_t c);
  double expectedLse(int64_t b, int64_t h, int64_t i);
  /// Number of elements of o that differ from what is expected.
  int64_t wrongOutputs();
};

struct Destroy {
  void operator()(toy_handle *handle) const { toy_destroy(handle); }
};
using Handle = std::unique_ptr<toy_handle, Destroy>;

inline attune_options optionsWithThreads(int32_t threads) {
  attune_options options = ATTUNE_OPTIONS_INIT;
  options.threads = threads;
  return options;
}

/// A prepared handle, or null with the message in `message()`.
Handle makeHandle(const attune_options &options);

/// Asks for the workspace, allocates it, runs.
attune_status run(toy_handle *handle, const toy_tensors &tensors);

inline std::string message() { return toy_message(); }

} // namespace toy

#endif // ATTUNE_TEST_RUNTIME_TOYDATA_H
