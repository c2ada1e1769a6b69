//===- EvalTileErrorTest.cpp - What the interpreter refuses --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "gmock/gmock.h"

using namespace attune::reference;
using testing::HasSubstr;

TEST(EvalTileErrorTest, LeadingIndexOutOfBounds) {
  Program program(kernelText("memref<2x3xf32>", "memref<2x3xf32>", R"(
    %c2 = arith.constant 2 : index
    %t = tile.load %in[%c2, %c0] : memref<2x3xf32> -> tensor<3xf32>)"));
  EXPECT_FALSE(runBody(program, Array({2, 3}), Array({2, 3})));
  EXPECT_THAT(program.messages, HasSubstr("expected an index of dimension 0 from 0 and below 2, but got 2"));
}

TEST(EvalTileErrorTest, TileBeforeTheStart) {
  Program program(kernelText("memref<2x3xf32>", "memref<2x3xf32>", R"(
    %before = arith.constant -1 : index
    %t = tile.load %in[%before, %c0] : memref<2x3xf32> -> tensor<2x3xf32>)"));
  EXPECT_FALSE(runBody(program, Array({2, 3}), Array({2, 3})));
  EXPECT_THAT(program.messages, HasSubstr("expected an index of dimension 0 from 0 on, but got -1"));
}

TEST(EvalTileErrorTest, ElementOutOfBounds) {
  Program program(kernelText("memref<2xf32>", "memref<2xf32>", R"(
    %c2 = arith.constant 2 : index
    %x = memref.load %in[%c2] : memref<2xf32>)"));
  EXPECT_FALSE(runBody(program, Array({2}), Array({2})));
  EXPECT_THAT(program.messages, HasSubstr("below 2, but got 2"));
}

TEST(EvalTileErrorTest, UnknownOpIsNamed) {
  Program program(kernelText("memref<2xf32>", "memref<2xf32>", R"(
    %t = tile.load %in[%c0] : memref<2xf32> -> tensor<2xf32>
    %x = math.atan %t : tensor<2xf32>)"));
  EXPECT_FALSE(runBody(program, Array({2}), Array({2})));
  EXPECT_THAT(program.messages,
              HasSubstr("'math.atan' op expected an op that the interpreter of the tile dialect knows"));
}

TEST(EvalTileErrorTest, DivisionByZero) {
  Program program(kernelText("memref<2xf32>", "memref<2xf32>", "%x = arith.divui %c0, %c0 : index"));
  EXPECT_FALSE(runBody(program, Array({2}), Array({2})));
  EXPECT_THAT(program.messages, HasSubstr("expected a divisor other than 0"));
}

TEST(EvalTileErrorTest, ArgumentsMustFit) {
  std::string text = kernelText("memref<2x3xf32>", "memref<?xf32>", "");
  Program program(text);
  EXPECT_FALSE(runBody(program, Array({2, 4}), Array({2})));
  EXPECT_THAT(program.messages, HasSubstr("expected argument 0 to fit 'memref<2x3xf32>'"));
  Program tooFew(text);
  EXPECT_FALSE(tooFew.runKernel({1}, {Array({2, 3})}));
  EXPECT_THAT(tooFew.messages, HasSubstr("expected 2 arguments, but got 1"));
  Program noMemory(text);
  EXPECT_FALSE(noMemory.runKernel({1}, {Array({2, 3}), int64_t(1)}));
  EXPECT_THAT(noMemory.messages, HasSubstr("expected argument 1 to fit"));
}

TEST(EvalTileErrorTest, GridMustFit) {
  Program program(kernelText("memref<1xf32>", "memref<1xf32>", ""));
  EXPECT_FALSE(program.runKernel({1, 1}, {Array({1}), Array({1})}));
  EXPECT_THAT(program.messages, HasSubstr("expected 1 grid sizes"));
}

static const char *const launchTwice = R"(
tile.kernel @k(%out: memref<4xf32>) grid(batch) {
  %p = tile.program_id batch
  %t = arith.constant dense<1.0> : tensor<2xf32>
  tile.store %t, %out[%p] : tensor<2xf32>, memref<4xf32>
  tile.return
})";

TEST(EvalTileErrorTest, GridPointsThatWriteTheSameElement) {
  Program program(launchTwice);
  EXPECT_FALSE(program.runKernel({2}, {Array({4})}));
  EXPECT_THAT(program.messages, HasSubstr("expected to write what no other program touches"));
  Program unchecked(launchTwice);
  EvalTileOptions options;
  options.checkRaces = false;
  EXPECT_TRUE(unchecked.runKernel({2}, {Array({4})}, options)) << unchecked.messages;
}

TEST(EvalTileErrorTest, GridPointsThatReadWhatAnotherWrites) {
  for (uint64_t seed : {0, 1, 2, 3}) { // whoever comes first
    Program program(R"(
      tile.kernel @k(%data: memref<?xf32>) grid(batch) {
        %p = tile.program_id batch
        %c1 = arith.constant 1 : index
        %next = arith.addi %p, %c1 : index
        %t = tile.load %data[%next] : memref<?xf32> -> tensor<1xf32>
        tile.store %t, %data[%p] : tensor<1xf32>, memref<?xf32>
        tile.return
      })");
    EvalTileOptions options;
    options.seed = seed;
    EXPECT_FALSE(program.runKernel({3}, {Array({4})}, options));
    EXPECT_THAT(program.messages, HasSubstr("other program"));
  }
}

TEST(EvalTileErrorTest, NegativeGrid) {
  Program program(R"(
    tile.kernel @k(%out: memref<4xf32>) grid(batch) { tile.return }
    func.func @plan(%out: memref<4xf32>) {
      %size = arith.constant -1 : index
      tile.launch @k grid(%size) (%out) : memref<4xf32>
      return
    })");
  EXPECT_FALSE(program.runHost({Array({4})}));
  EXPECT_THAT(program.messages, HasSubstr("expected grid sizes from 0 on, but got -1"));
}
