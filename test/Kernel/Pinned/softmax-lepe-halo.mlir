// Exact softmax within windows of 144 tokens, LePE across their borders: neighbors outside the window count, only those outside the sequence are 0.
//
//   o_t = softmax(s q_t K_wᵀ) V_w + Σ_{δ = −1, 0, 1} w[:, δ + 1] ⊙ v_{t + δ}
//
// The convolution's loads count tokens of the sequence, not of the window. The weights are a parameter, so prepare packs them tap after tap. One
// thread block computes 48 queries of one head and window. d = 24, dv = 40.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
func.func @lepe(%q: !q, %k: !q, %v: !v, %w: tensor<2x40x3xf32> {attn.name = "w", attn.parameter}) -> !v {
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64, window = #attn.window<144>} : !q, !q, !v -> !v
  %r = attn.lepe %o, %v, %w : !v, !v, tensor<2x40x3xf32> -> !v
  return %r : !v
}

// The host function
// CHECK-LABEL: func.func @lepe__prepare(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x40x3xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[W_PACKED:[a-z0-9]+]]: memref<2x3x40xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         tile.launch @lepe__prepare_w_packed_pack grid(%[[C2]]) (%[[W]], %[[W_PACKED]]) :
// CHECK-NEXT:    return

// The host function
// CHECK-LABEL: func.func @lepe(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x40x3xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[W_PACKED:[a-z0-9]+]]: memref<2x3x40xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C144:.*]] = arith.constant 144 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[WINDOWS:.*]] = arith.divui %[[QUERIES]], %[[C144]] : index
//   Every window of every sequence is an entry of the batch axis.
// CHECK-NEXT:    %[[ALL_WINDOWS:.*]] = arith.muli %[[BATCHES]], %[[WINDOWS]] : index
// CHECK-NEXT:    tile.launch @lepe_softmax grid(%[[ALL_WINDOWS]], %[[C2]], %[[C3]]) (%[[Q]], %[[K]], %[[V]], %[[O]], %[[W_PACKED]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @lepe__prepare_w_packed_pack(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x40x3xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[W_PACKED:[a-z0-9]+]]: memref<2x3x40xf32>
// CHECK-SAME:    grid(head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32,
// CHECK-SAME:    warps = 1, stages = 1>}
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[TAP_COLUMN0:.*]] = tile.load %[[W]][%[[HEAD]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP0:.*]] = tile.reduce add %[[TAP_COLUMN0]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP0]], %[[W_PACKED]][%[[HEAD]], %[[C0]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN1:.*]] = tile.load %[[W]][%[[HEAD]], %[[C0]], %[[C1]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP1:.*]] = tile.reduce add %[[TAP_COLUMN1]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP1]], %[[W_PACKED]][%[[HEAD]], %[[C1]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN2:.*]] = tile.load %[[W]][%[[HEAD]], %[[C0]], %[[C2]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP2:.*]] = tile.reduce add %[[TAP_COLUMN2]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP2]], %[[W_PACKED]][%[[HEAD]], %[[C2]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    tile.return

// CHECK-LABEL: tile.kernel @lepe_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[W_PACKED:[a-z0-9]+]]: memref<2x3x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C_MINUS_1:.*]] = arith.constant -1 : index
// CHECK-DAG:     %[[FLOAT_MAX_48:.*]] = arith.constant dense<3.40282347E+38> : tensor<48xf32>
// CHECK-DAG:     %[[ONE_48:.*]] = arith.constant dense<1.000000e+00> : tensor<48xf32>
// CHECK-DAG:     %[[ZERO_48x48:.*]] = arith.constant dense<0.000000e+00> : tensor<48x48xf32>
// CHECK-DAG:     %[[ZERO_48x40:.*]] = arith.constant dense<0.000000e+00> : tensor<48x40xf32>
// CHECK-DAG:     %[[ZERO_48:.*]] = arith.constant dense<0.000000e+00> : tensor<48xf32>
// CHECK-DAG:     %[[NEG_INF_48:.*]] = arith.constant dense<0xFF800000> : tensor<48xf32>
// CHECK-DAG:     %[[SCALE_48x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<48x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C48:.*]] = arith.constant 48 : index
// CHECK-DAG:     %[[C144:.*]] = arith.constant 144 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[WINDOWS:.*]] = arith.divui %[[QUERIES]], %[[C144]] : index
//   The batch axis counts the windows of all sequences.
// CHECK-NEXT:    %[[WINDOW:.*]] = arith.remui %[[BATCH]], %[[WINDOWS]] : index
// CHECK-NEXT:    %[[SEQUENCE:.*]] = arith.divui %[[BATCH]], %[[WINDOWS]] : index
// CHECK-NEXT:    %[[ORIGIN:.*]] = arith.muli %[[WINDOW]], %[[C144]] : index
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C48]] : index
// CHECK-NEXT:    %[[FIRST_ROW:.*]] = arith.addi %[[ORIGIN]], %[[FIRST_QUERY]] : index
// CHECK-NEXT:    %[[WINDOW_END:.*]] = arith.addi %[[ORIGIN]], %[[C144]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_ROW]], %[[C0]]]
// CHECK-SAME:        rows(%[[WINDOW_END]]) : memref{{.*}} -> tensor<48x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_48x24]] : tensor<48x24xf32>
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[C144]] step 48
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
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C144]] to %[[C144]] step 48
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<48xf32>, tensor<48xf32>, tensor<48x40xf32>) {
// CHECK-NEXT:      %[[FIRST_KEY_ROW:.*]] = arith.addi %[[ORIGIN]], %[[FIRST_KEY]] : index
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_KEY_ROW]], %[[C0]]]
// CHECK-SAME:          rows(%[[WINDOW_END]]) : memref{{.*}} -> tensor<48x24xf32>
//     Scores [48, 48] = q [48, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_48x48]] {transpose_b}
// CHECK-SAME:          : tensor<48x24xf32>, tensor<48x24xf32> -> tensor<48x48xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[C144]], %[[FIRST_KEY]] : index
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
// CHECK-SAME:          rows(%[[WINDOW_END]]) : memref{{.*}} -> tensor<48x40xf32>
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
// CHECK-NEXT:    %[[FIRST_PREVIOUS:.*]] = arith.addi %[[FIRST_ROW]], %[[C_MINUS_1]] : index
//   Convolution: tap 0 with the rows before, tap 1 with the rows themselves, tap 2 with the rows after
// CHECK-NEXT:    %[[V_PREVIOUS:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_PREVIOUS]], %[[C0]]]
// CHECK-SAME:        from(%[[C0]]) : memref{{.*}} -> tensor<48x40xf32>
// CHECK-NEXT:    %[[TAP0:.*]] = tile.load %[[W_PACKED]][%[[HEAD]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP0_ROWS:.*]] = tile.expand %[[TAP0]] axis 0 : tensor<40xf32> -> tensor<48x40xf32>
// CHECK-NEXT:    %[[TERM_PREVIOUS:.*]] = arith.mulf %[[V_PREVIOUS]], %[[TAP0_ROWS]] : tensor<48x40xf32>
// CHECK-NEXT:    %[[V_HERE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_ROW]], %[[C0]]] : memref{{.*}} -> tensor<48x40xf32>
// CHECK-NEXT:    %[[TAP1:.*]] = tile.load %[[W_PACKED]][%[[HEAD]], %[[C1]], %[[C0]]] : memref{{.*}} -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP1_ROWS:.*]] = tile.expand %[[TAP1]] axis 0 : tensor<40xf32> -> tensor<48x40xf32>
// CHECK-NEXT:    %[[TERM_HERE:.*]] = arith.mulf %[[V_HERE]], %[[TAP1_ROWS]] : tensor<48x40xf32>
// CHECK-NEXT:    %[[WITH_HERE:.*]] = arith.addf %[[TERM_PREVIOUS]], %[[TERM_HERE]] : tensor<48x40xf32>
// CHECK-NEXT:    %[[FIRST_FOLLOWING:.*]] = arith.addi %[[FIRST_ROW]], %[[C1]] : index
// CHECK-NEXT:    %[[V_FOLLOWING:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_FOLLOWING]], %[[C0]]] : memref{{.*}} -> tensor<48x40xf32>
// CHECK-NEXT:    %[[TAP2:.*]] = tile.load %[[W_PACKED]][%[[HEAD]], %[[C2]], %[[C0]]] : memref{{.*}} -> tensor<40xf32>
// CHECK-NEXT:    %[[TAP2_ROWS:.*]] = tile.expand %[[TAP2]] axis 0 : tensor<40xf32> -> tensor<48x40xf32>
// CHECK-NEXT:    %[[TERM_FOLLOWING:.*]] = arith.mulf %[[V_FOLLOWING]], %[[TAP2_ROWS]] : tensor<48x40xf32>
// CHECK-NEXT:    %[[WITH_FOLLOWING:.*]] = arith.addf %[[WITH_HERE]], %[[TERM_FOLLOWING]] : tensor<48x40xf32>
//   Output = attention + convolution.
// CHECK-NEXT:    %[[OUTPUT_LEPE:.*]] = arith.addf %[[OUTPUT]], %[[WITH_FOLLOWING]] : tensor<48x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT_LEPE]], %[[O]][%[[SEQUENCE]], %[[HEAD]], %[[FIRST_ROW]], %[[C0]]]
// CHECK-SAME:        rows(%[[WINDOW_END]]) : tensor<48x40xf32>, memref
// CHECK-NEXT:    tile.return
