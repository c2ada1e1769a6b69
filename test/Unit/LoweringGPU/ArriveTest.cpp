//===- ArriveTest.cpp - The block that is last of its group, in the emulator ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks (head, piece) store a part each; the last one of a head adds up the parts of the head. The parts are such that
// another order of sums leaves other bits. The counters hold what memory held before, then what the run before has left.
// Then what the lowering makes is spoilt in one place after another.
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace attune;
using namespace attune::test;

static constexpr int64_t heads = 3, rows = 32, columns = 16;

/// `piece`: which piece the merge takes in a step, of %i; %p is the block's own.
static std::string source(const std::string &piece = "arith.addi %i, %c0 : index") {
  return R"(
    !in = memref<3x?x32x16xf32>
    !out = memref<3x32x16xf32>
    !counters = memref<3x2xi32>
    tile.kernel @sum(%in: !in, %parts: !in, %out: !out, %counters: !counters) grid(head, key_piece)
        attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32,
                                              warps = 2, stages = 2>} {
      %h = tile.program_id head
      %p = tile.program_id key_piece
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant dense<0.0> : tensor<32x16xf32>
      %count = memref.dim %in, %c1 : !in
      %own = tile.load %in[%h, %p, %c0, %c0] : !in -> tensor<32x16xf32>
      tile.store %own, %parts[%h, %p, %c0, %c0] : tensor<32x16xf32>, !in
      %last = tile.arrive %counters[%h] of %count : !counters
      tile.loop #tile.sum %once = %c0 to %last step 1 {
        %sum = tile.loop #tile.sum %i = %c0 to %count step 1 carries(%acc = %zero) : (tensor<32x16xf32>) {
          %which = )" + piece + R"(
          %part = tile.load %parts[%h, %which, %c0, %c0] : !in -> tensor<32x16xf32>
          %next = arith.addf %acc, %part : tensor<32x16xf32>
          tile.yield %next : tensor<32x16xf32>
        }
        tile.store %sum, %out[%h, %c0, %c0] : tensor<32x16xf32>, !out
        tile.yield
      }
      tile.return
    }
    func.func @plan(%in: !in, %parts: !in, %out: !out, %counters: !counters) {
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %count = memref.dim %in, %c1 : !in
      tile.launch @sum grid(%c3, %count) (%in, %parts, %out, %counters) : !in, !in, !out, !counters
      return
    })";
}

namespace {
/// Memory of a plan and what its output must be.
struct Case {
  int64_t pieces;
  std::vector<float> in, parts, out, expected;
  std::vector<uint32_t> counters;

  explicit Case(int64_t pieces) : pieces(pieces), in(heads * pieces * rows * columns), parts(in.size(), NAN) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> exponent(-20, 20);
    for (float &x : in)
      x = std::exp2(exponent(random));
    out.assign(heads * rows * columns, NAN), counters.assign(heads * 2, 0xffffffff);
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t e = 0; e < rows * columns; ++e) {
        float sum = 0;
        for (int64_t p = 0; p < pieces; ++p)
          sum += in[(h * pieces + p) * rows * columns + e];
        expected.push_back(sum);
      }
  }

  static Tensor tensor(void *data, std::vector<int64_t> sizes) {
    std::vector<int64_t> strides(sizes.size(), 1);
    for (size_t i = sizes.size(); i-- > 1;)
      strides[i - 1] = strides[i] * sizes[i];
    return {data, std::move(sizes), std::move(strides)};
  }
  std::vector<Tensor> tensors() {
    return {tensor(in.data(), {heads, pieces, rows, columns}), tensor(parts.data(), {heads, pieces, rows, columns}),
            tensor(out.data(), {heads, rows, columns}), tensor(counters.data(), {heads, 2})};
  }
  bool right() const { return std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0; }
};

struct Arrive : public ::testing::Test {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Arrive() {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                        mlir::func::FuncDialect, mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                        mlir::memref::MemRefDialect, mlir::NVVM::NVVMDialect, mlir::scf::SCFDialect>();
  }
  DevicePlan lower(const std::string &text = source()) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    std::optional<DevicePlan> plan = module ? lowerPlan(std::move(module)) : std::nullopt;
    EXPECT_TRUE(plan);
    return plan ? std::move(*plan) : DevicePlan();
  }
  /// Races of a run of 5 pieces.
  uint64_t races(const DevicePlan &plan) {
    Case one(5);
    EmulatedPlan emulated(plan);
    emulated.run(one.tensors());
    return emulated.report().total(FindingKind::Race);
  }
};
} // namespace

