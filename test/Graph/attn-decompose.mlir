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

!x = tensor<1x4x12x8xf32>
!kv = tensor<1x2x12x8xf32>
!l = tensor<1xi32>
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#guarded = #attn.denominator<bias = 1.0, floor = 0.0>

// CHECK-LABEL: func.func @softmax_window
// CHECK-NEXT:    attn.softmax_partial {{.*}} {piece = 0 : i64, pieces = 1 : i64, scale = 1.000000e+00 : f64, window = #attn.window<4>}
// CHECK-NEXT:    attn.softmax_finish
// CHECK-NEXT:    return
func.func @softmax_window(%q: !x, %k: !kv, %v: !kv) -> !x {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<4>} : !x, !kv, !kv -> !x
  return %o : !x
}

// Each query head has its own omega, so that the keys are mapped for each of them; the stabilizer does not cancel.
// CHECK-LABEL: func.func @favor_maximum
// CHECK-NEXT:    %[[A:.*]] = attn.map %arg0 parameter(%arg3 : tensor<4x16x8xf32>) {feature_map = #attn.feature_map<favor, {{.*}} stabilizer = max>} : tensor<1x4x12x8xf32> -> tensor<1x4x12x16xf32>
// CHECK-NEXT:    %[[C:.*]] = attn.key_maximum %arg1 lengths(%arg4 : tensor<1xi32>) parameter(%arg3 : tensor<4x16x8xf32>) {{.*}} -> tensor<1x4xf32>
// CHECK-NEXT:    %[[B:.*]] = attn.map %arg1 lengths(%arg4 : tensor<1xi32>) parameter(%arg3 : tensor<4x16x8xf32>) shift(%[[C]] : tensor<1x4xf32>) {{.*}} keys} : tensor<1x2x12x8xf32> -> tensor<1x4x12x16xf32>
// CHECK-NEXT:    %[[W:.*]] = attn.contract %[[A]]{{.*}}, %[[B]]
// CHECK-NEXT:    %[[V:.*]] = attn.visible %[[W]] lengths(%arg4 : tensor<1xi32>) {window = #attn.window<2x3 of 4x3>}
// CHECK-NEXT:    %[[N:.*]] = attn.contract %[[V]]{{.*}}, %arg2
// CHECK-NEXT:    %[[D:.*]] = attn.row_sum %[[V]]
// CHECK-NEXT:    attn.normalize %[[N]], %[[D]] {guard = #attn.denominator<bias = 1.000000e+00, floor = 0.000000e+00>}
func.func @favor_maximum(%q: !x, %k: !kv, %v: !kv, %w: tensor<4x16x8xf32>, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : tensor<4x16x8xf32>)
      {denominator = #guarded, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = max>, window = #attn.window<2x3 of 4x3>}
      : !x, !kv, !kv -> !x
  return %o : !x
}

// A stabilizer that cancels may be any: the constant one needs no pass over the keys.
// CHECK-LABEL: func.func @favor_cancels
// CHECK-NOT:     key_maximum
// CHECK:         attn.map %arg0 {{.*}} stabilizer = constant>}
// CHECK-NEXT:    attn.map %arg1 {{.*}} stabilizer = constant>, keys}
func.func @favor_cancels(%q: !x, %k: !kv, %v: !kv, %w: tensor<1x16x8xf32>) -> !x {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x16x8xf32>)
      {causal, denominator = #none, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = projection>}
      : !x, !kv, !kv -> !x
  return %o : !x
}

// Naive FLuRKA: features and values are compressed, and nothing is normalised or stabilized.
// CHECK-LABEL: func.func @compress
// CHECK-NEXT:    %[[A:.*]] = attn.map %arg0 {{.*}} stabilizer = none>}
// CHECK-NEXT:    %[[B:.*]] = attn.map %arg1 {{.*}} stabilizer = none>, keys}
// CHECK-NEXT:    %[[E:.*]] = attn.compress %[[B]], %arg4 lengths(%arg6 : tensor<1xi32>)
// CHECK-NEXT:    %[[F:.*]] = attn.compress %arg2, %arg5 lengths(%arg6 : tensor<1xi32>)
// CHECK-NEXT:    %[[S:.*]], %[[Z:.*]] = attn.state %[[E]], %[[F]] : tensor<1x2x3x16xf32>, tensor<1x2x3x8xf32>
// CHECK-NEXT:    %[[N:.*]], %{{.*}} = attn.readout %[[A]], %[[S]], %[[Z]]
// CHECK-NEXT:    attn.normalize %[[N]] {guard
func.func @compress(%q: !x, %k: !kv, %v: !kv, %w: tensor<1x16x8xf32>, %e: tensor<1x3x12xf32>, %f: tensor<2x3x12xf32>, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : tensor<1x16x8xf32>) compress(%e, %f : tensor<1x3x12xf32>, tensor<2x3x12xf32>)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 16, epsilon = 1.0e-3, scale = 1.0, stabilizer = none>}
      : !x, !kv, !kv -> !x
  return %o : !x
}

