//===- EvalAttnTest.cpp - Terms, modes and errors of the interpreter of attn ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "attune/Reference/Tolerance.h"

#include "gmock/gmock.h"

#include <cmath>
#include <limits>
#include <random>

using namespace attune;
using namespace attune::reference;
using testing::HasSubstr;

static Array draw(llvm::ArrayRef<int64_t> shape, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Array array(shape);
  for (int64_t i = 0; i < array.count(); ++i)
    array.element(i) = normal(random);
  return array;
}

static const char *const oneSoftmax = R"(
func.func @f(%q: tensor<?x2x?x3xf16>, %k: tensor<?x1x?x3xf16>, %v: tensor<?x1x?x2xf16>) -> tensor<?x2x?x2xf16> {
  %o = attn.softmax %q, %k, %v {causal, scale = 0.5 : f64}
      : tensor<?x2x?x3xf16>, tensor<?x1x?x3xf16>, tensor<?x1x?x2xf16> -> tensor<?x2x?x2xf16>
  return %o : tensor<?x2x?x2xf16>
})";

TEST(EvalAttnTest, PiecesMergeToTheWhole) {
  // Eleven keys in three pieces of four, the last one short; rows of the first queries see none of the later pieces.
  Program merged(R"(
    !t = tensor<?x2x?xf32>
    !a = tensor<?x2x?x2xf32>
    !q = tensor<?x2x?x3xf16>
    !k = tensor<?x1x?x3xf16>
    !v = tensor<?x1x?x2xf16>
    func.func @f(%q: !q, %k: !k, %v: !v) -> tensor<?x2x?x2xf16> {
      %m0, %l0, %a0 = attn.softmax_partial %q, %k, %v {causal, piece = 0 : i64, pieces = 3 : i64, scale = 0.5 : f64} : !q, !k, !v -> !t, !t, !a
      %m1, %l1, %a1 = attn.softmax_partial %q, %k, %v {causal, piece = 1 : i64, pieces = 3 : i64, scale = 0.5 : f64} : !q, !k, !v -> !t, !t, !a
      %m2, %l2, %a2 = attn.softmax_partial %q, %k, %v {causal, piece = 2 : i64, pieces = 3 : i64, scale = 0.5 : f64} : !q, !k, !v -> !t, !t, !a
      %m3, %l3, %a3 = attn.softmax_merge (%m1, %l1, %a1), (%m2, %l2, %a2) : !t, !a
      %m, %l, %a = attn.softmax_merge (%m0, %l0, %a0), (%m3, %l3, %a3) : !t, !a
      %o, %lse = attn.softmax_finish %m, %l, %a : !t, !a -> tensor<?x2x?x2xf16>
      return %o : tensor<?x2x?x2xf16>
    })");
  Program whole(oneSoftmax);
  for (int64_t queries : {11, 20}) {
    std::vector<Array> arguments{draw({2, 2, queries, 3}, 1), draw({2, 1, 11, 3}, 2), draw({2, 1, 11, 2}, 3)};
    std::vector<Array> got = merged.runAttn(arguments), expected = whole.runAttn(arguments);
    ASSERT_EQ(got.size(), 1u) << merged.messages;
    ASSERT_EQ(expected.size(), 1u) << whole.messages;
    EXPECT_EQ(mismatch(got[0], expected[0], 1e-14), "");
  }
}

TEST(EvalAttnTest, StatesOfPiecesMergeByAddition) {
  Program program(R"(
    !f = tensor<1x1x?x2xf32>
    !v = tensor<1x1x?x1xf32>
    !s = tensor<1x1x2x1xf32>
    !z = tensor<1x1x2xf32>
    func.func @f(%f1: !f, %v1: !v, %f2: !f, %v2: !v) -> (!s, !z) {
      %s1, %z1 = attn.state %f1, %v1 : !f, !v -> !s, !z
      %s2, %z2 = attn.state %f2, %v2 : !f, !v -> !s, !z
      %s, %z = attn.state_merge (%s1, %z1), (%s2, %z2) : !s, !z
      return %s, %z : !s, !z
    })");
  std::vector<Array> got =
      program.runAttn({makeArray({1, 1, 2, 2}, {1, 2, 3, 4}), makeArray({1, 1, 2, 1}, {10, 100}),
                       makeArray({1, 1, 1, 2}, {5, 0}), makeArray({1, 1, 1, 1}, {1000})});
  ASSERT_EQ(got.size(), 2u) << program.messages;
  EXPECT_EQ(got[0].elements(), (std::vector<double>{1 * 10 + 3 * 100 + 5 * 1000, 2 * 10 + 4 * 100}));
  EXPECT_EQ(got[1].elements(), (std::vector<double>{9, 6}));
}

