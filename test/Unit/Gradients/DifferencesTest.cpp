//===- DifferencesTest.cpp - Gradients against differences ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every mechanism, what stands around it, and every tensor: the gradient along a drawn direction is what differences of the interpreter's
// outputs say, which know no derivative. A wrong sign, a missing sum over heads or a forgotten divisor is a share of the whole; differences in
// float64 leave 1e-9 of it.
//
//===----------------------------------------------------------------------===//
#include "Problem.h"

#include "attune/Support/Random.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace attune;
using reference::Array;

namespace {

constexpr double tolerance = 1e-7;

struct Case {
  const char *name;
  const char *yaml;
  /// Where the value depends on a shift that is a constant of the function, differences see what the gradient does not: all but these are left out.
  std::vector<std::string> only = {};
};

const char *const head = "attention: probe\ndtype: f32\ngradients: all\n";

std::string textOf(const Case &test) { return std::string(head) + test.yaml; }

} // namespace

class Differences : public testing::TestWithParam<Case> {};

static void compare(const Case &test, bool compiled) {
  Problem problem(textOf(test), /*seed=*/1, compiled);
  ASSERT_TRUE(problem.backward);
  Arrays gradients = problem.gradients(problem.drawn);
  double given = 0;
  for (const SpecTensor &cotangent : cotangentTensors(problem.spec))
    given = std::max(given, norm(problem.drawn.at(cotangent.name)));
  ASSERT_EQ(gradients.size(), gradientNames(problem.spec).size());
  for (const std::string &name : gradientNames(problem.spec)) {
    if (!test.only.empty() && !llvm::is_contained(test.only, name))
      continue;
    SCOPED_TRACE(name);
    const Array &gradient = gradients.at(name);
    ASSERT_EQ(gradient.shape(), problem.drawn.at(name).shape());
    std::vector<double> elements = gradient.elements(), direction(elements.size());
    RandomTensor random(5, name);
    double product = 0;
    for (size_t i = 0; i < elements.size(); ++i)
      direction[i] = random.normal(i), product += elements[i] * direction[i];
    double expected = problem.difference(name, direction);
    EXPECT_NEAR(product, expected, tolerance * std::max({std::abs(expected), norm(gradient), 1e-3 * given}));
  }
}

TEST_P(Differences, OfEveryTensor) { compare(GetParam(), /*compiled=*/false); }
TEST_P(Differences, OfEveryTensorAsCompiled) { compare(GetParam(), /*compiled=*/true); }

