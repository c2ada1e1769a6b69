//===- SpecsTest.cpp - Softmax and kernel attention ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

/// Around a tile of 64, and what is less than one of 8.
static const std::vector<Sizes> lengths = {{1, 1},   {1, 130}, {130, 1}, {2, 63},    {63, 2},
                                           {64, 64}, {64, 65}, {65, 63}, {130, 130}, {63, 130}};

TEST_F(Specs, Softmax) {
  check({"heads: 2, head_dim: 3, mechanism: {kind: softmax}", lengths});
  check({"heads: 2, head_dim: 3, value_dim: 5, causal: true, mechanism: {kind: softmax}", lengths});
  check({"heads: 2, head_dim: 1, value_dim: 3, key_lengths: true, mechanism: {kind: softmax}", lengths});
  check(
      {"heads: 4, kv_heads: 2, head_dim: 40, value_dim: 1, causal: true, key_lengths: true, mechanism: {kind: softmax}",
       {{1, 65}, {65, 65}, {63, 130}}});
  check({"heads: 4, kv_heads: 1, head_dim: 65, value_dim: 40, mechanism: {kind: softmax}", {{65, 2}, {63, 65}}});
  check({"heads: 1, head_dim: 4, scale: 0.3, mechanism: {kind: softmax}", {{65, 65}}, {""}, 1e-12, 30});
}

TEST_F(Specs, SoftmaxOfKeysInPieces) {
  std::string split = "pin: {keys: split}, mechanism: {kind: softmax}";
  check({"heads: 2, head_dim: 3, value_dim: 5, " + split, {{1, 300}, {2, 65}, {3, 1}, {65, 130}}});
  check({"heads: 4, kv_heads: 2, head_dim: 5, causal: true, key_lengths: true, " + split, {{1, 200}, {70, 130}, {130, 70}}});
  check({"heads: 2, head_dim: 4, key_lengths: true, rope: {}, " + split, {{1, 130}}, {""}, 1e-12, 30});
  check({"dtype: bf16, heads: 2, kv_heads: 1, head_dim: 5, " + split, {{1, 130}}});
}

TEST_F(Specs, SoftmaxOfRoundedInputs) {
  for (const char *dtype : {"bf16", "f16"})
    check({std::string("dtype: ") + dtype +
               ", heads: 2, kv_heads: 1, head_dim: 5, causal: true, mechanism: {kind: softmax}",
           {{63, 65}}});
}

TEST_F(Specs, SoftmaxOfManyPieces) {
  check(
      {"heads: 1, head_dim: 2, mechanism: {kind: softmax}", {{3, 2049}, {2, 4100}}, {""}, 1e-12, 1, Tiles::Chosen, 1});
}

static const std::vector<std::string> unordered = {"", "quadratic", "state"}, ordered = {"", "quadratic", "chunked"};

TEST_F(Specs, Elu1) {
  std::string kernel = "mechanism: {kind: kernel, feature_map: {kind: elu1}";
  check({"heads: 2, head_dim: 3, value_dim: 5, " + kernel + "}", lengths, unordered});
  check({"heads: 4, kv_heads: 2, head_dim: 5, value_dim: 3, key_lengths: true, " + kernel + "}",
         {{1, 2}, {65, 130}, {64, 63}},
         unordered});
  check({"heads: 2, head_dim: 3, value_dim: 1, causal: true, " + kernel + ", denominator: {bias: 0.1, floor: 0.5}}",
         square({1, 2, 63, 64, 65, 130}), ordered});
  check({"heads: 4, kv_heads: 1, head_dim: 1, value_dim: 40, causal: true, key_lengths: true, " + kernel + "}",
         square({2, 65}), ordered});
  check({"dtype: bf16, heads: 2, head_dim: 65, " + kernel + ", denominator: {floor: 40}}", {{63, 66}}, unordered});
}

TEST_F(Specs, Elu1OfManyPieces) {
  check({"heads: 1, head_dim: 2, mechanism: {kind: kernel, feature_map: {kind: elu1}}",
         {{2, 2049}, {3, 4100}},
         {"state"},
         1e-12,
         1,
         Tiles::Chosen,
         1});
}
