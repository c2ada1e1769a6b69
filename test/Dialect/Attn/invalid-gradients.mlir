// RUN: attn-opt %s --split-input-file --verify-diagnostics

// A80: a result has the sizes of what it is made of.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @below {{expected result of 2x4, but got 2x5}}
  %y = attn.scale %x {factor = 1.0 : f64} : tensor<2x4xf32> -> tensor<2x5xf32>
  return
}

// -----

// A81
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error @below {{expected a finite factor, but got INF}}
  %y = attn.scale %x {factor = 0x7FF0000000000000 : f64} : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

// A80
func.func @f(%x: tensor<2x4xf32>, %y: tensor<2x5xf32>) {
  // expected-error @below {{expected rhs of 2x4, but got 2x5}}
  %z = attn.multiply %x, %y : tensor<2x4xf32>, tensor<2x5xf32> -> tensor<2x4xf32>
  return
}

// -----

// A82: a role for each dimension.
func.func @f(%z: tensor<2x4xf32>, %w: tensor<2x4x5xf32>) {
  // expected-error @below {{expected a role for each dimension, but got 1 and 3 for 2 and 3}}
  %y = attn.spread %z[batch] like %w[batch, head, query] : tensor<2x4xf32>, tensor<2x4x5xf32> -> tensor<2x4x5xf32>
  return
}

// -----

// A82: none twice.
func.func @f(%z: tensor<2x2xf32>, %w: tensor<2x4x5xf32>) {
  // expected-error @below {{expected distinct roles, but got batch twice}}
  %y = attn.spread %z[batch, batch] like %w[batch, head, query] : tensor<2x2xf32>, tensor<2x4x5xf32> -> tensor<2x4x5xf32>
  return
}

// -----

// A82: of `like`.
func.func @f(%z: tensor<2x4xf32>, %w: tensor<2x4x5xf32>) {
  // expected-error @below {{expected the role key of the source in `like`}}
  %y = attn.spread %z[batch, key] like %w[batch, head, query] : tensor<2x4xf32>, tensor<2x4x5xf32> -> tensor<2x4x5xf32>
  return
}

// -----

// A82: with the same size.
func.func @f(%z: tensor<2x3xf32>, %w: tensor<2x4x5xf32>) {
  // expected-error @below {{expected equal sizes of head, but got 3 and 4}}
  %y = attn.spread %z[batch, head] like %w[batch, head, query] : tensor<2x3xf32>, tensor<2x4x5xf32> -> tensor<2x4x5xf32>
  return
}

// -----

// A83
func.func @f(%x: tensor<2x8x3x4xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 8, but got 3}}
  %y = attn.sum_heads %x : tensor<2x8x3x4xf32> -> tensor<2x3x3x4xf32>
  return
}

// -----

// A83
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected heads in dimension 1, but got 'tensor<8xf32>'}}
  %y = attn.sum_heads %x : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

// A84
func.func @f(%x: tensor<1x2x3x4xf32>) {
  // expected-error @below {{expected 2 heads from 3 on within 4 heads}}
  %y = attn.place_heads %x {first = 3 : i64} : tensor<1x2x3x4xf32> -> tensor<1x4x3x4xf32>
  return
}

// -----

// A34
func.func @f(%x: tensor<1x2x5x4xf32>, %q: tensor<1x2x12x4xf32>) {
  // expected-error @below {{expected a number of runs that divides 12 tokens, but got 5}}
  %y = attn.unpool %x like %q : tensor<1x2x5x4xf32>, tensor<1x2x12x4xf32> -> tensor<1x2x12x4xf32>
  return
}

// -----

// A85
func.func @f(%q: tensor<1x2x12x4xf32>, %l: tensor<1x2x11xf32>) {
  // expected-error @below {{expected lse of 1x2x12, but got 1x2x11}}
  %y = attn.softmax_weights %q, %q lse(%l : tensor<1x2x11xf32>) {scale = 1.0 : f64} : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32> -> tensor<1x2x12x12xf32>
  return
}

// -----

