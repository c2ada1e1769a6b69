//===- EvalTileControlTest.cpp - Loops, branches, grids, hosts, indices --===//
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

TEST(EvalTileControlTest, LoopCarriesInOrder) {
  // acc ← 2·acc + element: the order of the steps shows in the result.
  Program program(kernelText("memref<?x1xf32>", "memref<1xf32>", R"(
    %n = memref.dim %in, %c0 : memref<?x1xf32>
    %two = arith.constant dense<2.0> : tensor<1xf32>
    %zero = arith.constant dense<0.0> : tensor<1xf32>
    %r = tile.loop #tile.sum %i = %c0 to %n step 2 carries(%acc = %zero) : (tensor<1xf32>) {
      %x = tile.load %in[%i, %c0] : memref<?x1xf32> -> tensor<1xf32>
      %d = arith.mulf %acc, %two : tensor<1xf32>
      %next = arith.addf %d, %x : tensor<1xf32>
      tile.yield %next : tensor<1xf32>
    }
    tile.store %r, %out[%c0] : tensor<1xf32>, memref<1xf32>)"));
  Array out({1});
  ASSERT_TRUE(runBody(program, makeArray({5, 1}, {1, 10, 3, 10, 5}), out)) << program.messages;
  EXPECT_EQ(out({0}), 2 * (2 * 1 + 3) + 5);
  ASSERT_TRUE(runBody(program, Array({0, 1}), out)) << program.messages;
  EXPECT_EQ(out({0}), 0);
}

TEST(EvalTileControlTest, ReverseLoopsBeginWithTheLastStep) {
  // acc ← 2·acc + element over 0, 2, 4 from the last one down; the last step is the same if the end lies within it.
  Program program(kernelText("memref<?x1xf32>", "memref<1xf32>", R"(
    %n = memref.dim %in, %c0 : memref<?x1xf32>
    %two = arith.constant dense<2.0> : tensor<1xf32>
    %zero = arith.constant dense<0.0> : tensor<1xf32>
    %r = tile.loop #tile.sum %i = %c0 to %n step 2 reverse carries(%acc = %zero) : (tensor<1xf32>) {
      %x = tile.load %in[%i, %c0] : memref<?x1xf32> -> tensor<1xf32>
      %d = arith.mulf %acc, %two : tensor<1xf32>
      %next = arith.addf %d, %x : tensor<1xf32>
      tile.yield %next : tensor<1xf32>
    }
    tile.store %r, %out[%c0] : tensor<1xf32>, memref<1xf32>)"));
  Array out({1});
  for (auto numbers : {std::vector<double>{1, 10, 3, 10, 5}, std::vector<double>{1, 10, 3, 10, 5, 10}}) {
    ASSERT_TRUE(runBody(program, makeArray({static_cast<int64_t>(numbers.size()), 1}, numbers), out)) << program.messages;
    EXPECT_EQ(out({0}), 2 * (2 * 5 + 3) + 1);
  }
  ASSERT_TRUE(runBody(program, Array({0, 1}), out)) << program.messages;
  EXPECT_EQ(out({0}), 0);
}

TEST(EvalTileControlTest, NumbersChooseOneOfTwoWays) {
  Program program(kernelText("memref<3xf32>", "memref<1xf32>", R"(
    %c1 = arith.constant 1 : index
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %ten = arith.constant dense<10.0> : tensor<1xf32>
    %x = tile.load %in[%c0] : memref<3xf32> -> tensor<3xf32>
    %any = tile.any %x : tensor<3xf32>
    %a = tile.loop #tile.sum %i = %any to %c1 step 1 carries(%acc = %one) : (tensor<1xf32>) {
      %next = arith.addf %acc, %acc : tensor<1xf32>
      tile.yield %next : tensor<1xf32>
    }
    %b = tile.loop #tile.sum %i = %c0 to %any step 1 carries(%acc = %a) : (tensor<1xf32>) {
      %next = arith.mulf %acc, %ten : tensor<1xf32>
      tile.yield %next : tensor<1xf32>
    }
    tile.store %b, %out[%c0] : tensor<1xf32>, memref<1xf32>)"));
  double nan = std::nan("");
  for (auto [numbers, expected] : std::vector<std::pair<std::vector<double>, double>>{
           {{0, -1, -INFINITY}, 2}, {{0, 0, 1e-30}, 10}, {{-1, nan, -1}, 10}, {{INFINITY, 0, 0}, 10}}) {
    Array out({1});
    ASSERT_TRUE(runBody(program, makeArray({3}, numbers), out)) << program.messages;
    EXPECT_EQ(out({0}), expected);
  }
}

TEST(EvalTileControlTest, YieldMayExchangeTheCarriedTiles) {
  Program program(kernelText("memref<1xf32>", "memref<2x1xf32>", R"(
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %x = arith.constant dense<1.0> : tensor<1xf32>
    %y = arith.constant dense<2.0> : tensor<1xf32>
    %r:2 = tile.loop #tile.sum %i = %c0 to %c3 step 1 carries(%a = %x, %b = %y) : (tensor<1xf32>, tensor<1xf32>) {
      tile.yield %b, %a : tensor<1xf32>, tensor<1xf32>
    }
    tile.store %r#0, %out[%c0, %c0] : tensor<1xf32>, memref<2x1xf32>
    tile.store %r#1, %out[%c1, %c0] : tensor<1xf32>, memref<2x1xf32>)"));
  Array out({2, 1});
  ASSERT_TRUE(runBody(program, Array({1}), out)) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{2, 1}));
}

