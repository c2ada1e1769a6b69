// Exact softmax within windows of 96 consecutive tokens, with key lengths.
//
//   o_i = Σ_j exp(s ⟨q_i, k_j⟩) v_j / Σ_j exp(s ⟨q_i, k_j⟩)        over j of the window of i, j < length of the sequence
//
// One thread block computes 48 queries of one head and window: tiles divide the window. Loops count tokens of the window from 0; a load adds the
// first token of the window (ORIGIN) and ends at the window's end. d = 24, dv = 40.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x4x?x24xf32>
!v = tensor<?x4x?x40xf32>
func.func @window(%q: !q, %k: !q, %v: !v, %lengths: tensor<?xi32>) -> !v {
  %o = attn.softmax %q, %k, %v lengths(%lengths : tensor<?xi32>) {scale = 0.25 : f64, window = #attn.window<96>} : !q, !q, !v -> !v
  return %o : !v
}

// One launch: a thread block for each window of each sequence, head and 48 queries.
// CHECK-LABEL: func.func @window(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[KEY_LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C96:.*]] = arith.constant 96 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[WINDOWS:.*]] = arith.divui %[[QUERIES]], %[[C96]] : index
//   Every window of every sequence is an entry of the batch axis.
// CHECK-NEXT:    %[[ALL_WINDOWS:.*]] = arith.muli %[[BATCHES]], %[[WINDOWS]] : index
// CHECK-NEXT:    tile.launch @window_softmax grid(%[[ALL_WINDOWS]], %[[C4]], %[[C2]]) (%[[Q]], %[[K]], %[[V]], %[[KEY_LENGTHS]], %[[O]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @window_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[KEY_LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_48:.*]] = arith.constant dense<3.40282347E+38> : tensor<48xf32>
// CHECK-DAG:     %[[ONE_48:.*]] = arith.constant dense<1.000000e+00> : tensor<48xf32>
// CHECK-DAG:     %[[ZERO_48x48:.*]] = arith.constant dense<0.000000e+00> : tensor<48x48xf32>
// CHECK-DAG:     %[[ZERO_48x40:.*]] = arith.constant dense<0.000000e+00> : tensor<48x40xf32>
// CHECK-DAG:     %[[ZERO_48:.*]] = arith.constant dense<0.000000e+00> : tensor<48xf32>
// CHECK-DAG:     %[[NEG_INF_48:.*]] = arith.constant dense<0xFF800000> : tensor<48xf32>
// CHECK-DAG:     %[[SCALE_48x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<48x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C48:.*]] = arith.constant 48 : index
// CHECK-DAG:     %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[WINDOWS:.*]] = arith.divui %[[QUERIES]], %[[C96]] : index
//   The batch axis counts the windows of all sequences.
// CHECK-NEXT:    %[[WINDOW:.*]] = arith.remui %[[BATCH]], %[[WINDOWS]] : index
// CHECK-NEXT:    %[[SEQUENCE:.*]] = arith.divui %[[BATCH]], %[[WINDOWS]] : index
// CHECK-NEXT:    %[[ORIGIN:.*]] = arith.muli %[[WINDOW]], %[[C96]] : index
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C48]] : index
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
//   The tokens of this sequence that exist: its length, kept within 0 and the number of tokens.
// CHECK-NEXT:    %[[LENGTH_I32:.*]] = memref.load %[[KEY_LENGTHS]][%[[SEQUENCE]]] : memref
// CHECK-NEXT:    %[[LENGTH_READ:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT:    %[[LENGTH_FLOOR:.*]] = arith.maxsi %[[LENGTH_READ]], %[[C0]] : index
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.minsi %[[LENGTH_FLOOR]], %[[KEYS]] : index
//   How many keys of this window exist.
// CHECK-NEXT:    %[[LENGTH_PAST_ORIGIN:.*]] = arith.subi %[[LENGTH]], %[[ORIGIN]] : index
// CHECK-NEXT:    %[[LENGTH_LEFT:.*]] = arith.maxsi %[[LENGTH_PAST_ORIGIN]], %[[C0]] : index
// CHECK-NEXT:    %[[WINDOW_LENGTH:.*]] = arith.minsi %[[LENGTH_LEFT]], %[[C96]] : index
//   Keys 0 to FULL_END: the whole tiles.
// CHECK-NEXT:    %[[SEEN_FLOOR:.*]] = arith.maxsi %[[WINDOW_LENGTH]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_TILES:.*]] = arith.divui %[[SEEN_FLOOR]], %[[C48]] : index
// CHECK-NEXT:    %[[FULL_END:.*]] = arith.muli %[[FULL_TILES]], %[[C48]] : index
// CHECK-NEXT:    %[[FIRST_ROW:.*]] = arith.addi %[[ORIGIN]], %[[FIRST_QUERY]] : index
// CHECK-NEXT:    %[[WINDOW_END:.*]] = arith.addi %[[ORIGIN]], %[[C96]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_ROW]], %[[C0]]]
// CHECK-SAME:        rows(%[[WINDOW_END]]) : memref{{.*}} -> tensor<48x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_48x24]] : tensor<48x24xf32>
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[FULL_END]] step 48
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_48]], %[[SUM:[^ ]+]] = %[[ZERO_48]], %[[ACC:[^ ]+]] = %[[ZERO_48x40]])
// CHECK-SAME:        : (tensor<48xf32>, tensor<48xf32>, tensor<48x40xf32>) {
// CHECK-NEXT:      %[[FIRST_KEY_ROW:.*]] = arith.addi %[[ORIGIN]], %[[FIRST_KEY]] : index
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_KEY_ROW]], %[[C0]]]
// CHECK-SAME:          rows(%[[WINDOW_END]]) : memref{{.*}} -> tensor<48x24xf32>
//     Scores [48, 48] = q [48, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_48x48]] {transpose_b}
// CHECK-SAME:          : tensor<48x24xf32>, tensor<48x24xf32> -> tensor<48x48xf32>
//     Running maximum of each row [48]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[SCORES]] axis 1 : tensor<48x48xf32> -> tensor<48xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<48xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [48]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[NEW_MAX]] : tensor<48xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<48xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<48xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<48xf32> -> tensor<48x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<48x40xf32>
//     Weights [48, 48] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[NEW_MAX]] axis 1 : tensor<48xf32> -> tensor<48x48xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[SCORES]], %[[SHIFT_COLS]] : tensor<48x48xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<48x48xf32>
//     Running sum [48]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<48x48xf32> -> tensor<48xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<48xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_KEY_ROW]], %[[C0]]]
// CHECK-SAME:          rows(%[[WINDOW_END]]) : memref{{.*}} -> tensor<48x40xf32>
//     Accumulator [48, 40] = exp2(max − new max) · accumulator + weights [48, 48] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<48x48xf32>, tensor<48x40xf32> -> tensor<48x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<48xf32>, tensor<48xf32>, tensor<48x40xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[WINDOW_LENGTH]] step 48
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<48xf32>, tensor<48xf32>, tensor<48x40xf32>) {
// CHECK-NEXT:      %[[FIRST_KEY_ROW:.*]] = arith.addi %[[ORIGIN]], %[[FIRST_KEY]] : index
// CHECK-NEXT:      %[[LENGTH_END:.*]] = arith.addi %[[ORIGIN]], %[[WINDOW_LENGTH]] : index
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_KEY_ROW]], %[[C0]]]
// CHECK-SAME:          rows(%[[LENGTH_END]]) : memref{{.*}} -> tensor<48x24xf32>
//     Scores [48, 48] = q [48, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_48x48]] {transpose_b}
// CHECK-SAME:          : tensor<48x24xf32>, tensor<48x24xf32> -> tensor<48x48xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[WINDOW_LENGTH]], %[[FIRST_KEY]] : index
//     Scores of keys that do not exist become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<48x48xf32>
//     Running maximum of each row [48]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<48x48xf32> -> tensor<48xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<48xf32>
//     A row that has seen no key yet has the maximum −∞; 0 is subtracted instead, since −∞ − −∞ is NaN.
// CHECK-NEXT:      %[[UNSEEN:.*]] = arith.cmpf oeq, %[[NEW_MAX]], %[[NEG_INF_48]] : tensor<48xf32>
// CHECK-NEXT:      %[[SHIFT:.*]] = arith.select %[[UNSEEN]], %[[ZERO_48]], %[[NEW_MAX]] : tensor<48xi1>, tensor<48xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [48]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[SHIFT]] : tensor<48xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<48xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<48xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<48xf32> -> tensor<48x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<48x40xf32>
//     Weights [48, 48] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<48xf32> -> tensor<48x48xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<48x48xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<48x48xf32>
//     Running sum [48]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<48x48xf32> -> tensor<48xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<48xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_KEY_ROW]], %[[C0]]]
// CHECK-SAME:          rows(%[[LENGTH_END]]) : memref{{.*}} -> tensor<48x40xf32>
//     Accumulator [48, 40] = exp2(max − new max) · accumulator + weights [48, 48] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<48x48xf32>, tensor<48x40xf32> -> tensor<48x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<48xf32>, tensor<48xf32>, tensor<48x40xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_48]], %[[ALL]]#1 : tensor<48xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_48]] : tensor<48xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_48]] : tensor<48xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_48]], %[[BOUNDED]] : tensor<48xi1>, tensor<48xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<48xf32> -> tensor<48x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<48x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_ROW]], %[[C0]]] rows(%[[WINDOW_END]]) : tensor<48x40xf32>, memref
// CHECK-NEXT:    tile.return
