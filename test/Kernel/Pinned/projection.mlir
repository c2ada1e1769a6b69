// Projections as kernels: q with a bias and the weight as it lies, k with a packed weight.
//
//   q_h = x W_Q,h + b_Q,h,   k_h = c W_K,h        model widths 80 and 56, 3 heads, d = 24
//
// One thread block computes 64 tokens of one head, in a loop over the model columns. W_K is a parameter, so prepare packs it, head after head. The
// softmax kernel reads both from workspaces.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!x = tensor<?x?x80xf32>
!c = tensor<?x?x56xf32>
!q = tensor<?x3x?x24xf32>
!v = tensor<?x3x?x40xf32>
func.func @projected(%x: !x {attn.name = "x"}, %c: !c {attn.name = "c"}, %wq: tensor<80x72xf32> {attn.name = "wq"},
                     %bq: tensor<72xf32> {attn.name = "bq"}, %wk: tensor<56x72xf32> {attn.name = "wk", attn.parameter},
                     %v: !v {attn.name = "v"}) -> !v {
  %q = attn.project %x, %wq bias(%bq : tensor<72xf32>) : !x, tensor<80x72xf32> -> !q
  %k = attn.project %c, %wk : !c, tensor<56x72xf32> -> !q
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64} : !q, !q, !v -> !v
  return %o : !v
}

// Prepare packs W_K.
// CHECK-LABEL: func.func @projected__prepare(
// CHECK-SAME:    %[[WK:[a-z0-9]+]]: memref<56x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[WK_PACKED:[a-z0-9]+]]: memref<3x56x24xf32>
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         tile.launch @projected__prepare_wk_packed_pack grid(%[[C3]], %[[C1]]) (%[[WK]], %[[WK_PACKED]]) :
// CHECK-NEXT:    return

// Three launches: q and k go through workspaces.
// CHECK-LABEL: func.func @projected(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<?x?x56xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BQ:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[WK:[a-z0-9]+]]: memref<56x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[WK_PACKED:[a-z0-9]+]]: memref<3x56x24xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[X]], %[[C0]] : memref
// CHECK-NEXT:    %[[TOKENS:.*]] = memref.dim %[[X]], %[[C1]] : memref
// CHECK-NEXT:    %[[Q_MEMORY:.*]] = tile.workspace(%[[BATCHES]], %[[TOKENS]]) : memref<?x3x?x24xf32>
// CHECK-NEXT:    %[[TOKEN_BLOCKS:.*]] = arith.ceildivui %[[TOKENS]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @projected_2_project grid(%[[BATCHES]], %[[C3]], %[[TOKEN_BLOCKS]]) (%[[X]], %[[WQ]], %[[BQ]], %[[Q_MEMORY]]) :
// CHECK-NEXT:    %[[BATCHES_2:.*]] = memref.dim %[[C]], %[[C0]] : memref
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[C]], %[[C1]] : memref
// CHECK-NEXT:    %[[K_MEMORY:.*]] = tile.workspace(%[[BATCHES_2]], %[[KEYS]]) : memref<?x3x?x24xf32>
// CHECK-NEXT:    %[[KEY_BLOCKS:.*]] = arith.ceildivui %[[KEYS]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @projected_3_project grid(%[[BATCHES_2]], %[[C3]], %[[KEY_BLOCKS]]) (%[[C]], %[[WK_PACKED]], %[[K_MEMORY]]) :
// CHECK-NEXT:    %[[BATCHES_3:.*]] = memref.dim %[[Q_MEMORY]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q_MEMORY]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @projected_softmax grid(%[[BATCHES_3]], %[[C3]], %[[QUERY_BLOCKS]]) (%[[V]], %[[O]], %[[Q_MEMORY]], %[[K_MEMORY]]) :
// CHECK-NEXT:    return

// Packing: a thread block for each head and 64 model columns copies W_K [64, 24 of the head]; past row 56 it writes nothing.
// CHECK-LABEL: tile.kernel @projected__prepare_wk_packed_pack(
// CHECK-SAME:    %[[WK:[a-z0-9]+]]: memref<56x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[WK_PACKED:[a-z0-9]+]]: memref<3x56x24xf32>
// CHECK-SAME:    grid(head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK:         %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C24]] : index
// CHECK-NEXT:    %[[MODEL_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_MODEL:.*]] = arith.muli %[[MODEL_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[WK_TILE:.*]] = tile.load %[[WK]][%[[FIRST_MODEL]], %[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    tile.store %[[WK_TILE]], %[[WK_PACKED]][%[[HEAD]], %[[FIRST_MODEL]], %[[C0]]] : tensor<64x24xf32>, memref
// CHECK-NEXT:    tile.return

