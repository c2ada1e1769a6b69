//===- IdentityTest.cpp - Identities between mechanisms, and what they leave alone ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Attention.h"
#include "attune/Reference/Tolerance.h"

#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>

using namespace attune;
using namespace attune::reference;
using attn::FeatureKind;
using attn::Stabilizer;

static Array draw(llvm::ArrayRef<int64_t> shape, unsigned seed, double magnitude = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, magnitude);
  Array array(shape);
  for (int64_t i = 0; i < array.count(); ++i)
    array.element(i) = normal(random);
  return array;
}

static AttentionInputs drawInputs(int64_t n, int64_t keys, double magnitude = 1) {
  return {draw({2, 4, n, 4}, 1, magnitude), draw({2, 2, keys, 4}, 2, magnitude), draw({2, 2, keys, 3}, 3)};
}

static KernelOptions favor(double epsilon = 0, Stabilizer stabilizer = Stabilizer::Constant) {
  KernelOptions options;
  options.map.kind = FeatureKind::Favor;
  options.map.features = 8, options.map.epsilon = epsilon, options.map.scale = 0.5, options.map.stabilizer = stabilizer;
  options.parameter = draw({4, 8, 4}, 5);
  return options;
}

static PowerOptions sketched(int64_t degree, int64_t size, int64_t heads, int64_t width) {
  PowerOptions options;
  options.degree = degree, options.size = size;
  std::mt19937_64 random(9);
  for (int64_t i = 0; i < 3 * (degree / 2) - 2; ++i) {
    int64_t entries = i < degree / 2 ? width : size;
    Array &sign = options.signs.emplace_back(Array({heads, entries})), &index = options.indices.emplace_back(Array({heads, size}));
    for (int64_t j = 0; j < sign.count(); ++j)
      sign.element(j) = random() % 2 ? 1 : -1;
    for (int64_t j = 0; j < index.count(); ++j)
      index.element(j) = static_cast<double>(random() % entries);
  }
  return options;
}

namespace {
struct Named {
  const char *name;
  std::function<Array(const AttentionInputs &)> run;
};
} // namespace

/// Every mechanism that is a weighted mean of the values, of 12 queries and keys.
static std::vector<Named> means() {
  auto kernel = [](KernelOptions options) {
    return [options](const AttentionInputs &inputs) { return kernelAttention(inputs, options).output; };
  };
  KernelOptions focused;
  focused.map.kind = FeatureKind::Focused, focused.map.power = 3, focused.map.epsilon = 1e-6;
  focused.parameter = draw({4, 4}, 6);
  return {{"softmax", [](const AttentionInputs &inputs) { return softmaxAttention(inputs, 0.5).output; }},
          {"elu1", kernel({})},
          {"focused", kernel(focused)},
          {"favor", kernel(favor())},
          {"favor, epsilon", kernel(favor(0.1, Stabilizer::Max))},
          {"polynomial", [](const AttentionInputs &inputs) { return powerAttention(inputs, {4}); }},
          {"polysketch", [](const AttentionInputs &inputs) { return powerAttention(inputs, sketched(4, 8, 4, 4)); }},
          {"effatt", [](const AttentionInputs &inputs) { return efficientAttention(inputs); }},
          {"agent", [](const AttentionInputs &inputs) { return agentAttention(inputs, 3, 0.5); }}};
}

TEST(IdentityTest, ValuesOfOneGiveOne) {
  AttentionInputs inputs = drawInputs(12, 12);
  inputs.value = Array({2, 2, 12, 3}, 1);
  inputs.lengths = makeArray({2}, {12, 5});
  std::vector<Named> all = means();
  all.push_back({"eva", [](const AttentionInputs &x) { return evaAttention(x, {3, 4, 0.5, 0.5, true, true}); }});
  for (const Named &mechanism : all)
    for (double entry : mechanism.run(inputs).elements())
      EXPECT_NEAR(entry, 1, 1e-14) << mechanism.name;
}

