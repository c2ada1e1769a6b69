// jax.nn.dot_product_attention.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d1, d5, d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d4, d1, d5, d6)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d2)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1, d4, d5)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1, d4)>
#map8 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
module @jit_scaled {
  func.func public @jax_attention_fused(%arg0: tensor<2x5x2x8xf32>, %arg1: tensor<2x7x2x8xf32>, %arg2: tensor<2x7x2x8xf32>) -> tensor<2x5x2x8xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.353553385 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2], [3, 4]] output_shape [2, 5, 2, 1, 8] : tensor<2x5x2x8xf32> into tensor<2x5x2x1x8xf32>
    %0 = tensor.empty() : tensor<4x5x7xf32>
    %expanded_2 = tensor.expand_shape %0 [[0, 1], [2], [3, 4]] output_shape [2, 2, 5, 1, 7] : tensor<4x5x7xf32> into tensor<2x2x5x1x7xf32>
    %1 = linalg.fill ins(%cst_1 : f32) outs(%expanded_2 : tensor<2x2x5x1x7xf32>) -> tensor<2x2x5x1x7xf32>
    %expanded_3 = tensor.expand_shape %arg1 [[0], [1, 2], [3], [4, 5]] output_shape [2, 1, 7, 2, 1, 8] : tensor<2x7x2x8xf32> into tensor<2x1x7x2x1x8xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%expanded, %expanded_3 : tensor<2x5x2x1x8xf32>, tensor<2x1x7x2x1x8xf32>) outs(%1 : tensor<2x2x5x1x7xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %18 = arith.mulf %in, %in_9 : f32
      %19 = arith.addf %out, %18 : f32
      linalg.yield %19 : f32
    } -> tensor<2x2x5x1x7xf32>
    %3 = tensor.empty() : tensor<2x2x5x1x7xf32>
    %4 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<2x2x5x1x7xf32>) outs(%3 : tensor<2x2x5x1x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = arith.mulf %in, %cst_0 : f32
      linalg.yield %18 : f32
    } -> tensor<2x2x5x1x7xf32>
    %5 = tensor.empty() : tensor<2x2x5x1xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %7 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%4 : tensor<2x2x5x1x7xf32>) outs(%6 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = arith.maximumf %out, %in : f32
      linalg.yield %18 : f32
    } -> tensor<2x2x5x1xf32>
    %collapsed = tensor.collapse_shape %7 [[0, 1, 2, 3]] : tensor<2x2x5x1xf32> into tensor<20xf32>
    %expanded_4 = tensor.expand_shape %collapsed [[0, 1, 2, 3]] output_shape [1, 2, 2, 5] : tensor<20xf32> into tensor<1x2x2x5xf32>
    %collapsed_5 = tensor.collapse_shape %4 [[0, 1, 2, 3, 4]] : tensor<2x2x5x1x7xf32> into tensor<140xf32>
    %expanded_6 = tensor.expand_shape %collapsed_5 [[0, 1, 2, 3, 4]] output_shape [1, 2, 2, 5, 7] : tensor<140xf32> into tensor<1x2x2x5x7xf32>
    %8 = tensor.empty() : tensor<1x2x2x5x7xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_6, %expanded_4 : tensor<1x2x2x5x7xf32>, tensor<1x2x2x5xf32>) outs(%8 : tensor<1x2x2x5x7xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %18 = arith.subf %in, %in_9 : f32
      %19 = math.exp %18 : f32
      linalg.yield %19 : f32
    } -> tensor<1x2x2x5x7xf32>
    %10 = tensor.empty() : tensor<1x2x2x5xf32>
    %11 = linalg.fill ins(%cst_1 : f32) outs(%10 : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%9 : tensor<1x2x2x5x7xf32>) outs(%11 : tensor<1x2x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = arith.addf %out, %in : f32
      linalg.yield %18 : f32
    } -> tensor<1x2x2x5xf32>
    %13 = tensor.empty() : tensor<4x8x5xf32>
    %expanded_7 = tensor.expand_shape %13 [[0, 1], [2], [3, 4]] output_shape [2, 2, 8, 1, 5] : tensor<4x8x5xf32> into tensor<2x2x8x1x5xf32>
    %14 = linalg.fill ins(%cst_1 : f32) outs(%expanded_7 : tensor<2x2x8x1x5xf32>) -> tensor<2x2x8x1x5xf32>
    %15 = linalg.generic {indexing_maps = [#map5, #map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg2, %9, %12 : tensor<2x7x2x8xf32>, tensor<1x2x2x5x7xf32>, tensor<1x2x2x5xf32>) outs(%14 : tensor<2x2x8x1x5xf32>) {
    ^bb0(%in: f32, %in_9: f32, %in_10: f32, %out: f32):
      %18 = arith.divf %in_9, %in_10 : f32
      %19 = arith.mulf %in, %18 : f32
      %20 = arith.addf %out, %19 : f32
      linalg.yield %20 : f32
    } -> tensor<2x2x8x1x5xf32>
    %16 = tensor.empty() : tensor<1x2x5x2x8xf32>
    %17 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%15 : tensor<2x2x8x1x5xf32>) outs(%16 : tensor<1x2x5x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x5x2x8xf32>
    %collapsed_8 = tensor.collapse_shape %17 [[0, 1], [2], [3], [4]] : tensor<1x2x5x2x8xf32> into tensor<2x5x2x8xf32>
    return %collapsed_8 : tensor<2x5x2x8xf32>
  }
}

