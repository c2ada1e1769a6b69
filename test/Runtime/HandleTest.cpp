//===- HandleTest.cpp - create, prepare, info, destroy --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/Features.h"
#include "ToyData.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace toy;

namespace {

attune_status createWith(attune_options options) {
  toy_handle *handle = reinterpret_cast<toy_handle *>(&options);
  attune_status status = toy_create(&options, &handle);
  EXPECT_EQ(handle, nullptr);
  return status;
}

TEST(Create, RefusesOptionsOutOfRange) {
  attune_options options = ATTUNE_OPTIONS_INIT;
  options.threads = -1;
  EXPECT_EQ(createWith(options), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_create: option 'threads': expected 0 (all CPUs) or 1 ... 1024, but got -1");
  options = ATTUNE_OPTIONS_INIT;
  options.device_type = 7;
  EXPECT_EQ(createWith(options), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(),
            "toy_create: option 'device_type': expected 1 (CPU), 2 (CUDA) or 0 (what the library was compiled "
            "for), but got 7");
  options = ATTUNE_OPTIONS_INIT;
  options.device_id = 1;
  EXPECT_EQ(createWith(options), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_create: option 'device_id': expected 0 unless device_type is 2 (CUDA), but got 1");
  options = ATTUNE_OPTIONS_INIT;
  options.isa = "sse9";
  EXPECT_EQ(createWith(options), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_create: option 'isa': expected null, avx2, avx512, avx512_bf16 or amx, but got 'sse9'");
  options = ATTUNE_OPTIONS_INIT;
  options.version = 9;
  EXPECT_EQ(createWith(options), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(toy_create(nullptr, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_create: argument 'handle': expected where to store the handle, but got null");
}

TEST(Create, TakesOptionsOfAnOlderSize) {
  attune_options options = optionsWithThreads(1);
  options.isa = "not read";
  options.size = offsetof(attune_options, isa);
  EXPECT_TRUE(makeHandle(options)) << message();
}

TEST(Create, RefusesADescriptorOfAnotherVersion) {
  attune_rt_descriptor other = toy_descriptor;
  other.version = ATTUNE_RT_DESCRIPTOR_VERSION + 1;
  attune_rt_handle *handle = nullptr;
  EXPECT_EQ(attune_rt_create(&other, nullptr, &handle), ATTUNE_ERROR_LIBRARY);
  EXPECT_EQ(message(),
            "create: expected a library description of version 6, but got version 7; compile the library again");
  other = toy_descriptor;
  attune_rt_tensor deep = toy_descriptor.tensors[0];
  deep.rank = ATTUNE_RT_MAX_RANK + 1;
  other.tensors = &deep;
  other.tensor_count = 1;
  EXPECT_EQ(attune_rt_create(&other, nullptr, &handle), ATTUNE_ERROR_LIBRARY);
}

/// The toy library with some of its variants only.
struct Variants {
  std::vector<attune_rt_variant> variants;
  attune_rt_descriptor descriptor = toy_descriptor;
  explicit Variants(std::vector<uint32_t> targets) {
    for (uint32_t target : targets) {
      variants.push_back(toy_descriptor.variants[0]);
      variants.back().target = target;
    }
    descriptor.variants = variants.data();
    descriptor.variant_count = variants.size();
  }
  attune_status create(const char *isa, attune_info *info) {
    attune_options options = optionsWithThreads(1);
    options.isa = isa;
    options.device_type = kDLCPU;
    attune_rt_handle *handle = nullptr;
    attune_status status = attune_rt_create(&descriptor, &options, &handle);
    if (!status)
      EXPECT_EQ(attune_rt_info(handle, info), ATTUNE_OK);
    attune_rt_destroy(handle);
    return status;
  }
};

TEST(Dispatch, TakesTheBestThatTheCpuRuns) {
  attune_info info = {};
  info.size = sizeof(info);
  bool avx2 = attune::rt::cpuSupports(ATTUNE_RT_AVX2), avx512 = attune::rt::cpuSupports(ATTUNE_RT_AVX512);
  EXPECT_EQ(avx2, __builtin_cpu_supports("x86-64-v3") != 0);
  EXPECT_EQ(avx512, __builtin_cpu_supports("x86-64-v4") != 0);
  if (!avx2)
    GTEST_SKIP() << "this CPU lacks avx2";
  Variants both({ATTUNE_RT_AVX512, ATTUNE_RT_AVX2});
  ASSERT_EQ(both.create(nullptr, &info), ATTUNE_OK) << message();
  EXPECT_STREQ(info.isa, avx512 ? "avx512" : "avx2");
  ASSERT_EQ(both.create("avx2", &info), ATTUNE_OK) << message();
  EXPECT_STREQ(info.isa, "avx2");
}

TEST(Dispatch, TakesDotProductsOfBf16WhereTheyAreFast) {
  attune_info info = {};
  info.size = sizeof(info);
  if (!attune::rt::cpuSupports(ATTUNE_RT_AVX512))
    GTEST_SKIP() << "this CPU lacks avx512";
  bool has = __builtin_cpu_supports("avx512bf16") != 0, fast = has && !__builtin_cpu_is("intel");
  EXPECT_EQ(attune::rt::cpuSupports(ATTUNE_RT_AVX512_BF16), has);
  Variants all({ATTUNE_RT_AVX512_BF16, ATTUNE_RT_AVX2, ATTUNE_RT_AVX512});
  ASSERT_EQ(all.create(nullptr, &info), ATTUNE_OK) << message();
  EXPECT_STREQ(info.isa, fast ? "avx512_bf16" : "avx512");
  ASSERT_EQ(all.create("avx512", &info), ATTUNE_OK) << message();
  EXPECT_STREQ(info.isa, "avx512");
  if (!has) {
    EXPECT_EQ(all.create("avx512_bf16", &info), ATTUNE_ERROR_UNSUPPORTED);
    EXPECT_EQ(message(),
              "toy_create: option 'isa': expected a CPU with x86-64-v4 (avx512 f, bw, cd, dq, vl) and "
              "avx512_bf16, but this one lacks some of them; leave the option null to take the best that is there");
    return;
  }
  ASSERT_EQ(all.create("avx512_bf16", &info), ATTUNE_OK) << message();
  EXPECT_STREQ(info.isa, "avx512_bf16");
}

/// Sets a variable of the environment for a while.
struct Assumed {
  Assumed() { setenv("ATTUNE_ASSUME_AMX", "1", 1); }
  ~Assumed() { unsetenv("ATTUNE_ASSUME_AMX"); }
};

/// Whether the processor has tiles of bf16 numbers and the system lets this process use them.
bool hasTiles() {
  constexpr long request = 0x1023, contents = 18;
  return __builtin_cpu_supports("amx-bf16") && syscall(SYS_arch_prctl, request, contents) == 0;
}

TEST(Dispatch, TakesTilesWhereTheyAreThereAndPermitted) {
  attune_info info = {};
  info.size = sizeof(info);
  if (!attune::rt::cpuSupports(ATTUNE_RT_AVX512_BF16))
    GTEST_SKIP() << "this CPU lacks avx512_bf16";
  Variants all({ATTUNE_RT_AVX512_BF16, ATTUNE_RT_AMX, ATTUNE_RT_AVX2, ATTUNE_RT_AVX512});
  bool has = hasTiles();
  EXPECT_EQ(attune::rt::cpuSupports(ATTUNE_RT_AMX), has);
  ASSERT_EQ(all.create(nullptr, &info), ATTUNE_OK) << message();
  EXPECT_EQ(std::string(info.isa) == "amx", has);
  if (has) {
    ASSERT_EQ(all.create("amx", &info), ATTUNE_OK) << message();
    EXPECT_STREQ(info.isa, "amx");
  } else {
    EXPECT_EQ(all.create("amx", &info), ATTUNE_ERROR_UNSUPPORTED);
    EXPECT_EQ(message(),
              "toy_create: option 'isa': expected a CPU with x86-64-v4 (avx512 f, bw, cd, dq, vl), avx512_bf16, "
              "amx_tile and amx_bf16, and a system that permits their use, but this one lacks some of them; leave "
              "the option null to take the best that is there");
  }
  Assumed assumed;
  ASSERT_EQ(all.create(nullptr, &info), ATTUNE_OK) << message();
  EXPECT_STREQ(info.isa, "amx");
  ASSERT_EQ(all.create("amx", &info), ATTUNE_OK) << message();
  EXPECT_STREQ(info.isa, "amx");
  Variants none({ATTUNE_RT_AVX512});
  EXPECT_EQ(none.create("amx", &info), ATTUNE_ERROR_UNSUPPORTED);
  EXPECT_EQ(message(),
            "toy_create: option 'isa': expected an instruction set that the library holds, but got amx; leave the "
            "option null to take the best that is there");
}

TEST(Dispatch, SaysWhatIsMissing) {
  attune_info info = {};
  Variants none({});
  EXPECT_EQ(none.create(nullptr, &info), ATTUNE_ERROR_UNSUPPORTED);
  EXPECT_EQ(message(),
            "toy_create: option 'device_type': expected a device that the library was compiled for, but it holds "
            "no code for the CPU; compile it with --target cpu");
  Variants avx2({ATTUNE_RT_AVX2});
  EXPECT_EQ(avx2.create("avx512", &info), ATTUNE_ERROR_UNSUPPORTED);
  EXPECT_EQ(message(),
            "toy_create: option 'isa': expected an instruction set that the library holds, but got avx512; leave "
            "the option null to take the best that is there");
}

TEST(Prepare, IsNeededBeforeRun) {
  attune_options options = optionsWithThreads(1);
  toy_handle *raw = nullptr;
  ASSERT_EQ(toy_create(&options, &raw), ATTUNE_OK) << message();
  Handle handle(raw);
  Case c(1, 2, 3);
  EXPECT_EQ(toy_run(raw, &c.tensors, nullptr, 0, nullptr), ATTUNE_ERROR_STATE);
  EXPECT_EQ(message(),
            "toy_run: argument 'handle': expected a prepared handle, but got one that is not; call toy_prepare "
            "first");
}

TEST(Prepare, CopiesParametersOfAnyStrides) {
  // v as a parameter: the toy with one tensor more in its table's roles.
  std::vector<attune_rt_tensor> tensors(toy_descriptor.tensors, toy_descriptor.tensors + toy_descriptor.tensor_count);
  tensors[2].role = ATTUNE_RT_PARAMETER;
  tensors[2].dims[0] = 2;
  tensors[2].dims[2] = 9;
  attune_rt_descriptor descriptor = toy_descriptor;
  descriptor.tensors = tensors.data();
  attune_options options = optionsWithThreads(2);
  attune_rt_handle *raw = nullptr;
  ASSERT_EQ(attune_rt_create(&descriptor, &options, &raw), ATTUNE_OK) << message();
  Handle handle(reinterpret_cast<toy_handle *>(raw));

  EXPECT_EQ(attune_rt_prepare(raw, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_prepare: argument 'parameters': expected a struct of tensors, but got null");
  Case c(2, 4, 9, /*sequenceMajorInputs=*/true);
  struct {
    size_t size;
    const DLTensor *v;
  } parameters = {sizeof(parameters), &c.v.tensor};
  ASSERT_EQ(attune_rt_prepare(raw, reinterpret_cast<attune_rt_tensors *>(&parameters)), ATTUNE_OK) << message();
  std::vector<char> kept = c.v.bytes;
  memset(c.v.tensor.data, 0xff, 40); // the handle has its own copy

  struct {
    size_t size;
    const DLTensor *q, *k, *lengths, *o;
  } given = {sizeof(given), &c.q.tensor, &c.k.tensor, &c.keyLengths.tensor, &c.o.tensor};
  ASSERT_EQ(attune_rt_run(raw, reinterpret_cast<attune_rt_tensors *>(&given), nullptr, 0, nullptr), ATTUNE_OK)
      << message();
  memcpy(c.v.tensor.data, kept.data(), 40);
  EXPECT_EQ(c.wrongOutputs(), 0);
}

TEST(Info, StatesPlansThreadsAndScratch) {
  Handle handle = makeHandle(optionsWithThreads(3));
  ASSERT_TRUE(handle) << message();
  attune_info info = {};
  info.size = sizeof(info);
  ASSERT_EQ(toy_info(handle.get(), &info), ATTUNE_OK) << message();
  EXPECT_STREQ(info.name, "toy");
  EXPECT_EQ(info.version, ATTUNE_ABI_VERSION);
  EXPECT_EQ(info.threads, 3);
  EXPECT_EQ(info.scratch_bytes, 3u * 8192); // the largest plan's 5000 bytes in whole pages
  EXPECT_EQ(info.batch, -1);
  EXPECT_EQ(info.heads, 4);
  ASSERT_EQ(info.plan_count, 3);
  EXPECT_STREQ(info.plans[1].form, "state");
  EXPECT_EQ(info.plans[1].from_length, 40);
  EXPECT_EQ(info.plans[1].scratch_bytes, 5000u);
}

TEST(Info, WritesNoMoreThanTheCallerHas) {
  Handle handle = makeHandle(optionsWithThreads(1));
  attune_info info;
  memset(&info, 0x55, sizeof(info));
  info.size = offsetof(attune_info, threads);
  ASSERT_EQ(toy_info(handle.get(), &info), ATTUNE_OK);
  EXPECT_EQ(info.size, offsetof(attune_info, threads));
  EXPECT_EQ(info.threads, 0x55555555);
}

TEST(Info, DescribesEachTensor) {
  Handle handle = makeHandle(optionsWithThreads(1));
  attune_info info = {};
  info.size = sizeof(info);
  ASSERT_EQ(toy_info(handle.get(), &info), ATTUNE_OK);
  ASSERT_EQ(info.tensor_count, 8u);
  attune_tensor_info tensor = {};
  tensor.size = sizeof(tensor);
  ASSERT_EQ(toy_tensor(handle.get(), 2, &tensor), ATTUNE_OK) << message();
  EXPECT_STREQ(tensor.name, "v");
  EXPECT_EQ(tensor.role, ATTUNE_INPUT);
  EXPECT_EQ(std::vector<int64_t>(tensor.shape, tensor.shape + tensor.rank), (std::vector<int64_t>{-1, 2, -3, 5}));
  ASSERT_EQ(toy_tensor(handle.get(), 3, &tensor), ATTUNE_OK) << message();
  EXPECT_STREQ(tensor.name, "key_lengths");
  EXPECT_EQ(tensor.dtype.code, kDLInt);
  EXPECT_EQ(tensor.dtype.bits, 32);
  ASSERT_EQ(toy_tensor(handle.get(), 6, &tensor), ATTUNE_OK) << message();
  EXPECT_EQ(tensor.role, ATTUNE_OPTIONAL_OUTPUT);
  EXPECT_EQ(toy_tensor(handle.get(), 8, &tensor), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_tensor: argument 'index': expected less than 8 (the number of tensors), but got 8");
}

TEST(Handle, NullIsRefused) {
  Case c(1, 2, 3);
  EXPECT_EQ(toy_run(nullptr, &c.tensors, nullptr, 0, nullptr), ATTUNE_ERROR_STATE);
  EXPECT_EQ(message(), "run: argument 'handle': expected a handle from create, but got null");
  toy_destroy(nullptr);
}

TEST(Message, BelongsToTheThreadAndIsClearedBySuccess) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(1, 2, 3);
  EXPECT_EQ(toy_run(nullptr, &c.tensors, nullptr, 0, nullptr), ATTUNE_ERROR_STATE);
  std::string elsewhere = "unset";
  std::thread([&] { elsewhere = message(); }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_NE(message(), "");
  EXPECT_EQ(run(handle.get(), c.tensors), ATTUNE_OK);
  EXPECT_EQ(message(), "");
}

} // namespace
