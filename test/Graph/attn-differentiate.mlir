// RUN: attn-opt %s -attn-differentiate -split-input-file | FileCheck %s

// The example of the pass's description: weights come back from the logarithms of their sums; of what is not asked for nothing stays.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME:    %[[Q:.*]]: tensor<1x2x8x16xf32> {attn.name = "q"}, %[[K:.*]]: tensor<1x2x8x16xf32> {attn.name = "k"}, %[[V:.*]]: tensor<1x2x8x16xf32> {attn.name = "v"},
// CHECK-SAME:    %[[C:.*]]: tensor<1x2x8x16xf32> {attn.name = "grad_o"}) -> (tensor<1x2x8x16xf32> {attn.name = "grad_v"})
// CHECK-NEXT:    %[[O:.*]], %[[LSE:.*]] = attn.softmax %[[Q]], %[[K]], %[[V]]
// CHECK-NEXT:    %[[P:.*]] = attn.softmax_weights %[[Q]], %[[K]] lse(%[[LSE]] : tensor<1x2x8xf32>) {scale = 1.000000e+00 : f64}
// CHECK-NEXT:    %[[G:.*]] = attn.contract %[[P]] [batch, head, query, key], %[[C]] [batch, head, query, value] -> [batch, head, key, value]
// CHECK-NEXT:    return %[[G]] : tensor<1x2x8x16xf32>
func.func @f(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"})
    -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["v"]} {
  %o = attn.softmax %q, %k, %v {scale = 1.000000e+00 : f64}
      : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// Heads that share a key are summed; the cotangent of a bf16 output is bf16, and so is the gradient of a bf16 input.
// CHECK-LABEL: func.func @grouped_backward(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<1x4x8x16xbf16> {attn.name = "grad_o"}) -> (tensor<1x2x8x16xbf16> {attn.name = "grad_k"}, tensor<1x4x8x16xbf16> {attn.name = "grad_q"})
// CHECK:         %[[X:.*]] = attn.scale %[[C]] {factor = 1.000000e+00 : f64} : tensor<1x4x8x16xbf16> -> tensor<1x4x8x16xf32>
// CHECK:         %[[INNER:.*]] = attn.contract %[[X]] [batch, head, query, value], %{{.*}} [batch, head, key, value] -> [batch, head, query, key]
// CHECK:         %[[DELTA:.*]] = attn.contract %[[X]]{{.*}} -> [batch, head, query]
// CHECK:         %[[S:.*]] = attn.multiply %{{.*}}, %{{.*}} : tensor<1x4x8x8xf32>
// CHECK:         attn.sum_heads %{{.*}} : tensor<1x4x8x16xf32> -> tensor<1x2x8x16xf32>
func.func @grouped(%q: tensor<1x4x8x16xbf16> {attn.name = "q"}, %k: tensor<1x2x8x16xbf16> {attn.name = "k"}, %v: tensor<1x2x8x16xbf16> {attn.name = "v"})
    -> (tensor<1x4x8x16xbf16> {attn.name = "o"}) attributes {attn.gradients = ["k", "q"]} {
  %o = attn.softmax %q, %k, %v {causal, scale = 0.25 : f64} : tensor<1x4x8x16xbf16>, tensor<1x2x8x16xbf16>, tensor<1x2x8x16xbf16> -> tensor<1x4x8x16xbf16>
  return %o : tensor<1x4x8x16xbf16>
}

// -----

// Kernel attention by its terms: masked weights go both ways, the denominator where the guard lets it pass.
// CHECK-LABEL: func.func @kernel_backward(
// CHECK:         attn.normalize %arg3, %[[DEN:.*]] {guard
// CHECK:         attn.denominator_gradient %{{.*}}, %[[DEN]]
// CHECK:         attn.spread %{{.*}} [batch, head, query] like
// CHECK:         attn.visible %{{.*}} {causal}
// CHECK:         attn.map_gradient
func.func @kernel(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"})
    -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %o = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 0.0, floor = 1.0e-06>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// The delta rule has no weights of pairs: its readout backwards is one op, with a gradient of each gate.
// CHECK-LABEL: func.func @delta_backward(
// CHECK-SAME:    -> (tensor<1x2x8xf32> {attn.name = "grad_g"}, tensor<1x2x8xf32> {attn.name = "grad_beta"})
// CHECK:         attn.causal_readout_gradient {{.*}} decay(%{{.*}}) erase(%{{.*}}) cotangents(numerator
func.func @delta(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"},
                 %g: tensor<1x2x8xf32> {attn.name = "g"}, %b: tensor<1x2x8xf32> {attn.name = "beta"})
    -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["g", "beta"]} {
  %o = attn.kernel %q, %k, %v decay(%g : tensor<1x2x8xf32>) erase(%b : tensor<1x2x8xf32>)
      {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<identity, scale = 0.25>}
      : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// States that stand rescaled hold features of keys as they are; those of queries, which cancel, stay in range.
// CHECK-LABEL: func.func @rescaled_backward(
// CHECK:         attn.map %arg0 {{.*}} stabilizer = constant>}
// CHECK:         attn.map %arg1 {{.*}} stabilizer = none>, keys}
// CHECK:         attn.causal_readout_gradient {{.*}} initial(%arg3, %arg4, %arg5 :
func.func @rescaled(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"},
                    %s: tensor<1x2x12x16xf32> {attn.name = "state.s"}, %z: tensor<1x2x12xf32> {attn.name = "state.z"}, %m: tensor<1x2x12xf32> {attn.name = "state.scale"},
                    %w: tensor<1x12x16xf32> {attn.name = "omega", attn.parameter})
    -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "state.s"]} {
  %o = attn.kernel %q, %k, %v parameter(%w : tensor<1x12x16xf32>) initial(%s, %z, %m : tensor<1x2x12x16xf32>, tensor<1x2x12xf32>, tensor<1x2x12xf32>)
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>,
       feature_map = #attn.feature_map<favor, features = 12, epsilon = 0.0, scale = 0.25, stabilizer = constant>}
      : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// Powers from degree 6 on are of queries in units of their largest logit, which is a constant and takes the scale along.
// CHECK-LABEL: func.func @powers_backward(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<1x2x8x16xbf16> {attn.name = "q"}, %[[K:[a-z0-9]+]]: tensor<1x2x8x16xbf16> {attn.name = "k"}
// CHECK-NEXT:    %[[T:.*]] = attn.contract %[[Q]] {{.*}}, %[[K]]
// CHECK-NEXT:    %[[SEEN:.*]] = attn.visible %[[T]] {causal}
// CHECK-NEXT:    %[[U:.*]] = attn.row_maximum %[[SEEN]]
// CHECK-NEXT:    %[[WIDE:.*]] = attn.scale %[[Q]] {factor = 1.000000e+00 : f64} : tensor<1x2x8x16xbf16> -> tensor<1x2x8x16xf32>
// CHECK-NEXT:    %[[A:.*]] = attn.normalize %[[WIDE]], %[[U]]
// CHECK-NEXT:    %[[TINY:.*]] = attn.contract %[[A]] {{.*}}, %[[K]]
// CHECK-NEXT:    attn.power %[[TINY]] {degree = 6 : i64, scale = 1.000000e+00 : f64}
// CHECK:         attn.power %[[TINY]] {degree = 5 : i64, scale = 1.000000e+00 : f64}
// CHECK-NOT:     attn.denominator_gradient %{{.*}}, %[[U]]
// CHECK:         attn.normalize %{{.*}}, %[[U]]
func.func @powers(%q: tensor<1x2x8x16xbf16> {attn.name = "q"}, %k: tensor<1x2x8x16xbf16> {attn.name = "k"}, %v: tensor<1x2x8x16xbf16> {attn.name = "v"})
    -> (tensor<1x2x8x16xbf16> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.polynomial %q, %k, %v {causal, degree = 6 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, scale = 0.25 : f64}
      : tensor<1x2x8x16xbf16>, tensor<1x2x8x16xbf16>, tensor<1x2x8x16xbf16> -> tensor<1x2x8x16xbf16>
  return %o : tensor<1x2x8x16xbf16>
}

// -----

// From degree 16 on, where blocks are exact, a row's unit is of its weights: the largest root of them, which are made of queries over their largest
// product, times that product.
// CHECK-LABEL: func.func @steep_backward(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<1x2x8x16xf32> {attn.name = "q"}, %[[K:[a-z0-9]+]]: tensor<1x2x8x16xf32> {attn.name = "k"}
// CHECK:         %[[L:.*]] = attn.qk_norm %[[Q]]
// CHECK:         %[[ALL:.*]] = attn.row_maximum %{{.*}} : tensor
// CHECK:         %[[NEAR:.*]] = attn.normalize %[[L]], %[[ALL]]
// CHECK:         %[[ROWS:.*]] = attn.sketch %[[NEAR]]
// CHECK:         %[[SKETCHED:.*]] = attn.contract %[[ROWS]]
// CHECK:         %[[PRODUCTS:.*]] = attn.contract %[[NEAR]] {{.*}}, %[[K]]
// CHECK:         %[[EXACT:.*]] = attn.power %[[PRODUCTS]] {degree = 8 : i64
// CHECK:         %[[ROOTS:.*]] = attn.diagonal_blocks %[[EXACT]], %[[SKETCHED]] {block = 2 : i64}
// CHECK:         %[[SEEN:.*]] = attn.visible %[[ROOTS]] {causal}
// CHECK:         %[[OF_ROOTS:.*]] = attn.row_maximum %[[SEEN]] {root = 8 : i64}
// CHECK:         %[[UNIT:.*]] = attn.multiply %[[ALL]], %[[OF_ROOTS]]
// CHECK:         %[[A:.*]] = attn.normalize %[[L]], %[[UNIT]]
// CHECK:         attn.sketch %[[A]]
// CHECK-NOT:     attn.denominator_gradient %{{.*}}, %[[UNIT]]
// CHECK:         attn.normalize %{{.*}}, %[[UNIT]]
func.func @steep(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"},
    %s0: tensor<2x16xf32>, %i0: tensor<2x4xi32>, %s1: tensor<2x16xf32>, %i1: tensor<2x4xi32>, %s2: tensor<2x16xf32>, %i2: tensor<2x4xi32>,
    %s3: tensor<2x16xf32>, %i3: tensor<2x4xi32>, %s4: tensor<2x16xf32>, %i4: tensor<2x4xi32>, %s5: tensor<2x16xf32>, %i5: tensor<2x4xi32>,
    %s6: tensor<2x16xf32>, %i6: tensor<2x4xi32>, %s7: tensor<2x16xf32>, %i7: tensor<2x4xi32>, %s8: tensor<2x4xf32>, %i8: tensor<2x4xi32>,
    %s9: tensor<2x4xf32>, %i9: tensor<2x4xi32>, %s10: tensor<2x4xf32>, %i10: tensor<2x4xi32>, %s11: tensor<2x4xf32>, %i11: tensor<2x4xi32>,
    %s12: tensor<2x4xf32>, %i12: tensor<2x4xi32>, %s13: tensor<2x4xf32>, %i13: tensor<2x4xi32>, %s14: tensor<2x4xf32>, %i14: tensor<2x4xi32>,
    %s15: tensor<2x4xf32>, %i15: tensor<2x4xi32>, %s16: tensor<2x4xf32>, %i16: tensor<2x4xi32>, %s17: tensor<2x4xf32>, %i17: tensor<2x4xi32>,
    %s18: tensor<2x4xf32>, %i18: tensor<2x4xi32>, %s19: tensor<2x4xf32>, %i19: tensor<2x4xi32>, %s20: tensor<2x4xf32>, %i20: tensor<2x4xi32>,
    %s21: tensor<2x4xf32>, %i21: tensor<2x4xi32>) -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9, %s10, %s11, %s12, %s13, %s14, %s15, %s16, %s17, %s18, %s19, %s20, %s21
      : tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
      indices(%i0, %i1, %i2, %i3, %i4, %i5, %i6, %i7, %i8, %i9, %i10, %i11, %i12, %i13, %i14, %i15, %i16, %i17, %i18, %i19, %i20, %i21
      : tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>)
      {causal, degree = 16 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, local_exact = 2 : i64, scale = 1.0 : f64, size = 4 : i64}
      : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// CHECK-LABEL: func.func @products_backward(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x2x8x16xf32> {attn.name = "x"}, %[[Y:[a-z0-9]+]]: tensor<1x2x8x16xf32> {attn.name = "y"}, %[[C:[a-z0-9]+]]: {{.*}}"grad_o"
// CHECK-DAG:     attn.multiply %[[C]], %[[Y]]
// CHECK-DAG:     attn.multiply %[[X]], %[[C]]
func.func @products(%x: tensor<1x2x8x16xf32> {attn.name = "x"}, %y: tensor<1x2x8x16xf32> {attn.name = "y"}) -> (tensor<1x2x8x16xf32> {attn.name = "o"})
    attributes {attn.gradients = ["x", "y"]} {
  %o = attn.multiply %x, %y : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// -----

// A bias of the divisor is one of the powers themselves, up to that of 256, 2^48, beside which it is nothing: 1,024 times the scale.
// CHECK-LABEL: func.func @biased_backward(
// CHECK:         %[[UNIT:.*]] = attn.row_maximum
// CHECK:         %[[ROWS:.*]] = attn.normalize %{{.*}}, %[[UNIT]] {guard = #attn.denominator<bias = 0.000000e+00, floor = 1.024000e+03>}
// CHECK:         %[[SCALED:.*]] = attn.scale %[[ROWS]] {factor = 1.024000e+03 : f64}
// CHECK:         %[[PAIRS:.*]] = attn.contract %[[SCALED]]
// CHECK:         attn.power %[[PAIRS]] {degree = 6 : i64, scale = 2.500000e-01 : f64}
func.func @biased(%q: tensor<1x2x8x16xf32> {attn.name = "q"}, %k: tensor<1x2x8x16xf32> {attn.name = "k"}, %v: tensor<1x2x8x16xf32> {attn.name = "v"})
    -> (tensor<1x2x8x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %o = attn.polynomial %q, %k, %v {causal, degree = 6 : i64, denominator = #attn.denominator<bias = 1.000000e+00, floor = 0.000000e+00>, scale = 0.25 : f64}
      : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}
