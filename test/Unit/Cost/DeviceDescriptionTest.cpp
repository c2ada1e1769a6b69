//===- DeviceDescriptionTest.cpp - Device descriptions are valid or say why -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Devices.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;
using namespace attune::test;
using ::testing::HasSubstr;

TEST(DeviceDescription, EveryEmbeddedOneLoads) {
  std::vector<std::string> names = DeviceDescription::names();
  EXPECT_THAT(names, ::testing::ElementsAre("sm_80", "sm_86", "sm_87", "sm_89", "sm_90a", "x86-64-avx2", "x86-64-avx512"));
  for (const std::string &name : names) {
    llvm::Expected<DeviceDescription> device = DeviceDescription::named(name);
    ASSERT_TRUE(static_cast<bool>(device)) << llvm::toString(device.takeError());
    EXPECT_EQ(device->name, name);
    EXPECT_EQ(device->check(), "");
    EXPECT_EQ(device->kind == tile::TargetKind::GPU, llvm::StringRef(name).starts_with("sm_"));
  }
}

TEST(DeviceDescription, CpuIsTheOneWithAvx512) {
  EXPECT_EQ(llvm::cantFail(DeviceDescription::named("cpu")).name, "x86-64-avx512");
}

/// What `check` says after one change to a valid description.
template <typename Change> static std::string checkAfter(Change change) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  change(device);
  return device.check();
}

TEST(DeviceDescription, ImpossibleNumbersAreFound) {
  EXPECT_EQ(checkAfter([](DeviceDescription &) {}), "");
  EXPECT_EQ(checkAfter([](DeviceDescription &d) { d.name = ""; }), "expected a name, but got none");
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.cores.value = 0; }),
              HasSubstr("cores: expected a positive number"));
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.cores.value = 1.5; }),
              HasSubstr("cores: expected a whole number"));
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.exp2PerSecond.value = NAN; }),
              HasSubstr("exp2_per_second: expected a positive number"));
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.mainBytesPerSecond.value = INFINITY; }),
              HasSubstr("main_bytes_per_second: expected a positive number"));
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.productEfficiency.value = 1.1; }),
              HasSubstr("product_efficiency: expected at most 1"));
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.f32ProductPasses.value = 0.5; }),
              HasSubstr("f32_product_passes: expected at least 1, but got 0.5"));
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.accumulatorsPerThread.value = 0; }),
              HasSubstr("accumulators_per_thread: expected a positive number"));
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.launchSeconds.source = " "; }),
              HasSubstr("launch_seconds: expected the source of the number"));
}

TEST(DeviceDescription, DeepTextIsRefused) {
  for (const char *mark : {"[", "{a: ", "- ", "? "}) {
    std::string deep;
    for (int level = 0; level < 100000; ++level)
      deep += mark;
    for (const std::string &yaml : {deep, deep.substr(0, 20000)}) {
      llvm::Expected<DeviceDescription> device = DeviceDescription::load(yaml, "deep.yaml");
      ASSERT_FALSE(static_cast<bool>(device));
      EXPECT_THAT(llvm::toString(device.takeError()), HasSubstr("too long or too deep"));
    }
  }
}

TEST(DeviceDescription, RubbishIsRefusedWithItsPlace) {
  for (const char *yaml : {"", "[1, 2]", "name: x\n", "name: x\nsurprise: y\n", "name: [", "\xff\xfe"}) {
    llvm::Expected<DeviceDescription> device = DeviceDescription::load(yaml, "rubbish.yaml");
    ASSERT_FALSE(static_cast<bool>(device)) << yaml;
    EXPECT_THAT(llvm::toString(device.takeError()), ::testing::StartsWith("rubbish.yaml:"));
  }
}
