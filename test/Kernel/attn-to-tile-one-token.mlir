// A token alone is a scan of one row, which decays the state, adds to it and reads it; what it erases of the state is found first, and no system is solved.
// RUN: attn-opt %s -split-input-file -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=TILES

// CHECK-LABEL: region @decays_chunked
// CHECK-NOT:     readout(
// CHECK:         = scan({{.*}}) {rows decay}
// CHECK:         carry carried_on(
// TILES-LABEL: tile.kernel @decays_chunked
// TILES-NOT:     tile.dot
// TILES:         tile.scan {{.*}} : tensor<1x16xf32>, tensor<1x16xf32>, tensor<16x16xf32> decay tensor<1x16xf32>
// TILES-NOT:     tile.dot
// TILES:         tile.return
func.func @decays(%q: tensor<1x2x1x16xf32>, %k: tensor<1x2x1x16xf32>, %v: tensor<1x2x1x16xf32>, %s: tensor<1x2x16x16xf32>, %g: tensor<1x2x1xf32>)
    -> (tensor<1x2x1x16xf32>, tensor<1x2x16x16xf32>) attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 1, key_tile = 1, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %num, %den, %S, %z = attn.causal_readout %q, %k, %v initial(%s : tensor<1x2x16x16xf32>) decay(%g : tensor<1x2x1xf32>)
      : tensor<1x2x1x16xf32>, tensor<1x2x1x16xf32>, tensor<1x2x1x16xf32> -> tensor<1x2x1x16xf32>, tensor<1x2x1xf32>, tensor<1x2x16x16xf32>, tensor<1x2x16xf32>
  %o = attn.normalize %num {guard = #attn.denominator<none>} : tensor<1x2x1x16xf32> -> tensor<1x2x1x16xf32>
  return %o, %S : tensor<1x2x1x16xf32>, tensor<1x2x16x16xf32>
}

// -----

// CHECK-LABEL: region @erases_chunked
// CHECK-NOT:     unit_inverse
// CHECK:         = scan({{.*}}) {erases}
// TILES-LABEL: tile.kernel @erases_chunked
// TILES-NOT:     tile.dot
// TILES:         tile.scan {{.*}} erase
// TILES-NOT:     tile.dot
// TILES:         tile.return
func.func @erases(%q: tensor<1x2x1x16xf32>, %k: tensor<1x2x1x16xf32>, %v: tensor<1x2x1x16xf32>, %s: tensor<1x2x16x16xf32>, %b: tensor<1x2x1xf32>)
    -> (tensor<1x2x1x16xf32>, tensor<1x2x16x16xf32>) attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 1, key_tile = 1, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %num, %den, %S, %z = attn.causal_readout %q, %k, %v initial(%s : tensor<1x2x16x16xf32>) erase(%b : tensor<1x2x1xf32>)
      : tensor<1x2x1x16xf32>, tensor<1x2x1x16xf32>, tensor<1x2x1x16xf32> -> tensor<1x2x1x16xf32>, tensor<1x2x1xf32>, tensor<1x2x16x16xf32>, tensor<1x2x16xf32>
  %o = attn.normalize %num {guard = #attn.denominator<none>} : tensor<1x2x1x16xf32> -> tensor<1x2x1x16xf32>
  return %o, %S : tensor<1x2x1x16xf32>, tensor<1x2x16x16xf32>
}
