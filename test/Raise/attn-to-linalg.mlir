// RUN: attn-opt %s -split-input-file -attn-to-linalg -cse -canonicalize | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-to-linalg | FileCheck %s --check-prefix=ALL
// RUN: %python %S/Inputs/run_linalg.py %s | FileCheck %s --check-prefix=EQUAL
// EQUAL-COUNT-11: equal: {{.*}} (terms)

// No op of attn is left.
// ALL-NOT: attn.

// Four query heads share two heads of keys: heads are [2, 2] until the output. Both products are contractions without
// anything else in their bodies.

// CHECK-LABEL: func.func @softmax
// CHECK-SAME:    %[[Q:.*]]: tensor<1x4x6x8xf32>, %[[K:.*]]: tensor<1x2x6x8xf32>, %[[V:.*]]: tensor<1x2x6x4xf32>
// CHECK:         %[[HEADS:.*]] = tensor.expand_shape %[[Q]] {{\[}}[0], [1, 2], [3], [4]] output_shape [1, 2, 2, 6, 8]
// CHECK:         linalg.generic {{.*}} "reduction"]} ins(%[[HEADS]], %[[K]] :
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[C]], %[[P]]
// CHECK-NEXT:      linalg.yield %[[S]]
// CHECK:         arith.cmpi sle
// CHECK:         math.exp
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[V]] :
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK:         tensor.collapse_shape {{.*}} into tensor<1x4x6x4xf32>
func.func @softmax(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x4xf32>) -> tensor<1x4x6x4xf32> {
  %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64} : tensor<1x4x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x4xf32> -> tensor<1x4x6x4xf32>
  return %o : tensor<1x4x6x4xf32>
}

// -----

// The state form stays a state: no tensor of queries and keys.

// CHECK-LABEL: func.func @state_form
// CHECK-NOT:     tensor<1x2x30x40xf32>
func.func @state_form(%q: tensor<1x2x30x8xf32>, %k: tensor<1x2x40x8xf32>, %v: tensor<1x2x40x4xf32>) -> tensor<1x2x30x4xf32> {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<1x2x30x8xf32> -> tensor<1x2x30x8xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x2x40x8xf32> -> tensor<1x2x40x8xf32>
  %s, %z = attn.state %b, %v : tensor<1x2x40x8xf32>, tensor<1x2x40x4xf32> -> tensor<1x2x8x4xf32>, tensor<1x2x8xf32>
  %num, %den = attn.readout %a, %s, %z : tensor<1x2x30x8xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8xf32> -> tensor<1x2x30x4xf32>, tensor<1x2x30xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 1.000000e-06>} : tensor<1x2x30x4xf32>, tensor<1x2x30xf32> -> tensor<1x2x30x4xf32>
  return %o : tensor<1x2x30x4xf32>
}

// -----

// Two pieces of the keys and their merge; the second piece has no key that the first queries see.

// CHECK-LABEL: func.func @pieces
func.func @pieces(%q: tensor<1x2x7x8xf32>, %k: tensor<1x1x7x8xf32>, %v: tensor<1x1x7x4xf32>) -> tensor<1x2x7x4xf32> {
  %m1, %l1, %acc1 = attn.softmax_partial %q, %k, %v {causal, piece = 0 : i64, pieces = 2 : i64, scale = 5.000000e-01 : f64} : tensor<1x2x7x8xf32>, tensor<1x1x7x8xf32>, tensor<1x1x7x4xf32> -> tensor<1x2x7xf32>, tensor<1x2x7xf32>, tensor<1x2x7x4xf32>
  %m2, %l2, %acc2 = attn.softmax_partial %q, %k, %v {causal, piece = 1 : i64, pieces = 2 : i64, scale = 5.000000e-01 : f64} : tensor<1x2x7x8xf32>, tensor<1x1x7x8xf32>, tensor<1x1x7x4xf32> -> tensor<1x2x7xf32>, tensor<1x2x7xf32>, tensor<1x2x7x4xf32>
  %m, %l, %acc = attn.softmax_merge (%m1, %l1, %acc1), (%m2, %l2, %acc2) : tensor<1x2x7xf32>, tensor<1x2x7x4xf32>
  %o, %lse = attn.softmax_finish %m, %l, %acc : tensor<1x2x7xf32>, tensor<1x2x7x4xf32> -> tensor<1x2x7x4xf32>
  return %o : tensor<1x2x7x4xf32>
}

// -----

// The logarithm of the sum of exponentials.

// CHECK-LABEL: func.func @lse
// CHECK:         math.log
func.func @lse(%q: tensor<2x2x5x8xf32>, %k: tensor<2x1x9x8xf32>, %v: tensor<2x1x9x4xf32>) -> tensor<2x2x5xf32> {
  %o, %lse = attn.softmax %q, %k, %v {scale = 5.000000e-01 : f64} : tensor<2x2x5x8xf32>, tensor<2x1x9x8xf32>, tensor<2x1x9x4xf32> -> tensor<2x2x5x4xf32>, lse tensor<2x2x5xf32>
  return %lse : tensor<2x2x5xf32>
}

