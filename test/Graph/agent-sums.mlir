// The logarithms of sums that agents leave are those of the outer softmax.
// RUN: attune-equal %s | FileCheck %s
// CHECK-DAG: {{^}}agents__of_terms equals agents:
// CHECK-DAG: {{^}}agents__not_keys differs from agents:

!x = tensor<2x4x24x5xf32>
!k = tensor<2x2x24x5xf32>
!l = tensor<2x4x24xf32>
!a = tensor<2x4x6x5xf32>

func.func @agents(%q: !x, %k: !k, %v: !k) -> (!x, !l) {
  %o, %l = attn.agent %q, %k, %v {agents = 6 : i64, scale = 0.5 : f64} : !x, !k, !k -> !x, lse !l
  return %o, %l : !x, !l
}

func.func @agents__of_terms(%q: !x, %k: !k, %v: !k) -> (!x, !l) {
  %a = attn.pool %q {count = 6 : i64} : !x -> !a
  %r = attn.softmax %a, %k, %v {scale = 0.5 : f64} : !a, !k, !k -> !a
  %o, %l = attn.softmax %q, %a, %r {scale = 0.5 : f64} : !x, !a, !a -> !x, lse !l
  return %o, %l : !x, !l
}

func.func @agents__not_keys(%q: !x, %k: !k, %v: !k) -> (!x, !l) {
  %o = attn.agent %q, %k, %v {agents = 6 : i64, scale = 0.5 : f64} : !x, !k, !k -> !x
  %p, %l = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !x, !k, !k -> !x, lse !l
  return %o, %l : !x, !l
}
