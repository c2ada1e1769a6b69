// Two einsums and softmax in f32 of bf16 tensors, as Flax writes it.
// JAX 0.10.2, jax.export, input passes of iree-base-compiler 3.13.0.
#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1, d2, d3) -> ()>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#map9 = affine_map<(d0, d1) -> (d0, d1)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
module @jit_einsums {
  func.func public @jax_einsums(%arg0: tensor<2x6x2x8xbf16>, %arg1: tensor<2x6x2x8xbf16>, %arg2: tensor<2x6x2x8xbf16>) -> tensor<2x6x2x8xbf16> {
    %cst = arith.constant 2.82842708 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 0.000000e+00 : bf16
    %cst_3 = arith.constant dense<true> : tensor<6x6xi1>
    %cst_4 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %0 = tensor.empty() : tensor<f32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%0 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %2 = tensor.empty() : tensor<bf16>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%1 : tensor<f32>) outs(%2 : tensor<bf16>) {
    ^bb0(%in: f32, %out: bf16):
      %37 = arith.truncf %in : f32 to bf16
      linalg.yield %37 : bf16
    } -> tensor<bf16>
    %4 = tensor.empty() : tensor<2x6x2x8xbf16>
    %5 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<bf16>) outs(%4 : tensor<2x6x2x8xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<2x6x2x8xbf16>
    %6 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %5 : tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>) outs(%4 : tensor<2x6x2x8xbf16>) {
    ^bb0(%in: bf16, %in_9: bf16, %out: bf16):
      %37 = arith.divf %in, %in_9 : bf16
      linalg.yield %37 : bf16
    } -> tensor<2x6x2x8xbf16>
    %7 = tensor.empty() : tensor<2x2x6x8xbf16>
    %8 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<2x6x2x8xbf16>) outs(%7 : tensor<2x2x6x8xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<2x2x6x8xbf16>
    %9 = tensor.empty() : tensor<2x2x8x6xbf16>
    %10 = linalg.generic {indexing_maps = [#map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x6x2x8xbf16>) outs(%9 : tensor<2x2x8x6xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<2x2x8x6xbf16>
    %collapsed = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<2x2x6x8xbf16> into tensor<4x6x8xbf16>
    %collapsed_5 = tensor.collapse_shape %10 [[0, 1], [2], [3]] : tensor<2x2x8x6xbf16> into tensor<4x8x6xbf16>
    %11 = tensor.empty() : tensor<4x6x6xbf16>
    %12 = linalg.fill ins(%cst_2 : bf16) outs(%11 : tensor<4x6x6xbf16>) -> tensor<4x6x6xbf16>
    %13 = linalg.batch_matmul ins(%collapsed, %collapsed_5 : tensor<4x6x8xbf16>, tensor<4x8x6xbf16>) outs(%12 : tensor<4x6x6xbf16>) -> tensor<4x6x6xbf16>
    %14 = tensor.empty() : tensor<4x6x6xf32>
    %15 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<4x6x6xbf16>) outs(%14 : tensor<4x6x6xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %37 = arith.extf %in : bf16 to f32
      linalg.yield %37 : f32
    } -> tensor<4x6x6xf32>
    %expanded = tensor.expand_shape %15 [[0, 1], [2], [3]] output_shape [2, 2, 6, 6] : tensor<4x6x6xf32> into tensor<2x2x6x6xf32>
    %16 = call @tril(%cst_3) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %17 = call @_where(%16, %expanded, %cst_4) : (tensor<6x6xi1>, tensor<2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x6x6xf32>
    %18 = tensor.empty() : tensor<2x2x6xf32>
    %19 = linalg.fill ins(%cst_1 : f32) outs(%18 : tensor<2x2x6xf32>) -> tensor<2x2x6xf32>
    %20 = linalg.generic {indexing_maps = [#map2, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%17 : tensor<2x2x6x6xf32>) outs(%19 : tensor<2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.maximumf %out, %in : f32
      linalg.yield %37 : f32
    } -> tensor<2x2x6xf32>
    %21 = tensor.empty() : tensor<2x2x6x6xf32>
    %22 = linalg.generic {indexing_maps = [#map6, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<2x2x6xf32>) outs(%21 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x6xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17, %22 : tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>) outs(%21 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %37 = arith.subf %in, %in_9 : f32
      linalg.yield %37 : f32
    } -> tensor<2x2x6x6xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23 : tensor<2x2x6x6xf32>) outs(%21 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = math.exp %in : f32
      linalg.yield %37 : f32
    } -> tensor<2x2x6x6xf32>
    %25 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<2x2x6xf32>) -> tensor<2x2x6xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%24 : tensor<2x2x6x6xf32>) outs(%25 : tensor<2x2x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %out, %in : f32
      linalg.yield %37 : f32
    } -> tensor<2x2x6xf32>
    %27 = linalg.generic {indexing_maps = [#map6, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26 : tensor<2x2x6xf32>) outs(%21 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x6xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %27 : tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>) outs(%21 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %37 = arith.divf %in, %in_9 : f32
      linalg.yield %37 : f32
    } -> tensor<2x2x6x6xf32>
    %29 = tensor.empty() : tensor<2x2x6x6xbf16>
    %30 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<2x2x6x6xf32>) outs(%29 : tensor<2x2x6x6xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %37 = arith.truncf %in : f32 to bf16
      linalg.yield %37 : bf16
    } -> tensor<2x2x6x6xbf16>
    %31 = linalg.generic {indexing_maps = [#map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x6x2x8xbf16>) outs(%9 : tensor<2x2x8x6xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<2x2x8x6xbf16>
    %32 = linalg.generic {indexing_maps = [#map7, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<2x2x6x6xbf16>) outs(%29 : tensor<2x2x6x6xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<2x2x6x6xbf16>
    %collapsed_6 = tensor.collapse_shape %31 [[0, 1], [2], [3]] : tensor<2x2x8x6xbf16> into tensor<4x8x6xbf16>
    %collapsed_7 = tensor.collapse_shape %32 [[0, 1], [2], [3]] : tensor<2x2x6x6xbf16> into tensor<4x6x6xbf16>
    %33 = tensor.empty() : tensor<4x8x6xbf16>
    %34 = linalg.fill ins(%cst_2 : bf16) outs(%33 : tensor<4x8x6xbf16>) -> tensor<4x8x6xbf16>
    %35 = linalg.batch_matmul ins(%collapsed_6, %collapsed_7 : tensor<4x8x6xbf16>, tensor<4x6x6xbf16>) outs(%34 : tensor<4x8x6xbf16>) -> tensor<4x8x6xbf16>
    %expanded_8 = tensor.expand_shape %35 [[0, 1], [2], [3]] output_shape [2, 2, 8, 6] : tensor<4x8x6xbf16> into tensor<2x2x8x6xbf16>
    %36 = linalg.generic {indexing_maps = [#map8, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8 : tensor<2x2x8x6xbf16>) outs(%4 : tensor<2x6x2x8xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<2x6x2x8xbf16>
    return %36 : tensor<2x6x2x8xbf16>
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
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<2x2x6x6xf32>, %arg2: tensor<f32>) -> tensor<2x2x6x6xf32> {
    %0 = tensor.empty() : tensor<2x2x6x6xi1>
    %1 = linalg.generic {indexing_maps = [#map10, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<6x6xi1>) outs(%0 : tensor<2x2x6x6xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x6x6xi1>
    %2 = tensor.empty() : tensor<2x2x6x6xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<f32>) outs(%2 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x6x6xf32>
    %4 = linalg.generic {indexing_maps = [#map2, #map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %arg1, %3 : tensor<2x2x6x6xi1>, tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>) outs(%2 : tensor<2x2x6x6xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %5 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %5 : f32
    } -> tensor<2x2x6x6xf32>
    return %4 : tensor<2x2x6x6xf32>
  }
}