// -----

// A sequence continued from a state, and the state after it.

// CHECK-LABEL: func.func @continued
func.func @continued(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x4xf32>, %s0: tensor<1x2x8x4xf32>, %z0: tensor<1x2x8xf32>) -> tensor<1x4x5x4xf32> {
  %o, %s, %z = attn.kernel %q, %k, %v initial(%s0, %z0 : tensor<1x2x8x4xf32>, tensor<1x2x8xf32>) {causal, denominator = #attn.denominator<bias = 9.000000e+00, floor = 0.000000e+00>, feature_map = #attn.feature_map<elu1>} : tensor<1x4x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x4xf32> -> tensor<1x4x5x4xf32>, final tensor<1x2x8x4xf32>, tensor<1x2x8xf32>
  return %o : tensor<1x4x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @final_state
func.func @final_state(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x4xf32>, %s0: tensor<1x2x8x4xf32>, %z0: tensor<1x2x8xf32>) -> tensor<1x2x8x4xf32> {
  %o, %s, %z = attn.kernel %q, %k, %v initial(%s0, %z0 : tensor<1x2x8x4xf32>, tensor<1x2x8xf32>) {causal, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, feature_map = #attn.feature_map<elu1>} : tensor<1x4x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x4xf32> -> tensor<1x4x5x4xf32>, final tensor<1x2x8x4xf32>, tensor<1x2x8xf32>
  %two, %none = attn.state_merge (%s, %z), (%s0, %z0) : tensor<1x2x8x4xf32>, tensor<1x2x8xf32>
  return %two : tensor<1x2x8x4xf32>
}

// -----

// Squares as features, x ⊗ x.

// CHECK-LABEL: func.func @squares
func.func @squares(%q: tensor<1x2x5x3xf32>, %k: tensor<1x2x6x3xf32>, %v: tensor<1x2x6x4xf32>) -> tensor<1x2x5x4xf32> {
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, feature_map = #attn.feature_map<tensor_square>} : tensor<1x2x5x3xf32>, tensor<1x2x6x3xf32>, tensor<1x2x6x4xf32> -> tensor<1x2x5x4xf32>
  return %o : tensor<1x2x5x4xf32>
}

// -----

// The logarithms of EVA's sums: the largest logit and what all are above it.

// CHECK-LABEL: func.func @eva_sums
// CHECK: math.log
func.func @eva_sums(%q: tensor<1x4x12x3xf32>, %k: tensor<1x2x12x3xf32>, %v: tensor<1x2x12x4xf32>) -> tensor<1x4x12xf32> {
  %o, %l = attn.eva %q, %k, %v {chunk = 3 : i64, local = 6 : i64, mu_weight = 0.5 : f64, scale = 0.5 : f64} : tensor<1x4x12x3xf32>, tensor<1x2x12x3xf32>, tensor<1x2x12x4xf32> -> tensor<1x4x12x4xf32>, lse tensor<1x4x12xf32>
  return %l : tensor<1x4x12xf32>
}

// -----

// What EFFATT leaves, by the logarithms of its sums, and what agents do.

// CHECK-LABEL: func.func @effatt_state
// CHECK: math.log
func.func @effatt_state(%q: tensor<1x4x5x3xf32>, %k: tensor<1x2x7x3xf32>, %v: tensor<1x2x7x4xf32>) -> tensor<1x2x3x4xf32> {
  %o, %left:2 = attn.effatt %q, %k, %v : tensor<1x4x5x3xf32>, tensor<1x2x7x3xf32>, tensor<1x2x7x4xf32> -> tensor<1x4x5x4xf32>, left tensor<1x2x3x4xf32>, tensor<1x2x3xf32>
  return %left#0 : tensor<1x2x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @sequence_lse
func.func @sequence_lse(%k: tensor<1x2x7x3xf32>) -> tensor<1x2x3xf32> {
  %l = attn.sequence_lse %k : tensor<1x2x7x3xf32> -> tensor<1x2x3xf32>
  return %l : tensor<1x2x3xf32>
}

// -----

// CHECK-LABEL: func.func @agent_sums
func.func @agent_sums(%q: tensor<1x4x12x3xf32>, %k: tensor<1x2x7x3xf32>, %v: tensor<1x2x7x4xf32>) -> tensor<1x4x12xf32> {
  %o, %l = attn.agent %q, %k, %v {agents = 3 : i64, scale = 0.5 : f64} : tensor<1x4x12x3xf32>, tensor<1x2x7x3xf32>, tensor<1x2x7x4xf32> -> tensor<1x4x12x4xf32>, lse tensor<1x4x12xf32>
  return %l : tensor<1x4x12xf32>
}
