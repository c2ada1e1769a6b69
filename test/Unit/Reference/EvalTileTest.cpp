//===- EvalTileTest.cpp - Each op of a kernel, by its formula ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace attune::reference;

static Array counted(llvm::ArrayRef<int64_t> shape, double first = 1) {
  Array array(shape);
  for (int64_t i = 0; i < array.count(); ++i)
    array.element(i) = first + static_cast<double>(i);
  return array;
}

TEST(EvalTileTest, LoadReadsZeroOutside) {
  Program program(kernelText("memref<2x3xf32>", "memref<4x4xf32>", R"(
    %c1 = arith.constant 1 : index
    %t = tile.load %in[%c1, %c1] : memref<2x3xf32> -> tensor<4x4xf32>
    tile.store %t, %out[%c0, %c0] : tensor<4x4xf32>, memref<4x4xf32>)"));
  Array out({4, 4}, -1);
  ASSERT_TRUE(runBody(program, counted({2, 3}), out)) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(EvalTileTest, RowsLimitLoadsAndStores) {
  Program program(kernelText("memref<4x2xf32>", "memref<4x2xf32>", R"(
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %t = tile.load %in[%c1, %c0] rows(%c3) : memref<4x2xf32> -> tensor<4x2xf32>
    tile.store %t, %out[%c0, %c0] rows(%c3) : tensor<4x2xf32>, memref<4x2xf32>)"));
  Array out({4, 2}, -1);
  ASSERT_TRUE(runBody(program, counted({4, 2}), out)) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{3, 4, 5, 6, 0, 0, -1, -1}));
}

TEST(EvalTileTest, RankOneTilesTakeTheLastDimension) {
  Program program(kernelText("memref<2x3xf32>", "memref<4xf32>", R"(
    %c1 = arith.constant 1 : index
    %t = tile.load %in[%c1, %c0] : memref<2x3xf32> -> tensor<4xf32>
    tile.store %t, %out[%c0] : tensor<4xf32>, memref<4xf32>)"));
  Array out({4}, -1);
  ASSERT_TRUE(runBody(program, counted({2, 3}), out)) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{4, 5, 6, 0}));
}