// A86
func.func @f(%w: tensor<1x2x12x4xf32>) {
  // expected-error @below {{expected result of 2, but got 3}}
  %y = attn.distance_sums %w : tensor<1x2x12x4xf32> -> tensor<3xf32>
  return
}

// -----

// A87
func.func @f(%w: tensor<1x2x12x12xf32>) {
  // expected-error @below {{expected result of 1x2x12, but got 1x2x11}}
  %y = attn.decay_sums %w : tensor<1x2x12x12xf32> -> tensor<1x2x11xf32>
  return
}

// -----

// A33
func.func @f(%w: tensor<1x2x12x12xf32>) {
  // expected-error @below {{expected a block of at least one token, but got 0}}
  %y = attn.only_blocks %w {block = 0 : i64} : tensor<1x2x12x12xf32>
  return
}

// -----

// A88
func.func @f(%x: tensor<1x2x12x4xf32>) {
  // expected-error @below {{expected result of 1x2x12x4, but got 1x2x12x5}}
  %y = attn.map_gradient %x, %x {feature_map = #attn.feature_map<relu>} : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32> -> tensor<1x2x12x5xf32>
  return
}

// -----

// A89
func.func @f(%x: tensor<1x2x12x4xf32>) {
  // expected-error @below {{expected a map with a parameter, but got relu}}
  %y = attn.map_parameter_gradient %x, %x {feature_map = #attn.feature_map<relu>} : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32> -> tensor<2x4xf32>
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A90: something must reach the readout.
func.func @f(%x: !x) {
  // expected-error @below {{expected a cotangent, but got none}}
  %a, %b, %v = attn.causal_readout_gradient %x, %x, %x cotangents() : !x, !x, !x -> !x, !x, !x
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A90: of a quotient the output's cotangent says what reaches the denominator.
func.func @f(%x: !x, %g: tensor<1x2x12xf32>) {
  // expected-error @below {{expected the cotangent of the output alone, as numerator, and no erase beside a guard, but got one of the denominator}}
  %a, %b, %v = attn.causal_readout_gradient %x, %x, %x cotangents(numerator %x : !x denominator %g : tensor<1x2x12xf32>)
      {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : !x, !x, !x -> !x, !x, !x
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A90: and that there is one.
func.func @f(%x: !x, %s: tensor<1x2x4x4xf32>) {
  // expected-error @below {{beside a guard, but got none}}
  %a, %b, %v = attn.causal_readout_gradient %x, %x, %x cotangents(state %s : tensor<1x2x4x4xf32>)
      {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : !x, !x, !x -> !x, !x, !x
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A90: what is given has a gradient.
func.func @f(%x: !x, %g: tensor<1x2x12xf32>) {
  // expected-error @below {{expected a gradient of the decay, which is given}}
  %a, %b, %v = attn.causal_readout_gradient %x, %x, %x decay(%g : tensor<1x2x12xf32>) cotangents(numerator %x : !x) : !x, !x, !x -> !x, !x, !x
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A90: and nothing else has.
func.func @f(%x: !x) {
  // expected-error @below {{expected a gradient of the decay only where that is given}}
  %a, %b, %v, %g = attn.causal_readout_gradient %x, %x, %x cotangents(numerator %x : !x) : !x, !x, !x -> !x, !x, !x decay(tensor<1x2x12xf32>)
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A90: keys that erase are not split.
func.func @f(%x: !x, %e: tensor<1x2x12xf32>) {
  // expected-error @below {{expected a gradient that is not split of keys that erase, but got #attn.execution<split = true>}}
  %a, %b, %v, %d = attn.causal_readout_gradient %x, %x, %x erase(%e : tensor<1x2x12xf32>) cotangents(numerator %x : !x) written(%x : !x)
      {execution = #attn.execution<split = true>} : !x, !x, !x -> !x, !x, !x erase(tensor<1x2x12xf32>)
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A109
func.func @f(%x: !x, %e: tensor<1x2x12xf32>) {
  // expected-error @below {{expected what tokens have written, `written`, with erase and only there, but got erase alone}}
  %a, %b, %v, %d = attn.causal_readout_gradient %x, %x, %x erase(%e : tensor<1x2x12xf32>) cotangents(numerator %x : !x)
      : !x, !x, !x -> !x, !x, !x erase(tensor<1x2x12xf32>)
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A109
func.func @f(%x: !x) {
  // expected-error @below {{expected what tokens have written, `written`, with erase and only there, but got no erase}}
  %a, %b, %v = attn.causal_readout_gradient %x, %x, %x cotangents(numerator %x : !x) written(%x : !x) : !x, !x, !x -> !x, !x, !x
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A109
func.func @f(%x: !x, %e: tensor<1x2x12xf32>, %u: tensor<1x1x12x4xf32>) {
  // expected-error @below {{expected written of 1x2x12x4, but got 1x1x12x4}}
  %a, %b, %v, %d = attn.causal_readout_gradient %x, %x, %x erase(%e : tensor<1x2x12xf32>) cotangents(numerator %x : !x)
      written(%u : tensor<1x1x12x4xf32>) : !x, !x, !x -> !x, !x, !x erase(tensor<1x2x12xf32>)
  return
}

// -----

// A103: a feature of 0 has no logarithm.
func.func @f(%x: tensor<1x2x12x4xf32>) {
  // expected-error @below {{expected focused, or favor without epsilon, with the cotangent of logarithms, but got #attn.feature_map<relu>}}
  %y = attn.map_gradient %x, %x {feature_map = #attn.feature_map<relu>, logarithms} : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32> -> tensor<1x2x12x4xf32>
  return
}

// -----

// A103
func.func @f(%x: tensor<1x2x12x4xf32>, %p: tensor<2x4x4xf32>) {
  // expected-error @below {{expected focused, or favor without epsilon, with the cotangent of logarithms, but got #attn.feature_map<favor_relu}}
  %y = attn.map_parameter_gradient %x, %x parameter(%p : tensor<2x4x4xf32>) {feature_map = #attn.feature_map<favor_relu, features = 4, epsilon = 1.0, scale = 1.0>, logarithms}
      : tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A104: only of a quotient are logarithms in range.
func.func @f(%x: !x, %p: tensor<2x4xf32>) {
  %m = attn.map %x parameter(%p : tensor<2x4xf32>) {feature_map = #attn.feature_map<focused, epsilon = 1.0, power = 3.0>} : !x -> !x
  // expected-error @below {{expected a guard beside cotangents of logarithms, but got none}}
  %a, %b, %v = attn.causal_readout_gradient %m, %m, %x cotangents(numerator %x : !x) {logarithms} : !x, !x, !x -> !x, !x, !x
  return
}

// -----

!x = tensor<1x2x12x4xf32>
// A104
func.func @f(%x: !x, %p: tensor<2x4xf32>) {
  %m = attn.map %x parameter(%p : tensor<2x4xf32>) {feature_map = #attn.feature_map<focused, epsilon = 1.0, power = 3.0>} : !x -> !x
  // expected-error @below {{expected features of focused, or of favor without epsilon, with cotangents of logarithms}}
  %a, %b, %v = attn.causal_readout_gradient %m, %x, %x cotangents(numerator %x : !x) {guard = #attn.denominator<bias = 0.0, floor = 0.0>, logarithms}
      : !x, !x, !x -> !x, !x, !x
  return
}

// -----

!x = tensor<1x2x12x4xf32>
!s = tensor<1x2x4x4xf32>
!z = tensor<1x2x4xf32>
// A104
func.func @f(%x: !x, %p: tensor<2x4x4xf32>, %s: !s, %z: !z) {
  %m = attn.map %x parameter(%p : tensor<2x4x4xf32>) {feature_map = #attn.feature_map<favor, features = 4, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : !x -> !x
  // expected-error @below {{expected an initial state of favor with its scale beside cotangents of logarithms}}
  %a, %b, %v, %t, %u = attn.causal_readout_gradient %m, %m, %x initial(%s, %z : !s, !z) cotangents(numerator %x : !x)
      {guard = #attn.denominator<bias = 0.0, floor = 0.0>, logarithms} : !x, !x, !x -> !x, !x, !x state(!s) sum(!z)
  return
}

// -----

!x = tensor<1x2x12x4xf32>
!g = tensor<1x2x12xf32>
// A104
func.func @f(%x: !x, %p: tensor<2x4x4xf32>, %g: !g) {
  %m = attn.map %x parameter(%p : tensor<2x4x4xf32>) {feature_map = #attn.feature_map<favor, features = 4, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : !x -> !x
  // expected-error @below {{expected no decay of features of favor beside cotangents of logarithms}}
  %a, %b, %v, %d = attn.causal_readout_gradient %m, %m, %x decay(%g : !g) cotangents(numerator %x : !x)
      {guard = #attn.denominator<bias = 0.0, floor = 0.0>, logarithms} : !x, !x, !x -> !x, !x, !x decay(!g)
  return
}

// -----

!x = tensor<1x2x12x4xf32>
!g = tensor<1x2x12xf32>
// A104: a unit runs along the sequence.
func.func @f(%x: !x, %p: tensor<2x4xf32>, %g: !g) {
  %m = attn.map %x parameter(%p : tensor<2x4xf32>) {feature_map = #attn.feature_map<focused, epsilon = 1.0, power = 3.0>} : !x -> !x
  // expected-error @below {{expected a gradient that is not split where logarithms decay, but got #attn.execution<split = true>}}
  %a, %b, %v, %d = attn.causal_readout_gradient %m, %m, %x decay(%g : !g) cotangents(numerator %x : !x)
      {execution = #attn.execution<split = true>, guard = #attn.denominator<bias = 0.0, floor = 0.0>, logarithms} : !x, !x, !x -> !x, !x, !x decay(!g)
  return
}

// -----

!x = tensor<1x2x12x4xf32>
!w = tensor<1x2x12xf32>
// A104: elsewhere features have their shares.
func.func @f(%x: !x, %w: !w) {
  // expected-error @below {{expected write only beside cotangents of logarithms}}
  %a, %b, %v, %s = attn.causal_readout_gradient %x, %x, %x write(%w : !w) cotangents(numerator %x : !x) : !x, !x, !x -> !x, !x, !x write(!w)
  return
}

// -----

!x = tensor<1x2x12x4xf32>
!w = tensor<1x2x12xf32>
// A90
func.func @f(%x: !x, %w: !w, %p: tensor<2x4xf32>) {
  %m = attn.map %x parameter(%p : tensor<2x4xf32>) {feature_map = #attn.feature_map<focused, epsilon = 1.0, power = 3.0>} : !x -> !x
  // expected-error @below {{expected a gradient of the write, which is given}}
  %a, %b, %v = attn.causal_readout_gradient %m, %m, %x write(%w : !w) cotangents(numerator %x : !x)
      {guard = #attn.denominator<bias = 0.0, floor = 0.0>, logarithms} : !x, !x, !x -> !x, !x, !x
  return
}

// -----

!s = tensor<4x4xf32>
!i = tensor<4x4xi32>
// A91
func.func @f(%x: tensor<1x4x12x4xf32>, %s: !s, %i: !i) {
  // expected-error @below {{expected result of 1x4x12x4, but got 1x4x12x5}}
  %y = attn.sketch_gradient %x, %x signs(%s : !s) indices(%i : !i) {scale = 1.0 : f64, size = 4 : i64} : tensor<1x4x12x4xf32>, tensor<1x4x12x4xf32> -> tensor<1x4x12x5xf32>
  return
}

// -----

!x = tensor<1x2x16x4xf32>
!m = tensor<1x2x2x4xf32>
// A92
func.func @f(%x: !x, %m: !m, %w: tensor<1x2x2xf32>, %l: tensor<1x2x16xf32>) {
  // expected-error @below {{expected mean gradient of 1x2x2x4, but got 1x2x3x4}}
  %q, %k, %v, %a, %b = attn.eva_mix_gradient %x, %x, %x, %x of(%x, %l : !x, tensor<1x2x16xf32>) summaries(%m, %m, %w : !m, !m, tensor<1x2x2xf32>) {chunk = 8 : i64, scale = 1.0 : f64}
      : !x, !x, !x, !x -> !x, !x, !x, tensor<1x2x3x4xf32>, !m
  return
}

// -----

!x = tensor<1x2x16x4xf32>
!m = tensor<1x2x2x4xf32>
// A93
func.func @f(%x: !x, %m: !m) {
  // expected-error @below {{expected key gradient of 1x2x16x4, but got 1x2x15x4}}
  %q, %k, %v = attn.eva_summaries_gradient %x, %x, %x, %m, %m {chunk = 8 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64}
      : !x, !x, !x, !m, !m -> !x, tensor<1x2x15x4xf32>, !x
  return
}

// -----

// A94
func.func @f(%w: tensor<3x4xf32>) {
  // expected-error @below {{expected result of 4x3, but got 3x4}}
  %t = attn.transpose %w : tensor<3x4xf32> -> tensor<3x4xf32>
  return
}

// -----

// A95
func.func @f(%h: tensor<1x2x5x4xf32>, %x: tensor<1x5x7xf32>) {
  // expected-error @below {{expected result of 8x7, but got 7x8}}
  %w = attn.weight_gradient %h, %x {output} : tensor<1x2x5x4xf32>, tensor<1x5x7xf32> -> tensor<7x8xf32>
  return
}

// -----

// A96
func.func @f(%x: tensor<1x2xf32>) {
  // expected-error @below {{expected tokens of rank 3 or 4, but got 'tensor<1x2xf32>'}}
  %b = attn.token_sum %x : tensor<1x2xf32> -> tensor<2xf32>
  return
}

// -----

// A97
func.func @f(%c: tensor<1x2x6x4xf32>, %w: tensor<2x4x3xf32>) {
  // expected-error @below {{expected bias gradient of 2x4, but got 2x5}}
  %v1, %w1, %b1 = attn.lepe_gradient %c, %c, %w : tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>, tensor<2x4x3xf32>
      -> tensor<1x2x6x4xf32>, tensor<2x4x3xf32>, tensor<2x5xf32>
  return
}

// -----

// A98
func.func @f(%a: tensor<1x2x6xf32>, %b: tensor<1x2x6xf32>) {
  %c = attn.add %a, %b : tensor<1x2x6xf32>
  // expected-error @below {{expected an argument of the function as what a run may give, but got a value that is computed}}
  %s = attn.saved %c else %a : tensor<1x2x6xf32>
  return
}

// -----

// A102
func.func @f(%a: tensor<1x2x6x8xf32>, %b: tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32> {
  %c = attn.add %a, %b : tensor<1x2x6x8xf32>
  // expected-error @below {{expected a result that the function returns and nothing else reads, but got 2 uses of it}}
  %s = attn.keep %c : tensor<1x2x6x8xf32>
  %d = attn.add %s, %b : tensor<1x2x6x8xf32>
  return %s : tensor<1x2x6x8xf32>
}

// -----

// A5
func.func @f(%x: tensor<1x2x16x4xf32>) {
  // expected-error @below {{expected lse of 1x2x16, but got 1x2x8}}
  %o, %l = attn.eva %x, %x, %x {chunk = 8 : i64, mu_weight = 0.5 : f64, scale = 1.0 : f64} : tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>
      -> tensor<1x2x16x4xf32>, lse tensor<1x2x8xf32>
  return
}

// -----

!x = tensor<1x2x16x4xf32>
!m = tensor<1x2x2x4xf32>
// A92
func.func @f(%x: !x, %m: !m, %w: tensor<1x2x2xf32>, %l: tensor<1x2x15xf32>) {
  // expected-error @below {{expected lse of 1x2x16, but got 1x2x15}}
  %q, %k, %v, %a, %b = attn.eva_mix_gradient %x, %x, %x, %x of(%x, %l : !x, tensor<1x2x15xf32>) summaries(%m, %m, %w : !m, !m, tensor<1x2x2xf32>) {chunk = 8 : i64, scale = 1.0 : f64}
      : !x, !x, !x, !x -> !x, !x, !x, !m, !m
  return
}
