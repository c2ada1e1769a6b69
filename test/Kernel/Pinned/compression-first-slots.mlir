// Low-rank attention with E before the projections (compress_first): projection of the slots, and softmax over them.
//
//   k' = (E x) W_K + (Σ_j E_j) b_K,   v' = (E x) W_V,   o = softmax(s q k'ᵀ) v'        16 slots, model width 80, 3 heads, d = 24, dv = 40
//
// W_V is a parameter, so prepare packs it. (The kernels that make E x and Σ_j E_j are in compression-first.mlir.)
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!x = tensor<?x?x80xf32>
!q = tensor<?x3x?x24xf32>
!v = tensor<?x3x?x40xf32>
!sk = tensor<?x3x16x24xf32>
!sv = tensor<?x3x16x40xf32>
!e = tensor<1x16x?xf32>
func.func @low_rank(%q: !q {attn.name = "q"}, %x: !x {attn.name = "x"}, %wk: tensor<80x72xf32> {attn.name = "wk"},
                    %bk: tensor<72xf32> {attn.name = "bk"}, %wv: tensor<80x120xf32> {attn.name = "wv", attn.parameter},
                    %e: !e {attn.name = "e"}) -> !v {
  %k = attn.project %x, %wk bias(%bk : tensor<72xf32>) : !x, tensor<80x72xf32> -> !q
  %v = attn.project %x, %wv : !x, tensor<80x120xf32> -> !v
  %sk = attn.compress %k, %e {execution = #attn.execution<form = compress_first>} : !q, !e -> !sk
  %sv = attn.compress %v, %e {execution = #attn.execution<form = compress_first>} : !v, !e -> !sv
  %o = attn.softmax %q, %sk, %sv {scale = 0.25 : f64} : !q, !sk, !sv -> !v
  return %o : !v
}

// Prepare packs W_V.
// CHECK-LABEL: func.func @low_rank__prepare(
// CHECK-SAME:    %[[WV:[a-z0-9]+]]: memref<80x120xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[WV_PACKED:[a-z0-9]+]]: memref<3x80x40xf32>
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         tile.launch @low_rank__prepare_wv_packed_pack grid(%[[C3]], %[[C2]]) (%[[WV]], %[[WV_PACKED]]) :
// CHECK-NEXT:    return

// Packing: a thread block for each head and 64 model columns copies W_V [64, 40 of the head].
// CHECK-LABEL: tile.kernel @low_rank__prepare_wv_packed_pack(
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

// Projection of the slots to keys: a thread block for each sequence and head.
// CHECK-LABEL: tile.kernel @low_rank_2_project_slots(
// CHECK-SAME:    %[[WK:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BK:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[EX:[a-z0-9]+]]: memref<?x1x2x16x64xf32>
// CHECK-SAME:    %[[E_SUMS:[a-z0-9]+]]: memref<?x1x16xf32>
// CHECK-SAME:    %[[SK:[a-z0-9]+]]: memref<?x3x16x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[ZERO_16x24:.*]] = arith.constant dense<0.000000e+00> : tensor<16x24xf32>
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[SLOT_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_SLOT:.*]] = arith.muli %[[SLOT_BLOCK]], %[[C16]] : index
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C24]] : index
//   k' [16, 24] = E x W_K [80, 24 of the head], 64 model columns at a time
// CHECK-NEXT:    %[[PROJECTED:.*]] = tile.loop #tile.sum %[[MODEL_BLOCK:[^ ]+]] = %[[C0]] to %[[C2]] step 1
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_16x24]]) : (tensor<16x24xf32>) {
// CHECK-NEXT:      %[[EX_TILE:.*]] = tile.load %[[EX]][%[[BATCH]], %[[C0]], %[[MODEL_BLOCK]], %[[FIRST_SLOT]], %[[C0]]]
// CHECK-SAME:          : memref{{.*}} -> tensor<16x64xf32>
// CHECK-NEXT:      %[[FIRST_MODEL:.*]] = arith.muli %[[MODEL_BLOCK]], %[[C64]] : index
// CHECK-NEXT:      %[[WK_TILE:.*]] = tile.load %[[WK]][%[[FIRST_MODEL]], %[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[EX_TILE]], %[[WK_TILE]], %[[PARTIAL]]
// CHECK-SAME:          : tensor<16x64xf32>, tensor<64x24xf32> -> tensor<16x24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<16x24xf32>
// CHECK-NEXT:    }
//   The bias of a slot is (Σ_j E_rj) b_K.
// CHECK-NEXT:    %[[SLOT_SUMS:.*]] = tile.load %[[E_SUMS]][%[[BATCH]], %[[C0]], %[[FIRST_SLOT]]] : memref{{.*}} -> tensor<16xf32>
// CHECK-NEXT:    %[[BIAS:.*]] = tile.load %[[BK]][%[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<24xf32>
// CHECK-NEXT:    %[[SLOT_SUMS_COLS:.*]] = tile.expand %[[SLOT_SUMS]] axis 1 : tensor<16xf32> -> tensor<16x24xf32>
// CHECK-NEXT:    %[[BIAS_ROWS:.*]] = tile.expand %[[BIAS]] axis 0 : tensor<24xf32> -> tensor<16x24xf32>
// CHECK-NEXT:    %[[SLOT_BIAS:.*]] = arith.mulf %[[SLOT_SUMS_COLS]], %[[BIAS_ROWS]] : tensor<16x24xf32>
// CHECK-NEXT:    %[[PROJECTED_BIASED:.*]] = arith.addf %[[PROJECTED]], %[[SLOT_BIAS]] : tensor<16x24xf32>
// CHECK-NEXT:    tile.store %[[PROJECTED_BIASED]], %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST_SLOT]], %[[C0]]] : tensor<16x24xf32>, memref
// CHECK-NEXT:    tile.return

// Projection of the slots to values, by the packed W_V
// CHECK-LABEL: tile.kernel @low_rank_3_project_slots(
// CHECK-SAME:    %[[WV_PACKED:[a-z0-9]+]]: memref<3x80x40xf32>
// CHECK-SAME:    %[[EX:[a-z0-9]+]]: memref<?x1x2x16x64xf32>
// CHECK-SAME:    %[[SV:[a-z0-9]+]]: memref<?x3x16x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[SLOT_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_SLOT:.*]] = arith.muli %[[SLOT_BLOCK]], %[[C16]] : index
//   v' [16, 40] = E x W_V [80, 40 of the head], 64 model columns at a time
// CHECK-NEXT:    %[[PROJECTED:.*]] = tile.loop #tile.sum %[[MODEL_BLOCK:[^ ]+]] = %[[C0]] to %[[C2]] step 1
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_16x40]]) : (tensor<16x40xf32>) {
// CHECK-NEXT:      %[[EX_TILE:.*]] = tile.load %[[EX]][%[[BATCH]], %[[C0]], %[[MODEL_BLOCK]], %[[FIRST_SLOT]], %[[C0]]]
// CHECK-SAME:          : memref{{.*}} -> tensor<16x64xf32>
// CHECK-NEXT:      %[[FIRST_MODEL:.*]] = arith.muli %[[MODEL_BLOCK]], %[[C64]] : index
// CHECK-NEXT:      %[[WV_PACKED_TILE:.*]] = tile.load %[[WV_PACKED]][%[[HEAD]], %[[FIRST_MODEL]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[EX_TILE]], %[[WV_PACKED_TILE]], %[[PARTIAL]]
// CHECK-SAME:          : tensor<16x64xf32>, tensor<64x40xf32> -> tensor<16x40xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<16x40xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[PROJECTED]], %[[SV]][%[[BATCH]], %[[HEAD]], %[[FIRST_SLOT]], %[[C0]]] : tensor<16x40xf32>, memref
// CHECK-NEXT:    tile.return

// Exact softmax over the 16 slots, as in softmax.mlir; the first loop has no steps.
// CHECK-LABEL: tile.kernel @low_rank_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[SK:[a-z0-9]+]]: memref<?x3x16x24xf32>
// CHECK-SAME:    %[[SV:[a-z0-9]+]]: memref<?x3x16x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
//   Whole tiles of 64 slots: none. This loop has no steps.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[C0]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
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
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[SV]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[C16]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[C16]]) : memref{{.*}} -> tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[SLOTS_LEFT:.*]] = arith.subi %[[C16]], %[[FIRST_KEY]] : index
//     Scores of keys that do not exist become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[SLOTS_LEFT]]) : tensor<64x64xf32>
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
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[SV]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[C16]]) : memref{{.*}} -> tensor<64x40xf32>
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
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
