// EVA without the block's own keys in the summaries (exclude_local): the third kernel.
//
//   o_i = softmax over { s ⟨q_i, k_j⟩ : j in the block of i } ∪ { s ⟨q_i, k̄_c⟩ + w_c : c an edge of the block or a chunk without its keys }
//
// One thread block computes 64 queries of one head, of a local block of 40 keys: online softmax over the block's keys, the chunks before it, those
// after it, and its two edges. s = 0.25, d = 24, dv = 40.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x3x?x24xf32>
!v = tensor<?x3x?x40xf32>
func.func @eva(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"},
               %lengths: tensor<?xi32> {attn.name = "lengths"}) -> !v {
  %o = attn.eva %q, %k, %v lengths(%lengths : tensor<?xi32>) {
      exclude_local, mass, local = 40 : i64, chunk = 16 : i64, mu_weight = 0.5 : f64, scale = 0.25 : f64}
      : !q, !q, !v -> !v
  return %o : !v
}

// Mix: a thread block for each local block of each sequence, head and 64 queries of the block.
// CHECK-LABEL: tile.kernel @eva_mix(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[MEANS:[a-z0-9]+]]: memref<?x3x?x24xf32>
// CHECK-SAME:    %[[LOG_WEIGHTS:[a-z0-9]+]]: memref<?x3x?xf32>
// CHECK-SAME:    %[[BETAS:[a-z0-9]+]]: memref<?x3x?x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[C39:.*]] = arith.constant 39 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C40:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[BLOCKS_OF_KEYS:.*]] = arith.divui %[[KEYS]], %[[C40]] : index
//   The batch axis counts the local blocks of all sequences.
// CHECK-NEXT:    %[[BLOCK:.*]] = arith.remui %[[BATCH]], %[[BLOCKS_OF_KEYS]] : index
// CHECK-NEXT:    %[[SEQUENCE:.*]] = arith.divui %[[BATCH]], %[[BLOCKS_OF_KEYS]] : index
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[TILE_OFFSET:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERIES_PER_BLOCK:.*]] = arith.divui %[[QUERIES]], %[[BLOCKS_OF_KEYS]] : index
//   Queries of the block: from BLOCK_QUERY, of the tile: from FIRST_QUERY, both below QUERIES_END.
// CHECK-NEXT:    %[[BLOCK_QUERY:.*]] = arith.muli %[[BLOCK]], %[[QUERIES_PER_BLOCK]] : index
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.addi %[[BLOCK_QUERY]], %[[TILE_OFFSET]] : index
// CHECK-NEXT:    %[[QUERIES_END:.*]] = arith.addi %[[BLOCK_QUERY]], %[[QUERIES_PER_BLOCK]] : index
//   Keys of the local block: LOCAL_START to LOCAL_END.
// CHECK-NEXT:    %[[LOCAL_START:.*]] = arith.muli %[[BLOCK]], %[[C40]] : index
// CHECK-NEXT:    %[[LOCAL_STOP:.*]] = arith.addi %[[LOCAL_START]], %[[C40]] : index
//   The tokens of this sequence that exist: its length, kept within 0 and the number of tokens.
// CHECK-NEXT:    %[[LENGTH_I32:.*]] = memref.load %[[LENGTHS]][%[[SEQUENCE]]] : memref
// CHECK-NEXT:    %[[LENGTH_READ:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT:    %[[LENGTH_FLOOR:.*]] = arith.maxsi %[[LENGTH_READ]], %[[C0]] : index
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.minsi %[[LENGTH_FLOOR]], %[[KEYS]] : index
// CHECK-NEXT:    %[[LOCAL_LIMIT:.*]] = arith.minsi %[[LOCAL_STOP]], %[[LENGTH]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]]
// CHECK-SAME:        rows(%[[QUERIES_END]]) : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
//   Online softmax over the keys of the block.
// CHECK-NEXT:    %[[LOCAL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[LOCAL_START]] to %[[LOCAL_LIMIT]] step 40
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[LOCAL_LIMIT]]) : memref{{.*}} -> tensor<40x24xf32>
//     Logits [64, tile] = q kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x40]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<40x24xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[LOCAL_LIMIT]], %[[FIRST_KEY]] : index
//     Scores of keys that do not exist become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<64x40xf32>
//     Running maximum of each row [64]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<64x40xf32> -> tensor<64xf32>
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
//     Weights [64, 40] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x40xf32>
//     Running sum [64]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x40xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[LOCAL_LIMIT]]) : memref{{.*}} -> tensor<40x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x40xf32>, tensor<40x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   Chunks FIRST_MET to LAST_MET share keys with the block: excluded as a whole.
// CHECK-NEXT:    %[[FIRST_MET:.*]] = arith.divui %[[LOCAL_START]], %[[C16]] : index
//   The same softmax goes on over the chunks before the block,
// CHECK-NEXT:    %[[BEFORE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_CHUNK:[^ ]+]] = %[[C0]] to %[[FIRST_MET]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[LOCAL]]#0, %[[SUM:[^ ]+]] = %[[LOCAL]]#1, %[[ACC:[^ ]+]] = %[[LOCAL]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[MEANS_TILE:.*]] = tile.load %[[MEANS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_CHUNK]], %[[C0]]]
// CHECK-SAME:          rows(%[[FIRST_MET]]) : memref{{.*}} -> tensor<64x24xf32>
//     Logits of the summaries [64, 64] = q k̄ᵀ + log weight
// CHECK-NEXT:      %[[SUMMARY_SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[MEANS_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[LOG_WEIGHTS_TILE:.*]] = tile.load %[[LOG_WEIGHTS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_CHUNK]]]
// CHECK-SAME:          rows(%[[FIRST_MET]]) : memref{{.*}} -> tensor<64xf32>
// CHECK-NEXT:      %[[LOG_WEIGHTS_TILE_ROWS:.*]] = tile.expand %[[LOG_WEIGHTS_TILE]] axis 0 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[SCORES:.*]] = arith.addf %[[SUMMARY_SCORES]], %[[LOG_WEIGHTS_TILE_ROWS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[SUMMARIES_LEFT:.*]] = arith.subi %[[FIRST_MET]], %[[FIRST_CHUNK]] : index
//     Scores of summaries past the range become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[SUMMARIES_LEFT]]) : tensor<64x64xf32>
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
// CHECK-NEXT:      %[[BETAS_TILE:.*]] = tile.load %[[BETAS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_CHUNK]], %[[C0]]]
// CHECK-SAME:          rows(%[[FIRST_MET]]) : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[BETAS_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[LOCAL_LAST:.*]] = arith.addi %[[LOCAL_START]], %[[C39]] : index
// CHECK-NEXT:    %[[LAST_MET:.*]] = arith.divui %[[LOCAL_LAST]], %[[C16]] : index
// CHECK-NEXT:    %[[AFTER_MET:.*]] = arith.addi %[[LAST_MET]], %[[C1]] : index
// CHECK-NEXT:    %[[CHUNKS:.*]] = arith.divui %[[KEYS]], %[[C16]] : index
//   over the chunks after it,
// CHECK-NEXT:    %[[AFTER:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_CHUNK:[^ ]+]] = %[[AFTER_MET]] to %[[CHUNKS]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[BEFORE]]#0, %[[SUM:[^ ]+]] = %[[BEFORE]]#1, %[[ACC:[^ ]+]] = %[[BEFORE]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[MEANS_TILE:.*]] = tile.load %[[MEANS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_CHUNK]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNKS]]) : memref{{.*}} -> tensor<64x24xf32>
//     Logits of the summaries [64, 64] = q k̄ᵀ + log weight
// CHECK-NEXT:      %[[SUMMARY_SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[MEANS_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[LOG_WEIGHTS_TILE:.*]] = tile.load %[[LOG_WEIGHTS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_CHUNK]]]
// CHECK-SAME:          rows(%[[CHUNKS]]) : memref{{.*}} -> tensor<64xf32>
// CHECK-NEXT:      %[[LOG_WEIGHTS_TILE_ROWS:.*]] = tile.expand %[[LOG_WEIGHTS_TILE]] axis 0 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[SCORES:.*]] = arith.addf %[[SUMMARY_SCORES]], %[[LOG_WEIGHTS_TILE_ROWS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[SUMMARIES_LEFT:.*]] = arith.subi %[[CHUNKS]], %[[FIRST_CHUNK]] : index
//     Scores of summaries past the range become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[SUMMARIES_LEFT]]) : tensor<64x64xf32>
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
// CHECK-NEXT:      %[[BETAS_TILE:.*]] = tile.load %[[BETAS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_CHUNK]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNKS]]) : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[BETAS_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   Their keys outside the block are summarized in two more rows, the edges of the block, from CHUNKS + 2 · block on.
// CHECK-NEXT:    %[[BLOCK_EDGE:.*]] = arith.muli %[[BLOCK]], %[[C2]] : index
// CHECK-NEXT:    %[[FIRST_OF_EDGES:.*]] = arith.addi %[[CHUNKS]], %[[BLOCK_EDGE]] : index
// CHECK-NEXT:    %[[EDGES_END:.*]] = arith.addi %[[FIRST_OF_EDGES]], %[[C2]] : index
//   and over the block's two edges.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_EDGE:[^ ]+]] = %[[FIRST_OF_EDGES]] to %[[EDGES_END]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[AFTER]]#0, %[[SUM:[^ ]+]] = %[[AFTER]]#1, %[[ACC:[^ ]+]] = %[[AFTER]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[MEANS_TILE:.*]] = tile.load %[[MEANS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_EDGE]], %[[C0]]]
// CHECK-SAME:          rows(%[[EDGES_END]]) : memref{{.*}} -> tensor<64x24xf32>
//     Logits of the summaries [64, 64] = q k̄ᵀ + log weight
// CHECK-NEXT:      %[[SUMMARY_SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[MEANS_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[LOG_WEIGHTS_TILE:.*]] = tile.load %[[LOG_WEIGHTS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_EDGE]]]
// CHECK-SAME:          rows(%[[EDGES_END]]) : memref{{.*}} -> tensor<64xf32>
// CHECK-NEXT:      %[[LOG_WEIGHTS_TILE_ROWS:.*]] = tile.expand %[[LOG_WEIGHTS_TILE]] axis 0 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[SCORES:.*]] = arith.addf %[[SUMMARY_SCORES]], %[[LOG_WEIGHTS_TILE_ROWS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[SUMMARIES_LEFT:.*]] = arith.subi %[[EDGES_END]], %[[FIRST_EDGE]] : index
//     Scores of summaries past the range become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[SUMMARIES_LEFT]]) : tensor<64x64xf32>
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
// CHECK-NEXT:      %[[BETAS_TILE:.*]] = tile.load %[[BETAS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_EDGE]], %[[C0]]]
// CHECK-SAME:          rows(%[[EDGES_END]]) : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[BETAS_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_64]], %[[ALL]]#1 : tensor<64xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_64]], %[[BOUNDED]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]]
// CHECK-SAME:        rows(%[[QUERIES_END]]) : tensor<64x40xf32>, memref
// CHECK-NEXT:    tile.return
