// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Kernel attention with φ = elu + 1, not causal, in two passes, whose state S [24, 40], z [24] is a result. The kernels are those of
// kernel-attention-state.mlir; "merge" writes the outputs, which "readout" reads.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<elu1>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a = tensor<?x4x?x24xf32>
!b = tensor<?x2x?x24xf32>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @final(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}) -> (!o, !s, !z)
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k {feature_map = #map} : !k -> !b
  %s, %z = attn.state %b, %v : !b, !v -> !s, !z
  %num, %den = attn.readout %a, %s, %z : !a, !s, !z -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o, %s, %z : !o, !s, !z
}

// CHECK-LABEL: func.func @final(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  %[[S1:[^:]*]]: memref<?x2x24x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "final_state"
// CHECK-SAME:  %[[Z1:[^:]*]]: memref<?x2x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "final_sum"
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[PIECES:.*]] = arith.ceildivui %[[KEYS]], %[[C2048]] : index
// CHECK-NEXT: %[[S_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x24x40xf32>
// CHECK-NEXT: %[[Z_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x24xf32>
// CHECK-NEXT: tile.launch @final_state grid(%[[BATCHES]], %[[C2]], %[[PIECES]]) (%[[K]], %[[V]], %[[S_PIECES]], %[[Z_PIECES]])
// CHECK-NEXT: tile.launch @final_merge grid(%[[BATCHES]], %[[C2]]) (%[[S1]], %[[Z1]], %[[S_PIECES]], %[[Z_PIECES]])
// CHECK-NEXT: %[[QUERY_BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @final_readout grid(%[[QUERY_BATCHES]], %[[C4]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[O]], %[[S1]], %[[Z1]])
// CHECK-NEXT: return

// As in kernel-attention-state.mlir.
// CHECK-LABEL: tile.kernel @final_state(
