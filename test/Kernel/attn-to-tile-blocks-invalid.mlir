// RUN: attn-opt %s -attn-to-tile -split-input-file -verify-diagnostics

// Nothing says how many entries a batch has: a run may leave states out.
func.func @states(%s: tensor<2x4x16x8xf32> {attn.name = "state.s"}, %z: tensor<2x4x16xf32> {attn.name = "state.z"}, %c: tensor<2x4xf32> {attn.name = "state.scale"})
    -> (tensor<2x4x16x8xf32>, tensor<2x4x16xf32>) {
  // expected-error @below {{expected a function that has tokens, which say how many entries a batch has, but found none among its arguments}}
  %a, %b = attn.true_state (%s, %z) scale(%c) : tensor<2x4x16x8xf32>, tensor<2x4x16xf32>, tensor<2x4xf32>
  return %a, %b : tensor<2x4x16x8xf32>, tensor<2x4x16xf32>
}

// -----

func.func @position(%x: tensor<2x4x12x8xf32>, %p: tensor<2xi32>) -> tensor<2x4x7x8xf32> {
  %n = attn.advance %x position(%p : tensor<2xi32>) : tensor<2x4x12x8xf32> -> tensor<2xi32>
  // expected-error @below {{expected a position and lengths that are arguments of the function (others are not supported yet)}}
  %a = attn.take_from_blocks run of 5, %x position(%n : tensor<2xi32>) : tensor<2x4x12x8xf32> -> tensor<2x4x7x8xf32>
  return %a : tensor<2x4x7x8xf32>
}

// -----

// Entries are read one by one, from memory.
func.func @squares(%x: tensor<1x2x12x8xf32>) -> tensor<1x2x12x8xf32> {
  %r = attn.rope %x {base = 1.000000e+04 : f64} : tensor<1x2x12x8xf32> -> tensor<1x2x12x8xf32>
  // expected-error @below {{expected tokens that lie in memory as they are squared, but got some that are rotated, normalised or projected in the load (not supported yet)}}
  %a = attn.map %r {feature_map = #attn.feature_map<tensor_square>} : tensor<1x2x12x8xf32> -> tensor<1x2x12x64xf32>
  %b = attn.map %r {feature_map = #attn.feature_map<tensor_square>, keys} : tensor<1x2x12x8xf32> -> tensor<1x2x12x64xf32>
  %num, %den, %s, %z = attn.causal_readout %a, %b, %x : tensor<1x2x12x64xf32>, tensor<1x2x12x64xf32>, tensor<1x2x12x8xf32>
      -> tensor<1x2x12x8xf32>, tensor<1x2x12xf32>, tensor<1x2x64x8xf32>, tensor<1x2x64xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 1.0, floor = 0.0>} : tensor<1x2x12x8xf32>, tensor<1x2x12xf32> -> tensor<1x2x12x8xf32>
  return %o : tensor<1x2x12x8xf32>
}
