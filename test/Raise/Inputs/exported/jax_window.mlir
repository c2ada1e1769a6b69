// jax.nn.dot_product_attention with a sliding window.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map5 = affine_map<(d0, d1) -> (d1)>
#map6 = affine_map<(d0, d1) -> (d0, d1)>
#map7 = affine_map<(d0, d1) -> (d0)>
#map8 = affine_map<(d0, d1) -> (0, d1)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d4, d2)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> ()>
module @jit_window {
  func.func public @jax_window(%arg0: tensor<2x6x2x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %c2_i32 = arith.constant 2 : i32
    %cst_0 = arith.constant 0.353553385 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %cst_2 = arith.constant dense<true> : tensor<6x6xi1>
    %cst_3 = arith.constant dense<-2.38197633E+38> : tensor<f32>
    %cst_4 = arith.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>
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
    %collapsed_5 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %4 = tensor.empty() : tensor<4x6x6xf32>
    %5 = linalg.fill ins(%cst_1 : f32) outs(%4 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %6 = linalg.batch_matmul ins(%collapsed, %collapsed_5 : tensor<4x6x8xf32>, tensor<4x8x6xf32>) outs(%5 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %expanded_6 = tensor.expand_shape %6 [[0, 1], [2], [3, 4]] output_shape [2, 2, 6, 1, 6] : tensor<4x6x6xf32> into tensor<2x2x6x1x6xf32>
    %7 = tensor.empty() : tensor<2x2x6x1x6xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_6 : tensor<2x2x6x1x6xf32>) outs(%7 : tensor<2x2x6x1x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.mulf %in, %cst_0 : f32
      linalg.yield %44 : f32
    } -> tensor<2x2x6x1x6xf32>
    %9 = call @tril(%cst_2) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %10 = tensor.empty() : tensor<2x2x6x6xi1>
    %11 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<6x6xi1>) outs(%10 : tensor<2x2x6x6xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x6x6xi1>
    %12 = tensor.empty() : tensor<1x6xi32>
    %13 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<6xi32>) outs(%12 : tensor<1x6xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x6xi32>
    %14 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<1x6xi32>) outs(%12 : tensor<1x6xi32>) {
    ^bb0(%in: i32, %out: i32):
      %44 = arith.addi %in, %c2_i32 : i32
      linalg.yield %44 : i32
    } -> tensor<1x6xi32>
    %15 = tensor.empty() : tensor<6x6xi32>
    %16 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<6xi32>) outs(%15 : tensor<6x6xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<6x6xi32>
    %17 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<1x6xi32>) outs(%15 : tensor<6x6xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<6x6xi32>
    %18 = tensor.empty() : tensor<6x6xi1>
    %19 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%16, %17 : tensor<6x6xi32>, tensor<6x6xi32>) outs(%18 : tensor<6x6xi1>) {
    ^bb0(%in: i32, %in_11: i32, %out: i1):
      %44 = arith.cmpi sle, %in, %in_11 : i32
      linalg.yield %44 : i1
    } -> tensor<6x6xi1>
    %20 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<6xi32>) outs(%15 : tensor<6x6xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<6x6xi32>
    %21 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%16, %20 : tensor<6x6xi32>, tensor<6x6xi32>) outs(%18 : tensor<6x6xi1>) {
    ^bb0(%in: i32, %in_11: i32, %out: i1):
      %44 = arith.cmpi sge, %in, %in_11 : i32
      linalg.yield %44 : i1
    } -> tensor<6x6xi1>
    %22 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%21, %19 : tensor<6x6xi1>, tensor<6x6xi1>) outs(%18 : tensor<6x6xi1>) {
    ^bb0(%in: i1, %in_11: i1, %out: i1):
      %44 = arith.andi %in, %in_11 : i1
      linalg.yield %44 : i1
    } -> tensor<6x6xi1>
    %23 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<6x6xi1>) outs(%10 : tensor<2x2x6x6xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x6x6xi1>
    %24 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11, %23 : tensor<2x2x6x6xi1>, tensor<2x2x6x6xi1>) outs(%10 : tensor<2x2x6x6xi1>) {
    ^bb0(%in: i1, %in_11: i1, %out: i1):
      %44 = arith.andi %in, %in_11 : i1
      linalg.yield %44 : i1
    } -> tensor<2x2x6x6xi1>
    %25 = call @_where(%24, %8, %cst_3) : (tensor<2x2x6x6xi1>, tensor<2x2x6x1x6xf32>, tensor<f32>) -> tensor<1x2x2x6x6xf32>
    %26 = tensor.empty() : tensor<1x2x2x6xf32>
    %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%25 : tensor<1x2x2x6x6xf32>) outs(%27 : tensor<1x2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.maximumf %out, %in : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x2x6xf32>
    %29 = tensor.empty() : tensor<1x2x2x6x6xf32>
    %30 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<1x2x2x6xf32>) outs(%29 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x6x6xf32>
    %31 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%25, %30 : tensor<1x2x2x6x6xf32>, tensor<1x2x2x6x6xf32>) outs(%29 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %44 = arith.subf %in, %in_11 : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x2x6x6xf32>
    %32 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<1x2x2x6x6xf32>) outs(%29 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = math.exp %in : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x2x6x6xf32>
    %33 = linalg.fill ins(%cst_1 : f32) outs(%26 : tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32>
    %34 = linalg.generic {indexing_maps = [#map1, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%32 : tensor<1x2x2x6x6xf32>) outs(%33 : tensor<1x2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.addf %out, %in : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x2x6xf32>
    %35 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%34 : tensor<1x2x2x6xf32>) outs(%29 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x6x6xf32>
    %36 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%32, %35 : tensor<1x2x2x6x6xf32>, tensor<1x2x2x6x6xf32>) outs(%29 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %44 = arith.divf %in, %in_11 : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x2x6x6xf32>
    %37 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x6x2x8xf32>) outs(%2 : tensor<2x2x8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x6xf32>
    %38 = linalg.generic {indexing_maps = [#map10, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%36 : tensor<1x2x2x6x6xf32>) outs(%7 : tensor<2x2x6x1x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x1x6xf32>
    %collapsed_7 = tensor.collapse_shape %37 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %collapsed_8 = tensor.collapse_shape %38 [[0, 1], [2], [3, 4]] : tensor<2x2x6x1x6xf32> into tensor<4x6x6xf32>
    %39 = tensor.empty() : tensor<4x8x6xf32>
    %40 = linalg.fill ins(%cst_1 : f32) outs(%39 : tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
    %41 = linalg.batch_matmul ins(%collapsed_7, %collapsed_8 : tensor<4x8x6xf32>, tensor<4x6x6xf32>) outs(%40 : tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
    %expanded_9 = tensor.expand_shape %41 [[0, 1], [2], [3, 4]] output_shape [2, 2, 8, 1, 6] : tensor<4x8x6xf32> into tensor<2x2x8x1x6xf32>
    %42 = tensor.empty() : tensor<1x2x6x2x8xf32>
    %43 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_9 : tensor<2x2x8x1x6xf32>) outs(%42 : tensor<1x2x6x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x6x2x8xf32>
    %collapsed_10 = tensor.collapse_shape %43 [[0, 1], [2], [3], [4]] : tensor<1x2x6x2x8xf32> into tensor<2x6x2x8xf32>
    return %collapsed_10 : tensor<2x6x2x8xf32>
  }
  func.func private @tril(%arg0: tensor<6x6xi1>) -> tensor<6x6xi1> {
    %false = arith.constant false
    %0 = tensor.empty() : tensor<6x6xi32>
    %1 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<6x6xi32>) {
    ^bb0(%out: i32):
      %6 = linalg.index 0 : index
      %7 = arith.index_cast %6 : index to i32
      linalg.yield %7 : i32
    } -> tensor<6x6xi32>
    %2 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<6x6xi32>) {
    ^bb0(%out: i32):
      %6 = linalg.index 1 : index
      %7 = arith.index_cast %6 : index to i32
      linalg.yield %7 : i32
    } -> tensor<6x6xi32>
    %3 = tensor.empty() : tensor<6x6xi1>
    %4 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%1, %2 : tensor<6x6xi32>, tensor<6x6xi32>) outs(%3 : tensor<6x6xi1>) {
    ^bb0(%in: i32, %in_0: i32, %out: i1):
      %6 = arith.cmpi sge, %in, %in_0 : i32
      linalg.yield %6 : i1
    } -> tensor<6x6xi1>
    %5 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%4, %arg0 : tensor<6x6xi1>, tensor<6x6xi1>) outs(%3 : tensor<6x6xi1>) {
    ^bb0(%in: i1, %in_0: i1, %out: i1):
      %6 = arith.select %in, %in_0, %false : i1
      linalg.yield %6 : i1
    } -> tensor<6x6xi1>
    return %5 : tensor<6x6xi1>
  }
  func.func private @_where(%arg0: tensor<2x2x6x6xi1>, %arg1: tensor<2x2x6x1x6xf32>, %arg2: tensor<f32>) -> tensor<1x2x2x6x6xf32> {
    %0 = tensor.empty() : tensor<1x2x2x6x6xi1>
    %1 = linalg.generic {indexing_maps = [#map12, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x2x6x6xi1>) outs(%0 : tensor<1x2x2x6x6xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x2x2x6x6xi1>
    %2 = tensor.empty() : tensor<1x2x2x6x6xf32>
    %3 = linalg.generic {indexing_maps = [#map13, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<f32>) outs(%2 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x6x6xf32>
    %collapsed = tensor.collapse_shape %arg1 [[0, 1, 2, 3, 4]] : tensor<2x2x6x1x6xf32> into tensor<144xf32>
    %expanded = tensor.expand_shape %collapsed [[0, 1, 2, 3, 4]] output_shape [1, 2, 2, 6, 6] : tensor<144xf32> into tensor<1x2x2x6x6xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%1, %expanded, %3 : tensor<1x2x2x6x6xi1>, tensor<1x2x2x6x6xf32>, tensor<1x2x2x6x6xf32>) outs(%2 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %5 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %5 : f32
    } -> tensor<1x2x2x6x6xf32>
    return %4 : tensor<1x2x2x6x6xf32>
  }
}

