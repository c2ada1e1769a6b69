// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml | FileCheck %s --check-prefix=PLAN

// Chunks of 32 tokens, priced in multiply-adds of 32×128×128 for each. In chunks of its own a query head's tokens go through the state
// one after another: that takes 1 for what the state gives and 1 to add the keys to it, and 2/128 for the sums of features up to each token,
// which go through a state of one row. Grouped, it takes 1/2 for pairs (1/4 for weights, and as much for values) and 1 for what the state
// gives, and 1 to add the keys is for all four heads of a group. Rows have 128 channels, so that adding the keys takes more than the
// pairs do: in rows of 64 channels pairs would take 1, too, and chunks of one head be cheaper. 32 chunks of 8 heads:
// 32 · 8 · (2 + 1/64) = 516, or 32 · (8 · 3/2 + 2) = 448, and 2 · 136 · 8 = 2176 for all 136 tiles of 64 × 64 pairs.

// CHECK: Remark="linearize: did not take the quadratic form: 4.9 times the price; {{.*}}"
// CHECK: Remark="linearize: did not take the chunked form: 1.2 times the price; {{.*}}"
// CHECK: Remark="linearize: took the grouped form: the cheapest; {{.*}}"
// PLAN-LABEL: func.func @groups(
// PLAN:         attn.causal_readout {{.*}} {execution = #attn.execution<grouped = true>}
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @groups(%q: tensor<1x8x1024x128xf32>, %k: tensor<1x2x1024x128xf32>, %v: tensor<1x2x1024x128xf32>) -> tensor<1x8x1024x128xf32> {
  %o = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>}
      : tensor<1x8x1024x128xf32>, tensor<1x2x1024x128xf32>, tensor<1x2x1024x128xf32> -> tensor<1x8x1024x128xf32>
  return %o : tensor<1x8x1024x128xf32>
}

// -----

// CHECK: Remark="linearize: took the chunked form: the cheapest; {{.*}}"
// CHECK: Remark="linearize: cannot take the grouped form: every query head has keys of its own"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @no_groups(%q: tensor<1x2x1024x64xf32>, %k: tensor<1x2x1024x64xf32>, %v: tensor<1x2x1024x64xf32>) -> tensor<1x2x1024x64xf32> {
  %o = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>}
      : tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32> -> tensor<1x2x1024x64xf32>
  return %o : tensor<1x2x1024x64xf32>
}

// -----

// CHECK: Remark="linearize: cannot take the grouped form: every query head maps the keys in a way of its own"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @own_features(%q: tensor<1x4x1024x64xf32>, %k: tensor<1x2x1024x64xf32>, %v: tensor<1x2x1024x64xf32>,
                        %w: tensor<4x64x64xf32>) -> tensor<1x4x1024x64xf32> {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<4x64x64xf32>)
      {causal, denominator = #none, feature_map = #attn.feature_map<favor_relu, features = 64, epsilon = 0.0>}
      : tensor<1x4x1024x64xf32>, tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32> -> tensor<1x4x1024x64xf32>
  return %o : tensor<1x4x1024x64xf32>
}

// -----

// CHECK: Remark="linearize: cannot take the grouped form: chunks order queries and keys, and this attention is not causal"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @not_causal(%q: tensor<1x4x64x64xf32>, %k: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x64xf32>) -> tensor<1x4x64x64xf32> {
  %o = attn.kernel %q, %k, %v {denominator = #none, feature_map = #attn.feature_map<elu1>}
      : tensor<1x4x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x4x64x64xf32>
  return %o : tensor<1x4x64x64xf32>
}

// -----

// CHECK: Remark="linearize: cannot take the grouped form: the blocks of a window would each have a state of their own"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @windowed(%q: tensor<1x4x64x64xf32>, %k: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x64xf32>) -> tensor<1x4x64x64xf32> {
  %o = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>, window = #attn.window<16>}
      : tensor<1x4x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x4x64x64xf32>
  return %o : tensor<1x4x64x64xf32>
}

// -----

// CHECK: Remark="linearize: cannot take the grouped form: every query head sketches the keys in a way of its own"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @sketched(%q: tensor<1x2x256x128xf32>, %k: tensor<1x1x256x128xf32>, %v: tensor<1x1x256x128xf32>,
                    %s0: tensor<2x128xf32> {attn.parameter}, %s1: tensor<2x128xf32> {attn.parameter}, %sa: tensor<2x8xf32> {attn.parameter}, %sb: tensor<2x8xf32> {attn.parameter},
                    %i0: tensor<2x8xi32> {attn.parameter}, %i1: tensor<2x8xi32> {attn.parameter}, %ia: tensor<2x8xi32> {attn.parameter}, %ib: tensor<2x8xi32> {attn.parameter}) -> tensor<1x2x256x128xf32> {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %sa, %sb : tensor<2x128xf32>, tensor<2x128xf32>, tensor<2x8xf32>, tensor<2x8xf32>)
      indices(%i0, %i1, %ia, %ib : tensor<2x8xi32>, tensor<2x8xi32>, tensor<2x8xi32>, tensor<2x8xi32>)
      {causal, degree = 4 : i64, denominator = #none, scale = 1.0 : f64, size = 8 : i64}
      : tensor<1x2x256x128xf32>, tensor<1x1x256x128xf32>, tensor<1x1x256x128xf32> -> tensor<1x2x256x128xf32>
  return %o : tensor<1x2x256x128xf32>
}
