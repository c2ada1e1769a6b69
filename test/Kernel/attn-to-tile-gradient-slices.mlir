// RUN: attn-opt %s "-attn-to-tile=target=gpu print-regions" -o /dev/null 2>&1 | FileCheck %s

// Where a state is too wide for a block of a GPU, what makes gradients has slices of features, here of 16, or of values; features are in memory as whole
// rows. Of a quotient the first pass leaves Y, of the cotangent as it is, and Z; a kernel of rows has what they make. `head / 2`: two query heads share a key.

// CHECK-LABEL: region @causal_2_tokens
// CHECK:         output %{{.*}} to workspace0[batch, head, query : rows, 0 : 48]
// CHECK-LABEL: region @causal_3_tokens
// CHECK-LABEL: region @causal_query_gradients grid(batch, head, value tile 32, feature tile 16)
// CHECK:         load grad_o[batch, head, query : rows, 0 : 32]
// CHECK:         %[[B:.*]] = load workspace0[batch, head / 2, key : rows, feature : 16]
// CHECK:         %[[Y:.*]] = pair_sums(%{{.*}}, %{{.*}}, %[[B]])
// CHECK:         output %[[Y]] to workspace1[batch, head, query : rows below size(workspace1, 2), feature : 16]
// CHECK:         %[[ONES:.*]] = ones()
// CHECK:         %[[SEEN:.*]] = lower_triangle(%[[ONES]])
// CHECK:         %[[Z:.*]] = pair_sums(%{{.*}}, %[[SEEN]], %[[B]])
// CHECK:         output %[[Z]] to workspace2[batch, head, query : rows below size(workspace2, 2), feature : 16]
// CHECK-LABEL: region @causal_rows grid(batch, head, query tile 32)
// CHECK:         %[[Z:.*]] = load workspace2[batch, head, query : rows, 0 : 48]
// CHECK:         %[[G:.*]] = row_products(%{{.*}}, %[[Z]])
// CHECK:         %[[W:.*]] = denominator_gradient(%{{.*}}, %[[G]])
// CHECK:         %[[A:.*]] = plus_weighed(%{{.*}}, %[[Z]], %[[W]])
// CHECK:         elu1_gradient(%{{.*}}, %[[A]])
// CHECK-LABEL: region @causal_key_gradients grid(batch, head, value tile 32, feature tile 16)
// CHECK:         stage query step 32 reverse
// CHECK:         output %{{.*}} to workspace3[batch, head, key : rows below size(workspace3, 2), feature : 16]
// CHECK-LABEL: region @causal_value_gradients grid(batch, head, value tile 16, feature tile 48)
// CHECK:         stage query step 32 reverse
// CHECK:         load grad_o[batch, head, query : rows, value : 16]
// CHECK:         output %{{.*}} to workspace3[batch, head, key : rows below size(workspace3, 2), value : 16]
func.func @causal(%q: tensor<1x2x64x48xf32> {attn.name = "q"}, %k: tensor<1x1x64x48xf32> {attn.name = "k"}, %v: tensor<1x1x64x32xf32> {attn.name = "v"},
                  %c: tensor<1x2x64x32xf32> {attn.name = "grad_o"})
    -> (tensor<1x2x64x48xf32> {attn.name = "grad_q"}, tensor<1x1x64x48xf32> {attn.name = "grad_k"}, tensor<1x1x64x32xf32> {attn.name = "grad_v"})
    attributes {attn.backward, tile.schedule = #tile.schedule<target = gpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 4, stages = 2,
                                                              warp_columns = 4, feature_tile = 16, value_tile = 16>} {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<1x2x64x48xf32> -> tensor<1x2x64x48xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x1x64x48xf32> -> tensor<1x1x64x48xf32>
  %da, %db, %dv = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %c : tensor<1x2x64x32xf32>)
      {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : tensor<1x2x64x48xf32>, tensor<1x1x64x48xf32>, tensor<1x1x64x32xf32>
      -> tensor<1x2x64x48xf32>, tensor<1x1x64x48xf32>, tensor<1x1x64x32xf32>
  %dk = attn.map_gradient %k, %db {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x1x64x48xf32>, tensor<1x1x64x48xf32> -> tensor<1x1x64x48xf32>
  %dq = attn.map_gradient %q, %da {feature_map = #attn.feature_map<elu1>} : tensor<1x2x64x48xf32>, tensor<1x2x64x48xf32> -> tensor<1x2x64x48xf32>
  return %dq, %dk, %dv : tensor<1x2x64x48xf32>, tensor<1x1x64x48xf32>, tensor<1x1x64x32xf32>
}

// Without a mask a state is made in slices, and multiplied with some columns of a row at a time: V S̄ᵀ over slices of values, B S̄ of features.
// CHECK-LABEL: region @all_state grid(batch, head, value tile 16, feature tile 16)
// CHECK:         load {{.*}}[batch, head, key : rows, feature : 16]
// CHECK:         load c[batch, head, key : rows, value : 16]
// CHECK:         output %[[S:.*]] to {{.*}}[batch, head, feature : 16, value : 16]
// CHECK-NEXT:  }
// CHECK-LABEL: region @all_tokens
// CHECK:         stage feature step 16
// CHECK:           load v[batch, head, query : rows, feature : 16]
// CHECK:           load {{.*}}[batch, head, 0 : 48, feature : 16]
// CHECK:           carry contract_transposed
// CHECK-LABEL: region @all_{{.*}}tokens
// CHECK:         stage feature step 16
// CHECK:           load b[batch, head, query : rows, feature : 16]
// CHECK:           load {{.*}}[batch, head, feature : 16, 0 : 32]
// CHECK:           carry contract(
func.func @all(%a: tensor<1x2x640x48xf32> {attn.name = "a"}, %b: tensor<1x2x640x48xf32> {attn.name = "b"}, %v: tensor<1x2x640x32xf32> {attn.name = "v"},
               %c: tensor<1x2x640x32xf32> {attn.name = "c"})
    -> (tensor<1x2x640x48xf32> {attn.name = "db"}, tensor<1x2x640x32xf32> {attn.name = "dv"})
    attributes {attn.backward, tile.schedule = #tile.schedule<target = gpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 4, stages = 2,
                                                              warp_columns = 4, feature_tile = 16, value_tile = 16>} {
  %s = attn.contract %a [batch, head, query, feature], %c [batch, head, query, value] -> [batch, head, feature, value]
      : tensor<1x2x640x48xf32>, tensor<1x2x640x32xf32> -> tensor<1x2x48x32xf32>
  %db = attn.contract %v [batch, head, key, value], %s [batch, head, feature, value] -> [batch, head, key, feature]
      : tensor<1x2x640x32xf32>, tensor<1x2x48x32xf32> -> tensor<1x2x640x48xf32>
  %dv = attn.contract %b [batch, head, key, feature], %s [batch, head, feature, value] -> [batch, head, key, value]
      : tensor<1x2x640x48xf32>, tensor<1x2x48x32xf32> -> tensor<1x2x640x32xf32>
  return %db, %dv : tensor<1x2x640x48xf32>, tensor<1x2x640x32xf32>
}
