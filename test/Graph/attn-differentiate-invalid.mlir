// RUN: attn-opt %s -attn-differentiate -split-input-file -verify-diagnostics

// expected-error @below {{expected an argument named 'x' to differentiate by, but found none}}
func.func @f(%q: tensor<1x2x8x16xf32> {attn.name = "q"}) -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["x"]} {
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64} : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// expected-error @below {{expected outputs that depend on 'k', but none does}}
func.func @f(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}) -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["k"]} {
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64} : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// expected-error @below {{expected `attn.gradients`, names of arguments to differentiate by}}
func.func @f(%q: tensor<1x2x8x16xf32> {attn.name = "q"}) -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = [1]} {
  return %q : tensor<1x2x8x16xf32>
}

// -----

func.func @f(%q: tensor<1x2x8x16xf32> {attn.name = "q"}) -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  // expected-error @below {{expected an op that has a gradient, but this one has none}}
  %o = tensor.cast %q : tensor<1x2x8x16xf32> to tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}
