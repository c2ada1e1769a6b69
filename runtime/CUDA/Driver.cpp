//===- Driver.cpp - The CUDA driver, opened at run time -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <dlfcn.h>
#include <pthread.h>

using namespace attune::rt;

namespace {

constexpr const char *driverFile = "libcuda.so.1";

pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
bool loaded = false;
CudaDriver table;

constexpr CuResult outOfMemory = 2;

struct Remedy {
  CuResult error;
  const char *text;
};

constexpr const char *lostContext = "the device's context is lost: start the process again, and look for the kernel at "
                                    "fault with compute-sanitizer";
constexpr const char *noCapture = "end the stream's capture first: only run can be captured";

/// By number, as in the driver's cuda.h.
constexpr Remedy remedies[] = {
    {2, "free device memory, or split the batch"},
    {34, "a stub of the driver was found: take its folder from the library path"},
    {46, "another process has the device for itself"},
    {100, "check with nvidia-smi, and CUDA_VISIBLE_DEVICES, that a GPU is there"},
    {200, "compile the library again"},
    {201, "keep the context that was current in create until the handle is destroyed"},
    {209, "compile the library for this device"},
    {218, "install a later driver"},
    {221, "install the driver's PTX compiler, or compile the library where ptxas is found"},
    {222, "install a driver of CUDA 11.8 or later, or compile the library where ptxas is found"},
    {400, "give a stream of the context that was current in create, or of the device's primary one"},
    {700, lostContext},
    {701, "compile the library for this device"},
    {709, "keep the context that was current in create until the handle is destroyed"},
    {715, lostContext},
    {716, lostContext},
    {719, lostContext},
    {802, "wait until the system has started its GPUs (the fabric manager, if it has NVSwitch)"},
    {803, "install a driver and a kernel module of one version"},
    {900, noCapture},
    {901, noCapture},
    {906, noCapture},
};

const char *remedyFor(CuResult error) {
  for (const Remedy &remedy : remedies)
    if (remedy.error == error)
      return remedy.text;
  return nullptr;
}

attune_status findFunctions(const Place &place, void *library) {
#define FIND(symbol, field, parameters)                                                                                \
  table.field = reinterpret_cast<decltype(table.field)>(dlsym(library, #symbol));                                      \
  if (!table.field)                                                                                                    \
    return fail(                                                                                                       \
        ATTUNE_ERROR_UNSUPPORTED,                                                                                      \
        "%s_%s: expected the function %s in %s, but it is not there; install an NVIDIA driver of CUDA 11.4 or "        \
        "later",                                                                                                       \
        place.library, place.function, #symbol, driverFile);
  ATTUNE_CUDA_FUNCTIONS(FIND)
#undef FIND
  return ATTUNE_OK;
}

attune_status open(const Place &place) {
  void *library = dlopen(driverFile, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return fail(ATTUNE_ERROR_UNSUPPORTED,
                "%s_%s: expected the NVIDIA driver %s, but it cannot be opened (%s); install "
                "the driver, or ask for the CPU if the library holds code for it",
                place.library, place.function, driverFile, reason ? reason : "no reason given");
  }
  // Never closed: the driver keeps threads and handlers of its own.
  if (attune_status status = findFunctions(place, library))
    return status;
  return checkCuda(place, table, table.init(0), "cuInit");
}

} // namespace

attune_status attune::rt::loadCudaDriver(const Place &place, const CudaDriver **driver) {
  pthread_mutex_lock(&loading);
  attune_status status = loaded ? ATTUNE_OK : open(place);
  loaded = status == ATTUNE_OK;
  pthread_mutex_unlock(&loading);
  *driver = &table;
  return status;
}

attune_status attune::rt::checkCuda(const Place &place, const CudaDriver &driver, CuResult result, const char *call) {
  if (result == 0)
    return ATTUNE_OK;
  const char *name = nullptr, *text = nullptr;
  driver.getErrorName(result, &name);
  driver.getErrorString(result, &text);
  const char *remedy = remedyFor(result);
  return fail(result == outOfMemory ? ATTUNE_ERROR_MEMORY : ATTUNE_ERROR_DEVICE,
              "%s_%s: %s: expected success, but got %s (%d): %s%s%s", place.library, place.function, call,
              name ? name : "an error without a name", result, text ? text : "the driver says no more",
              remedy ? "; " : "", remedy ? remedy : "");
}