// CHECK-LABEL: func.func @polynomial
// CHECK-NEXT:    %[[W:.*]] = attn.contract %arg0{{.*}}, %arg1
// CHECK-NEXT:    %[[P:.*]] = attn.power %[[W]] {degree = 4 : i64, scale = 5.000000e-01 : f64}
// CHECK-NEXT:    %[[V:.*]] = attn.visible %[[P]] {causal}
// CHECK-NEXT:    %[[N:.*]] = attn.contract %[[V]]{{.*}}, %arg2
// CHECK-NEXT:    %[[D:.*]] = attn.row_sum %[[V]]
// CHECK-NEXT:    attn.normalize %[[N]], %[[D]]
func.func @polynomial(%q: !x, %k: !kv, %v: !kv) -> !x {
  %o = attn.polynomial %q, %k, %v {causal, degree = 4 : i64, denominator = #guarded, scale = 0.5 : f64} : !x, !kv, !kv -> !x
  return %o : !x
}

// The scale is in the sketch of the queries, and in the power of the exact blocks.
// CHECK-LABEL: func.func @polysketch
// CHECK-NEXT:    %[[Q:.*]] = attn.sketch %arg0 {{.*}} {scale = 5.000000e-01 : f64, size = 16 : i64} : tensor<1x4x12x8xf32> -> tensor<1x4x12x16xf32>
// CHECK-NEXT:    %[[K:.*]] = attn.sketch %arg1 {{.*}} {scale = 1.000000e+00 : f64, size = 16 : i64} : tensor<1x2x12x8xf32> -> tensor<1x4x12x16xf32>
// CHECK-NEXT:    %[[W:.*]] = attn.contract %[[Q]]{{.*}}, %[[K]]
// CHECK-NEXT:    %[[S:.*]] = attn.power %[[W]] {degree = 2 : i64, scale = 1.000000e+00 : f64}
// CHECK-NEXT:    %[[X:.*]] = attn.contract %arg0{{.*}}, %arg1
// CHECK-NEXT:    %[[P:.*]] = attn.power %[[X]] {degree = 4 : i64, scale = 5.000000e-01 : f64}
// CHECK-NEXT:    %[[B:.*]] = attn.diagonal_blocks %[[P]], %[[S]] {block = 3 : i64}
// CHECK-NEXT:    attn.visible %[[B]] {causal}
func.func @polysketch(%q: !x, %k: !kv, %v: !kv, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>) -> !x {
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      {causal, degree = 4 : i64, denominator = #none, local_exact = 3 : i64, scale = 0.5 : f64, size = 16 : i64} : !x, !kv, !kv -> !x
  return %o : !x
}

// A state of sketches is one of their tensor squares.
// CHECK-LABEL: func.func @polysketch_state
// CHECK:      %[[A:.*]] = attn.sketch %{{.*}} : tensor<2x4x12x8xf32> -> tensor<2x4x12x16xf32>
// CHECK-NEXT: %[[PHI_Q:.*]] = attn.map %[[A]] {feature_map = #attn.feature_map<tensor_square>} : tensor<2x4x12x16xf32> -> tensor<2x4x12x256xf32>
// CHECK:      %[[PHI_K:.*]] = attn.map %{{.*}} {feature_map = #attn.feature_map<tensor_square>, keys}
// CHECK-NEXT: %[[S:.*]], %[[Z:.*]] = attn.true_state(%{{.*}}, %{{.*}}) scale(%{{.*}})
// CHECK-NEXT: %[[NUM:.*]], %[[DEN:.*]], %[[S1:.*]], %[[Z1:.*]] = attn.causal_readout %[[PHI_Q]], %[[PHI_K]], %{{.*}} initial(%[[S]], %[[Z]]
// CHECK-NEXT: %[[O:.*]] = attn.normalize %[[NUM]], %[[DEN]]
// CHECK:      return %[[O]], %[[S1]], %[[Z1]]
func.func @polysketch_state(%q: tensor<2x4x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>, %s0: tensor<2x4x256x8xf32>, %z0: tensor<2x4x256xf32>, %c: tensor<2x4xf32>)
    -> (tensor<2x4x12x8xf32>, tensor<2x4x256x8xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>) {
  %o, %s1, %z1, %c1 = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      initial(%s0, %z0, %c : tensor<2x4x256x8xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>, final tensor<2x4x256x8xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>
  return %o, %s1, %z1, %c1 : tensor<2x4x12x8xf32>, tensor<2x4x256x8xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>
}

// With blocks of exact weights tokens are laid behind those of the block that the run begins in.
// CHECK-LABEL: func.func @polysketch_blocks
// CHECK:      %[[Q:.*]] = attn.place_in_blocks run of 5, %arg0 position(%{{.*}} : tensor<2xi32>) : tensor<2x4x12x8xf32> -> tensor<2x4x17x8xf32>
// CHECK-NEXT: %[[OWN:.*]] = attn.place_in_blocks run of 5, %arg0
// CHECK-NEXT: %[[HELD:.*]] = attn.place_in_blocks held of 5, %{{.*}} like(%[[OWN]]
// CHECK-NEXT: %[[K:.*]] = attn.add %[[OWN]], %[[HELD]]
// CHECK:      attn.diagonal_blocks %{{.*}}, %{{.*}} {block = 5 : i64} : tensor<2x4x17x17xf32>
// CHECK:      %[[BEFORE:.*]], %{{.*}} = attn.readout %{{.*}}, %{{.*}}, %{{.*}}
// CHECK-NEXT: attn.add %[[BEFORE]]
// CHECK:      %[[ALL:.*]] = attn.normalize
// CHECK-NEXT: %[[O:.*]] = attn.take_from_blocks run of 5, %[[ALL]]
// CHECK:      %[[WHOLE:.*]] = attn.take_from_blocks whole of 5
// CHECK-NEXT: attn.state %[[WHOLE]]
// CHECK-NEXT: attn.state_merge
// CHECK:      attn.take_from_blocks last of 5, %[[K]]
func.func @polysketch_blocks(%q: tensor<2x4x12x8xf32>, %s: tensor<4x8xf32>, %t: tensor<4x16xf32>, %i: tensor<4x16xi32>, %s0: tensor<2x4x256x8xf32>, %z0: tensor<2x4x256xf32>, %c: tensor<2x4xf32>,
                             %h: tensor<2x4x5x8xf32>, %p: tensor<2xi32>)
    -> (tensor<2x4x12x8xf32>, tensor<2x4x256x8xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) {
  %o, %s1, %z1, %c1, %k1, %v1 = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
      indices(%i, %i, %i, %i : tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>, tensor<4x16xi32>)
      initial(%s0, %z0, %c : tensor<2x4x256x8xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>) held(%h, %h : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) position(%p : tensor<2xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, local_exact = 5 : i64, scale = 1.0 : f64, size = 16 : i64}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>, final tensor<2x4x256x8xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>
      held tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>
  return %o, %s1, %z1, %c1, %k1, %v1 : tensor<2x4x12x8xf32>, tensor<2x4x256x8xf32>, tensor<2x4x256xf32>, tensor<2x4xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>
}

// CHECK-LABEL: func.func @effatt
// CHECK-NEXT:    %[[A:.*]] = attn.map %arg0 {feature_map = #attn.feature_map<softmax>}
// CHECK-NEXT:    %[[B:.*]] = attn.sequence_softmax %arg1 lengths(%arg3 : tensor<1xi32>)
// CHECK-NEXT:    %[[S:.*]], %[[Z:.*]] = attn.state %[[B]], %arg2 lengths(%arg3 : tensor<1xi32>)
// CHECK-NEXT:    %[[N:.*]], %{{.*}} = attn.readout %[[A]], %[[S]], %[[Z]]
// CHECK-NEXT:    attn.normalize %[[N]] {guard
func.func @effatt(%q: !x, %k: !kv, %v: !kv, %l: !l) -> !x {
  %o = attn.effatt %q, %k, %v lengths(%l : !l) : !x, !kv, !kv -> !x
  return %o : !x
}

// CHECK-LABEL: func.func @effatt_left
// CHECK:         %[[L:.*]] = attn.sequence_lse %arg1
// CHECK-NEXT:    %[[B:.*]] = attn.sequence_weights %arg1 lse(%[[L]] :
// CHECK-NEXT:    %[[S:.*]], %{{.*}} = attn.state %[[B]], %arg2
// CHECK:         %[[O:.*]] = attn.normalize
// CHECK-NEXT:    return %[[O]], %[[S]], %[[L]]
func.func @effatt_left(%q: !x, %k: !kv, %v: !kv) -> (!x, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>) {
  %o, %left:2 = attn.effatt %q, %k, %v : !x, !kv, !kv -> !x, left tensor<1x2x8x8xf32>, tensor<1x2x8xf32>
  return %o, %left#0, %left#1 : !x, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>
}

// CHECK-LABEL: func.func @agent
// CHECK-NEXT:    %[[A:.*]] = attn.pool %arg0 {count = 3 : i64}
// CHECK-NEXT:    %[[M:.*]], %[[L:.*]], %[[C:.*]] = attn.softmax_partial %[[A]], %arg1, %arg2 lengths(%arg3 : tensor<1xi32>)
// CHECK-NEXT:    %[[R:.*]], %{{.*}} = attn.softmax_finish %[[M]], %[[L]], %[[C]]
// CHECK-NEXT:    attn.softmax_partial %arg0, %[[A]], %[[R]] {piece
// CHECK-NEXT:    attn.softmax_finish
func.func @agent(%q: !x, %k: !kv, %v: !kv, %l: !l) -> !x {
  %o = attn.agent %q, %k, %v lengths(%l : !l) {agents = 3 : i64, scale = 1.0 : f64} : !x, !kv, !kv -> !x
  return %o : !x
}

// CHECK-LABEL: func.func @eva
// CHECK-NEXT:    %[[M:.*]], %[[S:.*]], %[[W:.*]] = attn.eva_summaries %arg0, %arg1, %arg2 {chunk = 2 : i64, mass, mu_weight = 5.000000e-01 : f64, scale = 1.000000e+00 : f64} : {{.*}} -> tensor<1x4x6x8xf32>
// CHECK-NEXT:    attn.eva_mix %arg0, %arg1, %arg2 summaries(%[[M]], %[[S]], %[[W]] : {{.*}}) {causal, chunk = 2 : i64, local = 4 : i64, scale = 1.000000e+00 : f64}
func.func @eva(%q: !x, %k: !kv, %v: !kv) -> !x {
  %o = attn.eva %q, %k, %v {causal, chunk = 2 : i64, local = 4 : i64, mass, mu_weight = 0.5 : f64, scale = 1.0 : f64} : !x, !kv, !kv -> !x
  return %o : !x
}

// Two more summaries for each of the 3 local blocks; without a local block exclude_local says nothing.
// CHECK-LABEL: func.func @eva_exclude_local
// CHECK-NEXT:    attn.eva_summaries {{.*}} {chunk = 2 : i64, local = 4 : i64, mu_weight = {{.*}} -> tensor<1x4x12x8xf32>
// CHECK-NEXT:    attn.eva_mix {{.*}} {chunk = 2 : i64, exclude_local, local = 4 : i64,
// CHECK-NEXT:    attn.eva_summaries {{.*}} {chunk = 2 : i64, mu_weight = {{.*}} -> tensor<1x4x6x8xf32>
// CHECK-NEXT:    attn.eva_mix {{.*}} {chunk = 2 : i64, scale
func.func @eva_exclude_local(%q: !x, %k: !kv, %v: !kv) -> (!x, !x) {
  %o = attn.eva %q, %k, %v {chunk = 2 : i64, exclude_local, local = 4 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : !x, !kv, !kv -> !x
  %p = attn.eva %q, %k, %v {chunk = 2 : i64, exclude_local, mu_weight = 0.5 : f64, scale = 1.0 : f64} : !x, !kv, !kv -> !x
  return %o, %p : !x, !x
}
