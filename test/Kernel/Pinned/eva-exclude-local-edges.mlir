// EVA without the block's own keys in the summaries (exclude_local): the second kernel, which summarizes edges.
//
// A local block of 40 keys may begin and end within a chunk of 16. What it leaves of its first and of its last chunk is summarized as if it were a
// chunk: k̄ = mean of the keys left,  μ = 0.5 (q̄ + k̄),  β = Σ_j softmax_j(s ⟨μ − k_j/2, k_j⟩) v_j,  w = log2 of their number (−∞ of none)
//
// A thread block for each edge: all loops run over the range before the block, then over that after it, one of which is usually empty.
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

// Edges: a thread block for each sequence, head and edge.
// CHECK-LABEL: tile.kernel @eva_edges(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[BETAS:[a-z0-9]+]]: memref<?x3x?x40xf32>
// CHECK-SAME:    %[[MEANS:[a-z0-9]+]]: memref<?x3x?x24xf32>
// CHECK-SAME:    %[[LOG_WEIGHTS:[a-z0-9]+]]: memref<?x3x?xf32>
// CHECK-SAME:    grid(batch, head, key_piece) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C39:.*]] = arith.constant 39 : index
// CHECK-DAG:     %[[FLOAT_MAX_1:.*]] = arith.constant dense<3.40282347E+38> : tensor<1xf32>
// CHECK-DAG:     %[[ONE_1:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[ZERO_1x16:.*]] = arith.constant dense<0.000000e+00> : tensor<1x16xf32>
// CHECK-DAG:     %[[SCALE_1x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<1x24xf32>
// CHECK-DAG:     %[[HALF_16x24:.*]] = arith.constant dense<5.000000e-01> : tensor<16x24xf32>
// CHECK-DAG:     %[[ZERO_1x40:.*]] = arith.constant dense<0.000000e+00> : tensor<1x40xf32>
// CHECK-DAG:     %[[ZERO_1:.*]] = arith.constant dense<0.000000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[NEG_INF_1:.*]] = arith.constant dense<0xFF800000> : tensor<1xf32>
// CHECK-DAG:     %[[HALF_1x24:.*]] = arith.constant dense<5.000000e-01> : tensor<1x24xf32>
// CHECK-DAG:     %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C40:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[EDGE:.*]] = tile.program_id key_piece
//   Edge e is that of block e div 2, of the block's first (SIDE = 0) or last (SIDE = 1) chunk.
// CHECK-NEXT:    %[[BLOCK:.*]] = arith.divui %[[EDGE]], %[[C2]] : index
//   Keys of the local block: LOCAL_START to LOCAL_STOP; it meets the chunks FIRST_MET to LAST_MET.
// CHECK-NEXT:    %[[LOCAL_START:.*]] = arith.muli %[[BLOCK]], %[[C40]] : index
// CHECK-NEXT:    %[[FIRST_MET:.*]] = arith.divui %[[LOCAL_START]], %[[C16]] : index
// CHECK-NEXT:    %[[BLOCK_EDGE:.*]] = arith.muli %[[BLOCK]], %[[C2]] : index
// CHECK-NEXT:    %[[SIDE:.*]] = arith.subi %[[EDGE]], %[[BLOCK_EDGE]] : index
// CHECK-NEXT:    %[[LOCAL_STOP:.*]] = arith.addi %[[LOCAL_START]], %[[C40]] : index
// CHECK-NEXT:    %[[LOCAL_LAST:.*]] = arith.addi %[[LOCAL_START]], %[[C39]] : index
// CHECK-NEXT:    %[[LAST_MET:.*]] = arith.divui %[[LOCAL_LAST]], %[[C16]] : index
// CHECK-NEXT:    %[[MET_SPAN:.*]] = arith.subi %[[LAST_MET]], %[[FIRST_MET]] : index
// CHECK-NEXT:    %[[SIDE_SPAN:.*]] = arith.muli %[[SIDE]], %[[MET_SPAN]] : index
// CHECK-NEXT:    %[[CHUNK:.*]] = arith.addi %[[FIRST_MET]], %[[SIDE_SPAN]] : index
//   The keys CHUNK_START to CHUNK_END of the chunk.
// CHECK-NEXT:    %[[CHUNK_START:.*]] = arith.muli %[[CHUNK]], %[[C16]] : index
// CHECK-NEXT:    %[[CHUNK_STOP:.*]] = arith.addi %[[CHUNK_START]], %[[C16]] : index
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
//   The tokens of this sequence that exist: its length, kept within 0 and the number of tokens.
// CHECK-NEXT:    %[[LENGTH_I32:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]] : memref
// CHECK-NEXT:    %[[LENGTH_READ:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT:    %[[LENGTH_FLOOR:.*]] = arith.maxsi %[[LENGTH_READ]], %[[C0]] : index
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.minsi %[[LENGTH_FLOOR]], %[[KEYS]] : index
// CHECK-NEXT:    %[[CHUNK_LIMIT:.*]] = arith.minsi %[[CHUNK_STOP]], %[[LENGTH]] : index
// CHECK-NEXT:    %[[KEYS_OR_LESS:.*]] = arith.subi %[[CHUNK_LIMIT]], %[[CHUNK_START]] : index
// CHECK-NEXT:    %[[CHUNK_KEYS:.*]] = arith.maxsi %[[KEYS_OR_LESS]], %[[C0]] : index
//   The second edge is empty where it is the first: PRESENT = 0 if SIDE = 1 and LAST_MET = FIRST_MET, else 1.
// CHECK-NEXT:    %[[OTHER_SIDE:.*]] = arith.subi %[[C1]], %[[SIDE]] : index
// CHECK-NEXT:    %[[DISTINCT:.*]] = arith.addi %[[MET_SPAN]], %[[OTHER_SIDE]] : index
// CHECK-NEXT:    %[[PRESENT:.*]] = arith.minsi %[[DISTINCT]], %[[C1]] : index
// CHECK-NEXT:    %[[KEYS_PRESENT:.*]] = arith.muli %[[CHUNK_KEYS]], %[[PRESENT]] : index
// CHECK-NEXT:    %[[CHUNK_END:.*]] = arith.addi %[[CHUNK_START]], %[[KEYS_PRESENT]] : index
//   What the block leaves of the chunk: keys CHUNK_START to LEFT_END and RIGHT_START to CHUNK_END.
// CHECK-NEXT:    %[[LEFT_END:.*]] = arith.minsi %[[CHUNK_END]], %[[LOCAL_START]] : index
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[CHUNKS:.*]] = arith.divui %[[KEYS]], %[[C16]] : index
//   The queries FIRST_QUERY to QUERY_END that go with the chunk: n / (N / chunk) of them.
// CHECK-NEXT:    %[[QUERIES_PER_CHUNK:.*]] = arith.divui %[[QUERIES]], %[[CHUNKS]] : index
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[CHUNK]], %[[QUERIES_PER_CHUNK]] : index
// CHECK-NEXT:    %[[QUERY_END:.*]] = arith.addi %[[FIRST_QUERY]], %[[QUERIES_PER_CHUNK]] : index
//   Mean of the queries q̄ [1, 24]
// CHECK-NEXT:    %[[Q_TOTAL:.*]] = tile.loop #tile.sum %[[QUERY:[^ ]+]] = %[[FIRST_QUERY]] to %[[QUERY_END]] step 16
// CHECK-SAME:        carries(%[[Q_SUM:[^ ]+]] = %[[ZERO_24]]) : (tensor<24xf32>) {
// CHECK-NEXT:      %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[C0]]]
// CHECK-SAME:          rows(%[[QUERY_END]]) : memref{{.*}} -> tensor<16x24xf32>
// CHECK-NEXT:      %[[Q_TILE_SUM:.*]] = tile.reduce add %[[Q_TILE]] axis 0 : tensor<16x24xf32> -> tensor<24xf32>
// CHECK-NEXT:      %[[NEXT_Q_SUM:.*]] = arith.addf %[[Q_SUM]], %[[Q_TILE_SUM]] : tensor<24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_Q_SUM]] : tensor<24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[Q_COUNT:.*]] = arith.maxsi %[[QUERIES_PER_CHUNK]], %[[C1]] : index
// CHECK-NEXT:    %[[Q_DIVISOR:.*]] = tile.iota %[[Q_COUNT]] : tensor<1xf32>
// CHECK-NEXT:    %[[Q_TOTAL_ROW:.*]] = tile.expand %[[Q_TOTAL]] axis 0 : tensor<24xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[Q_DIVISOR_COLS:.*]] = tile.expand %[[Q_DIVISOR]] axis 1 : tensor<1xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[Q_MEAN:.*]] = arith.divf %[[Q_TOTAL_ROW]], %[[Q_DIVISOR_COLS]] : tensor<1x24xf32>
//   Mean of the keys k̄ [1, 24] of both ranges; 0 of none
// CHECK-NEXT:    %[[K_LEFT:.*]] = tile.loop #tile.sum %[[FIRST_KEY:[^ ]+]] = %[[CHUNK_START]] to %[[LEFT_END]] step 16
// CHECK-SAME:        carries(%[[K_SUM:[^ ]+]] = %[[ZERO_24]]) : (tensor<24xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[LEFT_END]]) : memref{{.*}} -> tensor<16x24xf32>
// CHECK-NEXT:      %[[K_TILE_SUM:.*]] = tile.reduce add %[[K_TILE]] axis 0 : tensor<16x24xf32> -> tensor<24xf32>
// CHECK-NEXT:      %[[NEXT_K_SUM:.*]] = arith.addf %[[K_SUM]], %[[K_TILE_SUM]] : tensor<24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_K_SUM]] : tensor<24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[RIGHT_START:.*]] = arith.maxsi %[[CHUNK_START]], %[[LOCAL_STOP]] : index
// CHECK-NEXT:    %[[K_TOTAL:.*]] = tile.loop #tile.sum %[[FIRST_KEY:[^ ]+]] = %[[RIGHT_START]] to %[[CHUNK_END]] step 16
// CHECK-SAME:        carries(%[[K_SUM:[^ ]+]] = %[[K_LEFT]]) : (tensor<24xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNK_END]]) : memref{{.*}} -> tensor<16x24xf32>
// CHECK-NEXT:      %[[K_TILE_SUM:.*]] = tile.reduce add %[[K_TILE]] axis 0 : tensor<16x24xf32> -> tensor<24xf32>
// CHECK-NEXT:      %[[NEXT_K_SUM:.*]] = arith.addf %[[K_SUM]], %[[K_TILE_SUM]] : tensor<24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_K_SUM]] : tensor<24xf32>
// CHECK-NEXT:    }
//   How many keys the two ranges have
// CHECK-NEXT:    %[[LEFT_OR_LESS:.*]] = arith.subi %[[LEFT_END]], %[[CHUNK_START]] : index
// CHECK-NEXT:    %[[LEFT_COUNT:.*]] = arith.maxsi %[[LEFT_OR_LESS]], %[[C0]] : index
// CHECK-NEXT:    %[[RIGHT_OR_LESS:.*]] = arith.subi %[[CHUNK_END]], %[[RIGHT_START]] : index
// CHECK-NEXT:    %[[RIGHT_COUNT:.*]] = arith.maxsi %[[RIGHT_OR_LESS]], %[[C0]] : index
// CHECK-NEXT:    %[[COUNT:.*]] = arith.addi %[[LEFT_COUNT]], %[[RIGHT_COUNT]] : index
// CHECK-NEXT:    %[[K_COUNT:.*]] = arith.maxsi %[[COUNT]], %[[C1]] : index
// CHECK-NEXT:    %[[K_DIVISOR:.*]] = tile.iota %[[K_COUNT]] : tensor<1xf32>
// CHECK-NEXT:    %[[K_TOTAL_ROW:.*]] = tile.expand %[[K_TOTAL]] axis 0 : tensor<24xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[K_DIVISOR_COLS:.*]] = tile.expand %[[K_DIVISOR]] axis 1 : tensor<1xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[K_MEAN:.*]] = arith.divf %[[K_TOTAL_ROW]], %[[K_DIVISOR_COLS]] : tensor<1x24xf32>
//   μ [1, 24] = 0.5 (q̄ + k̄)
// CHECK-NEXT:    %[[MEANS_ADDED:.*]] = arith.addf %[[Q_MEAN]], %[[K_MEAN]] : tensor<1x24xf32>
// CHECK-NEXT:    %[[MU:.*]] = arith.mulf %[[MEANS_ADDED]], %[[HALF_1x24]] : tensor<1x24xf32>
//   β [1, 40] = Σ_j softmax_j(s ⟨μ − k_j/2, k_j⟩) v_j over the first range,
// CHECK-NEXT:    %[[LEFT:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[CHUNK_START]] to %[[LEFT_END]] step 16
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_1]], %[[SUM:[^ ]+]] = %[[ZERO_1]], %[[ACC:[^ ]+]] = %[[ZERO_1x40]])
// CHECK-SAME:        : (tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[LEFT_END]]) : memref{{.*}} -> tensor<16x24xf32>
// CHECK-NEXT:      %[[K_HALF:.*]] = arith.mulf %[[K_TILE]], %[[HALF_16x24]] : tensor<16x24xf32>
// CHECK-NEXT:      %[[MU_VECTOR:.*]] = tile.reduce add %[[MU]] axis 0 : tensor<1x24xf32> -> tensor<24xf32>
// CHECK-NEXT:      %[[MU_ROWS:.*]] = tile.expand %[[MU_VECTOR]] axis 0 : tensor<24xf32> -> tensor<16x24xf32>
// CHECK-NEXT:      %[[MU_LESS_HALF:.*]] = arith.subf %[[MU_ROWS]], %[[K_HALF]] : tensor<16x24xf32>
// CHECK-NEXT:      %[[LOGIT_TERMS:.*]] = arith.mulf %[[K_TILE]], %[[MU_LESS_HALF]] : tensor<16x24xf32>
//     Logits as a row [1, tile] = s log2(e) · 1 (k ⊙ (μ − k/2))ᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[SCALE_1x24]], %[[LOGIT_TERMS]], %[[ZERO_1x16]] {transpose_b}
// CHECK-SAME:          : tensor<1x24xf32>, tensor<16x24xf32> -> tensor<1x16xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[LEFT_END]], %[[FIRST_KEY]] : index
//     Scores of keys that do not exist become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<1x16xf32>
//     Running maximum of each row [1]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<1x16xf32> -> tensor<1xf32>
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
//     Weights [1, 16] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<1xf32> -> tensor<1x16xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<1x16xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<1x16xf32>
//     Running sum [1]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<1x16xf32> -> tensor<1xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<1xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[LEFT_END]]) : memref{{.*}} -> tensor<16x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<1x16xf32>, tensor<16x40xf32> -> tensor<1x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>
// CHECK-NEXT:    }
//   and over the second.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[RIGHT_START]] to %[[CHUNK_END]] step 16
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[LEFT]]#0, %[[SUM:[^ ]+]] = %[[LEFT]]#1, %[[ACC:[^ ]+]] = %[[LEFT]]#2)
// CHECK-SAME:        : (tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNK_END]]) : memref{{.*}} -> tensor<16x24xf32>
// CHECK-NEXT:      %[[K_HALF:.*]] = arith.mulf %[[K_TILE]], %[[HALF_16x24]] : tensor<16x24xf32>
// CHECK-NEXT:      %[[MU_VECTOR:.*]] = tile.reduce add %[[MU]] axis 0 : tensor<1x24xf32> -> tensor<24xf32>
// CHECK-NEXT:      %[[MU_ROWS:.*]] = tile.expand %[[MU_VECTOR]] axis 0 : tensor<24xf32> -> tensor<16x24xf32>
// CHECK-NEXT:      %[[MU_LESS_HALF:.*]] = arith.subf %[[MU_ROWS]], %[[K_HALF]] : tensor<16x24xf32>
// CHECK-NEXT:      %[[LOGIT_TERMS:.*]] = arith.mulf %[[K_TILE]], %[[MU_LESS_HALF]] : tensor<16x24xf32>
//     Logits as a row [1, tile] = s log2(e) · 1 (k ⊙ (μ − k/2))ᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[SCALE_1x24]], %[[LOGIT_TERMS]], %[[ZERO_1x16]] {transpose_b}
// CHECK-SAME:          : tensor<1x24xf32>, tensor<16x24xf32> -> tensor<1x16xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[CHUNK_END]], %[[FIRST_KEY]] : index
//     Scores of keys that do not exist become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<1x16xf32>
//     Running maximum of each row [1]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<1x16xf32> -> tensor<1xf32>
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
//     Weights [1, 16] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<1xf32> -> tensor<1x16xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<1x16xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<1x16xf32>
//     Running sum [1]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<1x16xf32> -> tensor<1xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<1xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[CHUNK_END]]) : memref{{.*}} -> tensor<16x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<1x16xf32>, tensor<16x40xf32> -> tensor<1x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_1]], %[[ALL]]#1 : tensor<1xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_1]] : tensor<1xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_1]] : tensor<1xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_1]], %[[BOUNDED]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<1x40xf32>
//   Row of the summaries: edges lie after the chunks.
// CHECK-NEXT:    %[[ROW:.*]] = arith.addi %[[CHUNKS]], %[[EDGE]] : index
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[BETAS]][%[[BATCH]], %[[HEAD]], %[[ROW]], %[[C0]]] : tensor<1x40xf32>, memref
// CHECK-NEXT:    tile.store %[[K_MEAN]], %[[MEANS]][%[[BATCH]], %[[HEAD]], %[[ROW]], %[[C0]]] : tensor<1x24xf32>, memref
//   Log weight: log2 of the number of keys with `mass`, else 0; −∞ of a chunk without keys
// CHECK-NEXT:    %[[SIZE:.*]] = tile.iota %[[COUNT]] : tensor<1xf32>
// CHECK-NEXT:    %[[LOG_SIZE:.*]] = math.log2 %[[SIZE]] : tensor<1xf32>
// CHECK-NEXT:    %[[EMPTY_2:.*]] = arith.cmpf oeq, %[[SIZE]], %[[ZERO_1]] : tensor<1xf32>
// CHECK-NEXT:    %[[LOG_WEIGHT:.*]] = arith.select %[[EMPTY_2]], %[[NEG_INF_1]], %[[LOG_SIZE]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT:    tile.store %[[LOG_WEIGHT]], %[[LOG_WEIGHTS]][%[[BATCH]], %[[HEAD]], %[[ROW]]] : tensor<1xf32>, memref
// CHECK-NEXT:    tile.return
