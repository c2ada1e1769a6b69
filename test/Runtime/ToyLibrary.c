/*===- ToyLibrary.c - A library as the compiler makes them, by hand --------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "ToyLibrary.h"

int toy_scratch_fault = 0;

/* First slots of the tensors in a plan's arguments. */
enum { Q = 0, K = 9, V = 18, LENGTHS = 27, O = 30, INITIAL = 39, LSE = 48, FINAL = 55, WORKSPACE = 64, SLOTS = 65 };

static float *data(const int64_t *slots, int tensor) { return (float *)(intptr_t)slots[tensor]; }

static float *row(const int64_t *slots, int tensor, int64_t b, int64_t h, int64_t i) {
  const int64_t *strides = slots + tensor + 1 + 4;
  return data(slots, tensor) + b * strides[0] + h * strides[1] + i * strides[2];
}

static int32_t length(const int64_t *slots, int64_t b) {
  return ((const int32_t *)(intptr_t)slots[LENGTHS])[b * slots[LENGTHS + 2]];
}

/* Two threads in one scratch would see each other's mark. */
static void checkScratch(volatile int64_t *scratch, int64_t mark) {
  int i;
  if ((intptr_t)scratch % 64 != 0)
    toy_scratch_fault = 1;
  scratch[0] = mark;
  scratch[toyScratchBytes / 8 - 1] = mark;
  for (i = 0; i < 100; ++i)
    if (scratch[0] != mark || scratch[toyScratchBytes / 8 - 1] != mark)
      toy_scratch_fault = 1;
}

static float stateEntry(const int64_t *slots, int64_t b, int64_t g, int64_t f, int64_t c) {
  float sum = data(slots, INITIAL) ? row(slots, INITIAL, b, g, f)[c] : 0.0f;
  int32_t j;
  for (j = 0; j < length(slots, b); ++j)
    sum += row(slots, K, b, g, j)[f] * row(slots, V, b, g, j)[c];
  return sum;
}

