//===- DecompositionTest.cpp - Mechanisms and the terms they are made of mean the same ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "attune/Attn/Attn.h"
#include "attune/Reference/Tolerance.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

namespace {
struct Case {
  const char *op, *attributes;
  bool lengths, extra, initial; ///< key lengths; the optional results; an initial state
  int64_t queries, keys;
};
} // namespace

static const char *const kernelAttributes =
    "denominator = #attn.denominator<bias = 0.5, floor = 2.0>, feature_map = #attn.feature_map<elu1>";

/// The case as a function of one op; 4 heads on 2 key-value heads, d = 3, dv = 2, batch 2.
static std::string textOf(const Case &c) {
  std::string arguments = "%q: tensor<?x4x?x3xf32>, %k: tensor<?x2x?x3xf32>, %v: tensor<?x2x?x2xf32>";
  std::string operands = "%q, %k, %v", results = "tensor<?x4x?x2xf32>", types = results, names = "%o";
  bool isSoftmax = StringRef(c.op) == "attn.softmax";
  const char *state = "tensor<?x2x3x2xf32>", *sum = "tensor<?x2x3xf32>";
  if (c.lengths)
    arguments += ", %l: tensor<?xi32>", operands += " lengths(%l : tensor<?xi32>)";
  if (c.initial) {
    arguments += std::string(", %s: ") + state + ", %z: " + sum;
    operands += std::string(" initial(%s, %z : ") + state + ", " + sum + ")";
  }
  if (c.extra && isSoftmax)
    names += ", %e", types += ", tensor<?x4x?xf32>", results += ", lse tensor<?x4x?xf32>";
  if (c.extra && !isSoftmax) {
    names += ", %e, %f", types += std::string(", ") + state + ", " + sum;
    results += std::string(", final ") + state + ", " + sum;
  }
  return "func.func @f(" + arguments + ") -> (" + types + ") {\n  " + names + " = " + c.op + " " + operands + " {" +
         c.attributes + "} : tensor<?x4x?x3xf32>, tensor<?x2x?x3xf32>, tensor<?x2x?x2xf32> -> " + results +
         "\n  return " + names + " : " + types + "\n}";
}

static std::vector<Array> drawArguments(const Case &c) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::vector<Array> arguments;
  auto draw = [&](ArrayRef<int64_t> shape) {
    Array &array = arguments.emplace_back(shape);
    for (int64_t i = 0; i < array.count(); ++i)
      array.element(i) = normal(random);
  };
  draw({2, 4, c.queries, 3}), draw({2, 2, c.keys, 3}), draw({2, 2, c.keys, 2});
  if (c.lengths)
    arguments.push_back(makeArray({2}, {0, static_cast<double>(c.keys - 1)}));
  if (c.initial)
    draw({2, 2, 3, 2}), draw({2, 2, 3});
  return arguments;
}

/// Replaces the mechanism by its terms.
static void decompose(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
    if (auto mechanism = dyn_cast<attn::MechanismOpInterface>(op)) {
      OpBuilder builder(&op);
      op.replaceAllUsesWith(mechanism.decompose(builder));
      op.erase();
    }
}

static void check(const Case &c, std::optional<std::vector<int64_t>> rows) {
  std::string text = textOf(c);
  Program whole(text), terms(text);
  ASSERT_TRUE(whole.parsed()) << whole.messages << text;
  decompose(terms.host());
  std::vector<Array> arguments = drawArguments(c);
  EvalAttnOptions options{Precision::Ideal, std::move(rows)};
  std::vector<Array> expected = whole.runAttn(arguments, options), got = terms.runAttn(arguments, options);
  ASSERT_FALSE(expected.empty()) << whole.messages << text;
  ASSERT_EQ(got.size(), expected.size()) << terms.messages << text;
  for (auto [g, e] : llvm::zip_equal(got, expected)) {
    ASSERT_EQ(g.shape(), e.shape()) << text;
    EXPECT_LE(relativeError(g.elements(), e.elements()), 1e-14) << text;
  }
}

TEST(DecompositionTest, SoftmaxIsItsPartialResultsFinished) {
  for (const char *attributes : {"scale = 0.7 : f64", "causal, scale = 0.7 : f64"})
    for (bool lengths : {false, true})
      for (bool extra : {false, true})
        for (int64_t keys : {4, 5, 8}) {
          Case c{"attn.softmax", attributes, lengths, extra, false, 5, keys};
          check(c, std::nullopt);
          check(c, {{4, 1}});
        }
}

TEST(DecompositionTest, KernelAttentionIsItsWeights) {
  std::string causal = std::string("causal, ") + kernelAttributes;
  for (bool lengths : {false, true})
    for (bool extra : {false, true}) {
      check({"attn.kernel", kernelAttributes, lengths, extra, false, 5, 8}, std::nullopt);
      check({"attn.kernel", kernelAttributes, lengths, extra, false, 5, 8}, {{4, 1}});
      for (bool initial : {false, true}) {
        check({"attn.kernel", causal.c_str(), lengths, extra, initial, 6, 6}, std::nullopt);
        check({"attn.kernel", causal.c_str(), lengths, extra, initial, 6, 6}, {{5, 0}});
      }
    }
}
