//===- AttentionTest.cpp - Mechanisms at points where the answer is known ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Attention.h"
#include "attune/Reference/Tolerance.h"

#include "gmock/gmock.h"

#include <cmath>
#include <limits>
#include <random>

using namespace attune;
using namespace attune::reference;
using testing::HasSubstr;

static Array draw(llvm::ArrayRef<int64_t> shape, unsigned seed, double magnitude = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, magnitude);
  Array array(shape);
  for (int64_t i = 0; i < array.count(); ++i)
    array.element(i) = normal(random);
  return array;
}

/// One batch entry, two heads on one key-value head.
static AttentionInputs drawInputs(int64_t queries, int64_t keys) {
  return {draw({1, 2, queries, 4}, 1), draw({1, 1, keys, 4}, 2), draw({1, 1, keys, 3}, 3), {}, false, {}};
}

TEST(AttentionTest, EqualLogitsGiveTheMean) {
  AttentionInputs inputs{Array({1, 1, 1, 2}), draw({1, 1, 3, 2}, 1), makeArray({1, 1, 3, 1}, {1, 2, 6}), {}, false, {}};
  SoftmaxResults results = softmaxAttention(inputs, 1);
  EXPECT_DOUBLE_EQ(results.output({0, 0, 0, 0}), 3);
  EXPECT_DOUBLE_EQ(results.lse({0, 0, 0}), std::log(3));
}

TEST(AttentionTest, LargeLogitsNeitherOverflowNorMix) {
  AttentionInputs inputs{makeArray({1, 1, 1, 1}, {1}), makeArray({1, 1, 2, 1}, {5000, -5000}),
                         makeArray({1, 1, 2, 1}, {7, 9}), {}, false, {}};
  SoftmaxResults results = softmaxAttention(inputs, 1);
  EXPECT_EQ(results.output({0, 0, 0, 0}), 7);
  EXPECT_EQ(results.lse({0, 0, 0}), 5000);
}

TEST(AttentionTest, CausalAlignsTheLastQueryWithTheLastKey) {
  // The value of key j is 10^j and all logits are equal: the mean shows how many keys a query sees.
  AttentionInputs inputs{Array({1, 1, 2, 1}), Array({1, 1, 3, 1}), makeArray({1, 1, 3, 1}, {1, 10, 100}), {}, true, {}};
  SoftmaxResults results = softmaxAttention(inputs, 1);
  EXPECT_DOUBLE_EQ(results.output({0, 0, 0, 0}), 11 / 2.0);
  EXPECT_DOUBLE_EQ(results.output({0, 0, 1, 0}), 111 / 3.0);
}

TEST(AttentionTest, RowsThatSeeNothingAreZero) {
  // Three queries, one key: the first two queries come before it.
  AttentionInputs inputs{Array({1, 1, 3, 1}), Array({1, 1, 1, 1}), makeArray({1, 1, 1, 1}, {5}), {}, true, {}};
  SoftmaxResults results = softmaxAttention(inputs, 1);
  EXPECT_EQ(results.output.elements(), (std::vector<double>{0, 0, 5}));
  EXPECT_EQ(results.lse({0, 0, 1}), -std::numeric_limits<double>::infinity());
  inputs.lengths = makeArray({1}, {0});
  inputs.causal = false;
  EXPECT_EQ(softmaxAttention(inputs, 1).output.elements(), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(kernelAttention(inputs, {}).output.elements(), (std::vector<double>{0, 0, 0}));
}

TEST(AttentionTest, KeysThatDoNotExistAreNeverRead) {
  for (bool causal : {false, true}) {
    AttentionInputs all = drawInputs(5, 5), few = all;
    few.key = draw({1, 1, 5, 4}, 2), few.value = draw({1, 1, 5, 3}, 3);
    for (int64_t j = 3; j < 5; ++j)
      few.key({0, 0, j, 0}) = few.value({0, 0, j, 0}) = std::nan("");
    all.lengths = few.lengths = makeArray({1}, {3});
    all.causal = few.causal = causal;
    EXPECT_EQ(softmaxAttention(few, 0.5).output.elements(), softmaxAttention(all, 0.5).output.elements());
    EXPECT_EQ(kernelAttention(few, {}).output.elements(), kernelAttention(all, {}).output.elements());
  }
}

TEST(AttentionTest, NaNReachesItsOwnRowsOnly) {
  AttentionInputs inputs = drawInputs(4, 4);
  inputs.query({0, 1, 2, 0}) = std::nan("");
  Array output = softmaxAttention(inputs, 1).output;
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(std::isnan(output({0, h, i, 0})), h == 1 && i == 2);
}

TEST(AttentionTest, KernelAttentionIsTheQuadraticSum) {
  AttentionInputs inputs = drawInputs(6, 6);
  inputs.causal = true;
  KernelOptions options{{}, 0.25, 3.0};
  KernelResults results = kernelAttention(inputs, options);
  auto phi = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t i = 0; i < 6; ++i) {
      double sums[3] = {}, total = 0;
      for (int64_t j = 0; j <= i; ++j) {
        double weight = 0;
        for (int64_t c = 0; c < 4; ++c)
          weight += phi(inputs.query({0, h, i, c})) * phi(inputs.key({0, 0, j, c}));
        total += weight;
        for (int64_t c = 0; c < 3; ++c)
          sums[c] += weight * inputs.value({0, 0, j, c});
      }
      for (int64_t c = 0; c < 3; ++c)
        EXPECT_NEAR(results.output({0, h, i, c}), sums[c] / std::max(total + 0.25, 3.0), 1e-14);
    }
}

