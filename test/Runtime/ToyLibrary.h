//===- ToyLibrary.h - A library as the compiler makes them, by hand -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention with the identity as feature map and no denominator:
//
//     state[b, g] = initial_state[b, g] + sum over j < key_lengths[b] of k[b, g, j]^T v[b, g, j]
//     o[b, h, i]  = q[b, h, i] state[b, h / (H/G)]
//     lse[b, h, i] = sum over j < key_lengths[b] of <q[b, h, i], k[b, g, j]>   (a number to check, not a logarithm)
//
// with H = 4, G = 2, d = 3, dv = 5. The "direct" plan (from 0) recomputes the sums for each query; "state" (from 40)
// goes through a state in the workspace; "long" (from 1000) is that again. final_state is written by the last two only.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RUNTIME_TOYLIBRARY_H
#define ATTUNE_TEST_RUNTIME_TOYLIBRARY_H

#include "attune-rt/Descriptor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { toyHeads = 4, toyKvHeads = 2, toyHeadDim = 3, toyValueDim = 5, toyScratchBytes = 5000 };

typedef struct toy_tensors {
  size_t size;
  const DLTensor *q;             /* [batch, 4, n, 3] f32 */
  const DLTensor *k;             /* [batch, 2, N, 3] f32 */
  const DLTensor *v;             /* [batch, 2, N, 5] f32 */
  const DLTensor *key_lengths;   /* [batch] i32 */
  const DLTensor *o;             /* [batch, 4, n, 5] f32 */
  const DLTensor *initial_state; /* optional [batch, 2, 3, 5] f32 */
  const DLTensor *lse;           /* optional [batch, 4, n] f32 */
  const DLTensor *final_state;   /* optional [batch, 2, 3, 5] f32 */
} toy_tensors;

typedef struct toy_handle toy_handle;

attune_status toy_create(const attune_options *options, toy_handle **handle);
attune_status toy_prepare(toy_handle *handle, const void *parameters);
attune_status toy_workspace(toy_handle *handle, const toy_tensors *tensors, size_t *bytes);
attune_status toy_plan(toy_handle *handle, const toy_tensors *tensors, int32_t *index);
attune_status toy_run(toy_handle *handle, const toy_tensors *tensors, void *workspace, size_t bytes, void *stream);
attune_status toy_info(toy_handle *handle, attune_info *info);
attune_status toy_tensor(toy_handle *handle, uint32_t index, attune_tensor_info *info);
void toy_destroy(toy_handle *handle);
const char *toy_message(void);

/// What the wrappers pass on; tests make variations of it.
extern const attune_rt_descriptor toy_descriptor;

/// Set if two threads were seen in one thread's scratch, or if scratch was not aligned to 64 bytes.
extern int toy_scratch_fault;

#ifdef __cplusplus
}
#endif

#endif // ATTUNE_TEST_RUNTIME_TOYLIBRARY_H
