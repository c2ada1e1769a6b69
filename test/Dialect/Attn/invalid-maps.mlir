// Windows, feature maps with parameters, compression: every check of their verifiers and parsers, with its number.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Attributes.
func.func private @f() attributes {
  // expected-error @below {{expected a window whose rows and columns divide its grid, but got 5x7 of 56x56}}
  a = #attn.window<5x7 of 56x56>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected positive sizes of a window}}
  a = #attn.window<0>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected a window <LENGTH>, or <ROWSxCOLUMNS of GRIDROWSxGRIDCOLUMNS>}}
  a = #attn.window<7x7>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected a field of elu1 (), but got 'features'}}
  a = #attn.feature_map<elu1, features = 4>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected a field of favor (features, epsilon, scale, stabilizer), but got 'power'}}
  a = #attn.feature_map<favor, power = 4.0>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected 'power' once, but got it again}}
  a = #attn.feature_map<focused, power = 3.0, power = 3.0>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected a stabilizer (constant, max, projection, none), but got 'some'}}
  a = #attn.feature_map<favor, features = 4, stabilizer = some>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected at least one feature of favor, but got 0}}
  a = #attn.feature_map<favor, features = 0, epsilon = 0.0, scale = 1.0>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected a scale > 0 of favor, but got 0}}
  a = #attn.feature_map<favor, features = 4, epsilon = 0.0, scale = 0.0>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected finite numbers of at least 0 in a feature map}}
  a = #attn.feature_map<favor, features = 4, epsilon = -1.0, scale = 1.0>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected a max_position of at least 1, but got 0}}
  a = #attn.feature_map<cosformer, max_position = 0>
}

// -----

func.func private @f() attributes {
  // expected-error @below {{expected a power and an epsilon > 0 of focused}}
  a = #attn.feature_map<focused, epsilon = 1.0e-6, power = 0.0>
}

// -----

// A20: windows.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a window whose length divides 12, but got 5}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<5>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a window of a grid of 12 tokens, but got 16}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<2x2 of 4x4>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x24x8xf32>, %v: tensor<2x2x24x6xf32>) {
  // expected-error @below {{expected as many queries as keys with a window, but got 12 and 24}}
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<4>} : tensor<2x4x12x8xf32>, tensor<2x2x24x8xf32>, tensor<2x2x24x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// The number of queries is not known yet: no error.
func.func @f(%q: tensor<2x4x?x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<5>} : tensor<2x4x?x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x?x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a window whose length divides 12, but got 5}}
  %m, %l, %a = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 1 : i64, scale = 1.0 : f64, window = #attn.window<5>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12xf32>, tensor<2x4x12xf32>, tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a window whose length divides 12, but got 5}}
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>, window = #attn.window<5>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%w: tensor<2x4x12x12xf32>) {
  // expected-error @below {{expected a window whose length divides 12, but got 5}}
  %o = attn.visible %w {window = #attn.window<5>} : tensor<2x4x12x12xf32>
  return
}

// -----

// A21: parameters of maps.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a parameter with favor, but got none}}
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %w: tensor<1x16x8xf32>) {
  // expected-error @below {{expected no parameter with elu1, but got one}}
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x16x8xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %w: tensor<2x16x8xf32>) {
  // expected-error @below {{expected omega of 4x16x8, but got 2x16x8}}
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<2x16x8xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %w: tensor<1x15x8xf32>) {
  // expected-error @below {{expected omega of 1x16x8, but got 1x15x8}}
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x15x8xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %w: tensor<16x8xf32>) {
  // expected-error @below {{expected omega of 4x16x8, but got 16x8}}
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<16x8xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %s: tensor<1x8xf32>) {
  // expected-error @below {{expected focus of 4x8, but got 1x8}}
  %o = attn.kernel %q, %k, %v parameter(%s : tensor<1x8xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<focused, epsilon = 1.0e-6, power = 3.0>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<3x16x8xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 3, but got 2}}
  %r = attn.map %k parameter(%w : tensor<3x16x8xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : tensor<2x2x12x8xf32> -> tensor<2x3x12x16xf32>
  return
}

// -----

