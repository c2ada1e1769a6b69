//===- CudaDevice.cpp - A GPU's memory and clock, through the driver ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/CudaDevice.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"

#include <dlfcn.h>

using namespace attune;

// The driver's C interface, as cuda.h of CUDA 11.4 and later declares it.
#define CUDA_FUNCTIONS(F)                                                                                              \
  F(cuInit, (unsigned))                                                                                                \
  F(cuGetErrorName, (int, const char **))                                                                              \
  F(cuDeviceGet, (int *, int))                                                                                         \
  F(cuDevicePrimaryCtxRetain, (void **, int))                                                                          \
  F(cuDevicePrimaryCtxRelease_v2, (int))                                                                               \
  F(cuCtxPushCurrent_v2, (void *))                                                                                     \
  F(cuCtxPopCurrent_v2, (void **))                                                                                     \
  F(cuMemAlloc_v2, (uint64_t *, size_t))                                                                               \
  F(cuMemFree_v2, (uint64_t))                                                                                          \
  F(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t))                                                                 \
  F(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                                                                       \
  F(cuMemcpyDtoDAsync_v2, (uint64_t, uint64_t, size_t, void *))                                                        \
  F(cuEventCreate, (void **, unsigned))                                                                                \
  F(cuEventRecord, (void *, void *))                                                                                   \
  F(cuEventSynchronize, (void *))                                                                                      \
  F(cuEventElapsedTime, (float *, void *, void *))                                                                     \
  F(cuEventDestroy_v2, (void *))

struct CudaDevice::Driver {
#define DECLARE(name, parameters) int(*name) parameters = nullptr;
  CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

  /// The name of what is missing; empty if nothing is.
  llvm::StringRef find(void *library) {
#define FIND(name, parameters)                                                                                         \
  if (!(name = reinterpret_cast<int(*) parameters>(dlsym(library, #name))))                                            \
    return #name;
    CUDA_FUNCTIONS(FIND)
#undef FIND
    return "";
  }
};

/// Makes the device's context the calling thread's while it lives.
class CudaDevice::Current {
public:
  explicit Current(CudaDevice &device)
      : device(device), result(device.driver->cuCtxPushCurrent_v2(device.context)) {}
  ~Current() {
    void *popped = nullptr;
    if (result == 0)
      device.driver->cuCtxPopCurrent_v2(&popped);
  }
  llvm::Error error() { return device.check(result, "cuCtxPushCurrent"); }

private:
  CudaDevice &device;
  int result;
};

CudaDevice::CudaDevice() : driver(std::make_unique<Driver>()) {}

CudaDevice::~CudaDevice() {
  if (context)
    driver->cuDevicePrimaryCtxRelease_v2(device);
}

llvm::Error CudaDevice::check(int result, llvm::StringRef call) {
  const char *name = nullptr;
  if (result == 0)
    return llvm::Error::success();
  driver->cuGetErrorName(result, &name);
  return llvm::createStringError("expected " + call + " to succeed on the GPU, but got " + (name ? name : "error") +
                                 " (" + llvm::Twine(result) + ")");
}

llvm::Expected<std::shared_ptr<CudaDevice>> CudaDevice::open() {
  std::shared_ptr<CudaDevice> opened(new CudaDevice);
  // Never closed: the driver keeps threads of its own.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return llvm::createStringError("expected the NVIDIA driver libcuda.so.1, but got: " + llvm::StringRef(dlerror()));
  if (llvm::StringRef missing = opened->driver->find(library); !missing.empty())
    return llvm::createStringError("expected the function " + missing + " in libcuda.so.1, but it is not there; install an "
                                   "NVIDIA driver of CUDA 11.4 or later");
  if (llvm::Error error = opened->check(opened->driver->cuInit(0), "cuInit"))
    return std::move(error);
  if (llvm::Error error = opened->check(opened->driver->cuDeviceGet(&opened->device, 0), "cuDeviceGet"))
    return std::move(error);
  if (llvm::Error error = opened->check(opened->driver->cuDevicePrimaryCtxRetain(&opened->context, opened->device),
                                        "cuDevicePrimaryCtxRetain"))
    return std::move(error);
  return opened;
}

llvm::Expected<uint64_t> CudaDevice::allocate(size_t bytes) {
  Current current(*this);
  uint64_t address = 0;
  if (llvm::Error error = current.error())
    return std::move(error);
  if (llvm::Error error = check(driver->cuMemAlloc_v2(&address, std::max<size_t>(1, bytes)),
                                "cuMemAlloc of " + std::to_string(bytes) + " bytes"))
    return std::move(error);
  return address;
}

void CudaDevice::free(uint64_t address) {
  Current current(*this);
  driver->cuMemFree_v2(address);
}

llvm::Error CudaDevice::copyIn(uint64_t to, llvm::ArrayRef<char> from) {
  Current current(*this);
  if (llvm::Error error = current.error())
    return error;
  return from.empty() ? llvm::Error::success()
                      : check(driver->cuMemcpyHtoD_v2(to, from.data(), from.size()), "cuMemcpyHtoD");
}

llvm::Error CudaDevice::copyOut(llvm::MutableArrayRef<char> to, uint64_t from) {
  Current current(*this);
  if (llvm::Error error = current.error())
    return error;
  return to.empty() ? llvm::Error::success()
                    : check(driver->cuMemcpyDtoH_v2(to.data(), from, to.size()), "cuMemcpyDtoH");
}

llvm::Expected<double> CudaDevice::seconds(llvm::function_ref<llvm::Error()> work) {
  void *events[2] = {};
  auto destroy = llvm::make_scope_exit([&] {
    Current current(*this);
    for (void *event : events)
      if (event)
        driver->cuEventDestroy_v2(event);
  });
  auto record = [&](void *&event) {
    Current current(*this);
    if (llvm::Error error = check(driver->cuEventCreate(&event, 0), "cuEventCreate"))
      return error;
    return check(driver->cuEventRecord(event, nullptr), "cuEventRecord");
  };
  if (llvm::Error error = record(events[0]))
    return std::move(error);
  if (llvm::Error error = work())
    return std::move(error);
  if (llvm::Error error = record(events[1]))
    return std::move(error);
  Current current(*this);
  float milliseconds = 0;
  if (llvm::Error error = check(driver->cuEventSynchronize(events[1]), "cuEventSynchronize"))
    return std::move(error);
  if (llvm::Error error = check(driver->cuEventElapsedTime(&milliseconds, events[0], events[1]), "cuEventElapsedTime"))
    return std::move(error);
  return milliseconds / 1e3;
}

llvm::Expected<double> CudaDevice::copyRate() {
  constexpr size_t bytes = 256 << 20; // an H100's second level has 50 MB
  uint64_t places[2] = {};
  auto release = llvm::make_scope_exit([&] {
    for (uint64_t place : places)
      if (place)
        free(place);
  });
  for (uint64_t &place : places) {
    llvm::Expected<uint64_t> address = allocate(bytes);
    if (!address)
      return address.takeError();
    place = *address;
  }
  double least = 0;
  for (int round = 0; round < 5; ++round) { // the first finds the memory untouched
    llvm::Expected<double> time = seconds([&] {
      Current current(*this);
      return check(driver->cuMemcpyDtoDAsync_v2(places[1], places[0], bytes, nullptr), "cuMemcpyDtoDAsync");
    });
    if (!time)
      return time.takeError();
    least = round <= 1 ? *time : std::min(least, *time);
  }
  return 2 * static_cast<double>(bytes) / least;
}
