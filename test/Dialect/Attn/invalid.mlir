// Every check of the verifiers and of the parsers, with its number.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// A1: widths, batches, lengths of keys and values, element types, heads.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x9xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected key of 2x2x7x8, but got 2x2x7x9}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x9xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<3x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected key of 2x2x7x8, but got 3x2x7x8}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<3x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x9x6xf32>) {
  // expected-error @below {{expected value of 2x2x7x6, but got 2x2x9x6}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x9x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x4x7x6xf32>) {
  // expected-error @below {{expected value of 2x2x7x6, but got 2x4x7x6}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x4x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x3x7x8xf32>, %v: tensor<2x3x7x6xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 4, but got 3}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// A2: the output.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected output of 2x4x5x6, but got 2x4x5x8}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x8xf32>
  return
}

// -----

// A3: key lengths.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %o = attn.softmax %q, %k, %v lengths(%l : tensor<3xi32>) {scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// A4: the scale.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %o = attn.softmax %q, %k, %v {scale = 0.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %o = attn.softmax %q, %k, %v {scale = -1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %o = attn.softmax %q, %k, %v {scale = 0x7FF0000000000000 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected a finite scale above 0, but got}}
  %o = attn.softmax %q, %k, %v {scale = 0x7FF8000000000000 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// A5: the optional result.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected lse of 2x4x5, but got 2x4x6}}
  %o, %lse = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>, lse tensor<2x4x6xf32>
  return
}

// -----

// What are not tokens: another rank, dynamic heads or width, no head, other elements.
func.func @f(%q: tensor<4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{must be tokens: a rank-4 tensor [batch, heads, tokens, width] of f32, f16 or bf16 with static heads and width, but got 'tensor<4x5x8xf32>'}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x?x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{must be tokens: a rank-4 tensor [batch, heads, tokens, width] of f32, f16 or bf16 with static heads and width, but got 'tensor<2x?x5x8xf32>'}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x?x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x?xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{must be tokens: a rank-4 tensor [batch, heads, tokens, width] of f32, f16 or bf16 with static heads and width, but got 'tensor<2x4x5x?xf32>'}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x4x5x?xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x0x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{must be tokens: a rank-4 tensor [batch, heads, tokens, width] of f32, f16 or bf16 with static heads and width, but got 'tensor<2x0x5x8xf32>'}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x0x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf64>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{must be tokens: a rank-4 tensor [batch, heads, tokens, width] of f32, f16 or bf16 with static heads and width, but got 'tensor<2x4x5x8xf64>'}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<2x4x5x8xf64>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// Key lengths are i32.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %l: tensor<2xi64>) {
  // expected-error @below {{must be 1D tensor of 32-bit signless integer values, but got 'tensor<2xi64>'}}
  %o = attn.softmax %q, %k, %v lengths(%l : tensor<2xi64>) {scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// Partial results: A1, A3, A4, A6, A7.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x9xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected key of 2x2x7x8, but got 2x2x7x9}}
  %m, %l, %a = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 2 : i64, scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x9xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %lens: tensor<1xi32>) {
  // expected-error @below {{expected lengths of 2, but got 1}}
  %m, %l, %a = attn.softmax_partial %q, %k, %v lengths(%lens : tensor<1xi32>) {piece = 0 : i64, pieces = 2 : i64, scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected a finite scale above 0}}
  %m, %l, %a = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 2 : i64, scale = -1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected 0 <= piece < pieces, but got piece = 2 of 2}}
  %m, %l, %a = attn.softmax_partial %q, %k, %v {piece = 2 : i64, pieces = 2 : i64, scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected 0 <= piece < pieces, but got piece = -1 of 2}}
  %m, %l, %a = attn.softmax_partial %q, %k, %v {piece = -1 : i64, pieces = 2 : i64, scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected maximum of 2x4x5, but got 2x4x7}}
  %m, %l, %a = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 2 : i64, scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x7xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected sum of 2x4x5, but got 2x2x5}}
  %m, %l, %a = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 2 : i64, scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5xf32>, tensor<2x2x5xf32>, tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected accumulator of 2x4x5x6, but got 2x4x5x8}}
  %m, %l, %a = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 2 : i64, scale = 1.0 : f64}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x8xf32>
  return
}

// -----

// Both sides of a merge have the same types.
func.func @f(%m: tensor<2x4x5xf32>, %a: tensor<2x4x5x6xf32>, %b: tensor<2x4x5x7xf32>) {
  // expected-error @below {{failed to verify that all of {first_accumulator, second_accumulator, accumulator} have same type}}
  %r:3 = "attn.softmax_merge"(%m, %m, %a, %m, %m, %b) : (tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x7xf32>) -> (tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>)
  return
}

