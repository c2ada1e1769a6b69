// What decays and what nothing divides: every check of their verifiers and parsers, with its number.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func private @f() attributes {
  // expected-error @below {{expected a scale > 0 of identity, but got 0}}
  a = #attn.feature_map<identity>
}

// -----

// A48
func.func @f(%q: tensor<2x4x12x8xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected causal, and no compress, where nothing divides the output}}
  %o = attn.kernel %q, %q, %q {denominator = #attn.denominator<none>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A49
func.func @f(%q: tensor<2x4x12x8xf32>, %g: tensor<4xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected causal, and no window, with decay}}
  %o = attn.kernel %q, %q, %q decay(%g : tensor<4xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A49
func.func @f(%q: tensor<2x4x12x8xf32>, %g: tensor<4xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected identity, elu1, relu, favor_relu or focused with decay, but got cosformer}}
  %o = attn.kernel %q, %q, %q decay(%g : tensor<4xf32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<cosformer, max_position = 20>}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A49
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %g: tensor<4xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected decay of 2, but got 4}}
  %o = attn.kernel %q, %k, %k decay(%g : tensor<4xf32>) {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A50
func.func @f(%w: tensor<2x4x12x12xf32>, %g: tensor<3xf32>) -> tensor<2x4x12x12xf32> {
  // expected-error @below {{expected a number of key-value heads that divides 4, but got 3}}
  %d = attn.decay %w by %g : tensor<2x4x12x12xf32>, tensor<3xf32>
  return %d : tensor<2x4x12x12xf32>
}

// -----

// A50
func.func @f(%w: tensor<2x4x12x13xf32>, %g: tensor<4xf32>) -> tensor<2x4x12x13xf32> {
  // expected-error @below {{expected as many queries as keys with causal, but got 12 and 13}}
  %d = attn.decay %w by %g : tensor<2x4x12x13xf32>, tensor<4xf32>
  return %d : tensor<2x4x12x13xf32>
}

// -----

// A3
func.func @f(%w: tensor<2x4x12x12xf32>, %g: tensor<4xf32>, %l: tensor<3xi32>) -> tensor<2x4x12x12xf32> {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %d = attn.decay %w by %g lengths(%l : tensor<3xi32>) : tensor<2x4x12x12xf32>, tensor<4xf32>
  return %d : tensor<2x4x12x12xf32>
}

// -----

// A51
func.func @f(%a: tensor<2x4x12x8xf32>, %b: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %g: tensor<4xf32>) -> tensor<2x4x12x6xf32> {
  // expected-error @below {{expected decay of 2, but got 4}}
  %n, %d, %s, %z = attn.causal_readout %a, %b, %v decay(%g : tensor<4xf32>) : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>, tensor<2x4x12xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return %n : tensor<2x4x12x6xf32>
}

// -----

// A49
func.func @f(%q: tensor<2x4x12x8xf32>, %g: tensor<2x4x11xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected decay of 2x4x12, but got 2x4x11}}
  %o = attn.kernel %q, %q, %q decay(%g : tensor<2x4x11xf32>) {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<identity, scale = 1.250000e-01>}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A49
func.func @f(%q: tensor<2x4x12x8xf32>, %g: tensor<2x4x12x7xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected decay of 2x4x12x8, but got 2x4x12x7}}
  %o = attn.kernel %q, %q, %q decay(%g : tensor<2x4x12x7xf32>) {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<identity, scale = 1.250000e-01>}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A57
func.func @f(%q: tensor<2x4x12x8xf32>, %w: tensor<2x4x12x8xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected write of 2x4x12, but got 2x4x12x8}}
  %o = attn.kernel %q, %q, %q write(%w : tensor<2x4x12x8xf32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A57
func.func @f(%q: tensor<2x4x12x8xf32>, %w: tensor<2x4x12xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected causal, no window and no compress with write}}
  %o = attn.kernel %q, %q, %q write(%w : tensor<2x4x12xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A58
func.func @f(%q: tensor<2x4x12x8xf32>, %b: tensor<2x4x12xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected causal, no window and no denominator with erase}}
  %o = attn.kernel %q, %q, %q erase(%b : tensor<2x4x12xf32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A58
func.func @f(%q: tensor<2x4x12x8xf32>, %b: tensor<2x4x12xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected identity, elu1 or relu with erase, but got cosformer}}
  %o = attn.kernel %q, %q, %q erase(%b : tensor<2x4x12xf32>) {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<cosformer, max_position = 20>}
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A50
func.func @f(%w: tensor<2x4x12x12xf32>, %g: tensor<2x4x11xf32>) -> tensor<2x4x12x12xf32> {
  // expected-error @below {{expected decay of 2x4x12, but got 2x4x11}}
  %o = attn.decay %w by %g : tensor<2x4x12x12xf32>, tensor<2x4x11xf32>
  return %o : tensor<2x4x12x12xf32>
}

