// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=sm_80 -verify-diagnostics | FileCheck %s
// RUN: not attn-opt %s -split-input-file -attn-select-rewrites=device=sm_80 --remarks-filter=attn-select-rewrites 2>&1 -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK

// The smallest tiles, 16 queries, keys and values, and 16 × 16 weights on their way to be an operand; bf16, one stage:
// (16 · 8192 + 16 · (8192 + 8192) + 16 · 16) · 2 = 786,944 bytes, and a thread block of an A100 has 166,912. Slices of rows are for
// up to 4,096 channels.
func.func @wide(%q: tensor<1x1x9x8192xbf16>, %k: tensor<1x1x9x8192xbf16>, %v: tensor<1x1x9x8192xbf16>) -> tensor<1x1x9x8192xbf16> {
  // expected-error @+2 {{expected a plan that a100-40gb can run, but found none: no schedule fits: expected tiles of at most 166912 bytes of shared memory on a100-40gb, but got 786944}}
  // expected-note @below {{what would fit, other sizes as they are: head_dim and value_dim up to 4096; `--target cpu`}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x9x8192xbf16>, tensor<1x1x9x8192xbf16>, tensor<1x1x9x8192xbf16> -> tensor<1x1x9x8192xbf16>
  return %o : tensor<1x1x9x8192xbf16>
}

// -----

// Features could be stored by a kernel of their own, too, which GPUs do not support. Told is what the plain form lacks. With the
// smallest tiles, features of 16 queries, 16 keys and values, the features of the keys, and 16 × 16 weights; bf16, one stage:
// (16 · 8192 + 16 · (8192 + 8192) + 16 · 8192 + 16 · 16) · 2 = 1,049,088 bytes.
func.func @wide_features(%q: tensor<1x1x9x8192xbf16>, %k: tensor<1x1x9x8192xbf16>, %v: tensor<1x1x9x8192xbf16>) -> tensor<1x1x9x8192xbf16> {
  // expected-error @+2 {{can run, but found none: no schedule fits: expected tiles of at most 166912 bytes of shared memory on a100-40gb, but got 1049088}}
  // expected-note @below {{`--target cpu` has limits that are far wider}}
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x9x8192xbf16>, tensor<1x1x9x8192xbf16>, tensor<1x1x9x8192xbf16> -> tensor<1x1x9x8192xbf16>
  return %o : tensor<1x1x9x8192xbf16>
}

// -----

// Eight warps side by side, 24 columns each, carry 176 · 192 / 256 = 132 elements a thread of a 176×176 state, beside 16 · 64 / 256 = 4
// scores and 16 · 192 / 256 = 12 outputs of chunks of 16. So the quadratic form runs up to long sequences: on 4×2 warps, as 4×1 would hold 32 scores,
// 88 outputs and 44 pairs of queries. Behind them chunks of which a program has 64 values.
// REMARK:      took the chunked form: the cheapest from n = 20737
// CHECK-LABEL: func.func @state_too_large(
// CHECK-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
// CHECK-SAME:    #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = bf16, warps = 8, stages = 2, warp_columns = 2>
// CHECK-LABEL: func.func @state_too_large__chunked(
// CHECK-SAME:    attn.plan = #attn.plan<form = chunked, from = 20737>
// CHECK-SAME:    #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048, operand = bf16, warps = 8, stages = 1, warp_columns = 4, feature_tile = 64, value_tile = 64>
func.func @state_too_large(%q: tensor<?x1x?x176xbf16>, %k: tensor<?x1x?x176xbf16>, %v: tensor<?x1x?x176xbf16>) -> tensor<?x1x?x176xbf16> {
  %o = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<?x1x?x176xbf16>, tensor<?x1x?x176xbf16>, tensor<?x1x?x176xbf16> -> tensor<?x1x?x176xbf16>
  return %o : tensor<?x1x?x176xbf16>
}
