// RUN: attn-opt %s -attn-differentiate=save -split-input-file | FileCheck %s
// RUN: attn-opt %s -attn-differentiate="save linear" -split-input-file | FileCheck %s --check-prefix=STATES

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
// CHECK:         return
func.func @permitted(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"})
    -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.allow = ["local"], attn.gradients = ["v"]} {
  %o = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64}
      : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// What a list names is taken of what else the forward pass could leave: here of a layer that says so.
// CHECK-LABEL: func.func @layer_backward(
// CHECK-SAME:    %[[K:arg[0-9]+]]: tensor<1x2x8x16xf32> {attn.name = "saved.k"}, %[[O:arg[0-9]+]]: tensor<1x2x8x16xf32> {attn.name = "saved.o"},
// CHECK-SAME:    %[[LSE:arg[0-9]+]]: tensor<1x2x8xf32> {attn.name = "saved.lse"})
// CHECK-NEXT:    attn.project %{{.*}}, %arg1
// CHECK-NEXT:    %[[OWN:.*]] = attn.project %{{.*}}, %arg2
// CHECK-NEXT:    %[[KEY:.*]] = attn.saved %[[K]] else %[[OWN]] : tensor<1x2x8x16xf32>
// CHECK:         attn.softmax %{{.*}}, %[[KEY]], %{{.*}}
// CHECK:         attn.saved %[[O]] else
// CHECK:         attn.saved %[[LSE]] else
// CHECK:         attn.softmax_weights %{{.*}}, %[[KEY]] lse
func.func @layer(%x: tensor<1x8x24xf32> {attn.name = "x"}, %wq: tensor<24x32xf32> {attn.name = "wq", attn.parameter}, %wk: tensor<24x32xf32> {attn.name = "wk", attn.parameter},
                 %wv: tensor<24x32xf32> {attn.name = "wv", attn.parameter}, %wo: tensor<32x24xf32> {attn.name = "wo", attn.parameter})
    -> (tensor<1x8x24xf32> {attn.name = "y"}) attributes {attn.gradients = ["x", "wo"], attn.saved = ["k", "o", "lse"]} {
  %q = attn.project %x, %wq : tensor<1x8x24xf32>, tensor<24x32xf32> -> tensor<1x2x8x16xf32>
  %k = attn.project %x, %wk : tensor<1x8x24xf32>, tensor<24x32xf32> -> tensor<1x2x8x16xf32>
  %v = attn.project %x, %wv : tensor<1x8x24xf32>, tensor<24x32xf32> -> tensor<1x2x8x16xf32>
  %o = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64} : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  %y = attn.project_output %o, %wo : tensor<1x2x8x16xf32>, tensor<32x24xf32> -> tensor<1x8x24xf32>
  return %y : tensor<1x8x24xf32>
}

// -----

// A state, and the units that its features stand in. What makes the state again has a map of its own, which the given units do not reach.
// STATES-LABEL: func.func @state_backward(
// STATES-SAME:    %[[S:arg[0-9]+]]: tensor<1x2x32x16xf32> {attn.name = "saved.state"}, %[[Z:arg[0-9]+]]: tensor<1x2x32xf32> {attn.name = "saved.sum"},
// STATES-SAME:    %[[M:arg[0-9]+]]: tensor<1x2x32xf32> {attn.name = "saved.maximum"})
// STATES:         %[[OWN:.*]] = attn.key_maximum %arg1
// STATES-NEXT:    %[[UNITS:.*]] = attn.saved %[[M]] else %[[OWN]]
// STATES-NEXT:    attn.map %arg0 {{.*}} shift(%[[UNITS]] :
// STATES-NEXT:    %[[B:.*]] = attn.map %arg1 {{.*}} shift(%[[OWN]] :
// STATES-NEXT:    %[[READ:.*]] = attn.map %arg1 {{.*}} shift(%[[UNITS]] :
// STATES-NEXT:    %[[AGAIN:.*]], %[[SUMS:.*]] = attn.state %[[B]], %arg2
// STATES-NEXT:    attn.saved %[[S]] else %[[AGAIN]]
// STATES-NEXT:    attn.saved %[[Z]] else %[[SUMS]]
// STATES:         attn.contract %[[READ]] [batch, head, key, feature]
func.func @state(%q: tensor<1x2x80x16xf32> {attn.name = "q"}, %k: tensor<1x2x80x16xf32> {attn.name = "k"}, %v: tensor<1x2x80x16xf32> {attn.name = "v"},
                 %omega: tensor<1x32x16xf32> {attn.name = "omega", attn.parameter})
    -> (tensor<1x2x80x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"], attn.saved = ["state", "sum", "maximum"]} {
  %o = attn.kernel %q, %k, %v parameter(%omega : tensor<1x32x16xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>,
       feature_map = #attn.feature_map<favor, features = 32, epsilon = 0.0, scale = 0.25, stabilizer = constant>}
      : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x80x16xf32>
  return %o : tensor<1x2x80x16xf32>
}

// -----

// The gradient of v reads no state.
// STATES-LABEL: func.func @values_of_state_backward(
// STATES-NOT:     "saved.state"
// STATES-SAME:    {attn.name = "saved.sum"}) ->
func.func @values_of_state(%q: tensor<1x2x80x16xf32> {attn.name = "q"}, %k: tensor<1x2x80x16xf32> {attn.name = "k"}, %v: tensor<1x2x80x16xf32> {attn.name = "v"})
    -> (tensor<1x2x80x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["v"], attn.saved = ["sum"]} {
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x80x16xf32>
  return %o : tensor<1x2x80x16xf32>
}
