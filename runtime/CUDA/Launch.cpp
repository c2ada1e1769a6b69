//===- Launch.cpp - Runs a plan's kernels on a stream ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "Module.h"
#include "Products.h"

using namespace attune::rt;

namespace {

constexpr int64_t maxParameters = 512; // 4096 bytes, the limit of a launch
constexpr int64_t maxGridX = INT32_MAX, maxGridYZ = 65535;

/// What a GPU plan's `launcher` points to.
struct CudaLauncher {
  attune_rt_handle &handle;
  const Place &place;
  char *spare;
  CuStream stream;
  bool launches = false; ///< or looks at the grids alone
  attune_status status = ATTUNE_OK;
};

attune_status checkLaunch(const CudaLauncher &launcher, int64_t kernel, int64_t slots, int64_t gx, int64_t gy,
                          int64_t gz) {
  const Place &place = launcher.place;
  const attune_rt_variant &variant = *launcher.handle.variant;
  if (kernel < 0 || static_cast<uint64_t>(kernel) >= variant.kernel_count || slots > maxParameters)
    return fail(ATTUNE_ERROR_LIBRARY,
                "%s_%s: expected a launch of kernel 0 ... %lld with at most %lld slots, but got "
                "kernel %lld with %lld; compile the library again",
                place.library, place.function, static_cast<long long>(variant.kernel_count) - 1,
                static_cast<long long>(maxParameters), static_cast<long long>(kernel), static_cast<long long>(slots));
  if (gx <= maxGridX && gy <= maxGridYZ && gz <= maxGridYZ)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_ARGUMENT,
              "%s_%s: expected sizes whose grid is at most %lld x %lld x %lld blocks, but kernel "
              "'%s' needs %lld x %lld x %lld; split the batch or the sequence",
              place.library, place.function, static_cast<long long>(maxGridX), static_cast<long long>(maxGridYZ),
              static_cast<long long>(maxGridYZ), variant.kernels[kernel].name, static_cast<long long>(gx),
              static_cast<long long>(gy), static_cast<long long>(gz));
}

/// Whether cuBLASLt did it, or failed to, in place of the kernel.
bool multiplied(CudaLauncher &launcher, int64_t kernel, const uint64_t *slots) {
  Product *product = launcher.handle.products ? productFor(launcher.handle, kernel) : nullptr;
  bool done = false;
  if (product)
    launcher.status = multiply(launcher.handle, launcher.place, *product, slots, launcher.spare, launcher.stream, done);
  return done || launcher.status;
}

} // namespace

extern "C" void attune_rt_launch_device(void *context, int64_t index, const void *args, int64_t slots, int64_t gx,
                                        int64_t gy, int64_t gz) {
  auto &launcher = *static_cast<CudaLauncher *>(context);
  if (launcher.status || gx <= 0 || gy <= 0 || gz <= 0)
    return;
  if (!launcher.launches) {
    launcher.status = checkLaunch(launcher, index, slots, gx, gy, gz);
    return;
  }
  if (multiplied(launcher, index, static_cast<const uint64_t *>(args)))
    return;
  void *parameters[maxParameters];
  auto *values = static_cast<char *>(const_cast<void *>(args)); // the driver copies them and writes nothing
  for (int64_t slot = 0; slot < slots; ++slot)
    parameters[slot] = values + slot * 8;
  const attune_rt_device_kernel &kernel = launcher.handle.variant->kernels[index];
  const CudaCode &code = *launcher.handle.cuda;
  auto blocks = [](int64_t count) { return static_cast<unsigned>(count); };
  CuResult result = code.driver->launchKernel(code.functions[index], blocks(gx), blocks(gy), blocks(gz),
                                              blocks(kernel.block[0]), blocks(kernel.block[1]), blocks(kernel.block[2]),
                                              blocks(kernel.shared_bytes), launcher.stream, parameters, nullptr);
  launcher.status = checkCuda(launcher.place, *code.driver, result, "cuLaunchKernel", kernel.name);
}

attune_status attune::rt::runOnCuda(attune_rt_handle &handle, const Place &place, const attune_rt_plan &plan,
                                    const void *slots, char *spare, void *stream) {
  CudaScope scope(*handle.cuda, place);
  if (scope.status)
    return scope.status;
  CudaLauncher launcher{handle, place, spare, static_cast<CuStream>(stream)};
  // All grids are looked at before the first kernel runs: what cannot be launched leaves the outputs as they were.
  plan.run(&launcher, slots);
  launcher.launches = true;
  if (!launcher.status)
    plan.run(&launcher, slots);
  return launcher.status;
}
