// RUN: attn-opt %s -attn-differentiate | FileCheck %s --check-prefix=PAIRS
// RUN: attn-opt %s -attn-differentiate=linear | FileCheck %s --check-prefix=STATES

// Weights of pairs, or a state of the keys and one of what reaches the queries: S̄ = Aᵀ ū, V̄ = B S̄.
// PAIRS-LABEL: func.func @f_backward
// PAIRS:         attn.contract %{{.*}} [batch, head, query, feature], %{{.*}} [batch, head, key, feature] -> [batch, head, query, key]
// PAIRS-NOT:     attn.state
// STATES-LABEL: func.func @f_backward
// STATES-NOT:     -> [batch, head, query, key]
// STATES:         attn.state
// STATES:         [[S:%.*]] = attn.contract %{{.*}} [batch, head, query, feature], %{{.*}} [batch, head, query, value] -> [batch, head, feature, value]
// STATES:         attn.contract %{{.*}} [batch, head, key, feature], [[S]] [batch, head, feature, value] -> [batch, head, key, value]
func.func @f(%q: tensor<1x2x?x16xf32> {attn.name = "q"}, %k: tensor<1x2x?x16xf32> {attn.name = "k"}, %v: tensor<1x2x?x16xf32> {attn.name = "v"})
    -> (tensor<1x2x?x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["v"]} {
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// Of a causal quotient the op says what reaches both of its parts, and nothing of the output is computed again.
// STATES-LABEL: func.func @causal_backward
// STATES-SAME:    %[[C:[a-z0-9]+]]: tensor<1x2x?x16xf32> {attn.name = "grad_o"})
// STATES-NOT:     attn.causal_readout %
// STATES:         attn.causal_readout_gradient {{.*}} cotangents(numerator %[[C]] : tensor<1x2x?x16xf32>) {guard = #attn.denominator<bias = 1.000000e+00, floor = 0.000000e+00>}
func.func @causal(%q: tensor<1x2x?x16xf32> {attn.name = "q"}, %k: tensor<1x2x?x16xf32> {attn.name = "k"}, %v: tensor<1x2x?x16xf32> {attn.name = "v"})
    -> (tensor<1x2x?x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["v"]} {
  %o = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// Sketches go through a state of their squares where lengths are open and these are narrow, or where a length makes that the cheaper way; of a degree above 4
// and with exact blocks their pairs are left.
// STATES-LABEL: func.func @open_sketch_backward
// STATES: attn.map {{.*}}symmetric_square{{.*}} -> tensor<1x2x?x144xf32>
// STATES: attn.causal_readout_gradient
func.func @open_sketch(%q: tensor<1x2x?x8xf32> {attn.name = "q"}, %s: tensor<2x8xf32> {attn.parameter}, %t: tensor<2x16xf32> {attn.parameter}, %i: tensor<2x16xi32> {attn.parameter}) -> (tensor<1x2x?x8xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x16xf32>, tensor<2x16xf32>) indices(%i, %i, %i, %i : tensor<2x16xi32>, tensor<2x16xi32>, tensor<2x16xi32>, tensor<2x16xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// STATES-LABEL: func.func @wide_sketch_backward
// STATES-NOT: _square
// STATES: return
func.func @wide_sketch(%q: tensor<1x2x?x8xf32> {attn.name = "q"}, %s: tensor<2x8xf32> {attn.parameter}, %t: tensor<2x32xf32> {attn.parameter}, %i: tensor<2x32xi32> {attn.parameter}) -> (tensor<1x2x?x8xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x32xf32>, tensor<2x32xf32>) indices(%i, %i, %i, %i : tensor<2x32xi32>, tensor<2x32xi32>, tensor<2x32xi32>, tensor<2x32xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, scale = 1.0 : f64, size = 32 : i64} : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// STATES-LABEL: func.func @long_sketch_backward
// STATES: attn.causal_readout_gradient
func.func @long_sketch(%q: tensor<1x2x4096x8xf32> {attn.name = "q"}, %s: tensor<2x8xf32> {attn.parameter}, %t: tensor<2x16xf32> {attn.parameter}, %i: tensor<2x16xi32> {attn.parameter}) -> (tensor<1x2x4096x8xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x16xf32>, tensor<2x16xf32>) indices(%i, %i, %i, %i : tensor<2x16xi32>, tensor<2x16xi32>, tensor<2x16xi32>, tensor<2x16xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<1x2x4096x8xf32>, tensor<1x2x4096x8xf32>, tensor<1x2x4096x8xf32> -> tensor<1x2x4096x8xf32>
  return %o : tensor<1x2x4096x8xf32>
}

// STATES-LABEL: func.func @short_sketch_backward
// STATES-NOT: _square
// STATES: return
func.func @short_sketch(%q: tensor<1x2x128x8xf32> {attn.name = "q"}, %s: tensor<2x8xf32> {attn.parameter}, %t: tensor<2x16xf32> {attn.parameter}, %i: tensor<2x16xi32> {attn.parameter}) -> (tensor<1x2x128x8xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x16xf32>, tensor<2x16xf32>) indices(%i, %i, %i, %i : tensor<2x16xi32>, tensor<2x16xi32>, tensor<2x16xi32>, tensor<2x16xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, scale = 1.0 : f64, size = 16 : i64} : tensor<1x2x128x8xf32>, tensor<1x2x128x8xf32>, tensor<1x2x128x8xf32> -> tensor<1x2x128x8xf32>
  return %o : tensor<1x2x128x8xf32>
}

// STATES-LABEL: func.func @high_sketch_backward
// STATES-NOT: _square
// STATES: return
func.func @high_sketch(%q: tensor<1x2x?x8xf32> {attn.name = "q"}, %s: tensor<2x8xf32> {attn.parameter}, %t: tensor<2x4xf32> {attn.parameter}, %i: tensor<2x4xi32> {attn.parameter}) -> (tensor<1x2x?x8xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %s, %s, %t, %t, %t, %t, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) indices(%i, %i, %i, %i, %i, %i, %i, %i, %i, %i : tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>)
      {causal, degree = 8 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, scale = 1.0 : f64, size = 4 : i64} : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// STATES-LABEL: func.func @local_sketch_backward
// STATES-NOT: _square
// STATES: return
func.func @local_sketch(%q: tensor<1x2x4096x8xf32> {attn.name = "q"}, %s: tensor<2x8xf32> {attn.parameter}, %t: tensor<2x16xf32> {attn.parameter}, %i: tensor<2x16xi32> {attn.parameter}) -> (tensor<1x2x4096x8xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.polysketch %q, %q, %q signs(%s, %s, %t, %t : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x16xf32>, tensor<2x16xf32>) indices(%i, %i, %i, %i : tensor<2x16xi32>, tensor<2x16xi32>, tensor<2x16xi32>, tensor<2x16xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, local_exact = 64 : i64, scale = 1.0 : f64, size = 16 : i64} : tensor<1x2x4096x8xf32>, tensor<1x2x4096x8xf32>, tensor<1x2x4096x8xf32> -> tensor<1x2x4096x8xf32>
  return %o : tensor<1x2x4096x8xf32>
}

// Features that may be out of the range of f32: of all keys they have a shift each, of a causal readout the cotangents of their logarithms, and so in windows,
// pair by pair, and of few causal tokens.
// STATES-LABEL: func.func @favor_backward
// STATES:         %[[M:.*]] = attn.key_maximum %arg1 {{.*}} -> tensor<1x2x24xf32>
// STATES:         attn.map %arg0 {{.*}} shift(%[[M]] : tensor<1x2x24xf32>)
// STATES:         attn.map %arg1 {{.*}} shift(%[[M]] : tensor<1x2x24xf32>)
// STATES:         attn.map_gradient %arg1, {{.*}} shift(%[[M]] : tensor<1x2x24xf32>)
func.func @favor(%q: tensor<1x2x?x16xf32> {attn.name = "q"}, %k: tensor<1x2x?x16xf32> {attn.name = "k"}, %v: tensor<1x2x?x16xf32> {attn.name = "v"}, %w: tensor<1x24x16xf32> {attn.name = "omega", attn.parameter})
    -> (tensor<1x2x?x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["k"]} {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x24x16xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 24, epsilon = 0.0, scale = 0.25, stabilizer = constant>}
      : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// STATES-LABEL: func.func @favor_shares_backward
// STATES:         attn.causal_readout_gradient {{.*}} write(%arg4 : tensor<1x2x?xf32>) cotangents(numerator %arg5 : {{.*}}, logarithms} {{.*}} write(tensor<1x2x?xf32>)
// STATES-NOT:     attn.gate
// STATES:         return
func.func @favor_shares(%q: tensor<1x2x?x16xf32> {attn.name = "q"}, %k: tensor<1x2x?x16xf32> {attn.name = "k"}, %v: tensor<1x2x?x16xf32> {attn.name = "v"}, %w: tensor<1x24x16xf32> {attn.name = "omega", attn.parameter}, %s: tensor<1x2x?xf32> {attn.name = "w"})
    -> (tensor<1x2x?x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["k", "w"]} {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x24x16xf32>) write(%s : tensor<1x2x?xf32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 24, epsilon = 0.0, scale = 0.25, stabilizer = constant>}
      : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// STATES-LABEL: func.func @favor_causal_backward
// STATES-NOT:     attn.key_maximum
// STATES:         attn.causal_readout_gradient {{.*}}, logarithms}
// STATES:         attn.map_gradient %arg1, {{.*}}, keys, logarithms}
func.func @favor_causal(%q: tensor<1x2x?x16xf32> {attn.name = "q"}, %k: tensor<1x2x?x16xf32> {attn.name = "k"}, %v: tensor<1x2x?x16xf32> {attn.name = "v"}, %w: tensor<1x24x16xf32> {attn.name = "omega", attn.parameter})
    -> (tensor<1x2x?x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["k"]} {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x24x16xf32>) {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 24, epsilon = 0.0, scale = 0.25, stabilizer = constant>}
      : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}

// STATES-LABEL: func.func @favor_window_backward
// STATES-NOT:     shift
// STATES:         %[[A:.*]] = attn.map %arg0
// STATES:         %[[B:.*]] = attn.map %arg1 {{.*}} stabilizer = none>, keys}
// STATES:         %[[O:.*]], %[[L:.*]] = attn.feature_attention %[[A]], %[[B]], %arg2 {guard = {{.*}}, window = #attn.window<6>}
// STATES:         %[[D:.*]] = attn.contract %{{.*}} [batch, head, query, value], %[[O]]
// STATES:         %[[S:.*]] = attn.denominator_gradient %[[D]], %[[L]] {guard = {{.*}}, logarithms}
// STATES:         %[[Y:.*]], %{{.*}} = attn.feature_key_gradients %[[A]], %[[B]], %arg2 lse(%[[L]] : {{.*}}) cotangents(%{{.*}}, %[[S]] : {{.*}}) {window = #attn.window<6>}
// STATES:         attn.map_gradient %arg1, %[[Y]] {{.*}} stabilizer = none>, keys, logarithms}
func.func @favor_window(%q: tensor<1x2x24x16xf32> {attn.name = "q"}, %k: tensor<1x2x24x16xf32> {attn.name = "k"}, %v: tensor<1x2x24x16xf32> {attn.name = "v"}, %w: tensor<1x24x16xf32> {attn.name = "omega", attn.parameter})
    -> (tensor<1x2x24x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["k"]} {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x24x16xf32>) {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 24, epsilon = 0.0, scale = 0.25, stabilizer = constant>, window = #attn.window<6>}
      : tensor<1x2x24x16xf32>, tensor<1x2x24x16xf32>, tensor<1x2x24x16xf32> -> tensor<1x2x24x16xf32>
  return %o : tensor<1x2x24x16xf32>
}

// STATES-LABEL: func.func @powers_backward
// STATES:         attn.feature_attention {{.*}} {causal, guard = #attn.denominator<bias = 5.000000e-01, floor = 0.000000e+00>, window = #attn.window<6>}
// STATES:         attn.feature_query_gradient {{.*}} {causal, window = #attn.window<6>}
func.func @powers(%q: tensor<1x2x24x16xf32> {attn.name = "q"}, %k: tensor<1x2x24x16xf32> {attn.name = "k"}, %v: tensor<1x2x24x16xf32> {attn.name = "v"}, %w: tensor<2x16xf32> {attn.name = "focus", attn.parameter})
    -> (tensor<1x2x24x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<2x16xf32>) {causal, denominator = #attn.denominator<bias = 0.5, floor = 0.0>, feature_map = #attn.feature_map<focused, epsilon = 1.0e-6, power = 24.0>, window = #attn.window<6>}
      : tensor<1x2x24x16xf32>, tensor<1x2x24x16xf32>, tensor<1x2x24x16xf32> -> tensor<1x2x24x16xf32>
  return %o : tensor<1x2x24x16xf32>
}

// Of a power in range numbers are kept.
// STATES-LABEL: func.func @low_powers_backward
// STATES-NOT:     feature_attention
// STATES:         return
func.func @low_powers(%q: tensor<1x2x24x16xf32> {attn.name = "q"}, %k: tensor<1x2x24x16xf32> {attn.name = "k"}, %v: tensor<1x2x24x16xf32> {attn.name = "v"}, %w: tensor<2x16xf32> {attn.name = "focus", attn.parameter})
    -> (tensor<1x2x24x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<2x16xf32>) {causal, denominator = #attn.denominator<bias = 0.5, floor = 0.0>, feature_map = #attn.feature_map<focused, epsilon = 1.0e-6, power = 3.0>, window = #attn.window<6>}
      : tensor<1x2x24x16xf32>, tensor<1x2x24x16xf32>, tensor<1x2x24x16xf32> -> tensor<1x2x24x16xf32>
  return %o : tensor<1x2x24x16xf32>
}
