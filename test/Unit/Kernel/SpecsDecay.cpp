//===- SpecsDecay.cpp - Kernels whose state decays, and of sums that nothing divides ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads decay slowly, by −20 a token, or not at all (SpecRun.cpp).
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

static const std::vector<std::string> ordered = {"quadratic", "chunked", "split"};
static const std::string heads = "heads: 3, head_dim: 3, value_dim: 5, causal: true, ",
                         grouped = "heads: 6, kv_heads: 3, head_dim: 5, causal: true, ";

static std::string kernel(const std::string &map, const std::string &more = "") {
  return "mechanism: {kind: kernel, feature_map: {kind: " + map + "}" + more + "}";
}

TEST_F(Specs, Retention) {
  std::string decay = ", decay: {per: head}";
  check({heads + kernel("identity", decay), square({1, 2, 7, 65, 130}), ordered});
  check({heads + "scale: 1, " + kernel("identity", decay), square({66}), ordered});
  check({grouped + "key_lengths: true, " + kernel("identity", decay), square({1, 9, 66}), ordered});
  check({"heads: 6, kv_heads: 3, head_dim: 4, causal: true, rope: {}, " + kernel("identity", decay), square({66}), {"chunked", "grouped, keys: in_order"}});
  check({"heads: 2, head_dim: 70, causal: true, " + kernel("identity", decay), square({130}), ordered});
}

TEST_F(Specs, DecayOfEveryMap) {
  for (const char *map : {"elu1", "relu", "focused", "favor_relu, features: 7", "favor_relu, features: 7, per_head: true"})
    for (const char *guard : {"", ", denominator: {bias: 0.1, floor: 0.5}", ", denominator: none"}) {
      std::string mechanism = kernel(map, std::string(guard) + ", decay: {per: head}");
      check({heads + mechanism, square({1, 66}), ordered});
      check({heads + "key_lengths: true, " + mechanism, square({66}), ordered});
    }
  check({grouped + "key_lengths: true, " + kernel("elu1", ", decay: {per: head}"), square({66}), {"quadratic", "chunked", "split", "grouped", "grouped, keys: split"}});
}

TEST_F(Specs, NothingDivides) {
  check({heads + kernel("identity"), square({1, 2, 65, 130}), ordered});
  check({grouped + "key_lengths: true, " + kernel("identity"), square({66}), {"quadratic", "chunked", "split", "grouped", "grouped, keys: split"}});
  check({heads + kernel("identity", ", denominator: {bias: 3, floor: 1}"), square({66}), ordered});
  check({heads + kernel("identity", ", window: {length: 6}"), square({66})});
  for (const char *map : {"elu1", "cosformer, max_position: 150", "focused, power: 7", "favor, features: 7"})
    check({heads + kernel(map, ", denominator: none"), square({1, 66}), ordered});
}

TEST_F(Specs, DecayOfTokens) {
  std::string decay = ", decay: {per: token}";
  check({heads + kernel("identity", decay), square({1, 2, 7, 65, 130}), ordered});
  check({grouped + "key_lengths: true, " + kernel("identity", decay), square({1, 9, 66}), {"quadratic", "chunked", "split", "grouped", "grouped, keys: split"}});
  for (const char *map : {"elu1", "relu", "focused", "favor_relu, features: 7, per_head: true"})
    for (const char *guard : {"", ", denominator: none"})
      check({heads + "key_lengths: true, " + kernel(map, guard + decay), square({1, 66}), ordered});
}

TEST_F(Specs, DecayOfChannels) {
  std::string decay = ", decay: {per: channel}";
  const std::vector<std::string> chunks = {"chunked", "split"};
  check({heads + kernel("identity", decay), square({1, 2, 7, 65, 130}), chunks});
  check({grouped + "key_lengths: true, " + kernel("identity", decay), square({1, 9, 66}), {"chunked", "split", "grouped", "grouped, keys: split"}});
  for (const char *map : {"elu1", "favor_relu, features: 7"})
    for (const char *guard : {"", ", denominator: none"})
      check({heads + "key_lengths: true, " + kernel(map, guard + decay), square({1, 66}), chunks});
}

