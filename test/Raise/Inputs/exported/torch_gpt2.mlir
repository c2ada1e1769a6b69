// As GPT-2 masks: the lowest number where a triangular buffer is false.
// PyTorch 2.15.0+cu132, torch.export, torch-mlir of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> ()>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @torch_gpt2(%arg0: tensor<1x2x6x8xf32>, %arg1: tensor<1x2x6x8xf32>, %arg2: tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32> {
    %cst = arith.constant 2.8284271247461903 : f64
    %cst_0 = arith.constant dense_resource<torch_tensor_1_1_6_6_torch.uint8> : tensor<1x1x6x6xi8>
    %cst_1 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_2 = arith.constant 0xFF800000 : f32
    %c0_i8 = arith.constant 0 : i8
    %cst_3 = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %0 = tensor.empty() : tensor<1x2x8x6xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<1x2x6x8xf32>) outs(%0 : tensor<1x2x8x6xf32>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<1x2x6x8xf32> into tensor<2x6x8xf32>
    %collapsed_4 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<1x2x8x6xf32> into tensor<2x8x6xf32>
    %1 = tensor.empty() : tensor<2x6x6xf32>
    %2 = linalg.fill ins(%cst_3 : f32) outs(%1 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_4 : tensor<2x6x8xf32>, tensor<2x8x6xf32>) outs(%2 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2], [3]] output_shape [1, 2, 6, 6] : tensor<2x6x6xf32> into tensor<1x2x6x6xf32>
    %4 = tensor.empty() : tensor<1x2x6x6xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x2x6x6xf32>) outs(%4 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %23 = arith.truncf %cst : f64 to f32
      %24 = arith.divf %in, %23 : f32
      linalg.yield %24 : f32
    } -> tensor<1x2x6x6xf32>
    %6 = tensor.empty() : tensor<1x1x6x6xi1>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<1x1x6x6xi8>) outs(%6 : tensor<1x1x6x6xi1>) {
    ^bb0(%in: i8, %out: i1):
      %23 = arith.cmpi ne, %in, %c0_i8 : i8
      linalg.yield %23 : i1
    } -> tensor<1x1x6x6xi1>
    %8 = linalg.generic {indexing_maps = [#map1, #map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %5, %cst_1 : tensor<1x1x6x6xi1>, tensor<1x2x6x6xf32>, tensor<f32>) outs(%4 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: i1, %in_9: f32, %in_10: f32, %out: f32):
      %23 = arith.select %in, %in_9, %in_10 : f32
      linalg.yield %23 : f32
    } -> tensor<1x2x6x6xf32>
    %9 = tensor.empty() : tensor<1x2x6xi64>
    %10 = linalg.fill ins(%c0_i64 : i64) outs(%9 : tensor<1x2x6xi64>) -> tensor<1x2x6xi64>
    %11 = tensor.empty() : tensor<1x2x6xf32>
    %12 = linalg.fill ins(%cst_2 : f32) outs(%11 : tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
    %13:2 = linalg.generic {indexing_maps = [#map, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%8 : tensor<1x2x6x6xf32>) outs(%12, %10 : tensor<1x2x6xf32>, tensor<1x2x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_9: i64):
      %23 = linalg.index 3 : index
      %24 = arith.index_cast %23 : index to i64
      %25 = arith.maximumf %in, %out : f32
      %26 = arith.cmpf ogt, %in, %out : f32
      %27 = arith.select %26, %24, %out_9 : i64
      linalg.yield %25, %27 : f32, i64
    } -> (tensor<1x2x6xf32>, tensor<1x2x6xi64>)
    %expanded_5 = tensor.expand_shape %13#0 [[0], [1], [2, 3]] output_shape [1, 2, 6, 1] : tensor<1x2x6xf32> into tensor<1x2x6x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %expanded_5 : tensor<1x2x6x6xf32>, tensor<1x2x6x1xf32>) outs(%4 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %23 = arith.subf %in, %in_9 : f32
      linalg.yield %23 : f32
    } -> tensor<1x2x6x6xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14 : tensor<1x2x6x6xf32>) outs(%4 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %23 = math.exp %in : f32
      linalg.yield %23 : f32
    } -> tensor<1x2x6x6xf32>
    %16 = tensor.empty() : tensor<1x2x6x1xf32>
    %17 = linalg.fill ins(%cst_3 : f32) outs(%16 : tensor<1x2x6x1xf32>) -> tensor<1x2x6x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%15 : tensor<1x2x6x6xf32>) outs(%17 : tensor<1x2x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %23 = arith.addf %in, %out : f32
      linalg.yield %23 : f32
    } -> tensor<1x2x6x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %18 : tensor<1x2x6x6xf32>, tensor<1x2x6x1xf32>) outs(%4 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %23 = arith.divf %in, %in_9 : f32
      linalg.yield %23 : f32
    } -> tensor<1x2x6x6xf32>
    %collapsed_6 = tensor.collapse_shape %19 [[0, 1], [2], [3]] : tensor<1x2x6x6xf32> into tensor<2x6x6xf32>
    %collapsed_7 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<1x2x6x8xf32> into tensor<2x6x8xf32>
    %20 = tensor.empty() : tensor<2x6x8xf32>
    %21 = linalg.fill ins(%cst_3 : f32) outs(%20 : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
    %22 = linalg.batch_matmul ins(%collapsed_6, %collapsed_7 : tensor<2x6x6xf32>, tensor<2x6x8xf32>) outs(%21 : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
    %expanded_8 = tensor.expand_shape %22 [[0, 1], [2], [3]] output_shape [1, 2, 6, 8] : tensor<2x6x8xf32> into tensor<1x2x6x8xf32>
    return %expanded_8 : tensor<1x2x6x8xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_1_1_6_6_torch.uint8: "0x01000000010000000000010100000000010101000000010101010000010101010100010101010101"
    }
  }
#-}

