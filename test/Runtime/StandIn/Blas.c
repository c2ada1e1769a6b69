/*===- Blas.c - A cuBLASLt that multiplies on the host ---------------------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
/* In the memory of the stand-in driver; sums in double. What cuBLASLt would not take is an error here too: accesses that
   are less aligned than the algorithm was asked for. */

#include "Blas.h"

#include "StandIn.h"

#include <stdlib.h>
#include <string.h>

BlasStandIn blasStandIn = {.version = 120804, .found = 1};

enum { f32 = 0, f16 = 2, bf16 = 14, notSupported = 15, invalidValue = 7, useful = 77 };

typedef struct Layout {
  int type, batch;
  uint64_t rows, columns;
  int64_t leading, stride;
} Layout;

typedef struct Preference {
  uint64_t workspace;
  uint32_t schemes, alignment[4];
} Preference;

typedef struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Heuristic;

#define CALL                                                                                                           \
  do {                                                                                                                 \
    if (blasStandIn.failing && strcmp(blasStandIn.failing, __func__) == 0)                                             \
      return blasStandIn.error;                                                                                        \
  } while (0)

size_t cublasLtGetVersion(void) { return blasStandIn.version; }
const char *cublasLtGetStatusName(int status) {
  return status == 13 ? "CUBLAS_STATUS_EXECUTION_FAILED" : status == 1 ? "CUBLAS_STATUS_NOT_INITIALIZED" : "CUBLAS_STATUS_OTHER";
}
int cublasLtCreate(void **handle) {
  CALL;
  ++blasStandIn.handles;
  *handle = &blasStandIn;
  return 0;
}
int cublasLtDestroy(void *handle) {
  --blasStandIn.handles;
  return handle == &blasStandIn ? 0 : invalidValue;
}

static void *made(size_t bytes) {
  ++blasStandIn.objects;
  return calloc(1, bytes);
}
static int destroyed(void *object) {
  --blasStandIn.objects;
  free(object);
  return 0;
}

int cublasLtMatmulDescCreate(void **product, int compute, int scale) {
  CALL;
  if (compute != 68 || scale != f32)
    return notSupported;
  *product = made(1);
  return 0;
}
int cublasLtMatmulDescDestroy(void *product) { return destroyed(product); }

int cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  CALL;
  *layout = made(sizeof(Layout));
  (*layout)->type = type, (*layout)->batch = 1;
  (*layout)->rows = rows, (*layout)->columns = columns, (*layout)->leading = leading;
  return 0;
}
int cublasLtMatrixLayoutDestroy(Layout *layout) { return destroyed(layout); }
int cublasLtMatrixLayoutSetAttribute(Layout *layout, int field, const void *value, size_t bytes) {
  void *fields[] = {NULL, NULL, &layout->rows, &layout->columns, &layout->leading, &layout->batch, &layout->stride};
  CALL;
  if (field < 2 || field > 6 || bytes != (field == 5 ? sizeof(int) : 8))
    return invalidValue;
  memcpy(fields[field], value, bytes);
  return 0;
}

int cublasLtMatmulPreferenceCreate(Preference **preference) {
  CALL;
  *preference = made(sizeof(Preference));
  (*preference)->schemes = 7;
  return 0;
}
int cublasLtMatmulPreferenceDestroy(Preference *preference) { return destroyed(preference); }
int cublasLtMatmulPreferenceSetAttribute(Preference *preference, int field, const void *value, size_t bytes) {
  CALL;
  if (field == 1 && bytes == 8)
    memcpy(&preference->workspace, value, 8);
  else if (field == 3 && bytes == 4)
    memcpy(&preference->schemes, value, 4);
  else if (field >= 5 && field <= 8 && bytes == 4)
    memcpy(&preference->alignment[field - 5], value, 4);
  else
    return invalidValue;
  return 0;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *product, Layout *a, Layout *b, Layout *c, Layout *d,
                                   Preference *preference, int asked, Heuristic *results, int *found) {
  int i;
  CALL;
  ++blasStandIn.asked;
  *found = blasStandIn.found;
  if (handle != &blasStandIn || !product || a->columns != b->rows || c != d || preference->workspace || preference->schemes)
    return invalidValue;
  blasStandIn.alignmentX = preference->alignment[1];
  for (i = 0; i < *found && i < asked; ++i) {
    memset(&results[i], 0, sizeof(results[i]));
    results[i].algorithm[0] = useful, results[i].algorithm[1] = (uint64_t)i;
    results[i].algorithm[2] = (uint64_t)preference->alignment[0] | (uint64_t)preference->alignment[1] << 16 |
                              (uint64_t)preference->alignment[3] << 32;
    results[i].workspace = i < blasStandIn.useless ? blasStandIn.workspace : 0;
    results[i].algorithm[3] = i < blasStandIn.useless && blasStandIn.splits ? blasStandIn.splits : 1;
  }
  return *found ? 0 : notSupported;
}
int cublasLtMatmulAlgoConfigGetAttribute(const uint64_t *algorithm, int field, void *value, size_t bytes, size_t *written) {
  unsigned splits = (unsigned)algorithm[3];
  CALL;
  if (field != 2 || bytes != 4 || !written)
    return invalidValue;
  memcpy(value, &splits, 4);
  *written = 4;
  return 0;
}