TEST_F(Specs, KeysWrite) {
  for (const char *decay : {"", ", decay: {per: head}", ", decay: {per: token}", ", decay: {per: channel}"})
    for (const char *write : {", write: {per: token}", ", write: {per: channel}"})
      check({heads + "key_lengths: true, " + kernel("identity", std::string(decay) + write), square({1, 66}), {"chunked", "split"}});
  check({grouped + kernel("elu1", ", write: {per: token}"), square({66}), {"quadratic", "chunked", "split", "grouped", "grouped, keys: split"}});
  check({grouped + "key_lengths: true, " + kernel("cosformer, max_position: 150", ", write: {per: token}"), square({66}), ordered});
  check({grouped + "key_lengths: true, " + kernel("elu1", ", decay: {per: token}, write: {per: token}"), square({66}), ordered});
}

TEST_F(Specs, KeysErase) {
  const std::vector<std::string> chunks = {"chunked", "split"};
  std::string unit = "qk_norm: {kind: l2}, ";
  for (const char *decay : {"", ", decay: {per: head}", ", decay: {per: token}", ", decay: {per: channel}"})
    for (const char *gates : {", erase: {per: token}", ", erase: {per: channel}", ", erase: {per: channel}, write: {per: token}",
                              ", erase: {per: token}, write: {per: channel}"}) {
      std::string mechanism = unit + kernel("identity", std::string(decay) + gates);
      check({heads + mechanism, square({1, 66}), chunks});
      check({heads + "key_lengths: true, " + mechanism, square({130}), chunks});
    }
  check({grouped + unit + kernel("identity", ", erase: {per: token}"), square({1, 2, 7, 65}), chunks});
  for (const char *map : {"elu1", "relu"})
    check({heads + "key_lengths: true, " + kernel(map, ", denominator: none, erase: {per: token}, decay: {per: token}"), square({66}), chunks});
}

TEST_F(Specs, QueriesAndKeysOfSeveralHeads) {
  std::string shared = "heads: 6, qk_heads: 2, head_dim: 5, value_dim: 3, causal: true, ";
  for (const char *gates : {"", ", decay: {per: head}", ", decay: {per: token}, write: {per: token}"})
    check({shared + "key_lengths: true, " + kernel("identity", gates), square({1, 66}), ordered});
  check({shared + kernel("elu1", ", decay: {per: token}"), square({66}), ordered});
  check({shared + "qk_norm: {kind: l2}, " + kernel("identity", ", decay: {per: token}, erase: {per: token}"), square({66}), {"chunked", "split"}});
  check({shared + "projection: {model_dim: 9}, " + kernel("identity", ", decay: {per: channel}"), square({66}), {"chunked"}});
  check({shared + "parts: [{heads: 3, " + kernel("identity", ", decay: {per: token}") + "}, {heads: 3, " + kernel("elu1") + "}]",
         square({66}),
         {"chunked"}});
}

TEST_F(Specs, DecayInProjectionsAndParts) {
  std::string retention = kernel("identity", ", decay: {per: head}");
  check({heads + "projection: {model_dim: 9}, " + retention, square({66}), ordered});
  check({"heads: 4, head_dim: 6, causal: true, parts: [{heads: 1, mechanism: {kind: softmax}}, {heads: 3, " + retention + "}]",
         square({66}),
         {"chunked"}});
}

TEST_F(Specs, RetentionInTheTypesOfTheKernels) {
  for (const char *type : {"f16", "bf16"})
    check({"dtype: " + std::string(type) + ", " + grouped + kernel("identity", ", decay: {per: head}"), square({66}), ordered});
  for (const char *type : {"f16", "bf16"})
    for (const char *gates : {", decay: {per: token}", ", decay: {per: channel}", ", decay: {per: channel}, erase: {per: token}"})
      check({"dtype: " + std::string(type) + ", qk_norm: {kind: l2}, " + grouped + kernel("identity", gates), square({66}), {"chunked", "split"}});
}
