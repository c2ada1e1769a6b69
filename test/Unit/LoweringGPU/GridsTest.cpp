//===- GridsTest.cpp - Grids past the limits of their axes, in the emulator ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that copies the row of its program. The emulator refuses more than 65,535 blocks in y and z, as a device does, and
// reports a row that two blocks write; a row that none writes keeps its −1.
//
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace attune;
using namespace attune::test;

static constexpr int64_t width = 4;

/// `heads`: their number where it is a constant of the host, else it is found at run time.
static std::string source(const std::string &heads) {
  std::string memory = "memref<?x" + (heads.empty() ? "?" : heads) + "x?x4xf32>";
  std::string head = heads.empty() ? "memref.dim %in, %c1 : " + memory : "arith.constant " + heads + " : index";
  return "!m = " + memory + R"(
    tile.kernel @rows(%in: !m, %out: !m) grid(batch, head, query_block) attributes {schedule = #tile.schedule<
        target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
      %b = tile.program_id batch
      %h = tile.program_id head
      %p = tile.program_id query_block
      %c0 = arith.constant 0 : index
      %row = tile.load %in[%b, %h, %p, %c0] : !m -> tensor<4xf32>
      tile.store %row, %out[%b, %h, %p, %c0] : tensor<4xf32>, !m
      tile.return
    }
    func.func @plan(%in: !m, %out: !m) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %batch = memref.dim %in, %c0 : !m
      %heads = )" + head + R"(
      %rows = memref.dim %in, %c2 : !m
      tile.launch @rows grid(%batch, %heads, %rows) (%in, %out) : !m, !m
      return
    })";
}

static void checkGrid(int64_t batch, int64_t heads, int64_t rows, bool constantHeads) {
  SCOPED_TRACE(testing::Message() << batch << " x " << heads << " x " << rows);
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                      mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect, mlir::memref::MemRefDialect,
                      mlir::NVVM::NVVMDialect, mlir::scf::SCFDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source(constantHeads ? std::to_string(heads) : ""), &context);
  ASSERT_TRUE(module);
  std::optional<DevicePlan> plan = lowerPlan(std::move(module));
  ASSERT_TRUE(plan);
  std::vector<float> in(batch * heads * rows * width), out(in.size(), -1);
  for (auto [place, element] : llvm::enumerate(in))
    element = static_cast<float>(place % 16777213);
  auto tensor = [&](std::vector<float> &data) {
    return Tensor{data.data(), {batch, heads, rows, width}, {heads * rows * width, rows * width, width, 1}};
  };
  EmulatedPlan emulated(*plan);
  emulated.run({tensor(in), tensor(out)});
  EXPECT_TRUE(emulated.report().clean());
  EXPECT_TRUE(in == out);
  EXPECT_EQ(int64_t(emulated.report().counters.blocks), batch * heads * rows);
}

TEST(Grids, OfSmallAxes) {
  for (bool constantHeads : {false, true}) {
    checkGrid(3, 5, 7, constantHeads);
    checkGrid(1, 1, 1, constantHeads);
    checkGrid(4, 1, 3, constantHeads);
  }
}

// AddressSanitizer keeps memory for each thread of the emulator that ever ran: more than 20 GB for so many blocks.
#if __has_feature(address_sanitizer)
#define NEEDS_MANY_BLOCKS GTEST_SKIP() << "65,537 emulated blocks need more memory under AddressSanitizer than there is"
#else
#define NEEDS_MANY_BLOCKS static_cast<void>(0)
#endif

TEST(Grids, PastTheLimitOfTheThirdAxis) {
  NEEDS_MANY_BLOCKS;
  checkGrid(1, 2, 65537, false);
}

TEST(Grids, PastTheLimitOfTheSecondAxis) {
  NEEDS_MANY_BLOCKS;
  checkGrid(1, 65537, 1, true);
}

TEST(Grids, OfManyBatches) {
  NEEDS_MANY_BLOCKS;
  checkGrid(65537, 1, 2, true);
}

TEST(Grids, WithoutBlocksRunNothing) { checkGrid(0, 2, 3, false); }
