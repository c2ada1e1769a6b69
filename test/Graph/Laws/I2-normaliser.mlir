// I2: (A Bᵀ) [V 1] = [(A Bᵀ) V, (A Bᵀ) 1]: the row sums of the weights are what values of 1 give.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}sums__as_a_column equals sums:
// SIDES-DAG: {{^}}sums__as_a_vector equals sums:

!x = tensor<?x2x?x5xf32>
!one = tensor<?x2x?x1xf32>
!w = tensor<?x2x?x?xf32>

func.func @sums(%a: !x {attn.draw = "positive"}, %b: !x {attn.draw = "positive"}, %one: !one {attn.draw = "ones"}) -> tensor<?x2x?xf32> {
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !x, !x -> !w
  %v = attn.visible %w {causal} : !w
  %z = attn.row_sum %v : !w -> tensor<?x2x?xf32>
  return %z : tensor<?x2x?xf32>
}

// A column of ones as values ...
func.func @sums__as_a_column(%a: !x {attn.draw = "positive"}, %b: !x {attn.draw = "positive"}, %one: !one {attn.draw = "ones"}) -> !one {
  %num, %den, %s, %z = attn.causal_readout %a, %b, %one : !x, !x, !one -> !one, tensor<?x2x?xf32>, tensor<?x2x5x1xf32>, tensor<?x2x5xf32>
  return %num : !one
}

// ... or a vector z beside the state.
func.func @sums__as_a_vector(%a: !x {attn.draw = "positive"}, %b: !x {attn.draw = "positive"}, %one: !one {attn.draw = "ones"}) -> tensor<?x2x?xf32> {
  %num, %den, %s, %z = attn.causal_readout %a, %b, %b : !x, !x, !x -> !x, tensor<?x2x?xf32>, tensor<?x2x5x5xf32>, tensor<?x2x5xf32>
  return %den : tensor<?x2x?xf32>
}
