//===- launch.cpp - Host time of a run beside that of the launch alone -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attune_rt_run of a library with eight tensors and one kernel of 65 slots, and cuLaunchKernel alone with the same
// parameters, in turns, in thread time. The driver is the tests' stand-in, so that the difference is what the runtime
// adds: checks, slots, the plan. With a real driver on LD_LIBRARY_PATH there is no kernel to launch, and it says so.
//
//===----------------------------------------------------------------------===//
#include "StandIn/StandIn.h"
#include "ToyData.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <dlfcn.h>

using namespace toy;

namespace {

constexpr int slots = 65, rounds = 21, runs = 20000;

void plan(void *launcher, const void *args) {
  attune_rt_launch_device(launcher, 0, args, slots, static_cast<const int64_t *>(args)[3], toyHeads, 1);
}

const attune_rt_plan plans[] = {{"device", 0, plan, nullptr, 0}};
const attune_rt_device_kernel kernels[] = {{"kernel", {128, 1, 1}, 32768}};

double nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Nanoseconds of one call.
template <typename Call> double measure(Call call) {
  double start = nanoseconds();
  for (int i = 0; i < runs; ++i)
    call();
  return (nanoseconds() - start) / runs;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

using Launch = int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                       void **);

} // namespace

int main() {
  void *driver = dlopen(ATTUNE_STAND_IN_DRIVER, RTLD_NOW);
  auto *standIn = driver ? static_cast<StandIn *>(dlsym(driver, "standIn")) : nullptr;
  auto launch = driver ? reinterpret_cast<Launch>(dlsym(driver, "cuLaunchKernel")) : nullptr;
  if (!standIn || !launch)
    return fprintf(stderr, "expected the stand-in driver, but got none\n"), 1;
  attune_rt_variant variant = {};
  variant.target = ATTUNE_RT_CUDA, variant.arch = 80, variant.plan_count = 1, variant.plans = plans;
  variant.cubin = "cubin", variant.kernels = kernels, variant.kernel_count = 1;
  attune_rt_descriptor descriptor = toy_descriptor;
  descriptor.variants = &variant, descriptor.variant_count = 1;
  attune_rt_handle *handle = nullptr;
  if (attune_rt_create(&descriptor, nullptr, &handle) || attune_rt_prepare(handle, nullptr))
    return fprintf(stderr, "%s\n", attune_rt_message()), 1;

  Case c(2, 64, 64);
  c.addOptional();
  for (Tensor *tensor : {&c.q, &c.k, &c.v, &c.keyLengths, &c.o, &c.initialState, &c.lse, &c.finalState})
    tensor->tensor.device.device_type = kDLCUDA;
  standIn->parametersToRead = slots;
  uint64_t values[slots] = {};
  void *parameters[slots];
  for (int slot = 0; slot < slots; ++slot)
    parameters[slot] = &values[slot];
  std::vector<double> alone, whole;
  int failures = 0;
  standIn->depth = 1; // what a context that is current looks like to the stand-in
  for (int round = 0; round < rounds; ++round) {
    alone.push_back(measure([&] {
      failures += launch(nullptr, 64, 4, 1, 128, 1, 1, 32768, nullptr, parameters, nullptr) != 0;
    }));
    whole.push_back(measure([&] {
      failures += attune_rt_run(handle, reinterpret_cast<const attune_rt_tensors *>(&c.tensors), nullptr, 0, nullptr) != 0;
    }));
  }
  if (failures)
    return fprintf(stderr, "expected every run to succeed, but got: %s\n", attune_rt_message()), 1;
  printf("cuLaunchKernel alone %.0f ns, attune_rt_run with it %.0f ns: the runtime adds %.2f microseconds\n",
         median(alone), median(whole), (median(whole) - median(alone)) / 1000);
  attune_rt_destroy(handle);
  return 0;
}
