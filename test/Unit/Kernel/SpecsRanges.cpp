//===- SpecsRanges.cpp - Finite outputs of large inputs -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

/// Inputs of magnitude 1e3, beyond what tolerances are promised for.
static SpecCase extreme(const std::string &fields, const std::string &form = "") {
  SpecCase result{"heads: 4, kv_heads: 2, " + fields, square({20}), {form}};
  result.magnitude = 300, result.finite = true, result.tiles = Tiles::Chosen;
  return result;
}

/// Rows of q and k whose Euclidean norm is about `magnitude` √d.
static SpecCase large(const std::string &fields, double magnitude) {
  return {"heads: 4, kv_heads: 2, " + fields, {{20, 30}}, {""}, 1e-11, magnitude, Tiles::Chosen};
}

TEST_F(Specs, EndOfTheRange) {
  for (const char *mechanism :
       {"kind: softmax", "kind: softmax, low_rank: {rank: 4}", "kind: effatt", "kind: agent, agents: 5",
        "kind: eva, window: {length: 6}, chunk: 3", "kind: kernel, feature_map: {kind: elu1}",
        "kind: kernel, feature_map: {kind: relu}", "kind: kernel, feature_map: {kind: cosformer, max_position: 40}",
        "kind: kernel, feature_map: {kind: focused}", "kind: kernel, feature_map: {kind: focused, power: 6.5}"})
    for (const char *width : {"3", "64"})
      for (const char *dtype : {"f32", "f16"})
        check(large(std::string("dtype: ") + dtype + ", head_dim: " + width + ", mechanism: {" + mechanism + "}", 30));
  for (const char *map :
       {"features: 7", "features: 65, stabilizer: max, epsilon: 0.01", "features: 9, stabilizer: none",
        "features: 65, stabilizer: projection, epsilon: 0.01", "features: 65, epsilon: 0.001"})
    for (const char *width : {"3", "64"})
      for (const char *dtype : {"f32", "f16"})
        check(large(std::string("dtype: ") + dtype + ", head_dim: " + width +
                        ", mechanism: {kind: kernel, feature_map: {kind: favor, " + map + "}}",
                    6));
}

TEST_F(Specs, FiniteBeyondTheRange) {
  const char *mechanisms[] = {"kind: softmax",
                              "kind: softmax, window: {length: 5}, lepe: {}",
                              "kind: softmax, low_rank: {rank: 4}",
                              "kind: effatt",
                              "kind: agent, agents: 4",
                              "kind: eva, window: {length: 4}, chunk: 10",
                              "kind: eva, chunk: 5, mass: true",
                              "kind: polynomial, degree: 4",
                              "kind: polynomial, degree: 16, denominator: {bias: 1}",
                              "kind: polysketch, degree: 8, size: 16"};
  for (const char *mechanism : mechanisms)
    for (const char *width : {"3", "64"})
      for (const char *dtype : {"f32", "f16", "bf16"})
        check(extreme(std::string("dtype: ") + dtype + ", head_dim: " + width + ", mechanism: {" + mechanism + "}"));
}

TEST_F(Specs, FeatureMapsFiniteBeyondTheRange) {
  const char *maps[] = {"elu1",
                        "relu",
                        "cosformer, max_position: 20",
                        "focused",
                        "focused, power: 7",
                        "focused, power: 40",
                        "focused, power: 1e30, epsilon: 1e-30",
                        "favor_relu, features: 7",
                        "favor_relu, features: 7, normalize: true",
                        "favor, features: 7",
                        "favor, features: 7, stabilizer: max",
                        "favor, features: 7, stabilizer: max, epsilon: 0.01",
                        "favor, features: 7, stabilizer: projection, epsilon: 0.01",
                        "favor, features: 7, epsilon: 0.01"};
  for (const char *map : maps)
    for (const char *width : {"3", "64"})
      for (const char *dtype : {"f32", "f16"})
        for (const char *form : {"quadratic", "state", "chunked"}) {
          bool causal = std::string(form) == "chunked";
          if (causal && std::string(map).find("epsilon: 0.01") != std::string::npos &&
              std::string(map).find("stabilizer") != std::string::npos)
            continue;
          check(extreme(std::string("dtype: ") + dtype + ", head_dim: " + width + (causal ? ", causal: true" : "") +
                            ", mechanism: {kind: kernel, feature_map: {kind: " + map + "}}",
                        form));
        }
}
