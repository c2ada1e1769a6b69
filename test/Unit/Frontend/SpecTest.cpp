//===- SpecTest.cpp - What a parsed spec holds; suggestions; statuses ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecText.h"


#include <gmock/gmock.h>

using namespace attune;
using testing::HasSubstr;

namespace {

std::string notesOf(const std::string &text) {
  SourceFile file("probe.yaml", text);
  Spec spec;
  Diagnostics diagnostics;
  parseSpec(file, spec, diagnostics);
  std::string result;
  for (const Diagnostic &diagnostic : diagnostics.sorted())
    result += diagnostic.note + "\n";
  return result;
}

} // namespace

TEST(Spec, Defaults) {
  Spec spec = parseGood(specText("queries: 8\nmechanism: {kind: softmax}\n"));
  EXPECT_EQ(spec.name, "probe");
  EXPECT_EQ(spec.dtype, ElementType::F32);
  EXPECT_EQ(spec.batch, 2);
  EXPECT_EQ(spec.keys, 8);
  EXPECT_TRUE(spec.keysFollowQueries);
  EXPECT_EQ(spec.kvHeads, 4);
  EXPECT_EQ(spec.valueDim, 16);
  EXPECT_FALSE(spec.causal || spec.keyLengths || spec.scale || spec.projection || spec.rope || spec.qkNorm);
  ASSERT_EQ(spec.parts.size(), 1u);
  EXPECT_EQ(spec.parts[0].heads, 4);
  EXPECT_EQ(spec.logitScale(spec.parts[0]), 0.25);
  EXPECT_EQ(spec.places.lookup("mechanism.kind").value, (Position{7, 19}));
}

TEST(Spec, SelfAttentionHasAsManyKeysAsQueries) {
  for (const char *queries : {"8", "'?'"}) {
    Spec spec = parseGood(specText("queries: " + std::string(queries) + "\nkeys: '?'\nprojection: {model_dim: 8}\nmechanism: {kind: softmax}\n"));
    EXPECT_TRUE(spec.keysFollowQueries);
    EXPECT_EQ(spec.keys, spec.queries);
  }
  EXPECT_FALSE(parseGood(specText("queries: 8\nkeys: '?'\nprojection: {model_dim: 8, cross: true}\nmechanism: {kind: softmax}\n")).keysFollowQueries);
}

TEST(Spec, EveryFieldOfALargeSpec) {
  Spec spec =
      parseGood("attention: whole\ndtype: bf16\nbatch: '?'\nqueries: 16\nkeys: 16\nheads: 8\nkv_heads: 4\n"
                "head_dim: 6\nvalue_dim: 10\nscale: 2\nkey_lengths: true\n"
                "projection: {model_dim: 20, output: false, bias: true, cross: true}\n"
                "rope: {base: 500, layout: half}\nqk_norm: {epsilon: 1e-3}\nparts:\n"
                "  - heads: 2\n    mechanism:\n      kind: kernel\n"
                "      feature_map: {kind: favor, features: 32, per_head: true, epsilon: .5, stabilizer: none}\n"
                "      low_rank: {rank: 4, tied: false, per_head: true}\n"
                "      denominator: {bias: 1, floor: 2}\n"
                "  - heads: 6\n    mechanism: {kind: softmax, window: {grid: [4, 4], size: [2, 4]}, "
                "lepe: {bias: true}}\n");
  EXPECT_EQ(spec.projection->modelDim, 20);
  EXPECT_TRUE(spec.projection->bias && spec.projection->cross && !spec.projection->output);
  EXPECT_EQ(spec.rope->base, 500);
  EXPECT_TRUE(spec.rope->half);
  EXPECT_EQ(spec.qkNorm->epsilon, 1e-3);
  ASSERT_EQ(spec.parts.size(), 2u);
  const Mechanism &first = spec.parts[0].mechanism, &second = spec.parts[1].mechanism;
  EXPECT_TRUE(first.isKernel(FeatureMapKind::Favor));
  EXPECT_EQ(first.featureMap.features, 32);
  EXPECT_EQ(first.featureMap.epsilon, 0.5);
  EXPECT_EQ(first.featureMap.stabilizer, Stabilizer::None);
  EXPECT_EQ(first.denominator.floor, 2);
  EXPECT_FALSE(first.lowRank->tied);
  EXPECT_EQ(spec.parts[1].firstHead, 2);
  EXPECT_EQ(spec.parts[1].prefix, "part1.");
  EXPECT_EQ((*second.window->size)[1], 4);
  EXPECT_TRUE(second.lepe->bias);
}

TEST(Spec, NumbersOfTheCoreSchema) {
  for (auto [text, value] : {std::pair("2", 2.0), {"+2", 2.0}, {"2.", 2.0}, {".5", 0.5}, {"1e-1", 0.1}, {"5E1", 50.0}})
    EXPECT_EQ(parseGood(specText("queries: 8\nscale: " + std::string(text) + "\nmechanism: {kind: softmax}\n")).scale,
              value);
}

TEST(Suggestions, NameWhatWasMeant) {
  EXPECT_THAT(notesOf(specText("queries: 8\nmechanism: {kind: sotfmax}\n")), HasSubstr("did you mean 'softmax'?"));
  EXPECT_THAT(notesOf(specText("quereis: 8\nmechanism: {kind: softmax}\n")), HasSubstr("did you mean 'queries'?"));
  EXPECT_THAT(notesOf(specText("seq_len: 8\nmechanism: {kind: softmax}\n")), HasSubstr("did you mean 'queries'?"));
  EXPECT_THAT(notesOf(specText("queries: 8\ncausal: yes\nmechanism: {kind: softmax}\n")),
              HasSubstr("did you mean 'true'?"));
  EXPECT_THAT(notesOf(specText("queries: 8\ndtype: float32\nmechanism: {kind: softmax}\n")), HasSubstr("remove"));
  EXPECT_THAT(notesOf(specText("queries: 8\nmechanism: {kind: softmax, features: 8}\n")), HasSubstr("remove it"));
  EXPECT_THAT(notesOf(specText("queries: 8\nmechanism: {kind: softmax, agents: 8}\n")),
              HasSubstr("'agents' is a field of agent"));
  EXPECT_THAT(notesOf(specText("queries: 8\nfeature_map: {}\nmechanism: {kind: softmax}\n")),
              HasSubstr("under `mechanism:`"));
}

TEST(Statuses, OneMistakeMakesASpecInvalid) {
  EXPECT_EQ(exitStatus(SpecStatus::Good), 0);
  EXPECT_EQ(exitStatus(SpecStatus::Invalid), 2);
  SourceFile file("probe.yaml", specText("queries: 0\nrope: {}\nmechanism: {kind: softmax}\n"));
  Spec spec;
  Diagnostics diagnostics;
  EXPECT_EQ(parseSpec(file, spec, diagnostics), SpecStatus::Invalid);
  EXPECT_EQ(diagnostics.size(), 1u);
}

TEST(Sizes, ConditionsWaitForTheirSizes) {
  Spec spec = parseGood(specText("queries: '?'\nmechanism: {kind: softmax, window: {length: 8}}\n"));
  Diagnostics good, bad;
  EXPECT_TRUE(checkSizes(resolveSizes(spec, {}, 16, {}), good));
  EXPECT_FALSE(checkSizes(resolveSizes(spec, {}, 12, {}), bad));
  EXPECT_EQ(bad.sorted()[0].message(), "expected a divisor of queries = 12, but got '8'");
}
