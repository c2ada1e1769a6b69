// Two products of plain queries and keys, divided by their sum.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
module @jit_linear_signed {
  func.func public @jax_linear_signed(%arg0: tensor<2x6x2x8xf32>, %arg1: tensor<2x9x2x8xf32>, %arg2: tensor<2x9x2x4xf32>) -> tensor<2x6x2x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x2x6x8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x6x2x8xf32>) outs(%0 : tensor<2x2x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x8xf32>
    %2 = tensor.empty() : tensor<2x2x8x9xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x9x2x8xf32>) outs(%2 : tensor<2x2x8x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x9xf32>
    %collapsed = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<2x2x6x8xf32> into tensor<4x6x8xf32>
    %collapsed_0 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x2x8x9xf32> into tensor<4x8x9xf32>
    %4 = tensor.empty() : tensor<4x6x9xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<4x6x9xf32>) -> tensor<4x6x9xf32>
    %6 = linalg.batch_matmul ins(%collapsed, %collapsed_0 : tensor<4x6x8xf32>, tensor<4x8x9xf32>) outs(%5 : tensor<4x6x9xf32>) -> tensor<4x6x9xf32>
    %expanded = tensor.expand_shape %6 [[0, 1], [2], [3]] output_shape [2, 2, 6, 9] : tensor<4x6x9xf32> into tensor<2x2x6x9xf32>
    %7 = tensor.empty() : tensor<2x2x6xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<2x2x6xf32>) -> tensor<2x2x6xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded : tensor<2x2x6x9xf32>) outs(%8 : tensor<2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %22 = arith.addf %out, %in : f32
      linalg.yield %22 : f32
    } -> tensor<2x2x6xf32>
    %10 = tensor.empty() : tensor<2x2x6x9xf32>
    %11 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<2x2x6xf32>) outs(%10 : tensor<2x2x6x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x9xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %11 : tensor<2x2x6x9xf32>, tensor<2x2x6x9xf32>) outs(%10 : tensor<2x2x6x9xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %22 = arith.divf %in, %in_4 : f32
      linalg.yield %22 : f32
    } -> tensor<2x2x6x9xf32>
    %13 = tensor.empty() : tensor<2x2x4x9xf32>
    %14 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x9x2x4xf32>) outs(%13 : tensor<2x2x4x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x4x9xf32>
    %15 = tensor.empty() : tensor<2x2x9x6xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<2x2x6x9xf32>) outs(%15 : tensor<2x2x9x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x9x6xf32>
    %collapsed_1 = tensor.collapse_shape %14 [[0, 1], [2], [3]] : tensor<2x2x4x9xf32> into tensor<4x4x9xf32>
    %collapsed_2 = tensor.collapse_shape %16 [[0, 1], [2], [3]] : tensor<2x2x9x6xf32> into tensor<4x9x6xf32>
    %17 = tensor.empty() : tensor<4x4x6xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<4x4x6xf32>) -> tensor<4x4x6xf32>
    %19 = linalg.batch_matmul ins(%collapsed_1, %collapsed_2 : tensor<4x4x9xf32>, tensor<4x9x6xf32>) outs(%18 : tensor<4x4x6xf32>) -> tensor<4x4x6xf32>
    %expanded_3 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [2, 2, 4, 6] : tensor<4x4x6xf32> into tensor<2x2x4x6xf32>
    %20 = tensor.empty() : tensor<2x6x2x4xf32>
    %21 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_3 : tensor<2x2x4x6xf32>) outs(%20 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x6x2x4xf32>
    return %21 : tensor<2x6x2x4xf32>
  }
}

