/*===- causal.c - A C program that calls a compiled attention --------------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * Causal linear attention of examples/elu1_causal.yaml, and the same from its definition:
 *
 *     attnc compile examples/elu1_causal.yaml
 *     cc -I. examples/programs/causal.c libelu1_causal.so -lm -Wl,-rpath,'$ORIGIN' -o causal && ./causal
 */
#include "elu1_causal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADS = 4, TOKENS = 300, WIDTH = 64 };
typedef float Tensor[HEADS][TOKENS][WIDTH];

static Tensor q, k, v, o;

/* The same numbers in [-1, 1] on every machine. */
static void fill(Tensor t, uint32_t seed) {
  float *x = &t[0][0][0];
  for (int i = 0; i < HEADS * TOKENS * WIDTH; ++i) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
  }
}

static int attend(void) {
  int64_t shape[] = {1, HEADS, TOKENS, WIDTH};
  DLTensor tensors[4];
  void *data[] = {q, k, v, o};
  elu1_causal_tensors run = ELU1_CAUSAL_TENSORS_INIT;
  elu1_causal_handle *handle = NULL;
  void *workspace = NULL;
  size_t bytes = 0;
  for (int i = 0; i < 4; ++i) {
    DLTensor tensor = {data[i], {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, shape, NULL, 0};
    tensors[i] = tensor;
  }
  run.q = &tensors[0], run.k = &tensors[1], run.v = &tensors[2], run.o = &tensors[3];

  attune_status status = elu1_causal_create(NULL, &handle);
  if (!status)
    status = elu1_causal_prepare(handle, NULL);
  if (!status)
    status = elu1_causal_workspace(handle, &run, &bytes);
  /* The size is a multiple of the alignment, and not 0. */
  size_t rounded = (bytes / ATTUNE_WORKSPACE_ALIGNMENT + 1) * ATTUNE_WORKSPACE_ALIGNMENT;
  if (!status && !(workspace = aligned_alloc(ATTUNE_WORKSPACE_ALIGNMENT, rounded)))
    status = ATTUNE_ERROR_MEMORY;
  if (!status)
    status = elu1_causal_run(handle, &run, workspace, rounded, NULL);
  if (status)
    fprintf(stderr, "%s\n", elu1_causal_message());
  free(workspace);
  elu1_causal_destroy(handle);
  return status;
}

static double feature(float x) { return x > 0 ? x + 1.0 : exp(x); }

/* o_i = sum over j <= i of w_ij v_j / (1e-6 + sum of w_ij), with w_ij = feature(q_i) . feature(k_j). */
static double largest_difference(void) {
  double largest = 0;
  for (int h = 0; h < HEADS; ++h)
    for (int i = 0; i < TOKENS; ++i) {
      double sums[WIDTH] = {0}, total = 1e-6;
      for (int j = 0; j <= i; ++j) {
        double w = 0;
        for (int c = 0; c < WIDTH; ++c)
          w += feature(q[h][i][c]) * feature(k[h][j][c]);
        total += w;
        for (int c = 0; c < WIDTH; ++c)
          sums[c] += w * v[h][j][c];
      }
      for (int c = 0; c < WIDTH; ++c)
        largest = fmax(largest, fabs(sums[c] / total - o[h][i][c]));
    }
  return largest;
}

int main(void) {
  fill(q, 1), fill(k, 2), fill(v, 3);
  if (attend())
    return 1;
  double difference = largest_difference();
  printf("%d heads, %d tokens: largest difference from the definition %.1e\n", HEADS, TOKENS, difference);
  return difference < 1e-5 ? 0 : 1;
}
