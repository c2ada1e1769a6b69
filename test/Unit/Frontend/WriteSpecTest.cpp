//===- WriteSpecTest.cpp - Specs written as YAML --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/WriteSpec.h"

#include "BuiltSpec.h"

using namespace attune;

/// The attn ops without their places in the file.
static std::string opsOf(const std::string &yaml) {
  Built built(yaml);
  return showAttribute(*built.module);
}

/// A spec, and the same one written and parsed again, become the same ops; written once more it is the same text.
static void expectSame(const std::string &yaml) {
  SCOPED_TRACE(yaml);
  std::string written = writeSpec(parseGood(yaml));
  EXPECT_EQ(opsOf(written), opsOf(yaml)) << written;
  EXPECT_EQ(writeSpec(parseGood(written)), written);
}

TEST(WriteSpec, KeepsEveryFieldOfTheWhole) {
  expectSame("attention: 'true'\ndtype: bf16\nbatch: '?'\nqueries: '?'\nkeys: 70\nheads: 4\nkv_heads: 2\nhead_dim: 6\n"
             "value_dim: 5\ncausal: true\nkey_lengths: true\nscale: 0.1\nrope: {base: 500, layout: half}\n"
             "qk_norm: {epsilon: 3e-7}\nmechanism: {kind: softmax}\n");
  expectSame(specText("queries: 8\nprojection: {model_dim: 24, output: false, bias: true, cross: true}\n"
                      "keys: 9\nrope: {}\nqk_norm: {}\nmechanism: {kind: softmax}\n"));
  expectSame(specText("queries: 8\nprojection: {model_dim: 24}\npin: {linearize: state, fold: folded}\n"
                      "mechanism: {kind: kernel, feature_map: {kind: favor_relu, features: 8}}\n"));
  for (const char *gradients : {"all", "[v, q]"})
    expectSame(specText("queries: 8\ngradients: " + std::string(gradients) + "\nmechanism: {kind: softmax}\n"));
  expectSame(specText("queries: 8\nparts:\n  - heads: 1\n    mechanism: {kind: softmax, window: {length: 4}}\n"
                      "  - heads: 3\n    mechanism: {kind: effatt, lepe: {}}\n"));
}

TEST(WriteSpec, KeepsEveryFieldOfAMechanism) {
  for (const char *mechanism : {
           "{kind: softmax, low_rank: {rank: 3, tied: false, per_head: true}, lepe: {bias: true}}",
           "{kind: softmax, window: {grid: [4, 6], size: [2, 3]}, lepe: {}}",
           "{kind: polynomial, degree: 6, denominator: {bias: 0.25}, lepe: {grid: [3, 8]}}",
           "{kind: kernel, feature_map: {kind: favor, features: 5, per_head: true, epsilon: 1e-9, stabilizer: max}}",
           "{kind: kernel, feature_map: {kind: favor, features: 5}, denominator: none, "
           "low_rank: {rank: 3, order: after_map}}",
           "{kind: kernel, feature_map: {kind: favor_relu, features: 5, epsilon: 0.1, normalize: true}}",
           "{kind: kernel, feature_map: {kind: relu}}",
           "{kind: kernel, feature_map: {kind: relu}, denominator: {floor: 0}}",
           "{kind: kernel, feature_map: {kind: cosformer, max_position: 30}, denominator: {bias: 1, floor: 2}}",
           "{kind: kernel, feature_map: {kind: focused, power: 2.5, epsilon: 0.1}, window: {length: 12}}",
           "{kind: polysketch, degree: 8, size: 4, denominator: {bias: 1}}",
           "{kind: effatt}",
           "{kind: eva, chunk: 6, window: {length: 12}, mu_weight: 0.3, exclude_local: true, mass: true}",
           "{kind: agent, agents: 8}",
       })
    expectSame(specText("queries: 24\nmechanism: " + std::string(mechanism) + "\n"));
  expectSame(
      specText("queries: 24\ncausal: true\nmechanism: {kind: polysketch, degree: 4, size: 4, local_exact: 8}\n"));
}
