// nn.MultiheadAttention.
// PyTorch 2.15.0+cu132, torch.export, torch-mlir of iree-base-compiler 3.13.0.
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @torch_multihead(%arg0: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
    %cst = arith.constant dense_resource<torch_tensor_24_8_torch.float32> : tensor<24x8xf32>
    %cst_0 = arith.constant dense_resource<torch_tensor_24_torch.float32> : tensor<24xf32>
    %cst_1 = arith.constant 0.70710678118654757 : f64
    %cst_2 = arith.constant 0xFFF0000000000000 : f64
    %cst_3 = arith.constant dense_resource<torch_tensor_8_8_torch.float32> : tensor<8x8xf32>
    %cst_4 = arith.constant dense_resource<torch_tensor_8_torch.float32> : tensor<8xf32>
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<1x2x6x6xf32>
    %false = arith.constant false
    %cst_6 = arith.constant 0xFF800000 : f32
    %cst_7 = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %0 = tensor.empty() : tensor<6x1x8xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<1x6x8xf32>) outs(%0 : tensor<6x1x8xf32>) permutation = [1, 0, 2] 
    %collapsed = tensor.collapse_shape %transposed [[0], [1, 2]] : tensor<6x1x8xf32> into tensor<6x8xf32>
    %1 = tensor.empty() : tensor<8x24xf32>
    %transposed_8 = linalg.transpose ins(%cst : tensor<24x8xf32>) outs(%1 : tensor<8x24xf32>) permutation = [1, 0] 
    %2 = tensor.empty() : tensor<6x24xf32>
    %3 = linalg.fill ins(%cst_7 : f32) outs(%2 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %4 = linalg.matmul ins(%collapsed, %transposed_8 : tensor<6x8xf32>, tensor<8x24xf32>) outs(%3 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0, %4 : tensor<24xf32>, tensor<6x24xf32>) outs(%2 : tensor<6x24xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %44 = arith.addf %in, %in_36 : f32
      linalg.yield %44 : f32
    } -> tensor<6x24xf32>
    %expanded = tensor.expand_shape %5 [[0, 1], [2, 3, 4]] output_shape [1, 6, 1, 3, 8] : tensor<6x24xf32> into tensor<1x6x1x3x8xf32>
    %6 = tensor.empty() : tensor<3x6x1x1x8xf32>
    %transposed_9 = linalg.transpose ins(%expanded : tensor<1x6x1x3x8xf32>) outs(%6 : tensor<3x6x1x1x8xf32>) permutation = [3, 1, 2, 0, 4] 
    %collapsed_10 = tensor.collapse_shape %transposed_9 [[0], [1], [2, 3], [4]] : tensor<3x6x1x1x8xf32> into tensor<3x6x1x8xf32>
    %extracted_slice = tensor.extract_slice %collapsed_10[0, 0, 0, 0] [1, 6, 1, 8] [1, 1, 1, 1] : tensor<3x6x1x8xf32> to tensor<1x6x1x8xf32>
    %extracted_slice_11 = tensor.extract_slice %collapsed_10[1, 0, 0, 0] [1, 6, 1, 8] [1, 1, 1, 1] : tensor<3x6x1x8xf32> to tensor<1x6x1x8xf32>
    %extracted_slice_12 = tensor.extract_slice %collapsed_10[2, 0, 0, 0] [1, 6, 1, 8] [1, 1, 1, 1] : tensor<3x6x1x8xf32> to tensor<1x6x1x8xf32>
    %collapsed_13 = tensor.collapse_shape %extracted_slice [[0, 1], [2, 3]] : tensor<1x6x1x8xf32> into tensor<6x8xf32>
    %expanded_14 = tensor.expand_shape %collapsed_13 [[0], [1, 2]] output_shape [6, 2, 4] : tensor<6x8xf32> into tensor<6x2x4xf32>
    %7 = tensor.empty() : tensor<2x6x4xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<6x2x4xf32>) outs(%7 : tensor<2x6x4xf32>) permutation = [1, 0, 2] 
    %collapsed_16 = tensor.collapse_shape %extracted_slice_11 [[0, 1], [2, 3]] : tensor<1x6x1x8xf32> into tensor<6x8xf32>
    %expanded_17 = tensor.expand_shape %collapsed_16 [[0], [1, 2]] output_shape [6, 2, 4] : tensor<6x8xf32> into tensor<6x2x4xf32>
    %transposed_18 = linalg.transpose ins(%expanded_17 : tensor<6x2x4xf32>) outs(%7 : tensor<2x6x4xf32>) permutation = [1, 0, 2] 
    %collapsed_19 = tensor.collapse_shape %extracted_slice_12 [[0, 1], [2, 3]] : tensor<1x6x1x8xf32> into tensor<6x8xf32>
    %expanded_20 = tensor.expand_shape %collapsed_19 [[0], [1, 2]] output_shape [6, 2, 4] : tensor<6x8xf32> into tensor<6x2x4xf32>
    %transposed_21 = linalg.transpose ins(%expanded_20 : tensor<6x2x4xf32>) outs(%7 : tensor<2x6x4xf32>) permutation = [1, 0, 2] 
    %expanded_22 = tensor.expand_shape %transposed_15 [[0, 1], [2], [3]] output_shape [1, 2, 6, 4] : tensor<2x6x4xf32> into tensor<1x2x6x4xf32>
    %expanded_23 = tensor.expand_shape %transposed_18 [[0, 1], [2], [3]] output_shape [1, 2, 6, 4] : tensor<2x6x4xf32> into tensor<1x2x6x4xf32>
    %8 = tensor.empty() : tensor<1x2x6x4xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22 : tensor<1x2x6x4xf32>) outs(%8 : tensor<1x2x6x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.truncf %cst_1 : f64 to f32
      %45 = arith.mulf %in, %44 : f32
      linalg.yield %45 : f32
    } -> tensor<1x2x6x4xf32>
    %10 = tensor.empty() : tensor<1x2x4x6xf32>
    %transposed_24 = linalg.transpose ins(%expanded_23 : tensor<1x2x6x4xf32>) outs(%10 : tensor<1x2x4x6xf32>) permutation = [0, 1, 3, 2] 
    %11 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_24 : tensor<1x2x4x6xf32>) outs(%10 : tensor<1x2x4x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.truncf %cst_1 : f64 to f32
      %45 = arith.mulf %in, %44 : f32
      linalg.yield %45 : f32
    } -> tensor<1x2x4x6xf32>
    %collapsed_25 = tensor.collapse_shape %9 [[0, 1], [2], [3]] : tensor<1x2x6x4xf32> into tensor<2x6x4xf32>
    %collapsed_26 = tensor.collapse_shape %11 [[0, 1], [2], [3]] : tensor<1x2x4x6xf32> into tensor<2x4x6xf32>
    %12 = tensor.empty() : tensor<2x6x6xf32>
    %13 = linalg.fill ins(%cst_7 : f32) outs(%12 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
    %14 = linalg.batch_matmul ins(%collapsed_25, %collapsed_26 : tensor<2x6x4xf32>, tensor<2x4x6xf32>) outs(%13 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
    %expanded_27 = tensor.expand_shape %14 [[0, 1], [2], [3]] output_shape [1, 2, 6, 6] : tensor<2x6x6xf32> into tensor<1x2x6x6xf32>
    %15 = tensor.empty() : tensor<1x2x6xi64>
    %16 = linalg.fill ins(%c0_i64 : i64) outs(%15 : tensor<1x2x6xi64>) -> tensor<1x2x6xi64>
    %17 = tensor.empty() : tensor<1x2x6xf32>
    %18 = linalg.fill ins(%cst_6 : f32) outs(%17 : tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
    %19:2 = linalg.generic {indexing_maps = [#map2, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded_27 : tensor<1x2x6x6xf32>) outs(%18, %16 : tensor<1x2x6xf32>, tensor<1x2x6xi64>) {
    ^bb0(%in: f32, %out: f32, %out_36: i64):
      %44 = linalg.index 3 : index
      %45 = arith.index_cast %44 : index to i64
      %46 = arith.maximumf %in, %out : f32
      %47 = arith.cmpf ogt, %in, %out : f32
      %48 = arith.select %47, %45, %out_36 : i64
      linalg.yield %46, %48 : f32, i64
    } -> (tensor<1x2x6xf32>, tensor<1x2x6xi64>)
    %expanded_28 = tensor.expand_shape %19#0 [[0], [1], [2, 3]] output_shape [1, 2, 6, 1] : tensor<1x2x6xf32> into tensor<1x2x6x1xf32>
    %20 = tensor.empty() : tensor<1x2x6x6xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27, %expanded_28 : tensor<1x2x6x6xf32>, tensor<1x2x6x1xf32>) outs(%20 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %44 = arith.subf %in, %in_36 : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x6x6xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<1x2x6x6xf32>) outs(%20 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = math.exp %in : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x6x6xf32>
    %23 = tensor.empty() : tensor<1x2x6x1xf32>
    %24 = linalg.fill ins(%cst_7 : f32) outs(%23 : tensor<1x2x6x1xf32>) -> tensor<1x2x6x1xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%22 : tensor<1x2x6x6xf32>) outs(%24 : tensor<1x2x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.addf %in, %out : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x6x1xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %25 : tensor<1x2x6x6xf32>, tensor<1x2x6x1xf32>) outs(%20 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %44 = arith.divf %in, %in_36 : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x6x6xf32>
    %27 = tensor.empty() : tensor<1x2x6x6xi1>
    %28 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27 : tensor<1x2x6x6xf32>) outs(%27 : tensor<1x2x6x6xi1>) {
    ^bb0(%in: f32, %out: i1):
      %44 = arith.extf %in : f32 to f64
      %45 = arith.cmpf oeq, %44, %cst_2 : f64
      linalg.yield %45 : i1
    } -> tensor<1x2x6x6xi1>
    %29 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<1x2x6x6xi1>) outs(%27 : tensor<1x2x6x6xi1>) {
    ^bb0(%in: i1, %out: i1):
      %44 = arith.cmpi eq, %in, %false : i1
      linalg.yield %44 : i1
    } -> tensor<1x2x6x6xi1>
    %30 = tensor.empty() : tensor<1x2x6x1xi1>
    %31 = linalg.fill ins(%false : i1) outs(%30 : tensor<1x2x6x1xi1>) -> tensor<1x2x6x1xi1>
    %32 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%29 : tensor<1x2x6x6xi1>) outs(%31 : tensor<1x2x6x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %44 = arith.ori %in, %out : i1
      linalg.yield %44 : i1
    } -> tensor<1x2x6x1xi1>
    %33 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<1x2x6x1xi1>) outs(%30 : tensor<1x2x6x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %44 = arith.cmpi eq, %in, %false : i1
      linalg.yield %44 : i1
    } -> tensor<1x2x6x1xi1>
    %34 = linalg.generic {indexing_maps = [#map4, #map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %cst_5, %26 : tensor<1x2x6x1xi1>, tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>) outs(%20 : tensor<1x2x6x6xf32>) {
    ^bb0(%in: i1, %in_36: f32, %in_37: f32, %out: f32):
      %44 = arith.select %in, %in_36, %in_37 : f32
      linalg.yield %44 : f32
    } -> tensor<1x2x6x6xf32>
    %collapsed_29 = tensor.collapse_shape %34 [[0, 1], [2], [3]] : tensor<1x2x6x6xf32> into tensor<2x6x6xf32>
    %35 = linalg.fill ins(%cst_7 : f32) outs(%7 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
    %36 = linalg.batch_matmul ins(%collapsed_29, %transposed_21 : tensor<2x6x6xf32>, tensor<2x6x4xf32>) outs(%35 : tensor<2x6x4xf32>) -> tensor<2x6x4xf32>
    %expanded_30 = tensor.expand_shape %36 [[0, 1], [2], [3]] output_shape [1, 2, 6, 4] : tensor<2x6x4xf32> into tensor<1x2x6x4xf32>
    %37 = tensor.empty() : tensor<6x1x2x4xf32>
    %transposed_31 = linalg.transpose ins(%expanded_30 : tensor<1x2x6x4xf32>) outs(%37 : tensor<6x1x2x4xf32>) permutation = [2, 0, 1, 3] 
    %collapsed_32 = tensor.collapse_shape %transposed_31 [[0], [1, 2, 3]] : tensor<6x1x2x4xf32> into tensor<6x8xf32>
    %38 = tensor.empty() : tensor<8x8xf32>
    %transposed_33 = linalg.transpose ins(%cst_3 : tensor<8x8xf32>) outs(%38 : tensor<8x8xf32>) permutation = [1, 0] 
    %39 = tensor.empty() : tensor<6x8xf32>
    %40 = linalg.fill ins(%cst_7 : f32) outs(%39 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %41 = linalg.matmul ins(%collapsed_32, %transposed_33 : tensor<6x8xf32>, tensor<8x8xf32>) outs(%40 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %42 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4, %41 : tensor<8xf32>, tensor<6x8xf32>) outs(%39 : tensor<6x8xf32>) {
    ^bb0(%in: f32, %in_36: f32, %out: f32):
      %44 = arith.addf %in, %in_36 : f32
      linalg.yield %44 : f32
    } -> tensor<6x8xf32>
    %expanded_34 = tensor.expand_shape %42 [[0], [1, 2]] output_shape [6, 1, 8] : tensor<6x8xf32> into tensor<6x1x8xf32>
    %43 = tensor.empty() : tensor<1x6x8xf32>
    %transposed_35 = linalg.transpose ins(%expanded_34 : tensor<6x1x8xf32>) outs(%43 : tensor<1x6x8xf32>) permutation = [1, 0, 2] 
    return %transposed_35 : tensor<1x6x8xf32>
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

