// Features of a high power that decay: chunks of one row begin with what is left of the state, in its units; those from the last one down leave that.
// RUN: attn-opt %s -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s

// CHECK-LABEL: region @faded_chunked grid(batch, head)
// CHECK:         stage query step 1 with key causal(query)
// CHECK:           [[LEFT:%.*]] = left
// CHECK:           [[DECAY:%.*]] = token_decay({{.*}}) {whole} -> log
// CHECK:           [[FADED:%.*]] = faded([[LEFT]], [[DECAY]]) -> scaled
// CHECK:           fade [[FADED]]
// CHECK:           [[STATE:%.*]] = state
// CHECK:           causal_readout({{.*}}, [[STATE]], {{.*}})
// CHECK-NOT:       unless
!x = tensor<1x2x?x8xf32>
!r = tensor<1x2x?xf32>
#guard = #attn.denominator<bias = 0.0, floor = 0.0>
#map = #attn.feature_map<focused, epsilon = 1.0e-6, power = 12.0>
func.func @faded(%q: !x, %k: !x, %v: !x, %f: tensor<2x8xf32> {attn.parameter}, %g: !r) -> !x {
  %a = attn.map %q parameter(%f : tensor<2x8xf32>) {feature_map = #map} : !x -> !x
  %b = attn.map %k parameter(%f : tensor<2x8xf32>) {feature_map = #map, keys} : !x -> !x
  %n, %d, %s, %z = attn.causal_readout %a, %b, %v decay(%g : !r) : !x, !x, !x -> !x, !r, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>
  %o = attn.normalize %n, %d {guard = #guard} : !x, !r -> !x
  return %o : !x
}

// CHECK-LABEL: region @faded_gradient_query_gradients grid(batch, head)
// CHECK:           fade
// CHECK-LABEL: region @faded_gradient_key_gradients grid(batch, head)
// CHECK:         stage query step 1 reverse with key causal(query)
// CHECK:           fade
// CHECK:           log_key_gradient(
func.func @faded_gradient(%q: !x, %k: !x, %v: !x, %f: tensor<2x8xf32> {attn.parameter}, %g: !r, %c: !x) -> (!x, !x, !x) {
  %a = attn.map %q parameter(%f : tensor<2x8xf32>) {feature_map = #map} : !x -> !x
  %b = attn.map %k parameter(%f : tensor<2x8xf32>) {feature_map = #map, keys} : !x -> !x
  %da, %db, %dv, %dg = attn.causal_readout_gradient %a, %b, %v decay(%g : !r) cotangents(numerator %c : !x) {guard = #guard, logarithms}
      : !x, !x, !x -> !x, !x, !x decay(!r)
  %dq = attn.map_gradient %q, %da parameter(%f : tensor<2x8xf32>) {feature_map = #map, logarithms} : !x, !x -> !x
  %dk = attn.map_gradient %k, %db parameter(%f : tensor<2x8xf32>) {feature_map = #map, keys, logarithms} : !x, !x -> !x
  return %dq, %dk, %dv : !x, !x, !x
}
