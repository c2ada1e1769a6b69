// RUN: attn-opt %s -split-input-file -attn-raise -cse -canonicalize | FileCheck %s
// RUN: %python %S/Inputs/run_both.py %s | FileCheck %s --check-prefix=EQUAL
// EQUAL-COUNT-3: equal: @

// The quadratic form with a triangle of constants multiplied into the weights, relu as a maximum, a floor.

// CHECK-LABEL: func.func @causal_table
// CHECK:         attn.kernel {{.*}} {causal, denominator = #attn.denominator<bias = 0.000000e+00, floor = 9.99{{[0-9]+}}E-5>, feature_map = #attn.feature_map<relu>}
// CHECK-NOT:     linalg.batch_matmul
#id = affine_map<(b, i, j) -> (b, i, j)>
#ij = affine_map<(b, i, j) -> (i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
func.func @causal_table(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 1.0e-04 : f32
  %zq = arith.constant dense<0.0> : tensor<2x4x8xf32>
  %zk = arith.constant dense<0.0> : tensor<2x8x4xf32>
  %triangle = arith.constant dense<[[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<4x4xf32>
  %a = arith.maximumf %q, %zq : tensor<2x4x8xf32>
  %b = arith.maximumf %kt, %zk : tensor<2x8x4xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %s = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %w = linalg.generic {indexing_maps = [#id, #ij, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %triangle : tensor<2x4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%x: f32, %t: f32, %y: f32):
    %r = arith.mulf %x, %t : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4xf32>
  %d.e = tensor.empty() : tensor<2x4xf32>
  %d.z = linalg.fill ins(%zero : f32) outs(%d.e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = linalg.reduce ins(%w : tensor<2x4x4xf32>) outs(%d.z : tensor<2x4xf32>) dimensions = [2]
    (%x: f32, %y: f32) {
      %r = arith.addf %x, %y : f32
      linalg.yield %r : f32
    }
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %d : tensor<2x4x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%x: f32, %sum: f32, %y: f32):
    %guarded = arith.maximumf %sum, %small : f32
    %r = arith.divf %x, %guarded : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4xf32>
  %o.e = tensor.empty() : tensor<2x4x6xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x4x4xf32>, tensor<2x4x6xf32>) outs(%o.z : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}

// -----

// A choice by places, elu + 1 as exp(min(x, 0)) + max(x, 0), divided after the product with V.

// CHECK-LABEL: func.func @causal_choice
// CHECK:         attn.kernel {{.*}} {causal, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, feature_map = #attn.feature_map<elu1>}
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, v) -> (b, i)>
func.func @causal_choice(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %zq = arith.constant dense<0.0> : tensor<2x4x8xf32>
  %zk = arith.constant dense<0.0> : tensor<2x8x4xf32>
  %q.n = arith.minimumf %q, %zq : tensor<2x4x8xf32>
  %q.x = math.exp %q.n : tensor<2x4x8xf32>
  %q.p = arith.maximumf %q, %zq : tensor<2x4x8xf32>
  %a = arith.addf %q.x, %q.p : tensor<2x4x8xf32>
  %k.n = arith.minimumf %kt, %zk : tensor<2x8x4xf32>
  %k.x = math.exp %k.n : tensor<2x8x4xf32>
  %k.p = arith.maximumf %kt, %zk : tensor<2x8x4xf32>
  %b = arith.addf %k.x, %k.p : tensor<2x8x4xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %s = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %hidden = arith.cmpi sgt, %j, %i : index
    %r = arith.select %hidden, %zero, %x : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4xf32>
  %d.e = tensor.empty() : tensor<2x4xf32>
  %d.z = linalg.fill ins(%zero : f32) outs(%d.e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = linalg.reduce ins(%w : tensor<2x4x4xf32>) outs(%d.z : tensor<2x4xf32>) dimensions = [2]
    (%x: f32, %y: f32) {
      %r = arith.addf %x, %y : f32
      linalg.yield %r : f32
    }
  %o.e = tensor.empty() : tensor<2x4x6xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %n = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x6xf32>) outs(%o.z : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%n, %d : tensor<2x4x6xf32>, tensor<2x4xf32>) outs(%o.e : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %sum: f32, %y: f32):
    %r = arith.divf %x, %sum : f32
    linalg.yield %r : f32
  } -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}

// -----

// The state form behind projections: values are a product too, and stay one.

// CHECK-LABEL: func.func @projected
// CHECK-SAME:    %{{.*}}: tensor<6x8xf32>, %[[X:.*]]: tensor<5x8xf32>, %[[W:.*]]: tensor<8x4xf32>
// CHECK:         %[[V:.*]] = linalg.matmul ins(%[[X]], %[[W]]
// CHECK:         attn.map {{.*}}relu
// CHECK:         attn.state
// CHECK-NOT:     linalg.matmul
func.func @projected(%q: tensor<6x8xf32>, %x: tensor<5x8xf32>, %w: tensor<8x4xf32>) -> tensor<6x4xf32> {
  %zero = arith.constant 0.0 : f32
  %zq = arith.constant dense<0.0> : tensor<6x8xf32>
  %zk = arith.constant dense<0.0> : tensor<5x8xf32>
  %v.e = tensor.empty() : tensor<5x4xf32>
  %v.z = linalg.fill ins(%zero : f32) outs(%v.e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %v = linalg.matmul ins(%x, %w : tensor<5x8xf32>, tensor<8x4xf32>) outs(%v.z : tensor<5x4xf32>) -> tensor<5x4xf32>
  %a = arith.maximumf %q, %zq : tensor<6x8xf32>
  %b = arith.maximumf %x, %zk : tensor<5x8xf32>
  %bt.e = tensor.empty() : tensor<8x5xf32>
  %bt = linalg.transpose ins(%b : tensor<5x8xf32>) outs(%bt.e : tensor<8x5xf32>) permutation = [1, 0]
  %s.e = tensor.empty() : tensor<8x4xf32>
  %s.z = linalg.fill ins(%zero : f32) outs(%s.e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = linalg.matmul ins(%bt, %v : tensor<8x5xf32>, tensor<5x4xf32>) outs(%s.z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %o.e = tensor.empty() : tensor<6x4xf32>
  %o.z = linalg.fill ins(%zero : f32) outs(%o.e : tensor<6x4xf32>) -> tensor<6x4xf32>
  %o = linalg.matmul ins(%a, %s : tensor<6x8xf32>, tensor<8x4xf32>) outs(%o.z : tensor<6x4xf32>) -> tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}
