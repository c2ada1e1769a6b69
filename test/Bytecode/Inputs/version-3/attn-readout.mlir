func.func @readouts(%a: tensor<2x4x12x8xf32>, %v: tensor<2x4x12x6xf32>, %s: tensor<2x4x8x6xf32>, %z: tensor<2x4x8xf32>, %b: tensor<2x4x12xf32>)
    -> (tensor<2x4x12x6xf32>, tensor<2x4x12x6xf32>) {
  %n, %d, %s1, %z1 = attn.causal_readout %a, %a, %v erase(%b : tensor<2x4x12xf32>)
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x6xf32> -> tensor<2x4x12x6xf32>, tensor<2x4x12xf32>, tensor<2x4x8x6xf32>, tensor<2x4x8xf32>
  %n2, %d2, %s2, %z2, %m2 = attn.causal_readout %a, %a, %v initial(%s, %z, %z : tensor<2x4x8x6xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>)
      : tensor<2x4x12x8xf32>, tensor<2x4x12x8xf32>, tensor<2x4x12x6xf32>
      -> tensor<2x4x12x6xf32>, tensor<2x4x12xf32>, tensor<2x4x8x6xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %n, %n2 : tensor<2x4x12x6xf32>, tensor<2x4x12x6xf32>
}
