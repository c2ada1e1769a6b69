//===- EvalLayerTest.cpp - What stands around mechanisms, and their terms, by hand ===//
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

using namespace attune;
using namespace attune::reference;
using testing::DoubleEq;
using testing::ElementsAre;

/// The elements of the only result of a function.
static std::vector<double> run(const std::string &text, llvm::ArrayRef<Array> arguments, std::vector<int64_t> rows = {}) {
  Program program(text);
  EvalAttnOptions options;
  if (!rows.empty())
    options.rows = rows;
  std::vector<Array> results = program.runAttn(arguments, options);
  EXPECT_EQ(results.size(), 1u) << program.messages << text;
  return results.empty() ? std::vector<double>() : results[0].elements();
}

TEST(EvalLayerTest, ProjectToHeadsAndBack) {
  const char *text = R"(func.func @f(%x: tensor<1x?x2xf32>, %w: tensor<2x4xf32>, %b: tensor<4xf32>, %o: tensor<4x1xf32>) -> tensor<1x?x1xf32> {
    %h = attn.project %x, %w bias(%b : tensor<4xf32>) : tensor<1x?x2xf32>, tensor<2x4xf32> -> tensor<1x2x?x2xf32>
    %y = attn.project_output %h, %o : tensor<1x2x?x2xf32>, tensor<4x1xf32> -> tensor<1x?x1xf32>
    return %y : tensor<1x?x1xf32>
  })";
  std::vector<Array> arguments{makeArray({1, 2, 2}, {1, 2, 3, 4}), makeArray({2, 4}, {1, 0, 2, 0, 0, 1, 0, 3}),
                               makeArray({4}, {0, 0, 0, 100}), makeArray({4, 1}, {1, 10, 100, 1000})};
  // Heads of (1, 2): (1, 2) and (2, 106); of (3, 4): (3, 4) and (6, 112).
  EXPECT_THAT(run(text, arguments), ElementsAre(1 + 20 + 200 + 106000, 3 + 40 + 600 + 112000));
  EXPECT_THAT(run(text, arguments, {1}), ElementsAre(3 + 40 + 600 + 112000));
}

static std::string rope(const char *attributes) {
  return std::string("func.func @f(%q: tensor<1x1x?x4xf32>, %k: tensor<1x1x?x4xf32>) -> tensor<1x1x?x4xf32> {\n"
                     "%r = attn.rope %q aligned(%k : tensor<1x1x?x4xf32>) {") +
         attributes + "} : tensor<1x1x?x4xf32> -> tensor<1x1x?x4xf32>\nreturn %r : tensor<1x1x?x4xf32>\n}";
}

TEST(EvalLayerTest, RopeAlignsTheLastTokens) {
  // base = 16, d = 4: frequencies 1 and 1/4. One query on three keys stands at position 2.
  std::vector<Array> arguments{makeArray({1, 1, 1, 4}, {1, 0, 0, 1}), Array({1, 1, 3, 4})};
  EXPECT_THAT(run(rope("base = 16.0 : f64"), arguments),
              ElementsAre(std::cos(2), std::sin(2), -std::sin(0.5), std::cos(0.5)));
  // Pairs (0, 2) and (1, 3).
  EXPECT_THAT(run(rope("base = 16.0 : f64, half"), arguments),
              ElementsAre(std::cos(2), -std::sin(0.5), std::sin(2), std::cos(0.5)));
  // Chosen rows keep their positions.
  arguments[0] = makeArray({1, 1, 3, 4}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
  EXPECT_THAT(run(rope("base = 16.0 : f64"), arguments, {2}), ElementsAre(std::cos(2), std::sin(2), 0, 0));
}

TEST(EvalLayerTest, QkNorm) {
  EXPECT_THAT(run(R"(func.func @f(%q: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
    %n = attn.qk_norm %q {epsilon = 3.0 : f64} : tensor<1x1x1x2xf32> -> tensor<1x1x1x2xf32>
    return %n : tensor<1x1x1x2xf32>
  })", {makeArray({1, 1, 1, 2}, {6, 4})}), ElementsAre(0.5, -0.5));
}

TEST(EvalLayerTest, CompressReadsWhatExists) {
  EXPECT_THAT(run(R"(func.func @f(%k: tensor<1x2x3x1xf32>, %e: tensor<1x2x3xf32>, %l: tensor<1xi32>) -> tensor<1x2x2x1xf32> {
    %c = attn.compress %k, %e lengths(%l : tensor<1xi32>) : tensor<1x2x3x1xf32>, tensor<1x2x3xf32> -> tensor<1x2x2x1xf32>
    return %c : tensor<1x2x2x1xf32>
  })", {makeArray({1, 2, 3, 1}, {1, 2, std::nan(""), 10, 20, 30}), makeArray({1, 2, 3}, {1, 1, 1, 5, -1, 7}),
        makeArray({1}, {2})}), ElementsAre(3, 3, 30, 30));
}

static std::string lepe(const std::string &tokens, const std::string &taps, const std::string &attributes) {
  std::string o = "tensor<1x1x" + tokens + "x1xf32>", w = "tensor<1x1x" + taps + "xf32>";
  return "func.func @f(%o: " + o + ", %v: " + o + ", %w: " + w + ", %l: tensor<1xi32>) -> " + o +
         " {\n%r = attn.lepe %o, %v, %w lengths(%l : tensor<1xi32>) {" + attributes + "} : " + o + ", " + o + ", " + w +
         " -> " + o + "\nreturn %r : " + o + "\n}";
}

