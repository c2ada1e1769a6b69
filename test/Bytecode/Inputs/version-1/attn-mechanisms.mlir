module {
  func.func @polynomial(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x4x200x64xf32>, %arg2: tensor<2x4x200x32xf32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>) {
    %0 = attn.polynomial %arg0, %arg1, %arg2 {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.000000e+00, floor = 0.000000e+00>, scale = 1.000000e+00 : f64} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
    %1 = attn.polynomial %arg0, %arg1, %arg2 {degree = 2 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, scale = 5.000000e-01 : f64, window = #attn.window<10x5 of 20x10>} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
    return %0, %1 : tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>
  }
  func.func @polysketch(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x2x200x64xf32>, %arg2: tensor<2x2x200x32xf32>, %arg3: tensor<4x64xf32>, %arg4: tensor<4x64xf32>, %arg5: tensor<4x32xf32>, %arg6: tensor<4x32xf32>, %arg7: tensor<4x32xi32>, %arg8: tensor<4x32xi32>, %arg9: tensor<4x32xi32>, %arg10: tensor<4x32xi32>) -> tensor<2x4x200x32xf32> {
    %0 = attn.polysketch %arg0, %arg1, %arg2 signs(%arg3, %arg4, %arg5, %arg6 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) indices(%arg7, %arg8, %arg9, %arg10 : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>) {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, local_exact = 50 : i64, scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x32xf32> -> tensor<2x4x200x32xf32>
    return %0 : tensor<2x4x200x32xf32>
  }
  func.func @sketch(%arg0: tensor<2x2x200x64xf32>, %arg1: tensor<4x64xf32>, %arg2: tensor<4x64xf32>, %arg3: tensor<4x32xf32>, %arg4: tensor<4x32xf32>, %arg5: tensor<4x32xi32>, %arg6: tensor<4x32xi32>, %arg7: tensor<4x32xi32>, %arg8: tensor<4x32xi32>) -> tensor<2x4x200x32xf32> {
    %0 = attn.sketch %arg0 signs(%arg1, %arg2, %arg3, %arg4 : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) indices(%arg5, %arg6, %arg7, %arg8 : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>) {scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x2x200x64xf32> -> tensor<2x4x200x32xf32>
    return %0 : tensor<2x4x200x32xf32>
  }
  func.func @weights(%arg0: tensor<2x4x200x200xf32>, %arg1: tensor<2x4x128x128xf32>, %arg2: tensor<2x4x128x128xf32>) -> (tensor<2x4x200x200xf32>, tensor<2x4x128x128xf32>) {
    %0 = attn.power %arg0 {degree = 4 : i64, scale = 1.000000e+00 : f64} : tensor<2x4x200x200xf32>
    %1 = attn.diagonal_blocks %arg1, %arg2 {block = 32 : i64} : tensor<2x4x128x128xf32>
    return %0, %1 : tensor<2x4x200x200xf32>, tensor<2x4x128x128xf32>
  }
  func.func @effatt(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x4x200x64xf32>, %arg2: tensor<2x4x200x32xf32>, %arg3: tensor<2xi32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>) {
    %0 = attn.effatt %arg0, %arg1, %arg2 : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
    %1 = attn.effatt %arg0, %arg1, %arg2 lengths(%arg3 : tensor<2xi32>) : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
    %2 = attn.sequence_softmax %arg1 : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
    %3 = attn.sequence_softmax %arg1 lengths(%arg3 : tensor<2xi32>) : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
    return %0, %1, %2, %3 : tensor<2x4x200x32xf32>, tensor<2x4x200x32xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>
  }
  func.func @agent(%arg0: tensor<2x4x128x64xf32>, %arg1: tensor<2x4x128x64xf32>, %arg2: tensor<2x4x128x64xf32>) -> (tensor<2x4x128x64xf32>, tensor<2x4x16x64xf32>) {
    %0 = attn.agent %arg0, %arg1, %arg2 {agents = 16 : i64, scale = 1.250000e-01 : f64} : tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32> -> tensor<2x4x128x64xf32>
    %1 = attn.pool %arg0 {count = 16 : i64} : tensor<2x4x128x64xf32> -> tensor<2x4x16x64xf32>
    return %0, %1 : tensor<2x4x128x64xf32>, tensor<2x4x16x64xf32>
  }
  func.func @eva(%arg0: tensor<1x2x128x64xf32>, %arg1: tensor<1x2x128x64xf32>, %arg2: tensor<1x2x128x64xf32>, %arg3: tensor<1xi32>) -> (tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>) {
    %0 = attn.eva %arg0, %arg1, %arg2 {causal, chunk = 8 : i64, local = 32 : i64, mu_weight = 1.000000e+00 : f64, scale = 1.250000e-01 : f64} : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
    %1 = attn.eva %arg0, %arg1, %arg2 lengths(%arg3 : tensor<1xi32>) {chunk = 16 : i64, exclude_local, local = 8 : i64, mass, mu_weight = -5.000000e-01 : f64, scale = 1.000000e+00 : f64} : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
    %mean, %summary, %log_weight = attn.eva_summaries %arg0, %arg1, %arg2 {chunk = 8 : i64, mu_weight = 5.000000e-01 : f64, scale = 1.250000e-01 : f64} : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>
    %2 = attn.eva_mix %arg0, %arg1, %arg2 summaries(%mean, %summary, %log_weight : tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>) {chunk = 8 : i64, local = 32 : i64, scale = 1.250000e-01 : f64} : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
    return %0, %1, %2 : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>
  }
  func.func @eva_exclude_local(%arg0: tensor<1x2x128x64xf32>, %arg1: tensor<1x2x128x64xf32>, %arg2: tensor<1x2x128x64xf32>, %arg3: tensor<1xi32>) -> tensor<1x2x128x64xf32> {
    %mean, %summary, %log_weight = attn.eva_summaries %arg0, %arg1, %arg2 lengths(%arg3 : tensor<1xi32>) {chunk = 8 : i64, local = 32 : i64, mass, mu_weight = 5.000000e-01 : f64, scale = 1.000000e+00 : f64} : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x24x64xf32>, tensor<1x2x24x64xf32>, tensor<1x2x24xf32>
    %0 = attn.eva_mix %arg0, %arg1, %arg2 lengths(%arg3 : tensor<1xi32>) summaries(%mean, %summary, %log_weight : tensor<1x2x24x64xf32>, tensor<1x2x24x64xf32>, tensor<1x2x24xf32>) {chunk = 8 : i64, exclude_local, local = 32 : i64, scale = 1.000000e+00 : f64} : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
    return %0 : tensor<1x2x128x64xf32>
  }
}

