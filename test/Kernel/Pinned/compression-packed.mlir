// Compression with a packed matrix, one for each key-value head, and key lengths.
//
//   k'_r = Σ_{j < length} E_rj k_j,   o = softmax(s q k'ᵀ) k'        80 slots, 1,000 tokens, d = 24, the slots being keys and values
//
// E is a parameter, so prepare packs it: blocks of 64 tokens, [2, 16, 80, 64], in which a tile is one run of memory; past the tokens it is 0. The
// tokens past the length are read as 0.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x1000x24xf32>
!s = tensor<?x2x80x24xf32>
!e = tensor<2x80x1000xf32>
func.func @low_rank(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %e: !e {attn.name = "e", attn.parameter},
                    %lengths: tensor<?xi32> {attn.name = "lengths"}) -> !q {
  %s = attn.compress %k, %e lengths(%lengths : tensor<?xi32>) : !k, !e -> !s
  %o = attn.softmax %q, %s, %s {scale = 0.25 : f64} : !q, !s, !s -> !q
  return %o : !q
}

// Prepare packs E.
// CHECK-LABEL: func.func @low_rank__prepare(
// CHECK-SAME:    %[[E:[a-z0-9]+]]: memref<2x80x1000xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[E_PACKED:[a-z0-9]+]]: memref<2x16x80x64xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK:         tile.launch @low_rank__prepare_e_packed_pack grid(%[[C2]], %[[C32]]) (%[[E]], %[[E_PACKED]]) :
// CHECK-NEXT:    return

// Three launches, with workspaces for the slots and for the slots of each piece.
// CHECK-LABEL: func.func @low_rank(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[E:[a-z0-9]+]]: memref<2x80x1000xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[E_PACKED:[a-z0-9]+]]: memref<2x16x80x64xf32>
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] : memref
// CHECK-NEXT:    %[[SK:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x80x24xf32>
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[PIECES:.*]] = arith.ceildivui %[[KEYS]], %[[C2048]] : index
// CHECK-NEXT:    %[[SK_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x2x?x64x24xf32>
// CHECK-NEXT:    %[[PIECE_BLOCKS:.*]] = arith.muli %[[PIECES]], %[[C2]] : index
// CHECK-NEXT:    tile.launch @low_rank_2_compress grid(%[[BATCHES]], %[[C2]], %[[PIECE_BLOCKS]])
// CHECK-SAME:        (%[[K]], %[[LENGTHS]], %[[E_PACKED]], %[[SK_PIECES]]) :
// CHECK-NEXT:    tile.launch @low_rank_2_merge grid(%[[BATCHES]], %[[C2]], %[[C2]]) (%[[SK]], %[[SK_PIECES]]) :
// CHECK-NEXT:    %[[BATCHES_2:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @low_rank_softmax grid(%[[BATCHES_2]], %[[C4]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[O]], %[[SK]]) :
// CHECK-NEXT:    return

// Packing: a thread block for each head, block of 64 tokens and block of 64 slots; the last axis of the grid counts both.
// CHECK-LABEL: tile.kernel @low_rank__prepare_e_packed_pack(
// CHECK-SAME:    %[[E:[a-z0-9]+]]: memref<2x80x1000xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[E_PACKED:[a-z0-9]+]]: memref<2x16x80x64xf32>
// CHECK-SAME:    grid(head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[NUMBER:.*]] = tile.program_id query_block
//   NUMBER = 2 · block of 64 tokens + block of 64 slots
// CHECK-NEXT:    %[[TOKEN_BLOCK:.*]] = arith.divui %[[NUMBER]], %[[C2]] : index
// CHECK-NEXT:    %[[FIRST_NUMBER:.*]] = arith.muli %[[TOKEN_BLOCK]], %[[C2]] : index
// CHECK-NEXT:    %[[SLOT_BLOCK:.*]] = arith.subi %[[NUMBER]], %[[FIRST_NUMBER]] : index
// CHECK-NEXT:    %[[FIRST_SLOT:.*]] = arith.muli %[[SLOT_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[FIRST_TOKEN:.*]] = arith.muli %[[TOKEN_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[E_TILE:.*]] = tile.load %[[E]][%[[HEAD]], %[[FIRST_SLOT]], %[[FIRST_TOKEN]]] : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:    tile.store %[[E_TILE]], %[[E_PACKED]][%[[HEAD]], %[[TOKEN_BLOCK]], %[[FIRST_SLOT]], %[[C0]]] : tensor<64x64xf32>, memref
// CHECK-NEXT:    tile.return