TEST(IdentityTest, TheOrderOfKeysDoesNotMatter) {
  AttentionInputs inputs = drawInputs(12, 12), permuted = inputs;
  std::vector<int64_t> order{7, 2, 11, 0, 5, 9, 1, 3, 10, 8, 4, 6};
  permuted.key = selectRows(inputs.key, order), permuted.value = selectRows(inputs.value, order);
  for (const Named &mechanism : means())
    EXPECT_EQ(mismatch(mechanism.run(permuted), mechanism.run(inputs), 1e-13), "") << mechanism.name;
}

TEST(IdentityTest, CausalRowsIgnoreWhatComesAfter) {
  AttentionInputs inputs = drawInputs(12, 12);
  inputs.causal = true;
  AttentionInputs changed = inputs;
  changed.key = makeArray(inputs.key.shape(), inputs.key.elements());
  changed.value = makeArray(inputs.value.shape(), inputs.value.elements());
  for (int64_t g = 0; g < 2; ++g)
    changed.key({1, g, 8, 2}) = 1e3, changed.value({0, g, 9, 1}) = std::nan("");
  std::vector<int64_t> before{0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<Named> causal = means();
  std::erase_if(causal, [](const Named &x) {
    return llvm::StringRef(x.name) == "effatt" || llvm::StringRef(x.name) == "agent" || llvm::StringRef(x.name) == "favor, epsilon";
  });
  causal.push_back({"eva", [](const AttentionInputs &x) { return evaAttention(x, {2, 4, 1, 0.5, true, true}); }});
  for (const Named &mechanism : causal)
    EXPECT_EQ(selectRows(mechanism.run(changed), before).elements(), selectRows(mechanism.run(inputs), before).elements())
        << mechanism.name;
}

TEST(IdentityTest, AWindowOfEverythingIsNoWindow) {
  for (bool causal : {false, true})
    for (Window window : {Window{1, 12, 0, 0}, Window{3, 4, 3, 4}}) {
      AttentionInputs whole = drawInputs(12, 12);
      whole.causal = causal;
      AttentionInputs windowed = whole;
      windowed.window = window;
      for (const KernelOptions &options : {KernelOptions{}, favor()})
        EXPECT_EQ(kernelAttention(windowed, options).output.elements(), kernelAttention(whole, options).output.elements());
      EXPECT_EQ(powerAttention(windowed, {4}).elements(), powerAttention(whole, {4}).elements());
      EXPECT_EQ(softmaxAttention(windowed, 1).output.elements(), softmaxAttention(whole, 1).output.elements());
    }
}

TEST(IdentityTest, AWindowIsItsBlocksAlone) {
  AttentionInputs inputs = drawInputs(12, 12), windowed = inputs;
  windowed.window = Window{2, 2, 2, 6}; // the first block: tokens 0, 1, 6, 7
  std::vector<int64_t> block{0, 1, 6, 7};
  AttentionInputs alone{selectRows(inputs.query, block), selectRows(inputs.key, block), selectRows(inputs.value, block)};
  EXPECT_EQ(mismatch(selectRows(softmaxAttention(windowed, 1).output, block), softmaxAttention(alone, 1).output, 1e-15), "");
  EXPECT_EQ(mismatch(selectRows(kernelAttention(windowed, favor()).output, block), kernelAttention(alone, favor()).output,
                     1e-14), "");
}

TEST(IdentityTest, CompressionByTheIdentityIsUnnormalised) {
  AttentionInputs inputs = drawInputs(6, 6);
  inputs.lengths = makeArray({2}, {6, 4});
  KernelOptions naive, guarded;
  Array identity({1, 6, 6});
  for (int64_t i = 0; i < 6; ++i)
    identity({0, i, i}) = 1;
  naive.compressKey = naive.compressValue = identity;
  guarded.floor = 1e9; // larger than any sum: the numerator over 1e9
  Array expected = kernelAttention(inputs, guarded).output;
  std::vector<double> elements = expected.elements();
  for (double &x : elements)
    x *= 1e9;
  EXPECT_EQ(mismatch(kernelAttention(inputs, naive).output, makeArray(expected.shape(), elements), 1e-14), "");
}

TEST(IdentityTest, StabilizersThatCancel) {
  for (bool causal : {false, true}) {
    AttentionInputs inputs = drawInputs(9, 9);
    inputs.causal = causal;
    Array exact = kernelAttention(inputs, favor()).output;
    // With the smallest guard that is one, the same function goes through features.
    for (Stabilizer stabilizer : {Stabilizer::Constant, Stabilizer::Max, Stabilizer::Projection, Stabilizer::None}) {
      KernelOptions options = favor(0, stabilizer);
      options.floor = std::numeric_limits<double>::min();
      EXPECT_EQ(mismatch(kernelAttention(inputs, options).output, exact, 1e-13), "");
    }
  }
}

/// A gate is a factor of the features, whether these are numbers or logarithms; a key that writes nothing is none.
TEST(IdentityTest, FavorWritesWhatItsGateLeaves) {
  AttentionInputs inputs = drawInputs(9, 9);
  inputs.causal = true;
  KernelOptions gated = favor(), throughFeatures = favor(0, Stabilizer::None);
  gated.write = draw({2, 4, 9}, 11);
  for (int64_t i = 0; i < gated.write->count(); ++i)
    gated.write->element(i) = i % 9 == 4 ? 0 : std::abs(gated.write->element(i));
  throughFeatures.write = gated.write, throughFeatures.floor = std::numeric_limits<double>::min();
  Array output = kernelAttention(inputs, gated).output;
  EXPECT_EQ(mismatch(output, kernelAttention(inputs, throughFeatures).output, 1e-13), "");
  EXPECT_NE(mismatch(output, kernelAttention(inputs, favor()).output, 1e-3), "");
  inputs.value({0, 0, 4, 0}) = inputs.value({1, 1, 4, 2}) = 1e9;
  EXPECT_EQ(mismatch(kernelAttention(inputs, gated).output, output, 1e-13), "");
}

TEST(IdentityTest, FavorOfLongRowsNeitherUnderflowsNorLeaks) {
  for (bool causal : {false, true}) {
    AttentionInputs inputs = drawInputs(9, 9, 60);
    inputs.causal = causal;
    inputs.value = Array({2, 2, 9, 3}, 1);
    for (double entry : kernelAttention(inputs, favor()).output.elements())
      EXPECT_NEAR(entry, 1, 1e-14);
  }
}

TEST(IdentityTest, EvaOfChunksOfOneKeyIsSoftmax) {
  AttentionInputs inputs = drawInputs(12, 12);
  Array expected = softmaxAttention(inputs, 0.5).output;
  EXPECT_EQ(mismatch(evaAttention(inputs, {1, std::nullopt, 0.5, 0.5, false, false}), expected, 1e-13), "");
  EXPECT_EQ(mismatch(evaAttention(inputs, {1, 4, 0.5, 0.5, true, false}), expected, 1e-13), "");
  // A block of everything, and nothing left for the chunks.
  EXPECT_EQ(mismatch(evaAttention(inputs, {3, 12, 0.5, 0.5, true, true}), expected, 1e-13), "");
}

TEST(IdentityTest, EvaOfEqualKeysInChunksWithMassIsSoftmax) {
  AttentionInputs inputs = drawInputs(12, 12);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t g = 0; g < 2; ++g)
      for (int64_t j = 0; j < 12; ++j)
        for (int64_t c = 0; c < 4; ++c)
          inputs.key({b, g, j, c}) = inputs.key({b, g, j / 4 * 4, c});
  inputs.lengths = makeArray({2}, {12, 6});
  EXPECT_EQ(mismatch(evaAttention(inputs, {4, 6, 0.5, 0.5, true, true}), softmaxAttention(inputs, 0.5).output, 1e-13), "");
}

