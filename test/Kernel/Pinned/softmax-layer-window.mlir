// Exact softmax within windows of 7 x 5 tokens of an image of 14 x 15, with the output projection and its bias in the epilogue.
//
//   y = Σ_h softmax_window(0.25 q_h k_hᵀ) v_h W_O,h + b_O        d = 24, dv = 40, 2 heads, model width 72
//
// One thread block computes the 35 rows of a window of y, in a loop over the heads; they are stored through the window's `fold`. The second loop
// over keys has no steps, since no key is missing.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!y = tensor<?x?x72xf32>
func.func @layer(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}, %wo: tensor<80x72xf32> {attn.name = "wo"},
                 %bo: tensor<72xf32> {attn.name = "bo"}) -> !y {
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64, window = #attn.window<7x5 of 14x15>} : !q, !q, !v -> !v
  %y = attn.project_output %o, %wo bias(%bo : tensor<72xf32>) {execution = #attn.execution<values = fused>} : !v, tensor<80x72xf32> -> !y
  return %y : !y
}

// One launch: a thread block for each of the 6 windows of each sequence.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[WO:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BO:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?x?x72xf32, strided<[?, ?, 1]>>
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
//   Every window of every sequence is an entry of the batch axis.
// CHECK-NEXT:    %[[ALL_WINDOWS:.*]] = arith.muli %[[BATCHES]], %[[C6]] : index
// CHECK-NEXT:    tile.launch @layer_softmax grid(%[[ALL_WINDOWS]], %[[C1]]) (%[[Q]], %[[K]], %[[V]], %[[WO]], %[[BO]], %[[Y]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @layer_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[WO:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BO:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?x?x72xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    grid(batch, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C40:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[FLOAT_MAX_35:.*]] = arith.constant dense<3.40282347E+38> : tensor<35xf32>
// CHECK-DAG:     %[[ONE_35:.*]] = arith.constant dense<1.000000e+00> : tensor<35xf32>
// CHECK-DAG:     %[[ZERO_35x35:.*]] = arith.constant dense<0.000000e+00> : tensor<35x35xf32>
// CHECK-DAG:     %[[ZERO_35x40:.*]] = arith.constant dense<0.000000e+00> : tensor<35x40xf32>
// CHECK-DAG:     %[[ZERO_35:.*]] = arith.constant dense<0.000000e+00> : tensor<35xf32>
// CHECK-DAG:     %[[NEG_INF_35:.*]] = arith.constant dense<0xFF800000> : tensor<35xf32>
// CHECK-DAG:     %[[SCALE_35x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<35x24xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[ZERO_35x72:.*]] = arith.constant dense<0.000000e+00> : tensor<35x72xf32>
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
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C35]] : index
//   The heads one after another; carried is the sum of their projected outputs [35, 72].
// CHECK-NEXT:    %[[Y_TILE:.*]] = tile.loop #tile.sum %[[HEAD:[^ ]+]] = %[[C0]] to %[[C2]] step 1
// CHECK-SAME:        carries(%[[Y_SUM:[^ ]+]] = %[[ZERO_35x72]]) : (tensor<35x72xf32>) {
// CHECK-NEXT:      %[[Q_TILE:.*]] = tile.load %[[Q]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:          rows(%[[C35]]) fold(%[[FIRST_QUERY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x24xf32>
// CHECK-NEXT:      %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_35x24]] : tensor<35x24xf32>
//     Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:      %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[C35]] step 35
// CHECK-SAME:          carries(%[[MAX:[^ ]+]] = %[[NEG_INF_35]], %[[SUM:[^ ]+]] = %[[ZERO_35]], %[[ACC:[^ ]+]] = %[[ZERO_35x40]])
// CHECK-SAME:          : (tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>) {
// CHECK-NEXT:        %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:            rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x24xf32>
//       Scores [35, 35] = q [35, 24] kᵀ
// CHECK-NEXT:        %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_35x35]] {transpose_b}
// CHECK-SAME:            : tensor<35x24xf32>, tensor<35x24xf32> -> tensor<35x35xf32>
//       Running maximum of each row [35]
// CHECK-NEXT:        %[[TILE_MAX:.*]] = tile.reduce max %[[SCORES]] axis 1 : tensor<35x35xf32> -> tensor<35xf32>
// CHECK-NEXT:        %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<35xf32>
//       What the sum and the accumulator so far are multiplied by: exp2(max − new max) [35]
// CHECK-NEXT:        %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[NEW_MAX]] : tensor<35xf32>
// CHECK-NEXT:        %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<35xf32>
// CHECK-NEXT:        %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<35xf32>
// CHECK-NEXT:        %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<35xf32> -> tensor<35x40xf32>
// CHECK-NEXT:        %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<35x40xf32>
//       Weights [35, 35] = exp2(scores − new max)
// CHECK-NEXT:        %[[SHIFT_COLS:.*]] = tile.expand %[[NEW_MAX]] axis 1 : tensor<35xf32> -> tensor<35x35xf32>
// CHECK-NEXT:        %[[EXPONENTS:.*]] = arith.subf %[[SCORES]], %[[SHIFT_COLS]] : tensor<35x35xf32>
// CHECK-NEXT:        %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<35x35xf32>
//       Running sum [35]
// CHECK-NEXT:        %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<35x35xf32> -> tensor<35xf32>
// CHECK-NEXT:        %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<35xf32>
// CHECK-NEXT:        %[[V_TILE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:            rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
//       Accumulator [35, 40] = exp2(max − new max) · accumulator + weights [35, 35] v
// CHECK-NEXT:        %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<35x35xf32>, tensor<35x40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:        tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>
// CHECK-NEXT:      }
//     The same over the last key tiles, with the mask.
// CHECK-NEXT:      %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C35]] to %[[C35]] step 35
// CHECK-SAME:          carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:          : (tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>) {
// CHECK-NEXT:        %[[K_TILE:.*]] = tile.load %[[K]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:            rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x24xf32>
//       Scores [35, 35] = q [35, 24] kᵀ
// CHECK-NEXT:        %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_35x35]] {transpose_b}
// CHECK-SAME:            : tensor<35x24xf32>, tensor<35x24xf32> -> tensor<35x35xf32>
// CHECK-NEXT:        %[[KEYS_LEFT:.*]] = arith.subi %[[C35]], %[[FIRST_KEY]] : index
//       Scores of keys that do not exist become −∞.
// CHECK-NEXT:        %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<35x35xf32>
//       Running maximum of each row [35]
// CHECK-NEXT:        %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<35x35xf32> -> tensor<35xf32>
// CHECK-NEXT:        %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<35xf32>
//       A row that has seen no key yet has the maximum −∞; 0 is subtracted instead, since −∞ − −∞ is NaN.
// CHECK-NEXT:        %[[UNSEEN:.*]] = arith.cmpf oeq, %[[NEW_MAX]], %[[NEG_INF_35]] : tensor<35xf32>
// CHECK-NEXT:        %[[SHIFT:.*]] = arith.select %[[UNSEEN]], %[[ZERO_35]], %[[NEW_MAX]] : tensor<35xi1>, tensor<35xf32>
//       What the sum and the accumulator so far are multiplied by: exp2(max − new max) [35]
// CHECK-NEXT:        %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[SHIFT]] : tensor<35xf32>
// CHECK-NEXT:        %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<35xf32>
// CHECK-NEXT:        %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<35xf32>
// CHECK-NEXT:        %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<35xf32> -> tensor<35x40xf32>
// CHECK-NEXT:        %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<35x40xf32>
//       Weights [35, 35] = exp2(scores − new max)
// CHECK-NEXT:        %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<35xf32> -> tensor<35x35xf32>
// CHECK-NEXT:        %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<35x35xf32>
// CHECK-NEXT:        %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<35x35xf32>
//       Running sum [35]
// CHECK-NEXT:        %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<35x35xf32> -> tensor<35xf32>
// CHECK-NEXT:        %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<35xf32>
// CHECK-NEXT:        %[[V_TILE:.*]] = tile.load %[[V]][%[[SEQUENCE]], %[[HEAD]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:            rows(%[[C35]]) fold(%[[FIRST_KEY]]) columns 5 stride 15 : memref{{.*}} -> tensor<35x40xf32>
//       Accumulator [35, 40] = exp2(max − new max) · accumulator + weights [35, 35] v
// CHECK-NEXT:        %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<35x35xf32>, tensor<35x40xf32> -> tensor<35x40xf32>
// CHECK-NEXT:        tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<35xf32>, tensor<35xf32>, tensor<35x40xf32>
// CHECK-NEXT:      }
//     Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:      %[[RECIPROCAL:.*]] = arith.divf %[[ONE_35]], %[[ALL]]#1 : tensor<35xf32>
// CHECK-NEXT:      %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_35]] : tensor<35xf32>
// CHECK-NEXT:      %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_35]] : tensor<35xf32>
// CHECK-NEXT:      %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_35]], %[[BOUNDED]] : tensor<35xi1>, tensor<35xf32>
// CHECK-NEXT:      %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<35xf32> -> tensor<35x40xf32>
// CHECK-NEXT:      %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<35x40xf32>
//     y [35, 72] += o [35, 40] W_O [40 of the head, 72]
// CHECK-NEXT:      %[[WO_ROW:.*]] = arith.muli %[[HEAD]], %[[C40]] : index
// CHECK-NEXT:      %[[WO_TILE:.*]] = tile.load %[[WO]][%[[WO_ROW]], %[[C0]]] : memref{{.*}} -> tensor<40x72xf32>
// CHECK-NEXT:      %[[NEXT_Y_SUM:.*]] = tile.dot %[[OUTPUT]], %[[WO_TILE]], %[[Y_SUM]] : tensor<35x40xf32>, tensor<40x72xf32> -> tensor<35x72xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_Y_SUM]] : tensor<35x72xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[BIAS:.*]] = tile.load %[[BO]][%[[C0]]] : memref{{.*}} -> tensor<72xf32>
// CHECK-NEXT:    %[[BIAS_ROWS:.*]] = tile.expand %[[BIAS]] axis 0 : tensor<72xf32> -> tensor<35x72xf32>
// CHECK-NEXT:    %[[Y_BIASED:.*]] = arith.addf %[[Y_TILE]], %[[BIAS_ROWS]] : tensor<35x72xf32>
// CHECK-NEXT:    tile.store %[[Y_BIASED]], %[[Y]][%[[SEQUENCE]], %[[ORIGIN]], %[[C0]]]
// CHECK-SAME:        rows(%[[C35]]) fold(%[[FIRST_QUERY]]) columns 5 stride 15 : tensor<35x72xf32>, memref
// CHECK-NEXT:    tile.return
