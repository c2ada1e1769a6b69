// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=x86-64-avx512 pin=project_out:epilogue" -verify-diagnostics
// RUN: not attn-opt %s -split-input-file -attn-select-rewrites="device=x86-64-avx512 pin=project_out:epilogue,linearize:fused_state" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FUSED
// RUN: not attn-opt %s -split-input-file -attn-select-rewrites="device=x86-64-avx512 pin=project_out:epilogue,linearize:chunked" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CHUNKED
// RUN: not attn-opt %s -split-input-file -attn-select-rewrites="device=x86-64-avx512 pin=project_out:epilogue,keys:split" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SPLIT

// Where heads meet in no kernel, or are stored for others.

#none = #attn.denominator<bias = 0.0, floor = 0.0>
!t = tensor<1x2x16x8xf32>
!h = tensor<1x1x16x8xf32>
!w = tensor<16x12xf32>
!y = tensor<1x16x12xf32>
func.func @argument(%o: !t, %q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> (!y, !t) {
  %a = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !t, !t, !t -> !t
  // expected-error @below {{got the pin project_out: epilogue; the heads are an argument, which no kernel computes}}
  // expected-note @below {{pin one of materialized, or leave the choice to the cost model}}
  %y = attn.project_output %o, %wo : !t, !w -> !y
  return %y, %a : !y, !t
}

// -----

!t = tensor<1x2x16x8xf32>
!w = tensor<16x12xf32>
!y = tensor<1x16x12xf32>
func.func @read_twice(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> (!y, !t) {
  %a = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !t, !t, !t -> !t
  // expected-error @below {{got the pin project_out: epilogue; the heads are read by others too, so that they are stored anyway}}
  // expected-note @below {{pin one of materialized, or leave the choice to the cost model}}
  %y = attn.project_output %a, %wo : !t, !w -> !y
  return %y, %a : !y, !t
}

// -----

!t = tensor<1x2x16x8xf32>
!h = tensor<1x1x16x8xf32>
!w = tensor<16x12xf32>
!y = tensor<1x16x12xf32>
func.func @parts(%q: !h, %k: !h, %v: !h, %wo: !w {attn.name = "wo"}) -> !y {
  %a = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !h, !h, !h -> !h
  %b = attn.effatt %q, %k, %v : !h, !h, !h -> !h
  %o = attn.concat_heads %a, %b : !h, !h -> !t
  // expected-error @below {{got the pin project_out: epilogue; the parts of a mixture have kernels of their own, and no kernel has all heads of a token}}
  // expected-note @below {{pin one of materialized, or leave the choice to the cost model}}
  %y = attn.project_output %o, %wo : !t, !w -> !y
  return %y : !y
}

// -----

!t = tensor<1x2x16x8xf32>
!w = tensor<16x12xf32>
!y = tensor<1x16x12xf32>
func.func @eva(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> !y {
  %a = attn.eva %q, %k, %v {chunk = 4 : i64, local = 8 : i64, mu_weight = 0.5 : f64, scale = 0.5 : f64} : !t, !t, !t -> !t
  // expected-error @below {{got the pin project_out: epilogue; the kernels of eva hold one head at a time}}
  // expected-note @below {{pin one of materialized, or leave the choice to the cost model}}
  %y = attn.project_output %a, %wo : !t, !w -> !y
  return %y : !y
}

// -----

!t = tensor<1x2x16x8xf32>
!w = tensor<16x?xf32>
!y = tensor<1x16x?xf32>
func.func @unknown_width(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> !y {
  %a = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !t, !t, !t -> !t
  // expected-error @below {{got the pin project_out: epilogue; the width of the output is known only to a run}}
  // expected-note @below {{pin one of materialized, or leave the choice to the cost model}}
  %y = attn.project_output %a, %wo : !t, !w -> !y
  return %y : !y
}

// -----

// With the pin alone another form is taken; with a pin of a form whose programs have one head there is no plan.
// FUSED: error: expected a plan that x86-64-avx512 can run, but found none: a kernel that keeps a state has all tokens of one head, and no kernel has all heads of a token
// FUSED: note: without the pins there is one
!t = tensor<1x2x16x8xf32>
!w = tensor<16x12xf32>
!y = tensor<1x16x12xf32>
func.func @state(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> !y {
  %a = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : !t, !t, !t -> !t
  %y = attn.project_output %a, %wo : !t, !w -> !y
  return %y : !y
}

// -----

// CHUNKED: error: expected a plan that x86-64-avx512 can run, but found none: chunks follow one another within a head, and no kernel has all heads of a token
// CHUNKED: note: without the pins there is one
!t = tensor<1x2x16x8xf32>
!w = tensor<16x12xf32>
!y = tensor<1x16x12xf32>
func.func @causal(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> !y {
  %a = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : !t, !t, !t -> !t
  %y = attn.project_output %a, %wo : !t, !w -> !y
  return %y : !y
}

// -----

// SPLIT: error: expected a plan that x86-64-avx512 can run, but found none: each head ends in a program of its own, where its last piece of keys arrives, and none has all heads of a token
// SPLIT: note: without the pins there is one
!t = tensor<1x2x16x8xf32>
!w = tensor<16x12xf32>
!y = tensor<1x16x12xf32>
func.func @pieces(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> !y {
  %a = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !t, !t, !t -> !t
  %y = attn.project_output %a, %wo : !t, !w -> !y
  return %y : !y
}

// -----

// The logarithms of sums are stored head by head.
!t = tensor<1x2x16x8xf32>
!w = tensor<16x12xf32>
!y = tensor<1x16x12xf32>
func.func @sums(%q: !t, %k: !t, %v: !t, %wo: !w {attn.name = "wo"}) -> (!y, tensor<1x2x16xf32>) {
  %a, %lse = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !t, !t, !t -> !t, lse tensor<1x2x16xf32>
  // expected-error @below {{got the pin project_out: epilogue; the kernel of softmax has other results, which are stored head by head}}
  // expected-note @below {{pin one of materialized, or leave the choice to the cost model}}
  %y = attn.project_output %a, %wo : !t, !w -> !y
  return %y, %lse : !y, tensor<1x2x16xf32>
}
