//===- CudaErrorsTest.cpp - What every error of the driver comes to -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handle is created, prepared, run and destroyed on the stand-in driver, of whose calls one fails: each in its turn,
// and each with every number that a driver has.
//
//===----------------------------------------------------------------------===//

#include "CUDA/Remedies.h"
#include "PreparedToy.h"
#include "StandIn/Errors.h"
#include "StandIn/StandIn.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <set>
#include <unistd.h>

using namespace prepared;
using testing::HasSubstr;
using testing::StartsWith;
using toy::message;
using toy::Tensor;

namespace {

/// Of a use of the library: what it came to, in which of its functions, and the calls of the driver before the end.
struct Outcome {
  attune_status status;
  std::string function, message;
  int made;
};

/// What gives something back, and whose error is one of earlier work: nobody is there to hear it.
bool givesBack(const std::string &call) {
  return call == "cuCtxPopCurrent_v2" || call == "cuMemFree_v2" || call == "cuModuleUnload" ||
         call == "cuDevicePrimaryCtxRelease_v2";
}

/// As messages name it.
std::string named(const std::string &call) { return call.substr(0, call.find("_v2")); }

StandIn *findStandIn() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver ? static_cast<StandIn *>(dlsym(driver, "standIn")) : nullptr;
}

class CudaErrors : public testing::Test {
protected:
  void SetUp() override {
    standIn = findStandIn();
    if (!standIn)
      GTEST_SKIP() << "the stand-in driver is not first on LD_LIBRARY_PATH";
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    allocate = reinterpret_cast<decltype(allocate)>(dlsym(driver, "cuMemAlloc_v2"));
    release = reinterpret_cast<decltype(release)>(dlsym(driver, "cuMemFree_v2"));
    *standIn = StandIn{};
    standIn->devices = 1, standIn->major = 8, standIn->sharedLimit = 166912;
    standIn->currentDevice = 100;
    standIn->parametersOf = slotsOf;
    standIn->compute = computeOnHost;
    kernels.assign(deviceVariant.kernels, deviceVariant.kernels + deviceVariant.kernel_count);
    kernels.front().shared_bytes = 65536;
    variant = deviceVariant;
    variant.kernels = kernels.data();
    library = descriptor;
    library.variants = &variant;
    for (Tensor *tensor : {&c.index, &c.k, &c.o})
      moveToDevice(*tensor);
  }

  void TearDown() override {
    if (!standIn)
      return;
    standIn->failing = nullptr, standIn->failingAt = 0;
    ++standIn->depth;
    for (uint64_t address : owned)
      EXPECT_EQ(release(address), 0);
    --standIn->depth;
  }

  void moveToDevice(Tensor &tensor) {
    uint64_t address = 0;
    ++standIn->depth;
    ASSERT_EQ(allocate(&address, tensor.bytes.size()), 0);
    --standIn->depth;
    owned.push_back(address);
    memcpy(reinterpret_cast<void *>(address - STAND_IN_DEVICE), tensor.bytes.data(), tensor.bytes.size());
    tensor.tensor.data = reinterpret_cast<void *>(address);
    tensor.tensor.device.device_type = kDLCUDA;
  }

  /// The first function that fails ends it.
  Outcome use() {
    standIn->made = standIn->calls = 0;
    attune_options options = ATTUNE_OPTIONS_INIT;
    options.device_type = kDLCUDA;
    attune_rt_handle *raw = nullptr;
    if (attune_status status = attune_rt_create(&library, &options, &raw))
      return {status, "create", message(), standIn->made};
    Handle handle(raw);
    if (attune_status status = prepare(handle, c))
      return {status, "prepare", message(), standIn->made};
    attune_status status = run(handle, c);
    return {status, "run", message(), standIn->made};
  }

  void expectNothingLeft(const std::string &what) {
    EXPECT_EQ(standIn->retained, 0) << what;
    EXPECT_EQ(standIn->modules, 0) << what;
    EXPECT_EQ(standIn->depth, 0) << what;
    EXPECT_EQ(standIn->blocks, static_cast<int>(owned.size())) << what;
  }

  void forgetTheRest() {
    standIn->failingAt = 0;
    ++standIn->depth;
    while (standIn->blocks > static_cast<int>(owned.size()))
      EXPECT_EQ(release(standIn->block[standIn->blocks - 1].address), 0);
    --standIn->depth;
    standIn->modules = 0;
  }

