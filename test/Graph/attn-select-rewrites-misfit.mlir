// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=sm_80 -verify-diagnostics | FileCheck %s
// RUN: not attn-opt %s -split-input-file -attn-select-rewrites=device=sm_80 --remarks-filter=attn-select-rewrites 2>&1 -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK

// 64 queries and the smallest tile of 16 keys and values, bf16, one stage: (64 · 1024 + 16 · (1024 + 1024)) · 2 = 196,608
// bytes, and a thread block of an A100 has 166,912.
// expected-error @below {{expected a plan that sm_80 can run, but found none: no schedule fits: expected tiles of at most 166912 bytes of shared memory on sm_80, but got 196608}}
func.func @wide(%q: tensor<1x1x9x1024xbf16>, %k: tensor<1x1x9x1024xbf16>, %v: tensor<1x1x9x1024xbf16>) -> tensor<1x1x9x1024xbf16> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x9x1024xbf16>, tensor<1x1x9x1024xbf16>, tensor<1x1x9x1024xbf16> -> tensor<1x1x9x1024xbf16>
  return %o : tensor<1x1x9x1024xbf16>
}

// -----

// A thread that carries 1/128 of a 128×128 state beside scores and outputs has no registers left, even with chunks of 16,
// which are 64 rows to four warps: 8 + 64 + 128. So the chunked form is no plan, and the quadratic one runs at all lengths.
// REMARK:      cannot take the chunked form: no schedule fits: expected at most 108 accumulators a thread on sm_80, but got 200
// CHECK-LABEL: func.func @state_too_large(
// CHECK-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
// CHECK-SAME:    #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = bf16, warps = 4, stages = 2>
// CHECK-NOT:   func.func @state_too_large__
func.func @state_too_large(%q: tensor<?x1x?x128xbf16>, %k: tensor<?x1x?x128xbf16>, %v: tensor<?x1x?x128xbf16>) -> tensor<?x1x?x128xbf16> {
  %o = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<?x1x?x128xbf16>, tensor<?x1x?x128xbf16>, tensor<?x1x?x128xbf16> -> tensor<?x1x?x128xbf16>
  return %o : tensor<?x1x?x128xbf16>
}
