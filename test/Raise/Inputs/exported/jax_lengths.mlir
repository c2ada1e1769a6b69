// jax.nn.dot_product_attention with numbers of keys.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0) -> (d0)>
#map5 = affine_map<(d0, d1, d2) -> (d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d0)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d4, d2)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> ()>
module @jit_lengths {
  func.func public @jax_lengths(%arg0: tensor<2x6x2x8xf32>, %arg1: tensor<2x6x2x8xf32>, %arg2: tensor<2x6x2x8xf32>, %arg3: tensor<2xi32>) -> tensor<2x6x2x8xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.353553385 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %cst_2 = arith.constant dense<-2.38197633E+38> : tensor<f32>
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
    %collapsed_3 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %4 = tensor.empty() : tensor<4x6x6xf32>
    %5 = linalg.fill ins(%cst_1 : f32) outs(%4 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %6 = linalg.batch_matmul ins(%collapsed, %collapsed_3 : tensor<4x6x8xf32>, tensor<4x8x6xf32>) outs(%5 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %expanded_4 = tensor.expand_shape %6 [[0, 1], [2], [3, 4]] output_shape [2, 2, 6, 1, 6] : tensor<4x6x6xf32> into tensor<2x2x6x1x6xf32>
    %7 = tensor.empty() : tensor<2x2x6x1x6xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<2x2x6x1x6xf32>) outs(%7 : tensor<2x2x6x1x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.mulf %in, %cst_0 : f32
      linalg.yield %37 : f32
    } -> tensor<2x2x6x1x6xf32>
    %9 = tensor.empty() : tensor<6xi32>
    %10 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%9 : tensor<6xi32>) {
    ^bb0(%out: i32):
      %37 = linalg.index 0 : index
      %38 = arith.index_cast %37 : index to i32
      linalg.yield %38 : i32
    } -> tensor<6xi32>
    %11 = tensor.empty() : tensor<2x1x6xi32>
    %12 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<6xi32>) outs(%11 : tensor<2x1x6xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<2x1x6xi32>
    %13 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg3 : tensor<2xi32>) outs(%11 : tensor<2x1x6xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<2x1x6xi32>
    %14 = tensor.empty() : tensor<2x1x6xi1>
    %15 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %13 : tensor<2x1x6xi32>, tensor<2x1x6xi32>) outs(%14 : tensor<2x1x6xi1>) {
    ^bb0(%in: i32, %in_9: i32, %out: i1):
      %37 = arith.cmpi slt, %in, %in_9 : i32
      linalg.yield %37 : i1
    } -> tensor<2x1x6xi1>
    %16 = tensor.empty() : tensor<2x2x6x6xi1>
    %17 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15 : tensor<2x1x6xi1>) outs(%16 : tensor<2x2x6x6xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x6x6xi1>
    %18 = call @_where(%17, %8, %cst_2) : (tensor<2x2x6x6xi1>, tensor<2x2x6x1x6xf32>, tensor<f32>) -> tensor<1x2x2x6x6xf32>
    %19 = tensor.empty() : tensor<1x2x2x6xf32>
    %20 = linalg.fill ins(%cst : f32) outs(%19 : tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%18 : tensor<1x2x2x6x6xf32>) outs(%20 : tensor<1x2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.maximumf %out, %in : f32
      linalg.yield %37 : f32
    } -> tensor<1x2x2x6xf32>
    %22 = tensor.empty() : tensor<1x2x2x6x6xf32>
    %23 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<1x2x2x6xf32>) outs(%22 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x6x6xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%18, %23 : tensor<1x2x2x6x6xf32>, tensor<1x2x2x6x6xf32>) outs(%22 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %37 = arith.subf %in, %in_9 : f32
      linalg.yield %37 : f32
    } -> tensor<1x2x2x6x6xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%24 : tensor<1x2x2x6x6xf32>) outs(%22 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = math.exp %in : f32
      linalg.yield %37 : f32
    } -> tensor<1x2x2x6x6xf32>
    %26 = linalg.fill ins(%cst_1 : f32) outs(%19 : tensor<1x2x2x6xf32>) -> tensor<1x2x2x6xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%25 : tensor<1x2x2x6x6xf32>) outs(%26 : tensor<1x2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %out, %in : f32
      linalg.yield %37 : f32
    } -> tensor<1x2x2x6xf32>
    %28 = linalg.generic {indexing_maps = [#map9, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%27 : tensor<1x2x2x6xf32>) outs(%22 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x2x6x6xf32>
    %29 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%25, %28 : tensor<1x2x2x6x6xf32>, tensor<1x2x2x6x6xf32>) outs(%22 : tensor<1x2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %37 = arith.divf %in, %in_9 : f32
      linalg.yield %37 : f32
    } -> tensor<1x2x2x6x6xf32>
    %30 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x6x2x8xf32>) outs(%2 : tensor<2x2x8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x8x6xf32>
    %31 = linalg.generic {indexing_maps = [#map10, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<1x2x2x6x6xf32>) outs(%7 : tensor<2x2x6x1x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x1x6xf32>
    %collapsed_5 = tensor.collapse_shape %30 [[0, 1], [2], [3]] : tensor<2x2x8x6xf32> into tensor<4x8x6xf32>
    %collapsed_6 = tensor.collapse_shape %31 [[0, 1], [2], [3, 4]] : tensor<2x2x6x1x6xf32> into tensor<4x6x6xf32>
    %32 = tensor.empty() : tensor<4x8x6xf32>
    %33 = linalg.fill ins(%cst_1 : f32) outs(%32 : tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
    %34 = linalg.batch_matmul ins(%collapsed_5, %collapsed_6 : tensor<4x8x6xf32>, tensor<4x6x6xf32>) outs(%33 : tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
    %expanded_7 = tensor.expand_shape %34 [[0, 1], [2], [3, 4]] output_shape [2, 2, 8, 1, 6] : tensor<4x8x6xf32> into tensor<2x2x8x1x6xf32>
    %35 = tensor.empty() : tensor<1x2x6x2x8xf32>
    %36 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_7 : tensor<2x2x8x1x6xf32>) outs(%35 : tensor<1x2x6x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2x6x2x8xf32>
    %collapsed_8 = tensor.collapse_shape %36 [[0, 1], [2], [3], [4]] : tensor<1x2x6x2x8xf32> into tensor<2x6x2x8xf32>
    return %collapsed_8 : tensor<2x6x2x8xf32>
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

