// RUN: attn-opt %s -attn-differentiate | attn-opt -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s

// The rows of a model are made of heads by transposed weights. One program has all tokens of the batch for its part of a weight, of which those
// that do not exist, and reach nothing, count for nothing. Keys and values are one: their slots and queries are added up first.
// CHECK-LABEL: region @layer_backward_6_project grid(batch, head, query tile 64)
// CHECK:           = load grad_y[batch, query : rows, model : 64]
// CHECK:           = load wo[head * 16 : 16, model : 64]
// CHECK:           carry contract_transposed(
// CHECK-LABEL: region @layer_backward_4_key_gradients grid(batch, head, part)
// CHECK:         output %{{.*}} to workspace6[part, batch, head, key : rows, 0 : 16]
// CHECK:         output %{{.*}}#1 to workspace7[part, batch, head, key : rows, 0 : 16]
// CHECK-LABEL: region @layer_backward_11_compress_transposed grid(batch, head, key tile 64)
// CHECK:         = stage query step 64
// CHECK:           [[E:%.*]] = load e.packed[0, key / 64, query : rows, 0 : 64]
// CHECK:           [[S:%.*]] = load workspace0[batch, head, query : rows, 0 : 16]
// CHECK:           carry transposed_sums([[E]], [[S]])
// CHECK-LABEL: region @layer_backward_2_tokens grid(batch, head, key tile 64)
// CHECK:         = existing(
// CHECK:         output %{{.*}} to workspace2[batch, head, key : rows below size(workspace2, 2), 0 : 16]
// CHECK-LABEL: region @layer_backward_12_project_output grid(batch, query tile 64, model tile 64)
// CHECK:         = load wk[model : 64, head * 16 : 16]
// CHECK:         carry contract_transposed(
// CHECK-LABEL: region @layer_backward_13_weight_gradient grid(head, value tile 16, model tile 64)
// CHECK:         [[ALL:%.*]] = stage batch step 1
// CHECK:           [[ENTRY:%.*]] = stage key step 64
// CHECK:             [[X:%.*]] = load x[batch, key : rows, model : 64]
// CHECK:             [[C:%.*]] = load workspace0[batch, head, key : rows, value : 16]
// CHECK:             [[KEPT:%.*]] = unless_zero_rows([[X]], [[C]])
// CHECK:             carry state([[KEPT]], [[C]])
// CHECK:           carry compose([[ENTRY]])
// CHECK:         output [[ALL]] to grad_wk[model : 64, head * 16 : 16]
// CHECK-LABEL: region @layer_backward_14_token_sum grid(head, value tile 16)
// CHECK:             carry token_sum(
// CHECK:         output %{{.*}} to grad_bk[head * 16 : 16]
// CHECK-LABEL: region @layer_backward_15_weight_gradient grid(head, value tile 16, model tile 64)
// CHECK:         output %{{.*}} to grad_wo[head * 16 : 16, model : 64]
// CHECK-LABEL: region @layer_backward_16_compress_gradient grid(shared_head, query tile 64, key tile 64)
// CHECK:         = stage batch step 1
// CHECK:           = stage head of shared_head step 1
// CHECK:             [[SLOTS:%.*]] = load workspace0[batch, head, query : rows, 0 : 16]
// CHECK:             [[K:%.*]] = load workspace1[batch, head, key : rows, 0 : 16]
// CHECK:             [[THERE:%.*]] = rows_before([[K]])
// CHECK:             = logits([[SLOTS]], [[THERE]])
// CHECK:         output %{{.*}} to grad_e[shared_head, query : rows, key : 64]
func.func @layer(%x: tensor<2x200x96xf32> {attn.name = "x"}, %wk: tensor<96x64xf32> {attn.name = "wk", attn.parameter}, %bk: tensor<64xf32> {attn.name = "bk", attn.parameter},
                 %wo: tensor<64x96xf32> {attn.name = "wo", attn.parameter}, %e: tensor<1x24x200xf32> {attn.name = "e", attn.parameter},
                 %l: tensor<2xi32> {attn.name = "key_lengths"})
    -> (tensor<2x200x96xf32> {attn.name = "y"}) attributes {attn.gradients = ["x", "wk", "bk", "wo", "e"]} {
  %k = attn.project %x, %wk bias(%bk : tensor<64xf32>) : tensor<2x200x96xf32>, tensor<96x64xf32> -> tensor<2x4x200x16xf32>
  %c = attn.compress %k, %e lengths(%l : tensor<2xi32>) : tensor<2x4x200x16xf32>, tensor<1x24x200xf32> -> tensor<2x4x24x16xf32>
  %o = attn.softmax %k, %c, %c {scale = 0.25 : f64} : tensor<2x4x200x16xf32>, tensor<2x4x24x16xf32>, tensor<2x4x24x16xf32> -> tensor<2x4x200x16xf32>
  %y = attn.project_output %o, %wo : tensor<2x4x200x16xf32>, tensor<64x96xf32> -> tensor<2x200x96xf32>
  return %y : tensor<2x200x96xf32>
}

