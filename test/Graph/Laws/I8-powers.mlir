// I8: ⟨x^⊗4, y^⊗4⟩ = ⟨x, y⟩⁴. Rare: d⁴ features a token; the test of I7's prices has the length from which they pay.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}pairs__powers equals pairs:
// SIDES-DAG: {{^}}pairs__not_odd differs from pairs:
// SIDES-DAG: {{^}}attention__by_states equals attention:

!x = tensor<?x2x?x3xf32>
!x2 = tensor<?x2x?x9xf32>
!x4 = tensor<?x2x?x81xf32>
!p = tensor<?x2x?x?xf32>
#square = #attn.feature_map<tensor_square>

func.func @pairs(%x: !x, %y: !x) -> !p {
  %a2 = attn.map %x {feature_map = #square} : !x -> !x2
  %b2 = attn.map %y {feature_map = #square} : !x -> !x2
  %a = attn.map %a2 {feature_map = #square} : !x2 -> !x4
  %b = attn.map %b2 {feature_map = #square} : !x2 -> !x4
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !x4, !x4 -> !p
  return %w : !p
}

func.func @pairs__powers(%x: !x, %y: !x) -> !p {
  %t = attn.contract %x[batch, head, query, feature], %y[batch, head, key, feature] -> [batch, head, query, key] : !x, !x -> !p
  %w = attn.power %t {degree = 4 : i64, scale = 1.0 : f64} : !p
  return %w : !p
}

func.func @pairs__not_odd(%x: !x, %y: !x) -> !p {
  %t = attn.contract %x[batch, head, query, feature], %y[batch, head, key, feature] -> [batch, head, query, key] : !x, !x -> !p
  %w = attn.power %t {degree = 3 : i64, scale = 1.0 : f64} : !p
  return %w : !p
}

// Polynomial attention through a state of tensor features.
#none = #attn.denominator<bias = 0.5, floor = 0.0>
func.func @attention(%q: !x, %k: !x, %v: !x) -> !x {
  %o = attn.polynomial %q, %k, %v {causal, degree = 2 : i64, denominator = #none, scale = 1.0 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @attention__by_states(%q: !x, %k: !x, %v: !x) -> !x {
  %a = attn.map %q {feature_map = #square} : !x -> !x2
  %b = attn.map %k {feature_map = #square} : !x -> !x2
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v : !x2, !x2, !x -> !x, tensor<?x2x?xf32>, tensor<?x2x9x3xf32>, tensor<?x2x9xf32>
  %o = attn.normalize %num, %den {guard = #none} : !x, tensor<?x2x?xf32> -> !x
  return %o : !x
}