TEST(IdentityTest, OneAgentForEachQueryAndOneForAll) {
  // One agent for all: every row is the mean query's row.
  AttentionInputs inputs = drawInputs(12, 12), mean = inputs;
  mean.query = Array({2, 4, 1, 4});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 4; ++h)
      for (int64_t t = 0; t < 12; ++t)
        for (int64_t c = 0; c < 4; ++c)
          mean.query({b, h, 0, c}) += inputs.query({b, h, t, c}) / 12;
  Array one = softmaxAttention(mean, 0.5).output, got = agentAttention(inputs, 1, 0.5);
  EXPECT_EQ(mismatch(selectRows(got, {0}), one, 1e-14), "");
  EXPECT_EQ(mismatch(selectRows(got, {11}), one, 1e-14), "");
  AttentionInputs outer = inputs;
  outer.key = inputs.query, outer.value = softmaxAttention(inputs, 0.5).output;
  EXPECT_EQ(mismatch(agentAttention(inputs, 12, 0.5), softmaxAttention(outer, 0.5).output, 1e-13), "");
}

TEST(IdentityTest, LocalBlocksOfEverythingAreThePolynomial) {
  AttentionInputs inputs = drawInputs(12, 12);
  inputs.causal = true;
  PowerOptions options = sketched(8, 4, 4, 4), exact{8};
  options.localExact = 12, options.bias = exact.bias = 1;
  EXPECT_EQ(mismatch(powerAttention(inputs, options), powerAttention(inputs, exact), 1e-14), "");
  options.localExact = 4; // only the first block sees nothing else
  std::vector<int64_t> first{0, 1, 2, 3};
  EXPECT_EQ(mismatch(selectRows(powerAttention(inputs, options), first),
                     selectRows(powerAttention(inputs, exact), first), 1e-14), "");
}