TEST_F(Arrive, SumsHaveTheSameBitsWhicheverBlockIsLast) {
  DevicePlan plan = lower();
  for (int64_t pieces : {1, 2, 5, 9})
    for (uint64_t seed : {0, 1, 2, 3}) {
      Case one(pieces);
      EmulatedPlan emulated(plan, seed != 0, seed);
      for (int run = 0; run < 3; ++run) { // from garbage, then from what the run before has left
        one.out.assign(one.out.size(), NAN);
        emulated.run(one.tensors());
        EXPECT_TRUE(one.right()) << pieces << " pieces, seed " << seed << ", run " << run;
        EXPECT_EQ(one.counters, std::vector<uint32_t>(heads * 2, 0)) << "cleared for the next run";
      }
      EXPECT_TRUE(emulated.report().clean());
    }
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

template <typename Op> static std::vector<Op> all(DevicePlan &plan) {
  std::vector<Op> found;
  plan.kernels->walk([&](Op op) { found.push_back(op); });
  return found;
}

TEST_F(Arrive, FaultNoFence) {
  for (unsigned which : {0, 1}) {
    DevicePlan plan = lower();
    auto fences = all<mlir::LLVM::FenceOp>(plan);
    ASSERT_EQ(fences.size(), 2u);
    fences[which].erase();
    EXPECT_NE(races(plan), 0u) << which;
  }
}

TEST_F(Arrive, FaultScopeOfTheBlock) {
  for (unsigned which : {0, 1}) {
    DevicePlan plan = lower();
    all<mlir::LLVM::FenceOp>(plan)[which].setSyncscope("block");
    EXPECT_NE(races(plan), 0u) << which;
  }
  DevicePlan plan = lower();
  all<mlir::LLVM::AtomicCmpXchgOp>(plan).front().setSyncscope("block");
  EXPECT_NE(races(plan), 0u);
}

TEST_F(Arrive, FaultBarrierMissing) {
  DevicePlan plan = lower();
  mlir::NVVM::BarrierOp before; // the last one ahead of the first fence
  plan.kernels->walk([&](mlir::Operation *op) {
    if (llvm::isa<mlir::LLVM::FenceOp>(op))
      return mlir::WalkResult::interrupt();
    if (auto barrier = llvm::dyn_cast<mlir::NVVM::BarrierOp>(op))
      before = barrier;
    return mlir::WalkResult::advance();
  });
  ASSERT_TRUE(before);
  before.erase();
  EXPECT_NE(races(plan), 0u);
}

/// Runs twice on the same counters.
static bool secondRunIsRight(const DevicePlan &plan) {
  Case one(5);
  EmulatedPlan emulated(plan);
  emulated.run(one.tensors());
  EXPECT_TRUE(one.right()) << "the first run is right";
  one.out.assign(one.out.size(), NAN);
  emulated.run(one.tensors());
  return one.right();
}

TEST_F(Arrive, FaultCounterNotCleared) {
  EXPECT_TRUE(secondRunIsRight(lower()));
  DevicePlan plan = lower();
  // What is written in the place of the last word: 0 becomes the count itself.
  auto exchange = all<mlir::LLVM::AtomicCmpXchgOp>(plan).front();
  auto select = exchange.getVal().getDefiningOp<mlir::LLVM::SelectOp>();
  ASSERT_TRUE(select);
  exchange.getValMutable().assign(select.getFalseValue());
  EXPECT_FALSE(secondRunIsRight(plan));
}

TEST_F(Arrive, FaultMergeInTheOrderOfArrival) {
  // From the last block's own piece on, round to the one before it.
  std::string text = source("arith.addi %i, %p : index");
  text.replace(text.find("%parts[%h, %which"), 17, "%parts[%h, %turn");
  text.replace(text.find("%part = tile.load"), 17, "%turn = arith.remui %which, %count : index\n%part = tile.load");
  DevicePlan wrong = lower(text);
  bool differs = false;
  for (uint64_t seed : {1, 2, 3, 4}) {
    Case one(5);
    EmulatedPlan emulated(wrong, true, seed);
    emulated.run(one.tensors());
    EXPECT_TRUE(emulated.report().clean());
    differs |= !one.right();
  }
  EXPECT_TRUE(differs);
}
