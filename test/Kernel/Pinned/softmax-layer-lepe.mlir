// Exact softmax with LePE and then the output projection in the epilogue.
//
//   y = Σ_h (softmax(0.25 q_h k_hᵀ) v_h + Σ_{δ = −1, 0, 1} w_h[:, δ + 1] ⊙ v_{h, t + δ}) W_O,h        d = 24, dv = 40, 2 heads, model width 72
//
// One thread block computes 64 rows of y, in a loop over the heads: attention, convolution of the values, product with the head's rows of W_O.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!y = tensor<?x?x72xf32>
func.func @layer(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}, %w: tensor<2x40x3xf32> {attn.name = "w"},
                 %wo: tensor<80x72xf32> {attn.name = "wo"}) -> !y {
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64} : !q, !q, !v -> !v
  %l = attn.lepe %o, %v, %w : !v, !v, tensor<2x40x3xf32> -> !v
  %y = attn.project_output %l, %wo {execution = #attn.execution<values = fused>} : !v, tensor<80x72xf32> -> !y
  return %y : !y
}

// One launch: a thread block for each sequence and 64 tokens.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x40x3xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WO:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?x?x72xf32, strided<[?, ?, 1]>>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @layer_softmax grid(%[[BATCHES]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[K]], %[[V]], %[[W]], %[[WO]], %[[Y]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @layer_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x40x3xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WO:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?x?x72xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    grid(batch, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C40:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C_MINUS_1:.*]] = arith.constant -1 : index
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[ZERO_64x72:.*]] = arith.constant dense<0.000000e+00> : tensor<64x72xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
//   The heads one after another; carried is the sum of their projected outputs [64, 72].
// CHECK-NEXT:    %[[Y_TILE:.*]] = tile.loop #tile.sum %[[HEAD:[^ ]+]] = %[[C0]] to %[[C2]] step 1
// CHECK-SAME:        carries(%[[Y_SUM:[^ ]+]] = %[[ZERO_64x72]]) : (tensor<64x72xf32>) {
// CHECK-NEXT:      %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
//     Keys 0 to FULL_END: the whole tiles.
// CHECK-NEXT:      %[[SEEN_FLOOR:.*]] = arith.maxsi %[[KEYS]], %[[C0]] : index
// CHECK-NEXT:      %[[FULL_TILES:.*]] = arith.divui %[[SEEN_FLOOR]], %[[C64]] : index
// CHECK-NEXT:      %[[FULL_END:.*]] = arith.muli %[[FULL_TILES]], %[[C64]] : index
// CHECK-NEXT:      %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
//     Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:      %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[FULL_END]] step 64
// CHECK-SAME:          carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:          : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:        %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
//       Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:        %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:            : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
//       Running maximum of each row [64]
// CHECK-NEXT:        %[[TILE_MAX:.*]] = tile.reduce max %[[SCORES]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:        %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<64xf32>
//       What the sum and the accumulator so far are multiplied by: exp2(max − new max) [64]
// CHECK-NEXT:        %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[NEW_MAX]] : tensor<64xf32>
// CHECK-NEXT:        %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<64xf32>
// CHECK-NEXT:        %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<64xf32>
// CHECK-NEXT:        %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:        %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x40xf32>
//       Weights [64, 64] = exp2(scores − new max)
// CHECK-NEXT:        %[[SHIFT_COLS:.*]] = tile.expand %[[NEW_MAX]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:        %[[EXPONENTS:.*]] = arith.subf %[[SCORES]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:        %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//       Running sum [64]
// CHECK-NEXT:        %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:        %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:        %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
//       Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:        %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:        tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:      }
//     The same over the last key tiles, with the mask.
// CHECK-NEXT:      %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[KEYS]] step 64
// CHECK-SAME:          carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:          : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:        %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:            rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x24xf32>
//       Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:        %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:            : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:        %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST_KEY]] : index
//       Scores of keys that do not exist become −∞.
// CHECK-NEXT:        %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<64x64xf32>
//       Running maximum of each row [64]
// CHECK-NEXT:        %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:        %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<64xf32>
//       A row that has seen no key yet has the maximum −∞; 0 is subtracted instead, since −∞ − −∞ is NaN.
// CHECK-NEXT:        %[[UNSEEN:.*]] = arith.cmpf oeq, %[[NEW_MAX]], %[[NEG_INF_64]] : tensor<64xf32>
// CHECK-NEXT:        %[[SHIFT:.*]] = arith.select %[[UNSEEN]], %[[ZERO_64]], %[[NEW_MAX]] : tensor<64xi1>, tensor<64xf32>
//       What the sum and the accumulator so far are multiplied by: exp2(max − new max) [64]
// CHECK-NEXT:        %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[SHIFT]] : tensor<64xf32>
// CHECK-NEXT:        %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<64xf32>
// CHECK-NEXT:        %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<64xf32>
// CHECK-NEXT:        %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:        %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x40xf32>
//       Weights [64, 64] = exp2(scores − new max)
// CHECK-NEXT:        %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:        %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:        %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//       Running sum [64]
// CHECK-NEXT:        %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:        %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:        %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:            rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x40xf32>
//       Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:        %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:        tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:      }
//     Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:      %[[RECIPROCAL:.*]] = arith.divf %[[ONE_64]], %[[ALL]]#1 : tensor<64xf32>
// CHECK-NEXT:      %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_64]] : tensor<64xf32>
// CHECK-NEXT:      %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_64]] : tensor<64xf32>
// CHECK-NEXT:      %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_64]], %[[BOUNDED]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:      %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:      %[[FIRST_PREVIOUS:.*]] = arith.addi %[[FIRST_QUERY]], %[[C_MINUS_1]] : index
//     Convolution: tap 0 with the rows before, tap 1 with the rows themselves, tap 2 with the rows after
// CHECK-NEXT:      %[[V_PREVIOUS:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_PREVIOUS]], %[[C0]]]
// CHECK-SAME:          from(%[[C0]]) : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[TAP_COLUMN0:.*]] = tile.load %[[W]][%[[HEAD]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:      %[[TAP0:.*]] = tile.reduce add %[[TAP_COLUMN0]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:      %[[TAP0_ROWS:.*]] = tile.expand %[[TAP0]] axis 0 : tensor<40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[TERM_PREVIOUS:.*]] = arith.mulf %[[V_PREVIOUS]], %[[TAP0_ROWS]] : tensor<64x40xf32>
// CHECK-NEXT:      %[[V_HERE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[TAP_COLUMN1:.*]] = tile.load %[[W]][%[[HEAD]], %[[C0]], %[[C1]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:      %[[TAP1:.*]] = tile.reduce add %[[TAP_COLUMN1]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:      %[[TAP1_ROWS:.*]] = tile.expand %[[TAP1]] axis 0 : tensor<40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[TERM_HERE:.*]] = arith.mulf %[[V_HERE]], %[[TAP1_ROWS]] : tensor<64x40xf32>
// CHECK-NEXT:      %[[WITH_HERE:.*]] = arith.addf %[[TERM_PREVIOUS]], %[[TERM_HERE]] : tensor<64x40xf32>
// CHECK-NEXT:      %[[FIRST_FOLLOWING:.*]] = arith.addi %[[FIRST_QUERY]], %[[C1]] : index
// CHECK-NEXT:      %[[V_FOLLOWING:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_FOLLOWING]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[TAP_COLUMN2:.*]] = tile.load %[[W]][%[[HEAD]], %[[C0]], %[[C2]]] : memref{{.*}} -> tensor<40x1xf32>
// CHECK-NEXT:      %[[TAP2:.*]] = tile.reduce add %[[TAP_COLUMN2]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:      %[[TAP2_ROWS:.*]] = tile.expand %[[TAP2]] axis 0 : tensor<40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[TERM_FOLLOWING:.*]] = arith.mulf %[[V_FOLLOWING]], %[[TAP2_ROWS]] : tensor<64x40xf32>
// CHECK-NEXT:      %[[WITH_FOLLOWING:.*]] = arith.addf %[[WITH_HERE]], %[[TERM_FOLLOWING]] : tensor<64x40xf32>
//     Output = attention + convolution.
// CHECK-NEXT:      %[[OUTPUT_LEPE:.*]] = arith.addf %[[OUTPUT]], %[[WITH_FOLLOWING]] : tensor<64x40xf32>
//     y [64, 72] += o [64, 40] W_O [40 of the head, 72]
// CHECK-NEXT:      %[[WO_ROW:.*]] = arith.muli %[[HEAD]], %[[C40]] : index
// CHECK-NEXT:      %[[WO_TILE:.*]] = tile.load %[[WO]][%[[WO_ROW]], %[[C0]]] : memref{{.*}} -> tensor<40x72xf32>
// CHECK-NEXT:      %[[NEXT_Y_SUM:.*]] = tile.dot %[[OUTPUT_LEPE]], %[[WO_TILE]], %[[Y_SUM]]
// CHECK-SAME:          : tensor<64x40xf32>, tensor<40x72xf32> -> tensor<64x72xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_Y_SUM]] : tensor<64x72xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[Y_TILE]], %[[Y]][%[[BATCH]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x72xf32>, memref
// CHECK-NEXT:    tile.return