TEST(EvalLayerTest, LepeOfASequence) {
  std::vector<Array> arguments{makeArray({1, 1, 4, 1}, {1000, 0, 0, 0}), makeArray({1, 1, 4, 1}, {1, 2, 3, std::nan("")}),
                               makeArray({1, 1, 3}, {100, 10, 1}), makeArray({1}, {3})};
  EXPECT_THAT(run(lepe("4", "3", ""), arguments), ElementsAre(1012, 123, 230, 300));
  EXPECT_THAT(run(lepe("4", "3", ""), arguments, {2, 0}), ElementsAre(230, 1012));
  // Blocks of two end at their edges.
  EXPECT_THAT(run(lepe("4", "3", "window = #attn.window<2>"), arguments), ElementsAre(1012, 120, 30, 300));
}

TEST(EvalLayerTest, LepeOfAnImage) {
  // Two rows of three tokens; the taps are ten to the places 8 … 0, in row-major order.
  std::vector<Array> arguments{Array({1, 1, 6, 1}), makeArray({1, 1, 6, 1}, {1, 2, 3, 4, 5, 6}),
                               makeArray({1, 1, 3, 3}, {1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 10, 1}), makeArray({1}, {6})};
  EXPECT_THAT(run(lepe("6", "3x3", "grid = array<i64: 2, 3>"), arguments),
              ElementsAre(12045, 123456, 230560, 12045000, 123456000, 230560000));
  EXPECT_THAT(run(lepe("6", "3x3", "window = #attn.window<2x1 of 2x3>"), arguments),
              ElementsAre(10040, 20050, 30060, 10040000, 20050000, 30060000));
}

TEST(EvalLayerTest, HeadsApartAndTogether) {
  EXPECT_THAT(run(R"(func.func @f(%q: tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32> {
    %a = attn.take_heads %q {first = 0 : i64} : tensor<1x3x1x1xf32> -> tensor<1x1x1x1xf32>
    %b = attn.take_heads %q {first = 1 : i64} : tensor<1x3x1x1xf32> -> tensor<1x2x1x1xf32>
    %c = attn.concat_heads %b, %a : tensor<1x2x1x1xf32>, tensor<1x1x1x1xf32> -> tensor<1x3x1x1xf32>
    return %c : tensor<1x3x1x1xf32>
  })", {makeArray({1, 3, 1, 1}, {1, 2, 3})}), ElementsAre(2, 3, 1));
}

TEST(EvalLayerTest, PoolAndSequenceSoftmax) {
  EXPECT_THAT(run(R"(func.func @f(%q: tensor<1x1x4x1xf32>) -> tensor<1x1x2x1xf32> {
    %p = attn.pool %q {count = 2 : i64} : tensor<1x1x4x1xf32> -> tensor<1x1x2x1xf32>
    return %p : tensor<1x1x2x1xf32>
  })", {makeArray({1, 1, 4, 1}, {1, 3, 10, 30})}), ElementsAre(2, 20));
  EXPECT_THAT(run(R"(func.func @f(%k: tensor<1x1x3x1xf32>, %l: tensor<1xi32>) -> tensor<1x1x3x1xf32> {
    %p = attn.sequence_softmax %k lengths(%l : tensor<1xi32>) : tensor<1x1x3x1xf32> -> tensor<1x1x3x1xf32>
    return %p : tensor<1x1x3x1xf32>
  })", {makeArray({1, 1, 3, 1}, {5, 5 + std::log(3), 1e3}), makeArray({1}, {2})}),
              ElementsAre(DoubleEq(0.25), DoubleEq(0.75), 0));
}

TEST(EvalLayerTest, PowersAndBlocksOfWeights) {
  EXPECT_THAT(run(R"(func.func @f(%a: tensor<1x1x2x2xf32>, %b: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
    %p = attn.power %a {degree = 4 : i64, scale = 0.5 : f64} : tensor<1x1x2x2xf32>
    %w = attn.diagonal_blocks %p, %b {block = 1 : i64} : tensor<1x1x2x2xf32>
    return %w : tensor<1x1x2x2xf32>
  })", {makeArray({1, 1, 2, 2}, {2, 4, 6, -8}), makeArray({1, 1, 2, 2}, {10, 20, 30, 40})}), ElementsAre(1, 20, 30, 256));
}

TEST(EvalLayerTest, VisibleOfAWindow) {
  EXPECT_THAT(run(R"(func.func @f(%w: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
    %v = attn.visible %w {causal, window = #attn.window<2x1 of 2x2>} : tensor<1x1x4x4xf32>
    return %v : tensor<1x1x4x4xf32>
  })", {Array({1, 1, 4, 4}, 1)}), ElementsAre(1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1));
}

TEST(EvalLayerTest, ChosenRowsOfTwoLayers) {
  // The second layer's keys are the first one's output: there every row is needed.
  const char *text = R"(!t = tensor<1x1x?x1xf32>
  func.func @f(%q: !t, %k: !t, %v: !t) -> !t {
    %a = attn.softmax %q, %k, %v {scale = 1.0 : f64} : !t, !t, !t -> !t
    %b = attn.softmax %a, %a, %v {scale = 1.0 : f64} : !t, !t, !t -> !t
    return %b : !t
  })";
  std::vector<Array> arguments(3, makeArray({1, 1, 3, 1}, {1, -1, 2}));
  std::vector<double> all = run(text, arguments);
  EXPECT_THAT(run(text, arguments, {2, 0}), ElementsAre(all[2], all[0]));
}
