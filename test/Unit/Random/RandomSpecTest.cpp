//===- RandomSpecTest.cpp - What the generator of specs draws ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RandomInputs.h"
#include "RandomSpec.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Support/Diagnostics.h"

#include "gtest/gtest.h"

#include <cmath>
#include <set>

using namespace attune;
using namespace attune::random;

TEST(RandomSpecTest, DependsOnTheSeedAlone) {
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(drawSpec(seed).yaml(), drawSpec(seed).yaml());
    texts.insert(drawSpec(seed).yaml());
  }
  EXPECT_EQ(texts.size(), 50u);
  RandomSpec spec = drawSpec(3);
  EXPECT_EQ(drawInputs(spec, 9).query.bytes, drawInputs(spec, 9).query.bytes);
  EXPECT_NE(drawInputs(spec, 9).query.bytes, drawInputs(spec, 10).query.bytes);
}

TEST(RandomSpecTest, EverySpecIsGood) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    RandomSpec drawn = drawSpec(seed);
    SourceFile file("random.yaml", drawn.yaml());
    Spec spec;
    Diagnostics diagnostics;
    EXPECT_EQ(parseSpec(file, spec, diagnostics), SpecStatus::Good) << drawn.yaml();
    Spec resolved = resolveSizes(spec, drawn.batch, drawn.queries, drawn.keys);
    EXPECT_TRUE(checkSizes(resolved, diagnostics)) << drawn.yaml();
    EXPECT_TRUE(diagnostics.empty()) << drawn.yaml();
  }
}

TEST(RandomSpecTest, MeetsEveryOption) {
  std::set<std::string> met;
  std::set<int64_t> residues;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    RandomSpec spec = drawSpec(seed);
    std::string kind = spec.isSoftmax ? "softmax" : "kernel";
    met.insert({kind + (spec.causal ? " causal" : " plain"), spec.dtype, "pin " + spec.pin,
                spec.keyLengths ? "lengths" : "no lengths", spec.width % 2 ? "odd width" : "even width",
                spec.heads == spec.sharedHeads ? "all heads" : "grouped heads",
                spec.sharedHeads == 1 ? "one head" : "heads",
                spec.keys < spec.queries ? "fewer keys" : "enough keys", spec.queries == 1 ? "one query" : "queries",
                spec.dynamicBatch ? "? batch" : "batch", spec.dynamicQueries ? "? queries" : "n",
                spec.dynamicKeys ? "? keys" : "N", spec.scale ? "scale" : "default scale",
                spec.bias ? "denominator" : "default denominator"});
    residues.insert(spec.queries % 64);
  }
  // Both or all three values of each option, the four pairs of mechanism and mask, seven pins and none.
  EXPECT_EQ(met.size(), 4u + 3 + 8 + 11 * 2);
  EXPECT_EQ(residues.size(), 64u);
}

/// Norm of a row of `width`.
static double norm(const float *row, int64_t width) {
  double sum = 0;
  for (int64_t c = 0; c < width; ++c)
    sum += static_cast<double>(row[c]) * row[c];
  return std::sqrt(sum);
}

TEST(RandomSpecTest, InputsKeepTheirRange) {
  std::set<InputKind> kinds;
  std::set<std::string> lengths;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    RandomSpec spec = drawSpec(seed);
    RandomInputs inputs = drawInputs(spec, seed);
    kinds.insert(inputs.kind);
    double limit = 30 * std::sqrt(static_cast<double>(spec.width));
    for (int64_t row = 0; inputs.kind == InputKind::Large && row < inputs.query.count() / spec.width; ++row)
      EXPECT_LE(norm(inputs.query.data<float>() + row * spec.width, spec.width), limit);
    for (int64_t b = 0; inputs.lengths && b < spec.batch; ++b) {
      int32_t length = inputs.lengths->data<int32_t>()[b];
      EXPECT_TRUE(length >= 0 && length <= spec.keys);
      lengths.insert(length == 0 ? "none" : length == spec.keys ? "all" : "some");
    }
  }
  EXPECT_EQ(kinds.size(), 5u);
  EXPECT_EQ(lengths.size(), 3u);
}
