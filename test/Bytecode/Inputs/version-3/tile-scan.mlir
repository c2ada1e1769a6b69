func.func @scans(%a: tensor<4x8xf32>, %v: tensor<4x16xf32>, %s: tensor<8x16xf32>, %g: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<8x16xf32>) {
  %o, %s1 = tile.scan %a, %a, %v, %s, %v : tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x16xf32>
  %p, %s2 = tile.scan %a, %a, %v, %s1, %o decay %g {exclusive} : tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x16xf32> decay tensor<4x8xf32>
  %q, %s3 = tile.scan %a, %a, %v, %s2, %p decay %v {decay_columns, reverse} : tensor<4x8xf32>, tensor<4x16xf32>, tensor<8x16xf32> decay tensor<4x16xf32>
  return %q, %s3 : tensor<4x16xf32>, tensor<8x16xf32>
}
