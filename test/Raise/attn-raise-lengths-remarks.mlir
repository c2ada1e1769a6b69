// RUN: attn-opt %s -attn-raise --remarks-filter=attn-raise 2>&1 | FileCheck %s --implicit-check-not="= attn."

// Each query has its own number of keys.
// CHECK: remark: [Missed] softmax | {{.*}}Function=by_query | Remark="not raised: expected a number of keys for each entry of the batch, but got numbers of another dimension"
#id = affine_map<(b, i, j) -> (b, i, j)>
#query = affine_map<(b, i, j) -> (i)>
func.func @by_query(%q: tensor<2x4x8xf32>, %kt: tensor<2x8x5xf32>, %v: tensor<2x5x6xf32>, %l: tensor<4xi32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e9 : f32
  %es = tensor.empty() : tensor<2x4x5xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x4x8xf32>, tensor<2x8x5xf32>) outs(%zs : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %m = linalg.generic {indexing_maps = [#id, #query, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l : tensor<2x4x5xf32>, tensor<4xi32>) outs(%es : tensor<2x4x5xf32>) {
  ^bb0(%x: f32, %length: i32, %out: f32):
    %index = linalg.index 2 : index
    %j = arith.index_cast %index : index to i32
    %exists = arith.cmpi slt, %j, %length : i32
    %r = arith.select %exists, %x, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x4x5xf32>
  %p = linalg.softmax dimension(2) ins(%m : tensor<2x4x5xf32>) outs(%es : tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %eo = tensor.empty() : tensor<2x4x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x4x5xf32>, tensor<2x5x6xf32>) outs(%zo : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %o : tensor<2x4x6xf32>
}
