// I4: E x W_h of all heads h, of keys and of values, from one E x. What a tied E gives both is computed once:
// test/Unit/Graph/LowRankTest.cpp (OneInputIsCompressedOnce) counts the kernels.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}products__one_by_one equals products:
// SIDES-DAG: {{^}}layer__not_tied differs from layer:

!m = tensor<?x9x6xf32>
!w = tensor<6x8xf32>
!e = tensor<1x3x9xf32>
!t = tensor<?x2x9x4xf32>
!s = tensor<?x2x3x4xf32>

func.func @layer(%q: !t, %x: !m, %wk: !w, %wv: !w, %e: !e) -> !t {
  %k = attn.project %x, %wk : !m, !w -> !t
  %v = attn.project %x, %wv : !m, !w -> !t
  %ks = attn.compress %k, %e : !t, !e -> !s
  %vs = attn.compress %v, %e : !t, !e -> !s
  %o = attn.softmax %q, %ks, %vs {scale = 0.5 : f64} : !t, !s, !s -> !t
  return %o : !t
}

// One E x [1, 3, 6] as tokens of one head of width 6, times W as weights of pairs.
!whole = tensor<?x1x9x6xf32>
!slots = tensor<?x1x3x6xf32>
!half = tensor<6x4xf32>
func.func @products(%x: !m, %w: !half, %e: !e) -> tensor<?x1x3x4xf32> {
  %id = arith.constant dense<[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
                              [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]> : tensor<6x6xf32>
  %tokens = attn.project %x, %id : !m, tensor<6x6xf32> -> !whole
  %ex = attn.compress %tokens, %e : !whole, !e -> !slots
  %s = attn.contract %ex[batch, head, key, feature], %w[feature, value] -> [batch, head, key, value] : !slots, !half -> tensor<?x1x3x4xf32>
  return %s : tensor<?x1x3x4xf32>
}
func.func @products__one_by_one(%x: !m, %w: !half, %e: !e) -> tensor<?x1x3x4xf32> {
  %k = attn.project %x, %w : !m, !half -> tensor<?x1x9x4xf32>
  %s = attn.compress %k, %e : tensor<?x1x9x4xf32>, !e -> tensor<?x1x3x4xf32>
  return %s : tensor<?x1x3x4xf32>
}

// Another E for the values is another function.
func.func @layer__not_tied(%q: !t, %x: !m, %wk: !w, %wv: !w, %e: !e) -> !t {
  %k = attn.project %x, %wk : !m, !w -> !t
  %v = attn.project %x, %wv : !m, !w -> !t
  %f = arith.constant dense<0.25> : !e
  %ks = attn.compress %k, %e : !t, !e -> !s
  %vs = attn.compress %v, %f : !t, !e -> !s
  %o = attn.softmax %q, %ks, %vs {scale = 0.5 : f64} : !t, !s, !s -> !t
  return %o : !t
}
