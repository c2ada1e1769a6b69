// RUN: attn-opt %s -split-input-file -attn-to-tile=target=gpu -verify-diagnostics

// A mechanism that has not been brought into a form.
func.func @mechanism(%q: tensor<1x1x9x8xf16>) -> tensor<1x1x9x8xf16> {
  // expected-error @below {{expected attention that a kernel computes, such as attn.softmax or a kernel attention in quadratic, state or chunked form (run attn-select-rewrites first), but got attn.kernel (not supported yet)}}
  %o = attn.kernel %q, %q, %q {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  return %o : tensor<1x1x9x8xf16>
}

// -----

// expected-error @below {{expected every argument to be part of the attention, but argument 3 is not}}
func.func @unused(%q: tensor<1x1x9x8xf16>, %k: tensor<1x1x9x8xf16>, %v: tensor<1x1x9x8xf16>, %x: tensor<1xi32>) -> tensor<1x1x9x8xf16> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  return %o : tensor<1x1x9x8xf16>
}

// -----

// Weights of pairs are in no memory: neither as results,
func.func @weights(%q: tensor<1x1x9x8xf32>) -> tensor<1x1x9x9xf32> {
  // expected-error @below {{expected sums of weights as results, but got the weights of pairs (they are in no memory)}}
  %w = attn.contract %q[batch, head, query, feature], %q[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x9xf32>
  return %w : tensor<1x1x9x9xf32>
}

// -----

// nor as arguments.
func.func @given(%w: tensor<1x1x9x9xf32>) -> tensor<1x1x9xf32> {
  // expected-error @below {{expected weights of pairs that the function makes where attn.visible, attn.row_sum or a sum over keys reads them, and nowhere else (weights are in no memory)}}
  %den = attn.row_sum %w : tensor<1x1x9x9xf32> -> tensor<1x1x9xf32>
  return %den : tensor<1x1x9xf32>
}

// -----

// Rows that do not exist are for keys to have.
func.func @rows(%q: tensor<1x1x9x8xf32>, %l: tensor<1xi32>) -> tensor<1x1x9x8xf32> {
  // expected-error @below {{'attn.map' op expected features of queries, or of results, without lengths (others are not supported yet)}}
  %a = attn.map %q lengths(%l : tensor<1xi32>) {feature_map = #attn.feature_map<elu1>} : tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  return %a : tensor<1x1x9x8xf32>
}

// -----

func.func @lengths(%k: tensor<1x1x9x8xf32>, %l: tensor<1xi32>, %m: tensor<1xi32>) -> tensor<1x1x8x8xf32> {
  %b = attn.map %k lengths(%l : tensor<1xi32>) {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  // expected-error @below {{'attn.state' op expected keys with one value of lengths, in the map and where weights or states are made of them}}
  %s, %z = attn.state %b, %k lengths(%m : tensor<1xi32>) : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x8x8xf32>, tensor<1x1x8xf32>
  return %s : tensor<1x1x8x8xf32>
}

// -----

func.func @masks(%q: tensor<1x1x8x8xf32>, %l: tensor<1xi32>, %m: tensor<1xi32>) -> tensor<1x1x8xf32> {
  %b = attn.map %q lengths(%l : tensor<1xi32>) {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x1x8x8xf32> -> tensor<1x1x8x8xf32>
  // expected-error @below {{'attn.contract' op expected keys with one value of lengths, in the map and where weights or states are made of them}}
  %w = attn.contract %q[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32> -> tensor<1x1x8x8xf32>
  %v = attn.visible %w lengths(%m : tensor<1xi32>) : tensor<1x1x8x8xf32>
  %den = attn.row_sum %v : tensor<1x1x8x8xf32> -> tensor<1x1x8xf32>
  return %den : tensor<1x1x8xf32>
}

// -----

// A state is made of keys.
func.func @merged(%q: tensor<1x1x9x8xf32>, %s: tensor<1x1x8x8xf32>, %z: tensor<1x1x8xf32>) -> tensor<1x1x9x8xf32> {
  %t, %y = attn.state_merge (%s, %z), (%s, %z) : tensor<1x1x8x8xf32>, tensor<1x1x8xf32>
  // expected-error @below {{expected a state that attn.state, attn.causal_readout or a sum over queries makes, or an argument, but got another (not supported yet)}}
  %num, %den = attn.readout %q, %t, %y : tensor<1x1x9x8xf32>, tensor<1x1x8x8xf32>, tensor<1x1x8xf32> -> tensor<1x1x9x8xf32>, tensor<1x1x9xf32>
  return %num : tensor<1x1x9x8xf32>
}

// -----

// Folded by hand: no map reads the tokens through omega.
func.func @folded(%x: tensor<1x9x8xf16>, %w: tensor<8x8xf16> {attn.parameter}) -> tensor<1x1x9x8xf16> {
  // expected-error @below {{'attn.project' op expected a folded projection of parameters, read by one feature map with omega, but got another}}
  %q = attn.project %x, %w {execution = #attn.execution<form = folded>} : tensor<1x9x8xf16>, tensor<8x8xf16> -> tensor<1x1x9x8xf16>
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  return %o : tensor<1x1x9x8xf16>
}

// -----

// expected-error @below {{expected tensors of f32, f16, bf16 or i32 with at least one dimension, but got 'index'}}
func.func @no_tensor(%q: tensor<1x1x9x8xf16>) -> (tensor<1x1x9x8xf16>, index) {
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  %c = arith.constant 1 : index
  return %o, %c : tensor<1x1x9x8xf16>, index
}

// -----

// Nobody would write the second one.
func.func @unwritten(%q: tensor<1x1x9x8xf16>) -> (tensor<1x1x9x8xf16>, tensor<3xf32>) {
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  // expected-error @below {{expected tokens that a kernel can read, but got arith.constant (not supported yet)}}
  %c = arith.constant dense<1.0> : tensor<3xf32>
  return %o, %c : tensor<1x1x9x8xf16>, tensor<3xf32>
}

// -----

// expected-error @below {{expected results that the attention computes, each once, but got an argument or one result twice}}
func.func @argument(%q: tensor<1x1x9x8xf16>) -> (tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>) {
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  return %o, %q : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>
}

// -----

func.func @signs(%q: tensor<1x1x9x8xf32>, %s: tensor<1x8xf32>, %t: tensor<1x4xf32>, %i: tensor<1x4xi32>) -> tensor<1x1x9x8xf32> {
  // expected-error @below {{expected signs and indices that are arguments with attn.parameter, but got others}}
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
      indices(%i, %i, %i, %i : tensor<1x4xi32>, tensor<1x4xi32>, tensor<1x4xi32>, tensor<1x4xi32>)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64}
      : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  return %o : tensor<1x1x9x8xf32>
}

// -----

// Given weights are summed over queries as little as over keys.
func.func @given_to_keys(%w: tensor<1x1x9x9xf32>, %q: tensor<1x1x9x8xf32>) -> tensor<1x1x9x8xf32> {
  // expected-error @below {{expected weights of pairs that the function makes where attn.visible, attn.row_sum or a sum over keys reads them, and nowhere else (weights are in no memory)}}
  %k = attn.contract %w[batch, head, query, key], %q[batch, head, query, feature] -> [batch, head, key, feature]
      : tensor<1x1x9x9xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  return %k : tensor<1x1x9x8xf32>
}

// -----

// Entries are those of tokens, or numbers of their rows.
func.func @matrix(%w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{but got attn.scale (not supported yet)}}
  %s = attn.scale %w {factor = 2.0 : f64} : tensor<8x8xf32> -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// -----

func.func @parameter(%w: tensor<4x8x8xf32>) -> tensor<2x8x8xf32> {
  // expected-error @below {{but got attn.sum_heads (not supported yet)}}
  %s = attn.sum_heads %w {parameter} : tensor<4x8x8xf32> -> tensor<2x8x8xf32>
  return %s : tensor<2x8x8xf32>
}

// -----

func.func @erasing(%q: tensor<1x1x9x8xf32>, %g: tensor<1x1x9xf32>) -> tensor<1x1x9x8xf32> {
  // expected-error @below {{expected attention that this version compiles, but got gradients of what erases beside a denominator (not supported yet)}}
  // expected-note @below {{--emit attn and run --reference take it}}
  %a, %b, %v, %d = attn.causal_readout_gradient %q, %q, %q erase(%g : tensor<1x1x9xf32>) cotangents(numerator %q : tensor<1x1x9x8xf32> denominator %g : tensor<1x1x9xf32>)
      written(%q : tensor<1x1x9x8xf32>) : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> erase(tensor<1x1x9xf32>)
  return %a : tensor<1x1x9x8xf32>
}

// -----

func.func @computed_weight(%x: tensor<2x2x8x4xf32>, %w: tensor<8x16xf32>) -> tensor<2x8x16xf32> {
  %s = attn.transpose %w : tensor<8x16xf32> -> tensor<16x8xf32>
  %t = attn.transpose %s : tensor<16x8xf32> -> tensor<8x16xf32>
  // expected-error @below {{expected a weight that is an argument of the function, or the transpose of one, but got one that it computes (not supported yet)}}
  %y = attn.project_output %x, %t : tensor<2x2x8x4xf32>, tensor<8x16xf32> -> tensor<2x8x16xf32>
  return %y : tensor<2x8x16xf32>
}

// -----

func.func @computed_model(%x: tensor<2x2x8x4xf32>, %w: tensor<8x16xf32>) -> tensor<16x8xf32> {
  %y = attn.project_output %x, %w : tensor<2x2x8x4xf32>, tensor<8x16xf32> -> tensor<2x8x16xf32>
  // expected-error @below {{expected rows of a model that are an argument of the function, in any type, but got some that it computes (not supported yet)}}
  %g = attn.weight_gradient %x, %y : tensor<2x2x8x4xf32>, tensor<2x8x16xf32> -> tensor<16x8xf32>
  return %g : tensor<16x8xf32>
}

// -----

func.func @sum_of_computed_model(%x: tensor<2x2x8x4xf32>, %w: tensor<8x16xf32>) -> tensor<16xf32> {
  %y = attn.project_output %x, %w : tensor<2x2x8x4xf32>, tensor<8x16xf32> -> tensor<2x8x16xf32>
  // expected-error @below {{expected rows of a model that are an argument of the function, in any type, but got some that it computes (not supported yet)}}
  %g = attn.token_sum %y : tensor<2x8x16xf32> -> tensor<16xf32>
  return %g : tensor<16xf32>
}

// -----

func.func @computed_compression(%x: tensor<2x2x8x4xf32>, %e: tensor<1x8x30xf32>) -> tensor<2x2x30x4xf32> {
  %d = attn.scale %e {factor = 2.0 : f64} : tensor<1x8x30xf32> -> tensor<1x8x30xf32>
  // expected-error @below {{expected a weight that is an argument of the function, but got one that it computes (not supported yet)}}
  %y = attn.contract %x[batch, head, query, feature], %d[head, query, key] -> [batch, head, key, feature]
      : tensor<2x2x8x4xf32>, tensor<1x8x30xf32> -> tensor<2x2x30x4xf32>
  return %y : tensor<2x2x30x4xf32>
}

// -----

// Weights that each token decays are summed over keys alone.
func.func @decayed(%q: tensor<1x1x9x8xf32>, %g: tensor<1x1x9xf32>) -> tensor<1x1x9x8xf32> {
  %w = attn.contract %q[batch, head, query, feature], %q[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x9xf32>
  %d = attn.decay %w by %g : tensor<1x1x9x9xf32>, tensor<1x1x9xf32>
  %s = attn.visible %d {causal} : tensor<1x1x9x9xf32>
  // expected-error @below {{but got attn.contract (not supported yet)}}
  %k = attn.contract %s[batch, head, query, key], %q[batch, head, query, feature] -> [batch, head, key, feature]
      : tensor<1x1x9x9xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  return %k : tensor<1x1x9x8xf32>
}

// -----

// Sums of the features of queries come with a state of theirs.
func.func @sums_alone(%q: tensor<1x1x9x8xf32>, %w: tensor<1x1x9xf32>, %x: tensor<1x1x9x8xf32>) -> tensor<1x1x9x8xf32> {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  %z = attn.contract %a [batch, head, query, feature], %w [batch, head, query] -> [batch, head, feature] : tensor<1x1x9x8xf32>, tensor<1x1x9xf32> -> tensor<1x1x8xf32>
  // expected-error @below {{expected a state that attn.state, attn.causal_readout or a sum over queries makes, or an argument, but got another (not supported yet)}}
  %all = attn.spread %z [batch, head, feature] like %x [batch, head, key, feature] : tensor<1x1x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  %o = attn.map_gradient %q, %all {feature_map = #attn.feature_map<elu1>} : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x8xf32>
  return %o : tensor<1x1x9x8xf32>
}
