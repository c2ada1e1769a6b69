//===- SpecsMaps.cpp - Feature maps, efficient attention ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

static const std::vector<std::string> unordered = {"quadratic", "state", "fused_state", "merged_state"},
                                      ordered = {"quadratic", "chunked"};
static const std::string heads = "heads: 2, head_dim: 3, value_dim: 5, ",
                         grouped = "heads: 4, kv_heads: 2, head_dim: 5, ";

static std::string kernel(const std::string &map, const std::string &more = "") {
  return "mechanism: {kind: kernel, feature_map: {kind: " + map + "}" + more + "}";
}

/// One of every kind, with the lengths that the cases have.
static const std::string maps[] = {
    "relu",
    "cosformer, max_position: 150",
    "focused",
    "favor_relu, features: 7",
    "favor, features: 7",
    "favor, features: 7, stabilizer: max, epsilon: 0.01",
};

TEST_F(Specs, FeatureMaps) {
  for (const std::string &map : maps) {
    check({heads + kernel(map), {{1, 1}, {2, 63}, {65, 64}, {130, 2}}, unordered});
    check({grouped + "key_lengths: true, " + kernel(map, ", denominator: {bias: 0.1, floor: 0.5}"),
           {{2, 1}, {63, 65}},
           unordered});
    check({heads + kernel(map, ", lepe: {bias: true}"), {{9, 9}}});
  }
  check({"heads: 2, head_dim: 1, " + kernel("relu"), {{9, 20}}, unordered});
  check({heads + kernel("focused, power: 2.5, epsilon: 0.1"), {{9, 65}}, unordered});
  check({heads + kernel("focused, power: 7"), {{9, 65}}, unordered});
  check({"heads: 1, head_dim: 65, " + kernel("focused"), {{9, 65}}, unordered});
  check(
      {heads + kernel("favor_relu, features: 65, normalize: true, epsilon: 0, per_head: true"), {{9, 65}}, unordered});
}

// Weights of rows that share no positive channel are far below the others': features are carried as exponents.
TEST_F(Specs, FocusedOfHighPowers) {
  for (const char *map : {"focused, power: 5", "focused, power: 12.7", "focused, power: 30, epsilon: 1e-4"}) {
    check({heads + kernel(map), {{1, 1}, {2, 63}, {65, 64}}, unordered, 1e-11});
    check({grouped + "key_lengths: true, " + kernel(map), {{9, 65}}, unordered, 1e-11});
    check({grouped + kernel(map, ", denominator: {bias: 1e-6}"), {{9, 65}}, unordered, 1e-11});
    check({grouped + kernel(map, ", denominator: {bias: 0.3, floor: 50}"), {{65, 9}}, unordered, 1e-11});
    check({heads + kernel(map, ", window: {length: 7}, lepe: {}"), square({21}), {""}, 1e-11});
    check({heads + kernel(map, ", low_rank: {rank: 7}"), {{9, 65}}, {""}, 1e-11});
    check({heads + "causal: true, " + kernel(map), square({1, 2, 65, 130}), ordered, 1e-11});
    check({grouped + "causal: true, key_lengths: true, " + kernel(map, ", denominator: {bias: 0.1, floor: 0.2}"),
           square({66}), ordered, 1e-11});
  }
}

TEST_F(Specs, FeatureMapsOrdered) {
  for (const std::string &map : {maps[0], maps[1], maps[2], maps[3], maps[4]}) {
    check({heads + "causal: true, " + kernel(map), square({1, 2, 65, 130}), ordered});
    check({grouped + "causal: true, key_lengths: true, " + kernel(map, ", denominator: {bias: 0.1}"), square({66}),
           ordered});
  }
}

TEST_F(Specs, FeatureMapsInWindows) {
  for (const std::string &map : maps) {
    check({heads + kernel(map, ", window: {length: 7}, lepe: {}"), square({21})});
    check({grouped + "key_lengths: true, " + kernel(map, ", window: {grid: [9, 10], size: [3, 5]}"), square({90})});
  }
  check({heads + "causal: true, " + kernel("cosformer, max_position: 64", ", window: {length: 16}"), square({64})});
}

