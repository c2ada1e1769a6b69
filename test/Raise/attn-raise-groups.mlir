// RUN: attn-opt %s -split-input-file -attn-raise -cse -canonicalize | FileCheck %s

// repeat_kv of torch: keys [B, G, N, d] broadcast to [B, G, 3, N, d], collapsed to six heads and then to batch × heads.
// CHECK-LABEL: func.func @repeated
// CHECK:         attn.softmax {{.*}} {scale = 1.000000e+00 : f64} : tensor<2x6x4x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32> -> tensor<2x6x4x8xf32>
// CHECK-NOT:     linalg.broadcast
func.func @repeated(%q: tensor<2x6x4x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>) -> tensor<2x6x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %re = tensor.empty() : tensor<2x2x3x5x8xf32>
  %kb = linalg.broadcast ins(%k : tensor<2x2x5x8xf32>) outs(%re : tensor<2x2x3x5x8xf32>) dimensions = [2]
  %vb = linalg.broadcast ins(%v : tensor<2x2x5x8xf32>) outs(%re : tensor<2x2x3x5x8xf32>) dimensions = [2]
  %k4 = tensor.collapse_shape %kb [[0], [1, 2], [3], [4]] : tensor<2x2x3x5x8xf32> into tensor<2x6x5x8xf32>
  %k3 = tensor.collapse_shape %k4 [[0, 1], [2], [3]] : tensor<2x6x5x8xf32> into tensor<12x5x8xf32>
  %v3 = tensor.collapse_shape %vb [[0, 1, 2], [3], [4]] : tensor<2x2x3x5x8xf32> into tensor<12x5x8xf32>
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x6x4x8xf32> into tensor<12x4x8xf32>
  %e = tensor.empty() : tensor<12x4x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12x4x5xf32>) -> tensor<12x4x5xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>,
                                        affine_map<(b, i, j, d) -> (b, i, j)>]
      ins(%q3, %k3 : tensor<12x4x8xf32>, tensor<12x5x8xf32>) outs(%z : tensor<12x4x5xf32>) -> tensor<12x4x5xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<12x4x5xf32>) outs(%e : tensor<12x4x5xf32>) -> tensor<12x4x5xf32>
  %oe = tensor.empty() : tensor<12x4x8xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<12x4x8xf32>) -> tensor<12x4x8xf32>
  %o3 = linalg.batch_matmul ins(%w, %v3 : tensor<12x4x5xf32>, tensor<12x5x8xf32>) outs(%oz : tensor<12x4x8xf32>) -> tensor<12x4x8xf32>
  %o = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [2, 6, 4, 8] : tensor<12x4x8xf32> into tensor<2x6x4x8xf32>
  return %o : tensor<2x6x4x8xf32>
}

// -----

// JAX's grouped einsum bnkgh,bskh: queries [B, n, G, R, d] beside keys [B, N, G, d], no broadcast at all.
// CHECK-LABEL: func.func @grouped_einsum
// CHECK:         attn.softmax {{.*}} {scale = 1.000000e+00 : f64} : tensor<2x6x4x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x16xf32> -> tensor<2x6x4x16xf32>
func.func @grouped_einsum(%q: tensor<2x4x2x3x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x16xf32>) -> tensor<2x4x2x3x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x3x4x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x3x4x5xf32>) -> tensor<2x2x3x4x5xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, g, r, i, j, d) -> (b, i, g, r, d)>, affine_map<(b, g, r, i, j, d) -> (b, j, g, d)>,
                                        affine_map<(b, g, r, i, j, d) -> (b, g, r, i, j)>]
      ins(%q, %k : tensor<2x4x2x3x8xf32>, tensor<2x5x2x8xf32>) outs(%z : tensor<2x2x3x4x5xf32>) -> tensor<2x2x3x4x5xf32>
  %w = linalg.softmax dimension(4) ins(%s : tensor<2x2x3x4x5xf32>) outs(%e : tensor<2x2x3x4x5xf32>) -> tensor<2x2x3x4x5xf32>
  %oe = tensor.empty() : tensor<2x4x2x3x16xf32>
  %oz = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x4x2x3x16xf32>) -> tensor<2x4x2x3x16xf32>
  %o = linalg.contract indexing_maps = [affine_map<(b, g, r, i, j, v) -> (b, g, r, i, j)>, affine_map<(b, g, r, i, j, v) -> (b, j, g, v)>,
                                        affine_map<(b, g, r, i, j, v) -> (b, i, g, r, v)>]
      ins(%w, %v : tensor<2x2x3x4x5xf32>, tensor<2x5x2x16xf32>) outs(%oz : tensor<2x4x2x3x16xf32>) -> tensor<2x4x2x3x16xf32>
  return %o : tensor<2x4x2x3x16xf32>
}
