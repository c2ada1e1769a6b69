module {
  func.func @key_maximum(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<4x96x64xf32>, %arg2: tensor<1x96x64xf32>, %arg3: tensor<2xi32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
    %0 = attn.key_maximum %arg0 parameter(%arg1 : tensor<4x96x64xf32>) {feature_map = #attn.feature_map<favor, features = 96, epsilon = 1.000000e-04, scale = 1.250000e-01, stabilizer = max>} : tensor<2x4x200x64xf32> -> tensor<2x4xf32>
    %1 = attn.key_maximum %arg0 lengths(%arg3 : tensor<2xi32>) parameter(%arg2 : tensor<1x96x64xf32>) {feature_map = #attn.feature_map<favor, features = 96, epsilon = 0.000000e+00, scale = 1.000000e+00, stabilizer = projection>} : tensor<2x4x200x64xf32> -> tensor<2x4xf32>
    return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.func @maps(%arg0: tensor<2x2x200x64xf32>, %arg1: tensor<4x96x64xf32>, %arg2: tensor<4x64xf32>, %arg3: tensor<2x4xf32>, %arg4: tensor<2xi32>) -> (tensor<2x4x200x96xf32>, tensor<2x4x200x64xf32>, tensor<2x2x200x128xf32>) {
    %0 = attn.map %arg0 lengths(%arg4 : tensor<2xi32>) parameter(%arg1 : tensor<4x96x64xf32>) shift(%arg3 : tensor<2x4xf32>) {feature_map = #attn.feature_map<favor, features = 96, epsilon = 1.000000e-04, scale = 1.000000e+00, stabilizer = max>, keys} : tensor<2x2x200x64xf32> -> tensor<2x4x200x96xf32>
    %1 = attn.map %arg0 parameter(%arg2 : tensor<4x64xf32>) {feature_map = #attn.feature_map<focused, epsilon = 9.9999999999999995E-7, power = 3.000000e+00>} : tensor<2x2x200x64xf32> -> tensor<2x4x200x64xf32>
    %2 = attn.map %arg0 {feature_map = #attn.feature_map<cosformer, max_position = 200>} : tensor<2x2x200x64xf32> -> tensor<2x2x200x128xf32>
    return %0, %1, %2 : tensor<2x4x200x96xf32>, tensor<2x4x200x64xf32>, tensor<2x2x200x128xf32>
  }
  func.func @kernels(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x2x200x64xf32>, %arg2: tensor<1x32x64xf32>, %arg3: tensor<1x10x200xf32>, %arg4: tensor<2x10x200xf32>) -> (tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>) {
    %output = attn.kernel %arg0, %arg1, %arg1 parameter(%arg2 : tensor<1x32x64xf32>) compress(%arg3, %arg4 : tensor<1x10x200xf32>, tensor<2x10x200xf32>) {denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, feature_map = #attn.feature_map<favor_relu, features = 32, epsilon = 1.000000e-03, scale = 0.000000e+00>} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x64xf32> -> tensor<2x4x200x64xf32>
    %output_0 = attn.kernel %arg0, %arg1, %arg1 {denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, feature_map = #attn.feature_map<relu>, window = #attn.window<50>} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x64xf32> -> tensor<2x4x200x64xf32>
    %output_1 = attn.softmax %arg0, %arg1, %arg1 {scale = 1.000000e+00 : f64, window = #attn.window<10x5 of 20x10>} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x64xf32> -> tensor<2x4x200x64xf32>
    return %output, %output_0, %output_1 : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>
  }
  func.func @states(%arg0: tensor<2x4x200x96xf32>, %arg1: tensor<2x2x200x64xf32>) -> tensor<2x4x96x64xf32> {
    %state, %sum = attn.state %arg0, %arg1 : tensor<2x4x200x96xf32>, tensor<2x2x200x64xf32> -> tensor<2x4x96x64xf32>, tensor<2x4x96xf32>
    return %state : tensor<2x4x96x64xf32>
  }
  func.func @elements(%arg0: tensor<2x4x200x64xf32>, %arg1: tensor<2x2x7x64xf16>, %arg2: tensor<2x2x7x3xbf16>) -> tensor<2x4x200x3xf16> {
    %output = attn.softmax %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64} : tensor<2x4x200x64xf32>, tensor<2x2x7x64xf16>, tensor<2x2x7x3xbf16> -> tensor<2x4x200x3xf16>
    return %output : tensor<2x4x200x3xf16>
  }
  func.func private @attributes() attributes {a = #attn.feature_map<elu1>, b = #attn.feature_map<favor, features = 256, epsilon = 0.000000e+00, scale = 1.250000e-01, stabilizer = constant>, c = #attn.feature_map<cosformer, max_position = 4096>, d = #attn.feature_map<focused, epsilon = 9.9999999999999995E-7, power = 3.000000e+00>, e = #attn.window<49>, f = #attn.window<7x7 of 56x56>}
}

