// I23: what is equal is computed once: ops of equal operands are one op, and prepare makes of equal parameters one tensor.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}twice__once equals twice:
// RUN: attn-opt %s -attn-canonical-laws | FileCheck %s

!m = tensor<1x9x6xf32>
!w = tensor<6x8xf32>
!t = tensor<1x2x9x4xf32>

// One projection for the keys of both.
// CHECK-LABEL: func.func @twice(
// CHECK-COUNT-1: attn.project
// CHECK-NOT:     attn.project
func.func @twice(%x: !m, %w: !w {attn.parameter}, %q: !t, %v: !t) -> tensor<1x4x9x4xf32> {
  %k0 = attn.project %x, %w : !m, !w -> !t
  %k1 = attn.project %x, %w : !m, !w -> !t
  %a = attn.softmax %q, %k0, %v {scale = 1.0 : f64} : !t, !t, !t -> !t
  %b = attn.effatt %q, %k1, %v : !t, !t, !t -> !t
  %o = attn.concat_heads %a, %b : !t, !t -> tensor<1x4x9x4xf32>
  return %o : tensor<1x4x9x4xf32>
}
// CHECK-LABEL: func.func @twice__once(
func.func @twice__once(%x: !m, %w: !w {attn.parameter}, %q: !t, %v: !t) -> tensor<1x4x9x4xf32> {
  %k = attn.project %x, %w : !m, !w -> !t
  %a = attn.softmax %q, %k, %v {scale = 1.0 : f64} : !t, !t, !t -> !t
  %b = attn.effatt %q, %k, %v : !t, !t, !t -> !t
  %o = attn.concat_heads %a, %b : !t, !t -> tensor<1x4x9x4xf32>
  return %o : tensor<1x4x9x4xf32>
}
