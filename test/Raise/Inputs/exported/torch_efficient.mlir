// As "Efficient Attention": softmax over features of queries, over the tokens of keys.
// PyTorch 2.15.0+cu132, torch.export, torch-mlir of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
module {
  func.func @torch_efficient(%arg0: tensor<1x2x6x8xf32>, %arg1: tensor<1x2x9x8xf32>, %arg2: tensor<1x2x9x4xf32>) -> tensor<1x2x6x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %c0_i64 = arith.constant 0 : i64
    %0 = tensor.empty() : tensor<1x2x6xi64>
    %1 = linalg.fill ins(%c0_i64 : i64) outs(%0 : tensor<1x2x6xi64>) -> tensor<1x2x6xi64>
    %2 = tensor.empty() : tensor<1x2x6xf32>
    %3 = linalg.fill ins(%cst_0 : f32) outs(%2 : tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
    %4:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0 : tensor<1x2x6x8xf32>) outs(%3, %1 : tensor<1x2x6xf32>, tensor<1x2x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_5: i64):
      %31 = linalg.index 3 : index
      %32 = arith.index_cast %31 : index to i64
      %33 = arith.maximumf %in, %out : f32
      %34 = arith.cmpf ogt, %in, %out : f32
      %35 = arith.select %34, %32, %out_5 : i64
      linalg.yield %33, %35 : f32, i64
    } -> (tensor<1x2x6xf32>, tensor<1x2x6xi64>)
    %expanded = tensor.expand_shape %4#0 [[0], [1], [2, 3]] output_shape [1, 2, 6, 1] : tensor<1x2x6xf32> into tensor<1x2x6x1xf32>
    %5 = tensor.empty() : tensor<1x2x6x8xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %expanded : tensor<1x2x6x8xf32>, tensor<1x2x6x1xf32>) outs(%5 : tensor<1x2x6x8xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %31 = arith.subf %in, %in_5 : f32
      linalg.yield %31 : f32
    } -> tensor<1x2x6x8xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<1x2x6x8xf32>) outs(%5 : tensor<1x2x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = math.exp %in : f32
      linalg.yield %31 : f32
    } -> tensor<1x2x6x8xf32>
    %8 = tensor.empty() : tensor<1x2x6x1xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<1x2x6x1xf32>) -> tensor<1x2x6x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%7 : tensor<1x2x6x8xf32>) outs(%9 : tensor<1x2x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.addf %in, %out : f32
      linalg.yield %31 : f32
    } -> tensor<1x2x6x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %10 : tensor<1x2x6x8xf32>, tensor<1x2x6x1xf32>) outs(%5 : tensor<1x2x6x8xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %31 = arith.divf %in, %in_5 : f32
      linalg.yield %31 : f32
    } -> tensor<1x2x6x8xf32>
    %12 = tensor.empty() : tensor<1x2x8xi64>
    %13 = linalg.fill ins(%c0_i64 : i64) outs(%12 : tensor<1x2x8xi64>) -> tensor<1x2x8xi64>
    %14 = tensor.empty() : tensor<1x2x8xf32>
    %15 = linalg.fill ins(%cst_0 : f32) outs(%14 : tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
    %16:2 = linalg.generic {indexing_maps = [#map, #map3, #map3], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%arg1 : tensor<1x2x9x8xf32>) outs(%15, %13 : tensor<1x2x8xf32>, tensor<1x2x8xi64>) {
    ^bb0(%in: f32, %out: f32, %out_5: i64):
      %31 = linalg.index 2 : index
      %32 = arith.index_cast %31 : index to i64
      %33 = arith.maximumf %in, %out : f32
      %34 = arith.cmpf ogt, %in, %out : f32
      %35 = arith.select %34, %32, %out_5 : i64
      linalg.yield %33, %35 : f32, i64
    } -> (tensor<1x2x8xf32>, tensor<1x2x8xi64>)
    %expanded_1 = tensor.expand_shape %16#0 [[0], [1, 2], [3]] output_shape [1, 2, 1, 8] : tensor<1x2x8xf32> into tensor<1x2x1x8xf32>
    %17 = tensor.empty() : tensor<1x2x9x8xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1, %expanded_1 : tensor<1x2x9x8xf32>, tensor<1x2x1x8xf32>) outs(%17 : tensor<1x2x9x8xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %31 = arith.subf %in, %in_5 : f32
      linalg.yield %31 : f32
    } -> tensor<1x2x9x8xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<1x2x9x8xf32>) outs(%17 : tensor<1x2x9x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = math.exp %in : f32
      linalg.yield %31 : f32
    } -> tensor<1x2x9x8xf32>
    %20 = tensor.empty() : tensor<1x2x1x8xf32>
    %21 = linalg.fill ins(%cst : f32) outs(%20 : tensor<1x2x1x8xf32>) -> tensor<1x2x1x8xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map4], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%19 : tensor<1x2x9x8xf32>) outs(%21 : tensor<1x2x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.addf %in, %out : f32
      linalg.yield %31 : f32
    } -> tensor<1x2x1x8xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19, %22 : tensor<1x2x9x8xf32>, tensor<1x2x1x8xf32>) outs(%17 : tensor<1x2x9x8xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %31 = arith.divf %in, %in_5 : f32
      linalg.yield %31 : f32
    } -> tensor<1x2x9x8xf32>
    %24 = tensor.empty() : tensor<1x2x8x9xf32>
    %transposed = linalg.transpose ins(%23 : tensor<1x2x9x8xf32>) outs(%24 : tensor<1x2x8x9xf32>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<1x2x8x9xf32> into tensor<2x8x9xf32>
    %collapsed_2 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<1x2x9x4xf32> into tensor<2x9x4xf32>
    %25 = tensor.empty() : tensor<2x8x4xf32>
    %26 = linalg.fill ins(%cst : f32) outs(%25 : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %27 = linalg.batch_matmul ins(%collapsed, %collapsed_2 : tensor<2x8x9xf32>, tensor<2x9x4xf32>) outs(%26 : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %collapsed_3 = tensor.collapse_shape %11 [[0, 1], [2], [3]] : tensor<1x2x6x8xf32> into tensor<2x6x8xf32>
    %28 = tensor.empty() : tensor<2x6x4xf32>
    %29 = linalg.fill ins(%cst : f32) outs(%28 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
    %30 = linalg.batch_matmul ins(%collapsed_3, %27 : tensor<2x6x8xf32>, tensor<2x8x4xf32>) outs(%29 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
    %expanded_4 = tensor.expand_shape %30 [[0, 1], [2], [3]] output_shape [1, 2, 6, 4] : tensor<2x6x4xf32> into tensor<1x2x6x4xf32>
    return %expanded_4 : tensor<1x2x6x4xf32>
  }
}

