// Exact softmax within windows of 7 x 5 tokens of an image of 14 x 15, with key lengths.
//
//   o_i = Σ_j exp(s ⟨q_i, k_j⟩) v_j / Σ_j exp(s ⟨q_i, k_j⟩)        over j of the window of i, j < length of the sequence
//
// One thread block computes the 35 queries of one head and window. Token w of a window lies at ORIGIN + (w div 5) · 15 + w mod 5: the loads and the
// store address it by `fold(w) columns 5 stride 15`. d = 24, dv = 40.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x4x?x24xf32>
!v = tensor<?x4x?x40xf32>
func.func @image(%q: !q, %k: !q, %v: !v, %lengths: tensor<?xi32>) -> !v {
  %o = attn.softmax %q, %k, %v lengths(%lengths : tensor<?xi32>) {scale = 0.25 : f64, window = #attn.window<7x5 of 14x15>} : !q, !q, !v -> !v
  return %o : !v
}

// One launch: a thread block for each of the 6 windows of each sequence and each head.
// CHECK-LABEL: func.func @image(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[KEY_LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
//   Every window of every sequence is an entry of the batch axis.
// CHECK-NEXT:    %[[ALL_WINDOWS:.*]] = arith.muli %[[BATCHES]], %[[C6]] : index
// CHECK-NEXT:    tile.launch @image_softmax grid(%[[ALL_WINDOWS]], %[[C4]], %[[C1]]) (%[[Q]], %[[K]], %[[V]], %[[KEY_LENGTHS]], %[[O]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @image_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[KEY_LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_35:.*]] = arith.constant dense<3.40282347E+38> : tensor<35xf32>
// CHECK-DAG:     %[[ONE_35:.*]] = arith.constant dense<1.000000e+00> : tensor<35xf32>
// CHECK-DAG:     %[[ZERO_35x35:.*]] = arith.constant dense<0.000000e+00> : tensor<35x35xf32>
// CHECK-DAG:     %[[ZERO_35x40:.*]] = arith.constant dense<0.000000e+00> : tensor<35x40xf32>
// CHECK-DAG:     %[[ZERO_35:.*]] = arith.constant dense<0.000000e+00> : tensor<35xf32>
// CHECK-DAG:     %[[NEG_INF_35:.*]] = arith.constant dense<0xFF800000> : tensor<35xf32>
// CHECK-DAG:     %[[SCALE_35x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<35x24xf32>
// CHECK-DAG:     %[[C15:.*]] = arith.constant 15 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C35:.*]] = arith.constant 35 : index
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG:     %[[C105:.*]] = arith.constant 105 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
//   The batch axis counts the windows of all sequences.
// CHECK-NEXT:    %[[WINDOW:.*]] = arith.remui %[[BATCH]], %[[C6]] : index
// CHECK-NEXT:    %[[SEQUENCE:.*]] = arith.divui %[[BATCH]], %[[C6]] : index
//   Windows lie 2 × 3 in the image; ORIGIN is the token at the top left of this one.
// CHECK-NEXT:    %[[WINDOW_ROW:.*]] = arith.divui %[[WINDOW]], %[[C3]] : index
// CHECK-NEXT:    %[[ROW_ORIGIN:.*]] = arith.muli %[[WINDOW_ROW]], %[[C105]] : index
// CHECK-NEXT:    %[[WINDOW_COLUMN:.*]] = arith.remui %[[WINDOW]], %[[C3]] : index
// CHECK-NEXT:    %[[COLUMN_ORIGIN:.*]] = arith.muli %[[WINDOW_COLUMN]], %[[C5]] : index
// CHECK-NEXT:    %[[ORIGIN:.*]] = arith.addi %[[ROW_ORIGIN]], %[[COLUMN_ORIGIN]] : index
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C35]] : index
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
//   The tokens of this sequence that exist: its length, kept within 0 and the number of tokens.
// CHECK-NEXT:    %[[LENGTH_I32:.*]] = memref.load %[[KEY_LENGTHS]][%[[SEQUENCE]]] : memref
// CHECK-NEXT:    %[[LENGTH_READ:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT:    %[[LENGTH_FLOOR:.*]] = arith.maxsi %[[LENGTH_READ]], %[[C0]] : index
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.minsi %[[LENGTH_FLOOR]], %[[KEYS]] : index
//   How many keys of this window exist.
// CHECK-NEXT:    %[[LENGTH_PAST_ORIGIN:.*]] = arith.subi %[[LENGTH]], %[[ORIGIN]] : index
// CHECK-NEXT:    %[[LENGTH_LEFT:.*]] = arith.maxsi %[[LENGTH_PAST_ORIGIN]], %[[C0]] : index
// CHECK-NEXT:    %[[WHOLE_ROWS:.*]] = arith.divui %[[LENGTH_LEFT]], %[[C15]] : index
// CHECK-NEXT:    %[[REST_OF_ROW:.*]] = arith.remui %[[LENGTH_LEFT]], %[[C15]] : index
// CHECK-NEXT:    %[[REST_IN_WINDOW:.*]] = arith.minsi %[[REST_OF_ROW]], %[[C5]] : index
// CHECK-NEXT:    %[[TOKENS_OF_ROWS:.*]] = arith.muli %[[WHOLE_ROWS]], %[[C5]] : index
// CHECK-NEXT:    %[[TOKENS_BELOW:.*]] = arith.addi %[[TOKENS_OF_ROWS]], %[[REST_IN_WINDOW]] : index
// CHECK-NEXT:    %[[WINDOW_LENGTH:.*]] = arith.minsi %[[TOKENS_BELOW]], %[[C35]] : index
//   Keys 0 to FULL_END: the whole tiles.
// CHECK-NEXT:    %[[SEEN_FLOOR:.*]] = arith.maxsi %[[WINDOW_LENGTH]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_TILES:.*]] = arith.divui %[[SEEN_FLOOR]], %[[C35]] : index
// CHECK-NEXT:    %[[FULL_END:.*]] = arith.muli %[[FULL_TILES]], %[[C35]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_QUERY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_35x24]] : tensor<35x24xf32>
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[FULL_END]] step 35
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_35]], %[[SUM:[^ ]+]] = %[[ZERO_35]], %[[ACC:[^ ]+]] = %[[ZERO_35x40]])
// CHECK-SAME:        : (tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:          rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x24xf32>
//     Scores [35, 35] = q [35, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_35x35]] {transpose_b}
// CHECK-SAME:          : tensor<35x24xf32>, tensor<35x24xf32> -> tensor<35x35xf32>
//     Running maximum of each row [35]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[SCORES]] axis 1 : tensor<35x35xf32> -> tensor<35xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<35xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [35]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[NEW_MAX]] : tensor<35xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<35xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<35xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<35xf32> -> tensor<35x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<35x40xf32>
//     Weights [35, 35] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[NEW_MAX]] axis 1 : tensor<35xf32> -> tensor<35x35xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[SCORES]], %[[SHIFT_COLS]] : tensor<35x35xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<35x35xf32>
//     Running sum [35]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<35x35xf32> -> tensor<35xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<35xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:          rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
//     Accumulator [35, 40] = exp2(max − new max) · accumulator + weights [35, 35] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<35x35xf32>, tensor<35x40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[WINDOW_LENGTH]] step 35
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:          rows(%[[WINDOW_LENGTH]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x24xf32>
//     Scores [35, 35] = q [35, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_35x35]] {transpose_b}
// CHECK-SAME:          : tensor<35x24xf32>, tensor<35x24xf32> -> tensor<35x35xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[WINDOW_LENGTH]], %[[FIRST_KEY]] : index
//     Scores of keys that do not exist become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<35x35xf32>
//     Running maximum of each row [35]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<35x35xf32> -> tensor<35xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<35xf32>
//     A row that has seen no key yet has the maximum −∞; 0 is subtracted instead, since −∞ − −∞ is NaN.
// CHECK-NEXT:      %[[UNSEEN:.*]] = arith.cmpf oeq, %[[NEW_MAX]], %[[NEG_INF_35]] : tensor<35xf32>
// CHECK-NEXT:      %[[SHIFT:.*]] = arith.select %[[UNSEEN]], %[[ZERO_35]], %[[NEW_MAX]] : tensor<35xi1>, tensor<35xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [35]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[SHIFT]] : tensor<35xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<35xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<35xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<35xf32> -> tensor<35x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<35x40xf32>
//     Weights [35, 35] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<35xf32> -> tensor<35x35xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<35x35xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<35x35xf32>
//     Running sum [35]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<35x35xf32> -> tensor<35xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<35xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:          rows(%[[WINDOW_LENGTH]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
//     Accumulator [35, 40] = exp2(max − new max) · accumulator + weights [35, 35] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<35x35xf32>, tensor<35x40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_35]], %[[ALL]]#1 : tensor<35xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_35]], %[[BOUNDED]] : tensor<35xi1>, tensor<35xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<35xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<35x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_QUERY]]) columns 5 stride 15 : tensor<35x40xf32>, memref
// CHECK-NEXT:    tile.return
