// I19: (E₁ E₂) x = E₁ (E₂ x).
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}factors__product equals factors:
// SIDES-DAG: {{^}}pool__compressed equals pool:

!x = tensor<?x2x9x4xf32>
!mid = tensor<?x2x5x4xf32>
!o = tensor<?x2x3x4xf32>
!e2 = tensor<1x5x9xf32>
!e1 = tensor<1x3x5xf32>

func.func @factors(%x: !x, %e1: !e1, %e2: !e2) -> !o {
  %y = attn.compress %x, %e2 : !x, !e2 -> !mid
  %o = attn.compress %y, %e1 : !mid, !e1 -> !o
  return %o : !o
}
func.func @factors__product(%x: !x, %e1: !e1, %e2: !e2) -> !o {
  %e = attn.contract %e1[head, query, feature], %e2[head, feature, key] -> [head, query, key] : !e1, !e2 -> tensor<1x3x9xf32>
  %o = attn.compress %x, %e : !x, tensor<1x3x9xf32> -> !o
  return %o : !o
}

// Pooling is such a product with runs of equal tokens; agent attention has it as an op of its own.
!even = tensor<?x2x8x4xf32>
!four = tensor<?x2x4x4xf32>
func.func @pool(%x: !even) -> !four {
  %o = attn.pool %x {count = 4 : i64} : !even -> !four
  return %o : !four
}
func.func @pool__compressed(%x: !even) -> !four {
  %e = arith.constant dense<[[[0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0],
                              [0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5]]]> : tensor<1x4x8xf32>
  %o = attn.compress %x, %e : !even, tensor<1x4x8xf32> -> !four
  return %o : !four
}
