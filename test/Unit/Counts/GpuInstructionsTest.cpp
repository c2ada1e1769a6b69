//===- GpuInstructionsTest.cpp - What a GPU's instructions do, worked by hand -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of products are padded to 16 for each row of the grid of warps, columns to 8 for each column of it, depths to 16 (8 on
// tf32). Rows that are whole pieces of 16 bytes come and go as such, for which quads exchange words: 2 of them for two units of f32, 4 for
// four of 16 bits. The emulator's counts are the other judge: test/Integration/Emulated/counts.test.
//
//===----------------------------------------------------------------------===//
#include "ExecutedCounts.h"

#include "attune/Lowering/GPU/Layouts.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;
using tile::Counted;

namespace {
class GpuInstructionsTest : public testing::Test {
protected:
  /// A kernel of one program, on a memory [70, columns] that is loaded and stored.
  cost::WorkEstimate work(const std::string &body, const std::string &memory, const std::string &operand = "f16",
                          const std::string &warps = "warps = 4, stages = 2") {
    module = parseSourceString<ModuleOp>("tile.kernel @kernel(%x: memref<" + memory + R"(>) grid(batch) attributes {schedule =
      #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = )" + operand + ", " + warps + R"(>} {
        %c0 = arith.constant 0 : index
        %c20 = arith.constant 20 : index
        %zero = arith.constant dense<0.0> : tensor<64x64xf32>
        )" + body + R"(
        tile.return
      }
      func.func @host(%x: memref<)" + memory + R"(>) {
        %c1 = arith.constant 1 : index
        tile.launch @kernel grid(%c1) (%x) : memref<)" + memory + R"(>
        return
      })", context.get());
    tile::LaunchOp launch;
    module->walk([&](tile::LaunchOp each) { launch = each; });
    module->walk([](tile::KernelOp kernel) { EXPECT_TRUE(succeeded(device::layOut(kernel))); });
    auto counts = cost::KernelCounts::compile(launch, device::GpuInstructions());
    EXPECT_TRUE(succeeded(counts));
    return cost::gpuWork(counts->evaluate({}), counts->liveBytes());
  }

  std::unique_ptr<MLIRContext> context = countsContext();
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// x x^T of 64 rows of 20 columns, stored in `type`.
static std::string product(const std::string &type, const std::string &rows = "64", const std::string &precision = "") {
  std::string tile = "tensor<" + rows + "x20x" + type + ">", result = "tensor<" + rows + "x" + rows + "xf32>";
  return "%sums = arith.constant dense<0.0> : " + result + "\n%a = tile.load %x[%c0, %c0] : memref<70x20x" + type + "> -> " + tile +
         "\n%dot = tile.dot %a, %a, %sums " + precision + " {transpose_b} : " + tile + ", " + tile + " -> " + result +
         "\n%row = tile.reduce add %dot axis 1 : " + result + " -> tensor<" + rows + "xf32>";
}

TEST_F(GpuInstructionsTest, ProductsArePadded) {
  cost::WorkEstimate half = work(product("f16"), "70x20xf16");
  EXPECT_EQ(half.products, 64 * 64 * 32);
  EXPECT_EQ(half.tf32Products, 0);
  // Of f32: parts of both operands, a2 b1, a1 b2 and a1 b1, or one product of what is rounded.
  cost::WorkEstimate exact = work(product("f32"), "70x20xf32", "f32");
  EXPECT_EQ(exact.products, 3 * 64 * 64 * 24);
  EXPECT_EQ(exact.tf32Products, exact.products);
  EXPECT_EQ(work(product("f32", "64", "precision tf32"), "70x20xf32", "f32").products, 64 * 64 * 24);
  // 17 rows and columns: four rows of warps have 64 rows; a grid of 1 x 4 has 32, and 32 columns.
  EXPECT_EQ(work(product("f16", "17"), "70x20xf16").products, 64 * 24 * 32);
  EXPECT_EQ(work(product("f16", "17"), "70x20xf16", "f16", "warps = 4, stages = 2, warp_columns = 4").products, 32 * 32 * 32);
}

TEST_F(GpuInstructionsTest, NarrowOperandsLeaveNoSecondPart) {
  // Stored in 16 bits and widened, B is a number of tf32 as it is.
  std::string body = R"(
    %a = tile.load %x[%c0, %c0] : memref<70x24xf16> -> tensor<64x24xf16>
    %wide = arith.extf %a : tensor<64x24xf16> to tensor<64x24xf32>
    %half = arith.mulf %wide, %wide : tensor<64x24xf32>
    %dot = tile.dot %half, %wide, %zero {transpose_b} : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
    %row = tile.reduce add %dot axis 1 : tensor<64x64xf32> -> tensor<64xf32>)";
  EXPECT_EQ(work(body, "70x24xf16").products, 2 * 64 * 64 * 24);
}

