// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml | FileCheck %s

// The machine of Inputs/products.yaml counts multiply-adds in 64×64 tiles only. With t = ⌈n / 64⌉ tiles, d = m = dv = 128,
// in units of 64·128 a head:
//   quadratic            t² · 64 · 256 / 128                = 128 t²
//   state and readout    t · 2 · 128 · 128 / 128            = 256 t
//   causal quadratic     t (t + 1) / 2 · 128                =  64 t (t + 1)
//   chunks of 32 tokens  ⌈n / 32⌉ · 32 · 2 · (128 + 1) / 64 = 129 ⌈n / 32⌉   (a token is added to the state and reads it, and
//                        its key's features go in the same way through a state of one row, of which denominators are made)
// so that state wins from t = 3 (n = 129; t = 2 is a tie, and quadratic has fewer launches), chunked from t = 3, too (n = 129:
// 645 against 768; at n = 128 it is 516 against 384. From n = 161 to 192 it is 774 against 768: that is less than a function is worth).

// Unknown lengths: two functions with the length from which each runs.
// CHECK-LABEL: func.func @elu1(
// CHECK-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
// CHECK-SAME:    tile.schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>
// CHECK:         %[[A:.*]] = attn.map %arg0
// CHECK:         %[[B:.*]] = attn.map %arg1
// CHECK:         %[[W:.*]] = attn.contract %[[A]] [batch, head, query, feature], %[[B]] [batch, head, key, feature] -> [batch, head, query, key]
// CHECK-NOT:     attn.visible
// CHECK:         %[[NUM:.*]] = attn.contract %[[W]] [batch, head, query, key], %arg2 [batch, head, key, value] -> [batch, head, query, value]
// CHECK:         %[[DEN:.*]] = attn.row_sum %[[W]]
// CHECK:         %[[O:.*]] = attn.normalize %[[NUM]], %[[DEN]]
// CHECK:         return %[[O]]
// CHECK-LABEL: func.func @elu1__state(
// CHECK-SAME:    attn.plan = #attn.plan<form = state, from = 129>
// CHECK-NOT:     attn.kernel
// CHECK:         %[[A:.*]] = attn.map %arg0
// CHECK:         %[[B:.*]] = attn.map %arg1
// CHECK:         %[[S:.*]], %[[Z:.*]] = attn.state %[[B]], %arg2
// CHECK:         %[[NUM:.*]], %[[DEN:.*]] = attn.readout %[[A]], %[[S]], %[[Z]]
// CHECK:         attn.normalize %[[NUM]], %[[DEN]]
// CHECK-NOT:     func.func
func.func @elu1(%q: tensor<?x8x?x128xf32>, %k: tensor<?x8x?x128xf32>, %v: tensor<?x8x?x128xf32>) -> tensor<?x8x?x128xf32> {
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32> -> tensor<?x8x?x128xf32>
  return %o : tensor<?x8x?x128xf32>
}

// -----

// CHECK-LABEL: func.func @causal(
// CHECK-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
// CHECK:         attn.visible {{.*}} {causal}
// CHECK-LABEL: func.func @causal__chunked(
// CHECK-SAME:    attn.plan = #attn.plan<form = chunked, from = 129>
// CHECK:         %[[A:.*]] = attn.map %arg0
// CHECK:         %[[B:.*]] = attn.map %arg1
// CHECK:         %[[NUM:.*]], %[[DEN:.*]], %{{.*}}, %{{.*}} = attn.causal_readout %[[A]], %[[B]], %arg2
// CHECK:         attn.normalize %[[NUM]], %[[DEN]] {guard = #attn.denominator<bias = 5.000000e-01, floor = 0.000000e+00>}
func.func @causal(%q: tensor<?x8x?x128xf32>, %k: tensor<?x8x?x128xf32>, %v: tensor<?x8x?x128xf32>) -> tensor<?x8x?x128xf32> {
  %o = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 0.5, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32>, tensor<?x8x?x128xf32> -> tensor<?x8x?x128xf32>
  return %o : tensor<?x8x?x128xf32>
}

// -----

