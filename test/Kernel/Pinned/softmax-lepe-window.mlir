// Exact softmax within windows of 7 x 5 tokens of an image of 14 x 15, LePE within the window: neighbors outside the window are 0.
//
//   o_t = softmax(s q_t Kᵀ) V + Σ_{δy, δx = −1, 0, 1} w[:, δy + 1, δx + 1] ⊙ v_{t + 5 δy + δx}        t counts tokens of the window
//
// One thread block computes the 35 queries of one head and window; the loads of the convolution go through the window's `fold`, with bounds 0 and
// 35. Tokens of the first and last column leave three taps out. The second loop over keys has no steps, since no key is missing. d = 24, dv = 40.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
func.func @lepe(%q: !q, %k: !q, %v: !v, %w: tensor<2x40x3x3xf32> {attn.name = "w"}) -> !v {
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64, window = #attn.window<7x5 of 14x15>} : !q, !q, !v -> !v
  %r = attn.lepe %o, %v, %w {window = #attn.window<7x5 of 14x15>} : !v, !v, tensor<2x40x3x3xf32> -> !v
  return %r : !v
}

// The host function
// CHECK-LABEL: func.func @lepe(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x40x3x3xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
//   Every window of every sequence is an entry of the batch axis.
// CHECK-NEXT:    %[[ALL_WINDOWS:.*]] = arith.muli %[[BATCHES]], %[[C6]] : index
// CHECK-NEXT:    tile.launch @lepe_softmax grid(%[[ALL_WINDOWS]], %[[C2]], %[[C1]]) (%[[Q]], %[[K]], %[[V]], %[[W]], %[[O]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @lepe_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x40x3x3xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[LAST_COLUMN_35x40:.*]] = arith.constant dense<4.000000e+00> : tensor<35x40xf32>
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C_MINUS_4:.*]] = arith.constant -4 : index
// CHECK-DAG:     %[[C_MINUS_1:.*]] = arith.constant -1 : index
// CHECK-DAG:     %[[C_MINUS_6:.*]] = arith.constant -6 : index
// CHECK-DAG:     %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C_MINUS_5:.*]] = arith.constant -5 : index
// CHECK-DAG:     %[[COLUMNS_35:.*]] = arith.constant dense<5.000000e+00> : tensor<35xf32>
// CHECK-DAG:     %[[INVERSE_COLUMNS_35:.*]] = arith.constant #tile.exact<2.000000e-01> : tensor<35xf32>
// CHECK-DAG:     %[[HALF_35:.*]] = arith.constant dense<5.000000e-01> : tensor<35xf32>
// CHECK-DAG:     %[[FLOAT_MAX_35:.*]] = arith.constant dense<3.40282347E+38> : tensor<35xf32>
// CHECK-DAG:     %[[ONE_35:.*]] = arith.constant dense<1.000000e+00> : tensor<35xf32>
// CHECK-DAG:     %[[ZERO_35x35:.*]] = arith.constant dense<0.000000e+00> : tensor<35x35xf32>
// CHECK-DAG:     %[[ZERO_35x40:.*]] = arith.constant dense<0.000000e+00> : tensor<35x40xf32>
// CHECK-DAG:     %[[ZERO_35:.*]] = arith.constant dense<0.000000e+00> : tensor<35xf32>
// CHECK-DAG:     %[[NEG_INF_35:.*]] = arith.constant dense<0xFF800000> : tensor<35xf32>
// CHECK-DAG:     %[[SCALE_35x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<35x24xf32>
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
//   The 3 × 3 weights of a channel as 9 taps.
// CHECK-NEXT:    %[[TAPS:.*]] = memref.collapse_shape %[[W]] {{\[\[0\], \[1\], \[2, 3\]\]}}
// CHECK-SAME:        : memref<2x40x3x3xf32, strided<[?, ?, ?, 1]>> into memref<2x40x9xf32, strided<[?, ?, 1]>>
//   Column of each token in its row of the image: t − C · round((t + 0.5) / C − 0.5), C columns, exact in f32.
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.remui %[[FIRST_QUERY]], %[[C5]] : index
// CHECK-NEXT:    %[[TOKEN:.*]] = tile.iota %[[FIRST_COLUMN]] : tensor<35xf32>
// CHECK-NEXT:    %[[TOKEN_MIDDLE:.*]] = arith.addf %[[TOKEN]], %[[HALF_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[ROW_REAL:.*]] = arith.mulf %[[TOKEN_MIDDLE]], %[[INVERSE_COLUMNS_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[ROW_SHIFTED:.*]] = arith.subf %[[ROW_REAL]], %[[HALF_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[ROW:.*]] = math.roundeven %[[ROW_SHIFTED]] : tensor<35xf32>
// CHECK-NEXT:    %[[ROW_TOKENS:.*]] = arith.mulf %[[ROW]], %[[COLUMNS_35]] : tensor<35xf32>
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.subf %[[TOKEN]], %[[ROW_TOKENS]] : tensor<35xf32>
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_QUERY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_35x24]] : tensor<35x24xf32>
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[C35]] step 35
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
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C35]] to %[[C35]] step 35
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:          rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x24xf32>
//     Scores [35, 35] = q [35, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_35x35]] {transpose_b}
// CHECK-SAME:          : tensor<35x24xf32>, tensor<35x24xf32> -> tensor<35x35xf32>
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
// CHECK-NEXT:    %[[FIRST_UP:.*]] = arith.addi %[[FIRST_QUERY]], %[[C_MINUS_5]] : index
//   The three taps of the token's own column: above, in place, below
// CHECK-NEXT:    %[[V_UP:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        from(%[[C0]]) rows(%[[C35]]) fold(%[[FIRST_UP]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TAP_COLUMN1:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C1]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP1:.*]] = tile.reduce add %[[TAP_COLUMN1]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP1_ROWS:.*]] = tile.expand %[[TAP1]] axis 0 : tensor<40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TERM_UP:.*]] = arith.mulf %[[V_UP]], %[[TAP1_ROWS]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[V_HERE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_QUERY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TAP_COLUMN4:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C4]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP4:.*]] = tile.reduce add %[[TAP_COLUMN4]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP4_ROWS:.*]] = tile.expand %[[TAP4]] axis 0 : tensor<40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TERM_HERE:.*]] = arith.mulf %[[V_HERE]], %[[TAP4_ROWS]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[WITH_HERE:.*]] = arith.addf %[[TERM_UP]], %[[TERM_HERE]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[FIRST_DOWN:.*]] = arith.addi %[[FIRST_QUERY]], %[[C5]] : index
// CHECK-NEXT:    %[[V_DOWN:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_DOWN]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TAP_COLUMN7:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C7]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP7:.*]] = tile.reduce add %[[TAP_COLUMN7]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP7_ROWS:.*]] = tile.expand %[[TAP7]] axis 0 : tensor<40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TERM_DOWN:.*]] = arith.mulf %[[V_DOWN]], %[[TAP7_ROWS]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[WITH_DOWN:.*]] = arith.addf %[[WITH_HERE]], %[[TERM_DOWN]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[FIRST_UP_LEFT:.*]] = arith.addi %[[FIRST_QUERY]], %[[C_MINUS_6]] : index
//   The three taps to the left: above, in place, below
// CHECK-NEXT:    %[[V_UP_LEFT:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        from(%[[C0]]) rows(%[[C35]]) fold(%[[FIRST_UP_LEFT]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TAP_COLUMN0:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP0:.*]] = tile.reduce add %[[TAP_COLUMN0]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP0_ROWS:.*]] = tile.expand %[[TAP0]] axis 0 : tensor<40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TERM_UP_LEFT:.*]] = arith.mulf %[[V_UP_LEFT]], %[[TAP0_ROWS]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[WITH_UP_LEFT:.*]] = arith.addf %[[WITH_DOWN]], %[[TERM_UP_LEFT]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[FIRST_LEFT:.*]] = arith.addi %[[FIRST_QUERY]], %[[C_MINUS_1]] : index
// CHECK-NEXT:    %[[V_LEFT:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        from(%[[C0]]) rows(%[[C35]]) fold(%[[FIRST_LEFT]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TAP_COLUMN3:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C3]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP3:.*]] = tile.reduce add %[[TAP_COLUMN3]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP3_ROWS:.*]] = tile.expand %[[TAP3]] axis 0 : tensor<40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TERM_LEFT:.*]] = arith.mulf %[[V_LEFT]], %[[TAP3_ROWS]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[WITH_LEFT:.*]] = arith.addf %[[WITH_UP_LEFT]], %[[TERM_LEFT]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[FIRST_DOWN_LEFT:.*]] = arith.addi %[[FIRST_QUERY]], %[[C4]] : index
// CHECK-NEXT:    %[[V_DOWN_LEFT:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_DOWN_LEFT]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TAP_COLUMN6:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C6]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP6:.*]] = tile.reduce add %[[TAP_COLUMN6]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP6_ROWS:.*]] = tile.expand %[[TAP6]] axis 0 : tensor<40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TERM_DOWN_LEFT:.*]] = arith.mulf %[[V_DOWN_LEFT]], %[[TAP6_ROWS]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[WITH_DOWN_LEFT:.*]] = arith.addf %[[WITH_LEFT]], %[[TERM_DOWN_LEFT]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[COLUMN_COLS:.*]] = tile.expand %[[COLUMN]] axis 1 : tensor<35xf32> -> tensor<35x40xf32>
//   Tokens of column 0 have no neighbor to the left: their sum is that from before.
// CHECK-NEXT:    %[[AT_LEFT_EDGE:.*]] = arith.cmpf oeq, %[[COLUMN_COLS]], %[[ZERO_35x40]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[WITH_LEFT_COLUMN:.*]] = arith.select %[[AT_LEFT_EDGE]], %[[WITH_DOWN]], %[[WITH_DOWN_LEFT]] : tensor<35x40xi1>, tensor<35x40xf32>
// CHECK-NEXT:    %[[FIRST_UP_RIGHT:.*]] = arith.addi %[[FIRST_QUERY]], %[[C_MINUS_4]] : index
//   The three taps to the right: above, in place, below
// CHECK-NEXT:    %[[V_UP_RIGHT:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        from(%[[C0]]) rows(%[[C35]]) fold(%[[FIRST_UP_RIGHT]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TAP_COLUMN2:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C2]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP2:.*]] = tile.reduce add %[[TAP_COLUMN2]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP2_ROWS:.*]] = tile.expand %[[TAP2]] axis 0 : tensor<40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TERM_UP_RIGHT:.*]] = arith.mulf %[[V_UP_RIGHT]], %[[TAP2_ROWS]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[WITH_UP_RIGHT:.*]] = arith.addf %[[WITH_LEFT_COLUMN]], %[[TERM_UP_RIGHT]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[FIRST_RIGHT:.*]] = arith.addi %[[FIRST_QUERY]], %[[C1]] : index
// CHECK-NEXT:    %[[V_RIGHT:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_RIGHT]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TAP_COLUMN5:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C5]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP5:.*]] = tile.reduce add %[[TAP_COLUMN5]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP5_ROWS:.*]] = tile.expand %[[TAP5]] axis 0 : tensor<40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TERM_RIGHT:.*]] = arith.mulf %[[V_RIGHT]], %[[TAP5_ROWS]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[WITH_RIGHT:.*]] = arith.addf %[[WITH_UP_RIGHT]], %[[TERM_RIGHT]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[FIRST_DOWN_RIGHT:.*]] = arith.addi %[[FIRST_QUERY]], %[[C6]] : index
// CHECK-NEXT:    %[[V_DOWN_RIGHT:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_DOWN_RIGHT]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TAP_COLUMN8:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C8]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP8:.*]] = tile.reduce add %[[TAP_COLUMN8]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP8_ROWS:.*]] = tile.expand %[[TAP8]] axis 0 : tensor<40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:    %[[TERM_DOWN_RIGHT:.*]] = arith.mulf %[[V_DOWN_RIGHT]], %[[TAP8_ROWS]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[WITH_DOWN_RIGHT:.*]] = arith.addf %[[WITH_RIGHT]], %[[TERM_DOWN_RIGHT]] : tensor<35x40xf32>
//   Tokens of the last column have no neighbor to the right.
// CHECK-NEXT:    %[[AT_RIGHT_EDGE:.*]] = arith.cmpf oeq, %[[COLUMN_COLS]], %[[LAST_COLUMN_35x40]] : tensor<35x40xf32>
// CHECK-NEXT:    %[[CONVOLVED:.*]] = arith.select %[[AT_RIGHT_EDGE]], %[[WITH_LEFT_COLUMN]], %[[WITH_DOWN_RIGHT]]
// CHECK-SAME:        : tensor<35x40xi1>, tensor<35x40xf32>
//   Output = attention + convolution.
// CHECK-NEXT:    %[[OUTPUT_LEPE:.*]] = arith.addf %[[OUTPUT]], %[[CONVOLVED]] : tensor<35x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT_LEPE]], %[[O]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_QUERY]]) columns 5 stride 15 : tensor<35x40xf32>, memref
// CHECK-NEXT:    tile.return
