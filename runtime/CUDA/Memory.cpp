//===- Memory.cpp - Device memory and copies to and from it ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <cstdio>

using namespace attune::rt;

namespace {

CuAddress addressOf(const char *data) { return reinterpret_cast<CuAddress>(data); }

} // namespace

attune_status DeviceMemory::allocate(const CudaCode &of, const Place &place, size_t bytes) {
  CuAddress address = 0;
  if (CuResult result = of.driver->memoryAllocate(&address, bytes ? bytes : 1)) {
    char size[32];
    snprintf(size, sizeof(size), "%zu bytes", bytes);
    return checkCuda(place, *of.driver, result, "cuMemAlloc", size);
  }
  code = &of;
  data = reinterpret_cast<char *>(address);
  return ATTUNE_OK;
}

DeviceMemory::~DeviceMemory() {
  if (data)
    freeOnDevice(*code, data);
}

void attune::rt::freeOnDevice(const CudaCode &code, char *data) {
  CuContext popped;
  if (!data || code.driver->contextPush(code.context) != 0)
    return;
  code.driver->memoryFree(addressOf(data));
  code.driver->contextPop(&popped);
}

attune_status attune::rt::finishDeviceWork(const CudaCode &code, const Place &place) {
  return checkCuda(place, *code.driver, code.driver->contextSynchronize(), "cuCtxSynchronize");
}

attune_status attune::rt::copyToDevice(const CudaCode &code, const Place &place, char *to, const char *from,
                                       size_t bytes) {
  if (bytes == 0)
    return ATTUNE_OK;
  return checkCuda(place, *code.driver, code.driver->copyToDevice(addressOf(to), from, bytes), "cuMemcpyHtoD");
}

attune_status attune::rt::fetchFromDevice(const CudaCode &code, const Place &place, const SlotView &view,
                                          size_t elementBytes, Memory &host) {
  // Elements before and after the one at the address; that they are addressable has been checked.
  int64_t before = 0, after = 0;
  for (uint32_t dim = 0; dim < view.rank; ++dim) {
    int64_t reach = (view.size(dim) - 1) * view.stride(dim);
    (reach < 0 ? before : after) += reach;
  }
  size_t bytes = static_cast<size_t>(after - before + 1) * elementBytes;
  int64_t start = before * static_cast<int64_t>(elementBytes);
  if (!host.allocate(bytes, alignof(uint64_t)))
    return fail(ATTUNE_ERROR_MEMORY,
                "%s_%s: expected %zu bytes to read a parameter from the device, but they are not "
                "there",
                place.library, place.function, bytes);
  CuResult result = code.driver->copyToHost(host.data, addressOf(view.data()) + static_cast<CuAddress>(start), bytes);
  view.slots[0] = reinterpret_cast<uint64_t>(host.data) - static_cast<uint64_t>(start);
  return checkCuda(place, *code.driver, result, "cuMemcpyDtoH");
}