static const Case cases[] = {
    {"Softmax", "batch: 2\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nvalue_dim: 3\nmechanism: {kind: softmax}\n"},
    {"SoftmaxCausal", "batch: 2\nqueries: 5\nkeys: 8\nheads: 4\nkv_heads: 2\nhead_dim: 4\ncausal: true\nmechanism: {kind: softmax}\n"},
    {"SoftmaxRowsWithoutKeys", "batch: 1\nqueries: 8\nkeys: 5\nheads: 2\nhead_dim: 4\ncausal: true\nresults: [lse]\nmechanism: {kind: softmax}\n"},
    {"SoftmaxLengths", "batch: 4\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nkey_lengths: true\nmechanism: {kind: softmax}\n"},
    {"SoftmaxLse", "batch: 2\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nresults: [lse]\nmechanism: {kind: softmax, softcap: 1.5, alibi: true}\n"},
    {"SoftmaxLast", "batch: 2\nqueries: 6\nkeys: 9\nheads: 2\nhead_dim: 4\ncausal: true\nmechanism: {kind: softmax, alibi: true, window: {last: 3}}\n"},
    {"SoftmaxWindow", "batch: 2\nqueries: 12\nheads: 2\nhead_dim: 4\nmechanism: {kind: softmax, window: {length: 4}, lepe: {bias: true}}\n"},
    {"SoftmaxImage", "batch: 1\nqueries: 24\nheads: 2\nhead_dim: 4\nmechanism: {kind: softmax, window: {grid: [4, 6], size: [2, 3]}, lepe: {}}\n"},
    {"Linformer", "batch: 2\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nmechanism: {kind: softmax, low_rank: {rank: 3, tied: true, per_head: true}}\n"},
    {"LinformerUntied", "batch: 2\nqueries: 6\nkeys: 9\nheads: 2\nhead_dim: 4\nkey_lengths: true\nmechanism: {kind: softmax, low_rank: {rank: 3, tied: false}}\n"},
    {"Polynomial", "batch: 2\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nscale: 0.4\nmechanism: {kind: polynomial, degree: 4, denominator: {bias: 0.1, floor: 0.2}}\n"},
    {"PolynomialCausal", "batch: 2\nqueries: 6\nheads: 2\nhead_dim: 4\ncausal: true\nscale: 0.4\nmechanism: {kind: polynomial, degree: 2, window: {last: 4}}\n"},
    {"Elu1", "batch: 2\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nmechanism: {kind: kernel, feature_map: {kind: elu1}, denominator: {bias: 0.5}}\n"},
    {"Elu1Window", "batch: 2\nqueries: 12\nheads: 2\nhead_dim: 4\nmechanism: {kind: kernel, feature_map: {kind: elu1}, window: {length: 4}, lepe: {}}\n"},
    {"Elu1Causal", "batch: 2\nqueries: 6\nheads: 4\nkv_heads: 2\nhead_dim: 4\ncausal: true\nkey_lengths: true\nmechanism: {kind: kernel, feature_map: {kind: elu1}}\n"},
    {"ReluFloor", "batch: 2\nqueries: 6\nkeys: 9\nheads: 2\nhead_dim: 4\nmechanism: {kind: kernel, feature_map: {kind: relu}, denominator: {floor: 3}}\n"},
    {"Cosformer", "batch: 2\nqueries: 6\nheads: 2\nhead_dim: 4\nmechanism: {kind: kernel, feature_map: {kind: cosformer, max_position: 8}}\n"},
    {"Focused", "batch: 2\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nmechanism: {kind: kernel, feature_map: {kind: focused, power: 2.5, epsilon: 0.1}}\n"},
    {"Favor", "batch: 2\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nmechanism: {kind: kernel, feature_map: {kind: favor, features: 5}}\n"},
    {"FavorWindow", "batch: 2\nqueries: 8\nheads: 4\nkv_heads: 2\nhead_dim: 4\ncausal: true\nkey_lengths: true\n"
                    "mechanism: {kind: kernel, feature_map: {kind: favor, features: 5}, window: {length: 4}}\n"},
    {"PowersWindow", "batch: 2\nqueries: 12\nheads: 2\nhead_dim: 4\n"
                     "mechanism: {kind: kernel, feature_map: {kind: focused, power: 12, epsilon: 1.0e-4}, window: {grid: [3, 4], size: [3, 2]}, "
                     "denominator: {bias: 0.1, floor: 0.5}}\n"},
    {"FavorPerHead", "batch: 2\nqueries: 6\nheads: 4\nkv_heads: 2\nhead_dim: 4\ncausal: true\n"
                     "mechanism: {kind: kernel, feature_map: {kind: favor, features: 5, per_head: true, stabilizer: max}}\n"},
    {"FavorEpsilon", "batch: 2\nqueries: 6\nkeys: 9\nheads: 2\nhead_dim: 4\nmechanism: {kind: kernel, feature_map: {kind: favor, features: 5, epsilon: 0.1}}\n", {"v"}},
    {"FavorEpsilonUnshifted", "batch: 2\nqueries: 6\nkeys: 9\nheads: 2\nhead_dim: 4\n"
                              "mechanism: {kind: kernel, feature_map: {kind: favor, features: 5, epsilon: 0.1, stabilizer: none}, denominator: {bias: 0.1}}\n"},
    {"FavorRelu", "batch: 2\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\n"
                  "mechanism: {kind: kernel, feature_map: {kind: favor_relu, features: 5, epsilon: 0.05, normalize: true}}\n"},
    {"Flurka", "batch: 2\nqueries: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nprojection: {model_dim: 5, bias: true}\n"
               "mechanism: {kind: kernel, feature_map: {kind: favor, features: 5}, low_rank: {rank: 3, tied: true}}\n"},
    {"FlurkaAfterMap", "batch: 2\nqueries: 6\nkeys: 9\nheads: 2\nhead_dim: 4\n"
                       "mechanism: {kind: kernel, feature_map: {kind: favor, features: 5}, denominator: none, low_rank: {rank: 3, tied: false, order: after_map}}\n"},
    {"Identity", "batch: 2\nqueries: 6\nheads: 4\nkv_heads: 2\nhead_dim: 4\ncausal: true\nmechanism: {kind: kernel, feature_map: {kind: identity}}\n"},
    {"DecayPerHead", "batch: 2\nqueries: 7\nheads: 2\nhead_dim: 4\nvalue_dim: 3\ncausal: true\nmechanism: {kind: kernel, feature_map: {kind: elu1}, decay: {per: head}}\n"},
    {"DecayPerToken", "batch: 2\nqueries: 7\nheads: 4\nkv_heads: 2\nhead_dim: 4\nvalue_dim: 3\ncausal: true\nkey_lengths: true\n"
                      "mechanism: {kind: kernel, feature_map: {kind: identity}, decay: {per: token}, write: {per: token}}\n"},
    {"DecayPerChannel", "batch: 2\nqueries: 7\nheads: 2\nhead_dim: 4\ncausal: true\nmechanism: {kind: kernel, feature_map: {kind: relu}, decay: {per: channel}}\n"},
    {"Delta", "batch: 2\nqueries: 7\nheads: 2\nhead_dim: 4\ncausal: true\nqk_norm: {kind: l2}\nmechanism: {kind: kernel, feature_map: {kind: identity}, erase: {per: token}}\n"},
    {"GatedDelta", "batch: 2\nqueries: 7\nheads: 4\nqk_heads: 2\nhead_dim: 4\ncausal: true\nkey_lengths: true\nqk_norm: {kind: l2}\n"
                   "mechanism: {kind: kernel, feature_map: {kind: identity}, decay: {per: token}, erase: {per: token}}\n"},
    {"Channels", "batch: 1\nqueries: 7\nheads: 2\nhead_dim: 4\nvalue_dim: 3\ncausal: true\nqk_norm: {kind: l2}\n"
                 "mechanism: {kind: kernel, feature_map: {kind: identity}, decay: {per: channel}, erase: {per: channel}, write: {per: channel}}\n"},
    {"StateElu1", "batch: 2\nqueries: 6\nheads: 4\nkv_heads: 2\nhead_dim: 4\ncausal: true\nrope: {}\nstate: {initial: true, final: true}\n"
                  "mechanism: {kind: kernel, feature_map: {kind: elu1}, decay: {per: token}}\n"},
    {"StateFavor", "batch: 2\nqueries: 6\nheads: 2\nhead_dim: 4\ncausal: true\nkey_lengths: true\nstate: {initial: true, final: true}\n"
                   "mechanism: {kind: kernel, feature_map: {kind: favor, features: 5}}\n"},
    {"StateDelta", "batch: 2\nqueries: 6\nheads: 2\nhead_dim: 4\ncausal: true\nkey_lengths: true\nstate: {initial: true, final: true}\n"
                   "mechanism: {kind: kernel, feature_map: {kind: identity}, decay: {per: channel}, erase: {per: token}}\n"},
    {"Polysketch", "batch: 1\nqueries: 6\nkeys: 8\nheads: 2\nhead_dim: 6\nmechanism: {kind: polysketch, degree: 4, size: 8, denominator: {bias: 1}}\n"},
    {"PolysketchLocal", "batch: 1\nqueries: 8\nheads: 2\nhead_dim: 4\ncausal: true\nqk_norm: {}\n"
                        "mechanism: {kind: polysketch, degree: 8, size: 4, local_exact: 4, denominator: {bias: 1}}\n"},
    {"StatePolysketch", "batch: 2\nqueries: 6\nheads: 4\nkv_heads: 2\nhead_dim: 4\ncausal: true\nkey_lengths: true\nstate: {initial: true, final: true}\n"
                        "mechanism: {kind: polysketch, degree: 4, size: 4, denominator: {bias: 1}}\n"},
    {"StatePolysketchLocal", "batch: 3\nqueries: 7\nheads: 4\nkv_heads: 2\nhead_dim: 4\ncausal: true\nqk_norm: {}\nkey_lengths: true\n"
                             "state: {initial: true, final: true}\nmechanism: {kind: polysketch, degree: 4, size: 4, local_exact: 3, denominator: {bias: 1}}\n"},
    {"FinalPolysketchLocal", "batch: 2\nqueries: 7\nheads: 2\nhead_dim: 4\ncausal: true\nstate: {final: true}\n"
                             "mechanism: {kind: polysketch, degree: 4, size: 4, local_exact: 3, denominator: {bias: 1}}\n"},
    {"Effatt", "batch: 2\nqueries: 6\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nkey_lengths: true\nmechanism: {kind: effatt}\n"},
    {"Eva", "batch: 2\nqueries: 12\nheads: 2\nhead_dim: 4\nkey_lengths: true\nmechanism: {kind: eva, chunk: 3, window: {length: 6}, mass: true}\n"},
    {"EvaCausal", "batch: 1\nqueries: 12\nheads: 2\nhead_dim: 4\ncausal: true\nmechanism: {kind: eva, chunk: 3, window: {length: 6}}\n"},
    {"EvaChunks", "batch: 1\nqueries: 6\nkeys: 12\nheads: 2\nhead_dim: 4\nmechanism: {kind: eva, chunk: 4}\n"},
    {"EvaExcludeLocal", "batch: 1\nqueries: 12\nheads: 2\nhead_dim: 4\nmechanism: {kind: eva, chunk: 3, window: {length: 4}, exclude_local: true}\n"},
    {"FlurkaEva", "batch: 1\nqueries: 12\nheads: 2\nhead_dim: 4\nmechanism: {kind: eva, chunk: 3, window: {length: 6}, low_rank: {rank: 12}}\n"},
    {"Agent", "batch: 2\nqueries: 8\nkeys: 9\nheads: 4\nkv_heads: 2\nhead_dim: 4\nkey_lengths: true\nmechanism: {kind: agent, agents: 4}\n"},
    {"Elfatt", "batch: 1\nqueries: 24\nheads: 4\nhead_dim: 4\nparts:\n  - heads: 2\n    mechanism: {kind: effatt, lepe: {grid: [4, 6]}}\n"
               "  - heads: 2\n    mechanism: {kind: softmax, window: {grid: [4, 6], size: [2, 3]}, lepe: {}}\n"},
    {"Layer", "batch: 2\nqueries: 6\nheads: 4\nkv_heads: 2\nhead_dim: 4\ncausal: true\nprojection: {model_dim: 5, bias: true}\nrope: {layout: half}\nqk_norm: {}\n"
              "mechanism: {kind: softmax}\n"},
    {"LayerCross", "batch: 2\nqueries: 5\nkeys: 8\nheads: 2\nhead_dim: 4\nkey_lengths: true\nprojection: {model_dim: 5, output: false, cross: true}\nrope: {}\n"
                   "mechanism: {kind: kernel, feature_map: {kind: elu1}}\n"},
    {"PackedSoftmax", "packed: true\nsequences: 3\nqueries: 11\nkeys: 13\nheads: 4\nkv_heads: 2\nhead_dim: 4\nresults: [lse]\nmechanism: {kind: softmax, alibi: true}\n"},
    {"PackedKernel", "packed: true\nsequences: 3\nqueries: 11\nheads: 2\nhead_dim: 4\ncausal: true\n"
                     "mechanism: {kind: kernel, feature_map: {kind: favor_relu, features: 5}, decay: {per: token}, write: {per: channel}, denominator: none}\n"},
};

