// What the verifiers of attention over features refuse.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

!a = tensor<1x4x6x8xf32>
!v = tensor<1x4x6x3xf32>
!l = tensor<1x4x6xf32>
#none = #attn.denominator<bias = 0.0, floor = 0.0>

// A105
func.func @f(%a: !a, %b: tensor<1x4x6x7xf32>, %v: !v) {
  // expected-error @below {{expected key of 1x4x6x8, but got 1x4x6x7}}
  %o, %l = attn.feature_attention %a, %b, %v {guard = #none} : !a, tensor<1x4x6x7xf32>, !v -> !v, !l
  return
}

// -----

!a = tensor<1x4x6x8xf32>
!v = tensor<1x4x6x3xf32>
!l = tensor<1x4x6xf32>
#none = #attn.denominator<bias = 0.0, floor = 0.0>

// A9
func.func @f(%a: !a, %b: tensor<1x3x6x8xf32>, %v: tensor<1x3x6x3xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 4, but got 3}}
  %o, %l = attn.feature_attention %a, %b, %v {guard = #none} : !a, tensor<1x3x6x8xf32>, tensor<1x3x6x3xf32> -> !v, !l
  return
}

// -----

!a = tensor<1x4x6x8xf32>
!b = tensor<1x4x9x8xf32>
!v = tensor<1x4x9x3xf32>
!o = tensor<1x4x6x3xf32>
!l = tensor<1x4x6xf32>
#none = #attn.denominator<bias = 0.0, floor = 0.0>

// A105
func.func @f(%a: !a, %b: !b, %v: !v) {
  // expected-error @below {{expected as many queries as keys with causal, but got 6 and 9}}
  %o, %l = attn.feature_attention %a, %b, %v {causal, guard = #none} : !a, !b, !v -> !o, !l
  return
}

// -----

!a = tensor<1x4x6x8xf32>
!v = tensor<1x4x6x3xf32>
!l = tensor<1x4x6xf32>

// A20
func.func @f(%a: !a, %v: !v, %l: !l) {
  // expected-error @below {{expected a window whose length divides 6, but got 4}}
  %x = attn.feature_query_gradient %a, %a, %v lse(%l : !l) cotangents(%v, %l : !v, !l) {window = #attn.window<4>} : !a, !a, !v -> !a
  return
}

// -----

!a = tensor<1x4x6x8xf32>
!v = tensor<1x4x6x3xf32>
!l = tensor<1x4x6xf32>

// A105
func.func @f(%a: !a, %v: !v, %l: !l, %s: tensor<1x4x5xf32>) {
  // expected-error @below {{expected sums of 1x4x6, but got 1x4x5}}
  %x = attn.feature_query_gradient %a, %a, %v lse(%l : !l) cotangents(%v, %s : !v, tensor<1x4x5xf32>) : !a, !a, !v -> !a
  return
}

// -----

!a = tensor<1x4x6x8xf32>
!v = tensor<1x4x6x3xf32>
!l = tensor<1x4x6xf32>

// A105
func.func @f(%a: !a, %v: !v, %l: !l) {
  // expected-error @below {{expected values of 1x4x6x3, but got 1x4x6x8}}
  %y, %z = attn.feature_key_gradients %a, %a, %v lse(%l : !l) cotangents(%v, %l : !v, !l) : !a, !a, !v -> !a, !a
  return
}

// -----

!a = tensor<1x4x6x8xf32>
!v = tensor<1x4x6x3xf32>
!l = tensor<1x4x6xf32>

// A3
func.func @f(%a: !a, %v: !v, %l: !l, %n: tensor<2xi32>) {
  // expected-error @below {{expected lengths of}}
  %y, %z = attn.feature_key_gradients %a, %a, %v lse(%l : !l) cotangents(%v, %l : !v, !l) lengths(%n : tensor<2xi32>) : !a, !a, !v -> !a, !v
  return
}
