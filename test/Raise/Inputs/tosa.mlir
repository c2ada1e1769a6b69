// softmax(scale · Q Kᵀ) V, two heads.
func.func @tosa(%q: tensor<2x6x8xf32>, %k: tensor<2x9x8xf32>, %v: tensor<2x9x8xf32>) -> tensor<2x6x8xf32> {
  %none = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %scale = "tosa.const"() <{values = dense<0.353553385> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<2x9x8xf32>) -> tensor<2x8x9xf32>
  %s = tosa.matmul %q, %kt, %none, %none : (tensor<2x6x8xf32>, tensor<2x8x9xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x9xf32>
  %scaled = tosa.mul %s, %scale, %shift : (tensor<2x6x9xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x6x9xf32>
  %m = tosa.reduce_max %scaled {axis = 2 : i32} : (tensor<2x6x9xf32>) -> tensor<2x6x1xf32>
  %d = tosa.sub %scaled, %m : (tensor<2x6x9xf32>, tensor<2x6x1xf32>) -> tensor<2x6x9xf32>
  %e = tosa.exp %d : (tensor<2x6x9xf32>) -> tensor<2x6x9xf32>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<2x6x9xf32>) -> tensor<2x6x1xf32>
  %r = tosa.reciprocal %l : (tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
  %w = tosa.mul %e, %r, %shift : (tensor<2x6x9xf32>, tensor<2x6x1xf32>, tensor<1xi8>) -> tensor<2x6x9xf32>
  %o = tosa.matmul %w, %v, %none, %none : (tensor<2x6x9xf32>, tensor<2x9x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x8xf32>
  return %o : tensor<2x6x8xf32>
}
