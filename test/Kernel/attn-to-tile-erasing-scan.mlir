// RUN: attn-opt %s -split-input-file -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=TILES

// Where a first-level cache holds the state of keys that erase, tokens go through it one after another, and no system is solved. From many tokens on what they
// write is added to the state by one product.
// CHECK-LABEL: region @near_chunked
// CHECK-NOT:     unit_inverse
// CHECK:         = scan({{.*}}) {erases, rows decay}
// CHECK:         carry carried_on(
// What erases is no sum: pieces of the loop do not add up.
// TILES-LABEL: tile.kernel @near_chunked
// TILES:         tile.loop #tile.sequential %{{.*}} carries
// TILES:         tile.scan {{.*}} decay %{{.*}} erase %{{.*}} : tensor<16x64xf32>, tensor<16x64xf32>, tensor<64x64xf32> decay tensor<64xf32> erase tensor<16x64xf32> -> tensor<16x64xf32>
// TILES:         %{{.*}}, %{{.*}}, %[[U:.*]] = tile.scan {{.*}} decay tensor<64xf32> erase
// TILES:         tile.dot %{{.*}}, %[[U]], {{.*}} : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<64x64xf32>
#schedule = #tile.schedule<target = cpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 1, stages = 1>
!t = tensor<1x2x?x64xf32>
!w = tensor<1x2x?xf32>
!s = tensor<1x2x64x64xf32>
func.func @near(%q: !t, %k: !t, %v: !t, %b: !w, %g: !w) -> !t attributes {tile.schedule = #schedule} {
  %num, %den, %S, %z = attn.causal_readout %q, %k, %v decay(%g : !w) erase(%b : !w) : !t, !t, !t -> !t, !w, !s, tensor<1x2x64xf32>
  %o = attn.normalize %num {guard = #attn.denominator<none>} : !t -> !t
  return %o : !t
}

// -----

// A larger one is brought over a chunk by products.
// CHECK-LABEL: region @far_chunked
// CHECK-NOT:     scan(
// CHECK:         unit_inverse
// TILES-LABEL: tile.kernel @far_chunked
// TILES-NOT:     tile.scan
#schedule = #tile.schedule<target = cpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 1, stages = 1>
!t = tensor<1x2x?x128xf32>
!w = tensor<1x2x?xf32>
func.func @far(%q: !t, %k: !t, %v: !t, %b: !w) -> !t attributes {tile.schedule = #schedule} {
  %num, %den, %S, %z = attn.causal_readout %q, %k, %v erase(%b : !w) : !t, !t, !t -> !t, !w, tensor<1x2x128x128xf32>, tensor<1x2x128xf32>
  %o = attn.normalize %num {guard = #attn.denominator<none>} : !t -> !t
  return %o : !t
}
