// RUN: attn-opt %s --split-input-file --verify-diagnostics

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A10: where something divides, a state has its sum.
func.func @f(%q: !x, %s: !s) {
  // expected-error @below {{expected both a state and its sum, or neither}}
  %o = attn.kernel %q, %q, %q initial(%s : !s) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A65: a scale is of favor.
func.func @f(%q: !x, %s: !s, %z: !z) {
  // expected-error @below {{expected scales with a state and its sum, and with favor where its stabilizer cancels}}
  %o = attn.kernel %q, %q, %q initial(%s, %z, %z : !s, !z, !z) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A65: and only where its stabilizer cancels.
func.func @f(%q: !x, %w: tensor<1x8x8xf32>) {
  // expected-error @below {{expected scales with a state and its sum, and with favor where its stabilizer cancels}}
  %o, %s, %z, %m = attn.kernel %q, %q, %q parameter(%w : tensor<1x8x8xf32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 8, epsilon = 0.1, scale = 1.0, stabilizer = constant>} : !x, !x, !x -> !x, final !s, !z, !z
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A65: a number of each feature.
func.func @f(%q: !x, %w: tensor<1x8x8xf32>) {
  // expected-error @below {{expected scale of 2x2x8, but got 2x2x9}}
  %o, %s, %z, %m = attn.kernel %q, %q, %q parameter(%w : tensor<1x8x8xf32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 8, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : !x, !x, !x -> !x, final !s, !z, tensor<2x2x9xf32>
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A66: other maps know no places.
func.func @f(%q: !x, %p: tensor<2xi32>) {
  // expected-error @below {{expected causal cosformer with a position, but got elu1}}
  %o = attn.kernel %q, %q, %q position(%p : tensor<2xi32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A66: without an order there is no first token.
func.func @f(%q: !x, %p: tensor<2xi32>) {
  // expected-error @below {{expected causal cosformer with a position, but got cosformer that is not causal}}
  %o = attn.kernel %q, %q, %q position(%p : tensor<2xi32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<cosformer, max_position = 12>} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A66: one of each entry.
func.func @f(%q: !x, %p: tensor<3xi32>) {
  // expected-error @below {{expected position of 2, but got 3}}
  %o = attn.kernel %q, %q, %q position(%p : tensor<3xi32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<cosformer, max_position = 12>} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A67: of a map as well.
func.func @f(%q: !x, %p: tensor<2xi32>) {
  // expected-error @below {{expected cosformer with a position, but got relu}}
  %f = attn.map %q position(%p : tensor<2xi32>) {feature_map = #attn.feature_map<relu>} : !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A67
func.func @f(%q: !x, %p: tensor<3xi32>) {
  // expected-error @below {{expected position of 2, but got 3}}
  %f = attn.map %q position(%p : tensor<3xi32>) {feature_map = #attn.feature_map<cosformer, max_position = 12>} : !x -> tensor<2x2x12x16xf32>
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A68: what goes on in units ends in units.
func.func @f(%q: !x, %s: !s, %z: !z) {
  // expected-error @below {{expected an initial scale with a state, its sum and the scale after them}}
  %num, %den, %s1, %z1 = attn.causal_readout %q, %q, %q initial(%s, %z, %z : !s, !z, !z) : !x, !x, !x -> !x, tensor<2x2x12xf32>, !s, !z
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A68
func.func @f(%q: !x) {
  // expected-error @below {{expected scale of 2x2x8, but got 2x2x7}}
  %num, %den, %s1, %z1, %m1 = attn.causal_readout %q, %q, %q : !x, !x, !x -> !x, tensor<2x2x12xf32>, !s, !z, tensor<2x2x7xf32>
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A69: counts of each entry.
func.func @f(%q: !x, %p: tensor<3xi32>) {
  // expected-error @below {{expected position of 2, but got 3}}
  %r = attn.advance %q position(%p : tensor<3xi32>) : !x -> tensor<2xi32>
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!s = tensor<2x2x8x8xf32>
!z = tensor<2x2x8xf32>
// A69
func.func @f(%q: !x) {
  // expected-error @below {{expected result of 2, but got 3}}
  %r = attn.advance %q : !x -> tensor<3xi32>
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A75: all three of a state.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected a state, its sum and its scale, or none of them}}
  %o = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%s, %z : !s, !z)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A75: with causal.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected causal with a state}}
  %o = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%s, %z, %c : !s, !z, !c)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A75: its shape.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected state of 2x2x16x8, but got 2x2x12x8}}
  %o = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%q, %z, %c : !x, !z, !c)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A75: that of a final one.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected scale of 2x2, but got 2x1}}
  %o, %s1, %z1, %c1 = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x, final !s, !z, tensor<2x1xf32>
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A76: local_exact holds keys of a block.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected held keys and values with local_exact and a state on their side, and else none}}
  %o = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%s, %z, %c : !s, !z, !c)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, local_exact = 5 : i64, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A76: nothing else does.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected held keys and values with local_exact and a state on their side, and else none}}
  %o = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%s, %z, %c : !s, !z, !c) held(%h, %h : !h, !h)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A76: their shape is that of a block.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected held keys of 2x2x4x8, but got 2x2x5x8}}
  %o = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%s, %z, %c : !s, !z, !c) held(%h, %h : !h, !h)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, local_exact = 4 : i64, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A77: blocks count on from a position.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected local_exact and an initial state with a position}}
  %o = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%s, %z, %c : !s, !z, !c) position(%p : tensor<2xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A77: of each entry.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p3: tensor<3xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected position of 2, but got 3}}
  %o = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%s, %z, %c : !s, !z, !c) held(%h, %h : !h, !h) position(%p3 : tensor<3xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, local_exact = 5 : i64, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return
}

