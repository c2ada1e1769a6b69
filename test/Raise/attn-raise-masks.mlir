// RUN: attn-opt %s -split-input-file -attn-raise -cse -canonicalize | FileCheck %s

// Masks as constants, as torch.export keeps them: tril and triu buffers of truth values or of numbers.

// An additive triangle of −∞, and four queries at the end of six keys.
// CHECK-LABEL: func.func @added_triangle
// CHECK:         attn.softmax {{.*}} {causal, scale = 1.000000e+00 : f64} : tensor<2x1x4x8xf32>, tensor<2x1x6x8xf32>, tensor<2x1x6x8xf32>
#id = affine_map<(b, i, j) -> (b, i, j)>
#ij = affine_map<(b, i, j) -> (i, j)>
func.func @added_triangle(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %mask = arith.constant dense<[[0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000],
                                [0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<4x6xf32>
  %e = tensor.empty() : tensor<2x4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>,
                                        affine_map<(b, i, j, d) -> (b, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x4x8xf32>, tensor<2x6x8xf32>) outs(%z : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %a: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %a, %p : f32
    linalg.yield %r : f32
  } -> tensor<2x4x6xf32>
  %m = linalg.generic {indexing_maps = [#id, #ij, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %mask : tensor<2x4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<2x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %a: f32):
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<2x4x6xf32>
  %w = linalg.softmax dimension(2) ins(%m : tensor<2x4x6xf32>) outs(%e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x6xf32>, tensor<2x6x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// masked_fill with a triangle of truth values: what is true is hidden. The exponentials are not shifted and the division
// comes last, as hand-written kernels have it.
// CHECK-LABEL: func.func @hidden_triangle
// CHECK:         attn.softmax {{.*}} {causal, scale = 2.500000e-01 : f64} : tensor<1x1x3x16xf32>
func.func @hidden_triangle(%q: tensor<3x16xf32>, %k: tensor<3x16xf32>, %v: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %zero = arith.constant 0.0 : f32
  %quarter = arith.constant 0.25 : f32
  %low = arith.constant -1.0e+09 : f32
  %hidden = arith.constant dense<[[false, true, true], [false, false, true], [false, false, false]]> : tensor<3x3xi1>
  %e = tensor.empty() : tensor<3x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %kte = tensor.empty() : tensor<16x3xf32>
  %kt = linalg.transpose ins(%k : tensor<3x16xf32>) outs(%kte : tensor<16x3xf32>) permutation = [1, 0]
  %s = linalg.matmul ins(%q, %kt : tensor<3x16xf32>, tensor<16x3xf32>) outs(%z : tensor<3x3xf32>) -> tensor<3x3xf32>
  %x = linalg.map ins(%s, %hidden : tensor<3x3xf32>, tensor<3x3xi1>) outs(%e : tensor<3x3xf32>) (%a: f32, %h: i1, %init: f32) {
    %b = arith.mulf %a, %quarter : f32
    %c = arith.select %h, %low, %b : f32
    %r = math.exp %c : f32
    linalg.yield %r : f32
  }
  %le = tensor.empty() : tensor<3xf32>
  %lz = linalg.fill ins(%zero : f32) outs(%le : tensor<3xf32>) -> tensor<3xf32>
  %l = linalg.reduce { arith.addf } ins(%x : tensor<3x3xf32>) outs(%lz : tensor<3xf32>) dimensions = [1]
  %oe = tensor.empty() : tensor<3x16xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<3x16xf32>) -> tensor<3x16xf32>
  %n = linalg.matmul ins(%x, %v : tensor<3x3xf32>, tensor<3x16xf32>) outs(%oz : tensor<3x16xf32>) -> tensor<3x16xf32>
  %lb = linalg.broadcast ins(%l : tensor<3xf32>) outs(%oe : tensor<3x16xf32>) dimensions = [1]
  %o = linalg.div ins(%n, %lb : tensor<3x16xf32>, tensor<3x16xf32>) outs(%oe : tensor<3x16xf32>) -> tensor<3x16xf32>
  return %o : tensor<3x16xf32>
}

// -----

// BERT's (1 − mask) · −10000 with a constant mask of keys: the last key is padding.
// CHECK-LABEL: func.func @padding
// CHECK:         %[[L:.*]] = arith.constant dense<3> : tensor<2xi32>
// CHECK:         attn.softmax {{.*}} lengths(%[[L]] : tensor<2xi32>) {scale = 1.000000e+00 : f64}
#id = affine_map<(b, i, j) -> (b, i, j)>
#j = affine_map<(b, i, j) -> (j)>
func.func @padding(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x4xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %low = arith.constant -10000.0 : f32
  %mask = arith.constant dense<[1.0, 1.0, 1.0, 0.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%z : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %m = linalg.generic {indexing_maps = [#id, #j, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %mask : tensor<2x4x4xf32>, tensor<4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %a: f32):
    %n = arith.subf %one, %y : f32
    %b = arith.mulf %n, %low : f32
    %r = arith.addf %x, %b : f32
    linalg.yield %r : f32
  } -> tensor<2x4x4xf32>
  %w = linalg.softmax dimension(2) ins(%m : tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %oe = tensor.empty() : tensor<2x4x8xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x4x4xf32>, tensor<2x4x8xf32>) outs(%oz : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %o : tensor<2x4x8xf32>
}

// -----

// Blocks of two tokens, as a product of indices: causal inside of each.
// CHECK-LABEL: func.func @blocks
// CHECK:         attn.softmax {{.*}} {causal, scale = 1.000000e+00 : f64, window = #attn.window<2>}
#id = affine_map<(b, i, j) -> (b, i, j)>
func.func @blocks(%q: tensor<2x6x8xf32>, %kt: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %block = arith.constant dense<[0, 0, 1, 1, 2, 2]> : tensor<6xi32>
  %e = tensor.empty() : tensor<2x6x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x6x8xf32>, tensor<2x8x6xf32>) outs(%z : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %m = linalg.generic {indexing_maps = [#id, affine_map<(b, i, j) -> (i)>, affine_map<(b, i, j) -> (j)>, #id],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %block, %block : tensor<2x6x6xf32>, tensor<6xi32>, tensor<6xi32>) outs(%e : tensor<2x6x6xf32>) {
  ^bb0(%x: f32, %y: i32, %y2: i32, %a: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %same = arith.cmpi eq, %y, %y2 : i32
    %before = arith.cmpi sle, %j, %i : index
    %sees = arith.andi %same, %before : i1
    %b = arith.select %sees, %zero, %low : f32
    %r = arith.addf %b, %x : f32
    linalg.yield %r : f32
  } -> tensor<2x6x6xf32>
  %w = linalg.softmax dimension(2) ins(%m : tensor<2x6x6xf32>) outs(%e : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %oe = tensor.empty() : tensor<2x6x8xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>) outs(%oz : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  return %o : tensor<2x6x8xf32>
}
