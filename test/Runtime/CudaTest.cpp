//===- CudaTest.cpp - Device libraries, against a stand-in driver ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs with the stand-in on LD_LIBRARY_PATH, so that the runtime finds it as libcuda.so.1.
//
//===----------------------------------------------------------------------===//

#include "StandIn/StandIn.h"
#include "ToyData.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace toy;

namespace {

constexpr const char *cubin80 = "cubin for sm_80", *ptx80 = "ptx for sm_80", *cubin90a = "cubin for sm_90a";

void devicePlan(void *launcher, const void *args) {
  auto *slots = static_cast<const int64_t *>(args);
  attune_rt_launch_device(launcher, 1, args, 65, slots[3], 4, slots[1]);
  int64_t few[] = {11, 22};
  attune_rt_launch_device(launcher, 0, few, 2, 3, 2, std::max<int64_t>(1, slots[3] - 65535));
  attune_rt_launch_device(launcher, 0, few, 2, 0, 2, 1); // an empty grid: nothing
}

const attune_rt_plan plans[] = {{"device", 0, devicePlan, nullptr, 0}};
const attune_rt_device_kernel kernels[] = {{"small", {32, 1, 1}, 0}, {"large", {128, 2, 1}, 65536}};

attune_rt_variant deviceVariant(int32_t arch, bool specific, const char *cubin, const char *ptx) {
  attune_rt_variant variant = {};
  variant.target = ATTUNE_RT_CUDA;
  variant.arch = arch;
  variant.arch_specific = specific;
  variant.plan_count = 1;
  variant.plans = plans;
  variant.cubin = cubin;
  variant.ptx = ptx;
  variant.kernels = kernels;
  variant.kernel_count = 2;
  return variant;
}

class Cuda : public testing::Test {
protected:
  void SetUp() override {
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    standIn = driver ? static_cast<StandIn *>(dlsym(driver, "standIn")) : nullptr;
    if (!standIn)
      GTEST_SKIP() << "the stand-in driver is not first on LD_LIBRARY_PATH";
    *standIn = StandIn{};
    standIn->devices = 2;
    standIn->major = 8;
    standIn->sharedLimit = 166912;
    standIn->parametersToRead = 2;
    variants = {deviceVariant(80, false, cubin80, ptx80), deviceVariant(90, true, cubin90a, nullptr)};
    descriptor = toy_descriptor;
  }

  attune_status create() {
    handle.reset();
    descriptor.variants = variants.data();
    descriptor.variant_count = variants.size();
    attune_options options = ATTUNE_OPTIONS_INIT;
    options.device_id = device;
    options.device_type = kDLCUDA;
    attune_rt_handle *raw = nullptr;
    attune_status status = attune_rt_create(&descriptor, &options, &raw);
    handle.reset(reinterpret_cast<toy_handle *>(raw));
    return status ? status : attune_rt_prepare(raw, nullptr);
  }

  /// Moves the tensors of a case to the handle's device, as far as anyone can see.
  void moveToDevice(Case &c) {
    for (Tensor *tensor : {&c.q, &c.k, &c.v, &c.keyLengths, &c.o}) {
      tensor->tensor.device.device_type = kDLCUDA;
      tensor->tensor.device.device_id = device;
    }
  }

  void *driver = nullptr;
  StandIn *standIn = nullptr;
  std::vector<attune_rt_variant> variants;
  attune_rt_descriptor descriptor;
  int32_t device = 0;
  Handle handle;
};

TEST_F(Cuda, LoadsTheCubinOfTheArchitecture) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->image, cubin80);
  EXPECT_EQ(standIn->sharedAttribute, 65536);
  attune_info info = {};
  info.size = sizeof(info);
  ASSERT_EQ(toy_info(handle.get(), &info), ATTUNE_OK);
  EXPECT_STREQ(info.isa, "sm_80");
  EXPECT_EQ(info.device_type, kDLCUDA);
  EXPECT_EQ(standIn->depth, 0);
  handle.reset();
  EXPECT_EQ(standIn->retained, 0);
  EXPECT_EQ(standIn->modules, 0);
  EXPECT_EQ(standIn->depth, 0);
}

TEST_F(Cuda, CubinServesLaterMinorVersionsAndPtxLaterMajorOnes) {
  standIn->minor = 9;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->image, cubin80);
  standIn->major = 12;
  standIn->minor = 0;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->image, ptx80);
  standIn->major = 9;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->image, cubin90a);
}

TEST_F(Cuda, PtxServesDriversOlderThanTheCubin) {
  standIn->refused = "cubin";
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->image, ptx80);
  handle.reset();
  EXPECT_EQ(standIn->modules, 0);
  variants[0].ptx = nullptr;
  EXPECT_EQ(create(), ATTUNE_ERROR_DEVICE);
  EXPECT_EQ(message().find("toy_create: cuModuleLoadDataEx (cubin): expected success, but got CUDA_ERROR_NO_BINARY_FOR_GPU (209)"), 0u)
      << message();
  EXPECT_EQ(standIn->retained, 0);
  EXPECT_EQ(standIn->depth, 0);
}