TEST(EvalTileControlTest, IfAndForOnIndices) {
  // The sum of the odd numbers below n, where n is read from memory.
  Program program(kernelText("memref<1xi32>", "memref<1xf32>", R"(
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n32 = memref.load %in[%c0] : memref<1xi32>
    %n = arith.index_cast %n32 : i32 to index
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {
      %r = arith.remui %i, %c2 : index
      %odd = arith.cmpi eq, %r, %c1 : index
      %next = scf.if %odd -> (index) {
        %t = arith.addi %s, %i : index
        scf.yield %t : index
      } else {
        scf.yield %s : index
      }
      scf.yield %next : index
    }
    %sum32 = arith.index_cast %sum : index to i32
    %f = arith.sitofp %sum32 : i32 to f32
    memref.store %f, %out[%c0] : memref<1xf32>)"));
  Array out({1});
  ASSERT_TRUE(runBody(program, makeArray({1}, {8}), out)) << program.messages;
  EXPECT_EQ(out({0}), 1 + 3 + 5 + 7);
}

TEST(EvalTileControlTest, IntegerDivisionOfNegatives) {
  struct Case {
    const char *name;
    double expected;
  };
  for (auto [name, expected] : {Case{"divsi", -3}, Case{"remsi", -1}, Case{"floordivsi", -4}, Case{"ceildivsi", -3}}) {
    Program program(kernelText("memref<1xi32>", "memref<1xf32>", std::string(R"(
      %a = arith.constant -7 : i32
      %b = arith.constant 2 : i32
      %r = arith.)") + name + R"( %a, %b : i32
      %f = arith.sitofp %r : i32 to f32
      memref.store %f, %out[%c0] : memref<1xf32>)"));
    Array out({1});
    EXPECT_TRUE(runBody(program, Array({1}), out)) << name << program.messages;
    EXPECT_EQ(out({0}), expected) << name;
  }
}

static const char *const gridKernel = R"(
tile.kernel @k(%out: memref<2x3xf32>, %scale: f32) grid(head, query_block) {
  %h = tile.program_id head
  %p = tile.program_id query_block
  %c10 = arith.constant 10 : index
  %t = arith.muli %h, %c10 : index
  %s = arith.addi %t, %p : index
  %s32 = arith.index_cast %s : index to i32
  %f = arith.sitofp %s32 : i32 to f32
  %r = arith.mulf %f, %scale : f32
  memref.store %r, %out[%h, %p] : memref<2x3xf32>
  tile.return
}
)";

TEST(EvalTileControlTest, EveryGridPointRunsWhateverTheOrder) {
  Program program(gridKernel);
  for (uint64_t seed : {0, 1, 2, 77}) {
    Array out({2, 3}, -1);
    EvalTileOptions options;
    options.seed = seed;
    ASSERT_TRUE(program.runKernel({2, 3}, {out, 2.0}, options)) << program.messages;
    EXPECT_EQ(out.elements(), (std::vector<double>{0, 2, 4, 20, 22, 24}));
  }
}

TEST(EvalTileControlTest, HostLaunchesInOrderThroughWorkspace) {
  Program program(R"(
    tile.kernel @copy(%in: memref<?x2xf32>, %out: memref<?x2xf32>) grid(query_block) {
      %p = tile.program_id query_block
      %c0 = arith.constant 0 : index
      %two = arith.constant dense<2.0> : tensor<1x2xf32>
      %t = tile.load %in[%p, %c0] : memref<?x2xf32> -> tensor<1x2xf32>
      %d = arith.mulf %t, %two : tensor<1x2xf32>
      tile.store %d, %out[%p, %c0] : tensor<1x2xf32>, memref<?x2xf32>
      tile.return
    }
    func.func @plan(%in: memref<?x2xf32>, %out: memref<?x2xf32>) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %in, %c0 : memref<?x2xf32>
      %w = tile.workspace(%n) : memref<?x2xf32>
      tile.launch @copy grid(%n) (%in, %w) : memref<?x2xf32>, memref<?x2xf32>
      tile.launch @copy grid(%n) (%w, %out) : memref<?x2xf32>, memref<?x2xf32>
      return
    })");
  Array out({3, 2});
  ASSERT_TRUE(program.runHost({makeArray({3, 2}, {1, 2, 3, 4, 5, 6}), out})) << program.messages;
  EXPECT_EQ(out.elements(), (std::vector<double>{4, 8, 12, 16, 20, 24}));
}

TEST(EvalTileControlTest, WorkspaceIsNotInitialised) {
  Program program(R"(
    tile.kernel @copy(%in: memref<2xf32>, %out: memref<2xf32>) grid(batch) {
      %c0 = arith.constant 0 : index
      %t = tile.load %in[%c0] : memref<2xf32> -> tensor<2xf32>
      tile.store %t, %out[%c0] : tensor<2xf32>, memref<2xf32>
      tile.return
    }
    func.func @plan(%out: memref<2xf32>) {
      %c1 = arith.constant 1 : index
      %w = tile.workspace() : memref<2xf32>
      tile.launch @copy grid(%c1) (%w, %out) : memref<2xf32>, memref<2xf32>
      return
    })");
  Array out({2});
  ASSERT_TRUE(program.runHost({out})) << program.messages;
  EXPECT_TRUE(std::isnan(out({0})) && std::isnan(out({1})));
}
