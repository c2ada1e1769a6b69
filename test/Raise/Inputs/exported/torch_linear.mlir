// As "Transformers are RNNs": elu + 1, two einsums, the normaliser by a third.
// PyTorch 2.15.0+cu132, torch.export, torch-mlir of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3) -> ()>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, 0, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
module {
  func.func @torch_linear(%arg0: tensor<2x6x2x4xf32>, %arg1: tensor<2x6x2x4xf32>, %arg2: tensor<2x6x2x4xf32>) -> tensor<2x6x2x4xf32> {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = arith.constant 9.9999999999999995E-7 : f64
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x6x2x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst, %arg0 : tensor<f32>, tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %35 = arith.cmpf ogt, %in, %in_23 : f32
      %36 = arith.select %35, %in, %in_23 : f32
      linalg.yield %36 : f32
    } -> tensor<2x6x2x4xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst, %arg0 : tensor<f32>, tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %35 = arith.cmpf olt, %in, %in_23 : f32
      %36 = arith.select %35, %in, %in_23 : f32
      linalg.yield %36 : f32
    } -> tensor<2x6x2x4xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = math.exp %in : f32
      linalg.yield %35 : f32
    } -> tensor<2x6x2x4xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.subf %in, %cst_1 : f32
      linalg.yield %35 : f32
    } -> tensor<2x6x2x4xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %4 : tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %35 = arith.addf %in, %in_23 : f32
      linalg.yield %35 : f32
    } -> tensor<2x6x2x4xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5 : tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.addf %in, %cst_1 : f32
      linalg.yield %35 : f32
    } -> tensor<2x6x2x4xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst, %arg1 : tensor<f32>, tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %35 = arith.cmpf ogt, %in, %in_23 : f32
      %36 = arith.select %35, %in, %in_23 : f32
      linalg.yield %36 : f32
    } -> tensor<2x6x2x4xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst, %arg1 : tensor<f32>, tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %35 = arith.cmpf olt, %in, %in_23 : f32
      %36 = arith.select %35, %in, %in_23 : f32
      linalg.yield %36 : f32
    } -> tensor<2x6x2x4xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = math.exp %in : f32
      linalg.yield %35 : f32
    } -> tensor<2x6x2x4xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.subf %in, %cst_1 : f32
      linalg.yield %35 : f32
    } -> tensor<2x6x2x4xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %10 : tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %35 = arith.addf %in, %in_23 : f32
      linalg.yield %35 : f32
    } -> tensor<2x6x2x4xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<2x6x2x4xf32>) outs(%0 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.addf %in, %cst_1 : f32
      linalg.yield %35 : f32
    } -> tensor<2x6x2x4xf32>
    %expanded = tensor.expand_shape %12 [[0], [1], [2], [3, 4]] output_shape [2, 6, 2, 4, 1] : tensor<2x6x2x4xf32> into tensor<2x6x2x4x1xf32>
    %expanded_3 = tensor.expand_shape %arg2 [[0], [1], [2], [3, 4]] output_shape [2, 6, 2, 4, 1] : tensor<2x6x2x4xf32> into tensor<2x6x2x4x1xf32>
    %13 = tensor.empty() : tensor<2x2x4x6x1xf32>
    %transposed = linalg.transpose ins(%expanded_3 : tensor<2x6x2x4x1xf32>) outs(%13 : tensor<2x2x4x6x1xf32>) permutation = [0, 2, 3, 1, 4] 
    %collapsed = tensor.collapse_shape %transposed [[0, 1], [2], [3, 4]] : tensor<2x2x4x6x1xf32> into tensor<4x4x6xf32>
    %14 = tensor.empty() : tensor<2x2x6x4x1xf32>
    %transposed_4 = linalg.transpose ins(%expanded : tensor<2x6x2x4x1xf32>) outs(%14 : tensor<2x2x6x4x1xf32>) permutation = [0, 2, 1, 3, 4] 
    %collapsed_5 = tensor.collapse_shape %transposed_4 [[0, 1], [2], [3, 4]] : tensor<2x2x6x4x1xf32> into tensor<4x6x4xf32>
    %15 = tensor.empty() : tensor<4x4x4xf32>
    %16 = linalg.fill ins(%cst_2 : f32) outs(%15 : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %17 = linalg.batch_matmul ins(%collapsed, %collapsed_5 : tensor<4x4x6xf32>, tensor<4x6x4xf32>) outs(%16 : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %expanded_6 = tensor.expand_shape %17 [[0, 1], [2], [3, 4]] output_shape [2, 2, 4, 1, 4] : tensor<4x4x4xf32> into tensor<2x2x4x1x4xf32>
    %18 = tensor.empty() : tensor<2x2x4xf32>
    %19 = linalg.fill ins(%cst_2 : f32) outs(%18 : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "reduction", "parallel", "parallel"]} ins(%12 : tensor<2x6x2x4xf32>) outs(%19 : tensor<2x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.addf %in, %out : f32
      linalg.yield %35 : f32
    } -> tensor<2x2x4xf32>
    %expanded_7 = tensor.expand_shape %20 [[0], [1], [2, 3]] output_shape [2, 2, 4, 1] : tensor<2x2x4xf32> into tensor<2x2x4x1xf32>
    %21 = tensor.empty() : tensor<2x2x6x4xf32>
    %transposed_8 = linalg.transpose ins(%6 : tensor<2x6x2x4xf32>) outs(%21 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_9 = tensor.collapse_shape %transposed_8 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %collapsed_10 = tensor.collapse_shape %expanded_7 [[0, 1], [2], [3]] : tensor<2x2x4x1xf32> into tensor<4x4x1xf32>
    %22 = tensor.empty() : tensor<4x6x1xf32>
    %23 = linalg.fill ins(%cst_2 : f32) outs(%22 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %24 = linalg.batch_matmul ins(%collapsed_9, %collapsed_10 : tensor<4x6x4xf32>, tensor<4x4x1xf32>) outs(%23 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %expanded_11 = tensor.expand_shape %24 [[0, 1], [2], [3]] output_shape [2, 2, 6, 1] : tensor<4x6x1xf32> into tensor<2x2x6x1xf32>
    %25 = tensor.empty() : tensor<2x6x2x1xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<2x2x6x1xf32>) outs(%25 : tensor<2x6x2x1xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_13 = tensor.collapse_shape %transposed_12 [[0], [1], [2, 3]] : tensor<2x6x2x1xf32> into tensor<2x6x2xf32>
    %26 = tensor.empty() : tensor<2x6x2xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_13 : tensor<2x6x2xf32>) outs(%26 : tensor<2x6x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.truncf %cst_0 : f64 to f32
      %36 = arith.addf %in, %35 : f32
      linalg.yield %36 : f32
    } -> tensor<2x6x2xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<2x6x2xf32>) outs(%26 : tensor<2x6x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.cmpf one, %in, %cst_2 : f32
      cf.assert %35, "unimplemented: tensor with zero element"
      %36 = arith.divf %cst_1, %in : f32
      linalg.yield %36 : f32
    } -> tensor<2x6x2xf32>
    %expanded_14 = tensor.expand_shape %6 [[0], [1], [2], [3, 4]] output_shape [2, 6, 2, 4, 1] : tensor<2x6x2x4xf32> into tensor<2x6x2x4x1xf32>
    %expanded_15 = tensor.expand_shape %28 [[0], [1], [2, 3, 4]] output_shape [2, 6, 2, 1, 1] : tensor<2x6x2xf32> into tensor<2x6x2x1x1xf32>
    %transposed_16 = linalg.transpose ins(%expanded_14 : tensor<2x6x2x4x1xf32>) outs(%14 : tensor<2x2x6x4x1xf32>) permutation = [0, 2, 1, 3, 4] 
    %collapsed_17 = tensor.collapse_shape %transposed_16 [[0, 1], [2], [3, 4]] : tensor<2x2x6x4x1xf32> into tensor<4x6x4xf32>
    %29 = tensor.empty() : tensor<2x2x4x4x1xf32>
    %transposed_18 = linalg.transpose ins(%expanded_6 : tensor<2x2x4x1x4xf32>) outs(%29 : tensor<2x2x4x4x1xf32>) permutation = [0, 1, 4, 2, 3] 
    %collapsed_19 = tensor.collapse_shape %transposed_18 [[0, 1], [2], [3, 4]] : tensor<2x2x4x4x1xf32> into tensor<4x4x4xf32>
    %30 = tensor.empty() : tensor<4x6x4xf32>
    %31 = linalg.fill ins(%cst_2 : f32) outs(%30 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %32 = linalg.batch_matmul ins(%collapsed_17, %collapsed_19 : tensor<4x6x4xf32>, tensor<4x4x4xf32>) outs(%31 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %expanded_20 = tensor.expand_shape %32 [[0, 1], [2], [3, 4]] output_shape [2, 2, 6, 1, 4] : tensor<4x6x4xf32> into tensor<2x2x6x1x4xf32>
    %33 = tensor.empty() : tensor<2x6x2x4x1xf32>
    %transposed_21 = linalg.transpose ins(%expanded_20 : tensor<2x2x6x1x4xf32>) outs(%33 : tensor<2x6x2x4x1xf32>) permutation = [0, 2, 1, 4, 3] 
    %34 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_15, %transposed_21 : tensor<2x6x2x1x1xf32>, tensor<2x6x2x4x1xf32>) outs(%33 : tensor<2x6x2x4x1xf32>) {
    ^bb0(%in: f32, %in_23: f32, %out: f32):
      %35 = arith.mulf %in, %in_23 : f32
      linalg.yield %35 : f32
    } -> tensor<2x6x2x4x1xf32>
    %collapsed_22 = tensor.collapse_shape %34 [[0], [1], [2], [3, 4]] : tensor<2x6x2x4x1xf32> into tensor<2x6x2x4xf32>
    return %collapsed_22 : tensor<2x6x2x4xf32>
  }
}