  /// What a use makes of calls that fail; with the error's number.
  void expectError(const Outcome &outcome, const std::string &call, int error) {
    EXPECT_EQ(outcome.status, error == 2 ? ATTUNE_ERROR_MEMORY : ATTUNE_ERROR_DEVICE) << call << ' ' << error;
    EXPECT_THAT(outcome.message, StartsWith("kit_" + outcome.function + ": " + named(call)));
    EXPECT_THAT(outcome.message, HasSubstr(": expected success, but got "));
    EXPECT_THAT(outcome.message, HasSubstr(" (" + std::to_string(error) + "): "));
    EXPECT_THAT(outcome.message, testing::EndsWith(std::string("; ") + attune::rt::remedyFor(error)));
    expectNothingLeft(call);
  }

  StandIn *standIn = nullptr;
  int (*allocate)(uint64_t *, size_t) = nullptr;
  int (*release)(uint64_t) = nullptr;
  std::vector<uint64_t> owned;
  std::vector<attune_rt_device_kernel> kernels;
  attune_rt_variant variant;
  attune_rt_descriptor library;
  Case c{2, 9};
};

const std::set<std::string> calls = {
    "cuDeviceGetCount",   "cuDeviceGet",      "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxGetCurrent",
    "cuCtxGetDevice",     "cuCtxSynchronize", "cuCtxPushCurrent_v2",  "cuModuleLoadDataEx",       "cuModuleGetFunction",
    "cuFuncSetAttribute", "cuMemAlloc_v2",    "cuMemcpyHtoD_v2",      "cuMemcpyDtoH_v2",          "cuLaunchKernel"};
const std::set<std::string> ends = {"cuDevicePrimaryCtxRelease_v2", "cuCtxPopCurrent_v2", "cuModuleUnload",
                                    "cuCtxPushCurrent_v2", "cuMemFree_v2"};

TEST_F(CudaErrors, EachCallInItsTurn) {
  std::set<std::string> failed, gaveBack, pushed;
  int ofTheCaller;
  EXPECT_EQ(use().status, ATTUNE_OK) << message(); // with cuInit, which is called once
  for (void *current : {static_cast<void *>(nullptr), static_cast<void *>(&ofTheCaller)})
    for (int at = 1;; ++at) {
      standIn->current = current;
      standIn->failingAt = at;
      standIn->error = 999;
      Outcome outcome = use();
      if (standIn->made < at)
        break; // it did not come to that call
      std::string call = standIn->called[at - 1];
      bool push = call == "cuCtxPushCurrent_v2"; // also where something is given back
      bool heard = push ? outcome.status != ATTUNE_OK : !givesBack(call) && at <= outcome.made;
      if (push && heard)
        pushed.insert(outcome.function);
      (heard ? failed : gaveBack).insert(call);
      if (heard) {
        expectError(outcome, call, 999);
        continue;
      }
      EXPECT_EQ(outcome.status, ATTUNE_OK) << outcome.message;
      if (push)
        forgetTheRest(); // a context that cannot be made current is gone, and with it what is there
      else
        expectNothingLeft(call);
    }
  EXPECT_EQ(failed, calls);
  EXPECT_EQ(gaveBack, ends);
  EXPECT_EQ(pushed, (std::set<std::string>{"create", "prepare", "run"}));
}

TEST_F(CudaErrors, EachNumberOfEachCall) {
  int ofTheCaller;
#define NUMBER(name, number) number,
  for (int error : {STAND_IN_ERRORS(NUMBER) 12345})
    for (const std::string &call : calls) {
      standIn->current = call == "cuCtxGetDevice" ? &ofTheCaller : nullptr;
      standIn->failing = call.c_str();
      standIn->error = error;
      expectError(use(), call, error);
    }
#undef NUMBER
}

TEST_F(CudaErrors, AreNamedAsTheDriverNamesThem) {
  standIn->failing = "cuModuleGetFunction";
  standIn->error = 500;
  EXPECT_EQ(use().message,
            "kit_create: cuModuleGetFunction of sum: expected success, but got CUDA_ERROR_NOT_FOUND (500): "
            "other; compile the library again");
  standIn->error = 12345;
  EXPECT_THAT(use().message, HasSubstr("expected success, but got an error without a name (12345): "));
  standIn->nameless = 1;
  standIn->error = 500;
  EXPECT_THAT(use().message,
              HasSubstr("expected success, but got CUDA_ERROR_NOT_FOUND (500): the driver says no more; "));
}

