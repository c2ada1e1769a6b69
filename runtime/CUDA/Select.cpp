//===- Select.cpp - The GPU of a handle, and the code for it --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Select.h"

#include <initializer_list>

using namespace attune::rt;

namespace {

struct CudaFact {
  CuAttribute attribute;
  int *value;
};

/// The system on a chip of 8.7 shares no machine code with the cards of its generation.
bool standsAlone(int32_t arch) { return arch == 87; }

/// PTX is assembled by the driver for anything later; code for sm_90a runs only there.
bool runsOn(const attune_rt_variant &variant, int32_t arch) {
  if (variant.target != ATTUNE_RT_CUDA || (!variant.cubin && !variant.ptx))
    return false;
  if (variant.arch_specific)
    return variant.arch == arch;
  return cubinRunsOn(variant, arch) || (variant.ptx && variant.arch <= arch);
}

/// The target to compile for so that the code runs on `arch`; null: there is none.
const char *targetFor(int32_t arch) {
  switch (arch) {
  case 80:
    return "sm_80";
  case 86:
    return "sm_86";
  case 87:
    return "sm_87";
  case 90:
    return "sm_90a";
  default:
    return arch < 80 ? nullptr : "sm_89"; // later devices take its PTX
  }
}

} // namespace

bool attune::rt::cubinRunsOn(const attune_rt_variant &variant, int32_t arch) {
  if (!variant.cubin)
    return false;
  if (variant.arch_specific || standsAlone(arch) || standsAlone(variant.arch))
    return variant.arch == arch;
  return variant.arch / 10 == arch / 10 && variant.arch <= arch;
}

attune_status attune::rt::selectVariant(attune_rt_handle &handle, const Place &place, int32_t arch) {
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
  const char *target = targetFor(arch);
  if (!target)
    return fail(ATTUNE_ERROR_UNSUPPORTED,
                "%s_%s: option 'device_id': expected a GPU of compute capability 8.0 or later, but got sm_%d; choose "
                "another, or the CPU",
                place.library, place.function, arch);
  if (least == 0)
    return fail(ATTUNE_ERROR_UNSUPPORTED,
                "%s_%s: option 'device_type': expected a device that the library was compiled "
                "for, but it holds no GPU code; compile it with --target %s",
                place.library, place.function, target);
  return fail(ATTUNE_ERROR_UNSUPPORTED,
              "%s_%s: expected code for sm_%d (the device), but the library holds none that runs "
              "there (the least is sm_%d); compile it with --target %s",
              place.library, place.function, arch, least, target);
}

attune_status attune::rt::findDevice(const attune_rt_handle &handle, const Place &place, const CudaDriver &driver,
                                     CudaDevice &device) {
  int count = 0, major = 0, minor = 0, ordinal = handle.device.device_id;
  if (attune_status status = checkCuda(place, driver, driver.deviceGetCount(&count), "cuDeviceGetCount"))
    return status;
  if (count == 0)
    return fail(
        ATTUNE_ERROR_UNSUPPORTED,
        "%s_%s: expected a GPU, but the driver has none; check with nvidia-smi, and CUDA_VISIBLE_DEVICES, that one "
        "is there, or ask for the CPU if the library holds code for it",
        place.library, place.function);
  if (ordinal < 0 || ordinal >= count)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: option 'device_id': expected an ordinal below %d (the number of GPUs), but "
                "got %d",
                place.library, place.function, count, ordinal);
  if (attune_status status = checkCuda(place, driver, driver.deviceGet(&device.device, ordinal), "cuDeviceGet"))
    return status;
  for (auto [attribute, value] : {CudaFact{cuCapabilityMajor, &major}, CudaFact{cuCapabilityMinor, &minor}})
    if (attune_status status = checkCuda(place, driver, driver.deviceGetAttribute(value, attribute, device.device),
                                         "cuDeviceGetAttribute"))
      return status;
  device.arch = 10 * major + minor;
  return ATTUNE_OK;
}
