//===- MechanismTest.cpp - Mechanisms computed by hand -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Attention.h"

#include "gmock/gmock.h"

#include <cmath>

using namespace attune;
using namespace attune::reference;
using testing::HasSubstr;

/// One head of one batch entry; queries and keys of `width` entries, values of one.
static AttentionInputs oneHead(int64_t width, std::vector<double> q, std::vector<double> k, std::vector<double> v) {
  auto rows = [&](llvm::ArrayRef<double> x, int64_t w) {
    return makeArray({1, 1, static_cast<int64_t>(x.size()) / w, w}, x);
  };
  return {rows(q, width), rows(k, width), rows(v, 1)};
}

TEST(MechanismTest, PolynomialWithItsGuard) {
  // ⟨q, k⟩ = 2 and −3, scaled by 1/2 and to the fourth: 1 and 81/16.
  AttentionInputs inputs = oneHead(1, {1}, {2, -3}, {10, 20});
  PowerOptions options{4, 0.5};
  EXPECT_DOUBLE_EQ(powerAttention(inputs, options)({0, 0, 0, 0}), (10 + 20 * 81 / 16.0) / (1 + 81 / 16.0));
  options.bias = 1;
  EXPECT_DOUBLE_EQ(powerAttention(inputs, options)({0, 0, 0, 0}), (10 + 20 * 81 / 16.0) / (2 + 81 / 16.0));
  options.floor = 100;
  EXPECT_DOUBLE_EQ(powerAttention(inputs, options)({0, 0, 0, 0}), (10 + 20 * 81 / 16.0) / 100);
}

TEST(MechanismTest, PolysketchOfOneLeafPair) {
  // d = 2, r = 1, p' = 2. Leaf 0: signs (+, −), entry 0 of the transform: x₀ − x₁. Leaf 1: (+, +), entry 1: x₀ − x₁.
  // The node multiplies them (r = 1: its transforms keep the only entry, with signs + and −).
  PowerOptions options{4, 1};
  options.size = 1;
  options.signs = {makeArray({1, 2}, {1, -1}), makeArray({1, 2}, {1, 1}), makeArray({1, 1}, {1}), makeArray({1, 1}, {-1})};
  options.indices = {makeArray({1, 1}, {0}), makeArray({1, 1}, {1}), makeArray({1, 1}, {0}), makeArray({1, 1}, {0})};
  // S(x) = −(x₀ − x₁)²: S(q) = −4, S(k) = −1 and −9: weights 16 and 1296.
  AttentionInputs inputs = oneHead(2, {3, 1}, {1, 2, 5, 2}, {10, 20});
  EXPECT_EQ(powerProblem(inputs, options), "");
  EXPECT_DOUBLE_EQ(powerAttention(inputs, options)({0, 0, 0, 0}), (16 * 10 + 1296 * 20) / 1312.0);
  // Inside a block of two tokens the exact power: ⟨q, k⟩ = 5 and 17 (the second row), causal.
  inputs = oneHead(2, {3, 1, 3, 1}, {1, 2, 5, 2}, {10, 20});
  inputs.causal = true, options.localExact = 2;
  EXPECT_DOUBLE_EQ(powerAttention(inputs, options)({0, 0, 1, 0}), (625.0 * 10 + 83521.0 * 20) / (625.0 + 83521.0));
  options.localExact = 1; // now the exact power of the row's own token only
  EXPECT_DOUBLE_EQ(powerAttention(inputs, options)({0, 0, 1, 0}), (16.0 * 10 + 83521.0 * 20) / (16.0 + 83521.0));
}

TEST(MechanismTest, ScaledSketchThatIsNullStaysSo) {
  // r = 1, both leaves x₀ + x₁ + x₂, which is 0 of the query. 0.01 times its entries, rounded, would add up to noise.
  PowerOptions options{4, 0.01};
  options.size = 1;
  auto one = makeArray({1, 1}, {1}), first = makeArray({1, 1}, {0}), plus = makeArray({1, 4}, {1, 1, 1, 1});
  options.signs = {plus, plus, one, one}, options.indices = {first, first, first, first};
  AttentionInputs inputs = oneHead(3, {1.6171875, -1.0234375, -0.59375}, {1, 2, 5, 2, 1, 0}, {10, 20});
  EXPECT_EQ(powerProblem(inputs, options), "");
  EXPECT_EQ(powerAttention(inputs, options)({0, 0, 0, 0}), 0);
}

TEST(MechanismTest, EfficientAttention) {
  // Query weights 1/4 and 3/4; key weights of feature 0: 1/3 and 2/3, of feature 1: 1/2 each.
  AttentionInputs inputs = oneHead(2, {0, std::log(3)}, {0, 7, std::log(2), 7}, {3, 9});
  EXPECT_DOUBLE_EQ(efficientAttention(inputs)({0, 0, 0, 0}), 0.25 * (1 + 6) + 0.75 * 6);
}

TEST(MechanismTest, AgentsAreMeansOfRuns) {
  // Two agents: the means 1 and −1 of the runs (0, 2) and (−2, 0). Keys 0 and ln 2 with scale 1:
  // agent values (3·1 + 9·2) / 3 = 7 and (3·2 + 9·1) / 3 = 5; query 0 weighs both alike.
  AttentionInputs inputs = oneHead(1, {0, 2, -2, 0}, {0, std::log(2)}, {3, 9});
  Array output = agentAttention(inputs, 2, 1);
  EXPECT_DOUBLE_EQ(output({0, 0, 0, 0}), 6);
  EXPECT_DOUBLE_EQ(output({0, 0, 1, 0}), (7 * std::exp(2) + 5 * std::exp(-2)) / (std::exp(2) + std::exp(-2)));
  EXPECT_EQ(agentProblem(inputs, 3), "expected a number of agents that divides the number of queries = 4, but got 3");
}

