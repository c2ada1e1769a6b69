/*===- CApiTest.c - The ABI from C99 ---------------------------------------===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/* The header twice: its guard must hold. */
#include "attune-rt/attune.h"

#include "ToyLibrary.h"

#include <stdio.h>
#include <string.h>

#define QUERIES 3
#define KEYS 2

static int failures = 0;

static void check(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "failed: %s (%s)\n", what, toy_message());
    ++failures;
  }
}

static DLTensor tensor(void *data, int64_t *shape, int32_t rank, uint8_t code) {
  DLTensor result;
  memset(&result, 0, sizeof(result));
  result.data = data;
  result.device.device_type = kDLCPU;
  result.ndim = rank;
  result.dtype.code = code;
  result.dtype.bits = 32;
  result.dtype.lanes = 1;
  result.shape = shape;
  return result;
}

int main(void) {
  float q[4 * QUERIES * 3], k[2 * KEYS * 3], v[2 * KEYS * 5], o[4 * QUERIES * 5];
  int32_t lengths[1] = {KEYS};
  int64_t qShape[] = {1, 4, QUERIES, 3}, kShape[] = {1, 2, KEYS, 3}, vShape[] = {1, 2, KEYS, 5};
  int64_t oShape[] = {1, 4, QUERIES, 5}, lengthsShape[] = {1};
  DLTensor qTensor = tensor(q, qShape, 4, kDLFloat), kTensor = tensor(k, kShape, 4, kDLFloat);
  DLTensor vTensor = tensor(v, vShape, 4, kDLFloat), oTensor = tensor(o, oShape, 4, kDLFloat);
  DLTensor lengthsTensor = tensor(lengths, lengthsShape, 1, kDLInt);
  attune_options options = ATTUNE_OPTIONS_INIT;
  toy_handle *handle = NULL;
  toy_tensors tensors;
  size_t bytes = 1, i;

  for (i = 0; i < sizeof(q) / sizeof(*q); ++i)
    q[i] = 1.0f;
  for (i = 0; i < sizeof(k) / sizeof(*k); ++i)
    k[i] = 2.0f;
  for (i = 0; i < sizeof(v) / sizeof(*v); ++i)
    v[i] = 3.0f;
  memset(&tensors, 0, sizeof(tensors));
  tensors.size = sizeof(tensors);
  tensors.q = &qTensor;
  tensors.k = &kTensor;
  tensors.v = &vTensor;
  tensors.key_lengths = &lengthsTensor;
  tensors.o = &oTensor;

  options.threads = 2;
  check(toy_create(&options, &handle) == ATTUNE_OK, "create");
  check(toy_prepare(handle, NULL) == ATTUNE_OK, "prepare");
  check(toy_workspace(handle, &tensors, &bytes) == ATTUNE_OK && bytes == 0, "workspace");
  check(toy_run(handle, &tensors, NULL, 0, NULL) == ATTUNE_OK, "run");
  for (i = 0; i < sizeof(o) / sizeof(*o); ++i)
    check(o[i] == 3.0f * KEYS * 2.0f * 3.0f, "value");
  vShape[2] = KEYS + 1;
  check(toy_run(handle, &tensors, NULL, 0, NULL) == ATTUNE_ERROR_ARGUMENT, "mistake");
  check(strstr(toy_message(), "argument 'v': expected size 2 (keys of argument 'k')") != NULL, "message");
  toy_destroy(handle);
  return failures != 0;
}
