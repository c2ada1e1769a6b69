// Exact softmax as one kernel of a layer, causal: q is projected in the load, the output projection W_O is in the epilogue.
//
//   y = Σ_h softmax_causal(0.25 (x W_Q,h) k_hᵀ) v_h W_O,h        d = 24, dv = 40, 3 heads, model widths 80 (in) and 72 (out)
//
// One thread block computes 64 rows of y. It loops over the heads (carry: the sum of the projected heads); in a head it loops over the model columns
// of x, which gives q, then over the key tiles that all 64 queries see (no mask), then over those at the diagonal (mask).
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x3x?x24xf32>
!kv = tensor<?x3x?x40xf32>
func.func @layer(%x: tensor<?x?x80xf32> {attn.name = "x"}, %wq: tensor<80x72xf32> {attn.name = "wq"}, %k: !q, %v: !kv,
                 %wo: tensor<120x72xf32> {attn.name = "wo"}) -> tensor<?x?x72xf32> {
  %q = attn.project %x, %wq {execution = #attn.execution<values = fused>} : tensor<?x?x80xf32>, tensor<80x72xf32> -> !q
  %o = attn.softmax %q, %k, %v {causal, scale = 0.25 : f64} : !q, !q, !kv -> !kv
  %y = attn.project_output %o, %wo {execution = #attn.execution<values = fused>} : !kv, tensor<120x72xf32> -> tensor<?x?x72xf32>
  return %y : tensor<?x?x72xf32>
}

// One launch: a thread block for each sequence and each 64 queries.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[WO:[a-z0-9]+]]: memref<120x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?x?x72xf32, strided<[?, ?, 1]>>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[X]], %[[C0]] : memref
// CHECK-NEXT:    %[[TOKENS:.*]] = memref.dim %[[X]], %[[C1]] : memref
// CHECK-NEXT:    %[[TOKEN_BLOCKS:.*]] = arith.ceildivui %[[TOKENS]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @layer_softmax grid(%[[BATCHES]], %[[TOKEN_BLOCKS]]) (%[[X]], %[[WQ]], %[[K]], %[[V]], %[[WO]], %[[Y]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @layer_softmax(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[WO:[a-z0-9]+]]: memref<120x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?x?x72xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    grid(batch, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C80:.*]] = arith.constant 80 : index
// CHECK-DAG:     %[[C40:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[ZERO_64x24:.*]] = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[ZERO_64x72:.*]] = arith.constant dense<0.000000e+00> : tensor<64x72xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
//   The heads one after another; carried is the sum of their projected outputs [64, 72].
// CHECK-NEXT:    %[[Y_TILE:.*]] = tile.loop #tile.sum %[[HEAD:[^ ]+]] = %[[C0]] to %[[C3]] step 1
// CHECK-SAME:        carries(%[[Y_SUM:[^ ]+]] = %[[ZERO_64x72]]) : (tensor<64x72xf32>) {
// CHECK-NEXT:      %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:      %[[TOKENS:.*]] = memref.dim %[[X]], %[[C1]] : memref
//     Query i sees key j if j ≤ i + OFFSET, where OFFSET = keys − queries.
// CHECK-NEXT:      %[[OFFSET:.*]] = arith.subi %[[KEYS]], %[[TOKENS]] : index
// CHECK-NEXT:      %[[DIAGONAL:.*]] = arith.addi %[[FIRST_QUERY]], %[[OFFSET]] : index
//     Keys 0 to FULL_END: the whole tiles that every query of the block sees.
// CHECK-NEXT:      %[[SEEN_BY_ALL:.*]] = arith.addi %[[DIAGONAL]], %[[C1]] : index
// CHECK-NEXT:      %[[SEEN_EXISTING:.*]] = arith.minsi %[[SEEN_BY_ALL]], %[[KEYS]] : index
// CHECK-NEXT:      %[[SEEN_FLOOR:.*]] = arith.maxsi %[[SEEN_EXISTING]], %[[C0]] : index
// CHECK-NEXT:      %[[FULL_TILES:.*]] = arith.divui %[[SEEN_FLOOR]], %[[C64]] : index
// CHECK-NEXT:      %[[FULL_END:.*]] = arith.muli %[[FULL_TILES]], %[[C64]] : index
//     Keys up to LAST_KEY: those that some query of the block sees.
// CHECK-NEXT:      %[[TILE_END:.*]] = arith.addi %[[FIRST_QUERY]], %[[C64]] : index
// CHECK-NEXT:      %[[QUERY_END:.*]] = arith.minsi %[[TILE_END]], %[[TOKENS]] : index
// CHECK-NEXT:      %[[SEEN_END:.*]] = arith.addi %[[QUERY_END]], %[[OFFSET]] : index
// CHECK-NEXT:      %[[LAST_KEY:.*]] = arith.minsi %[[SEEN_END]], %[[KEYS]] : index
// CHECK-NEXT:      %[[WQ_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C24]] : index
//     q [64, 24] = x [64, 80] W_Q [80, 24 of the head], 64 model columns at a time
// CHECK-NEXT:      %[[Q_PROJECTED:.*]] = tile.loop #tile.sum %[[COLUMN:[^ ]+]] = %[[C0]] to %[[C80]] step 64
// CHECK-SAME:          carries(%[[Q_SUM:[^ ]+]] = %[[ZERO_64x24]]) : (tensor<64x24xf32>) {
// CHECK-NEXT:        %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[FIRST_QUERY]], %[[COLUMN]]] : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:        %[[WQ_TILE:.*]] = tile.load %[[WQ]][%[[COLUMN]], %[[WQ_COLUMN]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:        %[[NEXT_Q_SUM:.*]] = tile.dot %[[X_TILE]], %[[WQ_TILE]], %[[Q_SUM]] : tensor<64x64xf32>, tensor<64x24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:        tile.yield %[[NEXT_Q_SUM]] : tensor<64x24xf32>
// CHECK-NEXT:      }
//     q · 0.25 log2(e): exp2 takes the place of exp.
// CHECK-NEXT:      %[[Q_SCALED:.*]] = arith.mulf %[[Q_PROJECTED]], %[[SCALE_64x24]] : tensor<64x24xf32>
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
// CHECK-NEXT:      %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[LAST_KEY]] step 64
// CHECK-SAME:          carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:          : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:        %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:            rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x24xf32>
//       Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:        %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:            : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:        %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST_KEY]] : index
// CHECK-NEXT:        %[[TILE_DIAGONAL:.*]] = arith.subi %[[DIAGONAL]], %[[FIRST_KEY]] : index
//       Scores of keys that do not exist or come after the query become −∞.
// CHECK-NEXT:        %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) diagonal(%[[TILE_DIAGONAL]]) : tensor<64x64xf32>
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
//     y [64, 72] += o [64, 40] W_O [40 of the head, 72]
// CHECK-NEXT:      %[[WO_ROW:.*]] = arith.muli %[[HEAD]], %[[C40]] : index
// CHECK-NEXT:      %[[WO_TILE:.*]] = tile.load %[[WO]][%[[WO_ROW]], %[[C0]]] : memref{{.*}} -> tensor<40x72xf32>
// CHECK-NEXT:      %[[NEXT_Y_SUM:.*]] = tile.dot %[[OUTPUT]], %[[WO_TILE]], %[[Y_SUM]] : tensor<64x40xf32>, tensor<40x72xf32> -> tensor<64x72xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_Y_SUM]] : tensor<64x72xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[Y_TILE]], %[[Y]][%[[BATCH]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x72xf32>, memref
// CHECK-NEXT:    tile.return
