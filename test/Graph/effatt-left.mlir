// What EFFATT leaves for gradients is the state that queries read, and the logarithms of the sums over the sequence that its features are divided by.
// RUN: attune-equal %s | FileCheck %s
// CHECK-DAG: {{^}}effatt__of_terms equals effatt:
// CHECK-DAG: {{^}}effatt__of_weights equals effatt:
// CHECK-DAG: {{^}}effatt__not_softmax differs from effatt:

!x = tensor<2x4x24x5xf32>
!k = tensor<2x2x9x5xf32>
!v = tensor<2x2x9x3xf32>
!o = tensor<2x4x24x3xf32>
!s = tensor<2x2x5x3xf32>
!z = tensor<2x2x5xf32>
!d = tensor<2x4x24xf32>

func.func @effatt(%q: !x, %k: !k, %v: !v) -> (!o, !s, !z) {
  %o, %left:2 = attn.effatt %q, %k, %v : !x, !k, !v -> !o, left !s, !z
  return %o, %left#0, %left#1 : !o, !s, !z
}

func.func @effatt__of_terms(%q: !x, %k: !k, %v: !v) -> (!o, !s, !z) {
  %a = attn.map %q {feature_map = #attn.feature_map<softmax>} : !x -> !x
  %b = attn.sequence_softmax %k : !k -> !k
  %s, %one = attn.state %b, %v : !k, !v -> !s, !z
  %o, %d = attn.readout %a, %s, %one : !x, !s, !z -> !o, !d
  %l = attn.sequence_lse %k : !k -> !z
  return %o, %s, %l : !o, !s, !z
}

func.func @effatt__of_weights(%q: !x, %k: !k, %v: !v) -> (!o, !s, !z) {
  %a = attn.map %q {feature_map = #attn.feature_map<softmax>} : !x -> !x
  %l = attn.sequence_lse %k : !k -> !z
  %b = attn.sequence_weights %k lse(%l : !z) : !k -> !k
  %s, %one = attn.state %b, %v : !k, !v -> !s, !z
  %o, %d = attn.readout %a, %s, %one : !x, !s, !z -> !o, !d
  return %o, %s, %l : !o, !s, !z
}

func.func @effatt__not_softmax(%q: !x, %k: !k, %v: !v) -> (!o, !s, !z) {
  %o = attn.effatt %q, %k, %v : !x, !k, !v -> !o
  %l = attn.sequence_lse %k : !k -> !z
  %s, %one = attn.state %k, %v : !k, !v -> !s, !z
  return %o, %s, %l : !o, !s, !z
}
