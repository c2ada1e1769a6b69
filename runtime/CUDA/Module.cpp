//===- Module.cpp - A library's device code, loaded for one GPU -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"

#include "Common/Copy.h"
#include "Common/Unpack.h"
#include "Select.h"

#include <cstdio>
#include <cstdlib>

using namespace attune::rt;

namespace {

constexpr int32_t sharedWithoutOptIn = 48 * 1024;

/// All code of this library that is loaded; held while code is loaded, so that no other thread loads the same.
ProcessLock listLock;
CudaCode *list = nullptr;

/// An image as it lies in the library.
struct StoredImage {
  const char *what;
  const void *data;
  uint64_t bytes, unpacked;
};

/// Points `image` to what the driver takes: the stored bytes, or `memory` with what they were packed from.
attune_status openImage(const Place &place, const StoredImage &stored, Memory &memory, const void *&image) {
  image = stored.data;
  if (stored.unpacked == 0)
    return ATTUNE_OK;
  if (stored.unpacked >= SIZE_MAX / 2 || !memory.allocate(stored.unpacked + 1, alignof(uint64_t)))
    return fail(ATTUNE_ERROR_MEMORY, "%s_%s: expected %llu bytes for the %s, but they are not there", place.library,
                place.function, static_cast<unsigned long long>(stored.unpacked), stored.what);
  memory.data[stored.unpacked] = 0;
  image = memory.data;
  if (unpack(reinterpret_cast<uint8_t *>(memory.data), stored.unpacked, static_cast<const uint8_t *>(stored.data),
             stored.bytes))
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_LIBRARY,
              "%s_%s: expected a %s that unpacks, but got a damaged one; compile the library again", place.library,
              place.function, stored.what);
}

/// What drivers say of machine code that a later assembler than their own has made.
bool isRefusal(CuResult result) {
  return result == cuInvalidImage || result == cuNoBinaryForGpu || result == cuInvalidPtx ||
         result == cuUnsupportedPtxVersion || result == cuInvalidSource;
}

attune_status loadCubin(CudaCode &code, const Place &place, const void *image, bool &refused) {
  CuResult result = code.driver->moduleLoad(&code.module, image, 0, nullptr, nullptr);
  refused = isRefusal(result);
  return checkCuda(place, *code.driver, result, "cuModuleLoadDataEx (cubin)");
}

/// With what the driver's assembler says, if it says something.
attune_status loadPtx(CudaCode &code, const Place &place, const void *image) {
  char log[256] = "";
  int options[] = {cuJitErrorLogBuffer, cuJitErrorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  CuResult result = code.driver->moduleLoad(&code.module, image, 2, options, values);
  if (result == 0)
    return ATTUNE_OK;
  attune_status status = checkCuda(place, *code.driver, result, "cuModuleLoadDataEx (PTX)");
  if (!log[0])
    return status;
  char before[512];
  snprintf(before, sizeof(before), "%s", attune_rt_message());
  return fail(status, "%s; the driver's assembler says: %.*s", before, static_cast<int>(sizeof(log) - 1), log);
}

attune_status loadStoredCubin(CudaCode &code, const Place &place, bool &refused) {
  const attune_rt_variant &variant = *code.variant;
  Memory memory;
  const void *image = nullptr;
  if (attune_status status =
          openImage(place, {"cubin", variant.cubin, variant.cubin_bytes, variant.cubin_unpacked}, memory, image))
    return status;
  return loadCubin(code, place, image, refused);
}

attune_status loadStoredPtx(CudaCode &code, const Place &place) {
  const attune_rt_variant &variant = *code.variant;
  Memory memory;
  const void *image = nullptr;
  if (attune_status status =
          openImage(place, {"PTX", variant.ptx, variant.ptx_bytes, variant.ptx_unpacked}, memory, image))
    return status;
  return loadPtx(code, place, static_cast<const char *>(image) + variant.ptx_begin);
}

/// A driver that is older than the assembler of the cubin still takes the PTX.
attune_status loadModule(CudaCode &code, const Place &place, int32_t arch) {
  if (!cubinRunsOn(*code.variant, arch))
    return loadStoredPtx(code, place);
  bool refused = false;
  attune_status status = loadStoredCubin(code, place, refused);
  return refused && code.variant->ptx ? loadStoredPtx(code, place) : status;
}

attune_status findKernels(CudaCode &code, const Place &place) {
  const attune_rt_variant &variant = *code.variant;
  const CudaDriver &driver = *code.driver;
  code.functions = static_cast<CuFunction *>(calloc(variant.kernel_count + 1, sizeof(CuFunction)));
  int sharedLimit = 0;
  if (attune_status status =
          checkCuda(place, driver, driver.deviceGetAttribute(&sharedLimit, cuMaxSharedBytesPerBlock, code.device),
                    "cuDeviceGetAttribute"))
    return status;
  for (uint64_t i = 0; code.functions && i < variant.kernel_count; ++i) {
    const attune_rt_device_kernel &kernel = variant.kernels[i];
    CuFunction &function = code.functions[i];
    if (attune_status status = checkCuda(place, driver, driver.moduleGetFunction(&function, code.module, kernel.name),
                                         "cuModuleGetFunction", kernel.name))
      return status;
    if (kernel.shared_bytes > sharedLimit)
      return fail(ATTUNE_ERROR_UNSUPPORTED,
                  "%s_%s: kernel '%s': expected a device with %d bytes of shared memory a block, "
                  "but this one has %d; compile for it",
                  place.library, place.function, kernel.name, kernel.shared_bytes, sharedLimit);
    if (kernel.shared_bytes <= sharedWithoutOptIn)
      continue;
    CuResult result = driver.functionSetAttribute(function, cuFunctionMaxDynamicSharedBytes, kernel.shared_bytes);
    if (attune_status status = checkCuda(place, driver, result, "cuFuncSetAttribute", kernel.name))
      return status;
  }
  if (code.functions)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_MEMORY, "%s_%s: expected memory for the kernel table, but there is none", place.library,
              place.function);
}

