// RUN: attn-opt %s -attn-differentiate | attn-opt -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s

// Exact attention: the forward pass leaves the logarithms of its sums, queries read all keys that they see, and blocks of keys all queries
// that see them, from the diagonal on; heads that share a key are added up in one program.
// CHECK-LABEL: region @f_backward_2_softmax
// CHECK:         output %{{.*}} to workspace0[batch, head, query : rows]
// CHECK-LABEL: region @f_backward_quadratic grid(batch, head, query tile 64)
// CHECK:         = row_products(
// CHECK:         = stage key causal(query) step 64
// CHECK:           = softmax_weights
// CHECK:           carry weighted_sums(
// CHECK:         output %{{.*}} to grad_q[batch, head, query : rows, 0 : 16]
// CHECK-LABEL: region @f_backward_3_key_gradients grid(batch, shared_head, key tile 64)
// CHECK:         = stage head of shared_head step 1
// CHECK:           = stage query that see key causal step 64 segments(entering: begin to entered masked, seen: entered to seen)
// CHECK:             carry transposed_sums(
// CHECK:           carry compose(
// CHECK:         to grad_k[batch, shared_head, key : rows, 0 : 16]
// CHECK:         to grad_v[batch, shared_head, key : rows, 0 : 16]
func.func @f(%q: tensor<1x4x200x16xf32> {attn.name = "q"}, %k: tensor<1x2x200x16xf32> {attn.name = "k"}, %v: tensor<1x2x200x16xf32> {attn.name = "v"})
    -> (tensor<1x4x200x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %o = attn.softmax %q, %k, %v {causal, scale = 0.25 : f64} : tensor<1x4x200x16xf32>, tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32> -> tensor<1x4x200x16xf32>
  return %o : tensor<1x4x200x16xf32>
}

// A causal readout: chunks of queries upwards with the states of keys, chunks of keys downwards with those of cotangents.
// CHECK-LABEL: region @g_backward_query_gradients grid(batch, head)
// CHECK:         = stage query step 64 with key
// CHECK:           = query_readout_gradient(
// CHECK:           output %{{.*}} to grad_q
// CHECK:           carry state(
// CHECK-LABEL: region @g_backward_key_gradients grid(batch, head)
// CHECK:         = stage query step 64 reverse with key
// CHECK:           = key_readout_gradient(
// CHECK:           output %{{.*}} to grad_k
// CHECK:           output %{{.*}} to grad_v
// CHECK:           carry cotangent_sums(
func.func @g(%q: tensor<1x2x200x16xf32> {attn.name = "q"}, %k: tensor<1x2x200x16xf32> {attn.name = "k"}, %v: tensor<1x2x200x16xf32> {attn.name = "v"})
    -> (tensor<1x2x200x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<1x2x200x16xf32> -> tensor<1x2x200x16xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x2x200x16xf32> -> tensor<1x2x200x16xf32>
  %num, %den, %S, %z = attn.causal_readout %a, %b, %v : tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32>
      -> tensor<1x2x200x16xf32>, tensor<1x2x200xf32>, tensor<1x2x16x16xf32>, tensor<1x2x16xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 1.0e-06>} : tensor<1x2x200x16xf32>, tensor<1x2x200xf32> -> tensor<1x2x200x16xf32>
  return %o : tensor<1x2x200x16xf32>
}

// A denominator that is no sum of the numerator's weights is made by a kernel of its own, which may count other windows.
// CHECK-LABEL: region @windows_2_quadratic grid(batch, head, query tile 64)
// CHECK:         = stage key step 64
// CHECK:         output %{{.*}} to workspace0[batch, head, query : rows]
// CHECK-LABEL: region @windows_quadratic grid(batch, head, query tile 4)
// CHECK:         = stage key #attn.window<4> step 4
// CHECK:         = normalize(
func.func @windows(%q: tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> {
  %w = attn.contract %q[batch, head, query, feature], %q[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32> -> tensor<1x1x8x8xf32>
  %v = attn.visible %w {window = #attn.window<4>} : tensor<1x1x8x8xf32>
  %num = attn.contract %v[batch, head, query, key], %q[batch, head, key, value] -> [batch, head, query, value]
      : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32> -> tensor<1x1x8x8xf32>
  %den = attn.row_sum %w : tensor<1x1x8x8xf32> -> tensor<1x1x8xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : tensor<1x1x8x8xf32>, tensor<1x1x8xf32> -> tensor<1x1x8x8xf32>
  return %o : tensor<1x1x8x8xf32>
}
