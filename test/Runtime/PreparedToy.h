//===- PreparedToy.h - A library with parameters and a prepare plan -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With S = 2 slots and parameters e [S, N], sign [S, 4] of -1 and 1, index [S] below 4, the prepare plan makes
//
//     factor[s] = sign[s, index[s]] (e[s, 0] + ... + e[s, N - 1])      f32 [S], through a sum in its workspace
//     count[0]  = N                                                    i32 [1]
//
// and run computes o[b, s, c] = 1 + factor[s] sum over j < count of e[s, j] k[b, j, c] for k [batch, N, 3].
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RUNTIME_PREPAREDTOY_H
#define ATTUNE_TEST_RUNTIME_PREPAREDTOY_H

#include "ToyData.h"

#include <atomic>

namespace prepared {

extern const attune_rt_descriptor descriptor;

/// The same as code for a GPU: its plans launch these kernels by their place.
enum { SumKernel, FactorKernel, RunKernel, KernelCount };
extern const attune_rt_variant deviceVariant;
int slotsOf(const char *kernel);
/// What a kernel does, in grid order; its arguments are the slots with host addresses.
void computeOnHost(const char *kernel, const unsigned grid[3], const uint64_t *slots);

/// Positions in the tensor table.
enum { K, O, E, Sign, Index, Factor, Count, TensorCount };

/// Whether a plan has seen a parameter or a prepared tensor that does not start at a multiple of 64 bytes.
extern std::atomic<bool> misaligned;

struct Parameters {
  size_t size;
  const DLTensor *e, *sign, *index;
};

struct Tensors {
  size_t size;
  const DLTensor *k, *o;
};

/// Parameters and tensors of one run.
struct Case {
  int64_t batch, keys;
  toy::Tensor e, sign, index, k, o;
  Parameters parameters;
  Tensors tensors;

  Case(int64_t batch, int64_t keys, uint32_t seed = 1);
  /// Number of elements of o that are not what the parameters and k of this case give.
  int64_t wrongOutputs();
  float expected(int64_t b, int64_t s, int64_t c);
};

struct Destroy {
  void operator()(attune_rt_handle *handle) const { attune_rt_destroy(handle); }
};
using Handle = std::unique_ptr<attune_rt_handle, Destroy>;

/// A handle that is not prepared yet.
Handle create(const attune_options &options, const attune_rt_descriptor &of = descriptor);

attune_status prepare(const Handle &handle, const Case &c);
attune_status run(const Handle &handle, const Case &c);

} // namespace prepared

#endif // ATTUNE_TEST_RUNTIME_PREPAREDTOY_H
