//===- DeviceLibraryTest.cpp - A library with GPU code, against a stand-in driver ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyLibrary.h"

#include "Runtime/StandIn/StandIn.h"
#include "attune/Target/EmitLibrary.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace attune::target;
using namespace llvm;

namespace {

constexpr const char *planText = R"(
declare void @attune_rt_launch_device(ptr, i64, ptr, i64, i64, i64, i64)

define void @device_plan(ptr %launcher, ptr %args) {
  call void @attune_rt_launch_device(ptr %launcher, i64 1, ptr %args, i64 19, i64 7, i64 5, i64 3)
  ret void
}
)";

LibraryDescription description() {
  LibraryDescription result = tiny::description();
  VariantDescription variant;
  variant.target = ATTUNE_RT_CUDA;
  variant.arch = 80;
  variant.cubin = std::string("cubin\0with zeros", 16);
  variant.ptx = "ptx text";
  variant.kernels.push_back({.name = "first"});
  variant.kernels.push_back({.name = "second", .block = {128, 2, 1}, .sharedBytes = 49153});
  variant.plans.push_back({.form = "device", .planFunction = "device_plan"});
  VariantDescription later = variant;
  later.arch = 90;
  later.archSpecific = true;
  later.cubin.clear();
  for (int line = 0; line < 100; ++line)
    later.cubin += "the same again\n";
  result.variants = {variant, later};
  return result;
}

class DeviceLibrary : public testing::Test {
protected:
  tiny::Folder folder;
  void *loaded = nullptr;
  StandIn *standIn = nullptr;

  void SetUp() override {
    // Its name of record is libcuda.so.1: once it is loaded, the runtime's search ends there.
    void *driver = dlopen(ATTUNE_STAND_IN_DRIVER, RTLD_NOW);
    ASSERT_NE(driver, nullptr) << dlerror();
    standIn = static_cast<StandIn *>(dlsym(driver, "standIn"));
    ASSERT_NE(standIn, nullptr);
    *standIn = StandIn{};
    standIn->devices = 1;
    standIn->major = 8;
    standIn->sharedLimit = 100000;
    standIn->parametersToRead = 19;

    LLVMContext context;
    SMDiagnostic diagnostic;
    std::unique_ptr<Module> module = parseAssemblyString(planText, diagnostic, context);
    ASSERT_TRUE(module) << diagnostic.getMessage().str();
    ASSERT_EQ(toString(emitLibrary(std::move(module), description(), folder / "libtiny.so")), "");
    loaded = dlopen((folder / "libtiny.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(loaded, nullptr) << dlerror();
  }
  void TearDown() override {
    if (loaded)
      dlclose(loaded);
  }
  template <typename Type> Type *function(const char *name) { return reinterpret_cast<Type *>(dlsym(loaded, name)); }
};

TEST_F(DeviceLibrary, LoadsItsImageAndLaunchesByTheKernelTable) {
  auto *message = function<const char *()>("tiny_message");
  void *handle = nullptr;
  ASSERT_EQ(function<attune_status(const attune_options *, void **)>("tiny_create")(nullptr, &handle), ATTUNE_OK)
      << message();
  ASSERT_EQ(function<attune_status(void *, const void *)>("tiny_prepare")(handle, nullptr), ATTUNE_OK) << message();
  EXPECT_EQ(StringRef(static_cast<const char *>(standIn->image), 16), StringRef("cubin\0with zeros", 16));
  EXPECT_EQ(standIn->sharedAttribute, 49153);

  int64_t shape[] = {2, 2, 9, 3};
  DLTensor q = {reinterpret_cast<void *>(0x1000), {kDLCUDA, 0}, 4, {kDLFloat, 32, 1}, shape, nullptr, 0};
  DLTensor o = q;
  o.data = reinterpret_cast<void *>(0x2000);
  struct {
    size_t size;
    const DLTensor *q, *o;
  } tensors = {sizeof(tensors), &q, &o};
  auto *run = function<attune_status(void *, const void *, void *, size_t, void *)>("tiny_run");
  ASSERT_EQ(run(handle, &tensors, reinterpret_cast<void *>(0x3000), 64, nullptr), ATTUNE_OK) << message();
  ASSERT_EQ(standIn->launches, 1);
  const StandInLaunch &launch = standIn->launch[0];
  EXPECT_STREQ(launch.kernel, "second");
  EXPECT_EQ(std::vector<unsigned>(launch.grid, launch.grid + 3), (std::vector<unsigned>{7, 5, 3}));
  EXPECT_EQ(std::vector<unsigned>(launch.block, launch.block + 3), (std::vector<unsigned>{128, 2, 1}));
  EXPECT_EQ(launch.shared, 49153u);
  EXPECT_EQ(std::vector<uint64_t>(launch.parameters, launch.parameters + 19),
            (std::vector<uint64_t>{0x1000, 2, 2, 9, 3, 54, 27, 3, 1, 0x2000, 2, 2, 9, 3, 54, 27, 3, 1, 0x3000}));
  function<void(void *)>("tiny_destroy")(handle);
  EXPECT_EQ(standIn->modules, 0);
  EXPECT_EQ(standIn->retained, 0);
}

TEST_F(DeviceLibrary, UnpacksWhatThePackingMadeSmaller) {
  standIn->major = 9;
  void *handle = nullptr;
  ASSERT_EQ(function<attune_status(const attune_options *, void **)>("tiny_create")(nullptr, &handle), ATTUNE_OK)
      << function<const char *()>("tiny_message")();
  EXPECT_EQ(StringRef(standIn->imageText),
            "the same again\nthe same again\nthe same again\nthe same again\nthe");
  attune_info info = {};
  info.size = sizeof(info);
  ASSERT_EQ(function<attune_status(void *, attune_info *)>("tiny_info")(handle, &info), ATTUNE_OK);
  EXPECT_STREQ(info.isa, "sm_90a");
  function<void(void *)>("tiny_destroy")(handle);
}

} // namespace
