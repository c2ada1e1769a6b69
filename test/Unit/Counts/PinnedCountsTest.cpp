//===- PinnedCountsTest.cpp - Counts of the pinned kernels ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutedCounts.h"

#include "attune/Kernel/Passes.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/DebugStringHelper.h"
#include "mlir/Transforms/Passes.h"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mlir;
using namespace attune;
using namespace attune::test;

namespace {
class PinnedCounts : public testing::Test {
protected:
  std::unique_ptr<MLIRContext> context = countsContext();

  /// What the RUN line of a pinned kernel makes of it.
  OwningOpRef<ModuleOp> lowered(const std::filesystem::path &path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    bool isGPU = text.str().find("-attn-to-tile=target=gpu") != std::string::npos;
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text.str(), context.get());
    PassManager manager(context.get());
    manager.addPass(kernel::createAttnToTile({isGPU ? tile::TargetKind::GPU : tile::TargetKind::CPU}));
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
    EXPECT_TRUE(module && succeeded(manager.run(*module)));
    return module;
  }
};
} // namespace

static const std::filesystem::path pinned = std::filesystem::path(ATTUNE_SOURCE_DIR) / "test" / "Kernel" / "Pinned";

/// One token, tails, whole tiles, none at all, more queries than keys, and lengths that rules on sizes ask for.
static std::vector<RunSizes> someSizes() {
  std::vector<RunSizes> sizes = {{2, 70, 131}, {1, 131, 70}, {1, 1, 300},   {1, 5, 0},   {1, 0, 5},
                                 {0, 3, 3},    {2, 40, 80},  {2, 210, 210}, {2, 288, 96}};
  for (int64_t n : {0, 1, 16, 65, 96, 128, 131, 144, 192, 210, 240, 256, 288, 320, 720})
    sizes.push_back({n == 65 ? 2 : 1, n, n});
  return sizes;
}

/// The host function that runs, not that which prepares.
static func::FuncOp planOf(ModuleOp module) {
  auto runs = [](func::FuncOp host) { return !host->hasAttr(kernel::prepareAttr); };
  return *llvm::find_if(module.getOps<func::FuncOp>(), runs);
}

/// Whether the counts of a kernel's IR, changed, still are what running the unchanged one does.
static bool agrees(ModuleOp changed, ModuleOp original, const RunSizes &sizes) {
  func::FuncOp host = planOf(original);
  auto other = changed.lookupSymbol<func::FuncOp>(host.getName());
  return compiledCounts(other, sizes, cost::Branches::Usual) == executedCounts(host, sizes, cost::Branches::Usual);
}

/// The judge sees a model that counts the tiles behind the diagonal.
TEST_F(PinnedCounts, TilesBehindTheDiagonalAreSeen) {
  OwningOpRef<ModuleOp> original = lowered(pinned / "softmax-causal.mlir"), changed = original->clone();
  EXPECT_TRUE(agrees(*changed, *original, {1, 131, 131}));
  auto kernel = *changed->getOps<tile::KernelOp>().begin();
  auto loop = *llvm::to_vector(kernel.getOps<tile::LoopOp>()).rbegin();
  auto isOfKeys = [&](memref::DimOp dim) { return dim.getSource() == kernel.getBody().getArgument(1); };
  auto keys = *llvm::find_if(kernel.getOps<memref::DimOp>(), isOfKeys);
  loop.getUpperMutable().assign(keys);
  EXPECT_FALSE(agrees(*changed, *original, {1, 131, 131}));
}

/// And one that takes the rows behind the end of a range for rows, or a tail for a whole tile.
TEST_F(PinnedCounts, RowsBehindTheEndAreSeen) {
  OwningOpRef<ModuleOp> original = lowered(pinned / "polysketch-chunked.mlir"), changed = original->clone();
  EXPECT_TRUE(agrees(*changed, *original, {1, 131, 131}));
  changed->walk([](tile::LoadOp load) { load.getRowsMutable().clear(); });
  EXPECT_FALSE(agrees(*changed, *original, {1, 131, 131}));
  func::FuncOp host = planOf(*original);
  auto whole = compiledCounts(host, {1, 192, 192}, cost::Branches::Usual);
  EXPECT_NE(whole, executedCounts(host, {1, 131, 131}, cost::Branches::Usual));
}

/// And one that leaves out a step of any loop.
TEST_F(PinnedCounts, StepsLeftOutAreSeen) {
  for (const char *name : {"kernel-attention-state", "favor-chunked-split-chunks", "kernel-attention-merged-state",
                           "polysketch-chunked"}) {
    OwningOpRef<ModuleOp> original = lowered(pinned / (std::string(name) + ".mlir"));
    int loops = 0;
    original->walk([&](tile::LoopOp) { ++loops; });
    bool anyLengths = takes(planOf(*original), {1, 8, 5000}); // pieces are of 2,048 keys
    RunSizes sizes = anyLengths ? RunSizes{1, 8, 5000} : RunSizes{1, 700, 700};
    for (int i = 0; i < loops; ++i) {
      OwningOpRef<ModuleOp> changed = original->clone();
      int at = 0;
      changed->walk([&](tile::LoopOp loop) {
        if (at++ == i)
          loop.setStep(2 * loop.getStep());
      });
      // A branch, and what the last one of a group does, have one step.
      bool once = false;
      at = 0;
      original->walk([&](tile::LoopOp loop) {
        if (at++ == i)
          once = loop.getUpper().getDefiningOp<tile::ArriveOp>() || loop.isBranch();
      });
      if (!once)
        EXPECT_FALSE(agrees(*changed, *original, sizes)) << name << ", loop " << i;
    }
  }
}

TEST_F(PinnedCounts, AreThoseOfTheRun) {
  int files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(pinned)) {
    SCOPED_TRACE(entry.path().filename().string());
    OwningOpRef<ModuleOp> module = lowered(entry.path());
    EXPECT_GT(checkCounts(*module, someSizes()), 1) << debugString(*planOf(*module).getOperation());
    ++files;
  }
  EXPECT_GT(files, 80);
}

/// Three pieces of 2,048 keys, which the last program of a group merges.
TEST_F(PinnedCounts, LastProgramsMergePieces) {
  for (const char *name : {"kernel-attention-merged-state", "favor-merged-state", "effatt", "favor-state"}) {
    SCOPED_TRACE(name);
    EXPECT_GT(checkCounts(*lowered(pinned / (std::string(name) + ".mlir")), RunSizes{2, 8, 5000}), 0);
  }
}
