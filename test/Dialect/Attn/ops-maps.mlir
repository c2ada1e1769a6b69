// Feature maps with parameters, windows and compression; examples.test compares the examples of the descriptions with
// these lines.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!x = tensor<2x4x200x64xf32>
!kv = tensor<2x2x200x64xf32>
#none = #attn.denominator<bias = 0.0, floor = 0.0>

// CHECK-LABEL: func.func @key_maximum
func.func @key_maximum(%k: !x, %w: tensor<4x96x64xf32>, %shared: tensor<1x96x64xf32>, %l: tensor<2xi32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK: attn.key_maximum %{{.*}} parameter(%{{.*}} : tensor<4x96x64xf32>) {feature_map = #attn.feature_map<favor, features = 96, epsilon = 1.000000e-04, scale = 1.250000e-01, stabilizer = max>} : tensor<2x4x200x64xf32> -> tensor<2x4xf32>
  %c = attn.key_maximum %k parameter(%w : tensor<4x96x64xf32>) {feature_map = #attn.feature_map<favor, features = 96, epsilon = 1.000000e-04, scale = 1.250000e-01, stabilizer = max>}
      : tensor<2x4x200x64xf32> -> tensor<2x4xf32>
  // CHECK: attn.key_maximum %{{.*}} lengths(%{{.*}} : tensor<2xi32>) parameter(%{{.*}} : tensor<1x96x64xf32>) {{.*}} stabilizer = projection>}
  %d = attn.key_maximum %k lengths(%l : tensor<2xi32>) parameter(%shared : tensor<1x96x64xf32>)
      {feature_map = #attn.feature_map<favor, features = 96, epsilon = 0.0, scale = 1.0, stabilizer = projection>} : !x -> tensor<2x4xf32>
  return %c, %d : tensor<2x4xf32>, tensor<2x4xf32>
}

// A parameter with a row a query head makes features of 4 heads from keys of 2.
// CHECK-LABEL: func.func @maps
func.func @maps(%k: !kv, %w: tensor<4x96x64xf32>, %s: tensor<4x64xf32>, %c: tensor<2x4xf32>, %l: tensor<2xi32>)
    -> (tensor<2x4x200x96xf32>, !x, tensor<2x2x200x128xf32>) {
  // CHECK: attn.map %{{.*}} lengths(%{{.*}} : tensor<2xi32>) parameter(%{{.*}} : tensor<4x96x64xf32>) shift(%{{.*}} : tensor<2x4xf32>) {feature_map = #attn.feature_map<favor, {{.*}}>, keys} : tensor<2x2x200x64xf32> -> tensor<2x4x200x96xf32>
  %a = attn.map %k lengths(%l : tensor<2xi32>) parameter(%w : tensor<4x96x64xf32>) shift(%c : tensor<2x4xf32>)
      {feature_map = #attn.feature_map<favor, features = 96, epsilon = 1.0e-4, scale = 1.0, stabilizer = max>, keys} : !kv -> tensor<2x4x200x96xf32>
  // CHECK: attn.map %{{.*}} {feature_map = #attn.feature_map<symmetric_square>} : {{.*}} -> tensor<2x2x200x2112xf32>
  %square = attn.map %k {feature_map = #attn.feature_map<symmetric_square>} : !kv -> tensor<2x2x200x2112xf32>
  // CHECK: attn.map %{{.*}} parameter(%{{.*}} : tensor<4x64xf32>) {feature_map = #attn.feature_map<focused, epsilon = 9.9999999999999995E-7, power = 3.000000e+00>} :
  %b = attn.map %k parameter(%s : tensor<4x64xf32>) {feature_map = #attn.feature_map<focused, epsilon = 1.0e-6, power = 3.0>} : !kv -> !x
  // CHECK: attn.map %{{.*}} {feature_map = #attn.feature_map<cosformer, max_position = 200>} :
  %d = attn.map %k {feature_map = #attn.feature_map<cosformer, max_position = 200>} : !kv -> tensor<2x2x200x128xf32>
  return %a, %b, %d : tensor<2x4x200x96xf32>, !x, tensor<2x2x200x128xf32>
}

// CHECK-LABEL: func.func @kernels
func.func @kernels(%q: !x, %k: !kv, %w: tensor<1x32x64xf32>, %e: tensor<1x10x200xf32>, %f: tensor<2x10x200xf32>)
    -> (!x, !x, !x) {
  // CHECK: attn.kernel %{{.*}} parameter(%{{.*}} : tensor<1x32x64xf32>) compress(%{{.*}}, %{{.*}} : tensor<1x10x200xf32>, tensor<2x10x200xf32>) {
  %a = attn.kernel %q, %k, %k parameter(%w : tensor<1x32x64xf32>) compress(%e, %f : tensor<1x10x200xf32>, tensor<2x10x200xf32>)
      {denominator = #none, feature_map = #attn.feature_map<favor_relu, features = 32, epsilon = 1.0e-3, scale = 0.0>} : !x, !kv, !kv -> !x
  // CHECK: attn.kernel {{.*}} window = #attn.window<50>} :
  %b = attn.kernel %q, %k, %k {denominator = #none, feature_map = #attn.feature_map<relu>, window = #attn.window<50>} : !x, !kv, !kv -> !x
  // CHECK: attn.softmax {{.*}} window = #attn.window<10x5 of 20x10>} :
  %c = attn.softmax %q, %k, %k {scale = 1.0 : f64, window = #attn.window<10x5 of 20x10>} : !x, !kv, !kv -> !x
  return %a, %b, %c : !x, !x, !x
}

// A state has a head for each head of the features.
// CHECK-LABEL: func.func @states
func.func @states(%phi: tensor<2x4x200x96xf32>, %v: !kv) -> tensor<2x4x96x64xf32> {
  // CHECK: attn.state %{{.*}}, %{{.*}} : tensor<2x4x200x96xf32>, tensor<2x2x200x64xf32> -> tensor<2x4x96x64xf32>, tensor<2x4x96xf32>
  %s, %z = attn.state %phi, %v : tensor<2x4x200x96xf32>, !kv -> tensor<2x4x96x64xf32>, tensor<2x4x96xf32>
  return %s : tensor<2x4x96x64xf32>
}

// Mixed elements: what project, rope and compress give is f32.
// CHECK-LABEL: func.func @elements
func.func @elements(%q: !x, %k: tensor<2x2x7x64xf16>, %v: tensor<2x2x7x3xbf16>) -> tensor<2x4x200x3xf16> {
  // CHECK: attn.softmax {{.*}} : tensor<2x4x200x64xf32>, tensor<2x2x7x64xf16>, tensor<2x2x7x3xbf16> -> tensor<2x4x200x3xf16>
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64} : !x, tensor<2x2x7x64xf16>, tensor<2x2x7x3xbf16> -> tensor<2x4x200x3xf16>
  return %o : tensor<2x4x200x3xf16>
}

// CHECK-LABEL: func.func private @attributes
// CHECK-SAME: #attn.feature_map<elu1>
// CHECK-SAME: #attn.feature_map<favor, features = 256, epsilon = 0.000000e+00, scale = 1.250000e-01, stabilizer = constant>
// CHECK-SAME: #attn.feature_map<cosformer, max_position = 4096>
// CHECK-SAME: #attn.feature_map<focused, epsilon = 9.9999999999999995E-7, power = 3.000000e+00>
// CHECK-SAME: #attn.window<49>
// CHECK-SAME: #attn.window<7x7 of 56x56>
func.func private @attributes() attributes {
  a = #attn.feature_map<elu1>,
  b = #attn.feature_map<favor, features = 256, epsilon = 0.000000e+00, scale = 1.250000e-01, stabilizer = constant>,
  c = #attn.feature_map<cosformer, max_position = 4096>,
  d = #attn.feature_map<focused, epsilon = 1.000000e-06, power = 3.000000e+00>,
  e = #attn.window<49>,
  f = #attn.window<7x7 of 56x56>
}
