//===- SpecsLayer.cpp - Projections, rotations, normalisation, parts ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

/// Frequencies of rotations are pairs of f32, so angles have 48 bits: of position 3,000, an absolute 1e-11.
static const double rotated = 1e-11;

TEST_F(Specs, Rope) {
  for (const char *layout : {"interleaved", "half"})
    for (const char *kind : {"kind: softmax", "kind: kernel, feature_map: {kind: elu1}"}) {
      std::string fields = std::string("rope: {layout: ") + layout + "}, mechanism: {" + kind + "}";
      check({"heads: 2, head_dim: 2, " + fields, {{1, 1}, {65, 2}, {63, 130}}, {""}, rotated});
      check({"heads: 4, kv_heads: 2, head_dim: 40, value_dim: 3, key_lengths: true, " + fields,
             {{2, 63}, {9, 65}},
             {""},
             rotated});
    }
  check({"heads: 2, head_dim: 6, causal: true, rope: {base: 50}, mechanism: {kind: softmax}",
         {{1, 130}, {63, 65}, {65, 65}, {65, 9}},
         {""},
         rotated});
  check({"heads: 2, head_dim: 6, causal: true, rope: {}, mechanism: {kind: kernel, feature_map: {kind: elu1}}",
         square({65}),
         {"quadratic", "chunked"},
         rotated});
}

TEST_F(Specs, RopeFarAway) {
  check({"heads: 1, head_dim: 4, rope: {}, mechanism: {kind: softmax}",
         {{3000, 3}, {3, 3000}},
         {""},
         rotated,
         1,
         Tiles::Chosen,
         1});
  check({"heads: 1, head_dim: 4, causal: true, rope: {layout: half}, mechanism: {kind: softmax}",
         {{3, 3000}},
         {""},
         rotated,
         1,
         Tiles::Chosen,
         1});
}

TEST_F(Specs, QkNorm) {
  for (const char *kind : {"kind: softmax", "kind: kernel, feature_map: {kind: elu1}", "kind: polynomial, degree: 2",
                           "kind: polysketch, degree: 4, size: 4", "kind: agent, agents: 1"})
    for (int width : {1, 3, 40})
      check({"heads: 2, head_dim: " + std::to_string(width) +
                 ", value_dim: 3, key_lengths: true, qk_norm: {epsilon: 1e-3}, " + "mechanism: {" + kind + "}",
             {{9, 65}}});
  check({"heads: 2, head_dim: 6, rope: {}, qk_norm: {}, causal: true, mechanism: {kind: softmax}",
         {{65, 65}},
         {""},
         rotated});
}

TEST_F(Specs, Projections) {
  for (const char *kind : {"kind: softmax", "kind: kernel, feature_map: {kind: elu1}"})
    for (const char *bias : {"true", "false"})
      for (const char *output : {"true", "false"}) {
        std::string options = std::string("projection: {model_dim: 9, bias: ") + bias + ", output: " + output;
        std::string mechanism = std::string("}, mechanism: {") + kind + "}";
        check({"heads: 2, head_dim: 3, value_dim: 5, causal: true, " + options + mechanism, square({1, 65})});
        check({"heads: 4, kv_heads: 2, head_dim: 5, value_dim: 3, key_lengths: true, " + options + ", cross: true" +
                   mechanism,
               {{2, 63}, {65, 2}, {64, 65}}});
      }
  check({"dtype: bf16, heads: 4, kv_heads: 1, head_dim: 6, projection: {model_dim: 70, bias: true}, rope: {}, qk_norm: "
         "{}, "
         "mechanism: {kind: softmax}",
         square({65}),
         {""},
         rotated});
}

TEST_F(Specs, ProjectionsOfMissingKeys) {
  // Queries exist where keys do not: they are finite here.
  check({"heads: 2, head_dim: 3, key_lengths: true, projection: {model_dim: 5, bias: true}, mechanism: {kind: softmax, "
         "lepe: {}}",
         square({2, 65})});
  check({"heads: 2, head_dim: 3, key_lengths: true, projection: {model_dim: 5, bias: true}, mechanism: {kind: softmax, "
         "low_rank: {rank: 4}}",
         square({65})});
}

TEST_F(Specs, ProjectedMechanisms) {
  std::string layer =
      "heads: 2, head_dim: 4, value_dim: 3, projection: {model_dim: 7, bias: true}, rope: {}, qk_norm: {}, ";
  for (const char *mechanism : {"kind: polynomial, degree: 4, lepe: {}", "kind: polysketch, degree: 4, size: 4",
                                "kind: agent, agents: 5", "kind: eva, window: {length: 5}, chunk: 10, lepe: {}",
                                "kind: softmax, low_rank: {rank: 3}, lepe: {grid: [4, 5]}",
                                "kind: softmax, window: {grid: [4, 5], size: [2, 5]}, lepe: {}",
                                "kind: eva, chunk: 1, low_rank: {rank: 4, tied: false}"})
    check({layer + "mechanism: {" + mechanism + "}", square({20}), {""}, rotated});
}

TEST_F(Specs, Parts) {
  const std::string image = "{heads: 2, mechanism: {kind: softmax, window: {grid: [6, 10], size: [3, 5]}, lepe: {}}}",
                    line = "{heads: 2, mechanism: {kind: softmax, window: {length: 15}, lepe: {bias: true}}}",
                    elu1 = "{heads: 4, mechanism: {kind: kernel, feature_map: {kind: elu1}, lepe: {grid: [6, 10]}}}",
                    low = "{heads: 2, mechanism: {kind: softmax, low_rank: {rank: 5, per_head: true}}}",
                    agent = "{heads: 2, mechanism: {kind: agent, agents: 6}}",
                    eva = "{heads: 2, mechanism: {kind: eva, window: {length: 6}, chunk: 4}}",
                    power = "{heads: 4, mechanism: {kind: polynomial, degree: 4, lepe: {}}}",
                    sketch = "{heads: 2, mechanism: {kind: polysketch, degree: 4, size: 4}}",
                    deep = "{heads: 2, mechanism: {kind: polysketch, degree: 8, size: 2, local_exact: 15}}",
                    shallow = "{heads: 2, mechanism: {kind: polysketch, degree: 4, size: 8, denominator: {bias: 1}}}";
  std::string gqa = "heads: 8, kv_heads: 4, head_dim: 4, value_dim: 3, ";
  check({gqa + "parts: [" + image + ", " + line + ", " + elu1 + "]", square({60})});
  check({gqa + "key_lengths: true, parts: [" + low + ", " + elu1 + ", " + eva + "]", square({60})});
  check({gqa + "key_lengths: true, qk_norm: {}, parts: [" + sketch + ", " + power + ", " + agent + "]", square({60})});
  for (const char *form : {"quadratic", "chunked"})
    check({gqa + "causal: true, rope: {}, parts: [" + deep + ", " + shallow +
               ", {heads: 4, mechanism: {kind: kernel, feature_map: {kind: elu1}}}]",
           square({60}),
           {form},
           rotated});
  check(
      {gqa + "projection: {model_dim: 6}, rope: {}, parts: [" + low + ", " + sketch + ", " + agent + ", " + image + "]",
       square({60}),
       {""},
       rotated});
  check({gqa + "projection: {model_dim: 6, cross: true, output: false}, key_lengths: true, parts: [" + eva + ", " +
             sketch + ", " + power + "]",
         square({60})});
}