TEST_F(Cuda, SaysWhichArchitecturesAreThere) {
  standIn->major = 7;
  standIn->minor = 5;
  EXPECT_EQ(create(), ATTUNE_ERROR_UNSUPPORTED);
  EXPECT_EQ(message(),
            "toy_create: option 'device_id': expected a GPU of compute capability 8.0 or later, but got sm_75; choose "
            "another, or the CPU");
  variants.erase(variants.begin());
  standIn->major = 8;
  standIn->minor = 6;
  EXPECT_EQ(create(), ATTUNE_ERROR_UNSUPPORTED);
  EXPECT_EQ(message(),
            "toy_create: expected code for sm_86 (the device), but the library holds none that runs there (the "
            "least is sm_90); compile it with --target sm_86");
  standIn->major = 12;
  EXPECT_EQ(create(), ATTUNE_ERROR_UNSUPPORTED);
  EXPECT_NE(message().find("compile it with --target sm_89"), std::string::npos) << message();
  EXPECT_EQ(standIn->retained, 0);
}

TEST_F(Cuda, MachineCodeOfTheSystemOnAChipIsItsOwn) {
  variants = {deviceVariant(80, false, cubin80, nullptr), deviceVariant(87, false, "cubin for sm_87", nullptr)};
  standIn->minor = 9;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->image, cubin80);
  variants.pop_back();
  standIn->minor = 7;
  EXPECT_EQ(create(), ATTUNE_ERROR_UNSUPPORTED);
  variants[0].ptx = ptx80;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->image, ptx80);
}

TEST_F(Cuda, LoadsOnceForAllHandlesOfAContext) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Handle first = std::move(handle);
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->modules, 1);
  EXPECT_EQ(standIn->retained, 1);
  first.reset();
  EXPECT_EQ(standIn->modules, 1);
  handle.reset();
  EXPECT_EQ(standIn->modules, 0);
  EXPECT_EQ(standIn->retained, 0);
}

TEST_F(Cuda, TakesTheCallersContextIfItIsOfTheDevice) {
  int context;
  standIn->current = &context;
  standIn->currentDevice = 101;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->retained, 1) << "the current context is of another device";
  Handle ofPrimary = std::move(handle);
  standIn->currentDevice = 100;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->retained, 1);
  EXPECT_EQ(standIn->modules, 2);
  EXPECT_EQ(standIn->pushed, &context);
  handle.reset();
  ofPrimary.reset();
  EXPECT_EQ(standIn->modules, 0);
}

TEST_F(Cuda, ChecksTheOrdinal) {
  device = 2;
  EXPECT_EQ(create(), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_create: option 'device_id': expected an ordinal below 2 (the number of GPUs), but got 2");
}

TEST_F(Cuda, ChecksSharedMemory) {
  standIn->sharedLimit = 65535;
  EXPECT_EQ(create(), ATTUNE_ERROR_UNSUPPORTED);
  EXPECT_EQ(message(),
            "toy_create: kernel 'large': expected a device with 65536 bytes of shared memory a block, but this "
            "one has 65535; compile for it");
  EXPECT_EQ(standIn->modules, 0);
}

TEST_F(Cuda, LaunchesOnTheGivenStream) {
  device = 1;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Case c(2, 6, 9);
  moveToDevice(c);
  int stream;
  ASSERT_EQ(toy_run(handle.get(), &c.tensors, nullptr, 0, &stream), ATTUNE_OK) << message();
  ASSERT_EQ(standIn->launches, 2);
  const StandInLaunch &first = standIn->launch[0], &second = standIn->launch[1];
  EXPECT_STREQ(first.kernel, "large");
  EXPECT_EQ(first.grid[0], 6u);
  EXPECT_EQ(first.grid[1], 4u);
  EXPECT_EQ(first.grid[2], 2u);
  EXPECT_EQ(first.block[0], 128u);
  EXPECT_EQ(first.block[1], 2u);
  EXPECT_EQ(first.shared, 65536u);
  EXPECT_EQ(first.stream, &stream);
  EXPECT_EQ(first.parameters[0], reinterpret_cast<uint64_t>(c.q.tensor.data));
  EXPECT_EQ(first.parameters[1], 2u);
  EXPECT_STREQ(second.kernel, "small");
  EXPECT_EQ(second.parameters[1], 22u);
  EXPECT_EQ(standIn->depth, 0);
}

TEST_F(Cuda, RefusesTensorsOfAnotherDevice) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Case c(1, 2, 3);
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, nullptr, 0, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(),
            "toy_run: argument 'q': expected a tensor on CUDA device 0, but got one on the CPU 0; copy it there "
            "or create the handle for that device");
}

