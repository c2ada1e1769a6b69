// RUN: attn-opt %s -attn-to-tile -verify-diagnostics

func.func @given(%q: tensor<1x2x80x16xf32>, %k: tensor<1x2x80x16xf32>, %v: tensor<1x2x80x16xf32>) 
    -> (tensor<1x2x80x16xf32> {attn.name = "o"}, tensor<1x2x80x16xf32> {attn.name = "saved.q"}) {
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64} : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x80x16xf32>
  // expected-error @below {{expected a value that kernels store for others, as a projection, compressed tokens, the output of attention or a state, but got another (not supported yet)}}
  %left = attn.keep %q : tensor<1x2x80x16xf32>
  return %o, %left : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>
}
