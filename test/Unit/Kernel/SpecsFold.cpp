//===- SpecsFold.cpp - Projections folded with random features -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both forms against the definition, `prepare` included.
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

/// The case in both forms of `fold`.
static std::vector<SpecCase> bothFolds(const std::string &fields, std::vector<Sizes> sizes,
                                       std::vector<std::string> forms) {
  std::vector<SpecCase> cases;
  for (const char *fold : {"apart", "folded"}) {
    SpecCase c{fields, sizes, forms};
    c.fold = fold;
    cases.push_back(c);
  }
  return cases;
}

/// D = 70 is a block of weights and a ragged one.
static std::string layer(int model, bool bias) {
  return "projection: {model_dim: " + std::to_string(model) + ", bias: " + (bias ? "true" : "false") + "}, ";
}

static std::string kernel(const std::string &map, const std::string &more = "") {
  return "mechanism: {kind: kernel, feature_map: {" + map + "}" + more + "}";
}

TEST_F(Specs, FoldedPositiveFeatures) {
  for (auto [map, bias] : {std::pair("kind: favor_relu, features: 4", false), {"kind: favor_relu, features: 5, normalize: true, epsilon: 0", true},
                           {"kind: favor_relu, features: 2, per_head: true", false}}) {
    for (const SpecCase &c : bothFolds("heads: 2, head_dim: 3, value_dim: 5, causal: true, " + layer(9, bias) + kernel(map),
                                       square({1, 65}), {"quadratic", "chunked"}))
      check(c);
    for (const SpecCase &c : bothFolds("heads: 4, kv_heads: 2, head_dim: 3, value_dim: 2, key_lengths: true, " +
                                           layer(70, !bias) + kernel(map),
                                       square({20}), {"quadratic", "state"}))
      check(c);
  }
}

TEST_F(Specs, FoldedQueriesOfFavor) {
  const std::string gqa = "heads: 4, kv_heads: 2, head_dim: 4, value_dim: 3, ";
  // Where the stabilizer cancels any will do; where it does not, −|q|²/2 must be in the query's own maximum.
  for (const char *map : {"kind: favor, features: 3", "kind: favor, features: 9, per_head: true",
                          "kind: favor, features: 3, stabilizer: projection", "kind: favor, features: 3, epsilon: 1e-3",
                          "kind: favor, features: 3, epsilon: 1e-3, stabilizer: max"}) {
    for (const SpecCase &c :
         bothFolds(gqa + "key_lengths: true, " + layer(7, true) + kernel(map), square({20}), {"quadratic", "state"}))
      check(c);
    if (std::string(map).find("max") == std::string::npos)
      for (const SpecCase &c : bothFolds(gqa + "causal: true, " + layer(66, false) + kernel(map), square({33}),
                                         {"quadratic", "chunked"}))
        check(c);
  }
}

TEST_F(Specs, FoldedInASmallType) {
  for (const SpecCase &c : bothFolds("dtype: bf16, heads: 2, head_dim: 6, " + layer(70, true) +
                                         kernel("kind: favor_relu, features: 4"),
                                     square({65}), {"state"}))
    check(c);
}

TEST_F(Specs, FoldedWithWindowAndConvolution) {
  for (const SpecCase &c : bothFolds("heads: 2, head_dim: 6, " + layer(8, true) +
                                         kernel("kind: favor_relu, features: 4", ", window: {length: 5}, lepe: {}"),
                                     square({20}), {"quadratic"}))
    check(c);
}