TEST_F(GpuInstructionsTest, WhatAMaskReplacesIsNotMultiplied) {
  // Of 64 columns 20 are read, three blocks of 8; between product and mask each is scaled.
  std::string body = product("f16") + R"(
    %masked = tile.mask %dot fill 0.0 cols(%c20) : tensor<64x64xf32>
    %sum = tile.reduce add %masked axis 1 : tensor<64x64xf32> -> tensor<64xf32>)";
  std::string all = "%row = tile.reduce add %dot";
  body.replace(body.find(all), all.size(), "%row = arith.mulf %dot, %dot : tensor<64x64xf32>\n%other = tile.reduce add %zero");
  size_t masked = body.find("tile.mask %dot");
  body.replace(masked, 14, "tile.mask %row");
  EXPECT_EQ(work(body, "70x20xf16").products, 64 * 24 * 32);
}

/// A tile that goes from memory to memory by way of registers.
static std::string copied(const std::string &memory, const std::string &tile) {
  return "%a = tile.load %x[%c0, %c0] : memref<" + memory + "> -> tensor<" + tile + ">\n%b = arith.addf %a, %a : tensor<" + tile +
         ">\ntile.store %b, %x[%c0, %c0] : tensor<" + tile + ">, memref<" + memory + ">";
}

TEST_F(GpuInstructionsTest, RowsOfWholePiecesComeAndGoAsSuch) {
  // Rows of 20 are 80 bytes. Five blocks a row, two at a time: three exchanges, of which the last has both halves of the rows.
  cost::WorkEstimate rows = work(copied("70x20xf32", "64x20xf32"), "70x20xf32");
  EXPECT_EQ(rows.nearBytes, 2 * 64 * 80);
  EXPECT_EQ(rows.wideBytes, rows.nearBytes);
  EXPECT_EQ(rows.shuffles, 2 * 4 * (2 * 1 + 1) * 2);
  // Of rows of 18 elements, or tiles of which 18 exist, none is whole pieces.
  cost::WorkEstimate odd = work(copied("70x18xf32", "64x18xf32"), "70x18xf32");
  EXPECT_EQ(odd.nearBytes, 2 * 64 * 72);
  EXPECT_EQ(odd.wideBytes, 0);
  EXPECT_EQ(odd.shuffles, 0);
  EXPECT_EQ(work(copied("70x20xf32", "64x18xf32"), "70x20xf32").wideBytes, 0);
  // Rows of a tile that ends past its memory, up to the end: 70 of 128. Exchanges are of whole tiles.
  cost::WorkEstimate past = work(copied("70x20xf32", "128x20xf32"), "70x20xf32");
  EXPECT_EQ(past.wideBytes, 2 * 70 * 80);
  EXPECT_EQ(past.shuffles, 2 * rows.shuffles);
}

TEST_F(GpuInstructionsTest, HeadsBeginWhereTheyBegin) {
  // Columns from 20 on of 60: in f32 they begin at a piece, in f16 at 40 bytes of 120.
  auto second = [](const std::string &type) {
    std::string tile = "tensor<64x20x" + type + ">", memory = "memref<70x60x" + type + ">";
    return "%a = tile.load %x[%c0, %c20] : " + memory + " -> " + tile + "\ntile.store %a, %x[%c0, %c20] : " + tile + ", " + memory;
  };
  EXPECT_EQ(work(second("f32"), "70x60xf32").wideBytes, 2 * 64 * 80);
  EXPECT_EQ(work(second("f16"), "70x60xf16").wideBytes, 0);
}

