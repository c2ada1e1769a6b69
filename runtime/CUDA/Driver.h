//===- Driver.h - The CUDA driver, opened at run time ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CUDA_DRIVER_H
#define ATTUNE_RT_CUDA_DRIVER_H

#include "Common/Status.h"

namespace attune::rt {

// The few types of the driver's C interface that its functions below take; all handles are opaque pointers.
using CuResult = int;
using CuDevice = int;
using CuContext = struct CuContextTag *;
using CuModule = struct CuModuleTag *;
using CuFunction = struct CuFunctionTag *;
using CuStream = struct CuStreamTag *;
using CuAddress = uint64_t; // in device memory

enum CuAttribute : int {
  cuMaxSharedBytesPerBlock = 97, // with opt-in
  cuCapabilityMajor = 75,
  cuCapabilityMinor = 76
};
enum CuMemory : int { cuMemoryDevice = 2 };
enum CuError : int {
  cuInvalidImage = 200,
  cuNoBinaryForGpu = 209,
  cuInvalidPtx = 218,
  cuUnsupportedPtxVersion = 222,
  cuInvalidSource = 300
};
constexpr int cuFunctionMaxDynamicSharedBytes = 8;
constexpr int cuJitErrorLogBuffer = 5;
constexpr int cuJitErrorLogBufferBytes = 6;

/// CUDA_MEMCPY2D of version 2.
struct CuCopy2D {
  size_t fromX, fromY;
  CuMemory fromType;
  const void *fromHost;
  CuAddress fromDevice;
  void *fromArray;
  size_t fromPitch, toX, toY;
  CuMemory toType;
  void *toHost;
  CuAddress toDevice;
  void *toArray;
  size_t toPitch, widthBytes, height;
};

// Name in the driver, name in the table, result of a call, parameters.
#define ATTUNE_CUDA_FUNCTIONS(F)                                                                                       \
  F(cuInit, init, (unsigned flags))                                                                                    \
  F(cuGetErrorName, getErrorName, (CuResult error, const char **name))                                                 \
  F(cuGetErrorString, getErrorString, (CuResult error, const char **text))                                             \
  F(cuDeviceGetCount, deviceGetCount, (int *count))                                                                    \
  F(cuDeviceGet, deviceGet, (CuDevice * device, int ordinal))                                                          \
  F(cuDeviceGetAttribute, deviceGetAttribute, (int *value, CuAttribute attribute, CuDevice device))                    \
  F(cuDevicePrimaryCtxRetain, primaryContextRetain, (CuContext * context, CuDevice device))                            \
  F(cuDevicePrimaryCtxRelease_v2, primaryContextRelease, (CuDevice device))                                            \
  F(cuCtxGetCurrent, contextGetCurrent, (CuContext * context))                                                         \
  F(cuCtxGetDevice, contextGetDevice, (CuDevice * device))                                                             \
  F(cuCtxSynchronize, contextSynchronize, ())                                                                          \
  F(cuCtxPushCurrent_v2, contextPush, (CuContext context))                                                             \
  F(cuCtxPopCurrent_v2, contextPop, (CuContext * context))                                                             \
  F(cuModuleLoadDataEx, moduleLoad,                                                                                    \
    (CuModule * module, const void *image, unsigned optionCount, int *options, void **values))                         \
  F(cuModuleUnload, moduleUnload, (CuModule module))                                                                   \
  F(cuModuleGetFunction, moduleGetFunction, (CuFunction * function, CuModule module, const char *name))                \
  F(cuFuncSetAttribute, functionSetAttribute, (CuFunction function, int attribute, int value))                         \
  F(cuMemAlloc_v2, memoryAllocate, (CuAddress * address, size_t bytes))                                                \
  F(cuMemFree_v2, memoryFree, (CuAddress address))                                                                     \
  F(cuMemcpyHtoD_v2, copyToDevice, (CuAddress to, const void *from, size_t bytes))                                     \
  F(cuMemcpyDtoH_v2, copyToHost, (void *to, CuAddress from, size_t bytes))                                             \
  F(cuMemcpyDtoDAsync_v2, copyOnDevice, (CuAddress to, CuAddress from, size_t bytes, CuStream stream))                 \
  F(cuMemcpy2DAsync_v2, copy2D, (const CuCopy2D *copy, CuStream stream))                                               \
  F(cuLaunchKernel, launchKernel,                                                                                      \
    (CuFunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,                \
     unsigned sharedBytes, CuStream stream, void **parameters, void **extra))

struct CudaDriver {
#define DECLARE(symbol, field, parameters) CuResult(*field) parameters;
  ATTUNE_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE
};

/// The driver's functions, loaded and initialised once for the process.
attune_status loadCudaDriver(const Place &place, const CudaDriver **driver);

/// Turns a result of `call` (the driver's name of it) into a status whose message names the error as the driver does, and
/// says what to do about it. `of` is what the call was about: a kernel, a number of bytes.
attune_status checkCuda(const Place &place, const CudaDriver &driver, CuResult result, const char *call,
                        const char *of = nullptr);

} // namespace attune::rt

#endif // ATTUNE_RT_CUDA_DRIVER_H