// A22: naive FLuRKA.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %e: tensor<1x3x12xf32>, %f: tensor<2x3x12xf32>) {
  // expected-error @below {{expected compress without causal, window and states}}
  %o = attn.kernel %q, %k, %v compress(%e, %f : tensor<1x3x12xf32>, tensor<2x3x12xf32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %e: tensor<1x3x12xf32>) {
  // expected-error @below {{expected both E and F, or neither}}
  %o = "attn.kernel"(%q, %k, %v, %e) <{denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32>, tensor<1x3x12xf32>) -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %e: tensor<3x12xf32>, %f: tensor<2x3x12xf32>) {
  // expected-error @below {{expected E of rank 3, but got 'tensor<3x12xf32>'}}
  %o = attn.kernel %q, %k, %v compress(%e, %f : tensor<3x12xf32>, tensor<2x3x12xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %e: tensor<1x3x11xf32>, %f: tensor<2x3x12xf32>) {
  // expected-error @below {{expected E of 1x3x12, but got 1x3x11}}
  %o = attn.kernel %q, %k, %v compress(%e, %f : tensor<1x3x11xf32>, tensor<2x3x12xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %e: tensor<1x3x12xf32>, %f: tensor<2x4x12xf32>) {
  // expected-error @below {{expected F of 2x3x12, but got 2x4x12}}
  %o = attn.kernel %q, %k, %v compress(%e, %f : tensor<1x3x12xf32>, tensor<2x4x12xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %e: tensor<3x3x12xf32>, %f: tensor<2x3x12xf32>) {
  // expected-error @below {{expected a number of heads of E that divides 2, but got 3}}
  %o = attn.kernel %q, %k, %v compress(%e, %f : tensor<3x3x12xf32>, tensor<2x3x12xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %e: tensor<1x3x12xf32>, %f: tensor<4x3x12xf32>) {
  // expected-error @below {{expected a number of heads of F that divides 2, but got 4}}
  %o = attn.kernel %q, %k, %v compress(%e, %f : tensor<1x3x12xf32>, tensor<4x3x12xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A23: states.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected states without a window}}
  %o, %s, %z = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>, window = #attn.window<4>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>, final tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %w: tensor<1x16x8xf32>) {
  // expected-error @below {{expected the stabilizer constant or none with states, but got max}}
  %o, %s, %z = attn.kernel %q, %k, %v parameter(%w : tensor<1x16x8xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = max>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>, final tensor<2x2x16x6xf32>, tensor<2x2x16xf32>
  return
}

// -----

// A10: a parameter with a row a query head makes states of as many heads.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %w: tensor<4x16x8xf32>) {
  // expected-error @below {{expected state of 2x4x16x6, but got 2x2x16x6}}
  %o, %s, %z = attn.kernel %q, %k, %v parameter(%w : tensor<4x16x8xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>, final tensor<2x2x16x6xf32>, tensor<2x2x16xf32>
  return
}

// -----

// A24: a maximum over keys would leak the future.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %w: tensor<1x16x8xf32>) {
  // expected-error @below {{expected the stabilizer constant or none with causal where it does not cancel, but got max}}
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x16x8xf32>) {causal, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = max>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>, %w: tensor<1x16x8xf32>) {
  // expected-error @below {{expected the stabilizer constant or none with causal where it does not cancel, but got projection}}
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x16x8xf32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 16, epsilon = 1.0e-6, scale = 1.0, stabilizer = projection>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

// A25: places.
func.func @f(%q: tensor<2x4x12x8xf32>, %k: tensor<2x2x12x8xf32>, %v: tensor<2x2x12x6xf32>) {
  // expected-error @below {{expected a max_position of at least 12, but got 11}}
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<cosformer, max_position = 11>} : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32> -> tensor<2x4x12x6xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>) {
  // expected-error @below {{expected a max_position of at least 12, but got 11}}
  %r = attn.map %k {feature_map = #attn.feature_map<cosformer, max_position = 11>} : tensor<2x2x12x8xf32> -> tensor<2x2x12x16xf32>
  return
}

// -----

// A12: heads of the parameter.
func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<4x16x8xf32>) {
  // expected-error @below {{expected result of 2x4x12x16, but got 2x2x12x16}}
  %r = attn.map %k parameter(%w : tensor<4x16x8xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : tensor<2x2x12x8xf32> -> tensor<2x2x12x16xf32>
  return
}

// -----

// A26: shifts.
func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<1x16x8xf32>) {
  // expected-error @below {{expected a shift (only keys of favor with the stabilizers max and projection have one)}}
  %r = attn.map %k parameter(%w : tensor<1x16x8xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = max>, keys} : tensor<2x2x12x8xf32> -> tensor<2x2x12x16xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<1x16x8xf32>, %c: tensor<2x2xf32>) {
  // expected-error @below {{expected no shift (only keys of favor with the stabilizers max and projection have one)}}
  %r = attn.map %k parameter(%w : tensor<1x16x8xf32>) shift(%c : tensor<2x2xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = max>} : tensor<2x2x12x8xf32> -> tensor<2x2x12x16xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<4x16x8xf32>, %c: tensor<2x2xf32>) {
  // expected-error @below {{expected shift of 2x4, but got 2x2}}
  %r = attn.map %k parameter(%w : tensor<4x16x8xf32>) shift(%c : tensor<2x2xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = max>, keys} : tensor<2x2x12x8xf32> -> tensor<2x4x12x16xf32>
  return
}

// -----

// A26: a shift of each feature.
func.func @f(%k: tensor<2x2x12x8xf32>, %m: tensor<2x2x8xf32>) {
  // expected-error @below {{expected focused, or favor without epsilon and a maximum over the keys, with a shift of each feature, but got #attn.feature_map<elu1>}}
  %r = attn.map %k shift(%m : tensor<2x2x8xf32>) {feature_map = #attn.feature_map<elu1>, keys} : tensor<2x2x12x8xf32> -> tensor<2x2x12x8xf32>
  return
}

// -----

// A26: of heads that share it, and of all features.
func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<1x16x8xf32>, %m: tensor<2x2x8xf32>) {
  // expected-error @below {{expected shift of 2x2x16, but got 2x2x8}}
  %r = attn.map %k parameter(%w : tensor<1x16x8xf32>) shift(%m : tensor<2x2x8xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>, keys} : tensor<2x2x12x8xf32> -> tensor<2x2x12x16xf32>
  return
}

// -----

// A27: the largest logarithms of features.
func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<1x16x8xf32>) {
  // expected-error @below {{expected focused, or favor without epsilon, for a maximum of each feature, but got #attn.feature_map<favor, features = 16, epsilon = 1.000000e-03}}
  %c = attn.key_maximum %k parameter(%w : tensor<1x16x8xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 1.0e-3, scale = 1.0, stabilizer = constant>} : tensor<2x2x12x8xf32> -> tensor<2x2x16xf32>
  return
}

// -----

// A27, A21, A3: maxima over keys.
func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<1x16x8xf32>) {
  // expected-error @below {{expected favor with the stabilizer max or projection, but got}}
  %c = attn.key_maximum %k parameter(%w : tensor<1x16x8xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = constant>} : tensor<2x2x12x8xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<1x16x8xf32>) {
  // expected-error @below {{expected result of 2x2, but got 2x4}}
  %c = attn.key_maximum %k parameter(%w : tensor<1x16x8xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = max>} : tensor<2x2x12x8xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<1x16x9xf32>) {
  // expected-error @below {{expected omega of 1x16x8, but got 1x16x9}}
  %c = attn.key_maximum %k parameter(%w : tensor<1x16x9xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = max>} : tensor<2x2x12x8xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%k: tensor<2x2x12x8xf32>, %w: tensor<1x16x8xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{expected lengths of 2, but got 3}}
  %c = attn.key_maximum %k lengths(%l : tensor<3xi32>) parameter(%w : tensor<1x16x8xf32>) {feature_map = #attn.feature_map<favor, features = 16, epsilon = 0.0, scale = 1.0, stabilizer = max>} : tensor<2x2x12x8xf32> -> tensor<2x2xf32>
  return
}

// -----

// A16: heads of the values.
func.func @f(%a: tensor<2x4x12x8xf32>, %v: tensor<2x3x12x6xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 4, but got 3}}
  %s, %z = attn.state %a, %v : tensor<2x4x12x8xf32>, tensor<2x3x12x6xf32> -> tensor<2x4x8x6xf32>, tensor<2x4x8xf32>
  return
}

// -----

// A18: heads of the values.
func.func @f(%a: tensor<2x4x12x8xf32>, %b: tensor<2x2x12x8xf32>, %v: tensor<2x4x12x6xf32>) {
  // expected-error @below {{expected a number of key-value heads that divides 2, but got 4}}
  %n, %d, %s, %z = attn.causal_readout %a, %b, %v : tensor<2x4x12x8xf32>, tensor<2x2x12x8xf32>, tensor<2x4x12x6xf32> -> tensor<2x4x12x6xf32>, tensor<2x4x12xf32>, tensor<2x2x8x6xf32>, tensor<2x2x8xf32>
  return
}