INSTANTIATE_TEST_SUITE_P(Mechanisms, Differences, testing::ValuesIn(cases), [](const auto &instance) { return std::string(instance.param.name); });

/// What keys that do not exist hold reaches no gradient, and theirs is 0.
TEST(PaddedKeys, HaveNoGradient) {
  for (const char *yaml : {"batch: 3\nqueries: 6\nkeys: 9\nheads: 2\nhead_dim: 4\nkey_lengths: true\nmechanism: {kind: softmax}\n",
                           "batch: 3\nqueries: 9\nheads: 2\nhead_dim: 4\ncausal: true\nkey_lengths: true\n"
                           "mechanism: {kind: kernel, feature_map: {kind: identity}, decay: {per: channel}, erase: {per: token}, write: {per: channel}}\n",
                           "batch: 3\nqueries: 9\nheads: 2\nhead_dim: 4\ncausal: true\nkey_lengths: true\n"
                           "mechanism: {kind: kernel, feature_map: {kind: favor, features: 5}}\n",
                           "batch: 3\nqueries: 9\nkeys: 9\nheads: 2\nhead_dim: 4\nkey_lengths: true\nmechanism: {kind: effatt}\n"}) {
    Problem problem(std::string(head) + yaml);
    ASSERT_TRUE(problem.backward);
    Arrays zeros = problem.drawn, hostile = problem.drawn;
    std::vector<double> lengths = problem.drawn.at("key_lengths").elements();
    for (const char *name : {"k", "v", "g", "beta", "w"}) {
      auto found = problem.drawn.find(name);
      if (found == problem.drawn.end())
        continue;
      const Array &given = found->second;
      std::vector<double> values = given.elements(), spoiled = values;
      int64_t tokens = given.size(2), width = given.rank() == 4 ? given.size(3) : 1, entry = given.size(1) * tokens * width;
      for (size_t i = 0; i < values.size(); ++i)
        if (static_cast<double>(static_cast<int64_t>(i) / width % tokens) >= lengths[static_cast<int64_t>(i) / entry])
          values[i] = 0, spoiled[i] = std::nan("");
      zeros[name] = reference::makeArray(given.shape(), values), hostile[name] = reference::makeArray(given.shape(), spoiled);
    }
    Arrays expected = problem.gradients(zeros), got = problem.gradients(hostile);
    for (auto &[name, gradient] : got)
      EXPECT_EQ(gradient.elements(), expected.at(name).elements()) << name << yaml;
    std::vector<double> k = got.at("k").elements();
    int64_t tokens = got.at("k").size(2), width = got.at("k").size(3), entry = got.at("k").size(1) * tokens * width;
    for (size_t i = 0; i < k.size(); ++i)
      if (static_cast<double>(static_cast<int64_t>(i) / width % tokens) >= lengths[static_cast<int64_t>(i) / entry])
        EXPECT_EQ(k[i], 0);
  }
}
