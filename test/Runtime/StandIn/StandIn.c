/*===- StandIn.c - A CUDA driver that only writes down what it is asked ----===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "StandIn.h"

#include "Errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

StandIn standIn = {.devices = 1, .major = 8, .sharedLimit = 166912};

static char context, module;

void standInCapture(int capturing) { standIn.capturing = capturing; }

void standInTakePtx(int major, int minor, void (*loaded)(const void *text)) {
  standIn.major = major, standIn.minor = minor;
  standIn.sharedLimit = 232448; /* of sm_90, the most that there is */
  standIn.refused = "\177ELF";
  standIn.loaded = loaded;
}

/* What neither waits nor allocates. */
static int mayBeCaptured(const char *name) {
  static const char *const calls[] = {"cuCtxGetCurrent",      "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuLaunchKernel",
                                      "cuMemcpyDtoDAsync_v2", "cuMemcpy2DAsync_v2"};
  size_t i;
  for (i = 0; i < sizeof(calls) / sizeof(calls[0]); ++i)
    if (strcmp(calls[i], name) == 0)
      return 1;
  return 0;
}

static int note(const char *name) {
  int fails = standIn.failing && strcmp(standIn.failing, name) == 0;
  if (standIn.calls < standInMaxCalls)
    standIn.called[standIn.calls++] = name;
  if (standIn.capturing && !mayBeCaptured(name))
    return 900;
  if (++standIn.made != standIn.failingAt && !fails)
    return 0;
  return standIn.error ? standIn.error : 719;
}

#define CALL                                                                                                           \
  do {                                                                                                                 \
    int failed = note(__func__);                                                                                       \
    if (failed)                                                                                                        \
      return failed;                                                                                                   \
  } while (0)

int cuInit(unsigned flags) {
  CALL;
  return flags == 0 ? 0 : 1;
}
int cuGetErrorName(int error, const char **name) {
#define NAME(name, number) {number, "CUDA_ERROR_" #name},
  static const struct {
    int number;
    const char *name;
  } errors[] = {STAND_IN_ERRORS(NAME)};
#undef NAME
  size_t i;
  for (i = 0; i < sizeof(errors) / sizeof(errors[0]); ++i)
    if (errors[i].number == error && !standIn.nameless)
      return *name = errors[i].name, 0;
  *name = NULL;
  return 1;
}
int cuGetErrorString(int error, const char **text) {
  if (standIn.nameless)
    return *text = NULL, 1;
  *text = error == 719   ? "unspecified launch failure"
          : error == 218 ? "a PTX JIT compilation failed"
          : error == 2   ? "out of memory"
                         : "other";
  return 0;
}
int cuDeviceGetCount(int *count) {
  CALL;
  *count = standIn.devices;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  CALL;
  *device = 100 + ordinal;
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  CALL;
  if (device < 100)
    return 101;
  *value = attribute == 75   ? standIn.major
           : attribute == 76 ? standIn.minor
           : attribute == 97 ? standIn.sharedLimit
                             : -1;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **result, int device) {
  CALL;
  (void)device;
  ++standIn.retained;
  *result = &context;
  return 0;
}
/* What gives back does so, too, when it reports an error: one of earlier work, as a driver does. */
int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  --standIn.retained;
  return note(__func__);
}
int cuCtxGetCurrent(void **current) {
  CALL;
  *current = standIn.depth ? &context : standIn.current;
  return 0;
}
int cuCtxGetDevice(int *device) {
  CALL;
  *device = standIn.currentDevice;
  return 0;
}
int cuCtxSynchronize(void) {
  CALL;
  return standIn.depth ? 0 : 201;
}
int cuCtxPushCurrent_v2(void *pushed) {
  CALL;
  ++standIn.depth;
  standIn.pushed = pushed;
  return pushed == &context || pushed == standIn.current ? 0 : 201;
}
int cuCtxPopCurrent_v2(void **popped) {
  --standIn.depth;
  *popped = &context;
  return note(__func__);
}
int cuModuleLoadDataEx(void **result, const void *image, unsigned count, int *options, void **values) {
  unsigned i;
  int failed = note(__func__);
  for (i = 0; failed && i < count; ++i)
    if (options[i] == 5)
      snprintf((char *)values[i], 20, "ptxas line 3: bad");
  if (failed)
    return failed;
  if (standIn.depth != 1)
    return 201;
  if (standIn.refused && strncmp((const char *)image, standIn.refused, strlen(standIn.refused)) == 0)
    return standIn.error ? standIn.error : 209;
  ++standIn.modules;
  standIn.image = image;
  strncpy(standIn.imageText, (const char *)image, sizeof(standIn.imageText) - 1);
  if (standIn.loaded)
    standIn.loaded(image);
  *result = &module;
  return 0;
}
int cuModuleUnload(void *unloaded) {
  int failed = note(__func__);
  if (unloaded != &module || standIn.depth != 1)
    return 201;
  --standIn.modules;
  return failed;
}
int cuModuleGetFunction(void **function, void *from, const char *name) {
  CALL;
  *function = (void *)(uintptr_t)name;
  return from == &module ? 0 : 500;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  CALL;
  (void)function;
  standIn.sharedAttribute = attribute == 8 ? value : -1;
  return 0;
}
static StandInBlock *blockOf(uint64_t address, size_t bytes) {
  int i;
  for (i = 0; i < standIn.blocks; ++i)
    if (address >= standIn.block[i].address && address + bytes <= standIn.block[i].address + standIn.block[i].bytes)
      return &standIn.block[i];
  return NULL;
}
static void *hostMemory(uint64_t address) { return (void *)(uintptr_t)(address - STAND_IN_DEVICE); }

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  void *memory;
  CALL;
  if (standIn.depth != 1 || bytes == 0 || standIn.blocks == standInMaxBlocks)
    return 1;
  memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  memset(memory, 0xff, bytes);
  *address = STAND_IN_DEVICE + (uint64_t)(uintptr_t)memory;
  standIn.block[standIn.blocks].address = *address;
  standIn.block[standIn.blocks].memory = memory;
  standIn.block[standIn.blocks++].bytes = bytes;
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  StandInBlock *block = blockOf(address, 1);
  int failed = note(__func__);
  if (standIn.depth == 0 || !block || block->address != address)
    return 1;
  free(hostMemory(address));
  *block = standIn.block[--standIn.blocks];
  return failed;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  CALL;
  if (standIn.depth != 1 || !blockOf(to, bytes))
    return 1;
  memcpy(hostMemory(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  CALL;
  if (standIn.depth != 1 || !blockOf(from, bytes))
    return 1;
  memcpy(to, hostMemory(from), bytes);
  return 0;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  CALL;
  (void)stream;
  if (standIn.depth != 1 || !blockOf(to, bytes) || !blockOf(from, bytes))
    return 1;
  memcpy(hostMemory(to), hostMemory(from), bytes);
  return 0;
}
int cuMemcpy2DAsync_v2(const StandInCopy *copy, void *stream) {
  size_t row;
  CALL;
  (void)stream;
  if (standIn.depth != 1 || copy->fromType != 2 || copy->toType != 2 || copy->fromPitch < copy->bytes ||
      copy->toPitch < copy->bytes || !blockOf(copy->from, (copy->rows - 1) * copy->fromPitch + copy->bytes) ||
      !blockOf(copy->to, (copy->rows - 1) * copy->toPitch + copy->bytes))
    return 1;
  for (row = 0; row < copy->rows; ++row)
    memcpy(hostMemory(copy->to + row * copy->toPitch), hostMemory(copy->from + row * copy->fromPitch), copy->bytes);
  return 0;
}

/* Time passes at each record. */
static int recorded;
static char event;

int cuEventCreate(void **created, unsigned flags) {
  CALL;
  *created = &event;
  return flags == 0 && standIn.depth == 1 ? 0 : 1;
}
int cuEventRecord(void *at, void *stream) {
  CALL;
  (void)at, (void)stream;
  ++recorded;
  return standIn.depth == 1 ? 0 : 201;
}
int cuEventSynchronize(void *at) {
  CALL;
  (void)at;
  return standIn.depth == 1 ? 0 : 201;
}
int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  CALL;
  (void)from, (void)to;
  *milliseconds = 0.5f;
  return standIn.depth == 1 && recorded >= 2 ? 0 : 600;
}
int cuEventDestroy_v2(void *destroyed) {
  (void)destroyed;
  return note(__func__);
}

