// Exact softmax whose keys and values are projected in the load, k with a bias.
//
//   k = x W_K + b_K,   v = x W_V,   o_i = Σ_j exp(s ⟨q_i, k_j⟩) v_j / Σ_j exp(s ⟨q_i, k_j⟩)
//
// W_V is a parameter, so prepare packs it: [3, 80, 40], head after head. One thread block computes 64 queries of one head; for every key tile it
// loops over the model columns of x twice. Rows of k past the end are 0 again after the bias. d = 24, dv = 40, 3 heads, model width 80.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x3x?x24xf32>
!v = tensor<?x3x?x40xf32>
!x = tensor<?x?x80xf32>
func.func @projected(%q: !q {attn.name = "q"}, %x: !x {attn.name = "x"}, %wk: tensor<80x72xf32> {attn.name = "wk"},
                     %bk: tensor<72xf32> {attn.name = "bk"}, %wv: tensor<80x120xf32> {attn.name = "wv", attn.parameter}) -> !v {
  %k = attn.project %x, %wk bias(%bk : tensor<72xf32>) {execution = #attn.execution<values = fused>} : !x, tensor<80x72xf32> -> !q
  %v = attn.project %x, %wv {execution = #attn.execution<values = fused>} : !x, tensor<80x120xf32> -> !v
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64} : !q, !q, !v -> !v
  return %o : !v
}

// What prepare does: W_V packed by heads.
// CHECK-LABEL: func.func @projected__prepare(
// CHECK-SAME:    %[[WV:[a-z0-9]+]]: memref<80x120xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[WV_PACKED:[a-z0-9]+]]: memref<3x80x40xf32>
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         tile.launch @projected__prepare_wv_packed_pack grid(%[[C3]], %[[C2]]) (%[[WV]], %[[WV_PACKED]]) :
// CHECK-NEXT:    return

// The kernel reads the packed W_V. One launch: a thread block for each sequence, head and 64 queries.
// CHECK-LABEL: func.func @projected(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WK:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BK:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[WV:[a-z0-9]+]]: memref<80x120xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[WV_PACKED:[a-z0-9]+]]: memref<3x80x40xf32>
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @projected_softmax grid(%[[BATCHES]], %[[C3]], %[[QUERY_BLOCKS]])
// CHECK-SAME:        (%[[Q]], %[[X]], %[[WK]], %[[BK]], %[[O]], %[[WV_PACKED]]) :
// CHECK-NEXT:    return

// Packing: a thread block for each head and 64 model columns copies W_V [64, 40 of the head].
// CHECK-LABEL: tile.kernel @projected__prepare_wv_packed_pack(
// CHECK-SAME:    %[[WV:[a-z0-9]+]]: memref<80x120xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[WV_PACKED:[a-z0-9]+]]: memref<3x80x40xf32>
// CHECK-SAME:    grid(head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C40:.*]] = arith.constant 40 : index
// CHECK:         %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C40]] : index
// CHECK-NEXT:    %[[MODEL_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_MODEL:.*]] = arith.muli %[[MODEL_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[WV_TILE:.*]] = tile.load %[[WV]][%[[FIRST_MODEL]], %[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:    tile.store %[[WV_TILE]], %[[WV_PACKED]][%[[HEAD]], %[[FIRST_MODEL]], %[[C0]]] : tensor<64x40xf32>, memref
// CHECK-NEXT:    tile.return

// CHECK-LABEL: tile.kernel @projected_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WK:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BK:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[WV_PACKED:[a-z0-9]+]]: memref<3x80x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C80:.*]] = arith.constant 80 : index
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x24:.*]] = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[TOKENS:.*]] = memref.dim %[[X]], %[[C1]] : memref
//   Keys 0 to FULL_END: the whole tiles.
// CHECK-NEXT:    %[[SEEN_FLOOR:.*]] = arith.maxsi %[[TOKENS]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_TILES:.*]] = arith.divui %[[SEEN_FLOOR]], %[[C64]] : index
// CHECK-NEXT:    %[[FULL_END:.*]] = arith.muli %[[FULL_TILES]], %[[C64]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[WK_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C24]] : index
// CHECK-NEXT:    %[[BIAS:.*]] = tile.load %[[BK]][%[[WK_COLUMN]]] : memref{{.*}} -> tensor<24xf32>
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[FULL_END]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
//     k [64, 24] = x [64, 80] W_K [80, 24 of the head] + b_K, 64 model columns at a time
// CHECK-NEXT:      %[[K_PROJECTED:.*]] = tile.loop #tile.sum %[[COLUMN:[^ ]+]] = %[[C0]] to %[[C80]] step 64
// CHECK-SAME:          carries(%[[K_SUM:[^ ]+]] = %[[ZERO_64x24]]) : (tensor<64x24xf32>) {
// CHECK-NEXT:        %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[FIRST_KEY]], %[[COLUMN]]] : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:        %[[WK_TILE:.*]] = tile.load %[[WK]][%[[COLUMN]], %[[WK_COLUMN]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:        %[[NEXT_K_SUM:.*]] = tile.dot %[[X_TILE]], %[[WK_TILE]], %[[K_SUM]] : tensor<64x64xf32>, tensor<64x24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:        tile.yield %[[NEXT_K_SUM]] : tensor<64x24xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[BIAS_ROWS:.*]] = tile.expand %[[BIAS]] axis 0 : tensor<24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      %[[K_BIASED:.*]] = arith.addf %[[K_PROJECTED]], %[[BIAS_ROWS]] : tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_BIASED]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
//     Running maximum of each row [64]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[SCORES]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<64xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [64]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[NEW_MAX]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<64xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x40xf32>
//     Weights [64, 64] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[NEW_MAX]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[SCORES]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//     Running sum [64]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
//     v [64, 40] = x [64, 80] W_V [80, 40 of the head]
// CHECK-NEXT:      %[[V_PROJECTED:.*]] = tile.loop #tile.sum %[[COLUMN:[^ ]+]] = %[[C0]] to %[[C80]] step 64
// CHECK-SAME:          carries(%[[V_SUM:[^ ]+]] = %[[ZERO_64x40]]) : (tensor<64x40xf32>) {
// CHECK-NEXT:        %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[FIRST_KEY]], %[[COLUMN]]] : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:        %[[WV_PACKED_TILE:.*]] = tile.load %[[WV_PACKED]][%[[HEAD]], %[[COLUMN]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:        %[[NEXT_V_SUM:.*]] = tile.dot %[[X_TILE]], %[[WV_PACKED_TILE]], %[[V_SUM]]
// CHECK-SAME:            : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:        tile.yield %[[NEXT_V_SUM]] : tensor<64x40xf32>
// CHECK-NEXT:      }
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_PROJECTED]], %[[OLD_ACC]]
// CHECK-SAME:          : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[TOKENS]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
//     k [64, 24] = x [64, 80] W_K [80, 24 of the head] + b_K, 64 model columns at a time
// CHECK-NEXT:      %[[K_PROJECTED:.*]] = tile.loop #tile.sum %[[COLUMN:[^ ]+]] = %[[C0]] to %[[C80]] step 64
// CHECK-SAME:          carries(%[[K_SUM:[^ ]+]] = %[[ZERO_64x24]]) : (tensor<64x24xf32>) {
// CHECK-NEXT:        %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[FIRST_KEY]], %[[COLUMN]]] rows(%[[TOKENS]]) : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:        %[[WK_TILE:.*]] = tile.load %[[WK]][%[[COLUMN]], %[[WK_COLUMN]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:        %[[NEXT_K_SUM:.*]] = tile.dot %[[X_TILE]], %[[WK_TILE]], %[[K_SUM]] : tensor<64x64xf32>, tensor<64x24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:        tile.yield %[[NEXT_K_SUM]] : tensor<64x24xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[BIAS_ROWS:.*]] = tile.expand %[[BIAS]] axis 0 : tensor<24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      %[[K_BIASED:.*]] = arith.addf %[[K_PROJECTED]], %[[BIAS_ROWS]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[TOKENS]], %[[FIRST_KEY]] : index
// CHECK-NEXT:      %[[K_BIASED_EXISTING:.*]] = tile.mask %[[K_BIASED]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_BIASED_EXISTING]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
//     Scores of keys that do not exist become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<64x64xf32>
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
//     v [64, 40] = x [64, 80] W_V [80, 40 of the head]
// CHECK-NEXT:      %[[V_PROJECTED:.*]] = tile.loop #tile.sum %[[COLUMN:[^ ]+]] = %[[C0]] to %[[C80]] step 64
// CHECK-SAME:          carries(%[[V_SUM:[^ ]+]] = %[[ZERO_64x40]]) : (tensor<64x40xf32>) {
// CHECK-NEXT:        %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[FIRST_KEY]], %[[COLUMN]]] rows(%[[TOKENS]]) : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:        %[[WV_PACKED_TILE:.*]] = tile.load %[[WV_PACKED]][%[[HEAD]], %[[COLUMN]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:        %[[NEXT_V_SUM:.*]] = tile.dot %[[X_TILE]], %[[WV_PACKED_TILE]], %[[V_SUM]]
// CHECK-SAME:            : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:        tile.yield %[[NEXT_V_SUM]] : tensor<64x40xf32>
// CHECK-NEXT:      }
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_PROJECTED]], %[[OLD_ACC]]
// CHECK-SAME:          : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_64]], %[[ALL]]#1 : tensor<64xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_64]], %[[BOUNDED]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x40xf32>, memref
// CHECK-NEXT:    tile.return
