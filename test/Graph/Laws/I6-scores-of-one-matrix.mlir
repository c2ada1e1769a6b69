// I6: (x W_Q) (x W_K)ᵀ = x (W_Q W_Kᵀ) xᵀ, of one head. Rare: test/Unit/Counts/RareLawsTest.cpp has the prices.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}scores__one_matrix equals scores:
// SIDES-DAG: {{^}}scores__not_turned differs from scores:

!m = tensor<?x?x6xf32>
!w = tensor<6x4xf32>
!t = tensor<?x1x?x4xf32>
!wide = tensor<?x1x?x6xf32>
!p = tensor<?x1x?x?xf32>

func.func @scores(%x: !m, %wq: !w, %wk: !w) -> !p {
  %q = attn.project %x, %wq : !m, !w -> !t
  %k = attn.project %x, %wk : !m, !w -> !t
  %s = attn.contract %q[batch, head, query, feature], %k[batch, head, key, feature] -> [batch, head, query, key] : !t, !t -> !p
  return %s : !p
}

func.func @scores__one_matrix(%x: !m, %wq: !w, %wk: !w) -> !p {
  %w = attn.contract %wq[query, feature], %wk[key, feature] -> [query, key] : !w, !w -> tensor<6x6xf32>
  %q = attn.project %x, %w : !m, tensor<6x6xf32> -> !wide
  %s = attn.contract %q[batch, head, query, feature], %x[batch, key, feature] -> [batch, head, query, key] : !wide, !m -> !p
  return %s : !p
}

// Not across rope: the turn of a query is by its place.
func.func @scores__not_turned(%x: !m, %wq: !w, %wk: !w) -> !p {
  %q = attn.project %x, %wq : !m, !w -> !t
  %k = attn.project %x, %wk : !m, !w -> !t
  %r = attn.rope %q {base = 1.0e4 : f64} : !t -> !t
  %s = attn.contract %r[batch, head, query, feature], %k[batch, head, key, feature] -> [batch, head, query, key] : !t, !t -> !p
  return %s : !p
}