// -----

// A59
func.func @f(%a: tensor<2x4x12x8xf32>, %v: tensor<2x4x12x6xf32>, %b: tensor<2x4x12x6xf32>) -> tensor<2x4x12x6xf32> {
  // expected-error @below {{expected erase of 2x4x12x8, but got 2x4x12x6}}
  %n, %d, %s, %z = attn.causal_readout %a, %a, %v erase(%b : tensor<2x4x12x6xf32>) : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x6xf32> -> tensor<2x4x12x6xf32>, tensor<2x4x12xf32>, tensor<2x4x8x6xf32>, tensor<2x4x8xf32>
  return %n : tensor<2x4x12x6xf32>
}

// -----

// A59
func.func @f(%a: tensor<2x4x12x8xf32>, %v: tensor<2x4x12x6xf32>, %b: tensor<2x4x12xf32>) -> tensor<2x4x12x6xf32> {
  // expected-error @below {{expected erase not grouped: every head solves the chunk of its own}}
  %n, %d, %s, %z = attn.causal_readout %a, %a, %v erase(%b : tensor<2x4x12xf32>) {execution = #attn.execution<grouped = true>} : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x6xf32> -> tensor<2x4x12x6xf32>, tensor<2x4x12xf32>, tensor<2x4x8x6xf32>, tensor<2x4x8xf32>
  return %n : tensor<2x4x12x6xf32>
}

// -----

// A108
func.func @f(%a: tensor<2x4x12x8xf32>, %v: tensor<2x4x12x6xf32>) {
  // expected-error @below {{expected what tokens have written only of keys that erase, each head of which one of queries reads, but got no erase}}
  %n, %d, %s, %z, %u = attn.causal_readout %a, %a, %v : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x6xf32>
      -> tensor<2x4x12x6xf32>, tensor<2x4x12xf32>, tensor<2x4x8x6xf32>, tensor<2x4x8xf32> written(tensor<2x4x12x6xf32>)
  return
}

// -----

// A108
func.func @f(%a: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %b: tensor<2x2x12xf32>) {
  // expected-error @below {{only of keys that erase, each head of which one of queries reads, but got several heads of queries for one of keys}}
  %n, %d, %s, %z, %u = attn.causal_readout %a, %k, %v erase(%b : tensor<2x2x12xf32>) : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32>
      -> tensor<2x4x12x6xf32>, tensor<2x4x12xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32> written(tensor<2x2x12x6xf32>)
  return
}

// -----

// A108
func.func @f(%a: tensor<2x4x12x8xf32>, %v: tensor<2x4x12x6xf32>, %b: tensor<2x4x12xf32>) {
  // expected-error @below {{expected written of 2x4x12x6, but got 2x4x12x5}}
  %n, %d, %s, %z, %u = attn.causal_readout %a, %a, %v erase(%b : tensor<2x4x12xf32>) : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x6xf32>
      -> tensor<2x4x12x6xf32>, tensor<2x4x12xf32>, tensor<2x4x8x6xf32>, tensor<2x4x8xf32> written(tensor<2x4x12x5xf32>)
  return
}

// -----

// A60
func.func @f(%q: tensor<2x4x12x8xf32>, %w: tensor<2x3x12xf32>) -> tensor<2x4x12x8xf32> {
  // expected-error @below {{expected gate of 2x4x12, but got 2x3x12}}
  %o = attn.gate %q by %w : tensor<2x4x12x8xf32>, tensor<2x3x12xf32> -> tensor<2x4x12x8xf32>
  return %o : tensor<2x4x12x8xf32>
}

// -----

// A61
func.func @f(%q: tensor<2x4x12x8xf32>) -> tensor<2x6x12x8xf32> {
  // expected-error @below {{expected a number of key-value heads that divides 6, but got 4}}
  %o = attn.repeat_heads %q : tensor<2x4x12x8xf32> -> tensor<2x6x12x8xf32>
  return %o : tensor<2x6x12x8xf32>
}
