// I11: sums over the sequence in pieces, merged in order. States add; a softmax rescales by the difference of the maxima. Compiled
// code of several pieces: test/Unit/Kernel/SpecsTest.cpp (ManyPieces), its bits: test/Integration/harness/bits.py.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}softmax__of_three_pieces equals softmax:
// SIDES-DAG: {{^}}state__in_the_other_order equals state:

!x = tensor<?x2x?x4xf32>
!m = tensor<?x2x?xf32>
!l = tensor<?xi32>

func.func @softmax(%q: !x, %k: !x, %v: !x, %l: !l) -> !x {
  %o = attn.softmax %q, %k, %v lengths(%l : !l) {causal, scale = 1.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @softmax__of_three_pieces(%q: !x, %k: !x, %v: !x, %l: !l) -> !x {
  %m0, %l0, %a0 = attn.softmax_partial %q, %k, %v lengths(%l : !l) {causal, piece = 0 : i64, pieces = 3 : i64, scale = 1.5 : f64} : !x, !x, !x -> !m, !m, !x
  %m1, %l1, %a1 = attn.softmax_partial %q, %k, %v lengths(%l : !l) {causal, piece = 1 : i64, pieces = 3 : i64, scale = 1.5 : f64} : !x, !x, !x -> !m, !m, !x
  %m2, %l2, %a2 = attn.softmax_partial %q, %k, %v lengths(%l : !l) {causal, piece = 2 : i64, pieces = 3 : i64, scale = 1.5 : f64} : !x, !x, !x -> !m, !m, !x
  %m3, %l3, %a3 = attn.softmax_merge (%m1, %l1, %a1), (%m2, %l2, %a2) : !m, !x
  %m, %s, %a = attn.softmax_merge (%m0, %l0, %a0), (%m3, %l3, %a3) : !m, !x
  %o, %lse = attn.softmax_finish %m, %s, %a : !m, !x -> !x
  return %o : !x
}

// The states of two pieces, in either order.
!s = tensor<?x2x4x4xf32>
!z = tensor<?x2x4xf32>
func.func @state(%b: !x {attn.draw = "positive"}, %c: !x {attn.draw = "positive"}, %v: !x) -> (!s, !z) {
  %first, %one = attn.state %b, %v : !x, !x -> !s, !z
  %second, %two = attn.state %c, %v : !x, !x -> !s, !z
  %s, %z = attn.state_merge (%first, %one), (%second, %two) : !s, !z
  return %s, %z : !s, !z
}
func.func @state__in_the_other_order(%b: !x {attn.draw = "positive"}, %c: !x {attn.draw = "positive"}, %v: !x) -> (!s, !z) {
  %first, %one = attn.state %b, %v : !x, !x -> !s, !z
  %second, %two = attn.state %c, %v : !x, !x -> !s, !z
  %s, %z = attn.state_merge (%second, %two), (%first, %one) : !s, !z
  return %s, %z : !s, !z
}
