//===- SpecsBlocked.cpp - EVA, agents, low rank -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

static std::string eva(const std::string &fields) { return "mechanism: {kind: eva, " + fields + "}"; }
static const std::string heads = "heads: 2, head_dim: 3, value_dim: 5, ";

TEST_F(Specs, EvaNested) {
  check({heads + eva("window: {length: 4}, chunk: 2"), square({4, 12, 64})});
  check({heads + eva("window: {length: 2}, chunk: 6, mu_weight: 0.25"), square({6, 12, 66})});
  check({heads + eva("window: {length: 65}, chunk: 65"), square({65, 130})});
  check({heads + eva("window: {length: 1}, chunk: 1"), square({1, 9})});
}

TEST_F(Specs, EvaNotNested) {
  for (const char *choice : {"", ", exclude_local: true", ", mass: true", ", exclude_local: true, mass: true"}) {
    check({heads + eva(std::string("window: {length: 4}, chunk: 6") + choice), square({12, 24})});
    check({"heads: 4, kv_heads: 2, head_dim: 5, key_lengths: true, " +
               eva(std::string("window: {length: 6}, chunk: 4") + choice),
           square({12, 72})});
  }
}

TEST_F(Specs, EvaWithoutWindow) {
  for (const char *choice : {"", ", mass: true"}) {
    check({heads + eva(std::string("chunk: 1") + choice), square({1, 65})});
    check({heads + "key_lengths: true, " + eva(std::string("chunk: 13") + choice), square({13, 130})});
  }
}

TEST_F(Specs, EvaOfOtherLengths) {
  check({heads + eva("window: {length: 4}, chunk: 6"), {{6, 12}, {24, 12}, {12, 24}}});
  check({heads + "key_lengths: true, " + eva("window: {length: 10}, chunk: 5, exclude_local: true"),
         {{4, 20}, {52, 130}}});
}

TEST_F(Specs, EvaCausal) {
  for (int chunk : {1, 2, 3, 6})
    for (const char *choice : {"", ", exclude_local: true", ", mass: true"})
      check({heads + "causal: true, " + eva("window: {length: 6}, chunk: " + std::to_string(chunk) + choice),
             square({6, 30})});
  check({"heads: 4, kv_heads: 1, head_dim: 5, causal: true, key_lengths: true, " +
             eva("window: {length: 65}, chunk: 13, mass: true"),
         square({65, 130})});
}

TEST_F(Specs, EvaOfLowRank) {
  check({heads + eva("window: {length: 4}, chunk: 2, low_rank: {rank: 8}"), {{12, 65}, {8, 3}}});
  check({heads + "key_lengths: true, " +
             eva("window: {length: 2}, chunk: 4, low_rank: {rank: 8, tied: false, per_head: true}"),
         {{8, 65}}});
}

TEST_F(Specs, EvaOfLargeInputs) {
  check({heads + eva("window: {length: 4}, chunk: 6, mass: true"), square({12}), {""}, 1e-12, 30});
  check({heads + "scale: 0.7, causal: true, " + eva("window: {length: 12}, chunk: 4"), square({36}), {""}, 1e-12, 5});
}

TEST_F(Specs, EvaWithLepe) {
  check({heads + "key_lengths: true, " + eva("window: {length: 4}, chunk: 6, lepe: {grid: [3, 4], bias: true}"),
         square({12})});
}

TEST_F(Specs, Agents) {
  check({heads + "mechanism: {kind: agent, agents: 1}", {{1, 1}, {65, 2}, {2, 130}}});
  check({heads + "mechanism: {kind: agent, agents: 65}", {{65, 65}, {130, 63}, {65, 1}}});
  check({"heads: 4, kv_heads: 2, head_dim: 40, key_lengths: true, mechanism: {kind: agent, agents: 7}",
         {{63, 65}, {7, 2}}});
  check({heads + "scale: 2, mechanism: {kind: agent, agents: 3}", {{63, 65}}, {""}, 1e-12, 10});
  check({heads + "key_lengths: true, mechanism: {kind: agent, agents: 9, lepe: {bias: true}}", square({63})});
}

TEST_F(Specs, LowRank) {
  for (const char *kind : {"kind: softmax", "kind: kernel, feature_map: {kind: elu1}"})
    for (const char *choice :
         {"rank: 1", "rank: 7, tied: false", "rank: 70, per_head: true", "rank: 65, tied: false, per_head: true"}) {
      std::string mechanism = std::string("mechanism: {") + kind + ", low_rank: {" + choice + "}";
      check({heads + mechanism + "}", {{1, 1}, {2, 63}, {65, 64}, {63, 130}}});
      check({"heads: 4, kv_heads: 2, head_dim: 5, value_dim: 1, key_lengths: true, " + mechanism + "}",
             {{2, 1}, {63, 65}}});
      check({heads + "key_lengths: true, " + mechanism + ", lepe: {}}", square({9})});
    }
}

TEST_F(Specs, LowRankOfManyPieces) {
  check({"heads: 1, head_dim: 2, key_lengths: true, mechanism: {kind: softmax, low_rank: {rank: 3, tied: false}}",
         {{2, 2049}, {3, 4100}},
         {""},
         1e-12,
         1,
         Tiles::Chosen,
         1});
}
