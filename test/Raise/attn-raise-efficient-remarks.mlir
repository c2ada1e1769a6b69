// RUN: attn-opt %s -split-input-file -attn-raise --remarks-filter=attn-raise 2>&1 | FileCheck %s --implicit-check-not=attn.effatt

// The output of one softmax over features, not both: keys are a distribution over features, too.
// CHECK-LABEL: func.func @both_over_features
func.func @both_over_features(%q: tensor<2x4x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %eq = tensor.empty() : tensor<2x4x8xf32>
  %ek = tensor.empty() : tensor<2x5x8xf32>
  %a = linalg.softmax dimension(2) ins(%q : tensor<2x4x8xf32>) outs(%eq : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %b = linalg.softmax dimension(2) ins(%k : tensor<2x5x8xf32>) outs(%ek : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %es = tensor.empty() : tensor<2x8x6xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, f, v, j) -> (b, j, f)>, affine_map<(b, f, v, j) -> (b, j, v)>,
                                        affine_map<(b, f, v, j) -> (b, f, v)>]
      ins(%b, %v : tensor<2x5x8xf32>, tensor<2x5x6xf32>) outs(%zs : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %eo = tensor.empty() : tensor<2x4x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.batch_matmul ins(%a, %s : tensor<2x4x8xf32>, tensor<2x8x6xf32>) outs(%zo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}

// -----

// Queries are scaled after their softmax.
// CHECK: remark: [Missed] efficient | {{.*}}Function=scaled | Remark="not raised: expected weights that add up to 1, but got them multiplied by a constant; multiply the values by it instead"
func.func @scaled(%q: tensor<2x4x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x6xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant dense<0.5> : tensor<2x4x8xf32>
  %eq = tensor.empty() : tensor<2x4x8xf32>
  %ek = tensor.empty() : tensor<2x5x8xf32>
  %a = linalg.softmax dimension(2) ins(%q : tensor<2x4x8xf32>) outs(%eq : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %c = arith.mulf %a, %half : tensor<2x4x8xf32>
  %b = linalg.softmax dimension(1) ins(%k : tensor<2x5x8xf32>) outs(%ek : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %es = tensor.empty() : tensor<2x8x6xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, f, v, j) -> (b, j, f)>, affine_map<(b, f, v, j) -> (b, j, v)>,
                                        affine_map<(b, f, v, j) -> (b, f, v)>]
      ins(%b, %v : tensor<2x5x8xf32>, tensor<2x5x6xf32>) outs(%zs : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %eo = tensor.empty() : tensor<2x4x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.batch_matmul ins(%c, %s : tensor<2x4x8xf32>, tensor<2x8x6xf32>) outs(%zo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}