TEST(EvalTileTest, DotInEveryOrientation) {
  // A = [1 2; 3 4; 5 6] as 3x2 or its transpose; B likewise; acc = 100.
  auto run = [](llvm::StringRef load, llvm::StringRef flags) {
    Program program(kernelText("memref<12xf32>", "memref<3x3xf32>", load.str() + R"(
      %acc = arith.constant dense<100.0> : tensor<3x3xf32>
      %r = tile.dot %a, %b, %acc )" + flags.str() + R"( -> tensor<3x3xf32>
      tile.store %r, %out[%c0, %c0] : tensor<3x3xf32>, memref<3x3xf32>)"));
    Array out({3, 3});
    EXPECT_TRUE(runBody(program, counted({12}), out)) << program.messages;
    return out.elements();
  };
  const char *plain = "%a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>\n";
  const char *turned = "%a = arith.constant dense<[[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]> : tensor<2x3xf32>\n";
  const char *right = "%b = arith.constant dense<[[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]]> : tensor<2x3xf32>\n";
  const char *rightTurned = "%b = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]> : tensor<3x2xf32>\n";
  std::vector<double> expected{101, 102, 108, 103, 104, 118, 105, 106, 128};
  auto text = [](const char *a, const char *b) { return std::string(a) + b; };
  EXPECT_EQ(run(text(plain, right), ": tensor<3x2xf32>, tensor<2x3xf32>"), expected);
  EXPECT_EQ(run(text(turned, right), "{transpose_a} : tensor<2x3xf32>, tensor<2x3xf32>"), expected);
  EXPECT_EQ(run(text(plain, rightTurned), "{transpose_b} : tensor<3x2xf32>, tensor<3x2xf32>"), expected);
  EXPECT_EQ(run(text(turned, rightTurned), "{transpose_a, transpose_b} : tensor<2x3xf32>, tensor<3x2xf32>"), expected);
}

TEST(EvalTileTest, DotAddsInOrderInTheFaithfulMode) {
  // 2^24 + 1 − 2^24: in f32 the 1 is lost, in f64 it is not.
  Program program(kernelText("memref<1x3xf32>", "memref<1x1xf32>", R"(
    %a = tile.load %in[%c0, %c0] : memref<1x3xf32> -> tensor<1x3xf32>
    %b = arith.constant dense<1.0> : tensor<3x1xf32>
    %zero = arith.constant dense<0.0> : tensor<1x1xf32>
    %r = tile.dot %a, %b, %zero : tensor<1x3xf32>, tensor<3x1xf32> -> tensor<1x1xf32>
    tile.store %r, %out[%c0, %c0] : tensor<1x1xf32>, memref<1x1xf32>)"));
  Array in = makeArray({1, 3}, {0x1p24, 1, -0x1p24}), out({1, 1});
  ASSERT_TRUE(runBody(program, in, out, Precision::Faithful)) << program.messages;
  EXPECT_EQ(out({0, 0}), 0);
  ASSERT_TRUE(runBody(program, in, out, Precision::Ideal));
  EXPECT_EQ(out({0, 0}), 1);
}

TEST(EvalTileTest, CastsRoundOnlyInTheFaithfulMode) {
  Program program(kernelText("memref<2xf32>", "memref<2xf32>", R"(
    %t = tile.load %in[%c0] : memref<2xf32> -> tensor<2xf32>
    %h = arith.truncf %t : tensor<2xf32> to tensor<2xbf16>
    %w = arith.extf %h : tensor<2xbf16> to tensor<2xf32>
    tile.store %w, %out[%c0] : tensor<2xf32>, memref<2xf32>)"));
  Array in = makeArray({2}, {257, 1.5}), out({2});
  ASSERT_TRUE(runBody(program, in, out, Precision::Faithful)) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{256, 1.5}));
  ASSERT_TRUE(runBody(program, in, out));
  EXPECT_EQ(out.elements(), (std::vector<double>{257, 1.5}));
}

TEST(EvalTileTest, ReduceAndExpandOnBothAxes) {
  Program program(kernelText("memref<2x3xf32>", "memref<4x2x3xf32>", R"(
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %t = tile.load %in[%c0, %c0] : memref<2x3xf32> -> tensor<2x3xf32>
    %sum1 = tile.reduce add %t axis 1 : tensor<2x3xf32> -> tensor<2xf32>
    %sum0 = tile.reduce add %t axis 0 : tensor<2x3xf32> -> tensor<3xf32>
    %max1 = tile.reduce max %t axis 1 : tensor<2x3xf32> -> tensor<2xf32>
    %max0 = tile.reduce max %t axis 0 : tensor<2x3xf32> -> tensor<3xf32>
    %e0 = tile.expand %sum1 axis 1 : tensor<2xf32> -> tensor<2x3xf32>
    %e1 = tile.expand %sum0 axis 0 : tensor<3xf32> -> tensor<2x3xf32>
    %e2 = tile.expand %max1 axis 1 : tensor<2xf32> -> tensor<2x3xf32>
    %e3 = tile.expand %max0 axis 0 : tensor<3xf32> -> tensor<2x3xf32>
    tile.store %e0, %out[%c0, %c0, %c0] : tensor<2x3xf32>, memref<4x2x3xf32>
    tile.store %e1, %out[%c1, %c0, %c0] : tensor<2x3xf32>, memref<4x2x3xf32>
    tile.store %e2, %out[%c2, %c0, %c0] : tensor<2x3xf32>, memref<4x2x3xf32>
    tile.store %e3, %out[%c3, %c0, %c0] : tensor<2x3xf32>, memref<4x2x3xf32>)"));
  Array in = makeArray({2, 3}, {1, -2, 3, -4, 5, -6}), out({4, 2, 3});
  ASSERT_TRUE(runBody(program, in, out)) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{2, 2, 2, -5, -5, -5, /**/ -3, 3, -3, -3, 3, -3, /**/
                                                 3, 3, 3, 5, 5, 5, /**/ 1, 5, 3, 1, 5, 3}));
}

