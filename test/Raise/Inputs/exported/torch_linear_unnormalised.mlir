// Positive features of two products, divided by nothing.
// PyTorch 2.15.0+cu132, torch.export, torch-mlir of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @torch_linear_unnormalised(%arg0: tensor<1x2x6x8xf32>, %arg1: tensor<1x2x9x8xf32>, %arg2: tensor<1x2x9x4xf32>) -> tensor<1x2x6x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<1x2x6x8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x2x6x8xf32>) outs(%0 : tensor<1x2x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.cmpf ugt, %in, %cst : f32
      %12 = arith.select %11, %in, %cst : f32
      linalg.yield %12 : f32
    } -> tensor<1x2x6x8xf32>
    %2 = tensor.empty() : tensor<1x2x9x8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<1x2x9x8xf32>) outs(%2 : tensor<1x2x9x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.cmpf ugt, %in, %cst : f32
      %12 = arith.select %11, %in, %cst : f32
      linalg.yield %12 : f32
    } -> tensor<1x2x9x8xf32>
    %4 = tensor.empty() : tensor<1x2x8x9xf32>
    %transposed = linalg.transpose ins(%3 : tensor<1x2x9x8xf32>) outs(%4 : tensor<1x2x8x9xf32>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<1x2x8x9xf32> into tensor<2x8x9xf32>
    %collapsed_0 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<1x2x9x4xf32> into tensor<2x9x4xf32>
    %5 = tensor.empty() : tensor<2x8x4xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %7 = linalg.batch_matmul ins(%collapsed, %collapsed_0 : tensor<2x8x9xf32>, tensor<2x9x4xf32>) outs(%6 : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
    %collapsed_1 = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<1x2x6x8xf32> into tensor<2x6x8xf32>
    %8 = tensor.empty() : tensor<2x6x4xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
    %10 = linalg.batch_matmul ins(%collapsed_1, %7 : tensor<2x6x8xf32>, tensor<2x8x4xf32>) outs(%9 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
    %expanded = tensor.expand_shape %10 [[0, 1], [2], [3]] output_shape [1, 2, 6, 4] : tensor<2x6x4xf32> into tensor<1x2x6x4xf32>
    return %expanded : tensor<1x2x6x4xf32>
  }
}

