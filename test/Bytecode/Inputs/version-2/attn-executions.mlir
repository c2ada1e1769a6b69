module {
  func.func @project(%arg0: tensor<2x96x256xf32>, %arg1: tensor<256x256xf32>) -> (tensor<2x8x96x32xf32>, tensor<2x8x96x32xf32>) {
    %0 = attn.project %arg0, %arg1 {execution = #attn.execution<form = folded>} : tensor<2x96x256xf32>, tensor<256x256xf32> -> tensor<2x8x96x32xf32>
    %1 = attn.project %arg0, %arg1 {execution = #attn.execution<form = folded, values = fused>} : tensor<2x96x256xf32>, tensor<256x256xf32> -> tensor<2x8x96x32xf32>
    return %0, %1 : tensor<2x8x96x32xf32>, tensor<2x8x96x32xf32>
  }
  func.func @project_output(%arg0: tensor<2x8x96x32xf32>, %arg1: tensor<256x256xf32>) -> tensor<2x96x256xf32> {
    %0 = attn.project_output %arg0, %arg1 {execution = #attn.execution<values = fused>} : tensor<2x8x96x32xf32>, tensor<256x256xf32> -> tensor<2x96x256xf32>
    return %0 : tensor<2x96x256xf32>
  }
  func.func @compress(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<1x32x200xf32>) -> tensor<2x4x32x64xf32> {
    %0 = attn.compress %arg0, %arg1 {execution = #attn.execution<form = compress_first>} : tensor<2x4x200x64xf32>, tensor<1x32x200xf32> -> tensor<2x4x32x64xf32>
    return %0 : tensor<2x4x32x64xf32>
  }
  func.func @map(%arg0: tensor<2x4x200x64xbf16>, %arg1: tensor<2xi32>) -> tensor<2x4x200x64xf32> {
    %0 = attn.map %arg0 lengths(%arg1 : tensor<2xi32>) {execution = #attn.execution<values = materialized>, feature_map = #attn.feature_map<elu1>, keys} : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
    return %0 : tensor<2x4x200x64xf32>
  }
  func.func @readout(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x4x64x32xf32>, %arg2: tensor<2x4x64xf32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>) {
    %numerator, %denominator = attn.readout %arg0, %arg1, %arg2 {execution = #attn.execution<values = fused>} : tensor<2x4x200x64xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>
    %numerator_0, %denominator_1 = attn.readout %arg0, %arg1, %arg2 {execution = #attn.execution<ending = last_block>} : tensor<2x4x200x64xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>
    return %numerator, %numerator_0 : tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>
  }
  func.func @causal_readout(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x4x200x64xf32>, %arg2: tensor<2x4x200x32xbf16>, %arg3: tensor<2xi32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>) {
    %numerator, %denominator, %state, %sum = attn.causal_readout %arg0, %arg1, %arg2 lengths(%arg3 : tensor<2xi32>) {execution = #attn.execution<split = true>} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    %numerator_0, %denominator_1, %state_2, %sum_3 = attn.causal_readout %arg0, %arg1, %arg2 {execution = #attn.execution<grouped = true>} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    return %numerator, %numerator_0 : tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>
  }
  func.func @softmax(%arg0: tensor<2x8x48x64xbf16>, %arg1: tensor<2x2x80x64xbf16>, %arg2: tensor<2x2x80x64xbf16>) -> tensor<2x8x48x64xbf16> {
    %output = attn.softmax %arg0, %arg1, %arg2 {causal, execution = #attn.execution<split = true>, scale = 1.250000e-01 : f64} : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
    return %output : tensor<2x8x48x64xbf16>
  }
  func.func @polysketch(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x2x200x64xf32>, %arg2: tensor<2x2x200x32xf32>, %arg3: tensor<4x64xf32>, %arg4: tensor<4x32xf32>, %arg5: tensor<4x32xi32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>) {
    %0 = attn.polysketch %arg0, %arg1, %arg2 signs(%arg3, %arg3, %arg4, %arg4 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) indices(%arg5, %arg5, %arg5, %arg5 : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>) {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, execution = #attn.execution<form = chunked, split = true>, local_exact = 50 : i64, scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x32xf32> -> tensor<2x4x200x32xf32>
    %1 = attn.polysketch %arg0, %arg1, %arg2 signs(%arg3, %arg3, %arg4, %arg4 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) indices(%arg5, %arg5, %arg5, %arg5 : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>) {degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, execution = #attn.execution<form = state>, scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x32xf32> -> tensor<2x4x200x32xf32>
    %2 = attn.polysketch %arg0, %arg1, %arg2 signs(%arg3, %arg3, %arg4, %arg4 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) indices(%arg5, %arg5, %arg5, %arg5 : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>) {degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x32xf32> -> tensor<2x4x200x32xf32>
    return %0, %1, %2 : tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>
  }
  func.func @concat_heads(%arg0: tensor<1x2x196x32xf32>, %arg1: tensor<1x2x196x32xf32>) -> tensor<1x4x196x32xf32> {
    %0 = attn.concat_heads %arg0, %arg1 {execution = #attn.execution<launch = co_launched>} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
    return %0 : tensor<1x4x196x32xf32>
  }
}

