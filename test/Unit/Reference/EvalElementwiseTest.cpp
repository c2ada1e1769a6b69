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
#include <limits>

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

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
}

/// A unary op of `values`, in f32.
static std::vector<double> unary(const std::string &op, const std::vector<double> &values,
                                 Precision precision = Precision::Ideal) {
  auto count = static_cast<int64_t>(values.size());
  std::string sizes = std::to_string(count) + "xf32>";
  Program program(kernelText("memref<" + sizes, "memref<" + sizes, "%x = tile.load %in[%c0] : memref<" + sizes +
                             " -> tensor<" + sizes + "\n%r = " + op + " %x : tensor<" + sizes +
                             "\ntile.store %r, %out[%c0] : tensor<" + sizes + ", memref<" + sizes));
  Array out({count});
  EXPECT_TRUE(runBody(program, makeArray({count}, values), out, precision)) << program.messages;
  return out.elements();
}

/// The sign of zero counts, and NaN is NaN.
static void expectSame(const std::vector<double> &got, const std::vector<double> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i]) << i << ": " << got[i];
    EXPECT_EQ(std::signbit(got[i]) && !std::isnan(got[i]), std::signbit(expected[i]) && !std::isnan(expected[i])) << i;
  }
}

TEST(EvalElementwiseTest, EdgesOfSimpleFunctions) {
  const double tiny = 0x1p-149;
  expectSame(unary("math.absf", {0, -0.0, -infinity, NAN, -tiny}), {0, 0, infinity, NAN, tiny});
  expectSame(unary("arith.negf", {0, -0.0, -infinity, NAN, -tiny}), {-0.0, 0, infinity, NAN, tiny});
  expectSame(unary("math.sqrt", {0, -0.0, infinity, NAN, -1, 0x1p-148}), {0, -0.0, infinity, NAN, NAN, 0x1p-74});
  expectSame(unary("math.roundeven", {0.5, 1.5, 2.5, -0.5, -0.25, infinity, NAN, 2.75}),
             {0, 2, 2, -0.0, -0.0, infinity, NAN, 3});
}

TEST(EvalElementwiseTest, SineAndCosineOfTurns) {
  expectSame(unary("tile.sine", {0, 0.25, 0.75, 100000.25, infinity, NAN}), {0, 1, -1, 1, NAN, NAN});
  expectSame(unary("tile.cosine", {0, 0.5, 1e300, -infinity, NAN}), {1, -1, 1, NAN, NAN});
  EXPECT_EQ(unary("tile.cosine", {0.25})[0], 0); // of either sign
  // In the ideal mode they are what float64 holds: sin 30° = cos 60° = 1/2, cos 45° = √½.
  EXPECT_NEAR(unary("tile.sine", {1.0 / 12})[0], 0.5, 1e-16);
  EXPECT_NEAR(unary("tile.cosine", {-7.0 / 6})[0], 0.5, 1e-15); // 7/6 is rounded
  EXPECT_EQ(unary("tile.cosine", {0.125})[0], std::sqrt(0.5));
  EXPECT_EQ(unary("tile.sine", {1.0 / 12}, Precision::Faithful)[0], 0.5);
  for (double turns = -2; turns < 2; turns += 0.037) {
    EXPECT_NEAR(unary("tile.sine", {turns})[0], std::sin(2 * M_PI * turns), 3e-15);
    EXPECT_NEAR(unary("tile.cosine", {turns})[0], std::cos(2 * M_PI * turns), 3e-15);
  }
}

