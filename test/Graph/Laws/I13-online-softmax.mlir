// I13: a softmax over pieces, merged by maximum and sum in any order, empty pieces included. Every softmax kernel is one: tested
// against the interpreter by test/Unit/Kernel/KernelsTest.cpp (Softmax, SoftmaxOfLargeLogits).
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}whole__later_piece_first equals whole:
// SIDES-DAG: {{^}}whole__not_half differs from whole:

!x = tensor<?x4x?x4xf32>
!kv = tensor<?x2x?x4xf32>
!m = tensor<?x4x?xf32>

func.func @whole(%q: !x, %k: !kv, %v: !kv) -> (!x, !m) {
  %o, %lse = attn.softmax %q, %k, %v {causal, scale = 3.0 : f64} : !x, !kv, !kv -> !x, lse !m
  return %o, %lse : !x, !m
}
func.func @whole__later_piece_first(%q: !x, %k: !kv, %v: !kv) -> (!x, !m) {
  %m0, %l0, %a0 = attn.softmax_partial %q, %k, %v {causal, piece = 0 : i64, pieces = 2 : i64, scale = 3.0 : f64} : !x, !kv, !kv -> !m, !m, !x
  %m1, %l1, %a1 = attn.softmax_partial %q, %k, %v {causal, piece = 1 : i64, pieces = 2 : i64, scale = 3.0 : f64} : !x, !kv, !kv -> !m, !m, !x
  %m, %l, %a = attn.softmax_merge (%m1, %l1, %a1), (%m0, %l0, %a0) : !m, !x
  %o, %lse = attn.softmax_finish %m, %l, %a : !m, !x -> !x
  return %o, %lse : !x, !m
}
func.func @whole__not_half(%q: !x, %k: !kv, %v: !kv) -> (!x, !m) {
  %m0, %l0, %a0 = attn.softmax_partial %q, %k, %v {causal, piece = 0 : i64, pieces = 2 : i64, scale = 3.0 : f64} : !x, !kv, !kv -> !m, !m, !x
  %o, %lse = attn.softmax_finish %m0, %l0, %a0 : !m, !x -> !x
  return %o, %lse : !x, !m
}