/// The caller's context if it is of the device, else the primary one.
attune_status findContext(CudaCode &code, const Place &place) {
  const CudaDriver &driver = *code.driver;
  CuDevice device;
  if (attune_status status = checkCuda(place, driver, driver.contextGetCurrent(&code.context), "cuCtxGetCurrent"))
    return status;
  if (code.context) {
    if (attune_status status = checkCuda(place, driver, driver.contextGetDevice(&device), "cuCtxGetDevice"))
      return status;
    if (device == code.device)
      return ATTUNE_OK;
  }
  code.context = nullptr;
  CuResult retained = driver.primaryContextRetain(&code.context, code.device);
  code.isPrimary = retained == 0;
  return checkCuda(place, driver, retained, "cuDevicePrimaryCtxRetain");
}

/// What is missing is a reason to go without, not an error.
void openProducts(CudaCode &code) {
  if (code.variant->product_count == 0)
    return;
  const Blas *blas = openBlas(code.blasReason);
  if (!blas)
    return;
  if (BlasStatus status = blas->create(&code.blasHandle))
    snprintf(code.blasReason.text, sizeof(code.blasReason.text), "cublasLtCreate gave %s", blas->getStatusName(status));
  else
    code.blas = blas;
}

void freeCode(CudaCode *code) {
  CuContext popped;
  if (code->blas && code->driver->contextPush(code->context) == 0) {
    code->blas->destroy(code->blasHandle);
    code->driver->contextPop(&popped);
  }
  if (code->module && code->driver->contextPush(code->context) == 0) {
    code->driver->moduleUnload(code->module);
    code->driver->contextPop(&popped);
  }
  if (code->isPrimary)
    code->driver->primaryContextRelease(code->device);
  free(code->functions);
  free(code);
}

attune_status load(CudaCode &code, const Place &place, int32_t arch) {
  snprintf(code.archName, sizeof(code.archName), "sm_%d%s", code.variant->arch, code.variant->arch_specific ? "a" : "");
  CudaScope scope(code, place);
  if (scope.status)
    return scope.status;
  if (attune_status status = loadModule(code, place, arch))
    return status;
  openProducts(code);
  return findKernels(code, place);
}

CudaCode *findLoaded(const CudaCode &like) {
  for (CudaCode *code = list; code; code = code->next)
    if (code->variant == like.variant && code->context == like.context)
      return code;
  return nullptr;
}

/// What is loaded already, or `code` once it is; `code` is freed unless it is the result.
attune_status findOrLoad(CudaCode *code, const Place &place, int32_t arch, CudaCode **result) {
  LockScope lock(listLock);
  attune_status status = findContext(*code, place);
  *result = status ? nullptr : findLoaded(*code);
  if (!status && !*result) {
    status = load(*code, place, arch);
    if (!status) {
      code->next = list;
      list = *result = code;
    }
  }
  if (*result)
    ++(*result)->handles;
  if (*result != code)
    freeCode(code);
  return status;
}

} // namespace

CudaScope::CudaScope(const CudaCode &code, const Place &place)
    : status(checkCuda(place, *code.driver, code.driver->contextPush(code.context), "cuCtxPushCurrent")), code(code) {}

CudaScope::~CudaScope() {
  CuContext popped;
  if (!status)
    code.driver->contextPop(&popped);
}

attune_status attune::rt::loadCudaCode(attune_rt_handle &handle, const Place &place) {
  const CudaDriver *driver = nullptr;
  CudaDevice device;
  if (attune_status status = loadCudaDriver(place, &driver))
    return status;
  if (attune_status status = findDevice(handle, place, *driver, device))
    return status;
  if (attune_status status = selectVariant(handle, place, device.arch))
    return status;
  auto *code = static_cast<CudaCode *>(calloc(1, sizeof(CudaCode)));
  if (!code)
    return fail(ATTUNE_ERROR_MEMORY, "%s_%s: expected memory for a module, but there is none", place.library,
                place.function);
  code->driver = driver;
  code->device = device.device;
  code->variant = handle.variant;
  return findOrLoad(code, place, device.arch, &handle.cuda);
}

void attune::rt::unloadCudaCode(CudaCode *code) {
  LockScope lock(listLock);
  if (--code->handles > 0)
    return;
  for (CudaCode **place = &list; *place; place = &(*place)->next)
    if (*place == code) {
      *place = code->next;
      break;
    }
  freeCode(code);
}

const char *attune::rt::cudaArchName(const CudaCode &code) { return code.archName; }
