// I22: exp(a - c) / Σ exp(b - c) is the same for every c. Terms take the constant stabilizer where it cancels, which needs no
// pass over the keys, and keep the one of the spec where it does not.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}cancels__projection equals cancels:
// SIDES-DAG: {{^}}cancels__constant equals cancels:
// SIDES-DAG: {{^}}cancels__none equals cancels:
// SIDES-DAG: {{^}}epsilon__not_constant differs from epsilon:
// SIDES-DAG: {{^}}guarded__not_constant differs from guarded:
// SIDES-DAG: {{^}}state__not_constant differs from state:
// RUN: attn-opt %s -attn-decompose | FileCheck %s

!x = tensor<?x4x?x4xf32>
!kv = tensor<?x2x?x4xf32>
!om = tensor<1x5x4xf32>
!l = tensor<?xi32>
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#guard = #attn.denominator<bias = 0.1, floor = 0.0>

// CHECK-LABEL: func.func @cancels(
// CHECK-NOT:     key_maximum
// CHECK:         stabilizer = constant
func.func @cancels(%q: !x, %k: !kv, %v: !kv, %w: !om, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : !om)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = max>} : !x, !kv, !kv -> !x
  return %o : !x
}
// CHECK-LABEL: func.func @cancels__projection(
// CHECK-NOT:     key_maximum
// CHECK:         stabilizer = constant
func.func @cancels__projection(%q: !x, %k: !kv, %v: !kv, %w: !om, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : !om)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = projection>} : !x, !kv, !kv -> !x
  return %o : !x
}
func.func @cancels__constant(%q: !x, %k: !kv, %v: !kv, %w: !om, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : !om)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = constant>} : !x, !kv, !kv -> !x
  return %o : !x
}
func.func @cancels__none(%q: !x, %k: !kv, %v: !kv, %w: !om, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : !om)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = none>} : !x, !kv, !kv -> !x
  return %o : !x
}

// An epsilon is added after c ...
// CHECK-LABEL: func.func @epsilon(
// CHECK:         key_maximum
func.func @epsilon(%q: !x, %k: !kv, %v: !kv, %w: !om, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : !om)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.1, scale = 0.5, stabilizer = max>} : !x, !kv, !kv -> !x
  return %o : !x
}
func.func @epsilon__not_constant(%q: !x, %k: !kv, %v: !kv, %w: !om, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : !om)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.1, scale = 0.5, stabilizer = constant>} : !x, !kv, !kv -> !x
  return %o : !x
}

// ... a guard stands beside what has c in it ...
// CHECK-LABEL: func.func @guarded(
// CHECK:         key_maximum
func.func @guarded(%q: !x, %k: !kv, %v: !kv, %w: !om, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : !om)
      {denominator = #guard, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = max>} : !x, !kv, !kv -> !x
  return %o : !x
}
func.func @guarded__not_constant(%q: !x, %k: !kv, %v: !kv, %w: !om, %l: !l) -> !x {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%w : !om)
      {denominator = #guard, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = constant>} : !x, !kv, !kv -> !x
  return %o : !x
}

// ... and a state that goes out has c in it.
// CHECK-LABEL: func.func @state(
// CHECK:         stabilizer = none
!s = tensor<?x2x5x4xf32>
!z = tensor<?x2x5xf32>
func.func @state(%q: !x, %k: !kv, %v: !kv, %w: !om) -> (!s, !z) {
  %o, %s, %z = attn.kernel %q, %k, %v parameter(%w : !om)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = none>}
      : !x, !kv, !kv -> !x, final !s, !z
  return %s, %z : !s, !z
}
func.func @state__not_constant(%q: !x, %k: !kv, %v: !kv, %w: !om) -> (!s, !z) {
  %o, %s, %z = attn.kernel %q, %k, %v parameter(%w : !om)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = constant>}
      : !x, !kv, !kv -> !x, final !s, !z
  return %s, %z : !s, !z
}