static float dot(const float *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void writeLse(const int64_t *slots, int64_t i, int64_t h, int64_t b) {
  const int64_t *strides = slots + LSE + 1 + 3;
  float sum = 0.0f;
  int32_t j;
  if (!data(slots, LSE))
    return;
  for (j = 0; j < length(slots, b); ++j)
    sum += dot(row(slots, Q, b, h, i), row(slots, K, b, h / 2, j));
  data(slots, LSE)[b * strides[0] + h * strides[1] + i * strides[2]] = sum;
}

static void directKernel(const void *args, int64_t i, int64_t h, int64_t b, void *scratch) {
  const int64_t *slots = (const int64_t *)args;
  int c, f;
  checkScratch((volatile int64_t *)scratch, 1 + i + 1000 * (h + 10 * b));
  for (c = 0; c < toyValueDim; ++c) {
    float sum = 0.0f;
    for (f = 0; f < toyHeadDim; ++f)
      sum += row(slots, Q, b, h, i)[f] * stateEntry(slots, b, h / 2, f, c);
    row(slots, O, b, h, i)[c] = sum;
  }
  writeLse(slots, i, h, b);
}

static float *workspaceState(const int64_t *slots, int64_t b, int64_t g) {
  return (float *)(intptr_t)slots[WORKSPACE] + (b * toyKvHeads + g) * toyHeadDim * toyValueDim;
}

static void stateKernel(const void *args, int64_t g, int64_t b, int64_t z, void *scratch) {
  const int64_t *slots = (const int64_t *)args;
  int c, f;
  checkScratch((volatile int64_t *)scratch, -1 - g - 10 * b - z);
  for (f = 0; f < toyHeadDim; ++f)
    for (c = 0; c < toyValueDim; ++c) {
      float entry = stateEntry(slots, b, g, f, c);
      workspaceState(slots, b, g)[f * toyValueDim + c] = entry;
      if (data(slots, FINAL))
        row(slots, FINAL, b, g, f)[c] = entry;
    }
}

static void readoutKernel(const void *args, int64_t i, int64_t h, int64_t b, void *scratch) {
  const int64_t *slots = (const int64_t *)args;
  const float *state = workspaceState(slots, b, h / 2);
  int c, f;
  checkScratch((volatile int64_t *)scratch, 1 + i + 1000 * (h + 10 * b));
  for (c = 0; c < toyValueDim; ++c) {
    float sum = 0.0f;
    for (f = 0; f < toyHeadDim; ++f)
      sum += row(slots, Q, b, h, i)[f] * state[f * toyValueDim + c];
    row(slots, O, b, h, i)[c] = sum;
  }
  writeLse(slots, i, h, b);
}

static void directPlan(void *launcher, const void *args) {
  const int64_t *slots = (const int64_t *)args;
  attune_rt_launch(launcher, directKernel, args, SLOTS, slots[Q + 3], toyHeads, slots[Q + 1]);
}

static void statePlan(void *launcher, const void *args) {
  const int64_t *slots = (const int64_t *)args;
  attune_rt_launch(launcher, stateKernel, args, SLOTS, toyKvHeads, slots[Q + 1], 1);
  attune_rt_launch(launcher, readoutKernel, args, SLOTS, slots[Q + 3], toyHeads, slots[Q + 1]);
}

static int64_t stateWorkspace(const void *args) {
  return ((const int64_t *)args)[Q + 1] * toyKvHeads * toyHeadDim * toyValueDim * 4;
}

static const attune_rt_plan plans[] = {{"direct", 0, directPlan, NULL, 1000},
                                       {"state", 40, statePlan, stateWorkspace, toyScratchBytes},
                                       {"long", 1000, statePlan, stateWorkspace, 64}};

static const attune_rt_variant variants[] = {{ATTUNE_RT_AVX2, 0, 0, 3, plans, NULL, 0, NULL, 0, NULL, 0, NULL, 0, 0, NULL, 0, 0, NULL, 0},
                                             {ATTUNE_RT_AVX512, 0, 0, 3, plans, NULL, 0, NULL, 0, NULL, 0, NULL, 0, 0, NULL, 0, 0, NULL, 0}};

#define B (-1 - ATTUNE_RT_BATCH)
#define NQ (-1 - ATTUNE_RT_QUERIES)
#define NK (-1 - ATTUNE_RT_KEYS)
static const attune_rt_tensor tensors[] = {
    {"q", ATTUNE_RT_INPUT, ATTUNE_RT_F32, 4, 0, 0, 0, {B, 4, NQ, 3, 0, 0}, 0},
    {"k", ATTUNE_RT_INPUT, ATTUNE_RT_F32, 4, 0, 0, 0, {B, 2, NK, 3, 0, 0}, 0},
    {"v", ATTUNE_RT_INPUT, ATTUNE_RT_F32, 4, 0, 0, 0, {B, 2, NK, 5, 0, 0}, 0},
    {"key_lengths", ATTUNE_RT_INPUT, ATTUNE_RT_I32, 1, ATTUNE_RT_KEY_LENGTHS, 0, 0, {B, 0, 0, 0, 0, 0}, 0},
    {"o", ATTUNE_RT_OUTPUT, ATTUNE_RT_F32, 4, 0, ATTUNE_RT_EMPTY_ZERO, 0, {B, 4, NQ, 5, 0, 0}, 0},
    {"initial_state", ATTUNE_RT_OPTIONAL_INPUT, ATTUNE_RT_F32, 4, 0, 0, 0, {B, 2, 3, 5, 0, 0}, 0},
    {"lse", ATTUNE_RT_OPTIONAL_OUTPUT, ATTUNE_RT_F32, 3, 0, ATTUNE_RT_EMPTY_MINUS_INFINITY, 0, {B, 4, NQ, 0, 0, 0}, 0},
    {"final_state", ATTUNE_RT_OPTIONAL_OUTPUT, ATTUNE_RT_F32, 4, 0, ATTUNE_RT_EMPTY_ZERO, 6, {B, 2, 3, 5, 0, 0}, 0}};

const attune_rt_descriptor toy_descriptor = {sizeof(attune_rt_descriptor),
                                             ATTUNE_RT_DESCRIPTOR_VERSION,
                                             "toy",
                                             "identity feature map, no denominator",
                                             "by hand",
                                             0,
                                             8,
                                             tensors,
                                             {-1, -1, -1},
                                             toyHeads,
                                             toyKvHeads,
                                             toyHeadDim,
                                             toyValueDim,
                                             2,
                                             variants,
                                             0,
                                             NULL};

attune_status toy_create(const attune_options *options, toy_handle **handle) {
  return attune_rt_create(&toy_descriptor, options, (attune_rt_handle **)handle);
}
attune_status toy_prepare(toy_handle *handle, const void *parameters) {
  return attune_rt_prepare((attune_rt_handle *)handle, (const attune_rt_tensors *)parameters);
}
attune_status toy_workspace(toy_handle *handle, const toy_tensors *given, size_t *bytes) {
  return attune_rt_workspace((attune_rt_handle *)handle, (const attune_rt_tensors *)given, bytes);
}
attune_status toy_plan(toy_handle *handle, const toy_tensors *given, int32_t *index) {
  return attune_rt_plan_index((attune_rt_handle *)handle, (const attune_rt_tensors *)given, index);
}
attune_status toy_run(toy_handle *handle, const toy_tensors *given, void *workspace, size_t bytes, void *stream) {
  return attune_rt_run((attune_rt_handle *)handle, (const attune_rt_tensors *)given, workspace, bytes, stream);
}
attune_status toy_info(toy_handle *handle, attune_info *info) {
  return attune_rt_info((attune_rt_handle *)handle, info);
}
attune_status toy_tensor(toy_handle *handle, uint32_t index, attune_tensor_info *info) {
  return attune_rt_tensor_info((attune_rt_handle *)handle, index, info);
}
void toy_destroy(toy_handle *handle) { attune_rt_destroy((attune_rt_handle *)handle); }
const char *toy_message(void) { return attune_rt_message(); }