TEST_F(CudaErrors, MemoryIsSaidInBytes) {
  standIn->failing = "cuMemAlloc_v2";
  standIn->error = 2;
  Outcome outcome = use();
  EXPECT_EQ(outcome.status, ATTUNE_ERROR_MEMORY);
  // e of 2 x 9 f32, sign of 2 x 4, index of 2, factor of 2, count: each from a multiple of 64 bytes on.
  EXPECT_EQ(outcome.message,
            "kit_prepare: cuMemAlloc of 384 bytes: expected success, but got CUDA_ERROR_OUT_OF_MEMORY (2): "
            "out of memory; free device memory, take one with more, or make the tensors smaller");
}

TEST_F(CudaErrors, RemediesAreOfTheErrorsThatTheyName) {
#define NAMED(name, number) {"CUDA_ERROR_" #name, number},
#define REMEDY(name, number, text) {"CUDA_ERROR_" #name, number},
  std::set<std::pair<std::string, int>> errors = {STAND_IN_ERRORS(NAMED)};
  for (const auto &remedy : {ATTUNE_CUDA_REMEDIES(REMEDY) std::pair<std::string, int>("CUDA_ERROR_NOT_FOUND", 500)})
    EXPECT_TRUE(errors.count(remedy)) << remedy.first << ' ' << remedy.second;
#undef REMEDY
#undef NAMED
}

TEST_F(CudaErrors, ACubinThatTheDriverRefusesGivesWayToPtx) {
  variant.ptx = "ptx", variant.ptx_bytes = 3;
  standIn->refused = "cubin";
  for (int error : {200, 209, 218, 222, 300}) {
    standIn->error = error;
    Outcome outcome = use();
    EXPECT_EQ(outcome.status, ATTUNE_OK) << outcome.message;
    EXPECT_STREQ(standIn->imageText, "ptx") << error;
    memset(standIn->imageText, 0, sizeof(standIn->imageText));
  }
  standIn->error = 2;
  EXPECT_EQ(use().status, ATTUNE_ERROR_MEMORY) << "not for want of memory";
  expectNothingLeft("cubin");
}

TEST_F(CudaErrors, NoDevice) {
  standIn->devices = 0;
  Outcome outcome = use();
  EXPECT_EQ(outcome.status, ATTUNE_ERROR_UNSUPPORTED);
  EXPECT_EQ(outcome.message,
            "kit_create: expected a GPU, but the driver has none; check with nvidia-smi, and "
            "CUDA_VISIBLE_DEVICES, that one is there, or ask for the CPU if the library holds code for it");
}

TEST_F(CudaErrors, OnlyRunCanBeCaptured) {
  attune_options options = ATTUNE_OPTIONS_INIT;
  options.device_type = kDLCUDA;
  Handle handle = prepared::create(options, library);
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
  standIn->capturing = 1;
  EXPECT_EQ(prepare(handle, c), ATTUNE_ERROR_DEVICE);
  EXPECT_EQ(message(),
            "kit_prepare: cuCtxSynchronize: expected success, but got CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900): "
            "other; end the stream's capture first: only run can be captured");
  EXPECT_EQ(run(handle, c), ATTUNE_OK) << message();
  standIn->capturing = 0;
}

using CudaErrorsDeathTest = CudaErrors;

/// In a process of its own, since the driver is initialised once.
TEST_F(CudaErrorsDeathTest, TheFirstCall) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  auto first = [&] {
    standIn->failing = "cuInit";
    standIn->error = 100;
    Outcome outcome = use();
    fprintf(stderr, "%s\n", outcome.message.c_str());
    standIn->failing = nullptr;
    // It is asked again. The tensors on the stand-in stay: what this process leaves behind is no leak.
    _exit(outcome.status == ATTUNE_ERROR_DEVICE && use().status == ATTUNE_OK ? 7 : 1);
  };
  EXPECT_EXIT(
      first(), testing::ExitedWithCode(7),
      "kit_create: cuInit: expected success, but got CUDA_ERROR_NO_DEVICE .100.: other; check with nvidia-smi, and "
      "CUDA_VISIBLE_DEVICES, that a GPU is there");
}

/// With a stand-in that has no cuMemcpy2DAsync.
TEST(OldDriver, TheFunctionThatIsMissingIsNamed) {
  if (!getenv("ATTUNE_TEST_OLD_DRIVER"))
    GTEST_SKIP() << "only beside a driver that lacks a function";
  ASSERT_NE(findStandIn(), nullptr);
  attune_options options = ATTUNE_OPTIONS_INIT;
  options.device_type = kDLCUDA;
  EXPECT_EQ(prepared::create(options), nullptr);
  EXPECT_EQ(message(),
            "kit_create: expected the function cuMemcpy2DAsync_v2 in libcuda.so.1, but it is not there; install "
            "an NVIDIA driver of CUDA 11.4 or later");
}

} // namespace
