// jax.nn.dot_product_attention, causal, with grouped queries.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d4, d2)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d2, d4)>
#map9 = affine_map<(d0, d1) -> (d0, d1)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d0, d4)>
module @jit_causal_groups {
  func.func public @jax_causal_groups(%arg0: tensor<2x6x4x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>) -> tensor<2x6x4x8xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.353553385 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %cst_2 = arith.constant dense<true> : tensor<6x6xi1>
    %cst_3 = arith.constant dense<-2.38197633E+38> : tensor<f32>
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2, 3], [4]] output_shape [2, 6, 2, 2, 8] : tensor<2x6x4x8xf32> into tensor<2x6x2x2x8xf32>
    %0 = tensor.empty() : tensor<2x2x6x2x8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x6x2x2x8xf32>) outs(%0 : tensor<2x2x6x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x2x8xf32>
    %2 = tensor.empty() : tensor<2x2x8x6xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x6x2x8xf32>) outs(%2 : tensor<2x2x8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x6xf32>
    %collapsed = tensor.collapse_shape %1 [[0, 1], [2, 3], [4]] : tensor<2x2x6x2x8xf32> into tensor<4x12x8xf32>
    %collapsed_4 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %4 = tensor.empty() : tensor<4x12x6xf32>
    %5 = linalg.fill ins(%cst_1 : f32) outs(%4 : tensor<4x12x6xf32>) -> tensor<4x12x6xf32>
    %6 = linalg.batch_matmul ins(%collapsed, %collapsed_4 : tensor<4x12x8xf32>, tensor<4x8x6xf32>) outs(%5 : tensor<4x12x6xf32>) -> tensor<4x12x6xf32>
    %expanded_5 = tensor.expand_shape %6 [[0, 1], [2, 3], [4]] output_shape [2, 2, 6, 2, 6] : tensor<4x12x6xf32> into tensor<2x2x6x2x6xf32>
    %7 = tensor.empty() : tensor<2x2x6x2x6xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5 : tensor<2x2x6x2x6xf32>) outs(%7 : tensor<2x2x6x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.mulf %in, %cst_0 : f32
      linalg.yield %32 : f32
    } -> tensor<2x2x6x2x6xf32>
    %9 = call @tril(%cst_2) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %10 = tensor.empty() : tensor<2x2x6x6xi1>
    %11 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<6x6xi1>) outs(%10 : tensor<2x2x6x6xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x6x6xi1>
    %12 = call @_where(%11, %8, %cst_3) : (tensor<2x2x6x6xi1>, tensor<2x2x6x2x6xf32>, tensor<f32>) -> tensor<2x2x2x6x6xf32>
    %13 = tensor.empty() : tensor<2x2x2x6xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%12 : tensor<2x2x2x6x6xf32>) outs(%14 : tensor<2x2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.maximumf %out, %in : f32
      linalg.yield %32 : f32
    } -> tensor<2x2x2x6xf32>
    %16 = tensor.empty() : tensor<2x2x2x6x6xf32>
    %17 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%15 : tensor<2x2x2x6xf32>) outs(%16 : tensor<2x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x6x6xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%12, %17 : tensor<2x2x2x6x6xf32>, tensor<2x2x2x6x6xf32>) outs(%16 : tensor<2x2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %32 = arith.subf %in, %in_10 : f32
      linalg.yield %32 : f32
    } -> tensor<2x2x2x6x6xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<2x2x2x6x6xf32>) outs(%16 : tensor<2x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = math.exp %in : f32
      linalg.yield %32 : f32
    } -> tensor<2x2x2x6x6xf32>
    %20 = linalg.fill ins(%cst_1 : f32) outs(%13 : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%19 : tensor<2x2x2x6x6xf32>) outs(%20 : tensor<2x2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.addf %out, %in : f32
      linalg.yield %32 : f32
    } -> tensor<2x2x2x6xf32>
    %22 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<2x2x2x6xf32>) outs(%16 : tensor<2x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x6x6xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%19, %22 : tensor<2x2x2x6x6xf32>, tensor<2x2x2x6x6xf32>) outs(%16 : tensor<2x2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %32 = arith.divf %in, %in_10 : f32
      linalg.yield %32 : f32
    } -> tensor<2x2x2x6x6xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x6x2x8xf32>) outs(%2 : tensor<2x2x8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x6xf32>
    %25 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%23 : tensor<2x2x2x6x6xf32>) outs(%7 : tensor<2x2x6x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x2x6xf32>
    %collapsed_6 = tensor.collapse_shape %24 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %collapsed_7 = tensor.collapse_shape %25 [[0, 1], [2], [3, 4]] : tensor<2x2x6x2x6xf32> into tensor<4x6x12xf32>
    %26 = tensor.empty() : tensor<4x8x12xf32>
    %27 = linalg.fill ins(%cst_1 : f32) outs(%26 : tensor<4x8x12xf32>) -> tensor<4x8x12xf32>
    %28 = linalg.batch_matmul ins(%collapsed_6, %collapsed_7 : tensor<4x8x6xf32>, tensor<4x6x12xf32>) outs(%27 : tensor<4x8x12xf32>) -> tensor<4x8x12xf32>
    %expanded_8 = tensor.expand_shape %28 [[0, 1], [2], [3, 4]] output_shape [2, 2, 8, 2, 6] : tensor<4x8x12xf32> into tensor<2x2x8x2x6xf32>
    %29 = linalg.generic {indexing_maps = [#map7, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8 : tensor<2x2x8x2x6xf32>) outs(%0 : tensor<2x2x6x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x2x8xf32>
    %30 = tensor.empty() : tensor<2x6x2x2x8xf32>
    %31 = linalg.generic {indexing_maps = [#map8, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<2x2x6x2x8xf32>) outs(%30 : tensor<2x6x2x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x6x2x2x8xf32>
    %collapsed_9 = tensor.collapse_shape %31 [[0], [1], [2, 3], [4]] : tensor<2x6x2x2x8xf32> into tensor<2x6x4x8xf32>
    return %collapsed_9 : tensor<2x6x4x8xf32>
  }
  func.func private @tril(%arg0: tensor<6x6xi1>) -> tensor<6x6xi1> {
    %false = arith.constant false
    %0 = tensor.empty() : tensor<6x6xi32>
    %1 = linalg.generic {indexing_maps = [#map9], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<6x6xi32>) {
    ^bb0(%out: i32):
      %6 = linalg.index 0 : index
      %7 = arith.index_cast %6 : index to i32
      linalg.yield %7 : i32
    } -> tensor<6x6xi32>
    %2 = linalg.generic {indexing_maps = [#map9], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<6x6xi32>) {
    ^bb0(%out: i32):
      %6 = linalg.index 1 : index
      %7 = arith.index_cast %6 : index to i32
      linalg.yield %7 : i32
    } -> tensor<6x6xi32>
    %3 = tensor.empty() : tensor<6x6xi1>
    %4 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%1, %2 : tensor<6x6xi32>, tensor<6x6xi32>) outs(%3 : tensor<6x6xi1>) {
    ^bb0(%in: i32, %in_0: i32, %out: i1):
      %6 = arith.cmpi sge, %in, %in_0 : i32
      linalg.yield %6 : i1
    } -> tensor<6x6xi1>
    %5 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%4, %arg0 : tensor<6x6xi1>, tensor<6x6xi1>) outs(%3 : tensor<6x6xi1>) {
    ^bb0(%in: i1, %in_0: i1, %out: i1):
      %6 = arith.select %in, %in_0, %false : i1
      linalg.yield %6 : i1
    } -> tensor<6x6xi1>
    return %5 : tensor<6x6xi1>
  }
  func.func private @_where(%arg0: tensor<2x2x6x6xi1>, %arg1: tensor<2x2x6x2x6xf32>, %arg2: tensor<f32>) -> tensor<2x2x2x6x6xf32> {
    %0 = tensor.empty() : tensor<2x2x2x6x6xi1>
    %1 = linalg.generic {indexing_maps = [#map10, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x2x6x6xi1>) outs(%0 : tensor<2x2x2x6x6xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x2x6x6xi1>
    %2 = tensor.empty() : tensor<2x2x2x6x6xf32>
    %3 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<f32>) outs(%2 : tensor<2x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x6x6xf32>
    %4 = linalg.generic {indexing_maps = [#map12, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x2x6x2x6xf32>) outs(%2 : tensor<2x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x6x6xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%1, %4, %3 : tensor<2x2x2x6x6xi1>, tensor<2x2x2x6x6xf32>, tensor<2x2x2x6x6xf32>) outs(%2 : tensor<2x2x2x6x6xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %6 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %6 : f32
    } -> tensor<2x2x2x6x6xf32>
    return %5 : tensor<2x2x2x6x6xf32>
  }
}