// -----

!x = tensor<2x2x12x8xf32>
!i = tensor<2x4xi32>
!s = tensor<2x2x16x8xf32>
!z = tensor<2x2x16xf32>
!c = tensor<2x2xf32>
!h = tensor<2x2x5x8xf32>
// A31: without a state.
func.func @f(%q: !x, %g: tensor<2x8xf32>, %t: tensor<2x4xf32>, %i: !i, %p: tensor<2xi32>, %s: !s, %z: !z, %c: !c, %h: !h) {
  // expected-error @below {{expected a local_exact that divides 12, but got 5}}
  %o = attn.polysketch %q, %q, %q signs(%g, %g, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i, %i, %i, %i : !i, !i, !i, !i)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, local_exact = 5 : i64, scale = 1.0 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return
}

// -----

// A10
func.func @f(%s: tensor<2x4x16x8xf32>, %z: tensor<2x4x15xf32>, %c: tensor<2x4xf32>) {
  // expected-error @below {{expected sum of 2x4x16, but got 2x4x15}}
  %a, %b = attn.true_state (%s, %z) scale(%c) : tensor<2x4x16x8xf32>, tensor<2x4x15xf32>, tensor<2x4xf32>
  return
}

// -----

// A99
func.func @f(%s: tensor<2x4x16x8xf32>, %z: tensor<2x4x16xf32>, %c: tensor<2x3xf32>) {
  // expected-error @below {{expected scale of 2x4, but got 2x3}}
  %a, %b = attn.true_state (%s, %z) scale(%c) : tensor<2x4x16x8xf32>, tensor<2x4x16xf32>, tensor<2x3xf32>
  return
}

// -----

// A3
func.func @f(%x: tensor<2x4x12x8xf32>, %p: tensor<3xi32>) {
  // expected-error @below {{but got 3}}
  %a = attn.take_from_blocks run of 5, %x position(%p : tensor<3xi32>) : tensor<2x4x12x8xf32> -> tensor<2x4x7x8xf32>
  return
}

// -----

// A33
func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected a block of at least 1, but got 0}}
  %a = attn.take_from_blocks run of 0, %x : tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

// A100
func.func @f(%x: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected part of 2x4x7x8, but got 2x4x6x8}}
  %a = attn.take_from_blocks run of 5, %x : tensor<2x4x12x8xf32> -> tensor<2x4x6x8xf32>
  return
}

// -----

// A100
func.func @f(%x: tensor<2x4x4x8xf32>) {
  // expected-error @below {{expected the rows of a run and 5 more in blocks, but got 4}}
  %a = attn.take_from_blocks whole of 5, %x : tensor<2x4x4x8xf32> -> tensor<2x4x4x8xf32>
  return
}

// -----

// A100
func.func @f(%x: tensor<2x4x5x8xf32>, %y: tensor<2x4x11x8xf32>) {
  // expected-error @below {{expected like of}}
  %a = attn.place_in_blocks held of 5, %x like(%y : tensor<2x4x11x8xf32>) : tensor<2x4x5x8xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

// A101
func.func @f(%x: tensor<2x4x5x8xf32>) {
  // expected-error @below {{expected `like` with last, but got none}}
  %a = attn.place_in_blocks last of 5, %x : tensor<2x4x5x8xf32> -> tensor<2x4x12x8xf32>
  return
}

// -----

// A101
func.func @f(%x: tensor<2x4x7x8xf32>, %y: tensor<2x4x12x8xf32>) {
  // expected-error @below {{expected no `like` with run, but got one}}
  %a = attn.place_in_blocks run of 5, %x like(%y : tensor<2x4x12x8xf32>) : tensor<2x4x7x8xf32> -> tensor<2x4x12x8xf32>
  return
}
