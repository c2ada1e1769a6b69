// Linear attention with relu and a floor under its normaliser.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
module @jit_linear_relu {
  func.func public @jax_linear_relu(%arg0: tensor<2x6x2x8xf32>, %arg1: tensor<2x9x2x8xf32>, %arg2: tensor<2x9x2x4xf32>) -> tensor<2x6x2x4xf32> {
    %cst = arith.constant 9.99999997E-7 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0 = call @relu(%arg0) : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32>
    %1 = call @relu_0(%arg1) : (tensor<2x9x2x8xf32>) -> tensor<2x9x2x8xf32>
    %2 = tensor.empty() : tensor<2x2x6x8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0 : tensor<2x6x2x8xf32>) outs(%2 : tensor<2x2x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x8xf32>
    %4 = tensor.empty() : tensor<2x2x8x9xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<2x9x2x8xf32>) outs(%4 : tensor<2x2x8x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x9xf32>
    %collapsed = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x2x6x8xf32> into tensor<4x6x8xf32>
    %collapsed_1 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x2x8x9xf32> into tensor<4x8x9xf32>
    %6 = tensor.empty() : tensor<4x6x9xf32>
    %7 = linalg.fill ins(%cst_0 : f32) outs(%6 : tensor<4x6x9xf32>) -> tensor<4x6x9xf32>
    %8 = linalg.batch_matmul ins(%collapsed, %collapsed_1 : tensor<4x6x8xf32>, tensor<4x8x9xf32>) outs(%7 : tensor<4x6x9xf32>) -> tensor<4x6x9xf32>
    %expanded = tensor.expand_shape %8 [[0, 1], [2], [3]] output_shape [2, 2, 6, 9] : tensor<4x6x9xf32> into tensor<2x2x6x9xf32>
    %9 = tensor.empty() : tensor<2x2x6xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<2x2x6xf32>) -> tensor<2x2x6xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded : tensor<2x2x6x9xf32>) outs(%10 : tensor<2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %26 = arith.addf %out, %in : f32
      linalg.yield %26 : f32
    } -> tensor<2x2x6xf32>
    %expanded_2 = tensor.expand_shape %11 [[0], [1], [2, 3]] output_shape [2, 2, 6, 1] : tensor<2x2x6xf32> into tensor<2x2x6x1xf32>
    %12 = tensor.empty() : tensor<2x2x6x1xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_2 : tensor<2x2x6x1xf32>) outs(%12 : tensor<2x2x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %26 = arith.maximumf %in, %cst : f32
      linalg.yield %26 : f32
    } -> tensor<2x2x6x1xf32>
    %14 = tensor.empty() : tensor<2x2x6x9xf32>
    %15 = linalg.generic {indexing_maps = [#map4, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13 : tensor<2x2x6x1xf32>) outs(%14 : tensor<2x2x6x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x9xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %15 : tensor<2x2x6x9xf32>, tensor<2x2x6x9xf32>) outs(%14 : tensor<2x2x6x9xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %26 = arith.divf %in, %in_6 : f32
      linalg.yield %26 : f32
    } -> tensor<2x2x6x9xf32>
    %17 = tensor.empty() : tensor<2x2x4x9xf32>
    %18 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x9x2x4xf32>) outs(%17 : tensor<2x2x4x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x4x9xf32>
    %19 = tensor.empty() : tensor<2x2x9x6xf32>
    %20 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16 : tensor<2x2x6x9xf32>) outs(%19 : tensor<2x2x9x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x9x6xf32>
    %collapsed_3 = tensor.collapse_shape %18 [[0, 1], [2], [3]] : tensor<2x2x4x9xf32> into tensor<4x4x9xf32>
    %collapsed_4 = tensor.collapse_shape %20 [[0, 1], [2], [3]] : tensor<2x2x9x6xf32> into tensor<4x9x6xf32>
    %21 = tensor.empty() : tensor<4x4x6xf32>
    %22 = linalg.fill ins(%cst_0 : f32) outs(%21 : tensor<4x4x6xf32>) -> tensor<4x4x6xf32>
    %23 = linalg.batch_matmul ins(%collapsed_3, %collapsed_4 : tensor<4x4x9xf32>, tensor<4x9x6xf32>) outs(%22 : tensor<4x4x6xf32>) -> tensor<4x4x6xf32>
    %expanded_5 = tensor.expand_shape %23 [[0, 1], [2], [3]] output_shape [2, 2, 4, 6] : tensor<4x4x6xf32> into tensor<2x2x4x6xf32>
    %24 = tensor.empty() : tensor<2x6x2x4xf32>
    %25 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5 : tensor<2x2x4x6xf32>) outs(%24 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x6x2x4xf32>
    return %25 : tensor<2x6x2x4xf32>
  }
  func.func private @relu(%arg0: tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x6x2x8xf32>
    %1 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x6x2x8xf32>) outs(%0 : tensor<2x6x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %2 = arith.maximumf %in, %cst : f32
      linalg.yield %2 : f32
    } -> tensor<2x6x2x8xf32>
    return %1 : tensor<2x6x2x8xf32>
  }
  func.func private @relu_0(%arg0: tensor<2x9x2x8xf32>) -> tensor<2x9x2x8xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x9x2x8xf32>
    %1 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x9x2x8xf32>) outs(%0 : tensor<2x9x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %2 = arith.maximumf %in, %cst : f32
      linalg.yield %2 : f32
    } -> tensor<2x9x2x8xf32>
    return %1 : tensor<2x9x2x8xf32>
  }
}

