//===- CudaPrepareTest.cpp - Parameters and prepare plans on a device ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stand-in keeps device memory and computes what is launched, so values are judged and not calls alone.
//
//===----------------------------------------------------------------------===//

#include "PreparedToy.h"
#include "StandIn/StandIn.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace prepared;
using toy::message;
using toy::Tensor;

namespace {

class CudaPrepare : public testing::Test {
protected:
  void SetUp() override {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    standIn = driver ? static_cast<StandIn *>(dlsym(driver, "standIn")) : nullptr;
    if (!standIn)
      GTEST_SKIP() << "the stand-in driver is not first on LD_LIBRARY_PATH";
    allocate = reinterpret_cast<decltype(allocate)>(dlsym(driver, "cuMemAlloc_v2"));
    release = reinterpret_cast<decltype(release)>(dlsym(driver, "cuMemFree_v2"));
    *standIn = StandIn{};
    standIn->devices = 1;
    standIn->major = 8;
    standIn->sharedLimit = 166912;
    standIn->parametersOf = slotsOf;
    standIn->compute = computeOnHost;
    library = descriptor;
    library.variants = &deviceVariant;
    attune_options options = ATTUNE_OPTIONS_INIT;
    handle = prepared::create(options, library);
    ASSERT_TRUE(handle) << message();
  }

  /// Frees what the test allocated; what the runtime forgets is left for the leak checker to see.
  void TearDown() override {
    handle.reset();
    for (uint64_t address : owned) {
      standIn->failing = nullptr;
      ++standIn->depth;
      EXPECT_EQ(release(address), 0);
      --standIn->depth;
    }
  }

  /// Moves a tensor's bytes to device memory.
  void moveToDevice(Tensor &tensor) {
    uint64_t address = 0;
    ++standIn->depth;
    ASSERT_EQ(allocate(&address, tensor.bytes.size()), 0);
    --standIn->depth;
    owned.push_back(address);
    memcpy(host(address), tensor.bytes.data(), tensor.bytes.size());
    uint64_t offset = reinterpret_cast<uint64_t>(tensor.tensor.data) - reinterpret_cast<uint64_t>(tensor.bytes.data());
    tensor.tensor.data = reinterpret_cast<void *>(address + offset);
    tensor.tensor.device.device_type = kDLCUDA;
  }
  void moveBack(Tensor &tensor) {
    auto address = reinterpret_cast<uint64_t>(tensor.tensor.data);
    memcpy(tensor.bytes.data(), host(address), tensor.bytes.size());
    tensor.tensor.data = tensor.bytes.data();
  }
  static char *host(uint64_t address) { return reinterpret_cast<char *>(address - STAND_IN_DEVICE); }

  /// Wrong elements of a run of `c` on the device.
  int64_t wrongOnDevice(Case &c) {
    moveToDevice(c.k);
    moveToDevice(c.o);
    EXPECT_EQ(prepared::run(handle, c), ATTUNE_OK) << message();
    moveBack(c.o);
    moveBack(c.k);
    return c.wrongOutputs();
  }

  long called(const char *name) const {
    return std::count_if(standIn->called, standIn->called + standIn->calls,
                         [&](const char *call) { return strcmp(call, name) == 0; });
  }

  StandIn *standIn = nullptr;
  int (*allocate)(uint64_t *, size_t) = nullptr;
  int (*release)(uint64_t) = nullptr;
  std::vector<uint64_t> owned;
  attune_rt_descriptor library;
  Handle handle;
};

TEST_F(CudaPrepare, CopiesHostParametersAndRunsThePlan) {
  Case c(3, 17);
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->blocks, 1) << "parameters and prepared tensors, and no workspace any more";
  EXPECT_EQ(standIn->launches, 2);
  EXPECT_EQ(standIn->depth, 0);
  EXPECT_EQ(wrongOnDevice(c), 0);
  EXPECT_FALSE(misaligned);
  handle.reset();
  EXPECT_EQ(standIn->blocks, 2) << "k and o, which are the caller's";
  EXPECT_EQ(standIn->modules, 0);
  EXPECT_EQ(standIn->depth, 0);
}

