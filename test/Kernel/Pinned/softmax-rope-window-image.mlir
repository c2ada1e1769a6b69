// Exact softmax within windows of 7 x 5 tokens of an image of 14 x 15, with rotary positions of q: a token's position is that in the image.
//
//   q'_i = R(p_i) q_i,   o_i = Σ_j exp(s ⟨q'_i, k_j⟩) v_j / Σ_j exp(s ⟨q'_i, k_j⟩) over the window of i,   p = origin + (w div 5) · 10 + w
//
// One thread block computes the 35 queries of one head and window; w counts tokens of the window. d = 4, dv = 40. The second loop over keys has no
// steps.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x?x4xf32>
!v = tensor<?x2x?x40xf32>
func.func @image(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v {
  %rq = attn.rope %q {base = 1.0e+04 : f64} : !q -> !q
  %o = attn.softmax %rq, %k, %v {scale = 0.25 : f64, window = #attn.window<7x5 of 14x15>} : !q, !q, !v -> !v
  return %o : !v
}

// One launch: a thread block for each of the 6 windows of each sequence and each head.
// CHECK-LABEL: func.func @image(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x4xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x4xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
//   Every window of every sequence is an entry of the batch axis.
// CHECK-NEXT:    %[[ALL_WINDOWS:.*]] = arith.muli %[[BATCHES]], %[[C6]] : index
// CHECK-NEXT:    tile.launch @image_softmax grid(%[[ALL_WINDOWS]], %[[C2]], %[[C1]]) (%[[Q]], %[[K]], %[[V]], %[[O]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @image_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x4xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x4xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_35:.*]] = arith.constant dense<3.40282347E+38> : tensor<35xf32>
// CHECK-DAG:     %[[ONE_35:.*]] = arith.constant dense<1.000000e+00> : tensor<35xf32>
// CHECK-DAG:     %[[ZERO_35x35:.*]] = arith.constant dense<0.000000e+00> : tensor<35x35xf32>
// CHECK-DAG:     %[[ZERO_35x40:.*]] = arith.constant dense<0.000000e+00> : tensor<35x40xf32>
// CHECK-DAG:     %[[ZERO_35:.*]] = arith.constant dense<0.000000e+00> : tensor<35xf32>
// CHECK-DAG:     %[[NEG_INF_35:.*]] = arith.constant dense<0xFF800000> : tensor<35xf32>
// CHECK-DAG:     %[[SCALE_35x4:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<35x4xf32>
// CHECK-DAG:     %[[SIGNS_PAIRS_4:.*]] = arith.constant dense<[-1.000000e+00, 1.000000e+00, -1.000000e+00, 1.000000e+00]> : tensor<4xf32>
// CHECK-DAG:     %[[FREQ_LOW_PAIRS_4:.*]] = arith.constant dense<[6.42063824E-9, 6.42063824E-9, -5.68655505E-11, -5.68655505E-11]> : tensor<4xf32>
// CHECK-DAG:     %[[FREQ_PAIRS_4:.*]] = arith.constant dense<[0.159154937, 0.159154937, 0.00159154949, 0.00159154949]> : tensor<4xf32>
// CHECK-DAG:     %[[SKIP_35:.*]] = arith.constant dense<1.000000e+01> : tensor<35xf32>
// CHECK-DAG:     %[[INVERSE_COLUMNS_35:.*]] = arith.constant #tile.exact<2.000000e-01> : tensor<35xf32>
// CHECK-DAG:     %[[HALF_35:.*]] = arith.constant dense<5.000000e-01> : tensor<35xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
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
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_QUERY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x4xf32>
//   Position of token w of the window in the image: origin + (w div 5) · 10 + w
// CHECK-NEXT:    %[[Q_TOKEN:.*]] = tile.iota %[[FIRST_QUERY]] : tensor<35xf32>
// CHECK-NEXT:    %[[Q_MIDDLE:.*]] = arith.addf %[[Q_TOKEN]], %[[HALF_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[Q_ROW_REAL:.*]] = arith.mulf %[[Q_MIDDLE]], %[[INVERSE_COLUMNS_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[Q_ROW_SHIFTED:.*]] = arith.subf %[[Q_ROW_REAL]], %[[HALF_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[Q_ROW:.*]] = math.roundeven %[[Q_ROW_SHIFTED]] : tensor<35xf32>
// CHECK-NEXT:    %[[Q_SKIPPED:.*]] = arith.mulf %[[Q_ROW]], %[[SKIP_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[ORIGIN_NUMBER:.*]] = tile.iota %[[ORIGIN]] : tensor<1xf32>
// CHECK-NEXT:    %[[ORIGIN_COLS:.*]] = tile.expand %[[ORIGIN_NUMBER]] axis 1 : tensor<1xf32> -> tensor<1x35xf32>
// CHECK-NEXT:    %[[ORIGIN_ROWS:.*]] = tile.reduce add %[[ORIGIN_COLS]] axis 0 : tensor<1x35xf32> -> tensor<35xf32>
// CHECK-NEXT:    %[[Q_ROW_START:.*]] = arith.addf %[[ORIGIN_ROWS]], %[[Q_SKIPPED]] : tensor<35xf32>
// CHECK-NEXT:    %[[Q_POSITION:.*]] = arith.addf %[[Q_ROW_START]], %[[Q_TOKEN]] : tensor<35xf32>
// CHECK-NEXT:    %[[FREQ_PAIRS_ROWS:.*]] = tile.expand %[[FREQ_PAIRS_4]] axis 0 : tensor<4xf32> -> tensor<35x4xf32>
// CHECK-NEXT:    %[[FREQ_LOW_PAIRS_ROWS:.*]] = tile.expand %[[FREQ_LOW_PAIRS_4]] axis 0 : tensor<4xf32> -> tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_POSITION_COLS:.*]] = tile.expand %[[Q_POSITION]] axis 1 : tensor<35xf32> -> tensor<35x4xf32>
//   Angle in turns, less whole turns. The frequency is a pair of floats; what rounding the product lost is added again.
// CHECK-NEXT:    %[[Q_TURNS:.*]] = arith.mulf %[[Q_POSITION_COLS]], %[[FREQ_PAIRS_ROWS]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_TURNS_NEGATED:.*]] = arith.negf %[[Q_TURNS]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_TURNS_LOST:.*]] = math.fma %[[Q_POSITION_COLS]], %[[FREQ_PAIRS_ROWS]], %[[Q_TURNS_NEGATED]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_WHOLE_TURNS:.*]] = math.roundeven %[[Q_TURNS]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_TURNS_FRACTION:.*]] = arith.subf %[[Q_TURNS]], %[[Q_WHOLE_TURNS]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_TURNS_REST:.*]] = math.fma %[[Q_POSITION_COLS]], %[[FREQ_LOW_PAIRS_ROWS]], %[[Q_TURNS_LOST]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_ANGLE:.*]] = arith.addf %[[Q_TURNS_FRACTION]], %[[Q_TURNS_REST]] : tensor<35x4xf32>
//   x cos(angle) ± partner sin(angle)
// CHECK-NEXT:    %[[Q_PARTNER:.*]] = tile.permute_columns %[[Q_TILE]] [1, 0, 3, 2] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_SINE:.*]] = tile.sine %[[Q_ANGLE]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[SIGNS_PAIRS_ROWS:.*]] = tile.expand %[[SIGNS_PAIRS_4]] axis 0 : tensor<4xf32> -> tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_SIGNED_SINE:.*]] = arith.mulf %[[Q_SINE]], %[[SIGNS_PAIRS_ROWS]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_COSINE:.*]] = tile.cosine %[[Q_ANGLE]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_KEPT:.*]] = arith.mulf %[[Q_TILE]], %[[Q_COSINE]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_SWAPPED:.*]] = arith.mulf %[[Q_PARTNER]], %[[Q_SIGNED_SINE]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_ROTATED:.*]] = arith.addf %[[Q_KEPT]], %[[Q_SWAPPED]] : tensor<35x4xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_ROTATED]], %[[SCALE_35x4]] : tensor<35x4xf32>
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[C35]] step 35
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_35]], %[[SUM:[^ ]+]] = %[[ZERO_35]], %[[ACC:[^ ]+]] = %[[ZERO_35x40]])
// CHECK-SAME:        : (tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:          rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x4xf32>
//     Scores [35, 35] = q [35, 4] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_35x35]] {transpose_b}
// CHECK-SAME:          : tensor<35x4xf32>, tensor<35x4xf32> -> tensor<35x35xf32>
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
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C35]] to %[[C35]] step 35
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:          rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x4xf32>
//     Scores [35, 35] = q [35, 4] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_35x35]] {transpose_b}
// CHECK-SAME:          : tensor<35x4xf32>, tensor<35x4xf32> -> tensor<35x35xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[C35]], %[[FIRST_KEY]] : index
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
// CHECK-SAME:          rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
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