// Known lengths: one function, on either side of the crossing. Key lengths reach the map and the state.
// CHECK-LABEL: func.func @long(
// CHECK-SAME:    attn.plan = #attn.plan<form = state, from = 0>
// CHECK:         attn.map %arg0 {
// CHECK:         %[[B:.*]] = attn.map %arg1 lengths(%arg3 : tensor<2xi32>)
// CHECK:         attn.state %[[B]], %arg2 lengths(%arg3 : tensor<2xi32>)
// CHECK-NOT:     func.func @long__
func.func @long(%q: tensor<2x8x129x128xbf16>, %k: tensor<2x2x129x128xbf16>, %v: tensor<2x2x129x128xbf16>, %l: tensor<2xi32>) -> tensor<2x8x129x128xbf16> {
  %o = attn.kernel %q, %k, %v lengths(%l : tensor<2xi32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x8x129x128xbf16>, tensor<2x2x129x128xbf16>, tensor<2x2x129x128xbf16> -> tensor<2x8x129x128xbf16>
  return %o : tensor<2x8x129x128xbf16>
}
// CHECK-LABEL: func.func @short(
// CHECK-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
func.func @short(%q: tensor<2x8x128x128xbf16>, %k: tensor<2x8x128x128xbf16>, %v: tensor<2x8x128x128xbf16>) -> tensor<2x8x128x128xbf16> {
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x8x128x128xbf16>, tensor<2x8x128x128xbf16>, tensor<2x8x128x128xbf16> -> tensor<2x8x128x128xbf16>
  return %o : tensor<2x8x128x128xbf16>
}

// -----

// States: only the forms that have them. Softmax has one form and keeps its op; other functions are left alone.
// CHECK-LABEL: func.func @final(
// CHECK-SAME:    attn.plan = #attn.plan<form = state, from = 0>
// CHECK:         %[[S:.*]], %[[Z:.*]] = attn.state
// CHECK:         return %{{.*}}, %[[S]], %[[Z]]
func.func @final(%q: tensor<?x4x?x8xf32>, %k: tensor<?x4x?x8xf32>, %v: tensor<?x4x?x8xf32>)
    -> (tensor<?x4x?x8xf32>, tensor<?x4x8x8xf32>, tensor<?x4x8xf32>) {
  %o, %s, %z = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32> -> tensor<?x4x?x8xf32>, final tensor<?x4x8x8xf32>, tensor<?x4x8xf32>
  return %o, %s, %z : tensor<?x4x?x8xf32>, tensor<?x4x8x8xf32>, tensor<?x4x8xf32>
}
// CHECK-LABEL: func.func @continued(
// CHECK-SAME:    attn.plan = #attn.plan<form = chunked, from = 0>
// CHECK:         %{{.*}}, %{{.*}}, %[[S:.*]], %[[Z:.*]] = attn.causal_readout {{.*}} initial(%arg3, %arg4
// CHECK:         return %{{.*}}, %[[S]], %[[Z]]
func.func @continued(%q: tensor<?x4x?x8xf32>, %k: tensor<?x4x?x8xf32>, %v: tensor<?x4x?x8xf32>, %s0: tensor<?x4x8x8xf32>, %z0: tensor<?x4x8xf32>)
    -> (tensor<?x4x?x8xf32>, tensor<?x4x8x8xf32>, tensor<?x4x8xf32>) {
  %o, %s, %z = attn.kernel %q, %k, %v initial(%s0, %z0 : tensor<?x4x8x8xf32>, tensor<?x4x8xf32>)
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32> -> tensor<?x4x?x8xf32>, final tensor<?x4x8x8xf32>, tensor<?x4x8xf32>
  return %o, %s, %z : tensor<?x4x?x8xf32>, tensor<?x4x8x8xf32>, tensor<?x4x8xf32>
}
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    attn.plan = #attn.plan<form = online, from = 0>
// CHECK:         attn.softmax
func.func @softmax(%q: tensor<?x4x?x8xf32>, %k: tensor<?x4x?x8xf32>, %v: tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32>, tensor<?x4x?x8xf32> -> tensor<?x4x?x8xf32>
  return %o : tensor<?x4x?x8xf32>
}
// CHECK-LABEL: func.func @other(
// CHECK-NOT:     attn.plan
// CHECK:         return
func.func @other(%q: tensor<?xf32>) -> tensor<?xf32> {
  return %q : tensor<?xf32>
}

// -----

// An attention that nobody reads has no price; it stays for whoever removes dead code.
// CHECK-LABEL: func.func @unread(
// CHECK-NOT:     attn.plan
// CHECK:         return
func.func @unread(%q: tensor<1x1x9x8xf32>) {
  %o = attn.kernel %q, %q, %q {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  return
}

// CHECK-LABEL: func.func @unread_softmax(
// CHECK-NOT:     attn.plan
// CHECK:         return
func.func @unread_softmax(%q: tensor<1x1x9x8xf32>) {
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64} : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  return
}

// Empty sequences and batches are priced like any other.
// CHECK-LABEL: func.func @empty(
// CHECK-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
func.func @empty(%q: tensor<0x1x0x8xf32>) -> tensor<0x1x0x8xf32> {
  %o = attn.kernel %q, %q, %q {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<0x1x0x8xf32>, tensor<0x1x0x8xf32>, tensor<0x1x0x8xf32> -> tensor<0x1x0x8xf32>
  return %o : tensor<0x1x0x8xf32>
}
