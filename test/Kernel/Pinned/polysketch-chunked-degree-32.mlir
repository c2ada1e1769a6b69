// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal polynomial attention of degree 32 through sketches, block after block, with exact pairs inside blocks of 64 tokens:
//
//     o_i = Σ_{j ≤ i} w_ij v_j / (Σ_{j ≤ i} w_ij + 10⁻⁶)
//     w_ij = ⟨S(scale q_i), S(k_j)⟩²,   and (scale ⟨q_i, k_j⟩)^32 where ⌊i / 64⌋ = ⌊j / 64⌋
//
// As polysketch-chunked.mlir, but |k|^16 leaves the range of f32. So keys are sketched without their length, and lengths count relative to
// M_i, the largest |k_j| so far: "running" makes both for all tokens, one thread block per (batch, query head). And roots of exact logits
// that are small beside |q| |k| would be below the range, so exact pairs are carried in a separate unit and joined at the end.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
!q = tensor<?x4x?x20xf32>
!k = tensor<?x2x?x20xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!leaf = tensor<4x32xf32>
!node = tensor<4x8xf32>
!index = tensor<4x8xi32>
func.func @poly(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %s: !leaf {attn.name = "s", attn.parameter}, %t: !node {attn.name = "t", attn.parameter},
    %i: !index {attn.name = "i", attn.parameter}, %j: !index {attn.name = "j", attn.parameter})
    -> !o attributes {tile.schedule = #schedule} {
  %o = attn.polysketch %q, %k, %v
      signs(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t,
          %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t :
          !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !node, !node, !node,
          !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node,
          !node, !node, !node, !node, !node, !node, !node, !node)
      indices(%i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j,
          %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j :
          !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index,
          !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index,
          !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index)
      {causal, degree = 32 : i64, denominator = #attn.denominator<bias = 1.000000e-06, floor = 0.000000e+00>,
       execution = #attn.execution<form = chunked>, local_exact = 64 : i64, scale = 5.000000e-01 : f64, size = 8 : i64}
      : !q, !k, !v -> !o
  return %o : !o
}

// CHECK-LABEL: tile.kernel @poly_running(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?x4x?xf32>
// CHECK-SAME:  %[[LARGEST:[^:]*]]: memref<?x4x?xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[TWO_TO_M120_1:.*]] = arith.constant dense<7.52316385E-37> : tensor<1xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TOKENS:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// The largest |k| of earlier tiles [1], at least 2^-120.
// CHECK-NEXT: %[[LAST:.*]] = tile.loop #tile.maximum %[[FIRST:.*]] = %[[C0]] to %[[TOKENS]] step 32 carries(
// CHECK-SAME:     %[[SO_FAR:.*]] = %[[TWO_TO_M120_1]]) : (tensor<1xf32>) {
// |k| [32]: the power of two next to it, 0 of null keys
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x20xf32>
// CHECK-NEXT:   %[[K_SUM:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[K_NORM:.*]] = math.sqrt %[[K_SUM]] : tensor<32xf32>
// CHECK-NEXT:   %[[K_NORM_SAFE:.*]] = arith.maximumf %[[K_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[K_LOG:.*]] = math.log2 %[[K_NORM_SAFE]] : tensor<32xf32>
// CHECK-NEXT:   %[[K_ROUNDED:.*]] = math.roundeven %[[K_LOG]] : tensor<32xf32>
// CHECK-NEXT:   %[[K_POWER:.*]] = math.exp2 %[[K_ROUNDED]] : tensor<32xf32>
// CHECK-NEXT:   %[[K_NULL:.*]] = arith.cmpf oeq, %[[K_NORM]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[LENGTH:.*]] = arith.select %[[K_NULL]], %[[K_NORM]], %[[K_POWER]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:   tile.store %[[LENGTH]], %[[LENGTHS]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] : tensor<32xf32>
// M_i = max_{j ≤ i} |k_j|: the maximum of a row of |k_j| below the diagonal
// CHECK-NEXT:   %[[LENGTH_ROWS:.*]] = tile.expand %[[LENGTH]] axis 0 : tensor<32xf32> -> tensor<32x32xf32>
// CHECK-NEXT:   %[[PAIRS_SEEN:.*]] = tile.mask %[[LENGTH_ROWS]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:   %[[UP_TO:.*]] = tile.reduce max %[[PAIRS_SEEN]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[SO_FAR_COLS:.*]] = tile.expand %[[SO_FAR]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:   %[[SO_FAR_32:.*]] = tile.reduce add %[[SO_FAR_COLS]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[M_I:.*]] = arith.maximumf %[[UP_TO]], %[[SO_FAR_32]] : tensor<32xf32>
// CHECK-NEXT:   tile.store %[[M_I]], %[[LARGEST]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] : tensor<32xf32>
// CHECK-NEXT:   %[[LENGTH_ROWS_2:.*]] = tile.expand %[[LENGTH]] axis 0 : tensor<32xf32> -> tensor<1x32xf32>
// CHECK-NEXT:   %[[TILE_LARGEST:.*]] = tile.reduce max %[[LENGTH_ROWS_2]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:   %[[NEXT:.*]] = arith.maximumf %[[SO_FAR]], %[[TILE_LARGEST]] : tensor<1xf32>
// CHECK-NEXT:   tile.yield %[[NEXT]] : tensor<1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @poly_query_sketch(

// CHECK-LABEL: tile.kernel @poly_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[UNIT:[^:]*]]: memref<?x4x9xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x9x4x40xf32>
// CHECK-SAME:  %[[Z:[^:]*]]: memref<?x4x9x8xf32>
// CHECK-SAME:  %[[SQ:[^:]*]]: memref<?x4x?x12xf32>
// CHECK-SAME:  %[[LARGEST:[^:]*]]: memref<?x4x?xf32>
// CHECK-SAME:  %[[SQ_COLUMNS:[^:]*]]: memref<?x4x?x8x32xf32>
// CHECK-SAME:  %[[Q_LENGTHS:[^:]*]]: memref<?x4x?xf32>
// CHECK-SAME:  %[[SK:[^:]*]]: memref<?x4x?x12xf32>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?x4x?xf32>
// CHECK-SAME:  %[[SK_COLUMNS:[^:]*]]: memref<?x4x?x8x32xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[ONE_1:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK-DAG: %[[TWO_TO_M120_1:.*]] = arith.constant dense<7.52316385E-37> : tensor<1xf32>
// CHECK-DAG: %[[TWO_TO_M126_1:.*]] = arith.constant dense<1.17549435E-38> : tensor<1xf32>
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[F2_32x4:.*]] = arith.constant dense<2.000000e+00> : tensor<32x4xf32>
// CHECK-DAG: %[[ZERO_32x8:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[BIAS_32:.*]] = arith.constant #tile.exact<9.9999999999999995E-7> : tensor<32xf32>
// CHECK-DAG: %[[F32_32:.*]] = arith.constant dense<3.200000e+01> : tensor<32xf32>
// CHECK-DAG: %[[F2_32:.*]] = arith.constant dense<2.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[MF32_32:.*]] = arith.constant dense<-3.200000e+01> : tensor<32xf32>
// CHECK-DAG: %[[NO_UNIT_32:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M126_32:.*]] = arith.constant dense<1.17549435E-38> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_120_32:.*]] = arith.constant dense<1.329228E+36> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_4x40:.*]] = arith.constant dense<0.000000e+00> : tensor<4x40xf32>
// CHECK-DAG: %[[COUNTS_4:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK-DAG: %[[ZERO_8:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// Query heads 2h and 2h + 1 read key-value head h.
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// An empty state: K is the least normal number.
// CHECK-NEXT: tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C9]] step 1 {
// CHECK-NEXT:   tile.store %[[TWO_TO_M126_1]], %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[F]]] : tensor<1xf32>
// CHECK-NEXT:   tile.store %[[ZERO_4x40]], %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : tensor<4x40xf32>
// CHECK-NEXT:   tile.store %[[ZERO_8]], %[[Z]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]]] : tensor<8xf32>
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// The blocks of 64 tokens.
// CHECK-NEXT: tile.loop #tile.sum %[[START:.*]] = %[[C0]] to %[[QUERIES]] step 64 {
// CHECK-NEXT:   %[[END_ALL:.*]] = arith.addi %[[START]], %[[C64]] : index
// CHECK-NEXT:   %[[END:.*]] = arith.minsi %[[END_ALL]], %[[QUERIES]] : index
// The state counts in M of the last query before the block: its unit becomes K (M_before / M_i)^16.
// CHECK-NEXT:   %[[BEFORE_ALL:.*]] = arith.subi %[[START]], %[[C1]] : index
// CHECK-NEXT:   %[[BEFORE:.*]] = arith.maxsi %[[BEFORE_ALL]], %[[C0]] : index
// CHECK-NEXT:   %[[M_BEFORE:.*]] = tile.load %[[LARGEST]][%[[BATCH]], %[[HEAD]], %[[BEFORE]]] : {{.*}} -> tensor<1xf32>
// The query tiles of the block.
// CHECK-NEXT:   tile.loop #tile.sum %[[FIRST:.*]] = %[[START]] to %[[END]] step 32 {
// Queries s [32, 8] in the unit of their row: the power of two next to its largest |s_f|.
// CHECK-NEXT:     %[[SQ_TILE:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT:     %[[ABS_SQ:.*]] = math.absf %[[SQ_TILE]] : tensor<32x8xf32>
// CHECK-NEXT:     %[[LARGEST_SQ:.*]] = tile.reduce max %[[ABS_SQ]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[AT_LEAST:.*]] = arith.maximumf %[[LARGEST_SQ]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[LOG_SQ:.*]] = math.log2 %[[AT_LEAST]] : tensor<32xf32>
// CHECK-NEXT:     %[[ROUNDED:.*]] = math.roundeven %[[LOG_SQ]] : tensor<32xf32>
// CHECK-NEXT:     %[[ROW_UNIT:.*]] = math.exp2 %[[ROUNDED]] : tensor<32xf32>
// Carried from here: the unit m [32] of roots, den and num relative to m². It begins as K times the row's unit.
// CHECK-NEXT:     %[[K_1:.*]] = tile.load %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[C0]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:     %[[K_1_COLS:.*]] = tile.expand %[[K_1]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:     %[[K_32:.*]] = tile.reduce add %[[K_1_COLS]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[UNIT_STATE:.*]] = arith.mulf %[[ROW_UNIT]], %[[K_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_I:.*]] = tile.load %[[LARGEST]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] : {{.*}} -> tensor<32xf32>
// CHECK-NEXT:     %[[M_I_SAFE:.*]] = arith.maximumf %[[M_I]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_I_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[M_I_SAFE]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_BEFORE_COLS:.*]] = tile.expand %[[M_BEFORE]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:     %[[M_THEN:.*]] = tile.reduce add %[[M_BEFORE_COLS]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[M_RATIO:.*]] = arith.mulf %[[M_THEN]], %[[M_I_INVERSE]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_RATIO_2:.*]] = arith.mulf %[[M_RATIO]], %[[M_RATIO]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_RATIO_4:.*]] = arith.mulf %[[M_RATIO_2]], %[[M_RATIO_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_RATIO_8:.*]] = arith.mulf %[[M_RATIO_4]], %[[M_RATIO_4]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_RATIO_16:.*]] = arith.mulf %[[M_RATIO_8]], %[[M_RATIO_8]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_SAME:.*]] = arith.cmpf oeq, %[[M_THEN]], %[[M_I]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_FACTOR:.*]] = arith.select %[[M_SAME]], %[[ONE_32]], %[[M_RATIO_16]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[UNIT_I:.*]] = arith.mulf %[[UNIT_STATE]], %[[M_FACTOR]] : tensor<32xf32>
// CHECK-NEXT:     %[[EACH:.*]] = arith.divf %[[ONE_32]], %[[ROW_UNIT]] : tensor<32xf32>
// CHECK-NEXT:     %[[EACH_COLS:.*]] = tile.expand %[[EACH]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT:     %[[S_ROWS:.*]] = arith.mulf %[[SQ_TILE]], %[[EACH_COLS]] : tensor<32x8xf32>
// den [32] = Σ_fg s_f s_g z_fg
// CHECK-NEXT:     %[[Z_TILE:.*]] = tile.load %[[Z]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:     %[[S_Z:.*]] = tile.dot %[[S_ROWS]], %[[Z_TILE]], %[[ZERO_32x8]] : tensor<32x8xf32>, tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:     %[[S_TERMS:.*]] = arith.mulf %[[S_Z]], %[[S_ROWS]] : tensor<32x8xf32>
// CHECK-NEXT:     %[[DEN_STATE:.*]] = tile.reduce add %[[S_TERMS]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[TILE_NUMBER:.*]] = arith.divui %[[FIRST]], %[[C32]] : index
// num [32, 40] = Σ_f Σ_{i < 4} c_i s_f s_(f+i mod 8) S_f[i], c_0 = 1, other products stand for two.
// CHECK-NEXT:     %[[COUNTS_4_ROWS:.*]] = tile.expand %[[COUNTS_4]] axis 0 : tensor<4xf32> -> tensor<32x4xf32>
// CHECK-NEXT:     %[[NUM_SLICES:.*]] = tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C8]] step 1 carries(
// CHECK-SAME:         %[[NUM_IN:.*]] = %[[ZERO_32x40]]) : (tensor<32x40xf32>) {
// CHECK-NEXT:       %[[WINDOW:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[F]]] : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:       %[[EACH_HALF:.*]] = tile.expand %[[EACH]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:       %[[WINDOW_IN_UNIT:.*]] = arith.mulf %[[WINDOW]], %[[EACH_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[COLUMN:.*]] = tile.load %[[SQ_COLUMNS]][%[[BATCH]], %[[HEAD]], %[[TILE_NUMBER]], %[[F]], %[[C0]]] : {{.*}} -> tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT:.*]] = arith.mulf %[[COLUMN]], %[[EACH]] : tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT_COLS:.*]] = tile.expand %[[COLUMN_IN_UNIT]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:       %[[PRODUCTS:.*]] = arith.mulf %[[WINDOW_IN_UNIT]], %[[COLUMN_IN_UNIT_COLS]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[COUNTED:.*]] = arith.mulf %[[PRODUCTS]], %[[COUNTS_4_ROWS]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[S_F:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:       %[[NUM_OUT:.*]] = tile.dot %[[COUNTED]], %[[S_F]], %[[NUM_IN]] : tensor<32x4xf32>, tensor<4x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:       tile.yield %[[NUM_OUT]] : tensor<32x40xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[HALF0:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x4xf32>
// The last slice has s_f s_(f+4), each of which stands for two.
// CHECK-NEXT:     %[[EACH_HALF:.*]] = tile.expand %[[EACH]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF0_IN_UNIT:.*]] = arith.mulf %[[HALF0]], %[[EACH_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C4]]] : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1_IN_UNIT:.*]] = arith.mulf %[[HALF1]], %[[EACH_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[OPPOSITE:.*]] = arith.mulf %[[HALF0_IN_UNIT]], %[[HALF1_IN_UNIT]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[TWICE:.*]] = arith.mulf %[[OPPOSITE]], %[[F2_32x4]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[S_LAST:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[C8]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:     %[[NUM_STATE:.*]] = tile.dot %[[TWICE]], %[[S_LAST]], %[[NUM_SLICES]] : tensor<32x4xf32>, tensor<4x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[M_LEAST:.*]] = arith.maximumf %[[UNIT_I]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_SAFE:.*]] = arith.maximumf %[[M_LEAST]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[INVERSE_M:.*]] = arith.divf %[[ONE_32]], %[[M_SAFE]] : tensor<32xf32>
// CHECK-NEXT:     %[[RATIO:.*]] = arith.mulf %[[UNIT_I]], %[[INVERSE_M]] : tensor<32xf32>
// CHECK-NEXT:     %[[RATIO_SQ:.*]] = arith.mulf %[[RATIO]], %[[RATIO]] : tensor<32xf32>
// CHECK-NEXT:     %[[DEN_START:.*]] = arith.mulf %[[DEN_STATE]], %[[RATIO_SQ]] : tensor<32xf32>
// CHECK-NEXT:     %[[RATIO_SQ_COLS:.*]] = tile.expand %[[RATIO_SQ]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[NUM_START:.*]] = arith.mulf %[[NUM_STATE]], %[[RATIO_SQ_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// q / |q| / M_i [32, 20], |q| being the power of two next to it
// CHECK-NEXT:     %[[TILE_END_ALL:.*]] = arith.addi %[[FIRST]], %[[C1]] : index
// CHECK-NEXT:     %[[TILE_END:.*]] = arith.minsi %[[TILE_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT:     %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT:     %[[Q_SQUARES:.*]] = arith.mulf %[[Q_TILE]], %[[Q_TILE]] : tensor<32x20xf32>
// CHECK-NEXT:     %[[Q_SUM:.*]] = tile.reduce add %[[Q_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[Q_NORM:.*]] = math.sqrt %[[Q_SUM]] : tensor<32xf32>
// CHECK-NEXT:     %[[Q_NORM_SAFE:.*]] = arith.maximumf %[[Q_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[Q_LOG:.*]] = math.log2 %[[Q_NORM_SAFE]] : tensor<32xf32>
// CHECK-NEXT:     %[[Q_ROUNDED:.*]] = math.roundeven %[[Q_LOG]] : tensor<32xf32>
// CHECK-NEXT:     %[[Q_POWER:.*]] = math.exp2 %[[Q_ROUNDED]] : tensor<32xf32>
// CHECK-NEXT:     %[[Q_NULL:.*]] = arith.cmpf oeq, %[[Q_NORM]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[Q_LENGTH:.*]] = arith.select %[[Q_NULL]], %[[Q_NORM]], %[[Q_POWER]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[Q_LENGTH_SAFE:.*]] = arith.maximumf %[[Q_LENGTH]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[Q_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[Q_LENGTH_SAFE]] : tensor<32xf32>
// CHECK-NEXT:     %[[Q_INVERSE_COLS:.*]] = tile.expand %[[Q_INVERSE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT:     %[[Q_DIRECTION:.*]] = arith.mulf %[[Q_TILE]], %[[Q_INVERSE_COLS]] : tensor<32x20xf32>
// CHECK-NEXT:     %[[M_I_SAFE_COLS:.*]] = tile.expand %[[M_I_SAFE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT:     %[[Q_UNIT:.*]] = arith.divf %[[Q_DIRECTION]], %[[M_I_SAFE_COLS]] : tensor<32x20xf32>
// Exact pairs have a separate carry: the unit u [32] of logits, den and num relative to u^32.
// CHECK-NEXT:     %[[EXACT:.*]]:3 = tile.loop #tile.rescaled_sum<power 32, row> %[[FIRST_KEY:.*]] = %[[START]] to %[[TILE_END]] step 32 carries(
// CHECK-SAME:         %[[U:.*]] = %[[TWO_TO_M126_32]], %[[DEN:.*]] = %[[ZERO_32]], %[[NUM:.*]] = %[[ZERO_32x40]]) :
// CHECK-SAME:         (tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>) {
// CHECK-NEXT:       %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT:       %[[LOGITS:.*]] = tile.dot %[[Q_UNIT]], %[[K_TILE]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:       %[[DIAGONAL:.*]] = arith.subi %[[FIRST]], %[[FIRST_KEY]] : index
// CHECK-NEXT:       %[[T:.*]] = tile.mask %[[LOGITS]] fill 0.000000e+00 diagonal(%[[DIAGONAL]]) : tensor<32x32xf32>
// CHECK-NEXT:       %[[ABS_T:.*]] = math.absf %[[T]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[ROW_MAX:.*]] = tile.reduce max %[[ABS_T]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:       %[[U_NEXT:.*]] = arith.maximumf %[[U]], %[[ROW_MAX]] : tensor<32xf32>
// CHECK-NEXT:       %[[U_NEXT_SAFE:.*]] = arith.maximumf %[[U_NEXT]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:       %[[U_NEXT_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[U_NEXT_SAFE]] : tensor<32xf32>
// CHECK-NEXT:       %[[GROWTH:.*]] = arith.mulf %[[U]], %[[U_NEXT_INVERSE]] : tensor<32xf32>
// CHECK-NEXT:       %[[GROWTH_2:.*]] = arith.mulf %[[GROWTH]], %[[GROWTH]] : tensor<32xf32>
// CHECK-NEXT:       %[[GROWTH_4:.*]] = arith.mulf %[[GROWTH_2]], %[[GROWTH_2]] : tensor<32xf32>
// CHECK-NEXT:       %[[GROWTH_8:.*]] = arith.mulf %[[GROWTH_4]], %[[GROWTH_4]] : tensor<32xf32>
// CHECK-NEXT:       %[[GROWTH_16:.*]] = arith.mulf %[[GROWTH_8]], %[[GROWTH_8]] : tensor<32xf32>
// CHECK-NEXT:       %[[GROWTH_32:.*]] = arith.mulf %[[GROWTH_16]], %[[GROWTH_16]] : tensor<32xf32>
// CHECK-NEXT:       %[[SAME:.*]] = arith.cmpf oeq, %[[U]], %[[U_NEXT]] : tensor<32xf32>
// CHECK-NEXT:       %[[KEPT:.*]] = arith.select %[[SAME]], %[[ONE_32]], %[[GROWTH_32]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:       %[[DEN_KEPT:.*]] = arith.mulf %[[DEN]], %[[KEPT]] : tensor<32xf32>
// CHECK-NEXT:       %[[KEPT_COLS:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:       %[[NUM_KEPT:.*]] = arith.mulf %[[NUM]], %[[KEPT_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:       %[[U_NEXT_INVERSE_COLS:.*]] = tile.expand %[[U_NEXT_INVERSE]] axis 1 : tensor<32xf32> -> tensor<32x32xf32>
// CHECK-NEXT:       %[[T_IN_UNIT:.*]] = arith.mulf %[[T]], %[[U_NEXT_INVERSE_COLS]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[T_2:.*]] = arith.mulf %[[T_IN_UNIT]], %[[T_IN_UNIT]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[T_4:.*]] = arith.mulf %[[T_2]], %[[T_2]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[T_8:.*]] = arith.mulf %[[T_4]], %[[T_4]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[T_16:.*]] = arith.mulf %[[T_8]], %[[T_8]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[W:.*]] = arith.mulf %[[T_16]], %[[T_16]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:       %[[DEN_NEXT:.*]] = arith.addf %[[DEN_KEPT]], %[[ROW_SUM]] : tensor<32xf32>
// CHECK-NEXT:       %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:       %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM_KEPT]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:       tile.yield %[[U_NEXT]], %[[DEN_NEXT]], %[[NUM_NEXT]] : tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>
// CHECK-NEXT:     }
// Both carries in one unit 2^top: u^32 = 2^(32 e) f^32, of which f^32 = 2^e' f' again, so that no exponent is far from that of its power. m² likewise;
// 0 sums have no unit.
// CHECK-NEXT:     %[[M_LOG:.*]] = math.log2 %[[M_LEAST]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_E:.*]] = math.roundeven %[[M_LOG]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_NEG:.*]] = arith.negf %[[M_E]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_SHRINK:.*]] = math.exp2 %[[M_NEG]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_F:.*]] = arith.mulf %[[M_LEAST]], %[[M_SHRINK]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_F_2:.*]] = arith.mulf %[[M_F]], %[[M_F]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_POWER_LOG:.*]] = math.log2 %[[M_F_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_POWER_E:.*]] = math.roundeven %[[M_POWER_LOG]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_POWER_NEG:.*]] = arith.negf %[[M_POWER_E]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_POWER_SHRINK:.*]] = math.exp2 %[[M_POWER_NEG]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_POWER_REST:.*]] = arith.mulf %[[M_F_2]], %[[M_POWER_SHRINK]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_E_TIMES:.*]] = arith.mulf %[[M_E]], %[[F2_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_E_ALL:.*]] = arith.addf %[[M_E_TIMES]], %[[M_POWER_E]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_LOG:.*]] = math.log2 %[[EXACT]]#0 : tensor<32xf32>
// CHECK-NEXT:     %[[U_E:.*]] = math.roundeven %[[U_LOG]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_NEG:.*]] = arith.negf %[[U_E]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_SHRINK:.*]] = math.exp2 %[[U_NEG]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_F:.*]] = arith.mulf %[[EXACT]]#0, %[[U_SHRINK]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_F_2:.*]] = arith.mulf %[[U_F]], %[[U_F]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_F_4:.*]] = arith.mulf %[[U_F_2]], %[[U_F_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_F_8:.*]] = arith.mulf %[[U_F_4]], %[[U_F_4]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_F_16:.*]] = arith.mulf %[[U_F_8]], %[[U_F_8]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_F_32:.*]] = arith.mulf %[[U_F_16]], %[[U_F_16]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_POWER_LOG:.*]] = math.log2 %[[U_F_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_POWER_E:.*]] = math.roundeven %[[U_POWER_LOG]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_POWER_NEG:.*]] = arith.negf %[[U_POWER_E]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_POWER_SHRINK:.*]] = math.exp2 %[[U_POWER_NEG]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_POWER_REST:.*]] = arith.mulf %[[U_F_32]], %[[U_POWER_SHRINK]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_E_TIMES:.*]] = arith.mulf %[[U_E]], %[[F32_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[U_E_ALL:.*]] = arith.addf %[[U_E_TIMES]], %[[U_POWER_E]] : tensor<32xf32>
// CHECK-NEXT:     %[[STATE_NULL:.*]] = arith.cmpf oeq, %[[DEN_START]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[STATE_E:.*]] = arith.select %[[STATE_NULL]], %[[NO_UNIT_32]], %[[M_E_ALL]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[EXACT_NULL:.*]] = arith.cmpf oeq, %[[EXACT]]#1, %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[EXACT_E:.*]] = arith.select %[[EXACT_NULL]], %[[NO_UNIT_32]], %[[U_E_ALL]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[TOP_SUMS:.*]] = arith.maximumf %[[STATE_E]], %[[EXACT_E]] : tensor<32xf32>
// |scale q| M_i, of which the guard has the power −32
// CHECK-NEXT:     %[[Q_LENGTH_SCALED:.*]] = tile.load %[[Q_LENGTHS]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] : {{.*}} -> tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_LENGTH_ALL:.*]] = arith.mulf %[[Q_LENGTH_SCALED]], %[[M_I]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_LENGTH:.*]] = arith.minimumf %[[GUARD_LENGTH_ALL]], %[[TWO_TO_120_32]] : tensor<32xf32>
// The guard's unit, which is positive as well: 2^(−32 e) f^−32, taken apart as u^32 is
// CHECK-NEXT:     %[[GUARD_SAFE:.*]] = arith.maximumf %[[GUARD_LENGTH]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_LOG:.*]] = math.log2 %[[GUARD_SAFE]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_E_1:.*]] = math.roundeven %[[GUARD_LOG]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_NEG:.*]] = arith.negf %[[GUARD_E_1]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_SHRINK:.*]] = math.exp2 %[[GUARD_NEG]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_F:.*]] = arith.mulf %[[GUARD_SAFE]], %[[GUARD_SHRINK]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[GUARD_F]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_2:.*]] = arith.mulf %[[GUARD_INVERSE]], %[[GUARD_INVERSE]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_4:.*]] = arith.mulf %[[GUARD_2]], %[[GUARD_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_8:.*]] = arith.mulf %[[GUARD_4]], %[[GUARD_4]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_16:.*]] = arith.mulf %[[GUARD_8]], %[[GUARD_8]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_32:.*]] = arith.mulf %[[GUARD_16]], %[[GUARD_16]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_POWER_LOG:.*]] = math.log2 %[[GUARD_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_POWER_E:.*]] = math.roundeven %[[GUARD_POWER_LOG]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_POWER_NEG:.*]] = arith.negf %[[GUARD_POWER_E]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_POWER_SHRINK:.*]] = math.exp2 %[[GUARD_POWER_NEG]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_POWER_REST:.*]] = arith.mulf %[[GUARD_32]], %[[GUARD_POWER_SHRINK]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_E_TIMES:.*]] = arith.mulf %[[GUARD_E_1]], %[[MF32_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_E_ALL:.*]] = arith.addf %[[GUARD_E_TIMES]], %[[GUARD_POWER_E]] : tensor<32xf32>
// CHECK-NEXT:     %[[TOP:.*]] = arith.maximumf %[[TOP_SUMS]], %[[GUARD_E_ALL]] : tensor<32xf32>
// CHECK-NEXT:     %[[STATE_BELOW:.*]] = arith.subf %[[STATE_E]], %[[TOP]] : tensor<32xf32>
// CHECK-NEXT:     %[[STATE_TOP_POWER:.*]] = math.exp2 %[[STATE_BELOW]] : tensor<32xf32>
// CHECK-NEXT:     %[[STATE_FACTOR:.*]] = arith.mulf %[[STATE_TOP_POWER]], %[[M_POWER_REST]] : tensor<32xf32>
// CHECK-NEXT:     %[[DEN_STATE_TOP:.*]] = arith.mulf %[[DEN_START]], %[[STATE_FACTOR]] : tensor<32xf32>
// CHECK-NEXT:     %[[STATE_FACTOR_COLS:.*]] = tile.expand %[[STATE_FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[NUM_STATE_TOP:.*]] = arith.mulf %[[NUM_START]], %[[STATE_FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     %[[EXACT_BELOW:.*]] = arith.subf %[[EXACT_E]], %[[TOP]] : tensor<32xf32>
// CHECK-NEXT:     %[[EXACT_TOP_POWER:.*]] = math.exp2 %[[EXACT_BELOW]] : tensor<32xf32>
// CHECK-NEXT:     %[[EXACT_FACTOR:.*]] = arith.mulf %[[EXACT_TOP_POWER]], %[[U_POWER_REST]] : tensor<32xf32>
// CHECK-NEXT:     %[[DEN_EXACT_TOP:.*]] = arith.mulf %[[EXACT]]#1, %[[EXACT_FACTOR]] : tensor<32xf32>
// CHECK-NEXT:     %[[EXACT_FACTOR_COLS:.*]] = tile.expand %[[EXACT_FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[NUM_EXACT_TOP:.*]] = arith.mulf %[[EXACT]]#2, %[[EXACT_FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     %[[DEN_SUM:.*]] = arith.addf %[[DEN_STATE_TOP]], %[[DEN_EXACT_TOP]] : tensor<32xf32>
// CHECK-NEXT:     %[[NUM_SUM:.*]] = arith.addf %[[NUM_STATE_TOP]], %[[NUM_EXACT_TOP]] : tensor<32x40xf32>
// CHECK-NEXT:     %[[GUARD_BELOW:.*]] = arith.subf %[[GUARD_E_ALL]], %[[TOP]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_TOP_POWER:.*]] = math.exp2 %[[GUARD_BELOW]] : tensor<32xf32>
// CHECK-NEXT:     %[[GUARD_FACTOR:.*]] = arith.mulf %[[GUARD_TOP_POWER]], %[[GUARD_POWER_REST]] : tensor<32xf32>
// CHECK-NEXT:     %[[BIAS_TOP:.*]] = arith.mulf %[[GUARD_FACTOR]], %[[BIAS_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[DEN_BIASED:.*]] = arith.addf %[[DEN_SUM]], %[[BIAS_TOP]] : tensor<32xf32>
// CHECK-NEXT:     %[[FLOOR_TOP:.*]] = arith.mulf %[[GUARD_FACTOR]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[DEN_GUARDED:.*]] = arith.maximumf %[[DEN_BIASED]], %[[FLOOR_TOP]] : tensor<32xf32>
// o = num / den
// CHECK-NEXT:     %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN_GUARDED]] : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN_GUARDED]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT:.*]] = arith.mulf %[[NUM_SUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[LAST_ALL:.*]] = arith.subi %[[END]], %[[C1]] : index
// CHECK-NEXT:   %[[LAST:.*]] = arith.maxsi %[[LAST_ALL]], %[[C0]] : index
// CHECK-NEXT:   %[[M_LAST:.*]] = tile.load %[[LARGEST]][%[[BATCH]], %[[HEAD]], %[[LAST]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:   %[[M_LAST_SAFE:.*]] = arith.maximumf %[[M_LAST]], %[[TWO_TO_M120_1]] : tensor<1xf32>
// CHECK-NEXT:   %[[M_LAST_INVERSE:.*]] = arith.divf %[[ONE_1]], %[[M_LAST_SAFE]] : tensor<1xf32>
// CHECK-NEXT:   %[[M_BEFORE:.*]] = tile.load %[[LARGEST]][%[[BATCH]], %[[HEAD]], %[[BEFORE]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:   %[[M_RATIO:.*]] = arith.mulf %[[M_BEFORE]], %[[M_LAST_INVERSE]] : tensor<1xf32>
// CHECK-NEXT:   %[[M_RATIO_2:.*]] = arith.mulf %[[M_RATIO]], %[[M_RATIO]] : tensor<1xf32>
// CHECK-NEXT:   %[[M_RATIO_4:.*]] = arith.mulf %[[M_RATIO_2]], %[[M_RATIO_2]] : tensor<1xf32>
// CHECK-NEXT:   %[[M_RATIO_8:.*]] = arith.mulf %[[M_RATIO_4]], %[[M_RATIO_4]] : tensor<1xf32>
// CHECK-NEXT:   %[[M_RATIO_16:.*]] = arith.mulf %[[M_RATIO_8]], %[[M_RATIO_8]] : tensor<1xf32>
// CHECK-NEXT:   %[[M_SAME:.*]] = arith.cmpf oeq, %[[M_BEFORE]], %[[M_LAST]] : tensor<1xf32>
// CHECK-NEXT:   %[[M_FACTOR:.*]] = arith.select %[[M_SAME]], %[[ONE_1]], %[[M_RATIO_16]] : tensor<1xi1>, tensor<1xf32>
// The block's keys enter the state, whose unit shrinks to K (M_before / M_last)^16 first.
// CHECK-NEXT:   tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C9]] step 1 {
// CHECK-NEXT:     %[[K_OLD:.*]] = tile.load %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[F]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:     %[[K_SHRUNK:.*]] = arith.mulf %[[K_OLD]], %[[M_FACTOR]] : tensor<1xf32>
// CHECK-NEXT:     tile.store %[[K_SHRUNK]], %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[F]]] : tensor<1xf32>
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[KEYS_NOW:.*]] = memref.dim %[[K]], %[[C2]] : memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-NEXT:   %[[KEYS_END:.*]] = arith.minsi %[[END_ALL]], %[[KEYS_NOW]] : index
// CHECK-NEXT:   %[[M_LAST_AGAIN:.*]] = tile.load %[[LARGEST]][%[[BATCH]], %[[HEAD]], %[[LAST]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:   %[[M_SAFE:.*]] = arith.maximumf %[[M_LAST_AGAIN]], %[[TWO_TO_M120_1]] : tensor<1xf32>
// CHECK-NEXT:   %[[M_INVERSE:.*]] = arith.divf %[[ONE_1]], %[[M_SAFE]] : tensor<1xf32>
// CHECK-NEXT:   tile.loop #tile.sum %[[FIRST:.*]] = %[[START]] to %[[KEYS_END]] step 32 {
// CHECK-NEXT:     %[[SK_DIRECTION:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x8xf32>
// Lengths of keys: (|k| / M_last)^16 [32]
// CHECK-NEXT:     %[[LENGTHS_K:.*]] = tile.load %[[LENGTHS]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32xf32>
// CHECK-NEXT:     %[[M_INVERSE_COLS:.*]] = tile.expand %[[M_INVERSE]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:     %[[M_INVERSES:.*]] = tile.reduce add %[[M_INVERSE_COLS]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[SIZE_1:.*]] = arith.mulf %[[LENGTHS_K]], %[[M_INVERSES]] : tensor<32xf32>
// CHECK-NEXT:     %[[SIZE_2:.*]] = arith.mulf %[[SIZE_1]], %[[SIZE_1]] : tensor<32xf32>
// CHECK-NEXT:     %[[SIZE_4:.*]] = arith.mulf %[[SIZE_2]], %[[SIZE_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[SIZE_8:.*]] = arith.mulf %[[SIZE_4]], %[[SIZE_4]] : tensor<32xf32>
// CHECK-NEXT:     %[[SIZE:.*]] = arith.mulf %[[SIZE_8]], %[[SIZE_8]] : tensor<32xf32>
// CHECK-NEXT:     %[[SIZE_COLS:.*]] = tile.expand %[[SIZE]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT:     %[[SK_TILE:.*]] = arith.mulf %[[SK_DIRECTION]], %[[SIZE_COLS]] : tensor<32x8xf32>
// K' = max(K, max |s_f|), stored for all slices; the state is kept times (K / K')².
// CHECK-NEXT:     %[[ABS_SK:.*]] = math.absf %[[SK_TILE]] : tensor<32x8xf32>
// CHECK-NEXT:     %[[LARGEST_ROW:.*]] = tile.reduce max %[[ABS_SK]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[LARGEST_ROW_ROWS:.*]] = tile.expand %[[LARGEST_ROW]] axis 0 : tensor<32xf32> -> tensor<1x32xf32>
// CHECK-NEXT:     %[[LARGEST_SK:.*]] = tile.reduce max %[[LARGEST_ROW_ROWS]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:     %[[K_BEFORE:.*]] = tile.load %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[C0]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:     %[[K_MAX:.*]] = arith.maximumf %[[K_BEFORE]], %[[LARGEST_SK]] : tensor<1xf32>
// CHECK-NEXT:     %[[K_NEXT:.*]] = arith.maximumf %[[K_MAX]], %[[TWO_TO_M126_1]] : tensor<1xf32>
// CHECK-NEXT:     %[[K_NEXT_COLS:.*]] = tile.expand %[[K_NEXT]] axis 1 : tensor<1xf32> -> tensor<1x9xf32>
// CHECK-NEXT:     %[[K_ALL:.*]] = tile.reduce add %[[K_NEXT_COLS]] axis 0 : tensor<1x9xf32> -> tensor<9xf32>
// CHECK-NEXT:     tile.store %[[K_ALL]], %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[C0]]] : tensor<9xf32>
// CHECK-NEXT:     %[[K_INVERSE:.*]] = arith.divf %[[ONE_1]], %[[K_NEXT]] : tensor<1xf32>
// CHECK-NEXT:     %[[RATIO_SQ:.*]] = arith.mulf %[[K_BEFORE]], %[[K_INVERSE]] : tensor<1xf32>
// CHECK-NEXT:     %[[K_SHRUNK:.*]] = arith.mulf %[[RATIO_SQ]], %[[RATIO_SQ]] : tensor<1xf32>
// CHECK-NEXT:     %[[SAME:.*]] = arith.cmpf oeq, %[[K_BEFORE]], %[[K_NEXT]] : tensor<1xf32>
// CHECK-NEXT:     %[[KEPT:.*]] = arith.select %[[SAME]], %[[ONE_1]], %[[K_SHRUNK]] : tensor<1xi1>, tensor<1xf32>
// z [8, 8] += sᵀ s, s relative to K'
// CHECK-NEXT:     %[[K_INVERSE_COLS:.*]] = tile.expand %[[K_INVERSE]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:     %[[INVERSES:.*]] = tile.reduce add %[[K_INVERSE_COLS]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[INVERSES_COLS:.*]] = tile.expand %[[INVERSES]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT:     %[[S_IN_UNIT:.*]] = arith.mulf %[[SK_TILE]], %[[INVERSES_COLS]] : tensor<32x8xf32>
// CHECK-NEXT:     %[[Z_BEFORE:.*]] = tile.load %[[Z]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:     %[[KEPT_COLS:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<1xf32> -> tensor<1x8xf32>
// CHECK-NEXT:     %[[KEPT_ROWS:.*]] = tile.reduce add %[[KEPT_COLS]] axis 0 : tensor<1x8xf32> -> tensor<8xf32>
// CHECK-NEXT:     %[[KEPT_ROWS_COLS:.*]] = tile.expand %[[KEPT_ROWS]] axis 1 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT:     %[[Z_KEPT:.*]] = arith.mulf %[[Z_BEFORE]], %[[KEPT_ROWS_COLS]] : tensor<8x8xf32>
// CHECK-NEXT:     %[[Z_NEXT:.*]] = tile.dot %[[S_IN_UNIT]], %[[S_IN_UNIT]], %[[Z_KEPT]] {transpose_a} : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:     tile.store %[[Z_NEXT]], %[[Z]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : tensor<8x8xf32>
// The last slice: s_f s_(f+4).
// CHECK-NEXT:     %[[HALF0:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:     %[[SIZE_HALF:.*]] = tile.expand %[[SIZE]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF0_SIZED:.*]] = arith.mulf %[[HALF0]], %[[SIZE_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[INVERSES_HALF:.*]] = tile.expand %[[INVERSES]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF0_IN_UNIT:.*]] = arith.mulf %[[HALF0_SIZED]], %[[INVERSES_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C4]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1_SIZED:.*]] = arith.mulf %[[HALF1]], %[[SIZE_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1_IN_UNIT:.*]] = arith.mulf %[[HALF1_SIZED]], %[[INVERSES_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[OPPOSITE:.*]] = arith.mulf %[[HALF0_IN_UNIT]], %[[HALF1_IN_UNIT]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:     %[[S_BEFORE:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[C8]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:     %[[KEPT_COLS_2:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<1xf32> -> tensor<1x4xf32>
// CHECK-NEXT:     %[[KEPT_HALF:.*]] = tile.reduce add %[[KEPT_COLS_2]] axis 0 : tensor<1x4xf32> -> tensor<4xf32>
// CHECK-NEXT:     %[[KEPT_HALF_COLS:.*]] = tile.expand %[[KEPT_HALF]] axis 1 : tensor<4xf32> -> tensor<4x40xf32>
// CHECK-NEXT:     %[[S_KEPT:.*]] = arith.mulf %[[S_BEFORE]], %[[KEPT_HALF_COLS]] : tensor<4x40xf32>
// CHECK-NEXT:     %[[S_NEXT:.*]] = tile.dot %[[OPPOSITE]], %[[V_TILE]], %[[S_KEPT]] {transpose_a} : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:     tile.store %[[S_NEXT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[C8]], %[[C0]], %[[C0]]] : tensor<4x40xf32>
// CHECK-NEXT:     %[[TILE_NUMBER:.*]] = arith.divui %[[FIRST]], %[[C32]] : index
// S_f [4, 40] += (s_f s_(f+i mod 8))ᵀ v
// CHECK-NEXT:     tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C8]] step 1 {
// CHECK-NEXT:       %[[WINDOW:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[F]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:       %[[WINDOW_SIZED:.*]] = arith.mulf %[[WINDOW]], %[[SIZE_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[WINDOW_IN_UNIT:.*]] = arith.mulf %[[WINDOW_SIZED]], %[[INVERSES_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[ROWS_LEFT:.*]] = arith.subi %[[KEYS_END]], %[[FIRST]] : index
// CHECK-NEXT:       %[[COLUMN:.*]] = tile.load %[[SK_COLUMNS]][%[[BATCH]], %[[HEAD]], %[[TILE_NUMBER]], %[[F]], %[[C0]]] rows(%[[ROWS_LEFT]]) : {{.*}} -> tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_SIZED:.*]] = arith.mulf %[[COLUMN]], %[[SIZE]] : tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT:.*]] = arith.mulf %[[COLUMN_SIZED]], %[[INVERSES]] : tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT_COLS:.*]] = tile.expand %[[COLUMN_IN_UNIT]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:       %[[PRODUCTS:.*]] = arith.mulf %[[WINDOW_IN_UNIT]], %[[COLUMN_IN_UNIT_COLS]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[S_BEFORE:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:       %[[S_KEPT:.*]] = arith.mulf %[[S_BEFORE]], %[[KEPT_HALF_COLS]] : tensor<4x40xf32>
// CHECK-NEXT:       %[[S_NEXT:.*]] = tile.dot %[[PRODUCTS]], %[[V_TILE]], %[[S_KEPT]] {transpose_a} : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:       tile.store %[[S_NEXT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : tensor<4x40xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
