// I16: the order of features does not matter, where it is the same for queries and keys; nor does that of heads.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}features__permuted equals features:
// SIDES-DAG: {{^}}features__not_of_one_side differs from features:
// SIDES-DAG: {{^}}features__heads_turned equals features:

!x = tensor<?x2x?x3xf32>
!h = tensor<?x1x?x3xf32>

func.func @features(%q: !x, %k: !x, %v: !x) -> !x {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @features__permuted(%q: !x, %k: !x, %v: !x) -> !x {
  %p = arith.constant dense<[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %qp = attn.contract %q[batch, head, query, feature], %p[feature, value] -> [batch, head, query, value] : !x, tensor<3x3xf32> -> !x
  %kp = attn.contract %k[batch, head, key, feature], %p[feature, value] -> [batch, head, key, value] : !x, tensor<3x3xf32> -> !x
  %o = attn.softmax %qp, %kp, %v {scale = 1.0 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @features__not_of_one_side(%q: !x, %k: !x, %v: !x) -> !x {
  %p = arith.constant dense<[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %qp = attn.contract %q[batch, head, query, feature], %p[feature, value] -> [batch, head, query, value] : !x, tensor<3x3xf32> -> !x
  %o = attn.softmax %qp, %k, %v {scale = 1.0 : f64} : !x, !x, !x -> !x
  return %o : !x
}

func.func @features__heads_turned(%q: !x, %k: !x, %v: !x) -> !x {
  %q0 = attn.take_heads %q {first = 0 : i64} : !x -> !h
  %q1 = attn.take_heads %q {first = 1 : i64} : !x -> !h
  %k0 = attn.take_heads %k {first = 0 : i64} : !x -> !h
  %k1 = attn.take_heads %k {first = 1 : i64} : !x -> !h
  %v0 = attn.take_heads %v {first = 0 : i64} : !x -> !h
  %v1 = attn.take_heads %v {first = 1 : i64} : !x -> !h
  %qs = attn.concat_heads %q1, %q0 : !h, !h -> !x
  %ks = attn.concat_heads %k1, %k0 : !h, !h -> !x
  %vs = attn.concat_heads %v1, %v0 : !h, !h -> !x
  %o = attn.softmax %qs, %ks, %vs {scale = 1.0 : f64} : !x, !x, !x -> !x
  %o1 = attn.take_heads %o {first = 0 : i64} : !x -> !h
  %o0 = attn.take_heads %o {first = 1 : i64} : !x -> !h
  %r = attn.concat_heads %o0, %o1 : !h, !h -> !x
  return %r : !x
}
