// Ops that have had no groups of operands, with key lengths and without; and those whose attributes had no names.
!q = tensor<2x4x96x8xf32>
!k = tensor<2x2x96x8xf32>
func.func @softmax(%q: !q, %k: !k, %l: tensor<2xi32>) -> !q {
  %a = attn.softmax %q, %k, %k {causal, scale = 1.250000e-01 : f64} : !q, !k, !k -> !q
  %b, %lse = attn.softmax %a, %k, %k lengths(%l : tensor<2xi32>) {scale = 2.0 : f64} : !q, !k, !k -> !q, lse tensor<2x4x96xf32>
  %c = attn.softmax %b, %k, %k {execution = #attn.execution<split = true>, scale = 1.0 : f64} : !q, !k, !k -> !q
  %d = attn.softmax %c, %k, %k lengths(%l : tensor<2xi32>) {scale = 1.0 : f64, window = #attn.window<48>} : !q, !k, !k -> !q
  %e = attn.polynomial %d, %k, %k {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.000000e+00, floor = 0.000000e+00>, scale = 1.0 : f64} : !q, !k, !k -> !q
  %f = attn.polynomial %e, %k, %k lengths(%l : tensor<2xi32>) {degree = 2 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 1.000000e-06>, scale = 0.5 : f64, window = #attn.window<4x6 of 8x12>} : !q, !k, !k -> !q
  return %f : !q
}
func.func @terms(%q: !q, %k: !k, %l: tensor<2xi32>, %w: tensor<2x4x96x96xf32>) -> (tensor<2x4x96x96xf32>, !q) {
  %m, %s, %acc = attn.softmax_partial %q, %k, %k {causal, piece = 1 : i64, pieces = 3 : i64, scale = 1.0 : f64} : !q, !k, !k -> tensor<2x4x96xf32>, tensor<2x4x96xf32>, !q
  %m2, %s2, %acc2 = attn.softmax_partial %q, %k, %k lengths(%l : tensor<2xi32>) {piece = 0 : i64, pieces = 1 : i64, scale = 1.0 : f64, window = #attn.window<48>} : !q, !k, !k -> tensor<2x4x96xf32>, tensor<2x4x96xf32>, !q
  %m3, %s3, %acc3 = attn.softmax_merge (%m, %s, %acc), (%m2, %s2, %acc2) : tensor<2x4x96xf32>, !q
  %o, %lse = attn.softmax_finish %m3, %s3, %acc3 : tensor<2x4x96xf32>, !q -> !q
  %v = attn.visible %w {causal} : tensor<2x4x96x96xf32>
  %u = attn.visible %v lengths(%l : tensor<2xi32>) {window = #attn.window<48>} : tensor<2x4x96x96xf32>
  return %u, %o : tensor<2x4x96x96xf32>, !q
}