TEST(EvalElementwiseTest, FmaRoundsOnce) {
  // (1 + 2⁻¹²)² = 1 + 2⁻¹¹ + 2⁻²⁴: less 1 + 2⁻¹¹ the last term is left, unless the product is rounded to f32 first.
  Program program(kernelText("memref<1xf32>", "memref<1xf32>", R"(
    %x = tile.load %in[%c0] : memref<1xf32> -> tensor<1xf32>
    %y = arith.constant dense<-1.00048828125> : tensor<1xf32>
    %r = math.fma %x, %x, %y : tensor<1xf32>
    tile.store %r, %out[%c0] : tensor<1xf32>, memref<1xf32>)"));
  Array out({1});
  ASSERT_TRUE(runBody(program, makeArray({1}, {1 + 0x1p-12}), out, Precision::Faithful)) << program.messages;
  EXPECT_EQ(out({0}), 0x1p-24);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// An op on two i32 tiles; %a is loaded, %b a constant.
static std::vector<double> integers(const std::string &op, const std::vector<double> &a, const std::string &b) {
  auto count = static_cast<int64_t>(a.size());
  std::string n = std::to_string(count);
  Program program(kernelText("memref<" + n + "xi32>", "memref<" + n + "xf32>",
                             "%a = tile.load %in[%c0] : memref<" + n + "xi32> -> tensor<" + n + "xi32>\n" +
                                 "%b = arith.constant dense<" + b + "> : tensor<" + n + "xi32>\n" + op +
                                 "tile.store %r, %out[%c0] : tensor<" + n + "xf32>, memref<" + n + "xf32>"));
  Array out({count});
  EXPECT_TRUE(runBody(program, makeArray({count}, a), out)) << program.messages;
  return out.elements();
}

static std::vector<double> integerOp(const std::string &op, const std::vector<double> &a, const std::string &b) {
  std::string type = " : tensor<" + std::to_string(a.size()) + "xi32>";
  return integers("%i = " + op + type + "\n%r = arith.sitofp %i" + type + " to tensor<" + std::to_string(a.size()) +
                      "xf32>\n", a, b);
}

TEST(EvalElementwiseTest, TilesOfIntegers) {
  using Numbers = std::vector<double>;
  EXPECT_EQ(integerOp("arith.andi %a, %b", {-1, 6, 2147483647}, "[5, 3, -2147483648]"), (Numbers{5, 2, 0}));
  EXPECT_EQ(integerOp("arith.ori %a, %b", {-1, 6}, "[5, 3]"), (Numbers{-1, 7}));
  EXPECT_EQ(integerOp("arith.xori %a, %b", {-1, 6}, "[5, 3]"), (Numbers{-6, 5}));
  EXPECT_EQ(integerOp("arith.addi %a, %b", {2147483647, 6}, "1"), (Numbers{-2147483648, 7}));
  EXPECT_EQ(integerOp("math.ctpop %a", {-1, 0, 6, -2147483648}, "0"), (Numbers{32, 0, 2, 1}));
  auto compare = [](const std::string &predicate, const Numbers &a) {
    std::string n = std::to_string(a.size());
    return integers("%c = arith.cmpi " + predicate + ", %a, %b : tensor<" + n + "xi32>\n%x = arith.constant dense<1.0> : "
                    "tensor<" + n + "xf32>\n%y = arith.constant dense<2.0> : tensor<" + n + "xf32>\n%r = arith.select "
                    "%c, %x, %y : tensor<" + n + "xi1>, tensor<" + n + "xf32>\n", a, "3");
  };
  EXPECT_EQ(compare("slt", {-1, 3, 4}), (Numbers{1, 2, 2}));
  EXPECT_EQ(compare("ult", {-1, 3, 2}), (Numbers{2, 2, 1}));
  EXPECT_EQ(compare("eq", {-1, 3, 2}), (Numbers{2, 1, 2}));
}

TEST(EvalElementwiseTest, IntegersThatNobodyHasWritten) {
  Program program(kernelText("memref<1xi32>", "memref<1xi32>", R"(
    %a = tile.load %in[%c0] : memref<1xi32> -> tensor<1xi32>
    %r = arith.andi %a, %a : tensor<1xi32>
    tile.store %r, %out[%c0] : tensor<1xi32>, memref<1xi32>)"));
  EXPECT_FALSE(runBody(program, Array({1}, NAN), Array({1})));
  EXPECT_NE(program.messages.find("expected integers that have been written, but got nan"), std::string::npos)
      << program.messages;
}
