// I15: φ(K), Bᵀ V and loads of K and V once for the query heads of a key-value head.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}grouped__repeated equals grouped:
// SIDES-DAG: {{^}}own__not_shared differs from own:

!x = tensor<?x4x?x4xf32>
!kv = tensor<?x2x?x4xf32>
!h = tensor<?x1x?x4xf32>
#guard = #attn.denominator<bias = 0.5, floor = 0.0>

func.func @grouped(%q: !x, %k: !kv, %v: !kv) -> !x {
  %o = attn.kernel %q, %k, %v {causal, denominator = #guard, feature_map = #attn.feature_map<elu1>} : !x, !kv, !kv -> !x
  return %o : !x
}
func.func @grouped__repeated(%q: !x, %k: !kv, %v: !kv) -> !x {
  %k0 = attn.take_heads %k {first = 0 : i64} : !kv -> !h
  %k1 = attn.take_heads %k {first = 1 : i64} : !kv -> !h
  %v0 = attn.take_heads %v {first = 0 : i64} : !kv -> !h
  %v1 = attn.take_heads %v {first = 1 : i64} : !kv -> !h
  %ks = attn.concat_heads %k0, %k0, %k1, %k1 : !h, !h, !h, !h -> !x
  %vs = attn.concat_heads %v0, %v0, %v1, %v1 : !h, !h, !h, !h -> !x
  %o = attn.kernel %q, %ks, %vs {causal, denominator = #guard, feature_map = #attn.feature_map<elu1>} : !x, !x, !x -> !x
  return %o : !x
}

// A map of each query head has no φ(K) to share.
!own = tensor<4x5x4xf32>
!one = tensor<1x5x4xf32>
#relu = #attn.feature_map<favor_relu, features = 5, epsilon = 1.0e-3>
func.func @own(%q: !x, %k: !kv, %v: !kv, %w: !own) -> !x {
  %o = attn.kernel %q, %k, %v parameter(%w : !own) {causal, denominator = #guard, feature_map = #relu} : !x, !kv, !kv -> !x
  return %o : !x
}
func.func @own__not_shared(%q: !x, %k: !kv, %v: !kv, %w: !own) -> !x {
  %first = arith.constant dense<0.5> : !one
  %o = attn.kernel %q, %k, %v parameter(%first : !one) {causal, denominator = #guard, feature_map = #relu} : !x, !kv, !kv -> !x
  return %o : !x
}
