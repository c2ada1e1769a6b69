// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Polynomial attention of degree 4 through sketches, not causal: the readout of the state that polysketch-state.mlir pins, for 32 queries
// per thread block:
//
//     o_i = Σ_fg s_f s_g S_fg / Σ_fg s_f s_g z_fg      with s = S(q_i)
//
// S stands in 9 slices [4, 40] of products that are stored once, z as a matrix [8, 8], both in the unit K² of the keys.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
!q = tensor<?x4x?x20xf32>
!k = tensor<?x2x?x20xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!leaf = tensor<4x32xf32>
!node = tensor<4x8xf32>
!index = tensor<4x8xi32>
func.func @state(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %s0: !leaf {attn.name = "s0", attn.parameter}, %s1: !leaf {attn.name = "s1", attn.parameter},
    %s2: !node {attn.name = "s2", attn.parameter}, %s3: !node {attn.name = "s3", attn.parameter},
    %i0: !index {attn.name = "i0", attn.parameter}, %i1: !index {attn.name = "i1", attn.parameter},
    %i2: !index {attn.name = "i2", attn.parameter}, %i3: !index {attn.name = "i3", attn.parameter})
    -> !o attributes {tile.schedule = #schedule} {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %s2, %s3 : !leaf, !leaf, !node, !node)
      indices(%i0, %i1, %i2, %i3 : !index, !index, !index, !index)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>,
       execution = #attn.execution<form = state>, scale = 5.000000e-01 : f64, size = 8 : i64}
      : !q, !k, !v -> !o
  return %o : !o
}

// Pinned in polysketch-state.mlir.
// CHECK-LABEL: tile.kernel @state_pieces(

