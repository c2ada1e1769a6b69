//===- Driver.cpp - The CUDA driver, opened at run time -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "Common/Process.h"
#include "Remedies.h"

#include <dlfcn.h>

using namespace attune::rt;

namespace {

constexpr const char *driverFile = "libcuda.so.1";

ProcessLock loading;
bool loaded = false;
CudaDriver table;

constexpr CuResult outOfMemory = 2;

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
  loading.lock();
  attune_status status = loaded ? ATTUNE_OK : open(place);
  loaded = status == ATTUNE_OK;
  loading.unlock();
  *driver = &table;
  return status;
}

attune_status attune::rt::checkCuda(const Place &place, const CudaDriver &driver, CuResult result, const char *call,
                                    const char *of) {
  if (result == 0)
    return ATTUNE_OK;
  const char *name = nullptr, *text = nullptr;
  driver.getErrorName(result, &name);
  driver.getErrorString(result, &text);
  return fail(result == outOfMemory ? ATTUNE_ERROR_MEMORY : ATTUNE_ERROR_DEVICE,
              "%s_%s: %s%s%s: expected success, but got %s (%d): %s; %s", place.library, place.function, call,
              of ? " of " : "", of ? of : "", name ? name : nameFor(result), result,
              text ? text : "the driver says no more", remedyFor(result));
}
