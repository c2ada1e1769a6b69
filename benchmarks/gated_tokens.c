/*===- gated_tokens.c - Linear attention token by token ---------------------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/*
 * The recurrence as one writes it, for benchmarks/gated.py, which compiles it with -O3 -march=native and the sizes M and V: a head after
 * another, a token after another, the state in the first-level cache, two passes over it a token, loops that vectorise.
 *
 *     S <- e^g S;  u = beta (v - Sᵀ k)  or v;  S <- S + k uᵀ;  o = scale Sᵀ q
 */
#include <math.h>
#include <string.h>

/* q, k [heads, n, M], v, o [heads, n, V]; g [heads, n] or, of channels, [heads, n, M]; beta [heads, n]; g and beta may be null. */
void tokens(long heads, long n, const float *q, const float *k, const float *v, const float *g, int channels, const float *beta, float scale,
            float *o) {
  static _Alignas(64) float state[M][V];
  for (long head = 0; head < heads; ++head) {
    memset(state, 0, sizeof(state));
    for (long t = head * n; t < (head + 1) * n; ++t) {
      const float *key = k + t * M, *query = q + t * M;
      float written[V], read[V];
      for (int j = 0; j < V; ++j)
        written[j] = read[j] = 0;
      float kept = g && !channels ? expf(g[t]) : 1.0f;
      for (int i = 0; i < M && (g || beta); ++i) {
        float left = channels ? expf(g[t * M + i]) : kept;
        for (int j = 0; j < V; ++j) {
          state[i][j] *= left;
          written[j] += key[i] * state[i][j];
        }
      }
      float gate = beta ? beta[t] : 1.0f;
      for (int j = 0; j < V; ++j)
        written[j] = gate * (v[t * V + j] - (beta ? written[j] : 0.0f));
      for (int i = 0; i < M; ++i)
        for (int j = 0; j < V; ++j) {
          state[i][j] += key[i] * written[j];
          read[j] += query[i] * state[i][j];
        }
      for (int j = 0; j < V; ++j)
        o[t * V + j] = scale * read[j];
    }
  }
}

/* The least that a step of a decoder does to its states, so many times: each number is read and written. The compiler is told that somebody else may
 * look at them between two times, or it makes one pass of two. */
void pass(long count, long numbers, float *states, float factor) {
  for (long time = 0; time < count; ++time) {
    for (long i = 0; i < numbers; ++i)
      states[i] *= factor;
    __asm__ volatile("" : : "r"(states) : "memory");
  }
}
