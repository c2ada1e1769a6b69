// Exact softmax, causal, with key lengths and the logarithm of the row sums as a second output.
//
//   o_i = Σ_j exp(s ⟨q_i, k_j⟩) v_j / l_i,   lse_i = log l_i,   l_i = Σ_j exp(s ⟨q_i, k_j⟩),   over j ≤ i + N − n, j < length
//
// One thread block computes 64 queries of one head: it loops over the key tiles that all of them see, then over those at the diagonal or at the end,
// with the mask. d = 24, dv = 40, 4 query heads share 2 key-value heads.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
func.func @causal(%q: !q, %k: !k, %v: !v, %lengths: tensor<?xi32>) -> (!o, tensor<?x4x?xf32>) {
  %o, %lse = attn.softmax %q, %k, %v lengths(%lengths : tensor<?xi32>) {causal, scale = 0.25 : f64} : !q, !k, !v -> !o, lse tensor<?x4x?xf32>
  return %o, %lse : !o, tensor<?x4x?xf32>
}

// One launch: a thread block for each sequence, head and 64 queries.
// CHECK-LABEL: func.func @causal(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[KEY_LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[LSE:[a-z0-9]+]]: memref<?x4x?xf32, strided<[?, ?, 1]>>
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @causal_softmax grid(%[[BATCHES]], %[[C4]], %[[QUERY_BLOCKS]])
// CHECK-SAME:        (%[[Q]], %[[K]], %[[V]], %[[KEY_LENGTHS]], %[[O]], %[[LSE]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @causal_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[KEY_LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[LSE:[a-z0-9]+]]: memref<?x4x?xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[LN2_64:.*]] = arith.constant #tile.exact<0.69314718055994529> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
//   The tokens of this sequence that exist: its length, kept within 0 and the number of tokens.
// CHECK-NEXT:    %[[LENGTH_I32:.*]] = memref.load %[[KEY_LENGTHS]][%[[BATCH]]] : memref
// CHECK-NEXT:    %[[LENGTH_READ:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT:    %[[LENGTH_FLOOR:.*]] = arith.maxsi %[[LENGTH_READ]], %[[C0]] : index
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.minsi %[[LENGTH_FLOOR]], %[[KEYS]] : index
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
//   Query i sees key j if j ≤ i + OFFSET, where OFFSET = keys − queries.
// CHECK-NEXT:    %[[OFFSET:.*]] = arith.subi %[[KEYS]], %[[QUERIES]] : index
// CHECK-NEXT:    %[[DIAGONAL:.*]] = arith.addi %[[FIRST_QUERY]], %[[OFFSET]] : index
//   Keys 0 to FULL_END: the whole tiles that every query of the block sees.
// CHECK-NEXT:    %[[SEEN_BY_ALL:.*]] = arith.addi %[[DIAGONAL]], %[[C1]] : index
// CHECK-NEXT:    %[[SEEN_EXISTING:.*]] = arith.minsi %[[SEEN_BY_ALL]], %[[LENGTH]] : index
// CHECK-NEXT:    %[[SEEN_FLOOR:.*]] = arith.maxsi %[[SEEN_EXISTING]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_TILES:.*]] = arith.divui %[[SEEN_FLOOR]], %[[C64]] : index
// CHECK-NEXT:    %[[FULL_END:.*]] = arith.muli %[[FULL_TILES]], %[[C64]] : index
//   Keys up to LAST_KEY: those that some query of the block sees.
// CHECK-NEXT:    %[[TILE_END:.*]] = arith.addi %[[FIRST_QUERY]], %[[C64]] : index
// CHECK-NEXT:    %[[QUERY_END:.*]] = arith.minsi %[[TILE_END]], %[[QUERIES]] : index
// CHECK-NEXT:    %[[SEEN_END:.*]] = arith.addi %[[QUERY_END]], %[[OFFSET]] : index
// CHECK-NEXT:    %[[LAST_KEY:.*]] = arith.minsi %[[SEEN_END]], %[[LENGTH]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[FULL_END]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
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
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[LAST_KEY]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[LENGTH]]) : memref{{.*}} -> tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[LENGTH]], %[[FIRST_KEY]] : index
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
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[LENGTH]]) : memref{{.*}} -> tensor<64x40xf32>
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   lse [64] = (maximum + log2(sum)) · ln 2, or −∞ for a row without keys
// CHECK-NEXT:    %[[LOG_SUM:.*]] = math.log2 %[[ALL]]#1 : tensor<64xf32>
// CHECK-NEXT:    %[[LSE_LOG2:.*]] = arith.addf %[[ALL]]#0, %[[LOG_SUM]] : tensor<64xf32>
// CHECK-NEXT:    %[[LSE_NATURAL:.*]] = arith.mulf %[[LSE_LOG2]], %[[LN2_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[LSE_TILE:.*]] = arith.select %[[EMPTY]], %[[NEG_INF_64]], %[[LSE_NATURAL]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:    tile.store %[[LSE_TILE]], %[[LSE]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]]] : tensor<64xf32>, memref
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_64]], %[[ALL]]#1 : tensor<64xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_64]], %[[BOUNDED]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x40xf32>, memref
// CHECK-NEXT:    tile.return