// -----

func.func @f(%m: tensor<2x4x5xf32>, %n: tensor<2x4x9xf32>, %a: tensor<2x4x5x6xf32>) {
  // expected-error @below {{failed to verify that all of {first_maximum, first_sum, second_maximum, second_sum, maximum, sum} have same type}}
  %r:3 = "attn.softmax_merge"(%m, %m, %a, %m, %n, %a) : (tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x4x9xf32>, tensor<2x4x5x6xf32>) -> (tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x4x5x6xf32>)
  return
}

// -----

// A8: the sizes of the output and its partial results.
func.func @f(%m: tensor<2x4x6xf32>, %l: tensor<2x4x6xf32>, %a: tensor<2x4x5x6xf32>) {
  // expected-error @below {{expected maximum of 2x4x5, but got 2x4x6}}
  %o, %lse = attn.softmax_finish %m, %l, %a : tensor<2x4x6xf32>, tensor<2x4x5x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%m: tensor<2x4x5xf32>, %l: tensor<2x4x5xf32>, %a: tensor<2x4x5x6xf32>) {
  // expected-error @below {{expected output of 2x4x5x6, but got 2x4x5x7}}
  %o, %lse = attn.softmax_finish %m, %l, %a : tensor<2x4x5xf32>, tensor<2x4x5x6xf32> -> tensor<2x4x5x7xf32>
  return
}

// -----

// Kernel attention: A1 to A3.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x9xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected key of 2x2x7x8, but got 2x2x7x9}}
  %o = attn.kernel %q, %k, %v
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x9xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected output of 2x4x5x6, but got 2x4x7x6}}
  %o = attn.kernel %q, %k, %v
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x7x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %l: tensor<4xi32>) {
  // expected-error @below {{expected lengths of 2, but got 4}}
  %o = attn.kernel %q, %k, %v lengths(%l : tensor<4xi32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// A9: causal has as many queries as keys.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected as many queries as keys with causal, but got 5 and 7}}
  %o = attn.kernel %q, %k, %v
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// A10: the states.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %s: tensor<2x4x8x6xf32>, %z: tensor<2x2x8xf32>) {
  // expected-error @below {{expected state of 2x2x8x6, but got 2x4x8x6}}
  %o = attn.kernel %q, %k, %v initial(%s, %z : tensor<2x4x8x6xf32>, tensor<2x2x8xf32>)
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %s: tensor<2x2x8x6xf32>, %z: tensor<2x2x9xf32>) {
  // expected-error @below {{expected sum of 2x2x8, but got 2x2x9}}
  %o = attn.kernel %q, %k, %v initial(%s, %z : tensor<2x2x8x6xf32>, tensor<2x2x9xf32>)
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected state of 2x2x8x6, but got 2x2x8x8}}
  %o, %s1, %z1 = attn.kernel %q, %k, %v
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>, final tensor<2x2x8x8xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %s: tensor<2x2x8x6xf32>) {
  // expected-error @below {{expected both a state and its sum, or neither}}
  %o = attn.kernel %q, %k, %v initial(%s : tensor<2x2x8x6xf32>)
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// A11: an initial state needs causal.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %s: tensor<2x2x8x6xf32>, %z: tensor<2x2x8xf32>) {
  // expected-error @below {{expected causal with an initial state}}
  %o = attn.kernel %q, %k, %v initial(%s, %z : tensor<2x2x8x6xf32>, tensor<2x2x8xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// The guard of a denominator.
func.func private @f() attributes {
  // expected-error @below {{expected a finite bias and floor of at least 0}}
  guard = #attn.denominator<bias = -1.0, floor = 0.0>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected a finite bias and floor of at least 0}}
  guard = #attn.denominator<bias = 0.0, floor = 1.0e999>
}

// -----

// Names of feature maps and roles.
func.func private @f() attributes {
  // expected-error @below {{expected a feature map (elu1, relu, cosformer, focused, favor, favor_relu, softmax, tensor_square, identity, symmetric_square), but got 'elu2'}}
  map = #attn.feature_map<elu2>
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x4x5x8xf32>) {
  // expected-error @below {{expected a role, one of batch, head, query, key, feature, value, but got 'querys'}}
  %w = attn.contract %a[batch, head, querys, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x5x5xf32>
  return
}

// -----

// A12: feature maps.
func.func @f(%x: tensor<2x4x5x8xf32>) {
  // expected-error @below {{expected result of 2x4x5x8, but got 2x4x5x16}}
  %r = attn.map %x {feature_map = #attn.feature_map<elu1>} : tensor<2x4x5x8xf32> -> tensor<2x4x5x16xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x5x8xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %r = attn.map %x lengths(%l : tensor<3xi32>) {feature_map = #attn.feature_map<elu1>} : tensor<2x4x5x8xf32> -> tensor<2x4x5x8xf32>
  return
}

// -----

// A13: roles.
func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x4x5x8xf32>) {
  // expected-error @below {{expected a role for each of 4 dimensions of lhs, but got 3}}
  %w = attn.contract %a[batch, head, query], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x4x5x8xf32>) {
  // expected-error @below {{expected a role for each of 4 dimensions of rhs, but got 5}}
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature, value] -> [batch, head, query, key]
      : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x4x5x8xf32>) {
  // expected-error @below {{expected a role for each of 3 dimensions of result, but got 4}}
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x4x5x8xf32>) {
  // expected-error @below {{expected distinct roles of lhs, but got head twice}}
  %w = attn.contract %a[batch, head, head, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x4x5x9xf32>) {
  // expected-error @below {{expected equal sizes of feature, but got 8 and 9}}
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<2x4x5x8xf32>, tensor<2x4x5x9xf32> -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x3x5x8xf32>) {
  // expected-error @below {{expected equal sizes of head, but got 4 and 3}}
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<2x4x5x8xf32>, tensor<2x3x5x8xf32> -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x0x5x8xf32>) {
  // expected-error @below {{expected equal sizes of head, but got 4 and 0}}
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<2x4x5x8xf32>, tensor<2x0x5x8xf32> -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x4x5x8xf32>) {
  // expected-error @below {{expected the role value of the result in an operand}}
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, value]
      : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x4x5x8xf32>) {
  // expected-error @below {{expected a size of 5 for key of the result, but got 6}}
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

// A14: a mask is given.
func.func @f(%w: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expected causal, a window or lengths}}
  %r = attn.visible %w : tensor<2x4x5x7xf32>
  return
}

// -----

func.func @f(%w: tensor<2x4x5x7xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %r = attn.visible %w lengths(%l : tensor<3xi32>) : tensor<2x4x5x7xf32>
  return
}

// -----

// A15: sums of rows.
func.func @f(%w: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expected result of 2x4x5, but got 2x4x7}}
  %r = attn.row_sum %w : tensor<2x4x5x7xf32> -> tensor<2x4x7xf32>
  return
}

