// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml pin=linearize:state" \
// RUN:   | FileCheck %s --check-prefix=PIN
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Two parts: the one that has several forms takes the cheapest or the pinned one, the other stays what it is.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
// CHECK:         attn.effatt
// CHECK:         attn.row_sum
// CHECK:         attn.concat_heads
// PIN-LABEL:   func.func @parts(
// PIN-SAME:      attn.plan = #attn.plan<form = state, from = 0>
// PIN:           attn.effatt
// PIN:           attn.state
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @parts(%q: tensor<1x2x64x128xf32>, %k: tensor<1x2x64x128xf32>, %v: tensor<1x2x64x128xf32>) -> tensor<1x2x64x128xf32> {
  %q0 = attn.take_heads %q {first = 0 : i64} : tensor<1x2x64x128xf32> -> tensor<1x1x64x128xf32>
  %k0 = attn.take_heads %k {first = 0 : i64} : tensor<1x2x64x128xf32> -> tensor<1x1x64x128xf32>
  %v0 = attn.take_heads %v {first = 0 : i64} : tensor<1x2x64x128xf32> -> tensor<1x1x64x128xf32>
  %o0 = attn.effatt %q0, %k0, %v0 : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  %q1 = attn.take_heads %q {first = 1 : i64} : tensor<1x2x64x128xf32> -> tensor<1x1x64x128xf32>
  %k1 = attn.take_heads %k {first = 1 : i64} : tensor<1x2x64x128xf32> -> tensor<1x1x64x128xf32>
  %v1 = attn.take_heads %v {first = 1 : i64} : tensor<1x2x64x128xf32> -> tensor<1x1x64x128xf32>
  %o1 = attn.kernel %q1, %k1, %v1 {denominator = #none, feature_map = #attn.feature_map<relu>}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  %o = attn.concat_heads %o0, %o1 : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x2x64x128xf32>
  return %o : tensor<1x2x64x128xf32>
}

// -----

// A pin holds for the parts that can take it: of these the windowed one cannot.
// CHECK-LABEL: func.func @one_can(
// PIN-LABEL:   func.func @one_can(
// PIN:           attn.visible {{.*}} {window = #attn.window<32>}
// PIN:           attn.state
// PIN-NOT:       attn.visible
// REMARK:      linearize: cannot take the state form: the blocks of a window would each have a state of their own
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @one_can(%q: tensor<1x1x64x128xf32>, %k: tensor<1x1x64x128xf32>, %v: tensor<1x1x64x128xf32>) -> tensor<1x2x64x128xf32> {
  %o0 = attn.kernel %q, %k, %v {denominator = #none, feature_map = #attn.feature_map<relu>, window = #attn.window<32>}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  %o1 = attn.kernel %q, %k, %v {denominator = #none, feature_map = #attn.feature_map<relu>}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  %o = attn.concat_heads %o0, %o1 : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x2x64x128xf32>
  return %o : tensor<1x2x64x128xf32>
}

// -----

// A stabilizer that is part of the function is a maximum over the keys in every form; where it cancels it is none.
// PIN-LABEL:   func.func @published(
// PIN:           %[[C:.*]] = attn.key_maximum %arg1 parameter(%arg3
// PIN:           attn.map %arg1 {{.*}}shift(%[[C]] : tensor<1x1xf32>) {{.*}}stabilizer = max{{.*}}, keys}
// PIN:           attn.state
// PIN-NOT:       attn.key_maximum
// CHECK-LABEL: func.func @published(
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @published(%q: tensor<1x1x64x128xf32>, %k: tensor<1x1x64x128xf32>, %v: tensor<1x1x64x128xf32>,
                     %w: tensor<1x256x128xf32>) -> (tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>) {
  %o0 = attn.kernel %q, %k, %v parameter(%w : tensor<1x256x128xf32>)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 256, epsilon = 1.0e-4, scale = 0.125, stabilizer = max>}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  %o1 = attn.kernel %q, %k, %v parameter(%w : tensor<1x256x128xf32>)
      {denominator = #none, feature_map = #attn.feature_map<favor, features = 256, epsilon = 0.0, scale = 0.125, stabilizer = max>}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  return %o0, %o1 : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>
}
