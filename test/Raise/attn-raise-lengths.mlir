// RUN: attn-opt %s -split-input-file -attn-raise -cse -canonicalize | FileCheck %s
// RUN: %python %S/Inputs/run_both.py %s | FileCheck %s --check-prefix=EQUAL
// EQUAL-COUNT-2: equal: @

// A number of keys for each entry of the batch, i32, in the place of the logits.

// CHECK-LABEL: func.func @chosen
// CHECK-SAME:    %[[L:[a-z0-9]+]]: tensor<2xi32>
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<0> : tensor<2xi32>
// CHECK-DAG:     %[[ALL:.*]] = arith.constant dense<5> : tensor<2xi32>
// CHECK:         %[[POSITIVE:.*]] = arith.maxsi %[[L]], %[[ZERO]]
// CHECK:         %[[LENGTHS:.*]] = arith.minsi %[[POSITIVE]], %[[ALL]]
// CHECK:         attn.softmax {{.*}} lengths(%[[LENGTHS]] : tensor<2xi32>) {scale = 1.000000e+00 : f64}
#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#batch = affine_map<(b, h, i, j) -> (b)>
func.func @chosen(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x5x8xf32>, %v: tensor<2x3x5x6xf32>, %l: tensor<2xi32>) -> tensor<2x3x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x4x5xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<2x3x4x8xf32>, tensor<2x3x5x8xf32>) outs(%zs : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %m = linalg.generic {indexing_maps = [#id, #batch, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %l : tensor<2x3x4x5xf32>, tensor<2xi32>) outs(%es : tensor<2x3x4x5xf32>) {
  ^bb0(%x: f32, %length: i32, %out: f32):
    %index = linalg.index 3 : index
    %j = arith.index_cast %index : index to i32
    %exists = arith.cmpi slt, %j, %length : i32
    %r = arith.select %exists, %x, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x3x4x5xf32>
  %p = linalg.softmax dimension(3) ins(%m : tensor<2x3x4x5xf32>) outs(%es : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %eo = tensor.empty() : tensor<2x3x4x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %o = linalg.contract indexing_maps = [affine_map<(b, h, i, v, j) -> (b, h, i, j)>, affine_map<(b, h, i, v, j) -> (b, h, j, v)>,
                                        affine_map<(b, h, i, v, j) -> (b, h, i, v)>]
      ins(%p, %v : tensor<2x3x4x5xf32>, tensor<2x3x5x6xf32>) outs(%zo : tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  return %o : tensor<2x3x4x6xf32>
}

// -----

// The same added as 0 and −10⁹, of i64, after a causal mask; heads come before the batch.

// CHECK-LABEL: func.func @added
// CHECK-SAME:    %[[L:[a-z0-9]+]]: tensor<2xi64>
// CHECK:         %[[CLAMPED:.*]] = arith.minsi {{.*}} : tensor<2xi64>
// CHECK:         %[[LENGTHS:.*]] = arith.trunci %[[CLAMPED]] : tensor<2xi64> to tensor<2xi32>
// CHECK:         attn.softmax {{.*}} lengths(%[[LENGTHS]] : tensor<2xi32>) {causal, scale = 1.000000e+00 : f64} : tensor<2x3x5x8xf32>
#q = affine_map<(h, b, i, j, d) -> (h, b, i, d)>
#k = affine_map<(h, b, i, j, d) -> (h, b, j, d)>
#s = affine_map<(h, b, i, j, d) -> (h, b, i, j)>
#id = affine_map<(h, b, i, j) -> (h, b, i, j)>
#batch = affine_map<(h, b, i, j) -> (b)>
func.func @added(%q: tensor<3x2x5x8xf32>, %k: tensor<3x2x5x8xf32>, %v: tensor<3x2x5x6xf32>, %l: tensor<2xi64>) -> tensor<3x2x5x6xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e9 : f32
  %es = tensor.empty() : tensor<3x2x5x5xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<3x2x5x5xf32>) -> tensor<3x2x5x5xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s]
      ins(%q, %k : tensor<3x2x5x8xf32>, tensor<3x2x5x8xf32>) outs(%zs : tensor<3x2x5x5xf32>) -> tensor<3x2x5x5xf32>
  %m = linalg.generic {indexing_maps = [#id, #batch, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %l : tensor<3x2x5x5xf32>, tensor<2xi64>) outs(%es : tensor<3x2x5x5xf32>) {
  ^bb0(%x: f32, %length: i64, %out: f32):
    %i = linalg.index 2 : index
    %place = linalg.index 3 : index
    %later = arith.cmpi sgt, %place, %i : index
    %c = arith.select %later, %low, %x : f32
    %j = arith.index_cast %place : index to i64
    %absent = arith.cmpi sle, %length, %j : i64
    %bias = arith.select %absent, %low, %zero : f32
    %r = arith.addf %c, %bias : f32
    linalg.yield %r : f32
  } -> tensor<3x2x5x5xf32>
  %p = linalg.softmax dimension(3) ins(%m : tensor<3x2x5x5xf32>) outs(%es : tensor<3x2x5x5xf32>) -> tensor<3x2x5x5xf32>
  %eo = tensor.empty() : tensor<3x2x5x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x2x5x6xf32>) -> tensor<3x2x5x6xf32>
  %o = linalg.contract indexing_maps = [affine_map<(h, b, i, v, j) -> (h, b, i, j)>, affine_map<(h, b, i, v, j) -> (h, b, j, v)>,
                                        affine_map<(h, b, i, v, j) -> (h, b, i, v)>]
      ins(%p, %v : tensor<3x2x5x5xf32>, tensor<3x2x5x6xf32>) outs(%zo : tensor<3x2x5x6xf32>) -> tensor<3x2x5x6xf32>
  return %o : tensor<3x2x5x6xf32>
}
