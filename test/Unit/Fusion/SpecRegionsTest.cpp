//===- ExampleRegionsTest.cpp - Kernels of regions for every example ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every example, and specs drawn at random, with the plans that are chosen for a processor and for a GPU, so with many
// tile sizes and combinations: their attention once as attn-to-tile builds it and once from regions.
//
//===----------------------------------------------------------------------===//
#include "RandomSpec.h"
#include "RegionsPass.h"
#include "SameKernels.h"

#include "attune/Attn/Attn.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecToAttn.h"
#include "attune/Graph/Selection.h"
#include "attune/Support/Diagnostics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

static const char *const cpu = "x86-64-avx512", *const gpu = "a100-40gb";

static std::vector<std::string> exampleFiles() {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(ATTUNE_SOURCE_DIR "/examples", error), end; file != end && !error;
       file.increment(error))
    if (llvm::sys::path::extension(file->path()) == ".yaml")
      names.push_back(llvm::sys::path::stem(file->path()).str());
  std::sort(names.begin(), names.end());
  return names;
}

/// How many kernels of a spec's plans for a device come from regions on trial; fails where the modules differ.
static size_t compareBoth(const Spec &spec, StringRef deviceName) {
  MLIRContext context;
  context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                      memref::MemRefDialect>();
  context.disableMultithreading();
  OwningOpRef<ModuleOp> module = specToAttn(spec, "spec.yaml", context);
  llvm::Expected<cost::DeviceDescription> device = cost::DeviceDescription::named(deviceName);
  tile::TargetKind target = deviceName == gpu ? tile::TargetKind::GPU : tile::TargetKind::CPU;
  graph::SelectOptions options{llvm::cantFail(std::move(device)), {}};
  for (const Pin &pin : spec.pin)
    options.pins.push_back({pin.law, pin.form});
  EXPECT_TRUE(succeeded(graph::selectRewrites(*module, options)));
  test::BuiltRegions regions;
  auto expected = test::toTile(*module, target, nullptr), found = test::toTile(*module, target, &regions);
  EXPECT_TRUE(expected && found);
  if (expected && found)
    EXPECT_EQ(fusion::whereDifferent(*expected, *found), "") << (regions.onTrial ? regions.printed.front() : "no region");
  return regions.onTrial;
}

class ExampleRegions : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ExampleRegions, AreWhatAttnToTileBuilds) {
  auto [name, device] = GetParam();
  Spec spec;
  ASSERT_EQ(loadSpec(ATTUNE_SOURCE_DIR "/examples/" + name + ".yaml", spec, llvm::errs()), SpecStatus::Good);
  size_t regions = compareBoth(spec, device);
  RecordProperty("regions", static_cast<int>(regions));
  if (regions == 0)
    GTEST_SKIP() << "no attention here has a region on trial";
}

class RandomRegions : public testing::TestWithParam<std::string> {};

TEST_P(RandomRegions, AreWhatAttnToTileBuilds) {
  size_t regions = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string text = random::drawSpec(seed).yaml();
    SCOPED_TRACE(text);
    Spec spec;
    Diagnostics diagnostics;
    ASSERT_EQ(parseSpec(SourceFile("random.yaml", text), spec, diagnostics), SpecStatus::Good);
    regions += compareBoth(spec, GetParam());
  }
  EXPECT_GT(regions, 20u);
  RecordProperty("regions", static_cast<int>(regions));
}

static std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(, RandomRegions, testing::Values(cpu, gpu),
                         [](const auto &info) { return identifier(info.param); });
INSTANTIATE_TEST_SUITE_P(, ExampleRegions,
                         testing::Combine(testing::ValuesIn(exampleFiles()),
                                          testing::Values(cpu, gpu)),
                         [](const auto &info) {
                           return identifier(std::get<0>(info.param) + "_on_" + std::get<1>(info.param));
                         });
