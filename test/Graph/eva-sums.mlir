// The logarithms of sums that EVA leaves are those of its joint softmax, from which its gradient makes weights again.
// RUN: attune-equal %s | FileCheck %s
// CHECK-DAG: {{^}}eva__of_terms equals eva:
// CHECK-DAG: {{^}}eva__not_chunks differs from eva:

!x = tensor<2x4x24x5xf32>
!k = tensor<2x2x24x5xf32>
!l = tensor<2x4x24xf32>
!m = tensor<2x4x6x5xf32>
!w = tensor<2x4x6xf32>

func.func @eva(%q: !x, %k: !k, %v: !k) -> (!x, !l) {
  %o, %l = attn.eva %q, %k, %v {chunk = 4 : i64, local = 8 : i64, mass, mu_weight = 0.5 : f64, scale = 0.5 : f64} : !x, !k, !k -> !x, lse !l
  return %o, %l : !x, !l
}

func.func @eva__of_terms(%q: !x, %k: !k, %v: !k) -> (!x, !l) {
  %mean, %beta, %w = attn.eva_summaries %q, %k, %v {chunk = 4 : i64, mass, mu_weight = 0.5 : f64, scale = 0.5 : f64} : !x, !k, !k -> !m, !m, !w
  %o, %l = attn.eva_mix %q, %k, %v summaries(%mean, %beta, %w : !m, !m, !w) {chunk = 4 : i64, local = 8 : i64, scale = 0.5 : f64} : !x, !k, !k -> !x, lse !l
  return %o, %l : !x, !l
}

func.func @eva__not_chunks(%q: !x, %k: !k, %v: !k) -> (!x, !l) {
  %o = attn.eva %q, %k, %v {chunk = 4 : i64, local = 8 : i64, mass, mu_weight = 0.5 : f64, scale = 0.5 : f64} : !x, !k, !k -> !x
  %p, %l = attn.softmax %q, %k, %v {scale = 0.5 : f64, window = #attn.window<8>} : !x, !k, !k -> !x, lse !l
  return %o, %l : !x, !l
}