TEST(MechanismTest, EvaOfTwoChunks) {
  // Keys (0, 0 | 1, 3) in chunks of two: means 0 and 2. With μ = 0 the second chunk's weights are e^{−1/2} and e^{−9/2}.
  AttentionInputs inputs = oneHead(1, {1, 1, 0, 0}, {0, 0, 1, 3}, {4, 8, 0, 10});
  double beta = 10 * std::exp(-4) / (1 + std::exp(-4));
  EvaOptions options{2, std::nullopt, 0, 1, false, false};
  double expected = (6 + std::exp(2) * beta) / (1 + std::exp(2));
  EXPECT_DOUBLE_EQ(evaAttention(inputs, options)({0, 0, 0, 0}), expected);
  EXPECT_DOUBLE_EQ(evaAttention(inputs, options)({0, 0, 2, 0}), (6 + beta) / 2);
  // Mass counts the keys of a chunk that exist: two and one, and then the second is its first key alone.
  inputs.lengths = makeArray({1}, {3}), options.mass = true;
  EXPECT_DOUBLE_EQ(evaAttention(inputs, options)({0, 0, 0, 0}), (2 * 6 + std::exp(1) * 0) / (2 + std::exp(1)));
  // A local block of two: its keys once more beside the chunks, or in place of the chunk.
  options.mass = false, options.local = 2;
  EXPECT_DOUBLE_EQ(evaAttention(inputs, options)({0, 0, 0, 0}), (4 + 8 + 6) / (3 + std::exp(1)));
  options.excludeLocal = true;
  EXPECT_DOUBLE_EQ(evaAttention(inputs, options)({0, 0, 0, 0}), (4 + 8) / (2 + std::exp(1)));
}

TEST(MechanismTest, EvaMeansOfQueriesMoveTheProposal) {
  // μ = q̄ + k̄ = 2 + 1 for the only chunk: weights e^{3·0 − 0} and e^{3·2 − 2}.
  AttentionInputs inputs = oneHead(1, {1, 3}, {0, 2}, {0, 1});
  double weight = std::exp(4);
  EXPECT_DOUBLE_EQ(evaAttention(inputs, {2, std::nullopt, 1, 1, false, false})({0, 0, 0, 0}), weight / (1 + weight));
}

TEST(MechanismTest, CausalEvaSeesEarlierChunks) {
  // Chunks and blocks of one token: a row sees its own key and the keys before it.
  AttentionInputs inputs = oneHead(1, {0, 0, 0}, {5, 6, 7}, {3, 6, 12});
  inputs.causal = true;
  Array output = evaAttention(inputs, {1, 1, 0.5, 1, false, false});
  EXPECT_EQ(output.elements(), (std::vector<double>{3, 4.5, 7}));
}

TEST(MechanismTest, NaiveCompressionHasNoNormaliser) {
  // relu features: E φ(K) = 1·2 + 3·4, F V = 10·2 + 5·1; φ(q) = 2.
  AttentionInputs inputs = oneHead(1, {2}, {2, 4, -1}, {10, 5, 1});
  KernelOptions options;
  options.map.kind = attn::FeatureKind::Relu;
  options.compressKey = makeArray({1, 1, 3}, {1, 3, 100}), options.compressValue = makeArray({1, 1, 3}, {2, 1, 0});
  EXPECT_EQ(kernelAttention(inputs, options).output.elements(), std::vector<double>{2 * 14 * 25});
}

TEST(MechanismTest, LastWindowMayBeShort) {
  AttentionInputs inputs = oneHead(1, {0, 0, 0}, {1, 2, 3}, {1, 3, 8});
  inputs.window = Window{1, 2, 0, 0};
  EXPECT_EQ(inputs.problem(), "");
  EXPECT_EQ(softmaxAttention(inputs, Logits{1}).output.elements(), (std::vector<double>{2, 2, 8}));
}

TEST(MechanismTest, Problems) {
  AttentionInputs inputs = oneHead(1, {1, 2, 3}, {1, 2, 3}, {1, 2, 3});
  inputs.window = Window{1, 1, 2, 2};
  EXPECT_THAT(inputs.problem(), HasSubstr("expected a grid of 3 tokens, but got 2 x 2"));
  inputs.window.reset();
  EXPECT_THAT(powerProblem(inputs, {3}), HasSubstr("expected an even degree from 2, but got 3"));
  PowerOptions sketch{4};
  sketch.size = 1;
  sketch.signs = std::vector<Array>(4, Array({1, 1}, 1)), sketch.indices = std::vector<Array>(4, Array({1, 1}, 2));
  EXPECT_THAT(powerProblem(inputs, sketch), HasSubstr("expected indices from 0 and below 1"));
  EXPECT_THAT(evaProblem(inputs, {2}), HasSubstr("expected a chunk that divides the number of keys = 3, but got 2"));
  KernelOptions cosformer;
  cosformer.map.kind = attn::FeatureKind::Cosformer, cosformer.map.maxPosition = 2;
  EXPECT_THAT(kernelProblem(inputs, cosformer), HasSubstr("expected at most max_position = 2 tokens, but got 3"));
}
