// Names in a function's own attributes: what is no name of a law is an error, with the one that was meant.
// RUN: attn-opt %s -split-input-file -verify-diagnostics -attn-select-rewrites="device=%S/Inputs/products.yaml"

// expected-error @+2 {{expected the name of a law (efficient, local, agents, drop_guards) to allow, but got 'agent'}}
// expected-note @+1 {{did you mean 'agents'?}}
func.func @misspelt(%q: tensor<1x1x64x128xf32>, %k: tensor<1x1x64x128xf32>, %v: tensor<1x1x64x128xf32>) -> tensor<1x1x64x128xf32>
    attributes {attn.allow = ["local", "agent"]} {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  return %o : tensor<1x1x64x128xf32>
}

// -----

// expected-error @+1 {{expected a list of names in attn.allow, but got "local"}}
func.func @no_list(%q: tensor<1x1x64x128xf32>, %k: tensor<1x1x64x128xf32>, %v: tensor<1x1x64x128xf32>) -> tensor<1x1x64x128xf32>
    attributes {attn.allow = "local"} {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  return %o : tensor<1x1x64x128xf32>
}

// -----

// expected-error @+2 {{expected a form of linearize (quadratic, state, fused_state, merged_state, chunked, split, grouped) in a pin, but got 'stat'}}
// expected-note @+1 {{did you mean 'state'?}}
func.func @no_form(%q: tensor<1x1x64x128xf32>, %k: tensor<1x1x64x128xf32>, %v: tensor<1x1x64x128xf32>) -> tensor<1x1x64x128xf32>
    attributes {attn.pin = {linearize = "stat"}} {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  return %o : tensor<1x1x64x128xf32>
}

// -----

// expected-error @+1 {{expected names of forms by names of laws in attn.pin, but got {linearize = 3 : i64}}}
func.func @no_name(%q: tensor<1x1x64x128xf32>, %k: tensor<1x1x64x128xf32>, %v: tensor<1x1x64x128xf32>) -> tensor<1x1x64x128xf32>
    attributes {attn.pin = {linearize = 3 : i64}} {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  return %o : tensor<1x1x64x128xf32>
}
