// RUN: attn-opt %s -attn-differentiate=save -split-input-file | FileCheck %s

// What the forward pass leaves is taken in place of what is computed again.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME:    %[[C:arg[0-9]+]]: tensor<1x2x8x16xbf16> {attn.name = "grad_o"}, %[[O:arg[0-9]+]]: tensor<1x2x8x16xbf16> {attn.name = "saved.o"},
// CHECK-SAME:    %[[LSE:arg[0-9]+]]: tensor<1x2x8xf32> {attn.name = "saved.lse"})
// CHECK:         %[[OWN:.*]], %[[SUMS:.*]] = attn.softmax
// CHECK-NEXT:    %[[A:.*]] = attn.saved %[[O]] else %[[OWN]] : tensor<1x2x8x16xbf16>
// CHECK-NEXT:    %[[L:.*]] = attn.saved %[[LSE]] else %[[SUMS]] : tensor<1x2x8xf32>
// CHECK:         attn.softmax_weights %{{.*}}, %{{.*}} lse(%[[L]] : tensor<1x2x8xf32>)
// CHECK:         attn.contract %{{.*}}, %[[A]] [batch, head, query, value] -> [batch, head, query]
func.func @f(%q: tensor<1x2x8x16xbf16> {attn.name = "q"}, %k: tensor<1x2x8x16xbf16> {attn.name = "k"}, %v: tensor<1x2x8x16xbf16> {attn.name = "v"})
    -> (tensor<1x2x8x16xbf16> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64}
      : tensor<1x2x8x16xbf16>, tensor<1x2x8x16xbf16>, tensor<1x2x8x16xbf16> -> tensor<1x2x8x16xbf16>
  return %o : tensor<1x2x8x16xbf16>
}

// -----

// The gradient of v needs no output.
// CHECK-LABEL: func.func @values_backward(
// CHECK-SAME:    {attn.name = "grad_o"}, %{{.*}}: tensor<1x2x8xf32> {attn.name = "saved.lse"}) ->
// CHECK-NOT:     "saved.o"
func.func @values(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"})
    -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["v"]} {
  %o = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64}
      : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// Which function is computed is not known where another is permitted.
// CHECK-LABEL: func.func @permitted_backward(
// CHECK-NOT:     attn.saved
func.func @permitted(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"})
    -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.allow = ["local"], attn.gradients = ["v"]} {
  %o = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64}
      : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}
