// jax.nn.dot_product_attention with a bias.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d4, d2)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
module @jit_bias {
  func.func public @jax_bias(%arg0: tensor<2x6x2x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>, %arg3: tensor<1x2x6x6xf32>) -> tensor<2x6x2x8xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.353553385 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2], [3, 4]] output_shape [2, 6, 2, 1, 8] : tensor<2x6x2x8xf32> into tensor<2x6x2x1x8xf32>
    %0 = tensor.empty() : tensor<2x2x6x1x8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x6x2x1x8xf32>) outs(%0 : tensor<2x2x6x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x1x8xf32>
    %2 = tensor.empty() : tensor<2x2x8x6xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x6x2x8xf32>) outs(%2 : tensor<2x2x8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x6xf32>
    %collapsed = tensor.collapse_shape %1 [[0, 1], [2], [3, 4]] : tensor<2x2x6x1x8xf32> into tensor<4x6x8xf32>
    %collapsed_2 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %4 = tensor.empty() : tensor<4x6x6xf32>
    %5 = linalg.fill ins(%cst_1 : f32) outs(%4 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %6 = linalg.batch_matmul ins(%collapsed, %collapsed_2 : tensor<4x6x8xf32>, tensor<4x8x6xf32>) outs(%5 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %expanded_3 = tensor.expand_shape %6 [[0, 1], [2], [3, 4]] output_shape [2, 2, 6, 1, 6] : tensor<4x6x6xf32> into tensor<2x2x6x1x6xf32>
    %7 = tensor.empty() : tensor<2x2x6x1x6xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_3 : tensor<2x2x6x1x6xf32>) outs(%7 : tensor<2x2x6x1x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.mulf %in, %cst_0 : f32
      linalg.yield %29 : f32
    } -> tensor<2x2x6x1x6xf32>
    %collapsed_4 = tensor.collapse_shape %8 [[0, 1, 2, 3, 4]] : tensor<2x2x6x1x6xf32> into tensor<144xf32>
    %expanded_5 = tensor.expand_shape %collapsed_4 [[0, 1, 2, 3, 4]] output_shape [1, 2, 2, 6, 6] : tensor<144xf32> into tensor<1x2x2x6x6xf32>
    %expanded_6 = tensor.expand_shape %arg3 [[0], [1, 2], [3], [4]] output_shape [1, 1, 2, 6, 6] : tensor<1x2x6x6xf32> into tensor<1x1x2x6x6xf32>
    %9 = tensor.empty() : tensor<1x2x2x6x6xf32>
    %10 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_6 : tensor<1x1x2x6x6xf32>) outs(%9 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x6x6xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5, %10 : tensor<1x2x2x6x6xf32>, tensor<1x2x2x6x6xf32>) outs(%9 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %29 = arith.addf %in, %in_11 : f32
      linalg.yield %29 : f32
    } -> tensor<1x2x2x6x6xf32>
    %12 = tensor.empty() : tensor<1x2x2x6xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%11 : tensor<1x2x2x6x6xf32>) outs(%13 : tensor<1x2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.maximumf %out, %in : f32
      linalg.yield %29 : f32
    } -> tensor<1x2x2x6xf32>
    %15 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%14 : tensor<1x2x2x6xf32>) outs(%9 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x6x6xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%11, %15 : tensor<1x2x2x6x6xf32>, tensor<1x2x2x6x6xf32>) outs(%9 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %29 = arith.subf %in, %in_11 : f32
      linalg.yield %29 : f32
    } -> tensor<1x2x2x6x6xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%16 : tensor<1x2x2x6x6xf32>) outs(%9 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = math.exp %in : f32
      linalg.yield %29 : f32
    } -> tensor<1x2x2x6x6xf32>
    %18 = linalg.fill ins(%cst_1 : f32) outs(%12 : tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%17 : tensor<1x2x2x6x6xf32>) outs(%18 : tensor<1x2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.addf %out, %in : f32
      linalg.yield %29 : f32
    } -> tensor<1x2x2x6xf32>
    %20 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<1x2x2x6xf32>) outs(%9 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x6x6xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%17, %20 : tensor<1x2x2x6x6xf32>, tensor<1x2x2x6x6xf32>) outs(%9 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %29 = arith.divf %in, %in_11 : f32
      linalg.yield %29 : f32
    } -> tensor<1x2x2x6x6xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x6x2x8xf32>) outs(%2 : tensor<2x2x8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x6xf32>
    %23 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<1x2x2x6x6xf32>) outs(%7 : tensor<2x2x6x1x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x1x6xf32>
    %collapsed_7 = tensor.collapse_shape %22 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %collapsed_8 = tensor.collapse_shape %23 [[0, 1], [2], [3, 4]] : tensor<2x2x6x1x6xf32> into tensor<4x6x6xf32>
    %24 = tensor.empty() : tensor<4x8x6xf32>
    %25 = linalg.fill ins(%cst_1 : f32) outs(%24 : tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
    %26 = linalg.batch_matmul ins(%collapsed_7, %collapsed_8 : tensor<4x8x6xf32>, tensor<4x6x6xf32>) outs(%25 : tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
    %expanded_9 = tensor.expand_shape %26 [[0, 1], [2], [3, 4]] output_shape [2, 2, 8, 1, 6] : tensor<4x8x6xf32> into tensor<2x2x8x1x6xf32>
    %27 = tensor.empty() : tensor<1x2x6x2x8xf32>
    %28 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_9 : tensor<2x2x8x1x6xf32>) outs(%27 : tensor<1x2x6x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x6x2x8xf32>
    %collapsed_10 = tensor.collapse_shape %28 [[0, 1], [2], [3], [4]] : tensor<1x2x6x2x8xf32> into tensor<2x6x2x8xf32>
    return %collapsed_10 : tensor<2x6x2x8xf32>
  }
}

