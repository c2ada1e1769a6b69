//===- CountedPlanTest.cpp - Every plan of an example is counted, and as it is compiled -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prices by counts build the kernels of one attention at a time, out of the function. What they count must be what the
// whole function is lowered to, and no plan may fall back to formulas unseen.
//
//===----------------------------------------------------------------------===//
#include "ExamplePlans.h"
#include "ExecutedCounts.h"

#include "attune/Kernel/Passes.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;
using tile::Counted;

/// All launches of the lowered plan together.
static cost::WorkEstimate loweredWork(ModuleOp module, const RunSizes &sizes, int64_t mostVisited) {
  cost::WorkEstimate total;
  for (auto host : module.getOps<func::FuncOp>()) {
    if (host->hasAttr(kernel::prepareAttr))
      continue;
    for (auto launch : host.getOps<tile::LaunchOp>()) {
      if (launch.getCallee().ends_with("_advance")) // counts positions on, the same in every plan: not priced
        continue;
      auto compiled = cost::KernelCounts::compile(launch);
      EXPECT_TRUE(succeeded(compiled));
      SmallVector<int64_t> inputs;
      for (const cost::SizeInput &input : compiled->inputs())
        inputs.push_back(sizeOf(host, input.argument, input.dimension, sizes));
      total += cost::cpuWork(compiled->evaluate(inputs, cost::Branches::Usual, mostVisited), compiled->liveBytes());
    }
  }
  return total;
}

TEST(CountedPlans, AreThoseThatAreLowered) {
  std::unique_ptr<MLIRContext> context = countsContext();
  auto device = llvm::cantFail(cost::DeviceDescription::named("x86-64-avx512"));
  for (const std::string &example : exampleNames()) {
    SCOPED_TRACE(example);
    graph::Metric metric(device);
    forEachPlan(*context, example, device, 24, [&](LoweredPlan &plan) {
      llvm::cantFail(metric.count(*plan.attention, plan.priced));
      ASSERT_EQ(plan.priced.counted.size(), plan.priced.attentions.size());
      for (const graph::CountedAttention &counted : plan.priced.counted)
        EXPECT_FALSE(counted.empty());
      for (RunSizes sizes : {RunSizes{1, 4096, 4096}, RunSizes{2, 480, 480}}) {
        cost::WorkEstimate lowered = loweredWork(*plan.module, sizes, cost::nearly), counted;
        counted.launches = 0, counted.grain = INFINITY;
        for (const graph::PricedKernel &kernel : metric.kernels(plan.priced, {sizes.batch, sizes.queries, sizes.keys}))
          counted += kernel.kernel.work;
        EXPECT_DOUBLE_EQ(counted.exps, lowered.exps);
        EXPECT_DOUBLE_EQ(counted.nearBytes, lowered.nearBytes);
        // Nothing is folded in what is counted, and nothing taken out of loops, which saves little, or costs as little where a
        // loop has no steps.
        EXPECT_GE(counted.elementwise, .99 * lowered.elementwise);
        EXPECT_LE(counted.elementwise, 1.1 * lowered.elementwise);
      }
    });
  }
}

TEST(CountedPlans, AreAllThatAGpuRuns) {
  std::unique_ptr<MLIRContext> context = countsContext();
  for (const char *target : {"sm_80", "sm_86"}) {
    auto device = llvm::cantFail(cost::DeviceDescription::named(target));
    graph::Metric metric(device);
    for (const std::string &example : exampleNames())
      forEachPlan(*context, example, device, 8, [&](LoweredPlan &plan) {
        llvm::cantFail(metric.count(*plan.attention, plan.priced));
        for (const graph::CountedAttention &counted : plan.priced.counted)
          EXPECT_FALSE(counted.empty()) << example << " on " << target;
      });
  }
}

/// Half of 2 MiB is for tiles: of the last rows that are tried the tiles are as small as they go.
TEST(CountedPlans, SayWhatTilesACpuHolds) {
  std::unique_ptr<MLIRContext> context = countsContext();
  auto device = llvm::cantFail(cost::DeviceDescription::named("x86-64-avx512"));
  auto partition = [&](int64_t width) {
    std::string type = "tensor<1x1x?x" + std::to_string(width) + "xf32>", types = type + ", " + type + ", " + type + " -> " + type;
    auto module = parseSourceString<ModuleOp>("func.func @f(%q: " + type + ", %k: " + type + ", %v: " + type + ") -> " + type +
                                              "{ %o = attn.softmax %q, %k, %v {scale = 1.0 : f64} : " + types +
                                              " return %o : " + type + " }", context.get());
    auto plan = graph::Metric(device).partition(*module->getOps<func::FuncOp>().begin());
    return plan ? std::to_string(plan->schedule.getKeyTile()) : llvm::toString(plan.takeError());
  };
  EXPECT_EQ(partition(64), "64");
  // Queries, the output, and keys or values: 3 · 64 · 1300 · 4 bytes are 998,400, beside 64 · 64 · 4 of weights; with 1400 channels they
  // are 1,075,200, as are those of 32 rows with 2800.
  EXPECT_EQ(partition(1300), "64");
  EXPECT_EQ(partition(1400), "32");
  EXPECT_EQ(partition(2800), "16");
  EXPECT_EQ(partition(100000), "16");
  EXPECT_TRUE(StringRef(partition(200000)).starts_with("no schedule fits: expected tiles of at most 33554432 bytes on"));
  EXPECT_EQ(partition(int64_t(1) << 40), "no schedule fits: expected tiles of at most 33554432 bytes on x86-64-avx512, but got " +
                                             std::to_string(int64_t(64) << 40)); // 16 rows of one operand
}

