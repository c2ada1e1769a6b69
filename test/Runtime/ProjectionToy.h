//===- ProjectionToy.h - A device library that projects tokens ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y[b, h, i, c] = Σ_k x[b, i, k] w[k, h width + c] of small whole numbers, in f32, f16 or bf16, by a kernel that the runtime
// may leave to cuBLASLt. Tensors lie in the memory of the stand-in driver.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RUNTIME_PROJECTIONTOY_H
#define ATTUNE_TEST_RUNTIME_PROJECTIONTOY_H

#include "StandIn/StandIn.h"
#include "attune-rt/Descriptor.h"

#include <memory>
#include <string>
#include <vector>

namespace projection {

constexpr int64_t heads = 3, width = 8, depth = 24, columns = heads * width;

/// The library with tensors of a type.
const attune_rt_descriptor &libraryOf(uint32_t dtype);

/// What the library's own kernel does.
void computeOnHost(const char *kernel, const unsigned grid[3], const uint64_t *slots);
constexpr int kernelSlots = 21;

struct Destroy {
  void operator()(attune_rt_handle *handle) const { attune_rt_destroy(handle); }
};
using Handle = std::unique_ptr<attune_rt_handle, Destroy>;

/// How the tokens lie: elements before the first, between rows (0: one row for all), between entries (-1: one after
/// another).
struct Place {
  int64_t before = 0, row = depth, entry = -1;
};

/// The tensors of a run, on the device; w is on the host.
class Case {
public:
  Case(void *driver, uint32_t dtype, int64_t batch, int64_t tokens, Place place = {});
  ~Case();
  Case(const Case &) = delete;
  Case &operator=(const Case &) = delete;

  attune_status prepare(const Handle &handle) const;
  size_t workspace(const Handle &handle) const;
  /// With as much workspace as asked for, less `missing`.
  attune_status run(const Handle &handle, void *stream = nullptr, size_t missing = 0);
  /// Elements of y that are not what is expected.
  int64_t wrong() const;

private:
  float number(int64_t b, int64_t i, int64_t k) const;
  char *allocate(size_t bytes);
  char *host(const char *device) const { return const_cast<char *>(device) - STAND_IN_DEVICE; }

  StandIn &standIn;
  int (*allocateOnDevice)(uint64_t *, size_t);
  int (*freeOnDevice)(uint64_t);
  int64_t batch, tokens;
  Place place;
  std::vector<char *> owned;
  std::vector<char> w;
  int64_t xShape[3], xStrides[3], yShape[4], wShape[2] = {depth, columns};
  DLTensor xTensor{}, yTensor{}, wTensor{};
};

} // namespace projection

#endif // ATTUNE_TEST_RUNTIME_PROJECTIONTOY_H
