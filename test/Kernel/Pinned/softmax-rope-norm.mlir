// Exact softmax, causal, with steps in the loads: layer normalization and rotary positions of q, rotary positions of k.
//
//   q'_i = R(i + N − n) norm(q_i),   k'_j = R(j) k_j,   o_i = Σ_{j ≤ i + N − n} exp(s ⟨q'_i, k'_j⟩) v_j / Σ_j exp(s ⟨q'_i, k'_j⟩)
//
// R(p) turns pair f of features by the angle p · 10000^(−2f/d). For q pairs are (2f, 2f + 1), for k they are (f, f + d/2) (`half`). Every tile of
// keys is rotated in each thread block that reads it. One thread block computes 64 queries of one head. d = 4, dv = 40.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x?x4xf32>
!v = tensor<?x2x?x40xf32>
func.func @steps(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v {
  %nq = attn.qk_norm %q {epsilon = 1.0e-05 : f64} : !q -> !q
  %rq = attn.rope %nq aligned(%k : !q) {base = 1.0e+04 : f64} : !q -> !q
  %rk = attn.rope %k {base = 1.0e+04 : f64, half} : !q -> !q
  %o = attn.softmax %rq, %rk, %v {scale = 0.25 : f64, causal} : !q, !q, !v -> !v
  return %o : !v
}

// One launch; where the queries stand among the keys is an argument of the kernel.
// CHECK-LABEL: func.func @steps(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x4xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x4xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[Q_OFFSET:.*]] = arith.subi %[[KEYS]], %[[QUERIES]] : index
// CHECK-NEXT:    %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @steps_softmax grid(%[[BATCHES]], %[[C2]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[K]], %[[V]], %[[O]], %[[Q_OFFSET]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @steps_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x4xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x4xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[Q_OFFSET:[a-z0-9]+]]: index
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[SIGNS_HALF_4:.*]] = arith.constant dense<[-1.000000e+00, -1.000000e+00, 1.000000e+00, 1.000000e+00]> : tensor<4xf32>
// CHECK-DAG:     %[[FREQ_LOW_HALF_4:.*]] = arith.constant dense<[6.42063824E-9, -5.68655505E-11, 6.42063824E-9, -5.68655505E-11]> : tensor<4xf32>
// CHECK-DAG:     %[[FREQ_HALF_4:.*]] = arith.constant dense<[0.159154937, 0.00159154949, 0.159154937, 0.00159154949]> : tensor<4xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x4:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x4xf32>
// CHECK-DAG:     %[[SIGNS_PAIRS_4:.*]] = arith.constant dense<[-1.000000e+00, 1.000000e+00, -1.000000e+00, 1.000000e+00]> : tensor<4xf32>
// CHECK-DAG:     %[[FREQ_LOW_PAIRS_4:.*]] = arith.constant dense<[6.42063824E-9, 6.42063824E-9, -5.68655505E-11, -5.68655505E-11]> : tensor<4xf32>
// CHECK-DAG:     %[[FREQ_PAIRS_4:.*]] = arith.constant dense<[0.159154937, 0.159154937, 0.00159154949, 0.00159154949]> : tensor<4xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[EPSILON_64:.*]] = arith.constant #tile.exact<1.000000e-05> : tensor<64xf32>
// CHECK-DAG:     %[[QUARTER_64:.*]] = arith.constant dense<2.500000e-01> : tensor<64xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
//   Query i sees key j if j ≤ i + OFFSET, where OFFSET = keys − queries.
// CHECK-NEXT:    %[[OFFSET:.*]] = arith.subi %[[KEYS]], %[[QUERIES]] : index
// CHECK-NEXT:    %[[DIAGONAL:.*]] = arith.addi %[[FIRST_QUERY]], %[[OFFSET]] : index
//   Keys 0 to FULL_END: the whole tiles that every query of the block sees.
// CHECK-NEXT:    %[[SEEN_BY_ALL:.*]] = arith.addi %[[DIAGONAL]], %[[C1]] : index
// CHECK-NEXT:    %[[SEEN_EXISTING:.*]] = arith.minsi %[[SEEN_BY_ALL]], %[[KEYS]] : index
// CHECK-NEXT:    %[[SEEN_FLOOR:.*]] = arith.maxsi %[[SEEN_EXISTING]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_TILES:.*]] = arith.divui %[[SEEN_FLOOR]], %[[C64]] : index
// CHECK-NEXT:    %[[FULL_END:.*]] = arith.muli %[[FULL_TILES]], %[[C64]] : index
//   Keys up to LAST_KEY: those that some query of the block sees.
// CHECK-NEXT:    %[[TILE_END:.*]] = arith.addi %[[FIRST_QUERY]], %[[C64]] : index
// CHECK-NEXT:    %[[QUERY_END:.*]] = arith.minsi %[[TILE_END]], %[[QUERIES]] : index
// CHECK-NEXT:    %[[SEEN_END:.*]] = arith.addi %[[QUERY_END]], %[[OFFSET]] : index
// CHECK-NEXT:    %[[LAST_KEY:.*]] = arith.minsi %[[SEEN_END]], %[[KEYS]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x4xf32>
//   qk_norm: each row minus its mean, divided by its standard deviation
// CHECK-NEXT:    %[[Q_TOTAL:.*]] = tile.reduce add %[[Q_TILE]] axis 1 : tensor<64x4xf32> -> tensor<64xf32>
// CHECK-NEXT:    %[[Q_MEAN:.*]] = arith.mulf %[[Q_TOTAL]], %[[QUARTER_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[Q_MEAN_COLS:.*]] = tile.expand %[[Q_MEAN]] axis 1 : tensor<64xf32> -> tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_CENTERED:.*]] = arith.subf %[[Q_TILE]], %[[Q_MEAN_COLS]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_SQUARES:.*]] = arith.mulf %[[Q_CENTERED]], %[[Q_CENTERED]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_SQUARE_SUM:.*]] = tile.reduce add %[[Q_SQUARES]] axis 1 : tensor<64x4xf32> -> tensor<64xf32>
// CHECK-NEXT:    %[[Q_VARIANCE:.*]] = arith.mulf %[[Q_SQUARE_SUM]], %[[QUARTER_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[Q_VARIANCE_EPSILON:.*]] = arith.addf %[[Q_VARIANCE]], %[[EPSILON_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[Q_DEVIATION:.*]] = math.sqrt %[[Q_VARIANCE_EPSILON]] : tensor<64xf32>
// CHECK-NEXT:    %[[Q_FACTOR:.*]] = arith.divf %[[ONE_64]], %[[Q_DEVIATION]] : tensor<64xf32>
// CHECK-NEXT:    %[[Q_FACTOR_COLS:.*]] = tile.expand %[[Q_FACTOR]] axis 1 : tensor<64xf32> -> tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_NORMED:.*]] = arith.mulf %[[Q_CENTERED]], %[[Q_FACTOR_COLS]] : tensor<64x4xf32>
//   RoPE of q: query i stands at position i + Q_OFFSET, aligned with the end of the keys.
// CHECK-NEXT:    %[[FIRST_POSITION:.*]] = arith.addi %[[FIRST_QUERY]], %[[Q_OFFSET]] : index
// CHECK-NEXT:    %[[Q_POSITION:.*]] = tile.iota %[[FIRST_POSITION]] : tensor<64xf32>
// CHECK-NEXT:    %[[FREQ_PAIRS_ROWS:.*]] = tile.expand %[[FREQ_PAIRS_4]] axis 0 : tensor<4xf32> -> tensor<64x4xf32>
// CHECK-NEXT:    %[[FREQ_LOW_PAIRS_ROWS:.*]] = tile.expand %[[FREQ_LOW_PAIRS_4]] axis 0 : tensor<4xf32> -> tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_POSITION_COLS:.*]] = tile.expand %[[Q_POSITION]] axis 1 : tensor<64xf32> -> tensor<64x4xf32>
//   Angle in turns, less whole turns. The frequency is a pair of floats; what rounding the product lost is added again.
// CHECK-NEXT:    %[[Q_TURNS:.*]] = arith.mulf %[[Q_POSITION_COLS]], %[[FREQ_PAIRS_ROWS]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_TURNS_NEGATED:.*]] = arith.negf %[[Q_TURNS]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_TURNS_LOST:.*]] = math.fma %[[Q_POSITION_COLS]], %[[FREQ_PAIRS_ROWS]], %[[Q_TURNS_NEGATED]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_WHOLE_TURNS:.*]] = math.roundeven %[[Q_TURNS]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_TURNS_FRACTION:.*]] = arith.subf %[[Q_TURNS]], %[[Q_WHOLE_TURNS]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_TURNS_REST:.*]] = math.fma %[[Q_POSITION_COLS]], %[[FREQ_LOW_PAIRS_ROWS]], %[[Q_TURNS_LOST]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_ANGLE:.*]] = arith.addf %[[Q_TURNS_FRACTION]], %[[Q_TURNS_REST]] : tensor<64x4xf32>
//   x cos(angle) ± partner sin(angle)
// CHECK-NEXT:    %[[Q_PARTNER:.*]] = tile.permute_columns %[[Q_NORMED]] [1, 0, 3, 2] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_SINE:.*]] = tile.sine %[[Q_ANGLE]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[SIGNS_PAIRS_ROWS:.*]] = tile.expand %[[SIGNS_PAIRS_4]] axis 0 : tensor<4xf32> -> tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_SIGNED_SINE:.*]] = arith.mulf %[[Q_SINE]], %[[SIGNS_PAIRS_ROWS]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_COSINE:.*]] = tile.cosine %[[Q_ANGLE]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_KEPT:.*]] = arith.mulf %[[Q_NORMED]], %[[Q_COSINE]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_SWAPPED:.*]] = arith.mulf %[[Q_PARTNER]], %[[Q_SIGNED_SINE]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_ROTATED:.*]] = arith.addf %[[Q_KEPT]], %[[Q_SWAPPED]] : tensor<64x4xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_ROTATED]], %[[SCALE_64x4]] : tensor<64x4xf32>
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[FULL_END]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x4xf32>
//     RoPE of k: key j stands at position j.
// CHECK-NEXT:      %[[K_POSITION:.*]] = tile.iota %[[FIRST_KEY]] : tensor<64xf32>
// CHECK-NEXT:      %[[FREQ_HALF_ROWS:.*]] = tile.expand %[[FREQ_HALF_4]] axis 0 : tensor<4xf32> -> tensor<64x4xf32>
// CHECK-NEXT:      %[[FREQ_LOW_HALF_ROWS:.*]] = tile.expand %[[FREQ_LOW_HALF_4]] axis 0 : tensor<4xf32> -> tensor<64x4xf32>
// CHECK-NEXT:      %[[K_POSITION_COLS:.*]] = tile.expand %[[K_POSITION]] axis 1 : tensor<64xf32> -> tensor<64x4xf32>
//     Angle in turns, less whole turns. The frequency is a pair of floats; what rounding the product lost is added again.
// CHECK-NEXT:      %[[K_TURNS:.*]] = arith.mulf %[[K_POSITION_COLS]], %[[FREQ_HALF_ROWS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_TURNS_NEGATED:.*]] = arith.negf %[[K_TURNS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_TURNS_LOST:.*]] = math.fma %[[K_POSITION_COLS]], %[[FREQ_HALF_ROWS]], %[[K_TURNS_NEGATED]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_WHOLE_TURNS:.*]] = math.roundeven %[[K_TURNS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_TURNS_FRACTION:.*]] = arith.subf %[[K_TURNS]], %[[K_WHOLE_TURNS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_TURNS_REST:.*]] = math.fma %[[K_POSITION_COLS]], %[[FREQ_LOW_HALF_ROWS]], %[[K_TURNS_LOST]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_ANGLE:.*]] = arith.addf %[[K_TURNS_FRACTION]], %[[K_TURNS_REST]] : tensor<64x4xf32>
//     x cos(angle) ± partner sin(angle)
// CHECK-NEXT:      %[[K_PARTNER:.*]] = tile.permute_columns %[[K_TILE]] [2, 3, 0, 1] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_SINE:.*]] = tile.sine %[[K_ANGLE]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[SIGNS_HALF_ROWS:.*]] = tile.expand %[[SIGNS_HALF_4]] axis 0 : tensor<4xf32> -> tensor<64x4xf32>
// CHECK-NEXT:      %[[K_SIGNED_SINE:.*]] = arith.mulf %[[K_SINE]], %[[SIGNS_HALF_ROWS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_COSINE:.*]] = tile.cosine %[[K_ANGLE]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_KEPT:.*]] = arith.mulf %[[K_TILE]], %[[K_COSINE]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_SWAPPED:.*]] = arith.mulf %[[K_PARTNER]], %[[K_SIGNED_SINE]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_ROTATED:.*]] = arith.addf %[[K_KEPT]], %[[K_SWAPPED]] : tensor<64x4xf32>
//     Scores [64, 64] = q [64, 4] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_ROTATED]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x4xf32>, tensor<64x4xf32> -> tensor<64x64xf32>
//     Running maximum of each row [64]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[SCORES]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<64xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [64]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[NEW_MAX]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<64xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x40xf32>
//     Weights [64, 64] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[NEW_MAX]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[SCORES]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//     Running sum [64]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[LAST_KEY]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x4xf32>
//     RoPE of k: key j stands at position j.
// CHECK-NEXT:      %[[K_POSITION:.*]] = tile.iota %[[FIRST_KEY]] : tensor<64xf32>
// CHECK-NEXT:      %[[FREQ_HALF_ROWS:.*]] = tile.expand %[[FREQ_HALF_4]] axis 0 : tensor<4xf32> -> tensor<64x4xf32>
// CHECK-NEXT:      %[[FREQ_LOW_HALF_ROWS:.*]] = tile.expand %[[FREQ_LOW_HALF_4]] axis 0 : tensor<4xf32> -> tensor<64x4xf32>
// CHECK-NEXT:      %[[K_POSITION_COLS:.*]] = tile.expand %[[K_POSITION]] axis 1 : tensor<64xf32> -> tensor<64x4xf32>
//     Angle in turns, less whole turns. The frequency is a pair of floats; what rounding the product lost is added again.
// CHECK-NEXT:      %[[K_TURNS:.*]] = arith.mulf %[[K_POSITION_COLS]], %[[FREQ_HALF_ROWS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_TURNS_NEGATED:.*]] = arith.negf %[[K_TURNS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_TURNS_LOST:.*]] = math.fma %[[K_POSITION_COLS]], %[[FREQ_HALF_ROWS]], %[[K_TURNS_NEGATED]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_WHOLE_TURNS:.*]] = math.roundeven %[[K_TURNS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_TURNS_FRACTION:.*]] = arith.subf %[[K_TURNS]], %[[K_WHOLE_TURNS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_TURNS_REST:.*]] = math.fma %[[K_POSITION_COLS]], %[[FREQ_LOW_HALF_ROWS]], %[[K_TURNS_LOST]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_ANGLE:.*]] = arith.addf %[[K_TURNS_FRACTION]], %[[K_TURNS_REST]] : tensor<64x4xf32>
//     x cos(angle) ± partner sin(angle)
// CHECK-NEXT:      %[[K_PARTNER:.*]] = tile.permute_columns %[[K_TILE]] [2, 3, 0, 1] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_SINE:.*]] = tile.sine %[[K_ANGLE]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[SIGNS_HALF_ROWS:.*]] = tile.expand %[[SIGNS_HALF_4]] axis 0 : tensor<4xf32> -> tensor<64x4xf32>
// CHECK-NEXT:      %[[K_SIGNED_SINE:.*]] = arith.mulf %[[K_SINE]], %[[SIGNS_HALF_ROWS]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_COSINE:.*]] = tile.cosine %[[K_ANGLE]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_KEPT:.*]] = arith.mulf %[[K_TILE]], %[[K_COSINE]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_SWAPPED:.*]] = arith.mulf %[[K_PARTNER]], %[[K_SIGNED_SINE]] : tensor<64x4xf32>
// CHECK-NEXT:      %[[K_ROTATED:.*]] = arith.addf %[[K_KEPT]], %[[K_SWAPPED]] : tensor<64x4xf32>
//     Scores [64, 64] = q [64, 4] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_ROTATED]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x4xf32>, tensor<64x4xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST_KEY]] : index
// CHECK-NEXT:      %[[TILE_DIAGONAL:.*]] = arith.subi %[[DIAGONAL]], %[[FIRST_KEY]] : index
//     Scores of keys that do not exist or come after the query become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) diagonal(%[[TILE_DIAGONAL]]) : tensor<64x64xf32>
//     Running maximum of each row [64]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<64xf32>
//     A row that has seen no key yet has the maximum −∞; 0 is subtracted instead, since −∞ − −∞ is NaN.
// CHECK-NEXT:      %[[UNSEEN:.*]] = arith.cmpf oeq, %[[NEW_MAX]], %[[NEG_INF_64]] : tensor<64xf32>
// CHECK-NEXT:      %[[SHIFT:.*]] = arith.select %[[UNSEEN]], %[[ZERO_64]], %[[NEW_MAX]] : tensor<64xi1>, tensor<64xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [64]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[SHIFT]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<64xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x40xf32>
//     Weights [64, 64] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//     Running sum [64]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x40xf32>
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_64]], %[[ALL]]#1 : tensor<64xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_64]], %[[BOUNDED]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x40xf32>, memref
// CHECK-NEXT:    tile.return
