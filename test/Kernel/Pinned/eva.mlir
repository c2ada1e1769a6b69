// EVA (attn.eva) without local keys: chunks of 80 keys are summarized, and the queries attend to the summaries.
//
//   k̄_c = mean of the chunk's keys,  μ_c = 0.5 (q̄_c + k̄_c),  β_c = Σ_j softmax_j(s ⟨μ_c − k_j/2, k_j⟩) v_j
//   o_i = Σ_c softmax_c(s ⟨q_i, k̄_c⟩) β_c
//
// q̄_c is the mean of the queries that go with the chunk. First kernel: a thread block for each chunk loops over its queries and its keys for
// the means, then over its keys again for β. Second kernel: online softmax of 64 queries over the summaries. s = 0.25, d = 24, dv = 40.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x3x?x24xf32>
!v = tensor<?x3x?x40xf32>
func.func @eva(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v {
  %o = attn.eva %q, %k, %v {chunk = 80 : i64, mu_weight = 0.5 : f64, scale = 0.25 : f64} : !q, !q, !v -> !v
  return %o : !v
}

// Two launches. Workspaces for the summaries: means of keys [.., 24], values β [.., 40] and log weights, a row for each chunk.
// CHECK-LABEL: func.func @eva(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C80:.*]] = arith.constant 80 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[CHUNKS:.*]] = arith.divui %[[KEYS]], %[[C80]] : index
// CHECK-NEXT:    %[[MEANS:.*]] = tile.workspace(%[[BATCHES]], %[[CHUNKS]]) : memref<?x3x?x24xf32>
// CHECK-NEXT:    %[[BETAS:.*]] = tile.workspace(%[[BATCHES]], %[[CHUNKS]]) : memref<?x3x?x40xf32>
// CHECK-NEXT:    %[[LOG_WEIGHTS:.*]] = tile.workspace(%[[BATCHES]], %[[CHUNKS]]) : memref<?x3x?xf32>
// CHECK-NEXT:    tile.launch @eva_summaries grid(%[[BATCHES]], %[[C3]], %[[CHUNKS]])
// CHECK-SAME:        (%[[Q]], %[[K]], %[[V]], %[[BETAS]], %[[MEANS]], %[[LOG_WEIGHTS]]) :
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @eva_mix grid(%[[BATCHES]], %[[C3]], %[[QUERY_BLOCKS]])
// CHECK-SAME:        (%[[Q]], %[[K]], %[[O]], %[[MEANS]], %[[LOG_WEIGHTS]], %[[BETAS]]) :
// CHECK-NEXT:    return

// Summaries: a thread block for each sequence, head and chunk.
// CHECK-LABEL: tile.kernel @eva_summaries(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[BETAS:[a-z0-9]+]]: memref<?x3x?x40xf32>
// CHECK-SAME:    %[[MEANS:[a-z0-9]+]]: memref<?x3x?x24xf32>
// CHECK-SAME:    %[[LOG_WEIGHTS:[a-z0-9]+]]: memref<?x3x?xf32>
// CHECK-SAME:    grid(batch, head, key_piece) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_1:.*]] = arith.constant dense<3.40282347E+38> : tensor<1xf32>
// CHECK-DAG:     %[[ONE_1:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[ZERO_1x64:.*]] = arith.constant dense<0.000000e+00> : tensor<1x64xf32>
// CHECK-DAG:     %[[SCALE_1x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<1x24xf32>
// CHECK-DAG:     %[[HALF_64x24:.*]] = arith.constant dense<5.000000e-01> : tensor<64x24xf32>
// CHECK-DAG:     %[[ZERO_1x40:.*]] = arith.constant dense<0.000000e+00> : tensor<1x40xf32>
// CHECK-DAG:     %[[ZERO_1:.*]] = arith.constant dense<0.000000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[NEG_INF_1:.*]] = arith.constant dense<0xFF800000> : tensor<1xf32>
// CHECK-DAG:     %[[HALF_1x24:.*]] = arith.constant dense<5.000000e-01> : tensor<1x24xf32>
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C80:.*]] = arith.constant 80 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[CHUNK:.*]] = tile.program_id key_piece
//   The keys CHUNK_START to CHUNK_END of the chunk.
// CHECK-NEXT:    %[[CHUNK_START:.*]] = arith.muli %[[CHUNK]], %[[C80]] : index
// CHECK-NEXT:    %[[CHUNK_STOP:.*]] = arith.addi %[[CHUNK_START]], %[[C80]] : index
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[CHUNK_END:.*]] = arith.minsi %[[CHUNK_STOP]], %[[KEYS]] : index
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[CHUNKS:.*]] = arith.divui %[[KEYS]], %[[C80]] : index
//   The queries FIRST_QUERY to QUERY_END that go with the chunk: n / (N / chunk) of them.
// CHECK-NEXT:    %[[QUERIES_PER_CHUNK:.*]] = arith.divui %[[QUERIES]], %[[CHUNKS]] : index
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[CHUNK]], %[[QUERIES_PER_CHUNK]] : index
// CHECK-NEXT:    %[[QUERY_END:.*]] = arith.addi %[[FIRST_QUERY]], %[[QUERIES_PER_CHUNK]] : index
//   Mean of the queries q̄ [1, 24]
// CHECK-NEXT:    %[[Q_TOTAL:.*]] = tile.loop #tile.sum %[[QUERY:[^ ]+]] = %[[FIRST_QUERY]] to %[[QUERY_END]] step 64
// CHECK-SAME:        carries(%[[Q_SUM:[^ ]+]] = %[[ZERO_24]]) : (tensor<24xf32>) {
// CHECK-NEXT:      %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[C0]]]
// CHECK-SAME:          rows(%[[QUERY_END]]) : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[Q_TILE_SUM:.*]] = tile.reduce add %[[Q_TILE]] axis 0 : tensor<64x24xf32> -> tensor<24xf32>
// CHECK-NEXT:      %[[NEXT_Q_SUM:.*]] = arith.addf %[[Q_SUM]], %[[Q_TILE_SUM]] : tensor<24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_Q_SUM]] : tensor<24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[Q_COUNT:.*]] = arith.maxsi %[[QUERIES_PER_CHUNK]], %[[C1]] : index
// CHECK-NEXT:    %[[Q_DIVISOR:.*]] = tile.iota %[[Q_COUNT]] : tensor<1xf32>
// CHECK-NEXT:    %[[Q_TOTAL_ROW:.*]] = tile.expand %[[Q_TOTAL]] axis 0 : tensor<24xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[Q_DIVISOR_COLS:.*]] = tile.expand %[[Q_DIVISOR]] axis 1 : tensor<1xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[Q_MEAN:.*]] = arith.divf %[[Q_TOTAL_ROW]], %[[Q_DIVISOR_COLS]] : tensor<1x24xf32>
//   Mean of the keys k̄ [1, 24]; 0 of none
// CHECK-NEXT:    %[[K_TOTAL:.*]] = tile.loop #tile.sum %[[FIRST_KEY:[^ ]+]] = %[[CHUNK_START]] to %[[CHUNK_END]] step 64
// CHECK-SAME:        carries(%[[K_SUM:[^ ]+]] = %[[ZERO_24]]) : (tensor<24xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNK_END]]) : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[K_TILE_SUM:.*]] = tile.reduce add %[[K_TILE]] axis 0 : tensor<64x24xf32> -> tensor<24xf32>
// CHECK-NEXT:      %[[NEXT_K_SUM:.*]] = arith.addf %[[K_SUM]], %[[K_TILE_SUM]] : tensor<24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_K_SUM]] : tensor<24xf32>
// CHECK-NEXT:    }
//   How many keys the chunk has; 0 past the end
// CHECK-NEXT:    %[[COUNT_OR_LESS:.*]] = arith.subi %[[CHUNK_END]], %[[CHUNK_START]] : index
// CHECK-NEXT:    %[[COUNT:.*]] = arith.maxsi %[[COUNT_OR_LESS]], %[[C0]] : index
// CHECK-NEXT:    %[[K_COUNT:.*]] = arith.maxsi %[[COUNT]], %[[C1]] : index
// CHECK-NEXT:    %[[K_DIVISOR:.*]] = tile.iota %[[K_COUNT]] : tensor<1xf32>
// CHECK-NEXT:    %[[K_TOTAL_ROW:.*]] = tile.expand %[[K_TOTAL]] axis 0 : tensor<24xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[K_DIVISOR_COLS:.*]] = tile.expand %[[K_DIVISOR]] axis 1 : tensor<1xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[K_MEAN:.*]] = arith.divf %[[K_TOTAL_ROW]], %[[K_DIVISOR_COLS]] : tensor<1x24xf32>
//   μ [1, 24] = 0.5 (q̄ + k̄)
// CHECK-NEXT:    %[[MEANS_ADDED:.*]] = arith.addf %[[Q_MEAN]], %[[K_MEAN]] : tensor<1x24xf32>
// CHECK-NEXT:    %[[MU:.*]] = arith.mulf %[[MEANS_ADDED]], %[[HALF_1x24]] : tensor<1x24xf32>
//   β [1, 40] = Σ_j softmax_j(s ⟨μ − k_j/2, k_j⟩) v_j: the keys of the chunk once more, by online softmax
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[CHUNK_START]] to %[[CHUNK_END]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_1]], %[[SUM:[^ ]+]] = %[[ZERO_1]], %[[ACC:[^ ]+]] = %[[ZERO_1x40]])
// CHECK-SAME:        : (tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNK_END]]) : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[K_HALF:.*]] = arith.mulf %[[K_TILE]], %[[HALF_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[MU_VECTOR:.*]] = tile.reduce add %[[MU]] axis 0 : tensor<1x24xf32> -> tensor<24xf32>
// CHECK-NEXT:      %[[MU_ROWS:.*]] = tile.expand %[[MU_VECTOR]] axis 0 : tensor<24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      %[[MU_LESS_HALF:.*]] = arith.subf %[[MU_ROWS]], %[[K_HALF]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[LOGIT_TERMS:.*]] = arith.mulf %[[K_TILE]], %[[MU_LESS_HALF]] : tensor<64x24xf32>
//     Logits as a row [1, tile] = s log2(e) · 1 (k ⊙ (μ − k/2))ᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[SCALE_1x24]], %[[LOGIT_TERMS]], %[[ZERO_1x64]] {transpose_b}
// CHECK-SAME:          : tensor<1x24xf32>, tensor<64x24xf32> -> tensor<1x64xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[CHUNK_END]], %[[FIRST_KEY]] : index
//     Scores of keys that do not exist become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<1x64xf32>
//     Running maximum of each row [1]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<1x64xf32> -> tensor<1xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<1xf32>
//     A row that has seen no key yet has the maximum −∞; 0 is subtracted instead, since −∞ − −∞ is NaN.
// CHECK-NEXT:      %[[UNSEEN:.*]] = arith.cmpf oeq, %[[NEW_MAX]], %[[NEG_INF_1]] : tensor<1xf32>
// CHECK-NEXT:      %[[SHIFT:.*]] = arith.select %[[UNSEEN]], %[[ZERO_1]], %[[NEW_MAX]] : tensor<1xi1>, tensor<1xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [1]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[SHIFT]] : tensor<1xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<1xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<1xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<1x40xf32>
//     Weights [1, 64] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<1xf32> -> tensor<1x64xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<1x64xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<1x64xf32>
//     Running sum [1]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<1x64xf32> -> tensor<1xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<1xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNK_END]]) : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<1x64xf32>, tensor<64x40xf32> -> tensor<1x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_1]], %[[ALL]]#1 : tensor<1xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_1]] : tensor<1xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_1]] : tensor<1xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_1]], %[[BOUNDED]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<1x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[BETAS]][%[[BATCH]], %[[HEAD]], %[[CHUNK]], %[[C0]]] : tensor<1x40xf32>, memref
// CHECK-NEXT:    tile.store %[[K_MEAN]], %[[MEANS]][%[[BATCH]], %[[HEAD]], %[[CHUNK]], %[[C0]]] : tensor<1x24xf32>, memref
//   Log weight: log2 of the number of keys with `mass`, else 0; −∞ of a chunk without keys
// CHECK-NEXT:    %[[SIZE:.*]] = tile.iota %[[COUNT]] : tensor<1xf32>
// CHECK-NEXT:    %[[EMPTY_2:.*]] = arith.cmpf oeq, %[[SIZE]], %[[ZERO_1]] : tensor<1xf32>
// CHECK-NEXT:    %[[LOG_WEIGHT:.*]] = arith.select %[[EMPTY_2]], %[[NEG_INF_1]], %[[ZERO_1]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT:    tile.store %[[LOG_WEIGHT]], %[[LOG_WEIGHTS]][%[[BATCH]], %[[HEAD]], %[[CHUNK]]] : tensor<1xf32>, memref
// CHECK-NEXT:    tile.return

