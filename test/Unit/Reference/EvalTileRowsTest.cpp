//===- EvalTileRowsTest.cpp - Windows, lower bounds, places, permutations ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "gtest/gtest.h"

using namespace attune::reference;

/// Element i is i.
static Array counted(llvm::ArrayRef<int64_t> shape) {
  Array array(shape);
  for (int64_t i = 0; i < array.count(); ++i)
    array.element(i) = static_cast<double>(i);
  return array;
}

/// Six rows of one column, read by `load`, of a memory of 12 rows that are numbered.
static std::vector<double> sixRows(llvm::StringRef load) {
  Program program(kernelText("memref<12x1xf32>", "memref<6x1xf32>", R"(
    %cm3 = arith.constant -3 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %t = tile.load )" + load.str() + R"( : memref<12x1xf32> -> tensor<6x1xf32>
    tile.store %t, %out[%c0, %c0] : tensor<6x1xf32>, memref<6x1xf32>)"));
  Array out({6, 1}, -1);
  EXPECT_TRUE(runBody(program, counted({12, 1}), out)) << program.messages;
  return out.elements();
}

TEST(EvalTileRowsTest, WindowOfAnImage) {
  // Rows of four tokens, of which the window has two, from token 1 on: 1 2 / 5 6 / 9 10.
  EXPECT_EQ(sixRows("%in[%c1, %c0] fold(%c0) columns 2 stride 4"), (std::vector<double>{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(sixRows("%in[%c1, %c0] fold(%c3) columns 2 stride 4"), (std::vector<double>{6, 9, 10, 0, 0, 0}));
  EXPECT_EQ(sixRows("%in[%c1, %c0] rows(%c5) fold(%c3) columns 2 stride 4"), (std::vector<double>{6, 9, 0, 0, 0, 0}));
  EXPECT_EQ(sixRows("%in[%c1, %c0] from(%c1) fold(%cm3) columns 2 stride 4"), (std::vector<double>{0, 0, 0, 0, 2, 5}));
  EXPECT_EQ(sixRows("%in[%c3, %c0] from(%cm3) fold(%cm3) columns 3 stride 3"), (std::vector<double>{0, 0, 0, 3, 4, 5}));
}

TEST(EvalTileRowsTest, RowsBeforeTheFirst) {
  EXPECT_EQ(sixRows("%in[%cm3, %c0] from(%cm3)"), (std::vector<double>{0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(sixRows("%in[%cm3, %c0] from(%c1) rows(%c0)"), (std::vector<double>{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(sixRows("%in[%c3, %c0] from(%c5) rows(%c8)"), (std::vector<double>{0, 0, 5, 6, 7, 0}));
}

TEST(EvalTileRowsTest, NegativeRowsNeedALowerBound) {
  for (const char *load : {"%in[%cm1, %c0]", "%in[%cm1, %c0] from(%c0) fold(%c0) columns 2 stride 4",
                           "%in[%c0, %cm1] from(%c0)", "%in[%c0, %c0] fold(%cm1) columns 2 stride 4"}) {
    Program program(kernelText("memref<12x1xf32>", "memref<6x1xf32>", R"(
      %cm1 = arith.constant -1 : index
      %t = tile.load )" + std::string(load) + R"( : memref<12x1xf32> -> tensor<6x1xf32>)"));
    EXPECT_FALSE(runBody(program, counted({12, 1}), Array({6, 1}))) << load;
    EXPECT_NE(program.messages.find("but got -1"), std::string::npos) << program.messages;
  }
}

TEST(EvalTileRowsTest, StoreToAWindow) {
  Program program(kernelText("memref<6x1xf32>", "memref<9x1xf32>", R"(
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %t = tile.load %in[%c0, %c0] : memref<6x1xf32> -> tensor<6x1xf32>
    tile.store %t, %out[%c1, %c0] from(%c1) rows(%c5) fold(%c0) columns 2 stride 4 : tensor<6x1xf32>, memref<9x1xf32>)"));
  Array out({9, 1}, -1);
  ASSERT_TRUE(runBody(program, counted({6, 1}), out)) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{-1, -1, 1, -1, -1, 2, 3, -1, -1}));
}

TEST(EvalTileRowsTest, IotaCountsFromItsBase) {
  auto count = [](const char *base, const std::string &element) {
    Program program(
        kernelText("memref<3xf32>", "memref<3x" + element + ">",
                   "%base = arith.constant " + std::string(base) + " : index\n%t = tile.iota %base : tensor<3x" +
                       element + ">\ntile.store %t, %out[%c0] : tensor<3x" + element + ">, memref<3x" + element + ">"));
    Array out({3});
    EXPECT_TRUE(runBody(program, counted({3}), out, Precision::Faithful)) << program.messages;
    return out.elements();
  };
  EXPECT_EQ(count("-1", "f32"), (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(count("-1", "i32"), (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(count("16777215", "f32"), (std::vector<double>{0x1p24 - 1, 0x1p24, 0x1p24}));
  EXPECT_EQ(count("2147483647", "i32"), (std::vector<double>{0x1p31 - 1, -0x1p31, 1 - 0x1p31}));
}

TEST(EvalTileRowsTest, PermuteColumns) {
  Program program(kernelText("memref<2x3xf32>", "memref<3x3xf32>", R"(
    %c2 = arith.constant 2 : index
    %t = tile.load %in[%c0, %c0] : memref<2x3xf32> -> tensor<2x3xf32>
    %p = tile.permute_columns %t [2, 0, 1] : tensor<2x3xf32>
    tile.store %p, %out[%c0, %c0] : tensor<2x3xf32>, memref<3x3xf32>
    %r = tile.load %in[%c0, %c0] : memref<2x3xf32> -> tensor<3xf32>
    %q = tile.permute_columns %r [1, 0, 2] : tensor<3xf32>
    tile.store %q, %out[%c2, %c0] : tensor<3xf32>, memref<3x3xf32>)"));
  Array out({3, 3});
  ASSERT_TRUE(runBody(program, counted({2, 3}), out)) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{2, 0, 1, 5, 3, 4, 1, 0, 2}));
}
