// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=x86-64-avx512 pin=project:fused" -verify-diagnostics

// Kernels that read their tokens more than once do not compute them on the way; a pin that no op can take says why.
func.func @after_map(%x: tensor<1x64x32xf32>, %w: tensor<32x32xf32> {attn.name = "w"}, %e: tensor<1x8x64xf32>) -> tensor<1x2x64x16xf32> {
  // expected-error @+2 {{expected a form that this attention can take, but got the pin project: fused; features are compressed by kernels that read the tokens once for every block of compressed tokens}}
  // expected-note @+1 {{pin one of materialized, or leave the choice to the cost model}}
  %t = attn.project %x, %w : tensor<1x64x32xf32>, tensor<32x32xf32> -> tensor<1x2x64x16xf32>
  %o = attn.kernel %t, %t, %t compress(%e, %e : tensor<1x8x64xf32>, tensor<1x8x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %o : tensor<1x2x64x16xf32>
}

// -----

func.func @agents(%x: tensor<1x64x32xf32>, %w: tensor<32x32xf32> {attn.name = "w"}) -> tensor<1x2x64x16xf32> {
  // expected-error @+2 {{but got the pin project: fused; the kernels of agent read their tokens several times}}
  // expected-note @+1 {{pin one of materialized, or leave the choice to the cost model}}
  %t = attn.project %x, %w : tensor<1x64x32xf32>, tensor<32x32xf32> -> tensor<1x2x64x16xf32>
  %o = attn.agent %t, %t, %t {agents = 8 : i64, scale = 0.25 : f64}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %o : tensor<1x2x64x16xf32>
}