TEST(CountedPlans, SamplesForPricesAreEnough) {
  std::unique_ptr<MLIRContext> context = countsContext();
  auto device = llvm::cantFail(cost::DeviceDescription::named("x86-64-avx512"));
  device.runOn(4);
  for (const std::string &example : exampleNames())
    forEachPlan(*context, example, device, 8, [&](LoweredPlan &plan) {
      for (int64_t length : {200, 4096, 5000, 65536}) {
        SCOPED_TRACE(example + " at " + std::to_string(length));
        RunSizes sizes{1, length, length};
        auto near = loweredWork(*plan.module, sizes, cost::nearly), exact = loweredWork(*plan.module, sizes, cost::exactly);
        EXPECT_NEAR(near.products / exact.products, 1, .01);
        EXPECT_NEAR(near.elementwise / exact.elementwise, 1, .01);
        EXPECT_NEAR(near.nearBytes / exact.nearBytes, 1, .01);
      }
    });
}

namespace {
class CpuProductsTest : public testing::Test {
protected:
  std::unique_ptr<MLIRContext> context = countsContext();

  /// Multiply-adds of a kernel of one program.
  double macs(const std::string &body) {
    auto module = parseSourceString<ModuleOp>(R"(
      tile.kernel @kernel(%x: memref<?x8xf32>) grid(batch) {
        %c0 = arith.constant 0 : index
        )" + body + R"(
        tile.return
      }
      func.func @host(%x: memref<?x8xf32>) {
        %c1 = arith.constant 1 : index
        tile.launch @kernel grid(%c1) (%x) : memref<?x8xf32>
        return
      })", context.get());
    tile::LaunchOp launch;
    module->walk([&](tile::LaunchOp each) { launch = each; });
    return cost::KernelCounts::compile(launch, cost::CpuInstructions(16))->evaluate({}).count.macs();
  }
};
} // namespace

TEST_F(CpuProductsTest, VectorsAreComputedWhole) {
  // 40 rows and 40 columns: three vectors of 16 in either direction.
  EXPECT_EQ(macs(R"(
    %a = arith.constant dense<1.0> : tensor<40x7xf32>
    %b = arith.constant dense<1.0> : tensor<7x40xf32>
    %c = arith.constant dense<0.0> : tensor<40x40xf32>
    %dot = tile.dot %a, %b, %c : tensor<40x7xf32>, tensor<7x40xf32> -> tensor<40x40xf32>)"),
            40 * 48 * 7);
  // 64 rows fill their vectors.
  EXPECT_EQ(macs(R"(
    %a = arith.constant dense<1.0> : tensor<64x7xf32>
    %b = arith.constant dense<1.0> : tensor<7x40xf32>
    %c = arith.constant dense<0.0> : tensor<64x40xf32>
    %dot = tile.dot %a, %b, %c : tensor<64x7xf32>, tensor<7x40xf32> -> tensor<64x40xf32>)"),
            64 * 40 * 7);
}

TEST(CpuWork, WhatTheLastOneDoesIsToldApart) {
  std::unique_ptr<MLIRContext> context = countsContext();
  // Twelve programs in groups of three; the last of each adds two tiles of 4 x 8.
  auto module = parseSourceString<ModuleOp>(R"(
    tile.kernel @kernel(%counters: memref<4x2xi32>, %x: memref<4x8xf32>) grid(batch, head) {
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %b = tile.program_id batch
      %a = tile.load %x[%c0, %c0] : memref<4x8xf32> -> tensor<4x8xf32>
      %last = tile.arrive %counters[%b] of %c3 : memref<4x2xi32>
      tile.loop #tile.sum %once = %c0 to %last step 1 {
        %more = tile.load %x[%c0, %c0] : memref<4x8xf32> -> tensor<4x8xf32>
        %sum = arith.addf %a, %more : tensor<4x8xf32>
        tile.store %sum, %x[%c0, %c0] : tensor<4x8xf32>, memref<4x8xf32>
        tile.yield
      }
      tile.return
    }
    func.func @host(%counters: memref<4x2xi32>, %x: memref<4x8xf32>) {
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      tile.launch @kernel grid(%c4, %c3) (%counters, %x) : memref<4x2xi32>, memref<4x8xf32>
      return
    })", context.get());
  ASSERT_TRUE(module);
  tile::LaunchOp launch;
  module->walk([&](tile::LaunchOp each) { launch = each; });
  auto counts = cost::KernelCounts::compile(launch);
  ASSERT_TRUE(succeeded(counts));
  cost::WorkEstimate work = cost::cpuWork(counts->evaluate({}), counts->liveBytes());
  EXPECT_EQ(work.grain, 12);
  EXPECT_EQ(work.lastGrain, 4);
  EXPECT_EQ(work.lastOps, 4 * 32);
  EXPECT_EQ(work.lastBytes, 4 * 2 * 4 * 32);
  EXPECT_EQ(work.nearBytes, (12 + 4 * 2) * 4 * 32);
}
