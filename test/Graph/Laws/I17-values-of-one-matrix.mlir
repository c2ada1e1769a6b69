// I17: (P x W_V) W_O = P x (W_V W_O), of one head. Rare: test/Unit/Counts/RareLawsTest.cpp has the prices.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}output__one_matrix equals output:
// SIDES-DAG: {{^}}output__not_biased differs from output:

!p = tensor<?x1x?x?xf32>
!m = tensor<?x?x6xf32>
!t = tensor<?x1x?x4xf32>

func.func @output(%p: !p, %x: !m, %wv: tensor<6x4xf32>, %wo: tensor<4x6xf32>) -> !m {
  %v = attn.project %x, %wv : !m, tensor<6x4xf32> -> !t
  %o = attn.contract %p[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !p, !t -> !t
  %y = attn.project_output %o, %wo : !t, tensor<4x6xf32> -> !m
  return %y : !m
}

func.func @output__one_matrix(%p: !p, %x: !m, %wv: tensor<6x4xf32>, %wo: tensor<4x6xf32>) -> tensor<?x1x?x6xf32> {
  %w = attn.contract %wv[key, feature], %wo[feature, value] -> [key, value] : tensor<6x4xf32>, tensor<4x6xf32> -> tensor<6x6xf32>
  %v = attn.project %x, %w : !m, tensor<6x6xf32> -> tensor<?x1x?x6xf32>
  %y = attn.contract %p[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !p, tensor<?x1x?x6xf32> -> tensor<?x1x?x6xf32>
  return %y : tensor<?x1x?x6xf32>
}

// A bias of the values is weighed by the row sums of P, which are 1 after a softmax alone.
func.func @output__not_biased(%p: !p, %x: !m, %wv: tensor<6x4xf32>, %wo: tensor<4x6xf32>) -> !m {
  %b = arith.constant dense<1.0> : tensor<4xf32>
  %v = attn.project %x, %wv bias(%b : tensor<4xf32>) : !m, tensor<6x4xf32> -> !t
  %o = attn.contract %p[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !p, !t -> !t
  %y = attn.project_output %o, %wo : !t, tensor<4x6xf32> -> !m
  return %y : !m
}
