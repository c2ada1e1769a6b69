// RUN: attn-opt %s --split-input-file --verify-diagnostics

!x = tensor<1x2x98x8xf32>
// A62: each query sees one key at least.
func.func @f(%q: !x) {
  // expected-error @below {{expected `last` of at least 1, but got 0}}
  %o = attn.softmax %q, %q, %q {causal, last = 0 : i64, scale = 1.0 : f64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<1x2x98x8xf32>
// A62: the last keys are counted back from the query.
func.func @f(%q: !x) {
  // expected-error @below {{expected `last` with causal and without a window, but got it without causal}}
  %o = attn.softmax %q, %q, %q {last = 3 : i64, scale = 1.0 : f64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<1x2x98x8xf32>
// A62, of polynomials.
func.func @f(%q: !x) {
  // expected-error @below {{expected `last` with causal and without a window, but got it with a window}}
  %o = attn.polynomial %q, %q, %q {causal, degree = 2 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, last = 3 : i64, scale = 1.0 : f64, window = #attn.window<49>} : !x, !x, !x -> !x
  return
}

// -----

// A62, of terms.
func.func @f(%w: tensor<1x2x98x98xf32>) {
  // expected-error @below {{expected `last` of at least 1, but got -1}}
  %v = attn.visible %w {causal, last = -1 : i64} : tensor<1x2x98x98xf32>
  return
}

// -----

!x = tensor<1x2x98x8xf32>
// A63: what bounds logits is above 0.
func.func @f(%q: !x) {
  // expected-error @below {{expected a finite softcap above 0, but got 0}}
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64, softcap = 0.0 : f64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<1x2x98x8xf32>
// A64: a slope of each query head.
func.func @f(%q: !x, %m: tensor<3xf32>) {
  // expected-error @below {{expected slopes of 2, but got 3}}
  %o = attn.softmax %q, %q, %q slopes(%m : tensor<3xf32>) {scale = 1.0 : f64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<1x2x98x8xf32>
// A53: few keys are not split.
func.func @f(%q: !x) {
  // expected-error @below {{expected no split of the keys of a window, whose blocks run side by side anyway}}
  %o = attn.softmax %q, %q, %q {causal, execution = #attn.execution<split = true>, last = 3 : i64, scale = 1.0 : f64} : !x, !x, !x -> !x
  return
}

// -----

// A window of an image has two sizes.
// expected-error @below {{expected a window <LENGTH>, or <ROWSxCOLUMNS of GRIDROWSxGRIDCOLUMNS>}}
func.func private @f() attributes {w = #attn.window<7 of 7>}

// -----

// Lengths are not negative.
// expected-error @below {{expected a plan from a length of at least 0 on, but got -3}}
func.func private @f() attributes {attn.plan = #attn.plan<form = online, from = -3>}
