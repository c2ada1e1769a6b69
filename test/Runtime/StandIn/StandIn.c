/*===- StandIn.c - A CUDA driver that only writes down what it is asked ----===*\
|*                                                                            *|
|* Part of Attune, under the Apache License v2.0 with LLVM Exceptions.        *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "StandIn.h"

#include <stdio.h>
#include <string.h>

StandIn standIn = {1, 8, 0, 166912, 0, 0, 0, {0}, 0, 0, 0, 0, 0, 0, {{0}}};

static char context, module;

static int note(const char *name) {
  if (standIn.calls < standInMaxCalls)
    standIn.called[standIn.calls++] = name;
  return standIn.failing && strcmp(standIn.failing, name) == 0 ? 719 : 0;
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
  *name = error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER";
  return 0;
}
int cuGetErrorString(int error, const char **text) {
  *text = error == 719 ? "unspecified launch failure" : "other";
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
int cuDevicePrimaryCtxRelease_v2(int device) {
  CALL;
  (void)device;
  --standIn.retained;
  return 0;
}
int cuCtxPushCurrent_v2(void *pushed) {
  CALL;
  ++standIn.depth;
  return pushed == &context ? 0 : 201;
}
int cuCtxPopCurrent_v2(void **popped) {
  CALL;
  --standIn.depth;
  *popped = &context;
  return 0;
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
  ++standIn.modules;
  standIn.image = image;
  *result = &module;
  return 0;
}
int cuModuleUnload(void *unloaded) {
  CALL;
  --standIn.modules;
  return unloaded == &module && standIn.depth == 1 ? 0 : 201;
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
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra) {
  StandInLaunch *launch = &standIn.launch[standIn.launches % standInMaxLaunches];
  int i;
  CALL;
  if (standIn.depth != 1 || extra)
    return 201;
  ++standIn.launches;
  launch->kernel = (const char *)function;
  launch->grid[0] = gx, launch->grid[1] = gy, launch->grid[2] = gz;
  launch->block[0] = bx, launch->block[1] = by, launch->block[2] = bz;
  launch->shared = shared;
  launch->stream = stream;
  for (i = 0; i < standIn.parametersToRead; ++i)
    memcpy(&launch->parameters[i], parameters[i], 8);
  return 0;
}