TEST(AttentionTest, AStateContinuesTheSequence) {
  AttentionInputs whole = drawInputs(7, 7);
  whole.causal = true;
  KernelOptions options;
  options.wantsState = true;
  KernelResults expected = kernelAttention(whole, options);
  auto part = [&](std::vector<int64_t> rows) {
    return AttentionInputs{selectRows(whole.query, rows), selectRows(whole.key, rows), selectRows(whole.value, rows),
                           {}, true, {}};
  };
  KernelResults first = kernelAttention(part({0, 1, 2}), options);
  options.initialState = first.finalState, options.initialSum = first.finalSum;
  KernelResults second = kernelAttention(part({3, 4, 5, 6}), options);
  EXPECT_EQ(mismatch(first.output, selectRows(expected.output, {0, 1, 2}), 1e-14), "");
  EXPECT_EQ(mismatch(second.output, selectRows(expected.output, {3, 4, 5, 6}), 1e-14), "");
  EXPECT_EQ(mismatch(second.finalState, expected.finalState, 1e-14), "");
  EXPECT_EQ(mismatch(second.finalSum, expected.finalSum, 1e-14), "");
}

TEST(AttentionTest, ChosenRowsInAnyOrder) {
  for (bool causal : {false, true}) {
    AttentionInputs inputs = drawInputs(9, 9);
    inputs.causal = causal;
    Array softmax = softmaxAttention(inputs, 0.5).output, kernel = kernelAttention(inputs, {}).output;
    inputs.rows = {8, 0, 3, 3};
    EXPECT_EQ(softmaxAttention(inputs, 0.5).output.elements(), selectRows(softmax, *inputs.rows).elements());
    EXPECT_EQ(kernelAttention(inputs, {}).output.elements(), selectRows(kernel, *inputs.rows).elements());
  }
}

TEST(AttentionTest, ChosenRowsOfALongSequence) {
  // All keys are alike, and the values of the first half are 0, of the second half 1: a row's output is the share of
  // the keys of the second half among those it sees.
  const int64_t n = 70000;
  Array values({1, 1, n, 1});
  for (int64_t j = n / 2; j < n; ++j)
    values({0, 0, j, 0}) = 1;
  AttentionInputs inputs{Array({1, 1, n, 8}, 0.5), Array({1, 1, n, 8}, 0.5), values, {}, true, {{0, n / 2, n - 1}}};
  for (const Array &output : {softmaxAttention(inputs, 1).output, kernelAttention(inputs, {}).output}) {
    EXPECT_EQ(output({0, 0, 0, 0}), 0);
    EXPECT_NEAR(output({0, 0, 1, 0}), 1.0 / (n / 2 + 1), 1e-15);
    EXPECT_NEAR(output({0, 0, 2, 0}), 0.5, 1e-11);
  }
}

TEST(AttentionTest, StridedInputs) {
  // [batch, tokens, heads, width] in memory, seen as [batch, heads, tokens, width].
  AttentionInputs dense = drawInputs(5, 5), strided = dense;
  auto buffer = std::make_shared<std::vector<double>>(2 * 5 * 4);
  strided.query = *Array::view(buffer, 0, {1, 2, 5, 4}, {40, 4, 8, 1});
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t c = 0; c < 4; ++c)
        strided.query({0, h, i, c}) = dense.query({0, h, i, c});
  EXPECT_EQ(softmaxAttention(strided, 1).output.elements(), softmaxAttention(dense, 1).output.elements());
  EXPECT_EQ(kernelAttention(strided, {}).output.elements(), kernelAttention(dense, {}).output.elements());
}

TEST(AttentionTest, Problems) {
  AttentionInputs inputs = drawInputs(4, 5);
  EXPECT_EQ(inputs.problem(), "");
  inputs.lengths = makeArray({1}, {6});
  EXPECT_THAT(inputs.problem(), HasSubstr("expected lengths from 0 to 5, but got 6"));
  inputs.lengths = makeArray({2}, {1, 1});
  EXPECT_THAT(inputs.problem(), HasSubstr("expected lengths of [1], but got [2]"));
  inputs.lengths.reset();
  inputs.rows = {{4}};
  EXPECT_THAT(inputs.problem(), HasSubstr("expected rows from 0 and below 4, but got 4"));
  inputs.rows.reset();
  inputs.causal = true;
  EXPECT_THAT(kernelProblem(inputs, {}), HasSubstr("expected as many queries as keys with causal, but got 4 and 5"));
  inputs.key = Array({1, 3, 5, 4});
  EXPECT_THAT(inputs.problem(), HasSubstr("divides 2, but got 3"));
}
