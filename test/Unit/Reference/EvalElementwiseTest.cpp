//===- EvalElementwiseTest.cpp - Constants and elementwise ops, by value ===//
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

TEST(EvalElementwiseTest, ExactConstantsAreRoundedOnlyInTheFaithfulMode) {
  Program program(kernelText("memref<1xf32>", "memref<1xf32>", R"(
    %e = arith.constant #tile.exact<1.4426950408889634> : tensor<1xf32>
    tile.store %e, %out[%c0] : tensor<1xf32>, memref<1xf32>)"));
  Array out({1});
  ASSERT_TRUE(runBody(program, Array({1}), out, Precision::Ideal)) << program.messages;
  EXPECT_EQ(out({0}), M_LOG2E);
  ASSERT_TRUE(runBody(program, Array({1}), out, Precision::Faithful)) << program.messages;
  EXPECT_EQ(out({0}), double(float(M_LOG2E)));
}
