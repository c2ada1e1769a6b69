// nn.MultiheadAttention.
// PyTorch 2.15.0+cu132, torch.export, torch-mlir of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
module {
  func.func @torch_multihead_weights(%arg0: tensor<1x6x8xf32>) -> (tensor<1x6x8xf32>, tensor<1x6x6xf32>) {
    %cst = arith.constant 2.000000e+00 : f32
    %cst_0 = arith.constant 5.000000e-01 : f32
    %cst_1 = arith.constant dense_resource<torch_tensor_24_8_torch.float32> : tensor<24x8xf32>
    %cst_2 = arith.constant dense_resource<torch_tensor_24_torch.float32> : tensor<24xf32>
    %cst_3 = arith.constant dense_resource<torch_tensor_8_8_torch.float32> : tensor<8x8xf32>
    %cst_4 = arith.constant dense_resource<torch_tensor_8_torch.float32> : tensor<8xf32>
    %cst_5 = arith.constant 0xFF800000 : f32
    %cst_6 = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %0 = tensor.empty() : tensor<6x1x8xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<1x6x8xf32>) outs(%0 : tensor<6x1x8xf32>) permutation = [1, 0, 2] 
    %collapsed = tensor.collapse_shape %transposed [[0], [1, 2]] : tensor<6x1x8xf32> into tensor<6x8xf32>
    %1 = tensor.empty() : tensor<8x24xf32>
    %transposed_7 = linalg.transpose ins(%cst_1 : tensor<24x8xf32>) outs(%1 : tensor<8x24xf32>) permutation = [1, 0] 
    %2 = tensor.empty() : tensor<6x24xf32>
    %3 = linalg.fill ins(%cst_6 : f32) outs(%2 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %4 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<6x8xf32>, tensor<8x24xf32>) outs(%3 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2, %4 : tensor<24xf32>, tensor<6x24xf32>) outs(%2 : tensor<6x24xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %37 = arith.addf %in, %in_28 : f32
      linalg.yield %37 : f32
    } -> tensor<6x24xf32>
    %expanded = tensor.expand_shape %5 [[0, 1], [2, 3, 4]] output_shape [1, 6, 1, 3, 8] : tensor<6x24xf32> into tensor<1x6x1x3x8xf32>
    %6 = tensor.empty() : tensor<3x6x1x1x8xf32>
    %transposed_8 = linalg.transpose ins(%expanded : tensor<1x6x1x3x8xf32>) outs(%6 : tensor<3x6x1x1x8xf32>) permutation = [3, 1, 2, 0, 4] 
    %collapsed_9 = tensor.collapse_shape %transposed_8 [[0], [1], [2, 3], [4]] : tensor<3x6x1x1x8xf32> into tensor<3x6x1x8xf32>
    %extracted_slice = tensor.extract_slice %collapsed_9[0, 0, 0, 0] [1, 6, 1, 8] [1, 1, 1, 1] : tensor<3x6x1x8xf32> to tensor<1x6x1x8xf32>
    %extracted_slice_10 = tensor.extract_slice %collapsed_9[1, 0, 0, 0] [1, 6, 1, 8] [1, 1, 1, 1] : tensor<3x6x1x8xf32> to tensor<1x6x1x8xf32>
    %extracted_slice_11 = tensor.extract_slice %collapsed_9[2, 0, 0, 0] [1, 6, 1, 8] [1, 1, 1, 1] : tensor<3x6x1x8xf32> to tensor<1x6x1x8xf32>
    %collapsed_12 = tensor.collapse_shape %extracted_slice [[0, 1], [2, 3]] : tensor<1x6x1x8xf32> into tensor<6x8xf32>
    %expanded_13 = tensor.expand_shape %collapsed_12 [[0], [1, 2]] output_shape [6, 2, 4] : tensor<6x8xf32> into tensor<6x2x4xf32>
    %7 = tensor.empty() : tensor<2x6x4xf32>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<6x2x4xf32>) outs(%7 : tensor<2x6x4xf32>) permutation = [1, 0, 2] 
    %collapsed_15 = tensor.collapse_shape %extracted_slice_10 [[0, 1], [2, 3]] : tensor<1x6x1x8xf32> into tensor<6x8xf32>
    %expanded_16 = tensor.expand_shape %collapsed_15 [[0], [1, 2]] output_shape [6, 2, 4] : tensor<6x8xf32> into tensor<6x2x4xf32>
    %collapsed_17 = tensor.collapse_shape %extracted_slice_11 [[0, 1], [2, 3]] : tensor<1x6x1x8xf32> into tensor<6x8xf32>
    %expanded_18 = tensor.expand_shape %collapsed_17 [[0], [1, 2]] output_shape [6, 2, 4] : tensor<6x8xf32> into tensor<6x2x4xf32>
    %transposed_19 = linalg.transpose ins(%expanded_18 : tensor<6x2x4xf32>) outs(%7 : tensor<2x6x4xf32>) permutation = [1, 0, 2] 
    %8 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_14 : tensor<2x6x4xf32>) outs(%7 : tensor<2x6x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.mulf %in, %cst_0 : f32
      linalg.yield %37 : f32
    } -> tensor<2x6x4xf32>
    %9 = tensor.empty() : tensor<2x4x6xf32>
    %transposed_20 = linalg.transpose ins(%expanded_16 : tensor<6x2x4xf32>) outs(%9 : tensor<2x4x6xf32>) permutation = [1, 2, 0] 
    %10 = tensor.empty() : tensor<2x6x6xf32>
    %11 = linalg.fill ins(%cst_6 : f32) outs(%10 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
    %12 = linalg.batch_matmul ins(%8, %transposed_20 : tensor<2x6x4xf32>, tensor<2x4x6xf32>) outs(%11 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
    %13 = tensor.empty() : tensor<2x6xi64>
    %14 = linalg.fill ins(%c0_i64 : i64) outs(%13 : tensor<2x6xi64>) -> tensor<2x6xi64>
    %15 = tensor.empty() : tensor<2x6xf32>
    %16 = linalg.fill ins(%cst_5 : f32) outs(%15 : tensor<2x6xf32>) -> tensor<2x6xf32>
    %17:2 = linalg.generic {indexing_maps = [#map2, #map3, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%12 : tensor<2x6x6xf32>) outs(%16, %14 : tensor<2x6xf32>, tensor<2x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_28: i64):
      %37 = linalg.index 2 : index
      %38 = arith.index_cast %37 : index to i64
      %39 = arith.maximumf %in, %out : f32
      %40 = arith.cmpf ogt, %in, %out : f32
      %41 = arith.select %40, %38, %out_28 : i64
      linalg.yield %39, %41 : f32, i64
    } -> (tensor<2x6xf32>, tensor<2x6xi64>)
    %expanded_21 = tensor.expand_shape %17#0 [[0], [1, 2]] output_shape [2, 6, 1] : tensor<2x6xf32> into tensor<2x6x1xf32>
    %18 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %expanded_21 : tensor<2x6x6xf32>, tensor<2x6x1xf32>) outs(%10 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %37 = arith.subf %in, %in_28 : f32
      linalg.yield %37 : f32
    } -> tensor<2x6x6xf32>
    %19 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<2x6x6xf32>) outs(%10 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = math.exp %in : f32
      linalg.yield %37 : f32
    } -> tensor<2x6x6xf32>
    %20 = tensor.empty() : tensor<2x6x1xf32>
    %21 = linalg.fill ins(%cst_6 : f32) outs(%20 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%19 : tensor<2x6x6xf32>) outs(%21 : tensor<2x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %in, %out : f32
      linalg.yield %37 : f32
    } -> tensor<2x6x1xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %22 : tensor<2x6x6xf32>, tensor<2x6x1xf32>) outs(%10 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %37 = arith.divf %in, %in_28 : f32
      linalg.yield %37 : f32
    } -> tensor<2x6x6xf32>
    %24 = linalg.fill ins(%cst_6 : f32) outs(%7 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
    %25 = linalg.batch_matmul ins(%23, %transposed_19 : tensor<2x6x6xf32>, tensor<2x6x4xf32>) outs(%24 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
    %26 = tensor.empty() : tensor<6x2x4xf32>
    %transposed_22 = linalg.transpose ins(%25 : tensor<2x6x4xf32>) outs(%26 : tensor<6x2x4xf32>) permutation = [1, 0, 2] 
    %collapsed_23 = tensor.collapse_shape %transposed_22 [[0], [1, 2]] : tensor<6x2x4xf32> into tensor<6x8xf32>
    %27 = tensor.empty() : tensor<8x8xf32>
    %transposed_24 = linalg.transpose ins(%cst_3 : tensor<8x8xf32>) outs(%27 : tensor<8x8xf32>) permutation = [1, 0] 
    %28 = tensor.empty() : tensor<6x8xf32>
    %29 = linalg.fill ins(%cst_6 : f32) outs(%28 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %30 = linalg.matmul ins(%collapsed_23, %transposed_24 : tensor<6x8xf32>, tensor<8x8xf32>) outs(%29 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4, %30 : tensor<8xf32>, tensor<6x8xf32>) outs(%28 : tensor<6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %37 = arith.addf %in, %in_28 : f32
      linalg.yield %37 : f32
    } -> tensor<6x8xf32>
    %expanded_25 = tensor.expand_shape %31 [[0], [1, 2]] output_shape [6, 1, 8] : tensor<6x8xf32> into tensor<6x1x8xf32>
    %expanded_26 = tensor.expand_shape %23 [[0, 1], [2], [3]] output_shape [1, 2, 6, 6] : tensor<2x6x6xf32> into tensor<1x2x6x6xf32>
    %32 = tensor.empty() : tensor<1x6x6xf32>
    %33 = linalg.fill ins(%cst_6 : f32) outs(%32 : tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
    %34 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "reduction", "parallel", "parallel"]} ins(%expanded_26 : tensor<1x2x6x6xf32>) outs(%33 : tensor<1x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %in, %out : f32
      linalg.yield %37 : f32
    } -> tensor<1x6x6xf32>
    %35 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34 : tensor<1x6x6xf32>) outs(%32 : tensor<1x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.divf %in, %cst : f32
      linalg.yield %37 : f32
    } -> tensor<1x6x6xf32>
    %36 = tensor.empty() : tensor<1x6x8xf32>
    %transposed_27 = linalg.transpose ins(%expanded_25 : tensor<6x1x8xf32>) outs(%36 : tensor<1x6x8xf32>) permutation = [1, 0, 2] 
    return %transposed_27, %35 : tensor<1x6x8xf32>, tensor<1x6x6xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_24_8_torch.float32: "0x0400000037432E3E04B1B73E59EDC03EE69EC33EF37CB03DE5C9C0BEE428233DC2B28ABED79DCEBE23FBC43EDB92A83E8927DDBE6EFCA53D5C6495BD3AEF91BDC1F84ABE9E832A3EAF5083BE668C223EC73B603EE4B59E3E48CB253E416DDBBE56D18FBE16665D3E4C9CB93D53F2ACBE3D527FBE0491D03E1963953EF25541BE5332DFBD8131D3BECA08FFBB7EF4A6BEFF02ABBE9773C3BC6F26853D789635BEA58D833E26EA86BE8D2AC93EC5EE973E3BF5BABE8EB6DCBD8F0FA03CF462813D1A54D23D31012E3EF27AD43C9D5958BE7AD0513EFAAAD4BE916783BEB9FEDDBD0EFD57BE2C1E1BBE51B6B5BE4FA3BCBDB58FBD3D7D6E90BEC60AB6BCB7B49E3E1E5436BDDB2B453C1D0219BD4D79B33D9AF78C3EC101D23E22CB8C3EC37CD23E694500BDFE28C7BE4D3552BE59F5963E98F537BB91645CBEABE4A9BE127BCFBE651EBBBEAEE0B3BD7D2A733E13B96F3E24D1D5BE464B8A3EFB7BADBE137BBBBDE1C933BE2AD0AABD611EAEBDDAF1C6BE256DBFBE7FC48ABD847EB73B826D49BEC307273E928BC7BEB864EFBC30F8C23E81DC34BEB332C83EAF94203EEE13C8BE45458C3E7BAA4CBD64F045BEFF48B13E1F28B3BE74513E3D96ABB9BD10529E3E548CF73DF80E553EAA971C3E6041D5BD4080BABD6FB3B6BEA341703EE506B03EC1B1973E56629CBEDE349E3C21499CBE621674BEF12F81BE0D88173E8D1D84BE20C81ABCCA39953C1FEA8E3EE196A7BE943398BEEFBB80BE4F2D9B3E7A631FBEE900BB3EAE56203E2096603DF53E53BB544EAFBD95875E3D937FCABD456547BB344D623DB56AADBE0A6768BEEE05B33E03ECB3BEBBB6FEBC1351DB3EA02C203EC6DD483C2D21C0BE2DA75B3E18EA9DBED1BBFBBD06C514BE4C5383BDF2339B3BA5DCB63EA96A5D3DCC93C63E419E873ED5298CBE74DE463E7BB89CBE1BED3BBE5C6A023EA968123ED353A63E36BD0EBE6BB7353A7D46643E2168D6BE5F49A03EAD54B7BE328FC33BC7C596BD888769BED36B6A3D7754B73EAE9D01BE9B9F83BE07FD23BE75BDDBBE7D26483E8AF354BE75F393BE3D727FBE3AF07E3ECCD06A3E5929AA3E",
      torch_tensor_24_torch.float32: "0x04000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
      torch_tensor_8_8_torch.float32: "0x0400000022792DBB9C36423EB1FC94BE1D3885BED6700BBEAB2AC23D578AE5BB40878F3EDE8300BD9799BF3D5DD3DABD1B548EBDC2EFACBE90C56FBE9F3D15BE4C94563C6B200F3E403B593EDE7075BE86A71DBEA77F033EF750963EE70395BD7A75873E1E6B69BD353C193DA1E8A33E20EDA7BEC5EA63BEAC4FB7BD661F0DBE9E669C3E85AA6ABE86A826BE53EF7CBE2089A9BE2D5653BE979A9B3E5E8C213E5F782F3E4952983C7B9C39BE6E01753D4D04A9BE68CC82BE4CA43ABE876C643E5D45543EF68F20BEF20251BCB38B673E12F5B33ECBAF0F3EA6A2433DF2BD723E522B55BE70ED863D65588CBE8AEC7ABEF2053BBE10D0233EFD98113E5B7456BEB8BFDA3D",
      torch_tensor_8_torch.float32: "0x040000000000000000000000000000000000000000000000000000000000000000000000"
    }
  }
#-}