// -----

// A15: the largest of each row.
func.func @f(%w: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expected result of 2x4x5, but got 2x4x7}}
  %r = attn.row_maximum %w : tensor<2x4x5x7xf32> -> tensor<2x4x7xf32>
  return
}

// -----

// A110: roots are of powers of two.
func.func @f(%w: tensor<2x4x5x7xf32>) {
  // expected-error @below {{expected a power of two as `root`, such as 8, but got 6}}
  %r = attn.row_maximum %w {root = 6 : i64} : tensor<2x4x5x7xf32> -> tensor<2x4x5xf32>
  return
}

// -----

// A16: states.
func.func @f(%p: tensor<2x2x7x8xf32>, %v: tensor<2x2x5x6xf32>) {
  // expected-error @below {{expected value of 2x2x7x6, but got 2x2x5x6}}
  %s, %z = attn.state %p, %v : tensor<2x2x7x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%p: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected state of 2x2x8x6, but got 2x2x6x8}}
  %s, %z = attn.state %p, %v : tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x2x6x8xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%p: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected sum of 2x2x8, but got 2x2x6}}
  %s, %z = attn.state %p, %v : tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x2x8x6xf32>, tensor<2x2x6xf32>
  return
}

// -----

func.func @f(%p: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x6xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %s, %z = attn.state %p, %v lengths(%l : tensor<3xi32>) : tensor<2x2x7x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%s: tensor<2x2x8x6xf32>, %z: tensor<2x2x8xf32>, %t: tensor<2x2x8x7xf32>) {
  // expected-error @below {{failed to verify that all of {first_state, second_state, state} have same type}}
  %r:2 = "attn.state_merge"(%s, %z, %t, %z) : (tensor<2x2x8x6xf32>, tensor<2x2x8xf32>, tensor<2x2x8x7xf32>, tensor<2x2x8xf32>) -> (tensor<2x2x8x6xf32>, tensor<2x2x8xf32>)
  return
}

// -----