// q: the weight as it lies, [80, 72], and a bias
// CHECK-LABEL: tile.kernel @projected_2_project(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BQ:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[Q_MEMORY:[a-z0-9]+]]: memref<?x3x?x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C80:.*]] = arith.constant 80 : index
// CHECK-DAG:     %[[ZERO_64x24:.*]] = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[TOKEN_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_TOKEN:.*]] = arith.muli %[[TOKEN_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C24]] : index
//   x W [64, 24], 64 model columns at a time
// CHECK-NEXT:    %[[PROJECTED:.*]] = tile.loop #tile.sum %[[MODEL:[^ ]+]] = %[[C0]] to %[[C80]] step 64
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_64x24]]) : (tensor<64x24xf32>) {
// CHECK-NEXT:      %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[FIRST_TOKEN]], %[[MODEL]]] : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:      %[[WQ_TILE:.*]] = tile.load %[[WQ]][%[[MODEL]], %[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[X_TILE]], %[[WQ_TILE]], %[[PARTIAL]]
// CHECK-SAME:          : tensor<64x64xf32>, tensor<64x24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<64x24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[BIAS:.*]] = tile.load %[[BQ]][%[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<24xf32>
// CHECK-NEXT:    %[[BIAS_ROWS:.*]] = tile.expand %[[BIAS]] axis 0 : tensor<24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:    %[[BIASED:.*]] = arith.addf %[[PROJECTED]], %[[BIAS_ROWS]] : tensor<64x24xf32>
// CHECK-NEXT:    tile.store %[[BIASED]], %[[Q_MEMORY]][%[[BATCH]], %[[HEAD]], %[[FIRST_TOKEN]], %[[C0]]] : tensor<64x24xf32>, memref
// CHECK-NEXT:    tile.return

// k: the packed weight, [3, 56, 24]
// CHECK-LABEL: tile.kernel @projected_3_project(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<?x?x56xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WK_PACKED:[a-z0-9]+]]: memref<3x56x24xf32>
// CHECK-SAME:    %[[K_MEMORY:[a-z0-9]+]]: memref<?x3x?x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C56:.*]] = arith.constant 56 : index
// CHECK-DAG:     %[[ZERO_64x24:.*]] = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[TOKEN_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_TOKEN:.*]] = arith.muli %[[TOKEN_BLOCK]], %[[C64]] : index
//   x W [64, 24], 64 model columns at a time
// CHECK-NEXT:    %[[PROJECTED:.*]] = tile.loop #tile.sum %[[MODEL:[^ ]+]] = %[[C0]] to %[[C56]] step 64
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_64x24]]) : (tensor<64x24xf32>) {
// CHECK-NEXT:      %[[C_TILE:.*]] = tile.load %[[C]][%[[BATCH]], %[[FIRST_TOKEN]], %[[MODEL]]] : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:      %[[WK_PACKED_TILE:.*]] = tile.load %[[WK_PACKED]][%[[HEAD]], %[[MODEL]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[C_TILE]], %[[WK_PACKED_TILE]], %[[PARTIAL]]
// CHECK-SAME:          : tensor<64x64xf32>, tensor<64x24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<64x24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[PROJECTED]], %[[K_MEMORY]][%[[BATCH]], %[[HEAD]], %[[FIRST_TOKEN]], %[[C0]]] : tensor<64x24xf32>, memref
// CHECK-NEXT:    tile.return

// CHECK-LABEL: tile.kernel @projected_softmax(
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[Q_MEMORY:[a-z0-9]+]]: memref<?x3x?x24xf32>
// CHECK-SAME:    %[[K_MEMORY:[a-z0-9]+]]: memref<?x3x?x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K_MEMORY]], %[[C2]] : memref
//   Keys 0 to FULL_END: the whole tiles.
// CHECK-NEXT:    %[[SEEN_FLOOR:.*]] = arith.maxsi %[[KEYS]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_TILES:.*]] = arith.divui %[[SEEN_FLOOR]], %[[C64]] : index
// CHECK-NEXT:    %[[FULL_END:.*]] = arith.muli %[[FULL_TILES]], %[[C64]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q_MEMORY]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[FULL_END]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K_MEMORY]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
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
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[KEYS]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K_MEMORY]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST_KEY]] : index
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
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x40xf32>
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