// Compression of the keys: a thread block for each sequence, head, piece and block of 64 slots; the last axis of the grid counts both.
// CHECK-LABEL: tile.kernel @low_rank_2_compress(
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[E_PACKED:[a-z0-9]+]]: memref<2x16x80x64xf32>
// CHECK-SAME:    %[[SK_PIECES:[a-z0-9]+]]: memref<?x2x2x?x64x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_64x24:.*]] = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
// CHECK-DAG:     %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[NUMBER:.*]] = tile.program_id query_block
//   NUMBER = 2 · piece (of 2,048 tokens) + block of 64 slots
// CHECK-NEXT:    %[[PIECE:.*]] = arith.divui %[[NUMBER]], %[[C2]] : index
// CHECK-NEXT:    %[[FIRST_NUMBER:.*]] = arith.muli %[[PIECE]], %[[C2]] : index
// CHECK-NEXT:    %[[SLOT_BLOCK:.*]] = arith.subi %[[NUMBER]], %[[FIRST_NUMBER]] : index
// CHECK-NEXT:    %[[FIRST_SLOT:.*]] = arith.muli %[[SLOT_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
//   The tokens of this sequence that exist: its length, kept within 0 and the number of tokens.
// CHECK-NEXT:    %[[LENGTH_I32:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]] : memref
// CHECK-NEXT:    %[[LENGTH_READ:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT:    %[[LENGTH_FLOOR:.*]] = arith.maxsi %[[LENGTH_READ]], %[[C0]] : index
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.minsi %[[LENGTH_FLOOR]], %[[KEYS]] : index
//   The piece's tokens: FIRST_TOKEN to PIECE_END.
// CHECK-NEXT:    %[[FIRST_TOKEN:.*]] = arith.muli %[[PIECE]], %[[C2048]] : index
// CHECK-NEXT:    %[[PIECE_STOP:.*]] = arith.addi %[[FIRST_TOKEN]], %[[C2048]] : index
// CHECK-NEXT:    %[[PIECE_END:.*]] = arith.minsi %[[PIECE_STOP]], %[[LENGTH]] : index
//   Slots = E x, 64 tokens at a time
// CHECK-NEXT:    %[[SLOTS:.*]] = tile.loop #tile.sum %[[TOKEN:[^ ]+]] = %[[FIRST_TOKEN]] to %[[PIECE_END]] step 64
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_64x24]]) : (tensor<64x24xf32>) {
//     The packed E has blocks of 64 tokens: a tile is one run of memory.
// CHECK-NEXT:      %[[TOKEN_BLOCK:.*]] = arith.divui %[[TOKEN]], %[[C64]] : index
// CHECK-NEXT:      %[[E_PACKED_TILE:.*]] = tile.load %[[E_PACKED]][%[[HEAD]], %[[TOKEN_BLOCK]], %[[FIRST_SLOT]], %[[C0]]]
// CHECK-SAME:          : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[TOKEN]], %[[C0]]]
// CHECK-SAME:          rows(%[[LENGTH]]) : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[E_PACKED_TILE]], %[[K_TILE]], %[[PARTIAL]]
// CHECK-SAME:          : tensor<64x64xf32>, tensor<64x24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<64x24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[SLOTS]], %[[SK_PIECES]][%[[BATCH]], %[[HEAD]], %[[SLOT_BLOCK]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<64x24xf32>, memref
// CHECK-NEXT:    tile.return

// Merge of the keys: a thread block for each sequence, head and block of 64 slots adds up the pieces.
// CHECK-LABEL: tile.kernel @low_rank_2_merge(
// CHECK-SAME:    %[[SK:[a-z0-9]+]]: memref<?x2x80x24xf32>
// CHECK-SAME:    %[[SK_PIECES:[a-z0-9]+]]: memref<?x2x2x?x64x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_64x24:.*]] = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[SLOT_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_SLOT:.*]] = arith.muli %[[SLOT_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[PIECES:.*]] = memref.dim %[[SK_PIECES]], %[[C3]] : memref
//   Sum over the pieces
// CHECK-NEXT:    %[[MERGED:.*]] = tile.loop #tile.sum %[[PIECE:[^ ]+]] = %[[C0]] to %[[PIECES]] step 1
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_64x24]]) : (tensor<64x24xf32>) {
// CHECK-NEXT:      %[[PIECE_TILE:.*]] = tile.load %[[SK_PIECES]][%[[BATCH]], %[[HEAD]], %[[SLOT_BLOCK]], %[[PIECE]], %[[C0]], %[[C0]]]
// CHECK-SAME:          : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = arith.addf %[[PARTIAL]], %[[PIECE_TILE]] : tensor<64x24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<64x24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[MERGED]], %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST_SLOT]], %[[C0]]] : tensor<64x24xf32>, memref
// CHECK-NEXT:    tile.return

// Exact softmax over the 80 slots, as in softmax.mlir; keys and values are one tile.
// CHECK-LABEL: tile.kernel @low_rank_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[SK:[a-z0-9]+]]: memref<?x2x80x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C80:.*]] = arith.constant 80 : index
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x24:.*]] = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
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
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[C64]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x24]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x24xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[SK]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
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
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x24xf32>
//     Weights [64, 64] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[NEW_MAX]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[SCORES]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//     Running sum [64]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
//     Accumulator [64, 24] = exp2(max − new max) · accumulator + weights k'
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[K_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x24xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C64]] to %[[C80]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x24xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[SK]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[C80]]) : memref{{.*}} -> tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[C80]], %[[FIRST_KEY]] : index
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
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x24xf32>
//     Weights [64, 64] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//     Running sum [64]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
//     Accumulator [64, 24] = exp2(max − new max) · accumulator + weights k'
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[K_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x24xf32> -> tensor<64x24xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x24xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_64]], %[[ALL]]#1 : tensor<64xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_64]], %[[BOUNDED]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<64xf32> -> tensor<64x24xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<64x24xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x24xf32>, memref
// CHECK-NEXT:    tile.return
