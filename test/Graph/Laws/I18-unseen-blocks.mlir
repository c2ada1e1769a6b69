// I18: a block of weights that the mask clears adds 0.
// Kernels visit no such tile: test/Unit/Counts/KernelCountsTest.cpp counts them.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}causal__up_to_the_diagonal equals causal:
// SIDES-DAG: {{^}}causal__not_all differs from causal:
// SIDES-DAG: {{^}}window__diagonal_blocks equals window:

!x = tensor<?x1x8x4xf32>
!m = tensor<?x1x8xf32>
!w = tensor<?x1x8x8xf32>

func.func @causal(%a: !x {attn.draw = "positive"}, %b: !x {attn.draw = "positive"}, %v: !x) -> !x {
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !x, !x -> !w
  %i = attn.visible %w {causal} : !w
  %o = attn.contract %i[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !w, !x -> !x
  return %o : !x
}
// Each query reads the keys up to its own alone.
func.func @causal__up_to_the_diagonal(%a: !x {attn.draw = "positive"}, %b: !x {attn.draw = "positive"}, %v: !x) -> !x {
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v : !x, !x, !x -> !x, !m, tensor<?x1x4x4xf32>, tensor<?x1x4xf32>
  return %num : !x
}
func.func @causal__not_all(%a: !x {attn.draw = "positive"}, %b: !x {attn.draw = "positive"}, %v: !x) -> !x {
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !x, !x -> !w
  %o = attn.contract %w[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !w, !x -> !x
  return %o : !x
}

// A window's blocks are diagonal blocks.
func.func @window(%w: !w {attn.draw = "positive"}, %v: !x) -> !x {
  %i = attn.visible %w {window = #attn.window<4>} : !w
  %o = attn.contract %i[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !w, !x -> !x
  return %o : !x
}
func.func @window__diagonal_blocks(%w: !w {attn.draw = "positive"}, %v: !x) -> !x {
  %0 = arith.constant dense<0.0> : tensor<1x1x8x8xf32>
  %zero = attn.contract %w[batch, head, query, key], %0[value, feature, query, key] -> [batch, head, query, key] : !w, tensor<1x1x8x8xf32> -> !w
  %i = attn.diagonal_blocks %w, %zero {block = 4 : i64} : !w
  %o = attn.contract %i[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !w, !x -> !x
  return %o : !x
}
