// EVA with local keys, causal: the second kernel. (Its first kernel is that of eva.mlir, with chunks of 16 keys.)
//
//   o_i = softmax over { s ⟨q_i, k_j⟩ : j ≤ i, j in the block of i } ∪ { s ⟨q_i, k̄_c⟩ : chunk c ends before i }
//
// One thread block computes 64 queries of one head, of a local block of 96 keys: online softmax over the keys of the block, then over the summaries
// of the chunks before. A staircase mask, (c + 1) · 16 ≤ i, is made of comparisons of whole numbers. s = 0.25, d = 24, dv = 40.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x3x?x24xf32>
!v = tensor<?x3x?x40xf32>
func.func @eva(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v {
  %o = attn.eva %q, %k, %v {causal, local = 96 : i64, chunk = 16 : i64, mu_weight = 0.5 : f64, scale = 0.25 : f64} : !q, !q, !v -> !v
  return %o : !v
}

// Two launches. Workspaces for the summaries: means of keys [.., 24], values β [.., 40] and log weights, a row for each chunk.
// CHECK-LABEL: func.func @eva(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[CHUNKS:.*]] = arith.divui %[[KEYS]], %[[C16]] : index
// CHECK-NEXT:    %[[MEANS:.*]] = tile.workspace(%[[BATCHES]], %[[CHUNKS]]) : memref<?x3x?x24xf32>
// CHECK-NEXT:    %[[BETAS:.*]] = tile.workspace(%[[BATCHES]], %[[CHUNKS]]) : memref<?x3x?x40xf32>
// CHECK-NEXT:    %[[LOG_WEIGHTS:.*]] = tile.workspace(%[[BATCHES]], %[[CHUNKS]]) : memref<?x3x?xf32>
// CHECK-NEXT:    tile.launch @eva_summaries grid(%[[BATCHES]], %[[C3]], %[[CHUNKS]])
// CHECK-SAME:        (%[[Q]], %[[K]], %[[V]], %[[BETAS]], %[[MEANS]], %[[LOG_WEIGHTS]]) :
// CHECK-NEXT:    %[[BLOCKS_OF_KEYS:.*]] = arith.divui %[[KEYS]], %[[C96]] : index
//   Every local block of every sequence is an entry of the batch axis.
// CHECK-NEXT:    %[[ALL_BLOCKS:.*]] = arith.muli %[[BATCHES]], %[[BLOCKS_OF_KEYS]] : index
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[BLOCKS_OR_ONE:.*]] = arith.maxsi %[[BLOCKS_OF_KEYS]], %[[C1]] : index
// CHECK-NEXT:    %[[QUERIES_PER_BLOCK:.*]] = arith.divui %[[QUERIES]], %[[BLOCKS_OR_ONE]] : index
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES_PER_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @eva_mix grid(%[[ALL_BLOCKS]], %[[C3]], %[[QUERY_BLOCKS]])
// CHECK-SAME:        (%[[Q]], %[[K]], %[[V]], %[[O]], %[[MEANS]], %[[LOG_WEIGHTS]], %[[BETAS]]) :
// CHECK-NEXT:    return