// Mix: a thread block for each sequence, head and 64 queries.
// CHECK-LABEL: tile.kernel @eva_mix(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[MEANS:[a-z0-9]+]]: memref<?x3x?x24xf32>
// CHECK-SAME:    %[[LOG_WEIGHTS:[a-z0-9]+]]: memref<?x3x?xf32>
// CHECK-SAME:    %[[BETAS:[a-z0-9]+]]: memref<?x3x?x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[C80:.*]] = arith.constant 80 : index
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[TILE_OFFSET:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[CHUNKS:.*]] = arith.divui %[[KEYS]], %[[C80]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[TILE_OFFSET]], %[[C0]]]
// CHECK-SAME:        rows(%[[QUERIES]]) : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
//   Online softmax over the summaries of all chunks.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_CHUNK:[^ ]+]] = %[[C0]] to %[[CHUNKS]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[MEANS_TILE:.*]] = tile.load %[[MEANS]][%[[BATCH]], %[[HEAD]], %[[FIRST_CHUNK]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNKS]]) : memref{{.*}} -> tensor<64x24xf32>
//     Logits of the summaries [64, 64] = q k̄ᵀ + log weight
// CHECK-NEXT:      %[[SUMMARY_SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[MEANS_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[LOG_WEIGHTS_TILE:.*]] = tile.load %[[LOG_WEIGHTS]][%[[BATCH]], %[[HEAD]], %[[FIRST_CHUNK]]]
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
// CHECK-NEXT:      %[[BETAS_TILE:.*]] = tile.load %[[BETAS]][%[[BATCH]], %[[HEAD]], %[[FIRST_CHUNK]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNKS]]) : memref{{.*}} -> tensor<64x40xf32>
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
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[TILE_OFFSET]], %[[C0]]] rows(%[[QUERIES]]) : tensor<64x40xf32>, memref
// CHECK-NEXT:    tile.return