TEST_F(GpuInstructionsTest, ReductionsExchangeAmongThoseThatShare) {
  auto sum = [](const std::string &axis, const std::string &size) {
    return R"(%a = tile.load %x[%c0, %c0] : memref<70x18xf32> -> tensor<64x18xf32>
      %sum = tile.reduce add %a axis )" + axis + " : tensor<64x18xf32> -> tensor<" + size + "xf32>";
  };
  EXPECT_EQ(work(sum("1", "64"), "70x18xf32").shuffles, 4 * 2 * 2);     // two rows a lane, between four lanes
  EXPECT_EQ(work(sum("0", "18"), "70x18xf32").shuffles, 4 * 3 * 2 * 3); // two columns in three blocks, between eight
}

TEST_F(GpuInstructionsTest, HalvesOfRowsChangePlaces) {
  auto halves = [](int64_t width) {
    std::string order, tile = "tensor<64x" + std::to_string(width) + "xf32>", odd = "memref<70x" + std::to_string(width + 1) + "xf32>";
    for (int64_t i = 0; i < width; ++i)
      order += (i ? ", " : "") + std::to_string((i + width / 2) % width);
    return "%a = tile.load %x[%c0, %c0] : " + odd + " -> " + tile + "\n%b = tile.permute_columns %a [" + order + "] : " + tile +
           "\ntile.store %b, %x[%c0, %c0] : " + tile + ", " + odd;
  };
  EXPECT_EQ(work(halves(64), "70x65xf32").shuffles, 0); // by whole blocks: other registers of the same lane
  EXPECT_EQ(work(halves(8), "70x9xf32").shuffles, 4 * 2 * 2); // column c is at c ± 4: one register of another lane
  // c ± 12: lanes 0 and 1 find theirs in another block than lanes 2 and 3. Six elements a row, two registers each.
  EXPECT_EQ(work(halves(24), "70x25xf32").shuffles, 4 * 2 * 6 * 2);
}

TEST_F(GpuInstructionsTest, VectorsAreReadByEveryWarpThatHasThem) {
  std::string body = R"(
    %v = tile.load %x[%c0, %c0] : memref<70x64xf32> -> tensor<64xf32>
    %a = tile.expand %v axis 0 : tensor<64xf32> -> tensor<64x64xf32>
    %sum = tile.reduce add %a axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    tile.store %sum, %x[%c0, %c0] : tensor<64xf32>, memref<70x64xf32>)";
  // Along the columns: four rows of warps. A vector is stored once.
  EXPECT_EQ(work(body, "70x64xf32").nearBytes, 4 * (4 * 64 + 64));
}

TEST_F(GpuInstructionsTest, WithoutStagesOperandsAreLoadedForEachProduct) {
  auto loop = [](const std::string &upper) {
    return R"(
      %c64 = arith.constant 64 : index
      %upper = arith.constant )" + upper + R"( : index
      %w = tile.load %x[%c0, %c0] : memref<70x20xf16> -> tensor<64x20xf16>
      tile.loop #tile.sum %i = %c0 to %upper step 64 {
        %a = tile.load %x[%i, %c0] : memref<70x20xf16> -> tensor<64x20xf16>
        %dot = tile.dot %a, %w, %zero {transpose_b} : tensor<64x20xf16>, tensor<64x20xf16> -> tensor<64x64xf32>
        %row = tile.reduce add %dot axis 1 : tensor<64x64xf32> -> tensor<64xf32>
        tile.yield
      })";
  };
  EXPECT_EQ(work(loop("128"), "70x20xf16").nearBytes, 40 * (64 + 70));
  EXPECT_EQ(work(loop("128"), "70x20xf16", "f16", "warps = 4, stages = 0").nearBytes, 40 * (2 * 64 + 70));
}
