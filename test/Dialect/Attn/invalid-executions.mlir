// What laws decide about an op: every check of its verifier, with its number.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// A52: an execution says what its op can vary alone.
func.func @f(%x: tensor<2x96x256xf32>, %w: tensor<256x256xf32>) {
  // expected-error @below {{expected an execution that says form = folded or values = fused, but got values = materialized}}
  %q = attn.project %x, %w {execution = #attn.execution<values = materialized>} : tensor<2x96x256xf32>, tensor<256x256xf32> -> tensor<2x8x96x32xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2x196x32xf32>, %b: tensor<1x2x196x32xf32>) {
  // expected-error @below {{expected an execution that says launch = co_launched, but got split = true}}
  %o = attn.concat_heads %a, %b {execution = #attn.execution<split = true>} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
  return
}

// -----

func.func @f(%k: tensor<2x4x200x64xf32>, %e: tensor<1x32x200xf32>) {
  // expected-error @below {{expected an execution that says form = compress_first, but got form = chunked}}
  %c = attn.compress %k, %e {execution = #attn.execution<form = chunked>} : tensor<2x4x200x64xf32>, tensor<1x32x200xf32> -> tensor<2x4x32x64xf32>
  return
}

// -----

// A53: keys of a window are not split.
func.func @f(%q: tensor<1x2x98x8xf32>) {
  // expected-error @below {{expected no split of the keys of a window, whose blocks run side by side anyway}}
  %o = attn.softmax %q, %q, %q {execution = #attn.execution<split = true>, scale = 1.0 : f64, window = #attn.window<49>} : tensor<1x2x98x8xf32>, tensor<1x2x98x8xf32>, tensor<1x2x98x8xf32> -> tensor<1x2x98x8xf32>
  return
}

// -----

// A54: a state that is read where it is made has no pieces.
func.func @f(%a: tensor<2x4x20x8xf32>, %s: tensor<2x4x8x6xf32>, %z: tensor<2x4x8xf32>) {
  // expected-error @below {{expected values = fused or ending = last_block, but got both: a state that is read where it is made has one piece}}
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<values = fused, ending = last_block>} : tensor<2x4x20x8xf32>, tensor<2x4x8x6xf32>, tensor<2x4x8xf32> -> tensor<2x4x20x6xf32>, tensor<2x4x20xf32>
  return
}

// -----

// A56: one state is of no causal attention, chunks are of a causal one, and they alone are split.
func.func @f(%q: tensor<2x4x20x8xf32>, %s: tensor<4x8xf32>, %i: tensor<4x8xi32>) {
  // expected-error @below {{expected chunks of a causal attention, but got #attn.execution<form = state>}}
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %s, %s : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      indices(%i, %i, %i, %i : tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, execution = #attn.execution<form = state>,
       scale = 1.0 : f64, size = 8 : i64}
      : tensor<2x4x20x8xf32>, tensor<2x4x20x8xf32>, tensor<2x4x20x8xf32> -> tensor<2x4x20x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x20x8xf32>, %s: tensor<4x8xf32>, %i: tensor<4x8xi32>) {
  // expected-error @below {{expected one state of all keys of an attention that is not causal, but got #attn.execution<form = chunked>}}
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %s, %s : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      indices(%i, %i, %i, %i : tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, execution = #attn.execution<form = chunked>,
       scale = 1.0 : f64, size = 8 : i64}
      : tensor<2x4x20x8xf32>, tensor<2x4x20x8xf32>, tensor<2x4x20x8xf32> -> tensor<2x4x20x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x20x8xf32>, %s: tensor<4x8xf32>, %i: tensor<4x8xi32>) {
  // expected-error @below {{expected form = chunked with split = true, but got #attn.execution<split = true>}}
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %s, %s : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
      indices(%i, %i, %i, %i : tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>, tensor<4x8xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, execution = #attn.execution<split = true>,
       scale = 1.0 : f64, size = 8 : i64}
      : tensor<2x4x20x8xf32>, tensor<2x4x20x8xf32>, tensor<2x4x20x8xf32> -> tensor<2x4x20x8xf32>
  return
}