TEST(EvalTileTest, MaskKeepsWhatEveryConditionKeeps) {
  Program program(kernelText("memref<3x4xf32>", "memref<3x4xf32>", R"(
    %d = arith.constant 1 : index
    %rows = arith.constant 2 : index
    %cols = arith.constant 3 : index
    %t = tile.load %in[%c0, %c0] : memref<3x4xf32> -> tensor<3x4xf32>
    %m = tile.mask %t fill 0xFF800000 rows(%rows) cols(%cols) diagonal(%d) : tensor<3x4xf32>
    tile.store %m, %out[%c0, %c0] : tensor<3x4xf32>, memref<3x4xf32>)"));
  Array out({3, 4});
  ASSERT_TRUE(runBody(program, counted({3, 4}), out)) << program.messages;
  double hidden = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(out.elements(),
            (std::vector<double>{1, 2, hidden, hidden, 5, 6, 7, hidden, hidden, hidden, hidden, hidden}));
}

TEST(EvalTileTest, ElementwiseFunctions) {
  struct Case {
    const char *text;
    double expected;
  };
  // %x = -1.5, %y = 2.25
  for (auto [text, expected] : {Case{"arith.addf %x, %y", 0.75}, Case{"arith.subf %x, %y", -3.75},
                                Case{"arith.mulf %x, %y", -3.375}, Case{"arith.divf %x, %y", -1.5 / 2.25},
                                Case{"arith.maximumf %x, %y", 2.25}, Case{"arith.minimumf %x, %y", -1.5},
                                Case{"arith.negf %x", 1.5}, Case{"math.absf %x", 1.5},
                                Case{"math.exp2 %x", std::exp2(-1.5)},
                                Case{"math.exp %x", std::exp(-1.5)}, Case{"math.log2 %y", std::log2(2.25)},
                                Case{"math.log %y", std::log(2.25)}, Case{"math.sqrt %y", 1.5},
                                Case{"math.rsqrt %y", 1 / 1.5}, Case{"math.fma %x, %y, %y", -1.125},
                                Case{"math.tanh %x", std::tanh(-1.5)}}) {
    Program program(kernelText("memref<1xf32>", "memref<1xf32>", std::string(R"(
      %x = tile.load %in[%c0] : memref<1xf32> -> tensor<1xf32>
      %y = arith.constant dense<2.25> : tensor<1xf32>
      %r = )") + text + R"( : tensor<1xf32>
      tile.store %r, %out[%c0] : tensor<1xf32>, memref<1xf32>)"));
    Array out({1});
    EXPECT_TRUE(runBody(program, makeArray({1}, {-1.5}), out)) << text << program.messages;
    EXPECT_EQ(out({0}), expected) << text;
  }
}

TEST(EvalTileTest, ComparisonsAndNaN) {
  Program program(kernelText("memref<3xf32>", "memref<2x3xf32>", R"(
    %c1 = arith.constant 1 : index
    %x = tile.load %in[%c0] : memref<3xf32> -> tensor<3xf32>
    %one = arith.constant dense<1.0> : tensor<3xf32>
    %zero = arith.constant dense<0.0> : tensor<3xf32>
    %ordered = arith.cmpf olt, %x, %one : tensor<3xf32>
    %unordered = arith.cmpf ult, %x, %one : tensor<3xf32>
    %a = arith.select %ordered, %one, %zero : tensor<3xi1>, tensor<3xf32>
    %b = arith.select %unordered, %one, %zero : tensor<3xi1>, tensor<3xf32>
    tile.store %a, %out[%c0, %c0] : tensor<3xf32>, memref<2x3xf32>
    tile.store %b, %out[%c1, %c0] : tensor<3xf32>, memref<2x3xf32>)"));
  Array out({2, 3});
  ASSERT_TRUE(runBody(program, makeArray({3}, {0, 2, std::nan("")}), out)) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{1, 0, 0, 1, 0, 1}));
}