TEST_F(CudaPrepare, TakesDeviceParametersOfAnyStrides) {
  Case c(2, 9), onHost(2, 9);
  std::vector<float> transposed(18);
  for (int64_t s = 0; s < 2; ++s)
    for (int64_t j = 0; j < 9; ++j)
      transposed[j * 2 + s] = c.e.at({s, j});
  memcpy(c.e.data(), transposed.data(), sizeof(float) * 18);
  c.e.strides = {1, 2};
  c.index.tensor.byte_offset = 4; // backwards
  c.index.strides[0] = -1;
  std::swap(onHost.index.data<int32_t>()[0], onHost.index.data<int32_t>()[1]);
  for (Tensor *tensor : {&c.e, &c.sign, &c.index})
    moveToDevice(*tensor);
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
  EXPECT_EQ(called("cuMemcpyDtoH_v2"), 3);
  EXPECT_EQ(wrongOnDevice(onHost), 0);
}

TEST_F(CudaPrepare, ARunNeitherAllocatesNorCopiesNorWaits) {
  Case c(2, 9);
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
  moveToDevice(c.k);
  moveToDevice(c.o);
  standIn->calls = 0;
  int stream;
  ASSERT_EQ(attune_rt_run(handle.get(), reinterpret_cast<const attune_rt_tensors *>(&c.tensors), nullptr, 0, &stream),
            ATTUNE_OK)
      << message();
  std::vector<std::string> calls(standIn->called, standIn->called + standIn->calls);
  EXPECT_EQ(calls, (std::vector<std::string>{"cuCtxPushCurrent_v2", "cuLaunchKernel", "cuCtxPopCurrent_v2"}));
  EXPECT_EQ(standIn->launch[2].stream, &stream);
}

TEST_F(CudaPrepare, MayBeCalledAgainAndAFailureChangesNothing) {
  Case first(2, 9, 1), second(2, 12, 7);
  ASSERT_EQ(prepare(handle, first), ATTUNE_OK) << message();
  ASSERT_EQ(prepare(handle, second), ATTUNE_OK) << message();
  EXPECT_EQ(standIn->blocks, 1);
  first.sign.data()[5] = 0.5f;
  moveToDevice(first.sign);
  EXPECT_EQ(prepare(handle, first), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "kit_prepare: argument 'sign': expected -1 or 1 in every element, but got 0.5 at [1, 1]");
  EXPECT_EQ(standIn->blocks, 2) << "what was kept, and sign";
  EXPECT_EQ(wrongOnDevice(second), 0);
}

TEST_F(CudaPrepare, EveryCallOfTheDriverMayFail) {
  Case c(2, 9);
  moveToDevice(c.index);
  for (const char *call : {"cuCtxPushCurrent_v2", "cuCtxSynchronize", "cuMemcpyDtoH_v2", "cuMemAlloc_v2",
                           "cuMemcpyHtoD_v2", "cuLaunchKernel"}) {
    standIn->failing = call;
    EXPECT_EQ(prepare(handle, c), ATTUNE_ERROR_DEVICE) << call;
    std::string name = std::string(call).substr(0, std::string(call).find("_v2"));
    EXPECT_EQ(message().find("kit_prepare: " + name), 0u) << message();
    EXPECT_NE(message().find(": expected success, but got CUDA_ERROR_LAUNCH_FAILED (719)"), std::string::npos) << message();
    EXPECT_EQ(standIn->blocks, 1) << call;
    EXPECT_EQ(standIn->depth, 0) << call;
  }
  standIn->failing = nullptr;
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
}

TEST_F(CudaPrepare, ParametersOfAnotherDeviceAreRefused) {
  Case c(2, 9);
  c.e.tensor.device.device_type = kDLCUDA;
  c.e.tensor.device.device_id = 1;
  EXPECT_EQ(prepare(handle, c), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "kit_prepare: argument 'e': expected a tensor on CUDA device 0, but got one on CUDA device 1; "
                       "copy it there or create the handle for that device");
}

} // namespace