TEST_F(Cuda, GridsPastTheLimitAreRefusedWithTheRemedy) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Case c(70000, 1, 1);
  moveToDevice(c);
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, nullptr, 0, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(),
            "toy_run: expected sizes whose grid is at most 2147483647 x 65535 x 65535 blocks, but kernel 'large' "
            "needs 1 x 4 x 70000; split the batch or the sequence");
  EXPECT_EQ(standIn->launches, 0);
}

TEST_F(Cuda, NoKernelRunsBeforeOneWhoseGridIsTooLarge) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Case c(1, 140000, 1);
  moveToDevice(c);
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, nullptr, 0, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(),
            "toy_run: expected sizes whose grid is at most 2147483647 x 65535 x 65535 blocks, but kernel 'small' "
            "needs 3 x 2 x 74465; split the batch or the sequence");
  EXPECT_EQ(standIn->launches, 0) << "the first kernel could have run";
}

TEST_F(Cuda, NamesTheDriversErrors) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  Case c(1, 2, 3);
  moveToDevice(c);
  standIn->failing = "cuLaunchKernel";
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, nullptr, 0, nullptr), ATTUNE_ERROR_DEVICE);
  EXPECT_EQ(message(), "toy_run: cuLaunchKernel of large: expected success, but got CUDA_ERROR_LAUNCH_FAILED (719): unspecified "
                       "launch failure; the device's context is lost: start the process again, and look for the kernel "
                       "at fault with compute-sanitizer");
  EXPECT_EQ(standIn->depth, 0);
}

/// "ptx ptx ptx ptx ptx ptx ptx ptx" as xz --format=lzma packs it, and its Adler-32 sum.
constexpr uint8_t packed[] = {
    0x5d, 0x00, 0x00, 0x80, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x38, 0x1d, 0x0b,
    0x69, 0xbf, 0x22, 0xb0, 0xc5, 0x93, 0x2b, 0xff, 0xfe, 0xf9, 0xc8, 0x00, 0xc1, 0x0b, 0xdf, 0xbb};

TEST_F(Cuda, UnpacksImages) {
  standIn->major = 12;
  variants = {deviceVariant(80, false, nullptr, reinterpret_cast<const char *>(packed))};
  variants[0].ptx_bytes = sizeof(packed);
  variants[0].ptx_unpacked = 31;
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_STREQ(standIn->imageText, "ptx ptx ptx ptx ptx ptx ptx ptx");
  variants[0].ptx_begin = 20; // behind the PTX of other variants
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  EXPECT_STREQ(standIn->imageText, "ptx ptx ptx");
  variants[0].ptx_unpacked = 30;
  EXPECT_EQ(create(), ATTUNE_ERROR_LIBRARY);
  EXPECT_EQ(message(), "toy_create: expected a PTX that unpacks, but got a damaged one; compile the library again");
}

TEST_F(Cuda, EveryCallOfCreateMayFail) {
  for (const char *call : {"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetAttribute", "cuCtxGetCurrent",
                           "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", "cuModuleLoadDataEx",
                           "cuModuleGetFunction", "cuFuncSetAttribute"}) {
    standIn->failing = call;
    EXPECT_EQ(create(), ATTUNE_ERROR_DEVICE) << call;
    std::string name = std::string(call).substr(0, std::string(call).find("_v2"));
    EXPECT_EQ(message().find("toy_create: " + name), 0u) << message();
    EXPECT_NE(message().find("CUDA_ERROR_LAUNCH_FAILED (719)"), std::string::npos) << message();
    EXPECT_EQ(standIn->retained, 0) << call;
    EXPECT_EQ(standIn->modules, 0) << call;
    EXPECT_EQ(standIn->depth, 0) << call;
  }
}

TEST_F(Cuda, PassesOnWhatTheAssemblerSays) {
  standIn->major = 12;
  standIn->failing = "cuModuleLoadDataEx";
  standIn->error = 218;
  EXPECT_EQ(create(), ATTUNE_ERROR_DEVICE);
  EXPECT_EQ(message(),
            "toy_create: cuModuleLoadDataEx (PTX): expected success, but got CUDA_ERROR_INVALID_PTX (218): a PTX JIT "
            "compilation failed; install a later driver; the driver's assembler says: ptxas line 3: bad");
  EXPECT_EQ(standIn->retained, 0);
  EXPECT_EQ(standIn->depth, 0);
}

TEST_F(Cuda, AChildOfAForkIsToldToCreateItsOwn) {
  ASSERT_EQ(create(), ATTUNE_OK) << message();
  pid_t child = fork();
  if (child == 0) {
    Case c(1, 2, 3);
    *standIn = StandIn{};
    bool refused = toy_run(handle.get(), &c.tensors, nullptr, 0, nullptr) == ATTUNE_ERROR_STATE &&
                   message() == "toy_run: argument 'handle': expected a handle that this process created, but got one for "
                                "a GPU from before a fork; CUDA does not outlive a fork: fork first, then create";
    toy_destroy(handle.get()); // asks nothing of the driver
    _exit(refused && standIn->modules == 0 && standIn->depth == 0 && standIn->retained == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

} // namespace