/* For programs that know no struct: ATTUNE_STAND_IN_COPY=2:3 makes each launch copy what was allocated third to what was
   allocated fourth, of those that are there. */
static void copyAsTold(void) {
  const char *told = getenv("ATTUNE_STAND_IN_COPY");
  int from = -1, to = -1;
  if (!told || sscanf(told, "%d:%d", &from, &to) != 2 || from < 0 || to < 0 || from >= standIn.blocks || to >= standIn.blocks)
    return;
  memcpy(standIn.block[to].memory, standIn.block[from].memory,
         standIn.block[from].bytes < standIn.block[to].bytes ? standIn.block[from].bytes : standIn.block[to].bytes);
}

static void compute(const StandInLaunch *launch) {
  uint64_t parameters[standInMaxParameters];
  int i;
  for (i = 0; i < launch->count; ++i)
    parameters[i] = launch->parameters[i] - (blockOf(launch->parameters[i], 1) ? STAND_IN_DEVICE : 0);
  standIn.compute(launch->kernel, launch->grid, parameters);
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra) {
  StandInLaunch *launch = &standIn.launch[standIn.launches % standInMaxLaunches];
  int i;
  CALL;
  if (standIn.depth == 0 || extra)
    return 201;
  ++standIn.launches;
  launch->kernel = (const char *)function;
  launch->grid[0] = gx, launch->grid[1] = gy, launch->grid[2] = gz;
  launch->block[0] = bx, launch->block[1] = by, launch->block[2] = bz;
  launch->shared = shared;
  launch->stream = stream;
  launch->count = standIn.parametersOf ? standIn.parametersOf(launch->kernel) : standIn.parametersToRead;
  for (i = 0; i < launch->count; ++i)
    memcpy(&launch->parameters[i], parameters[i], 8);
  if (standIn.compute)
    compute(launch);
  copyAsTold();
  return 0;
}
