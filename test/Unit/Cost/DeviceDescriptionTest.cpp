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
  EXPECT_THAT(names, ::testing::ElementsAre("a10", "a100-40gb", "a100-80gb", "h100-sxm", "h20", "h200",
                                            "jetson-agx-orin", "l40s", "rtx-4090", "x86-64-amx", "x86-64-avx2", "x86-64-avx512"));
  for (const std::string &name : names) {
    llvm::Expected<DeviceDescription> device = DeviceDescription::named(name);
    ASSERT_TRUE(static_cast<bool>(device)) << llvm::toString(device.takeError());
    EXPECT_EQ(device->name, name);
    EXPECT_EQ(device->check(), "");
    EXPECT_EQ(device->kind == tile::TargetKind::GPU, device->target != "cpu");
  }
}

TEST(DeviceDescription, EveryTargetHasOneDefault) {
  for (llvm::StringRef target : DeviceDescription::targets()) {
    std::vector<std::string> defaults;
    for (const DeviceDescription &device : DeviceDescription::embedded())
      if (device.target == target && device.isDefault)
        defaults.push_back(device.name);
    ASSERT_EQ(defaults.size(), 1u) << target.str();
    EXPECT_EQ(llvm::cantFail(DeviceDescription::named(target)).name, defaults.front());
  }
  EXPECT_EQ(llvm::cantFail(DeviceDescription::named("cpu")).name, "x86-64-avx512");
}

// What the makers' figures say of two machines with one target: their sources differ where their numbers do.
TEST(DeviceDescription, DevicesOfATargetDiffer) {
  auto named = [](const char *name) { return llvm::cantFail(DeviceDescription::named(name)); };
  DeviceDescription h100 = named("h100-sxm"), h200 = named("h200"), h20 = named("h20");
  EXPECT_EQ(h100.productsPerSecond, h200.productsPerSecond);
  EXPECT_NEAR(h200.mainBytesPerSecond / h100.mainBytesPerSecond, 4.8 / 3.35, 0.03); // measured, and the maker's figure
  // 989 and 148 TFLOP/s of the whole device.
  EXPECT_NEAR(h100.productsPerSecond * h100.cores * 2, 989e12, 5e12);
  EXPECT_NEAR(h20.productsPerSecond * h20.cores * 2, 148e12, 1e12);
  EXPECT_NEAR(named("a100-80gb").mainBytesPerSecond / named("a100-40gb").mainBytesPerSecond, 2039. / 1555, 0.01);
}

// Of two cores one thread has half of the bandwidth and nobody to wait for; more threads than cores add nothing to it.
TEST(DeviceDescription, ThreadsThatAreAskedFor) {
  auto on = [](const char *name, int64_t threads) {
    DeviceDescription device = llvm::cantFail(DeviceDescription::named(name));
    device.runOn(threads);
    return device;
  };
  DeviceDescription all = on("x86-64-avx512", 0), one = on("x86-64-avx512", 1), four = on("x86-64-avx512", 4);
  ASSERT_EQ(all.cores, 2);
  EXPECT_EQ(one.cores, 1);
  EXPECT_EQ(one.mainBytesPerSecond, all.mainBytesPerSecond / 2);
  EXPECT_LT(one.launchSeconds, all.launchSeconds);
  EXPECT_EQ(four.cores, 4);
  EXPECT_EQ(four.mainBytesPerSecond, all.mainBytesPerSecond);
  EXPECT_EQ(four.launchSeconds, all.launchSeconds);
  EXPECT_EQ(one.check() + four.check(), "");
  EXPECT_EQ(on("h100-sxm", 1).cores, on("h100-sxm", 0).cores);
}

// What a kernel may take belongs to the code that it is, not to the machine: one schedule serves all devices of a target.
TEST(DeviceDescription, LimitsAreTheTargets) {
  for (const DeviceDescription &device : DeviceDescription::embedded()) {
    DeviceDescription usual = llvm::cantFail(DeviceDescription::named(device.target));
    if (!device.mustFit())
      continue;
    EXPECT_EQ(device.fastBytes, usual.fastBytes) << device.name;
    EXPECT_EQ(device.accumulatorsPerThread, usual.accumulatorsPerThread) << device.name;
  }
}

TEST(DeviceDescription, PrintedOnesAreReadBack) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::CPU);
  device.name = "this: host", device.summary = "says \"hello\", then # stops";
  device.exp2PerSecond = {1.0 / 3, "µ, a \\ and a 'quote'"};
  device.bf16ProductPasses = {0.58, "measured"};
  std::string text;
  llvm::raw_string_ostream stream(text);
  device.print(stream);
  llvm::Expected<DeviceDescription> back = DeviceDescription::load(text, "printed.yaml");
  ASSERT_TRUE(static_cast<bool>(back)) << llvm::toString(back.takeError()) << text;
  EXPECT_EQ(back->name, device.name);
  EXPECT_EQ(back->summary, device.summary);
  EXPECT_EQ(back->exp2PerSecond.value, 1.0 / 3);
  EXPECT_EQ(back->exp2PerSecond.source, device.exp2PerSecond.source);
  EXPECT_FALSE(back->isDefault);
  EXPECT_EQ(back->bf16ProductPasses, 0.58);
  EXPECT_EQ(back->shufflesPerSecond, 0); // of a CPU it is not written
  EXPECT_THAT(text, ::testing::Not(HasSubstr("shuffles")));
}

TEST(DeviceDescription, ProblemsHaveTheirPlace) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  device.cores.value = 1.5; // after name, summary and target
  auto problemOf = [&] {
    std::string text;
    llvm::raw_string_ostream stream(text);
    device.print(stream);
    return llvm::toString(DeviceDescription::load(text, "odd.yaml").takeError());
  };
  EXPECT_EQ(problemOf(), "odd.yaml:4:1: cores: expected a whole number, but got 1.50");
  device.target = "sm_70";
  EXPECT_EQ(problemOf(),
            "odd.yaml:3:1: target: expected one of cpu, sm_80, sm_86, sm_87, sm_89, sm_90a, but got 'sm_70'");
}

/// What `check` says after one change to a valid description.
template <typename Change> static std::string checkAfter(Change change) {
  DeviceDescription device = madeUpDevice(tile::TargetKind::GPU);
  change(device);
  return device.check();
}

TEST(DeviceDescription, ImpossibleNumbersAreFound) {
  EXPECT_EQ(checkAfter([](DeviceDescription &) {}), "");
  EXPECT_EQ(checkAfter([](DeviceDescription &d) { d.shufflesPerSecond.value = 0; }),
            "shuffles_per_second: expected a positive number of a GPU, but got 0.00");
  EXPECT_EQ(checkAfter([](DeviceDescription &d) { d.name = ""; }), "name: expected a name, but got none");
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
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.cores.value = 1e39; }),
              HasSubstr("cores: expected at most 1048576, but got 1e+39"));
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.exp2PerSecond.value = 1e-300; }),
              HasSubstr("exp2_per_second: expected at least 1e-06, but got 1e-300"));
  EXPECT_THAT(checkAfter([](DeviceDescription &d) { d.shufflesPerSecond.value = 1e300; }),
              HasSubstr("shuffles_per_second: expected at most 1e+30"));
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
