// RUN: attn-opt %s -attn-decompose | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK:         %[[M:.*]], %[[L:.*]], %[[ACC:.*]] = attn.softmax_partial %arg0, %arg1, %arg2 {causal, piece = 0 : i64, pieces = 1 : i64, scale = 1.250000e-01 : f64}
// CHECK:         %[[O:.*]], %[[LSE:.*]] = attn.softmax_finish %[[M]], %[[L]], %[[ACC]]
// CHECK-NOT:     attn.softmax %
// CHECK:         return %[[O]], %[[LSE]]
func.func @softmax(%q: tensor<2x8x48x64xbf16>, %k: tensor<2x2x80x64xbf16>, %v: tensor<2x2x80x64xbf16>) -> (tensor<2x8x48x64xbf16>, tensor<2x8x48xf32>) {
  %o, %lse = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
      : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>, lse tensor<2x8x48xf32>
  return %o, %lse : tensor<2x8x48x64xbf16>, tensor<2x8x48xf32>
}

// Both maps, the pair weights, the mask, then numerator and denominator.
// CHECK-LABEL: func.func @kernel
// CHECK:         %[[A:.*]] = attn.map %arg0 {
// CHECK:         %[[B:.*]] = attn.map %arg1 lengths(%arg3 : tensor<2xi32>)
// CHECK:         %[[W:.*]] = attn.contract %[[A]] {{.*}}, %[[B]]
// CHECK:         %[[V:.*]] = attn.visible %[[W]] lengths(%arg3 : tensor<2xi32>) {causal}
// CHECK:         %[[NUM:.*]] = attn.contract %[[V]] {{.*}}, %arg2
// CHECK:         %[[DEN:.*]] = attn.row_sum %[[V]]
// CHECK:         attn.normalize %[[NUM]], %[[DEN]]
// CHECK-NOT:     attn.kernel
func.func @kernel(%q: tensor<2x8x48x64xf32>, %k: tensor<2x8x48x64xf32>, %v: tensor<2x8x48x64xf32>, %l: tensor<2xi32>) -> tensor<2x8x48x64xf32> {
  %o = attn.kernel %q, %k, %v lengths(%l : tensor<2xi32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x8x48x64xf32>, tensor<2x8x48x64xf32>, tensor<2x8x48x64xf32> -> tensor<2x8x48x64xf32>
  return %o : tensor<2x8x48x64xf32>
}

// A final state comes from the state and its readout.
// CHECK-LABEL: func.func @state
// CHECK:         %[[S:.*]], %[[Z:.*]] = attn.state
// CHECK:         attn.readout %{{.*}}, %[[S]], %[[Z]]
// CHECK:         return %{{.*}}, %[[S]], %[[Z]]
func.func @state(%q: tensor<1x1x9x8xf32>, %k: tensor<1x1x9x8xf32>, %v: tensor<1x1x9x8xf32>) -> (tensor<1x1x9x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8xf32>) {
  %o, %s, %z = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>, final tensor<1x1x8x8xf32>, tensor<1x1x8xf32>
  return %o, %s, %z : tensor<1x1x9x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8xf32>
}