// Mix: a thread block for each local block of each sequence, head and 64 queries of the block.
// CHECK-LABEL: tile.kernel @eva_mix(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[MEANS:[a-z0-9]+]]: memref<?x3x?x24xf32>
// CHECK-SAME:    %[[LOG_WEIGHTS:[a-z0-9]+]]: memref<?x3x?xf32>
// CHECK-SAME:    %[[BETAS:[a-z0-9]+]]: memref<?x3x?x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64x64:.*]] = arith.constant dense<0xFF800000> : tensor<64x64xf32>
// CHECK-DAG:     %[[CHUNK_64:.*]] = arith.constant dense<1.600000e+01> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[BLOCKS_OF_KEYS:.*]] = arith.divui %[[KEYS]], %[[C96]] : index
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
// CHECK-NEXT:    %[[LOCAL_START:.*]] = arith.muli %[[BLOCK]], %[[C96]] : index
// CHECK-NEXT:    %[[LOCAL_STOP:.*]] = arith.addi %[[LOCAL_START]], %[[C96]] : index
// CHECK-NEXT:    %[[LOCAL_LIMIT:.*]] = arith.minsi %[[LOCAL_STOP]], %[[KEYS]] : index
// CHECK-NEXT:    %[[TILE_STOP:.*]] = arith.addi %[[FIRST_QUERY]], %[[C64]] : index
// CHECK-NEXT:    %[[LOCAL_END:.*]] = arith.minsi %[[LOCAL_LIMIT]], %[[TILE_STOP]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]]
// CHECK-SAME:        rows(%[[QUERIES_END]]) : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
//   Online softmax over the keys of the block.
// CHECK-NEXT:    %[[LOCAL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[LOCAL_START]] to %[[LOCAL_END]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[LOCAL_END]]) : memref{{.*}} -> tensor<64x24xf32>
//     Logits [64, tile] = q kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[LOCAL_END]], %[[FIRST_KEY]] : index
// CHECK-NEXT:      %[[TILE_DIAGONAL:.*]] = arith.subi %[[FIRST_QUERY]], %[[FIRST_KEY]] : index
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
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[LOCAL_END]]) : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[CHUNKS:.*]] = arith.divui %[[KEYS]], %[[C16]] : index
//   Chunks that the last query of the tile may use: those before its own.
// CHECK-NEXT:    %[[TILE_END:.*]] = arith.minsi %[[TILE_STOP]], %[[QUERIES]] : index
// CHECK-NEXT:    %[[LAST_QUERY:.*]] = arith.subi %[[TILE_END]], %[[C1]] : index
// CHECK-NEXT:    %[[OWN_CHUNK:.*]] = arith.divui %[[LAST_QUERY]], %[[C16]] : index
// CHECK-NEXT:    %[[CHUNKS_SEEN:.*]] = arith.minsi %[[CHUNKS]], %[[OWN_CHUNK]] : index
//   The same softmax goes on over the summaries of the chunks before.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_CHUNK:[^ ]+]] = %[[C0]] to %[[CHUNKS_SEEN]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[LOCAL]]#0, %[[SUM:[^ ]+]] = %[[LOCAL]]#1, %[[ACC:[^ ]+]] = %[[LOCAL]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[MEANS_TILE:.*]] = tile.load %[[MEANS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_CHUNK]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNKS_SEEN]]) : memref{{.*}} -> tensor<64x24xf32>
//     Logits of the summaries [64, 64] = q k̄ᵀ + log weight
// CHECK-NEXT:      %[[SUMMARY_SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[MEANS_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[LOG_WEIGHTS_TILE:.*]] = tile.load %[[LOG_WEIGHTS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_CHUNK]]]
// CHECK-SAME:          rows(%[[CHUNKS_SEEN]]) : memref{{.*}} -> tensor<64xf32>
// CHECK-NEXT:      %[[LOG_WEIGHTS_TILE_ROWS:.*]] = tile.expand %[[LOG_WEIGHTS_TILE]] axis 0 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[SCORES:.*]] = arith.addf %[[SUMMARY_SCORES]], %[[LOG_WEIGHTS_TILE_ROWS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[SUMMARIES_LEFT:.*]] = arith.subi %[[CHUNKS_SEEN]], %[[FIRST_CHUNK]] : index
//     Scores of summaries past the range become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[SUMMARIES_LEFT]]) : tensor<64x64xf32>
//     Chunk c is used by query i if (c + 1) · 16 ≤ i: it lies before the query's own.
// CHECK-NEXT:      %[[CHUNK_NUMBER:.*]] = tile.iota %[[FIRST_CHUNK]] : tensor<64xf32>
// CHECK-NEXT:      %[[CHUNK_NEXT:.*]] = arith.addf %[[CHUNK_NUMBER]], %[[ONE_64]] : tensor<64xf32>
// CHECK-NEXT:      %[[CHUNK_LAST:.*]] = arith.mulf %[[CHUNK_NEXT]], %[[CHUNK_64]] : tensor<64xf32>
// CHECK-NEXT:      %[[QUERY_NUMBER:.*]] = tile.iota %[[FIRST_QUERY]] : tensor<64xf32>
// CHECK-NEXT:      %[[CHUNK_LAST_ROWS:.*]] = tile.expand %[[CHUNK_LAST]] axis 0 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[QUERY_COLS:.*]] = tile.expand %[[QUERY_NUMBER]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[BEFORE_OWN:.*]] = arith.cmpf ole, %[[CHUNK_LAST_ROWS]], %[[QUERY_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[STAIRCASE:.*]] = arith.select %[[BEFORE_OWN]], %[[MASKED]], %[[NEG_INF_64x64]] : tensor<64x64xi1>, tensor<64x64xf32>
//     Running maximum of each row [64]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[STAIRCASE]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
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
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[STAIRCASE]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//     Running sum [64]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:      %[[BETAS_TILE:.*]] = tile.load %[[BETAS]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_CHUNK]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNKS_SEEN]]) : memref{{.*}} -> tensor<64x40xf32>
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