func.func @omega(%q: tensor<2x4x200x16xf32> {attn.name = "q"}, %k: tensor<2x2x150x16xf32> {attn.name = "k"}, %v: tensor<2x2x150x16xf32> {attn.name = "v"},
                 %w: tensor<1x96x16xf32> {attn.name = "omega", attn.parameter})
    -> (tensor<2x4x200x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["omega"]} {
// What reaches x ωᵀ lies in memory: blocks of features share it. Each entry and head has a part of the gradient; queries' and keys' are one sum.
// CHECK-LABEL: region @omega_backward_parameter_rows grid(batch, head, key tile 64)
// CHECK:         = favor_relu_product_gradient(
// CHECK:         output %{{.*}} to workspace2[batch, head, key : rows, 0 : 96]
// CHECK-LABEL: region @omega_backward_parameter_parts grid(batch, head, feature tile 64)
// CHECK:         in pieces of 2048 merged by @omega_backward_parts_merge
// CHECK:           [[L:%.*]] = load workspace0[batch, head, key : rows, feature : 64]
// CHECK:           [[KEY:%.*]] = load k[batch, head, key : rows, 0 : 16]
// CHECK:           carry state([[L]], [[KEY]])
// CHECK-LABEL: region @omega_backward_3_parameter_parts grid(batch, head, feature tile 64)
// CHECK:           = load q[batch, head, key : rows, 0 : 16]
// CHECK-LABEL: region @omega_backward_4_parameter_gradient grid(shared_head, feature tile 64)
// CHECK:         [[KEYS:%.*]] = stage batch step 1
// CHECK:           = stage head of shared_head step 1
// CHECK:             = load workspace0[batch, head, feature : 64, 0 : 16]
// CHECK:         [[QUERIES:%.*]] = stage batch step 1
// CHECK:             = load workspace1[batch, head, feature : 64, 0 : 16]
// CHECK:         [[SUM:%.*]] = plus([[KEYS]], [[QUERIES]])
// CHECK:         output [[SUM]] to grad_omega[shared_head, feature : 64, 0 : 16]
  %a = attn.map %q parameter(%w : tensor<1x96x16xf32>) {feature_map = #attn.feature_map<favor_relu, features = 96, epsilon = 0.0, scale = 0.25>} : tensor<2x4x200x16xf32> -> tensor<2x4x200x96xf32>
  %b = attn.map %k parameter(%w : tensor<1x96x16xf32>) {feature_map = #attn.feature_map<favor_relu, features = 96, epsilon = 0.0, scale = 0.25>, keys} : tensor<2x2x150x16xf32> -> tensor<2x2x150x96xf32>
  %S, %z = attn.state %b, %v : tensor<2x2x150x96xf32>, tensor<2x2x150x16xf32> -> tensor<2x2x96x16xf32>, tensor<2x2x96xf32>
  %num, %den = attn.readout %a, %S, %z : tensor<2x4x200x96xf32>, tensor<2x2x96x16xf32>, tensor<2x2x96xf32> -> tensor<2x4x200x16xf32>, tensor<2x4x200xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 1.0, floor = 0.0>} : tensor<2x4x200x16xf32>, tensor<2x4x200xf32> -> tensor<2x4x200x16xf32>
  return %o : tensor<2x4x200x16xf32>
}

// Rows leave their sums of weighted distances, heads the sums of those.
// CHECK-LABEL: region @slopes_backward_distances grid(batch, head, query tile 64)
// CHECK:         [[SUMS:%.*]] = stage key
// CHECK:           [[W:%.*]] = times(
// CHECK:           [[D:%.*]] = times_distances([[W]])
// CHECK:           carry weighted_sums([[D]])
// CHECK:         output [[SUMS]] to workspace{{[0-9]+}}[batch, head, query : rows]
// CHECK-LABEL: region @slopes_backward_3_number_sum grid(head)
// CHECK:         [[ALL:%.*]] = stage batch step 1
// CHECK:             carry row_totals(
// CHECK:         [[SCALED:%.*]] = scale([[ALL]]) {factor = -1.000000e+00}
// CHECK:         output [[SCALED]] to grad_slope[head : 1]
func.func @slopes(%q: tensor<2x4x100x16xf32> {attn.name = "q"}, %k: tensor<2x2x150x16xf32> {attn.name = "k"}, %v: tensor<2x2x150x16xf32> {attn.name = "v"},
                  %s: tensor<4xf32> {attn.name = "slope", attn.parameter}) -> (tensor<2x4x100x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["slope"]} {
  %o = attn.softmax %q, %k, %v slopes(%s : tensor<4xf32>) {scale = 0.25 : f64} : tensor<2x4x100x16xf32>, tensor<2x2x150x16xf32>, tensor<2x2x150x16xf32> -> tensor<2x4x100x16xf32>
  return %o : tensor<2x4x100x16xf32>
}
