module {
  func.func @project(%arg0: tensor<2x96x256xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<256xf32>, %arg3: tensor<256x64xf32>) -> (tensor<2x8x96x32xf32>, tensor<2x2x96x32xf32>) {
    %0 = attn.project %arg0, %arg1 bias(%arg2 : tensor<256xf32>) : tensor<2x96x256xf32>, tensor<256x256xf32> -> tensor<2x8x96x32xf32>
    %1 = attn.project %arg0, %arg3 : tensor<2x96x256xf32>, tensor<256x64xf32> -> tensor<2x2x96x32xf32>
    return %0, %1 : tensor<2x8x96x32xf32>, tensor<2x2x96x32xf32>
  }
  func.func @project_dynamic(%arg0: tensor<?x?x24xbf16>, %arg1: tensor<24x30xbf16>) -> tensor<?x5x?x6xf32> {
    %0 = attn.project %arg0, %arg1 : tensor<?x?x24xbf16>, tensor<24x30xbf16> -> tensor<?x5x?x6xf32>
    return %0 : tensor<?x5x?x6xf32>
  }
  func.func @project_output(%arg0: tensor<2x8x96x32xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<256xf32>) -> (tensor<2x96x256xf32>, tensor<2x96x256xf16>) {
    %0 = attn.project_output %arg0, %arg1 bias(%arg2 : tensor<256xf32>) : tensor<2x8x96x32xf32>, tensor<256x256xf32> -> tensor<2x96x256xf32>
    %1 = attn.project_output %arg0, %arg1 : tensor<2x8x96x32xf32>, tensor<256x256xf32> -> tensor<2x96x256xf16>
    return %0, %1 : tensor<2x96x256xf32>, tensor<2x96x256xf16>
  }
  func.func @places(%arg0: tensor<2x8x96x32xf32>, %arg1: tensor<2x2x96x32xf32>) -> (tensor<2x8x96x32xf32>, tensor<2x8x96x32xf32>, tensor<2x8x96x32xf32>) {
    %0 = attn.rope %arg0 aligned(%arg1 : tensor<2x2x96x32xf32>) {base = 1.000000e+04 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
    %1 = attn.rope %arg0 {base = 5.000000e+02 : f64, half} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
    %2 = attn.qk_norm %arg0 {epsilon = 1.000000e-05 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
    return %0, %1, %2 : tensor<2x8x96x32xf32>, tensor<2x8x96x32xf32>, tensor<2x8x96x32xf32>
  }
  func.func @compress(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<1x32x200xf32>, %arg2: tensor<4x32x200xf32>, %arg3: tensor<2xi32>) -> (tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>) {
    %0 = attn.compress %arg0, %arg1 : tensor<2x4x200x64xf32>, tensor<1x32x200xf32> -> tensor<2x4x32x64xf32>
    %1 = attn.compress %arg0, %arg2 lengths(%arg3 : tensor<2xi32>) : tensor<2x4x200x64xf32>, tensor<4x32x200xf32> -> tensor<2x4x32x64xf32>
    return %0, %1 : tensor<2x4x32x64xf32>, tensor<2x4x32x64xf32>
  }
  func.func @lepe(%arg0: tensor<1x2x196x32xf32>, %arg1: tensor<1x2x196x32xf32>, %arg2: tensor<2x32x3x3xf32>, %arg3: tensor<2x32x3xf32>, %arg4: tensor<2x32xf32>, %arg5: tensor<1xi32>) -> (tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>) {
    %0 = attn.lepe %arg0, %arg1, %arg2 {grid = array<i64: 14, 14>} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<2x32x3x3xf32> -> tensor<1x2x196x32xf32>
    %1 = attn.lepe %arg0, %arg1, %arg3 bias(%arg4 : tensor<2x32xf32>) lengths(%arg5 : tensor<1xi32>) : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<2x32x3xf32> -> tensor<1x2x196x32xf32>
    %2 = attn.lepe %arg0, %arg1, %arg3 lengths(%arg5 : tensor<1xi32>) {window = #attn.window<49>} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<2x32x3xf32> -> tensor<1x2x196x32xf32>
    %3 = attn.lepe %arg0, %arg1, %arg2 {window = #attn.window<7x7 of 14x14>} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<2x32x3x3xf32> -> tensor<1x2x196x32xf32>
    return %0, %1, %2, %3 : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>
  }
  func.func @heads(%arg0: tensor<1x4x196x32xf32>, %arg1: tensor<1x2x196x32xf32>, %arg2: tensor<1x2x196x32xf32>) -> (tensor<1x2x196x32xf32>, tensor<1x4x196x32xf32>) {
    %0 = attn.take_heads %arg0 {first = 2 : i64} : tensor<1x4x196x32xf32> -> tensor<1x2x196x32xf32>
    %1 = attn.concat_heads %arg1, %arg2 : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
    return %0, %1 : tensor<1x2x196x32xf32>, tensor<1x4x196x32xf32>
  }
}

