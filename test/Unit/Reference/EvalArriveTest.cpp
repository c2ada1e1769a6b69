//===- EvalArriveTest.cpp - Programs that wait for the last ------------===//
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

/// Five points store 2^p each; the last one adds up what `ofGroup` of them stored. `count`: the points that it waits for.
static std::string sumOfPoints(const std::string &count, const std::string &before = "", const std::string &index = "%c0") {
  return R"(
    tile.kernel @sum(%in: memref<5x1xf32>, %parts: memref<5x1xf32>, %out: memref<1xf32>, %counters: memref<1x2xi32>) grid(batch) {
      %p = tile.program_id batch
      %c0 = arith.constant 0 : index
      %c5 = arith.constant 5 : index
      %zero = arith.constant dense<0.0> : tensor<1xf32>
      %x = tile.load %in[%p, %c0] : memref<5x1xf32> -> tensor<1xf32>
      tile.store %x, %parts[%p, %c0] : tensor<1xf32>, memref<5x1xf32>
      %count = )" + count + before + R"(
      %last = tile.arrive %counters[)" + index + R"(] of %count : memref<1x2xi32>
      tile.loop #tile.sum %once = %c0 to %last step 1 {
        %sum = tile.loop #tile.sum %i = %c0 to %c5 step 1 carries(%acc = %zero) : (tensor<1xf32>) {
          %part = tile.load %parts[%i, %c0] : memref<5x1xf32> -> tensor<1xf32>
          %next = arith.addf %acc, %part : tensor<1xf32>
          tile.yield %next : tensor<1xf32>
        }
        tile.store %sum, %out[%c0] : tensor<1xf32>, memref<1xf32>
        tile.yield
      }
      tile.return
    })";
}

static const std::string five = "arith.constant 5 : index";

static bool run(Program &program, const Array &out, uint64_t seed = 0) {
  Array in({5, 1}), parts({5, 1}), counters({1, 2});
  for (int64_t i = 0; i < 5; ++i)
    in({i, 0}) = static_cast<double>(1 << i);
  return program.runKernel({5}, {in, parts, out, counters}, {Precision::Ideal, seed});
}

TEST(EvalArriveTest, TheLastPointReadsAll) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    Program program(sumOfPoints(five));
    ASSERT_TRUE(program.parsed()) << program.messages;
    Array out({1});
    EXPECT_TRUE(run(program, out, seed)) << program.messages;
    EXPECT_EQ(out({0}), 31);
  }
}

TEST(EvalArriveTest, APointThatIsNotLastMustNotRead) {
  Program program(sumOfPoints("arith.constant 4 : index"));
  EXPECT_FALSE(run(program, Array({1})));
  // One of them is the last of four, and reads what the fifth has not stored or will store.
  EXPECT_THAT(program.messages, HasSubstr("expected"));
}

TEST(EvalArriveTest, AllPointsOfAGroupArrive) {
  Program program(sumOfPoints("arith.constant 6 : index"));
  EXPECT_FALSE(run(program, Array({1})));
  EXPECT_THAT(program.messages, HasSubstr("expected all 6 programs of a group to arrive, but 5 have"));
}

TEST(EvalArriveTest, TheCounterMustExist) {
  Program program(sumOfPoints(five, "", "%p"));
  EXPECT_FALSE(run(program, Array({1})));
  EXPECT_THAT(program.messages, HasSubstr("expected an index of dimension 0 from 0 and below 1"));
}

TEST(EvalArriveTest, EachPointNamesTheSameSize) {
  Program program(sumOfPoints("arith.addi %p, %c5 : index"));
  EXPECT_FALSE(run(program, Array({1})));
  EXPECT_THAT(program.messages, HasSubstr("each of which arrives once and names its size"));
}