TEST(IdentityTest, HighPowersOfLongRowsDoNotOverflow) {
  AttentionInputs inputs = drawInputs(6, 6, 1e20);
  Array got = powerAttention(inputs, {16});
  AttentionInputs small = drawInputs(6, 6);
  EXPECT_EQ(mismatch(got, powerAttention(small, {16}), 1e-12), "");
  EXPECT_EQ(mismatch(powerAttention(drawInputs(6, 6, 1e-20), {16}), powerAttention(small, {16}), 1e-12), "");
}

TEST(IdentityTest, NoKeyGivesZero) {
  AttentionInputs inputs = drawInputs(12, 12);
  inputs.lengths = makeArray({2}, {0, 0});
  std::vector<Named> all = means();
  all.push_back({"eva", [](const AttentionInputs &x) { return evaAttention(x, {3, 4, 0.5, 0.5, false, false}); }});
  for (const Named &mechanism : all)
    for (double entry : mechanism.run(inputs).elements())
      EXPECT_EQ(entry, 0) << mechanism.name;
}

TEST(IdentityTest, WhatDoesNotExistIsNeverRead) {
  AttentionInputs inputs = drawInputs(12, 12), poisoned = inputs;
  inputs.lengths = poisoned.lengths = makeArray({2}, {7, 0});
  poisoned.key = makeArray(inputs.key.shape(), inputs.key.elements());
  poisoned.value = makeArray(inputs.value.shape(), inputs.value.elements());
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t g = 0; g < 2; ++g)
      for (int64_t j = b == 0 ? 7 : 0; j < 12; ++j)
        poisoned.key({b, g, j, 0}) = std::nan(""), poisoned.value({b, g, j, 1}) = std::numeric_limits<double>::infinity();
  std::vector<Named> all = means();
  all.push_back({"eva", [](const AttentionInputs &x) { return evaAttention(x, {3, 4, 0.5, 0.5, false, false}); }});
  for (const Named &mechanism : all)
    EXPECT_EQ(mechanism.run(poisoned).elements(), mechanism.run(inputs).elements()) << mechanism.name;
}
