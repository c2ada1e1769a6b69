//===- SameKernelsTest.cpp - What counts as a difference of kernels -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SameKernels.h"

#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;

/// A kernel that writes twice and reads between; what is in capitals can be replaced.
static const char *const original = R"(
func.func @host(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @kernel grid(%c1) (%x, %y) : memref<?x8xf32>, memref<?x8xf32>
  return
}
tile.kernel @kernel(%a: memref<?x8xf32>, %b: memref<?x8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = memref.dim %a, %c0 : memref<?x8xf32>
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %zero) : (tensor<8xf32>) {
    %rows = tile.load %a[%j, %c0] rows(%n) : memref<?x8xf32> -> tensor<16x8xf32>
    %columns = tile.reduce add %rows axis 0 : tensor<16x8xf32> -> tensor<8xf32>
    %next = arith.addf %s, %columns : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %sum, %b[%c0, %c0] : tensor<8xf32>, memref<?x8xf32>
  %one = tile.load %a[%c16, %c0] : memref<?x8xf32> -> tensor<8xf32>
  %two = math.exp2 %one : tensor<8xf32>
  tile.store %two, %b[%c16, %c0] : tensor<8xf32>, memref<?x8xf32>
  tile.return
}
)";

/// Where the kernel differs from itself with some text replaced.
static std::string after(std::vector<std::pair<std::string, std::string>> changes) {
  MLIRContext context;
  context.loadDialect<tile::TileDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                      memref::MemRefDialect>();
  std::string text = original;
  for (const auto &[from, to] : changes) {
    size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
  }
  auto expected = parseSourceString<ModuleOp>(original, &context), found = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(expected && found);
  return expected && found ? fusion::whereDifferent(*expected, *found) : "no module";
}

TEST(SameKernels, NamesOrderAndArgumentsDoNotCount) {
  EXPECT_EQ(after({}), "");
  EXPECT_EQ(after({{"@kernel", "@other"}, {"@kernel", "@other"}}), "");
  EXPECT_EQ(after({{"  %c0 = arith.constant 0 : index\n  %c16 = arith.constant 16 : index\n",
                    "  %c16 = arith.constant 16 : index\n  %c0 = arith.constant 0 : index\n"}}),
            "");
  EXPECT_EQ(after({{"(%x, %y)", "(%y, %x)"}, {"%a: memref<?x8xf32>, %b:", "%b: memref<?x8xf32>, %a:"}}), "");
}

TEST(SameKernels, EverythingElseCounts) {
  EXPECT_NE(after({{"(%x, %y)", "(%y, %x)"}}), "");                          // arguments
  std::pair<std::string, std::string> smaller{"tensor<16x8xf32>", "tensor<8x8xf32>"};
  EXPECT_NE(after({{"step 16", "step 8"}, smaller, smaller}), "");
  EXPECT_NE(after({{"#tile.sum", "#tile.maximum"}}), "");                    // the carry
  EXPECT_NE(after({{"reduce add", "reduce max"}}), "");                      // an attribute
  EXPECT_NE(after({{"addf %s, %columns", "addf %columns, %s"}}), "");        // operands
  EXPECT_NE(after({{" rows(%n)", ""}}), "");                                 // a bound
  EXPECT_NE(after({{"math.exp2", "math.exp"}}), "");                         // an operation
  EXPECT_NE(after({{"constant 16", "constant 17"}}), "");                    // a constant
  EXPECT_NE(after({{"grid(batch)", "grid(head)"}}), "");                     // the kernel
  EXPECT_NE(after({{"grid(%c1)", "grid(%c1, %c1)"}, {"grid(batch)", "grid(batch, head)"}}), "");
  EXPECT_NE(after({{"  tile.return", "  %dead = math.exp2 %two : tensor<8xf32>\n  tile.return"}}), "");
}

TEST(SameKernels, BlocksAndWritesCount) {
  // A load before a write that came after it.
  const char *const load = "  %one = tile.load %a[%c16, %c0] : memref<?x8xf32> -> tensor<8xf32>\n";
  const char *const store = "  tile.store %sum, %b[%c0, %c0] : tensor<8xf32>, memref<?x8xf32>\n";
  EXPECT_NE(after({{std::string(store) + load, std::string(load) + store}}), "");
  // Two writes in another order.
  const char *const second = "  tile.store %two, %b[%c16, %c0] : tensor<8xf32>, memref<?x8xf32>\n";
  EXPECT_NE(after({{store, ""}, {second, std::string(second) + store}}), "");
  // A pure operation in the loop that was outside.
  EXPECT_NE(after({{"  %zero = arith", "  %zero2 = arith"}, {"%s = %zero)", "%s = %zero2)"},
                   {"    tile.yield", "    %inner = arith.constant 1 : index\n    tile.yield"}}),
            "");
}
