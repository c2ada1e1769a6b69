// One head, mapped over heads and batch by vmap.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module @jit_vmapped {
  func.func public @jax_vmap(%arg0: tensor<2x2x6x8xf32>, %arg1: tensor<2x2x6x8xf32>, %arg2: tensor<2x2x6x8xf32>) -> tensor<2x2x6x8xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 2.82842708 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x2x8x6xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x2x6x8xf32>) outs(%0 : tensor<2x2x8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x6xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x2x6x8xf32> into tensor<4x6x8xf32>
    %collapsed_2 = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %2 = tensor.empty() : tensor<4x6x6xf32>
    %3 = linalg.fill ins(%cst_1 : f32) outs(%2 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %4 = linalg.batch_matmul ins(%collapsed, %collapsed_2 : tensor<4x6x8xf32>, tensor<4x8x6xf32>) outs(%3 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2], [3]] output_shape [2, 2, 6, 6] : tensor<4x6x6xf32> into tensor<2x2x6x6xf32>
    %5 = tensor.empty() : tensor<2x2x6x6xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x2x6x6xf32>) outs(%5 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.divf %in, %cst_0 : f32
      linalg.yield %20 : f32
    } -> tensor<2x2x6x6xf32>
    %7 = tensor.empty() : tensor<2x2x6xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<2x2x6xf32>) -> tensor<2x2x6xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%6 : tensor<2x2x6x6xf32>) outs(%8 : tensor<2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.maximumf %out, %in : f32
      linalg.yield %20 : f32
    } -> tensor<2x2x6xf32>
    %10 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<2x2x6xf32>) outs(%5 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x6xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %10 : tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>) outs(%5 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %20 = arith.subf %in, %in_6 : f32
      linalg.yield %20 : f32
    } -> tensor<2x2x6x6xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<2x2x6x6xf32>) outs(%5 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.exp %in : f32
      linalg.yield %20 : f32
    } -> tensor<2x2x6x6xf32>
    %13 = linalg.fill ins(%cst_1 : f32) outs(%7 : tensor<2x2x6xf32>) -> tensor<2x2x6xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%12 : tensor<2x2x6x6xf32>) outs(%13 : tensor<2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.addf %out, %in : f32
      linalg.yield %20 : f32
    } -> tensor<2x2x6xf32>
    %15 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14 : tensor<2x2x6xf32>) outs(%5 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x6xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %15 : tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>) outs(%5 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %20 = arith.divf %in, %in_6 : f32
      linalg.yield %20 : f32
    } -> tensor<2x2x6x6xf32>
    %collapsed_3 = tensor.collapse_shape %16 [[0, 1], [2], [3]] : tensor<2x2x6x6xf32> into tensor<4x6x6xf32>
    %collapsed_4 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x2x6x8xf32> into tensor<4x6x8xf32>
    %17 = tensor.empty() : tensor<4x6x8xf32>
    %18 = linalg.fill ins(%cst_1 : f32) outs(%17 : tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
    %19 = linalg.batch_matmul ins(%collapsed_3, %collapsed_4 : tensor<4x6x6xf32>, tensor<4x6x8xf32>) outs(%18 : tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
    %expanded_5 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [2, 2, 6, 8] : tensor<4x6x8xf32> into tensor<2x2x6x8xf32>
    return %expanded_5 : tensor<2x2x6x8xf32>
  }
}

