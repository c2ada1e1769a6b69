//===- Module.cpp - A library's device code, loaded for one GPU -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Module.h"

#include <cstdio>
#include <cstdlib>

using namespace attune::rt;

namespace {

constexpr int32_t sharedWithoutOptIn = 48 * 1024;

/// A cubin runs on its own major capability, from its minor one on.
bool cubinRunsOn(const attune_rt_variant &variant, int32_t arch) {
  return variant.cubin && variant.arch / 10 == arch / 10 && variant.arch <= arch;
}

/// PTX is assembled by the driver for anything later; code for sm_90a runs only there.
bool runsOn(const attune_rt_variant &variant, int32_t arch) {
  if (variant.target != ATTUNE_RT_CUDA || (!variant.cubin && !variant.ptx))
    return false;
  if (variant.arch_specific)
    return variant.arch == arch;
  return cubinRunsOn(variant, arch) || (variant.ptx && variant.arch <= arch);
}

attune_status selectVariant(attune_rt_handle &handle, const Place &place, int32_t arch) {
  const attune_rt_descriptor &descriptor = *handle.descriptor;
  const attune_rt_variant *best = nullptr;
  int32_t least = 0;
  for (uint64_t i = 0; i < descriptor.variant_count; ++i) {
    const attune_rt_variant &candidate = descriptor.variants[i];
    if (candidate.target == ATTUNE_RT_CUDA && (least == 0 || candidate.arch < least))
      least = candidate.arch;
    bool later = !best || candidate.arch > best->arch ||
                 (candidate.arch == best->arch && candidate.arch_specific > best->arch_specific);
    if (runsOn(candidate, arch) && later)
      best = &candidate;
  }
  handle.variant = best;
  if (best)
    return ATTUNE_OK;
  if (least == 0)
    return fail(ATTUNE_ERROR_UNSUPPORTED,
                "%s_%s: option 'device_type': expected a device that the library was compiled "
                "for, but it holds no GPU code; compile it with --target sm_%d",
                place.library, place.function, arch);
  return fail(ATTUNE_ERROR_UNSUPPORTED,
              "%s_%s: expected code for sm_%d (the device), but the library holds none that runs "
              "there (the least is sm_%d); compile it with --target sm_%d",
              place.library, place.function, arch, least, arch);
}

attune_status findDevice(attune_rt_handle &handle, const Place &place, int32_t &arch) {
  CudaCode &code = *handle.cuda;
  const CudaDriver &driver = *code.driver;
  int count = 0, major = 0, minor = 0;
  if (attune_status status = checkCuda(place, driver, driver.deviceGetCount(&count), "cuDeviceGetCount"))
    return status;
  if (handle.device.device_id < 0 || handle.device.device_id >= count)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: option 'device_id': expected an ordinal below %d (the number of GPUs), but "
                "got %d",
                place.library, place.function, count, handle.device.device_id);
  if (attune_status status =
          checkCuda(place, driver, driver.deviceGet(&code.device, handle.device.device_id), "cuDeviceGet"))
    return status;
  if (attune_status status = checkCuda(place, driver, driver.deviceGetAttribute(&major, cuCapabilityMajor, code.device),
                                       "cuDeviceGetAttribute"))
    return status;
  if (attune_status status = checkCuda(place, driver, driver.deviceGetAttribute(&minor, cuCapabilityMinor, code.device),
                                       "cuDeviceGetAttribute"))
    return status;
  arch = 10 * major + minor;
  return ATTUNE_OK;
}

attune_status loadModule(const attune_rt_handle &handle, const Place &place, int32_t arch) {
  CudaCode &code = *handle.cuda;
  const attune_rt_variant &variant = *handle.variant;
  if (cubinRunsOn(variant, arch))
    return checkCuda(place, *code.driver, code.driver->moduleLoad(&code.module, variant.cubin, 0, nullptr, nullptr),
                     "cuModuleLoadDataEx (cubin)");
  char log[256] = "";
  int options[] = {cuJitErrorLogBuffer, cuJitErrorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  CuResult result = code.driver->moduleLoad(&code.module, variant.ptx, 2, options, values);
  if (result == 0)
    return ATTUNE_OK;
  attune_status status = checkCuda(place, *code.driver, result, "cuModuleLoadDataEx (PTX)");
  if (!log[0])
    return status;
  char before[400];
  snprintf(before, sizeof(before), "%s", attune_rt_message());
  return fail(status, "%s; the driver's assembler says: %.*s", before, static_cast<int>(sizeof(log) - 1), log);
}

attune_status findKernels(const attune_rt_handle &handle, const Place &place) {
  CudaCode &code = *handle.cuda;
  const attune_rt_variant &variant = *handle.variant;
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
                                         "cuModuleGetFunction"))
      return status;
    if (kernel.shared_bytes > sharedLimit)
      return fail(ATTUNE_ERROR_UNSUPPORTED,
                  "%s_%s: kernel '%s': expected a device with %d bytes of shared memory a block, "
                  "but this one has %d; compile for it",
                  place.library, place.function, kernel.name, kernel.shared_bytes, sharedLimit);
    if (kernel.shared_bytes <= sharedWithoutOptIn)
      continue;
    CuResult result = driver.functionSetAttribute(function, cuFunctionMaxDynamicSharedBytes, kernel.shared_bytes);
    if (attune_status status = checkCuda(place, driver, result, "cuFuncSetAttribute"))
      return status;
  }
  if (code.functions)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_MEMORY, "%s_%s: expected memory for the kernel table, but there is none", place.library,
              place.function);
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
  if (attune_status status = loadCudaDriver(place, &driver))
    return status;
  // From here destroy() undoes what has been done, through handle.cuda.
  handle.cuda = static_cast<CudaCode *>(calloc(1, sizeof(CudaCode)));
  if (!handle.cuda)
    return fail(ATTUNE_ERROR_MEMORY, "%s_%s: expected memory for a module, but there is none", place.library,
                place.function);
  CudaCode &code = *handle.cuda;
  code.driver = driver;
  int32_t arch = 0;
  if (attune_status status = findDevice(handle, place, arch))
    return status;
  if (attune_status status = selectVariant(handle, place, arch))
    return status;
  snprintf(code.archName, sizeof(code.archName), "sm_%d%s", handle.variant->arch,
           handle.variant->arch_specific ? "a" : "");
  CuResult retained = driver->primaryContextRetain(&code.context, code.device);
  if (attune_status status = checkCuda(place, *driver, retained, "cuDevicePrimaryCtxRetain"))
    return status;
  CudaScope scope(code, place);
  if (scope.status)
    return scope.status;
  if (attune_status status = loadModule(handle, place, arch))
    return status;
  return findKernels(handle, place);
}

void attune::rt::unloadCudaCode(CudaCode *code) {
  if (code->context) {
    CuContext popped;
    if (code->module && code->driver->contextPush(code->context) == 0) {
      code->driver->moduleUnload(code->module);
      code->driver->contextPop(&popped);
    }
    code->driver->primaryContextRelease(code->device);
  }
  free(code->functions);
  free(code);
}

const char *attune::rt::cudaArchName(const CudaCode &code) { return code.archName; }
