// RUN: attn-opt %s -attn-to-tile=print-regions -o /dev/null 2>&1 | FileCheck %s

// A state is given in units, and nobody reads denominators: z says which features have a unit, and is no part of what goes on.
// CHECK-LABEL: region @units_chunked
// CHECK-DAG:     %[[M:.*]] = load initial_scale
// CHECK-DAG:     %[[Z:.*]] = load initial_sum
// CHECK-DAG:     %[[S:.*]] = load initial_state
// CHECK:         %[[GIVEN:.*]] = written_state(%[[M]], %[[Z]], %[[S]]) -> scaled
// CHECK:         %[[TRUE:.*]] = true_state(%[[GIVEN]])
// CHECK:         %[[BEGIN:.*]] = select(%[[TRUE]]) {tiles = [0]}
// CHECK:         carry(#tile.sum) from %[[BEGIN]]
#schedule = #tile.schedule<target = cpu, query_tile = 4, key_tile = 4, piece = 2048, operand = f32, warps = 1, stages = 1>
!a = tensor<2x4x12x8xf32>
!v = tensor<2x4x12x6xf32>
!d = tensor<2x4x12xf32>
!s = tensor<2x4x8x6xf32>
!z = tensor<2x4x8xf32>
func.func @units(%a: !a, %v: !v, %s: !s, %z: !z, %m: !z) -> (!v {attn.name = "num"}) attributes {tile.schedule = #schedule} {
  %num, %den, %s2, %z2, %m2 = attn.causal_readout %a, %a, %v initial(%s, %z, %m : !s, !z, !z) : !a, !a, !v -> !v, !d, !s, !z, !z
  return %num : !v
}
