/*===- decode.c - A decoder's loop in C ------------------------------------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * A prompt in one call, then a token a call, with the state of examples/gated_delta_state.yaml in place; the same outputs as of all
 * tokens in one call:
 *
 *     attnc compile examples/gated_delta_state.yaml
 *     cc -I. examples/programs/decode.c libgated_delta_state.so -lm -Wl,-rpath,'$ORIGIN' -o decode && ./decode
 */
#define _POSIX_C_SOURCE 200809L
#include "gated_delta_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HEADS = 8, PROMPT = 300, TOKENS = 1300, WIDTH = 64 };

/* [1, HEADS, TOKENS, WIDTH] and [1, HEADS, TOKENS]; the state [1, HEADS, WIDTH, WIDTH]. */
static float q[HEADS][TOKENS][WIDTH], k[HEADS][TOKENS][WIDTH], v[HEADS][TOKENS][WIDTH], o[HEADS][TOKENS][WIDTH];
static float whole[HEADS][TOKENS][WIDTH], g[HEADS][TOKENS], beta[HEADS][TOKENS];
static float state[HEADS][WIDTH][WIDTH];
static int32_t position[1];

static gated_delta_state_handle *handle;
static void *workspace;
static size_t workspace_bytes;

/* The same numbers in [low, high] on every machine. */
static void fill(float *x, int count, uint32_t seed, float low, float high) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = low + (high - low) * (float)(seed >> 8) / 16777216.0f;
  }
}

/* `count` tokens from `first` on, of all heads: a view of what lies in memory. */
static DLTensor tokens(float *data, int first, int64_t *shape, int64_t *strides, int rank) {
  DLTensor view = {data + first * strides[2], {kDLCPU, 0}, rank, {kDLFloat, 32, 1}, shape, strides, 0};
  return view;
}

/* From the state to the next one, in the same memory; with `fresh` from the state before the first token. */
static int attend(int first, int count, float (*out)[TOKENS][WIDTH], int fresh) {
  int64_t shape[] = {1, HEADS, count, WIDTH}, strides[] = {HEADS * TOKENS * WIDTH, TOKENS * WIDTH, WIDTH, 1};
  int64_t row_strides[] = {HEADS * TOKENS, TOKENS, 1}, state_shape[] = {1, HEADS, WIDTH, WIDTH}, one[] = {1};
  DLTensor query = tokens(&q[0][0][0], first, shape, strides, 4), key = tokens(&k[0][0][0], first, shape, strides, 4);
  DLTensor value = tokens(&v[0][0][0], first, shape, strides, 4), output = tokens(&out[0][0][0], first, shape, strides, 4);
  DLTensor decay = tokens(&g[0][0], first, shape, row_strides, 3), erase = tokens(&beta[0][0], first, shape, row_strides, 3);
  DLTensor sums = {state, {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, state_shape, NULL, 0};
  DLTensor seen = {position, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, one, NULL, 0};
  gated_delta_state_tensors run = GATED_DELTA_STATE_TENSORS_INIT;
  run.q = &query, run.k = &key, run.v = &value, run.g = &decay, run.beta = &erase, run.o = &output;
  run.final_state_s = &sums, run.final_state_position = &seen;
  if (!fresh)
    run.state_s = &sums, run.state_position = &seen;

  size_t bytes = 0;
  attune_status status = gated_delta_state_workspace(handle, &run, &bytes);
  if (!status && (bytes > workspace_bytes || !workspace)) {
    free(workspace);
    workspace_bytes = (bytes / ATTUNE_WORKSPACE_ALIGNMENT + 1) * ATTUNE_WORKSPACE_ALIGNMENT;
    if (!(workspace = aligned_alloc(ATTUNE_WORKSPACE_ALIGNMENT, workspace_bytes)))
      status = ATTUNE_ERROR_MEMORY;
  }
  if (!status)
    status = gated_delta_state_run(handle, &run, workspace, workspace_bytes, NULL);
  if (status)
    fprintf(stderr, "%s\n", gated_delta_state_message());
  return status;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void) {
  fill(&q[0][0][0], HEADS * TOKENS * WIDTH, 1, -1, 1), fill(&k[0][0][0], HEADS * TOKENS * WIDTH, 2, -1, 1);
  fill(&v[0][0][0], HEADS * TOKENS * WIDTH, 3, -1, 1);
  fill(&g[0][0], HEADS * TOKENS, 4, -0.1f, 0), fill(&beta[0][0], HEADS * TOKENS, 5, 0, 1);
  if (gated_delta_state_create(NULL, &handle) || gated_delta_state_prepare(handle, NULL)) {
    fprintf(stderr, "%s\n", gated_delta_state_message());
    return 1;
  }
  int failed = attend(0, TOKENS, whole, 1) || attend(0, PROMPT, o, 1);
  double start = seconds();
  for (int t = PROMPT; t < TOKENS && !failed; ++t)
    failed = attend(t, 1, o, 0);
  double took = seconds() - start, largest = 0;
  free(workspace);
  gated_delta_state_destroy(handle);
  if (failed)
    return 1;
  for (int i = 0; i < HEADS * TOKENS * WIDTH; ++i)
    largest = fmax(largest, fabs((double)(&o[0][0][0])[i] - (double)(&whole[0][0][0])[i]));
  printf("%.0f tokens a second of %d heads, after %d tokens, with a state of %zu bytes\n", (TOKENS - PROMPT) / took, HEADS,
         (int)position[0], sizeof(state));
  printf("largest difference from one call for all tokens %.1e\n", largest);
  return largest < 1e-4 && position[0] == TOKENS ? 0 : 1;
}
