/*===- Blas.h - What the stand-in for cuBLASLt records and obeys -----------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef ATTUNE_TEST_RUNTIME_BLAS_H
#define ATTUNE_TEST_RUNTIME_BLAS_H

#include <stddef.h>
#include <stdint.h>

typedef struct BlasStandIn {
  /* Obeyed. */
  size_t version;
  const char *failing; /* the function that fails from now on; null: none */
  int error;           /* that it fails with */
  int found;           /* algorithms; the first of them are of no use: */
  int useless;         /* so many */
  size_t workspace;    /* that they ask for */
  unsigned splits;     /* of the sum */
  int off;             /* is added to every result */
  /* Recorded. */
  int handles, objects; /* created and not destroyed */
  int asked;            /* heuristics */
  unsigned alignmentX;  /* that the last was told of */
  int products;         /* calls of cublasLtMatmul */
  int batch;            /* of the last */
  int algorithm;        /* of the last: its place among those found, from 0 */
  void *stream;         /* of the last */
} BlasStandIn;

#endif
