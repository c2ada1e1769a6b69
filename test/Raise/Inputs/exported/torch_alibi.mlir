// As ALiBi: a constant slope a head.
// PyTorch 2.15.0+cu132, torch.export, torch-mlir of iree-base-compiler 3.13.0.
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, 0, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @torch_alibi(%arg0: tensor<1x2x6x8xf32>, %arg1: tensor<1x2x6x8xf32>, %arg2: tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32> {
    %cst = arith.constant dense_resource<torch_tensor_2_torch.float32> : tensor<2xf32>
    %cst_0 = arith.constant 0.35355339059327379 : f64
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %0 = tensor.empty() : tensor<6xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : tensor<6xi64>) {
    ^bb0(%out: i64):
      %26 = linalg.index 0 : index
      %27 = arith.index_cast %26 : index to i64
      linalg.yield %27 : i64
    } -> tensor<6xi64>
    %expanded = tensor.expand_shape %cst [[0, 1, 2]] output_shape [2, 1, 1] : tensor<2xf32> into tensor<2x1x1xf32>
    %2 = tensor.empty() : tensor<1x2x8x6xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<1x2x6x8xf32>) outs(%2 : tensor<1x2x8x6xf32>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<1x2x6x8xf32> into tensor<2x6x8xf32>
    %collapsed_3 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<1x2x8x6xf32> into tensor<2x8x6xf32>
    %3 = tensor.empty() : tensor<2x6x6xf32>
    %4 = linalg.fill ins(%cst_2 : f32) outs(%3 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
    %5 = linalg.batch_matmul ins(%collapsed, %collapsed_3 : tensor<2x6x8xf32>, tensor<2x8x6xf32>) outs(%4 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
    %expanded_4 = tensor.expand_shape %5 [[0, 1], [2], [3]] output_shape [1, 2, 6, 6] : tensor<2x6x6xf32> into tensor<1x2x6x6xf32>
    %6 = tensor.empty() : tensor<1x2x6x6xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<1x2x6x6xf32>) outs(%6 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %26 = arith.truncf %cst_0 : f64 to f32
      %27 = arith.mulf %in, %26 : f32
      linalg.yield %27 : f32
    } -> tensor<1x2x6x6xf32>
    %expanded_5 = tensor.expand_shape %1 [[0, 1]] output_shape [1, 6] : tensor<6xi64> into tensor<1x6xi64>
    %expanded_6 = tensor.expand_shape %1 [[0, 1]] output_shape [6, 1] : tensor<6xi64> into tensor<6x1xi64>
    %8 = tensor.empty() : tensor<6x6xi64>
    %9 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%expanded_5, %expanded_6 : tensor<1x6xi64>, tensor<6x1xi64>) outs(%8 : tensor<6x6xi64>) {
    ^bb0(%in: i64, %in_11: i64, %out: i64):
      %26 = arith.subi %in, %in_11 : i64
      linalg.yield %26 : i64
    } -> tensor<6x6xi64>
    %10 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %9 : tensor<2x1x1xf32>, tensor<6x6xi64>) outs(%3 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %in_11: i64, %out: f32):
      %26 = arith.sitofp %in_11 : i64 to f32
      %27 = arith.mulf %in, %26 : f32
      linalg.yield %27 : f32
    } -> tensor<2x6x6xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map8, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %10 : tensor<1x2x6x6xf32>, tensor<2x6x6xf32>) outs(%6 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %26 = arith.addf %in, %in_11 : f32
      linalg.yield %26 : f32
    } -> tensor<1x2x6x6xf32>
    %12 = tensor.empty() : tensor<1x2x6xi64>
    %13 = linalg.fill ins(%c0_i64 : i64) outs(%12 : tensor<1x2x6xi64>) -> tensor<1x2x6xi64>
    %14 = tensor.empty() : tensor<1x2x6xf32>
    %15 = linalg.fill ins(%cst_1 : f32) outs(%14 : tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
    %16:2 = linalg.generic {indexing_maps = [#map1, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%11 : tensor<1x2x6x6xf32>) outs(%15, %13 : tensor<1x2x6xf32>, tensor<1x2x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_11: i64):
      %26 = linalg.index 3 : index
      %27 = arith.index_cast %26 : index to i64
      %28 = arith.maximumf %in, %out : f32
      %29 = arith.cmpf ogt, %in, %out : f32
      %30 = arith.select %29, %27, %out_11 : i64
      linalg.yield %28, %30 : f32, i64
    } -> (tensor<1x2x6xf32>, tensor<1x2x6xi64>)
    %expanded_7 = tensor.expand_shape %16#0 [[0], [1], [2, 3]] output_shape [1, 2, 6, 1] : tensor<1x2x6xf32> into tensor<1x2x6x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map10, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11, %expanded_7 : tensor<1x2x6x6xf32>, tensor<1x2x6x1xf32>) outs(%6 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %26 = arith.subf %in, %in_11 : f32
      linalg.yield %26 : f32
    } -> tensor<1x2x6x6xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17 : tensor<1x2x6x6xf32>) outs(%6 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %26 = math.exp %in : f32
      linalg.yield %26 : f32
    } -> tensor<1x2x6x6xf32>
    %19 = tensor.empty() : tensor<1x2x6x1xf32>
    %20 = linalg.fill ins(%cst_2 : f32) outs(%19 : tensor<1x2x6x1xf32>) -> tensor<1x2x6x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%18 : tensor<1x2x6x6xf32>) outs(%20 : tensor<1x2x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %26 = arith.addf %in, %out : f32
      linalg.yield %26 : f32
    } -> tensor<1x2x6x1xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map10, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %21 : tensor<1x2x6x6xf32>, tensor<1x2x6x1xf32>) outs(%6 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %26 = arith.divf %in, %in_11 : f32
      linalg.yield %26 : f32
    } -> tensor<1x2x6x6xf32>
    %collapsed_8 = tensor.collapse_shape %22 [[0, 1], [2], [3]] : tensor<1x2x6x6xf32> into tensor<2x6x6xf32>
    %collapsed_9 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<1x2x6x8xf32> into tensor<2x6x8xf32>
    %23 = tensor.empty() : tensor<2x6x8xf32>
    %24 = linalg.fill ins(%cst_2 : f32) outs(%23 : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
    %25 = linalg.batch_matmul ins(%collapsed_8, %collapsed_9 : tensor<2x6x6xf32>, tensor<2x6x8xf32>) outs(%24 : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
    %expanded_10 = tensor.expand_shape %25 [[0, 1], [2], [3]] output_shape [1, 2, 6, 8] : tensor<2x6x8xf32> into tensor<1x2x6x8xf32>
    return %expanded_10 : tensor<1x2x6x8xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_2_torch.float32: "0x040000000000003F0000803E"
    }
  }
#-}