TEST(EvalAttnTest, ContractionsSumWhatTheResultLacks) {
  // Two heads on one; the sum is over features and, of the right side alone, over values.
  Program program(R"(
    func.func @f(%a: tensor<1x2x1x2xf32>, %b: tensor<1x1x2x2xf32>) -> tensor<1x2x1xf32> {
      %c = attn.contract %a[batch, head, query, feature], %b[batch, head, feature, value] -> [batch, head, query]
          : tensor<1x2x1x2xf32>, tensor<1x1x2x2xf32> -> tensor<1x2x1xf32>
      return %c : tensor<1x2x1xf32>
    })");
  std::vector<Array> got =
      program.runAttn({makeArray({1, 2, 1, 2}, {1, 2, 0, 3}), makeArray({1, 1, 2, 2}, {10, 20, 30, 40})});
  ASSERT_EQ(got.size(), 1u) << program.messages;
  EXPECT_EQ(got[0].elements(), (std::vector<double>{1 * 30 + 2 * 70, 3 * 70}));
}

TEST(EvalAttnTest, AWeightOfZeroHidesAnything) {
  Program program(R"(
    func.func @f(%w: tensor<1x1x1x2xf32>, %v: tensor<1x1x2x1xf32>) -> tensor<1x1x1x1xf32> {
      %c = attn.contract %w[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value]
          : tensor<1x1x1x2xf32>, tensor<1x1x2x1xf32> -> tensor<1x1x1x1xf32>
      return %c : tensor<1x1x1x1xf32>
    })");
  std::vector<Array> got =
      program.runAttn({makeArray({1, 1, 1, 2}, {3, 0}), makeArray({1, 1, 2, 1}, {2, std::nan("")})});
  ASSERT_EQ(got.size(), 1u) << program.messages;
  EXPECT_EQ(got[0].elements(), std::vector<double>{6});
}

TEST(EvalAttnTest, FaithfulResultsAreOfTheirType) {
  Program program(oneSoftmax);
  std::vector<Array> arguments{draw({1, 2, 5, 3}, 1), draw({1, 1, 5, 3}, 2), draw({1, 1, 5, 2}, 3)};
  mlir::MLIRContext context;
  mlir::Type half = mlir::Float16Type::get(&context);
  for (Array &argument : arguments)
    argument = makeArray(argument.shape(), argument.elements(), half);
  std::vector<Array> ideal = program.runAttn(arguments);
  std::vector<Array> faithful = program.runAttn(arguments, {Precision::Faithful, {}});
  ASSERT_EQ(faithful.size(), 1u) << program.messages;
  std::vector<double> expected = ideal[0].elements();
  for (double &x : expected)
    x = roundTo(x, half);
  EXPECT_EQ(faithful[0].elements(), expected);
  EXPECT_NE(ideal[0].elements(), expected);
}

TEST(EvalAttnTest, SizesThatDoNotFit) {
  Program batch(oneSoftmax);
  EXPECT_TRUE(batch.runAttn({draw({1, 2, 5, 3}, 1), draw({2, 1, 5, 3}, 2), draw({2, 1, 5, 2}, 3)}).empty());
  EXPECT_THAT(batch.messages, HasSubstr("expected key of [1, 1, 5, 3], but got [2, 1, 5, 3]"));
  Program heads(oneSoftmax);
  EXPECT_TRUE(heads.runAttn({draw({1, 3, 5, 3}, 1), draw({1, 1, 5, 3}, 2), draw({1, 1, 5, 2}, 3)}).empty());
  EXPECT_THAT(heads.messages, HasSubstr("expected argument 0 to fit"));
  Program few(oneSoftmax);
  EXPECT_TRUE(few.runAttn({draw({1, 2, 5, 3}, 1)}).empty());
  EXPECT_THAT(few.messages, HasSubstr("expected 3 arguments, but got 1"));
}

TEST(EvalAttnTest, UnknownOpIsNamed) {
  Program program(R"(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = arith.negf %x : tensor<2xf32>
      return %y : tensor<2xf32>
    })");
  EXPECT_TRUE(program.runAttn({Array({2})}).empty());
  EXPECT_THAT(program.messages,
              HasSubstr("'arith.negf' op expected an op that the interpreter of the attn dialect knows"));
}

TEST(EvalAttnTest, ConstantsAreTensors) {
  Program program(R"(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %c = arith.constant 1.0 : f32
      return %x : tensor<2xf32>
    })");
  EXPECT_TRUE(program.runAttn({Array({2})}).empty());
  EXPECT_THAT(program.messages, HasSubstr("'arith.constant' op expected dense elements, but got 1.000000e+00 : f32"));
}
