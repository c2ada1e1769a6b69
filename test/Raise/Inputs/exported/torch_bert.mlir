// As BERT: a mask of tokens that is an input becomes 0 and −10000.
// PyTorch 2.15.0+cu132, torch.export, torch-mlir of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> ()>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @torch_bert(%arg0: tensor<1x2x6x8xf32>, %arg1: tensor<1x2x6x8xf32>, %arg2: tensor<1x2x6x8xf32>, %arg3: tensor<1x6xf32>) -> tensor<1x2x6x8xf32> {
    %cst = arith.constant -1.000000e+04 : f32
    %cst_0 = arith.constant 2.8284271247461903 : f64
    %cst_1 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = arith.constant 0xFF800000 : f32
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
      %24 = arith.truncf %cst_0 : f64 to f32
      %25 = arith.divf %in, %24 : f32
      linalg.yield %25 : f32
    } -> tensor<1x2x6x6xf32>
    %expanded_5 = tensor.expand_shape %arg3 [[0], [1, 2, 3]] output_shape [1, 1, 1, 6] : tensor<1x6xf32> into tensor<1x1x1x6xf32>
    %6 = tensor.empty() : tensor<1x1x1x6xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_1, %expanded_5 : tensor<f32>, tensor<1x1x1x6xf32>) outs(%6 : tensor<1x1x1x6xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %24 = arith.subf %in, %in_10 : f32
      linalg.yield %24 : f32
    } -> tensor<1x1x1x6xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<1x1x1x6xf32>) outs(%6 : tensor<1x1x1x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.mulf %in, %cst : f32
      linalg.yield %24 : f32
    } -> tensor<1x1x1x6xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5, %8 : tensor<1x2x6x6xf32>, tensor<1x1x1x6xf32>) outs(%4 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %24 = arith.addf %in, %in_10 : f32
      linalg.yield %24 : f32
    } -> tensor<1x2x6x6xf32>
    %10 = tensor.empty() : tensor<1x2x6xi64>
    %11 = linalg.fill ins(%c0_i64 : i64) outs(%10 : tensor<1x2x6xi64>) -> tensor<1x2x6xi64>
    %12 = tensor.empty() : tensor<1x2x6xf32>
    %13 = linalg.fill ins(%cst_2 : f32) outs(%12 : tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
    %14:2 = linalg.generic {indexing_maps = [#map, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%9 : tensor<1x2x6x6xf32>) outs(%13, %11 : tensor<1x2x6xf32>, tensor<1x2x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_10: i64):
      %24 = linalg.index 3 : index
      %25 = arith.index_cast %24 : index to i64
      %26 = arith.maximumf %in, %out : f32
      %27 = arith.cmpf ogt, %in, %out : f32
      %28 = arith.select %27, %25, %out_10 : i64
      linalg.yield %26, %28 : f32, i64
    } -> (tensor<1x2x6xf32>, tensor<1x2x6xi64>)
    %expanded_6 = tensor.expand_shape %14#0 [[0], [1], [2, 3]] output_shape [1, 2, 6, 1] : tensor<1x2x6xf32> into tensor<1x2x6x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9, %expanded_6 : tensor<1x2x6x6xf32>, tensor<1x2x6x1xf32>) outs(%4 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %24 = arith.subf %in, %in_10 : f32
      linalg.yield %24 : f32
    } -> tensor<1x2x6x6xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15 : tensor<1x2x6x6xf32>) outs(%4 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = math.exp %in : f32
      linalg.yield %24 : f32
    } -> tensor<1x2x6x6xf32>
    %17 = tensor.empty() : tensor<1x2x6x1xf32>
    %18 = linalg.fill ins(%cst_3 : f32) outs(%17 : tensor<1x2x6x1xf32>) -> tensor<1x2x6x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%16 : tensor<1x2x6x6xf32>) outs(%18 : tensor<1x2x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.addf %in, %out : f32
      linalg.yield %24 : f32
    } -> tensor<1x2x6x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %19 : tensor<1x2x6x6xf32>, tensor<1x2x6x1xf32>) outs(%4 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %24 = arith.divf %in, %in_10 : f32
      linalg.yield %24 : f32
    } -> tensor<1x2x6x6xf32>
    %collapsed_7 = tensor.collapse_shape %20 [[0, 1], [2], [3]] : tensor<1x2x6x6xf32> into tensor<2x6x6xf32>
    %collapsed_8 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<1x2x6x8xf32> into tensor<2x6x8xf32>
    %21 = tensor.empty() : tensor<2x6x8xf32>
    %22 = linalg.fill ins(%cst_3 : f32) outs(%21 : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
    %23 = linalg.batch_matmul ins(%collapsed_7, %collapsed_8 : tensor<2x6x6xf32>, tensor<2x6x8xf32>) outs(%22 : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
    %expanded_9 = tensor.expand_shape %23 [[0, 1], [2], [3]] output_shape [1, 2, 6, 8] : tensor<2x6x8xf32> into tensor<1x2x6x8xf32>
    return %expanded_9 : tensor<1x2x6x8xf32>
  }
}