TEST_F(Specs, Stabilizers) {
  for (const char *stabilizer : {"constant", "max", "projection", "none"})
    for (const char *features : {"features: 1", "features: 9, per_head: true", "features: 65, epsilon: 0.001"})
      for (const char *guard : {"", ", denominator: {bias: 0.5, floor: 0.1}"}) {
        std::string map = std::string("favor, stabilizer: ") + stabilizer + ", " + features;
        check({grouped + "key_lengths: true, " + kernel(map, guard), {{9, 65}}, unordered});
      }
  for (const char *stabilizer : {"constant", "max", "projection", "none"})
    check({grouped + "causal: true, " + kernel(std::string("favor, features: 6, stabilizer: ") + stabilizer),
           square({65}), ordered});
  check({grouped + "causal: true, key_lengths: true, " + kernel("favor, features: 6"), square({1, 9, 66}), {"grouped, keys: split"}});
  check({heads + "scale: 0.4, " + kernel("favor, features: 8"), {{9, 65}}, unordered, 1e-12, 6});
  check({heads + kernel("favor, features: 8, stabilizer: max, epsilon: 0.1"), {{9, 65}}, unordered, 1e-12, 6});
}

TEST_F(Specs, FeatureMapsOfLowRank) {
  for (const std::string &map : maps) {
    if (map != maps[1]) {
      check({heads + "key_lengths: true, " + kernel(map, ", low_rank: {rank: 7, tied: false}"), {{9, 65}}});
      check({grouped + kernel(map, ", low_rank: {rank: 20, per_head: true}, lepe: {}"), {{9, 9}}});
    }
    std::string after = ", denominator: none, low_rank: {order: after_map, rank: ";
    check({heads + kernel(map, after + "1}"), {{1, 1}, {65, 64}}});
    check(
        {grouped + "key_lengths: true, " + kernel(map, after + "9, tied: false, per_head: true}"), {{2, 1}, {63, 65}}});
    check({grouped + "key_lengths: true, " + kernel(map, after + "70}, lepe: {}"), {{33, 33}}});
  }
  check({heads + kernel("elu1", ", denominator: none, low_rank: {order: after_map, rank: 4, tied: false}"), {{9, 65}}});
}

TEST_F(Specs, EfficientAttention) {
  std::string effatt = "mechanism: {kind: effatt";
  check({heads + effatt + "}", {{1, 1}, {2, 63}, {65, 64}, {130, 2}}});
  check({"heads: 4, kv_heads: 1, head_dim: 40, value_dim: 1, key_lengths: true, " + effatt + "}", {{2, 1}, {63, 65}}});
  check({"heads: 2, head_dim: 1, key_lengths: true, " + effatt + ", lepe: {grid: [5, 7], bias: true}}", square({35})});
  check({heads + effatt + "}", {{9, 65}}, {""}, 1e-12, 30});
  check({"heads: 1, head_dim: 2, " + effatt + "}", {{3, 2049}, {2, 4100}}, {""}, 1e-12, 1, Tiles::Chosen, 1});
}

TEST_F(Specs, FeatureMapsOfManyPieces) {
  for (const std::string &map : {maps[0], maps[2], maps[4], maps[5]})
    check({"heads: 1, head_dim: 2, key_lengths: true, " + kernel(map),
           {{3, 2049}, {2, 4100}},
           {"state"},
           1e-12,
           1,
           Tiles::Chosen,
           1});
}

TEST_F(Specs, FeatureMapsInLayers) {
  std::string layer =
      "heads: 4, kv_heads: 2, head_dim: 4, value_dim: 3, projection: {model_dim: 7, bias: true}, rope: {}, "
      "qk_norm: {}, parts: [{heads: 2, ";
  for (const std::string &map : maps)
    check({layer + kernel(map, ", lepe: {}") + "}, {heads: 2, mechanism: {kind: effatt, lepe: {grid: [4, 5]}}}]",
           square({20}),
           {""},
           1e-11});
}
