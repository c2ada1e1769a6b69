// Linear attention with elu + 1.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> ()>
module @jit_linear {
  func.func public @jax_linear(%arg0: tensor<2x6x2x8xf32>, %arg1: tensor<2x9x2x8xf32>, %arg2: tensor<2x9x2x4xf32>) -> tensor<2x6x2x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %0 = call @elu(%arg0) : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32>
    %1 = tensor.empty() : tensor<2x6x2x8xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0 : tensor<2x6x2x8xf32>) outs(%1 : tensor<2x6x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.addf %in, %cst_0 : f32
      linalg.yield %32 : f32
    } -> tensor<2x6x2x8xf32>
    %3 = call @elu_1(%arg1) : (tensor<2x9x2x8xf32>) -> tensor<2x9x2x8xf32>
    %4 = tensor.empty() : tensor<2x9x2x8xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<2x9x2x8xf32>) outs(%4 : tensor<2x9x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.addf %in, %cst_0 : f32
      linalg.yield %32 : f32
    } -> tensor<2x9x2x8xf32>
    %6 = tensor.empty() : tensor<2x2x8x9xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5 : tensor<2x9x2x8xf32>) outs(%6 : tensor<2x2x8x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x9xf32>
    %8 = tensor.empty() : tensor<2x2x9x4xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x9x2x4xf32>) outs(%8 : tensor<2x2x9x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x9x4xf32>
    %collapsed = tensor.collapse_shape %7 [[0, 1], [2], [3]] : tensor<2x2x8x9xf32> into tensor<4x8x9xf32>
    %collapsed_1 = tensor.collapse_shape %9 [[0, 1], [2], [3]] : tensor<2x2x9x4xf32> into tensor<4x9x4xf32>
    %10 = tensor.empty() : tensor<4x8x4xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<4x8x4xf32>) -> tensor<4x8x4xf32>
    %12 = linalg.batch_matmul ins(%collapsed, %collapsed_1 : tensor<4x8x9xf32>, tensor<4x9x4xf32>) outs(%11 : tensor<4x8x4xf32>) -> tensor<4x8x4xf32>
    %expanded = tensor.expand_shape %12 [[0, 1], [2], [3]] output_shape [2, 2, 8, 4] : tensor<4x8x4xf32> into tensor<2x2x8x4xf32>
    %13 = tensor.empty() : tensor<2x2x4x8xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x2x8x4xf32>) outs(%13 : tensor<2x2x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x4x8xf32>
    %15 = tensor.empty() : tensor<2x2x8x6xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<2x6x2x8xf32>) outs(%15 : tensor<2x2x8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x6xf32>
    %collapsed_2 = tensor.collapse_shape %14 [[0, 1], [2], [3]] : tensor<2x2x4x8xf32> into tensor<4x4x8xf32>
    %collapsed_3 = tensor.collapse_shape %16 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %17 = tensor.empty() : tensor<4x4x6xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<4x4x6xf32>) -> tensor<4x4x6xf32>
    %19 = linalg.batch_matmul ins(%collapsed_2, %collapsed_3 : tensor<4x4x8xf32>, tensor<4x8x6xf32>) outs(%18 : tensor<4x4x6xf32>) -> tensor<4x4x6xf32>
    %expanded_4 = tensor.expand_shape %19 [[0, 1], [2], [3]] output_shape [2, 2, 4, 6] : tensor<4x4x6xf32> into tensor<2x2x4x6xf32>
    %20 = tensor.empty() : tensor<2x6x2x4xf32>
    %21 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<2x2x4x6xf32>) outs(%20 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x6x2x4xf32>
    %22 = tensor.empty() : tensor<2x2x8xf32>
    %23 = linalg.fill ins(%cst : f32) outs(%22 : tensor<2x2x8xf32>) -> tensor<2x2x8xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%5 : tensor<2x9x2x8xf32>) outs(%23 : tensor<2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.addf %out, %in : f32
      linalg.yield %32 : f32
    } -> tensor<2x2x8xf32>
    %collapsed_5 = tensor.collapse_shape %24 [[0, 1, 2]] : tensor<2x2x8xf32> into tensor<32xf32>
    %expanded_6 = tensor.expand_shape %collapsed_5 [[0, 1, 2]] output_shape [4, 1, 8] : tensor<32xf32> into tensor<4x1x8xf32>
    %25 = tensor.empty() : tensor<4x1x6xf32>
    %26 = linalg.fill ins(%cst : f32) outs(%25 : tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
    %27 = linalg.batch_matmul ins(%expanded_6, %collapsed_3 : tensor<4x1x8xf32>, tensor<4x8x6xf32>) outs(%26 : tensor<4x1x6xf32>) -> tensor<4x1x6xf32>
    %collapsed_7 = tensor.collapse_shape %27 [[0, 1, 2]] : tensor<4x1x6xf32> into tensor<24xf32>
    %expanded_8 = tensor.expand_shape %collapsed_7 [[0, 1, 2]] output_shape [2, 2, 6] : tensor<24xf32> into tensor<2x2x6xf32>
    %28 = tensor.empty() : tensor<2x6x2xf32>
    %29 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_8 : tensor<2x2x6xf32>) outs(%28 : tensor<2x6x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x6x2xf32>
    %30 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<2x6x2xf32>) outs(%20 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x6x2x4xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21, %30 : tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) outs(%20 : tensor<2x6x2x4xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %32 = arith.divf %in, %in_9 : f32
      linalg.yield %32 : f32
    } -> tensor<2x6x2x4xf32>
    return %31 : tensor<2x6x2x4xf32>
  }
  func.func private @elu(%arg0: tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<2x6x2x8xi1>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x6x2x8xf32>) outs(%0 : tensor<2x6x2x8xi1>) {
    ^bb0(%in: f32, %out: i1):
      %6 = arith.cmpf ogt, %in, %cst : f32
      linalg.yield %6 : i1
    } -> tensor<2x6x2x8xi1>
    %2 = call @_where(%1, %cst_0, %arg0) : (tensor<2x6x2x8xi1>, tensor<f32>, tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32>
    %3 = tensor.empty() : tensor<2x6x2x8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<2x6x2x8xf32>) outs(%3 : tensor<2x6x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %6 = math.expm1 %in : f32
      linalg.yield %6 : f32
    } -> tensor<2x6x2x8xf32>
    %5 = call @_where_0(%1, %arg0, %4) : (tensor<2x6x2x8xi1>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32>
    return %5 : tensor<2x6x2x8xf32>
  }
  func.func private @_where(%arg0: tensor<2x6x2x8xi1>, %arg1: tensor<f32>, %arg2: tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32> {
    %0 = tensor.empty() : tensor<2x6x2x8xf32>
    %1 = linalg.generic {indexing_maps = [#map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<f32>) outs(%0 : tensor<2x6x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x6x2x8xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %1, %arg2 : tensor<2x6x2x8xi1>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) outs(%0 : tensor<2x6x2x8xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %3 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %3 : f32
    } -> tensor<2x6x2x8xf32>
    return %2 : tensor<2x6x2x8xf32>
  }
  func.func private @_where_0(%arg0: tensor<2x6x2x8xi1>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32> {
    %0 = tensor.empty() : tensor<2x6x2x8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %arg2 : tensor<2x6x2x8xi1>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) outs(%0 : tensor<2x6x2x8xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %2 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %2 : f32
    } -> tensor<2x6x2x8xf32>
    return %1 : tensor<2x6x2x8xf32>
  }
  func.func private @elu_1(%arg0: tensor<2x9x2x8xf32>) -> tensor<2x9x2x8xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<2x9x2x8xi1>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x9x2x8xf32>) outs(%0 : tensor<2x9x2x8xi1>) {
    ^bb0(%in: f32, %out: i1):
      %6 = arith.cmpf ogt, %in, %cst : f32
      linalg.yield %6 : i1
    } -> tensor<2x9x2x8xi1>
    %2 = call @_where_2(%1, %cst_0, %arg0) : (tensor<2x9x2x8xi1>, tensor<f32>, tensor<2x9x2x8xf32>) -> tensor<2x9x2x8xf32>
    %3 = tensor.empty() : tensor<2x9x2x8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<2x9x2x8xf32>) outs(%3 : tensor<2x9x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %6 = math.expm1 %in : f32
      linalg.yield %6 : f32
    } -> tensor<2x9x2x8xf32>
    %5 = call @_where_3(%1, %arg0, %4) : (tensor<2x9x2x8xi1>, tensor<2x9x2x8xf32>, tensor<2x9x2x8xf32>) -> tensor<2x9x2x8xf32>
    return %5 : tensor<2x9x2x8xf32>
  }
  func.func private @_where_2(%arg0: tensor<2x9x2x8xi1>, %arg1: tensor<f32>, %arg2: tensor<2x9x2x8xf32>) -> tensor<2x9x2x8xf32> {
    %0 = tensor.empty() : tensor<2x9x2x8xf32>
    %1 = linalg.generic {indexing_maps = [#map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<f32>) outs(%0 : tensor<2x9x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x9x2x8xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %1, %arg2 : tensor<2x9x2x8xi1>, tensor<2x9x2x8xf32>, tensor<2x9x2x8xf32>) outs(%0 : tensor<2x9x2x8xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %3 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %3 : f32
    } -> tensor<2x9x2x8xf32>
    return %2 : tensor<2x9x2x8xf32>
  }
  func.func private @_where_3(%arg0: tensor<2x9x2x8xi1>, %arg1: tensor<2x9x2x8xf32>, %arg2: tensor<2x9x2x8xf32>) -> tensor<2x9x2x8xf32> {
    %0 = tensor.empty() : tensor<2x9x2x8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %arg2 : tensor<2x9x2x8xi1>, tensor<2x9x2x8xf32>, tensor<2x9x2x8xf32>) outs(%0 : tensor<2x9x2x8xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %2 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %2 : f32
    } -> tensor<2x9x2x8xf32>
    return %1 : tensor<2x9x2x8xf32>
  }
}

