// I9: x H by additions = x times a dense matrix. A sketch of one leaf whose indices are all columns is r^{-1/2} x D H.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}leaf__dense equals leaf:

!x = tensor<?x1x?x4xf32>
!s = tensor<1x4xf32>

func.func @leaf(%x: !x, %sign: !s {attn.draw = "signs"}) -> !x {
  %all = arith.constant dense<[[0, 1, 2, 3]]> : tensor<1x4xi32>
  %y = attn.sketch %x signs(%sign : !s) indices(%all : tensor<1x4xi32>) {scale = 1.0 : f64, size = 4 : i64} : !x -> !x
  return %y : !x
}

func.func @leaf__dense(%x: !x, %sign: !s {attn.draw = "signs"}) -> !x {
  %h = arith.constant dense<[[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]]> : tensor<4x4xf32>
  %dh = attn.contract %sign[batch, feature], %h[feature, value] -> [batch, feature, value] : !s, tensor<4x4xf32> -> tensor<1x4x4xf32>
  %y = attn.contract %x[batch, head, key, feature], %dh[head, feature, value] -> [batch, head, key, value] : !x, tensor<1x4x4xf32> -> !x
  return %y : !x
}
