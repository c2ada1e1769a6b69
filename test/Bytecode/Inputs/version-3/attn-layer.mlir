module {
  func.func @norms(%arg0: tensor<2x2x96x32xf32>) -> (tensor<2x2x96x32xf32>, tensor<2x4x96x32xf32>) {
    %0 = attn.qk_norm %arg0 {epsilon = 1.000000e-05 : f64} : tensor<2x2x96x32xf32> -> tensor<2x2x96x32xf32>
    %1 = attn.qk_norm %arg0 {epsilon = 9.9999999999999995E-7 : f64, l2} : tensor<2x2x96x32xf32> -> tensor<2x2x96x32xf32>
    %2 = attn.repeat_heads %1 : tensor<2x2x96x32xf32> -> tensor<2x4x96x32xf32>
    return %0, %2 : tensor<2x2x96x32xf32>, tensor<2x4x96x32xf32>
  }
}