// CHECK-LABEL: tile.kernel @state_readout(
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[SQ:[^:]*]]: memref<?x4x?x12xf32>
// CHECK-SAME:  %[[UNIT:[^:]*]]: memref<?x4x9xf32>
// CHECK-SAME:  %[[Z:[^:]*]]: memref<?x4x9x8xf32>
// CHECK-SAME:  %[[SQ_COLUMNS:[^:]*]]: memref<?x4x?x8x32xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x9x4x40xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[F2_32x4:.*]] = arith.constant dense<2.000000e+00> : tensor<32x4xf32>
// CHECK-DAG: %[[ZERO_32x8:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M126_32:.*]] = arith.constant dense<1.17549435E-38> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[COUNTS_4:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C32]] : index
// Queries s [32, 8] in the unit of their row: the power of two next to its largest |s_f|.
// CHECK-NEXT: %[[SQ_TILE:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[ABS_SQ:.*]] = math.absf %[[SQ_TILE]] : tensor<32x8xf32>
// CHECK-NEXT: %[[LARGEST_SQ:.*]] = tile.reduce max %[[ABS_SQ]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[AT_LEAST:.*]] = arith.maximumf %[[LARGEST_SQ]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LOG_SQ:.*]] = math.log2 %[[AT_LEAST]] : tensor<32xf32>
// CHECK-NEXT: %[[ROUNDED:.*]] = math.roundeven %[[LOG_SQ]] : tensor<32xf32>
// CHECK-NEXT: %[[ROW_UNIT:.*]] = math.exp2 %[[ROUNDED]] : tensor<32xf32>
// Carried from here: the unit m [32] of roots, den and num relative to m². It begins as K times the row's unit.
// CHECK-NEXT: %[[K_1:.*]] = tile.load %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[C0]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT: %[[K_1_COLS:.*]] = tile.expand %[[K_1]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT: %[[K_32:.*]] = tile.reduce add %[[K_1_COLS]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[UNIT_STATE:.*]] = arith.mulf %[[ROW_UNIT]], %[[K_32]] : tensor<32xf32>
// CHECK-NEXT: %[[EACH:.*]] = arith.divf %[[ONE_32]], %[[ROW_UNIT]] : tensor<32xf32>
// CHECK-NEXT: %[[EACH_COLS:.*]] = tile.expand %[[EACH]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[S_ROWS:.*]] = arith.mulf %[[SQ_TILE]], %[[EACH_COLS]] : tensor<32x8xf32>
// den [32] = Σ_fg s_f s_g z_fg
// CHECK-NEXT: %[[Z_TILE:.*]] = tile.load %[[Z]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[S_Z:.*]] = tile.dot %[[S_ROWS]], %[[Z_TILE]], %[[ZERO_32x8]] : tensor<32x8xf32>, tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[S_TERMS:.*]] = arith.mulf %[[S_Z]], %[[S_ROWS]] : tensor<32x8xf32>
// CHECK-NEXT: %[[DEN_STATE:.*]] = tile.reduce add %[[S_TERMS]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// num [32, 40] = Σ_f Σ_{i < 4} c_i s_f s_(f+i mod 8) S_f[i], c_0 = 1, other products stand for two.
// CHECK-NEXT: %[[COUNTS_4_ROWS:.*]] = tile.expand %[[COUNTS_4]] axis 0 : tensor<4xf32> -> tensor<32x4xf32>
// CHECK-NEXT: %[[NUM_SLICES:.*]] = tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C8]] step 1 carries(
// CHECK-SAME:     %[[NUM_IN:.*]] = %[[ZERO_32x40]]) : (tensor<32x40xf32>) {
// CHECK-NEXT:   %[[WINDOW:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[F]]] : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:   %[[EACH_HALF:.*]] = tile.expand %[[EACH]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:   %[[WINDOW_IN_UNIT:.*]] = arith.mulf %[[WINDOW]], %[[EACH_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:   %[[COLUMN:.*]] = tile.load %[[SQ_COLUMNS]][%[[BATCH]], %[[HEAD]], %[[BLOCK]], %[[F]], %[[C0]]] : {{.*}} -> tensor<32xf32>
// CHECK-NEXT:   %[[COLUMN_IN_UNIT:.*]] = arith.mulf %[[COLUMN]], %[[EACH]] : tensor<32xf32>
// CHECK-NEXT:   %[[COLUMN_IN_UNIT_COLS:.*]] = tile.expand %[[COLUMN_IN_UNIT]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:   %[[PRODUCTS:.*]] = arith.mulf %[[WINDOW_IN_UNIT]], %[[COLUMN_IN_UNIT_COLS]] : tensor<32x4xf32>
// CHECK-NEXT:   %[[COUNTED:.*]] = arith.mulf %[[PRODUCTS]], %[[COUNTS_4_ROWS]] : tensor<32x4xf32>
// CHECK-NEXT:   %[[S_F:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:   %[[NUM_OUT:.*]] = tile.dot %[[COUNTED]], %[[S_F]], %[[NUM_IN]] : tensor<32x4xf32>, tensor<4x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   tile.yield %[[NUM_OUT]] : tensor<32x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[HALF0:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x4xf32>
// The last slice has s_f s_(f+4), each of which stands for two.
// CHECK-NEXT: %[[EACH_HALF:.*]] = tile.expand %[[EACH]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT: %[[HALF0_IN_UNIT:.*]] = arith.mulf %[[HALF0]], %[[EACH_HALF]] : tensor<32x4xf32>
// CHECK-NEXT: %[[HALF1:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C4]]] : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[HALF1_IN_UNIT:.*]] = arith.mulf %[[HALF1]], %[[EACH_HALF]] : tensor<32x4xf32>
// CHECK-NEXT: %[[OPPOSITE:.*]] = arith.mulf %[[HALF0_IN_UNIT]], %[[HALF1_IN_UNIT]] : tensor<32x4xf32>
// CHECK-NEXT: %[[TWICE:.*]] = arith.mulf %[[OPPOSITE]], %[[F2_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[S_LAST:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[C8]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT: %[[NUM_STATE:.*]] = tile.dot %[[TWICE]], %[[S_LAST]], %[[NUM_SLICES]] : tensor<32x4xf32>, tensor<4x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[M_LEAST:.*]] = arith.maximumf %[[UNIT_STATE]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT: %[[M_SAFE:.*]] = arith.maximumf %[[M_LEAST]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT: %[[INVERSE_M:.*]] = arith.divf %[[ONE_32]], %[[M_SAFE]] : tensor<32xf32>
// CHECK-NEXT: %[[RATIO:.*]] = arith.mulf %[[UNIT_STATE]], %[[INVERSE_M]] : tensor<32xf32>
// CHECK-NEXT: %[[RATIO_SQ:.*]] = arith.mulf %[[RATIO]], %[[RATIO]] : tensor<32xf32>
// CHECK-NEXT: %[[DEN_START:.*]] = arith.mulf %[[DEN_STATE]], %[[RATIO_SQ]] : tensor<32xf32>
// CHECK-NEXT: %[[RATIO_SQ_COLS:.*]] = tile.expand %[[RATIO_SQ]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[NUM_START:.*]] = arith.mulf %[[NUM_STATE]], %[[RATIO_SQ_COLS]] : tensor<32x40xf32>
// o = num / den, 0 where den is 0
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN_START]] : tensor<32xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN_START]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[NUM_START]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT: tile.return
