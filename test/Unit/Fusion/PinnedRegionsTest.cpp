//===- PinnedRegionsTest.cpp - Kernels of regions are the pinned ones ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every function of attention in test/Kernel/Pinned whose region is on trial, once as attn-to-tile builds it and once from
// regions: the modules are the same up to names and order (SameKernels.h).
//
//===----------------------------------------------------------------------===//
#include "RegionsPass.h"
#include "SameKernels.h"

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

static std::vector<std::string> pinnedFiles() {
  std::vector<std::string> names;
  std::error_code error;
  const char *folder = ATTUNE_SOURCE_DIR "/test/Kernel/Pinned";
  for (llvm::sys::fs::directory_iterator file(folder, error), end; file != end && !error; file.increment(error))
    names.push_back(llvm::sys::path::stem(file->path()).str());
  std::sort(names.begin(), names.end());
  return names;
}

/// A pinned file as its lit test reads it.
struct Pinned {
  OwningOpRef<ModuleOp> module;
  tile::TargetKind target;
};

static Pinned read(MLIRContext &context, const std::string &name) {
  std::string path = ATTUNE_SOURCE_DIR "/test/Kernel/Pinned/" + name + ".mlir";
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return {};
  bool gpu = (*text)->getBuffer().contains("-attn-to-tile=target=gpu");
  return {parseSourceFile<ModuleOp>(path, &context), gpu ? tile::TargetKind::GPU : tile::TargetKind::CPU};
}

static void load(MLIRContext &context) {
  context.loadDialect<attn::AttnDialect, tile::TileDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                      memref::MemRefDialect>();
  context.disableMultithreading();
}

class PinnedRegions : public testing::TestWithParam<std::string> {};

TEST_P(PinnedRegions, AreWhatAttnToTileBuilds) {
  MLIRContext context;
  load(context);
  Pinned pinned = read(context, GetParam());
  ASSERT_TRUE(pinned.module);
  test::BuiltRegions regions;
  auto expected = test::toTile(*pinned.module, pinned.target, nullptr);
  auto found = test::toTile(*pinned.module, pinned.target, &regions);
  ASSERT_TRUE(expected && found);
  if (regions.onTrial == 0)
    GTEST_SKIP() << "no attention here has a region on trial";
  RecordProperty("regions", static_cast<int>(regions.onTrial));
  EXPECT_EQ(fusion::whereDifferent(*expected, *found), "") << regions.printed.front();
}

/// docs/Rationale/Regions.md shows regions as they are printed.
TEST(PrintedRegions, StandInTheirPage) {
  auto page = llvm::MemoryBuffer::getFile(ATTUNE_SOURCE_DIR "/docs/Rationale/Regions.md");
  ASSERT_TRUE(page);
  for (const char *name : {"softmax-causal", "softmax-layer-causal", "favor-chunked-grouped"}) {
    MLIRContext context;
    load(context);
    Pinned pinned = read(context, name);
    ASSERT_TRUE(pinned.module);
    test::BuiltRegions regions;
    ASSERT_TRUE(test::toTile(*pinned.module, pinned.target, &regions));
    ASSERT_EQ(regions.printed.size(), 1u);
    std::string block = "```\n" + regions.printed.front() + "```\n";
    EXPECT_TRUE((*page)->getBuffer().contains(block)) << "the page lacks\n" << regions.printed.front();
  }
}

INSTANTIATE_TEST_SUITE_P(, PinnedRegions, testing::ValuesIn(pinnedFiles()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});