/* Bytes of an element. */
static int64_t size(const Layout *layout) { return layout->type == f32 ? 4 : 2; }

static double element(const char *matrix, const Layout *layout, int64_t row, int64_t column) {
  const char *place = matrix + (row + column * layout->leading) * size(layout);
  uint32_t bits = 0;
  float value;
  if (layout->type == f16) {
    _Float16 half;
    memcpy(&half, place, 2);
    return (double)half;
  }
  if (layout->type == bf16)
    memcpy((char *)&bits + 2, place, 2);
  else
    memcpy(&bits, place, 4);
  memcpy(&value, &bits, 4);
  return value;
}

static int isAligned(const char *matrix, const Layout *layout, uint64_t alignment) {
  uint64_t all = (uint64_t)(uintptr_t)matrix | (uint64_t)(layout->leading * size(layout)) |
                 (uint64_t)(layout->batch > 1 ? layout->stride * size(layout) : 0);
  return (all & (alignment - 1)) == 0;
}

static void multiply(const char *a, const Layout *la, const char *b, const Layout *lb, char *d, const Layout *ld) {
  int64_t i, j, k;
  for (j = 0; j < (int64_t)ld->columns; ++j)
    for (i = 0; i < (int64_t)ld->rows; ++i) {
      double sum = blasStandIn.off;
      float result;
      for (k = 0; k < (int64_t)la->columns; ++k)
        sum += element(a, la, i, k) * element(b, lb, k, j);
      result = (float)sum;
      memcpy(d + (i + j * ld->leading) * 4, &result, 4);
    }
}

int cublasLtMatmul(void *handle, void *product, const float *alpha, const char *a, Layout *la, const char *b, Layout *lb,
                   const float *beta, const void *c, Layout *lc, char *d, Layout *ld, const uint64_t *algorithm,
                   void *workspace, size_t bytes, void *stream) {
  int64_t i;
  CALL;
  if (handle != &blasStandIn || !product || *alpha != 1 || *beta != 0 || c != (void *)d || lc != ld || workspace || bytes ||
      algorithm[0] != useful || la->columns != lb->rows || ld->rows != la->rows || ld->columns != lb->columns ||
      la->leading < (int64_t)la->rows || lb->leading < (int64_t)lb->rows || ld->leading < (int64_t)ld->rows ||
      la->batch != ld->batch || lb->batch != ld->batch || ld->type != f32)
    return invalidValue;
  if (!isAligned(a, la, algorithm[2] & 0xffff) || !isAligned(b, lb, algorithm[2] >> 16 & 0xffff) ||
      !isAligned(d, ld, algorithm[2] >> 32))
    return 14;
  ++blasStandIn.products;
  blasStandIn.batch = ld->batch, blasStandIn.algorithm = (int)algorithm[1], blasStandIn.stream = stream;
  for (i = 0; i < ld->batch; ++i)
    multiply(a - STAND_IN_DEVICE + i * la->stride * size(la), la, b - STAND_IN_DEVICE + i * lb->stride * size(lb), lb,
             d - STAND_IN_DEVICE + i * ld->stride * 4, ld);
  return 0;
}
