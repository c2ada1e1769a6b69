module {
  func.func @softmax(%arg0: tensor<2x8x48x64xbf16>, %arg1: tensor<2x2x80x64xbf16>, %arg2: tensor<2x2x80x64xbf16>) -> tensor<2x8x48x64xbf16> {
    %output = attn.softmax %arg0, %arg1, %arg2 {causal, scale = 1.250000e-01 : f64} : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
    return %output : tensor<2x8x48x64xbf16>
  }
  func.func @softmax_options(%arg0: tensor<?x4x?x7xf32>, %arg1: tensor<?x4x?x7xf32>, %arg2: tensor<?x4x?x3xf32>, %arg3: tensor<?xi32>) -> (tensor<?x4x?x3xf32>, tensor<?x4x?xf32>) {
    %output, %lse = attn.softmax %arg0, %arg1, %arg2 lengths(%arg3 : tensor<?xi32>) {scale = 1.000000e+00 : f64} : tensor<?x4x?x7xf32>, tensor<?x4x?x7xf32>, tensor<?x4x?x3xf32> -> tensor<?x4x?x3xf32>, lse tensor<?x4x?xf32>
    return %output, %lse : tensor<?x4x?x3xf32>, tensor<?x4x?xf32>
  }
  func.func @softmax_partial(%arg0: tensor<2x8x48x64xbf16>, %arg1: tensor<2x2x80x64xbf16>, %arg2: tensor<2x2x80x64xbf16>, %arg3: tensor<2xi32>) -> (tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>, tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>) {
    %maximum, %sum, %accumulator = attn.softmax_partial %arg0, %arg1, %arg2 {piece = 0 : i64, pieces = 1 : i64, scale = 1.250000e-01 : f64} : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
    %maximum_0, %sum_1, %accumulator_2 = attn.softmax_partial %arg0, %arg1, %arg2 lengths(%arg3 : tensor<2xi32>) {causal, piece = 2 : i64, pieces = 3 : i64, scale = 1.000000e+00 : f64} : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
    return %maximum, %sum, %accumulator, %maximum_0, %sum_1, %accumulator_2 : tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>, tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
  }
  func.func @softmax_merge(%arg0: tensor<2x8x48xf32>, %arg1: tensor<2x8x48xf32>, %arg2: tensor<2x8x48x64xf32>, %arg3: tensor<2x8x48xf32>, %arg4: tensor<2x8x48xf32>, %arg5: tensor<2x8x48x64xf32>) -> (tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>) {
    %maximum, %sum, %accumulator = attn.softmax_merge(%arg0, %arg1, %arg2), (%arg3, %arg4, %arg5) : tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
    return %maximum, %sum, %accumulator : tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
  }
  func.func @softmax_finish(%arg0: tensor<2x8x48xf32>, %arg1: tensor<2x8x48xf32>, %arg2: tensor<2x8x48x64xf32>) -> (tensor<2x8x48x64xbf16>, tensor<2x8x48xf32>) {
    %output, %lse = attn.softmax_finish %arg0, %arg1, %arg2 : tensor<2x8x48xf32>, tensor<2x8x48x64xf32> -> tensor<2x8x48x64xbf16>
    return %output, %lse : tensor<2x8x48x64xbf16>, tensor<2x8x48xf32>
  }
  func.func @kernel(%arg0: tensor<2x4x200x64xbf16>, %arg1: tensor<2x4x200x64xbf16>, %arg2: tensor<2x4x200x64xbf16>) -> tensor<2x4x200x64xbf16> {
    %output = attn.kernel %arg0, %arg1, %arg2 {causal, denominator = #attn.denominator<bias = 9.9999999999999995E-7, floor = 0.000000e+00>, feature_map = #attn.feature_map<elu1>} : tensor<2x4x200x64xbf16>, tensor<2x4x200x64xbf16>, tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xbf16>
    return %output : tensor<2x4x200x64xbf16>
  }
  func.func @kernel_options(%arg0: tensor<2x4x200x64xbf16>, %arg1: tensor<2x4x200x64xbf16>, %arg2: tensor<2x4x200x32xbf16>, %arg3: tensor<2xi32>, %arg4: tensor<2x4x64x32xf32>, %arg5: tensor<2x4x64xf32>) -> (tensor<2x4x200x32xbf16>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>) {
    %output, %final_state, %final_sum = attn.kernel %arg0, %arg1, %arg2 lengths(%arg3 : tensor<2xi32>) initial(%arg4, %arg5 : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>) {causal, denominator = #attn.denominator<bias = 0.000000e+00, floor = 1.000000e-03>, feature_map = #attn.feature_map<elu1>} : tensor<2x4x200x64xbf16>, tensor<2x4x200x64xbf16>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xbf16>, final tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    return %output, %final_state, %final_sum : tensor<2x4x200x32xbf16>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  }
  func.func @map(%arg0: tensor<2x4x200x64xbf16>, %arg1: tensor<2xi32>) -> (tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>) {
    %0 = attn.map %arg0 lengths(%arg1 : tensor<2xi32>) {feature_map = #attn.feature_map<elu1>} : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
    %1 = attn.map %arg0 {feature_map = #attn.feature_map<elu1>} : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
    return %0, %1 : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>
  }
  func.func @weights(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x4x200x64xf32>, %arg2: tensor<2x2x200x64xf32>, %arg3: tensor<2xi32>) -> (tensor<2x4x200x200xf32>, tensor<2x4x200xf32>, tensor<2x4x200x200xf32>, tensor<2x4x200x200xf32>) {
    %0 = attn.contract %arg0 [batch, head, query, feature], %arg1 [batch, head, key, feature] -> [batch, head, query, key] : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32> -> tensor<2x4x200x200xf32>
    %1 = attn.visible %0 {causal} : tensor<2x4x200x200xf32>
    %2 = attn.visible %0 lengths(%arg3 : tensor<2xi32>) : tensor<2x4x200x200xf32>
    %3 = attn.row_sum %0 : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
    %4 = attn.contract %arg0 [batch, head, query, feature], %arg2 [batch, head, key, feature] -> [batch, head, query, key] : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32> -> tensor<2x4x200x200xf32>
    return %1, %3, %2, %4 : tensor<2x4x200x200xf32>, tensor<2x4x200xf32>, tensor<2x4x200x200xf32>, tensor<2x4x200x200xf32>
  }
  func.func @states(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x4x200x32xbf16>, %arg2: tensor<2xi32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>) {
    %state, %sum = attn.state %arg0, %arg1 : tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    %state_0, %sum_1 = attn.state %arg0, %arg1 lengths(%arg2 : tensor<2xi32>) : tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    %numerator, %denominator = attn.readout %arg0, %state, %sum : tensor<2x4x200x64xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>
    return %numerator, %denominator, %state_0, %sum_1 : tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  }
  func.func @state_merge(%arg0: tensor<2x4x64x32xf32>, %arg1: tensor<2x4x64xf32>, %arg2: tensor<2x4x64x32xf32>, %arg3: tensor<2x4x64xf32>) -> (tensor<2x4x64x32xf32>, tensor<2x4x64xf32>) {
    %state, %sum = attn.state_merge(%arg0, %arg1), (%arg2, %arg3) : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    return %state, %sum : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  }
  func.func @causal_readout(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x4x200x64xf32>, %arg2: tensor<2x4x200x32xbf16>, %arg3: tensor<2xi32>) -> (tensor<2x4x200x32xf32>, tensor<2x4x200xf32>) {
    %numerator, %denominator, %state, %sum = attn.causal_readout %arg0, %arg1, %arg2 : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    %numerator_0, %denominator_1, %state_2, %sum_3 = attn.causal_readout %arg0, %arg1, %arg2 lengths(%arg3 : tensor<2xi32>) initial(%state, %sum : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>) : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    return %numerator_0, %denominator_1 : tensor<2x4x200x32xf32>, tensor<2x4x200xf32>
  }
  func.func @normalize(%arg0: tensor<2x4x200x32xf32>, %arg1: tensor<2x4x200xf32>) -> tensor<2x4x200x32xbf16> {
    %0 = attn.normalize %arg0, %arg1 {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : tensor<2x4x200x32xf32>, tensor<2x4x200xf32> -> tensor<2x4x200x32xbf16>
    return %0 : tensor<2x4x200x32xbf16>
  }
  func.func private @plans() attributes {plan = #attn.plan<form = state, from = 128>}
  func.func private @guards() attributes {guard = #attn.denominator<bias = 9.9999999999999995E-7, floor = 0.000000e+00>}
}