// A17: readouts.
func.func @f(%f: tensor<2x4x5x8xf32>, %s: tensor<2x2x9x6xf32>, %z: tensor<2x2x8xf32>) {
  // expected-error @below {{expected state of 2x2x8x6, but got 2x2x9x6}}
  %num, %den = attn.readout %f, %s, %z : tensor<2x4x5x8xf32>, tensor<2x2x9x6xf32>, tensor<2x2x8xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>
  return
}

// -----

func.func @f(%f: tensor<2x4x5x8xf32>, %s: tensor<2x2x8x6xf32>, %z: tensor<2x2x9xf32>) {
  // expected-error @below {{expected sum of 2x2x8, but got 2x2x9}}
  %num, %den = attn.readout %f, %s, %z : tensor<2x4x5x8xf32>, tensor<2x2x8x6xf32>, tensor<2x2x9xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>
  return
}

// -----

func.func @f(%f: tensor<2x4x5x8xf32>, %s: tensor<2x3x8x6xf32>, %z: tensor<2x3x8xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 4, but got 3}}
  %num, %den = attn.readout %f, %s, %z : tensor<2x4x5x8xf32>, tensor<2x3x8x6xf32>, tensor<2x3x8xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>
  return
}

// -----

func.func @f(%f: tensor<2x4x5x8xf32>, %s: tensor<2x2x8x6xf32>, %z: tensor<2x2x8xf32>) {
  // expected-error @below {{expected numerator of 2x4x5x6, but got 2x4x5x8}}
  %num, %den = attn.readout %f, %s, %z : tensor<2x4x5x8xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32> -> tensor<2x4x5x8xf32>, tensor<2x4x5xf32>
  return
}

// -----

func.func @f(%f: tensor<2x4x5x8xf32>, %s: tensor<2x2x8x6xf32>, %z: tensor<2x2x8xf32>) {
  // expected-error @below {{expected denominator of 2x4x5, but got 2x4x6}}
  %num, %den = attn.readout %f, %s, %z : tensor<2x4x5x8xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x6xf32>
  return
}

// -----

// A3, A9, A10, A18: causal readouts.
func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %l: tensor<1xi32>) {
  // expected-error @below {{expected lengths of 2, but got 1}}
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v lengths(%l : tensor<1xi32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x7x8xf32>, %v: tensor<2x2x5x6xf32>) {
  // expected-error @below {{expected key features of 2x2x5x8, but got 2x2x7x8}}
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x5x8xf32>, %v: tensor<2x2x7x6xf32>) {
  // expected-error @below {{expected value of 2x2x5x6, but got 2x2x7x6}}
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x7x6xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x3x5x8xf32>, %v: tensor<2x3x5x6xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 4, but got 3}}
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v
      : tensor<2x4x5x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x6xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %s0: tensor<2x2x8x7xf32>, %z0: tensor<2x2x8xf32>) {
  // expected-error @below {{expected state of 2x2x8x6, but got 2x2x8x7}}
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v initial(%s0, %z0 : tensor<2x2x8x7xf32>, tensor<2x2x8xf32>)
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>) {
  // expected-error @below {{expected state of 2x2x8x6, but got 2x4x8x6}}
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x4x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>) {
  // expected-error @below {{expected sum of 2x2x8, but got 2x2x9}}
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x6xf32>, tensor<2x4x5xf32>, tensor<2x2x8x6xf32>, tensor<2x2x9xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>) {
  // expected-error @below {{expected numerator of 2x4x5x6, but got 2x4x5x8}}
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x8xf32>, tensor<2x4x5xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x5x8xf32>, %b: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>) {
  // expected-error @below {{expected denominator of 2x4x5, but got 2x2x5}}
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v
      : tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x6xf32> -> tensor<2x4x5x6xf32>, tensor<2x2x5xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

// A19: the division.
func.func @f(%n: tensor<2x4x5x6xf32>, %d: tensor<2x4x6xf32>) {
  // expected-error @below {{expected denominator of 2x4x5, but got 2x4x6}}
  %o = attn.normalize %n, %d {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : tensor<2x4x5x6xf32>, tensor<2x4x6xf32> -> tensor<2x4x5x6xf32>
  return
}

// -----

func.func @f(%n: tensor<2x4x5x6xf32>, %d: tensor<2x4x5xf32>) {
  // expected-error @below {{expected output of 2x4x5x6, but got 2x4x5x7}}
  %o = attn.normalize %n, %d {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : tensor<2x4x5x6xf32>, tensor<2x4x5xf32> -> tensor<2x4x5x7xf32>
  return
}
