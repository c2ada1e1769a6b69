// Low-rank attention with E before the projections (compress_first): the layer's input is compressed once, then the few slots are projected.
//
//   k' = (E x) W_K + (Σ_j E_j) b_K,   v' = (E x) W_V        16 slots, model width 80 (two blocks of 64 columns), 3 heads, d = 24, dv = 40
//
// Here: the host and the kernels that compress (pieces of 2,048 tokens), add the pieces up, and sum the rows of E for the bias. The rest is in
// compression-first-slots.mlir.
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

// Six launches. What x is compressed to serves keys and values, since they have one E.
// CHECK-LABEL: func.func @low_rank(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WK:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BK:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[WV:[a-z0-9]+]]: memref<80x120xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[E:[a-z0-9]+]]: memref<1x16x?xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[WV_PACKED:[a-z0-9]+]]: memref<3x80x40xf32>
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[X]], %[[C0]] : memref
// CHECK-NEXT:    %[[EX:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x1x2x16x64xf32>
// CHECK-NEXT:    %[[TOKENS:.*]] = memref.dim %[[X]], %[[C1]] : memref
// CHECK-NEXT:    %[[PIECES:.*]] = arith.ceildivui %[[TOKENS]], %[[C2048]] : index
// CHECK-NEXT:    %[[EX_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x1x?x16x64xf32>
// CHECK-NEXT:    tile.launch @low_rank_2_compress_input grid(%[[BATCHES]], %[[C2]], %[[PIECES]]) (%[[X]], %[[E]], %[[EX_PIECES]]) :
// CHECK-NEXT:    tile.launch @low_rank_2_merge grid(%[[BATCHES]], %[[C2]], %[[C1]]) (%[[EX]], %[[EX_PIECES]]) :
// CHECK-NEXT:    %[[E_SUMS:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x1x16xf32>
// CHECK-NEXT:    tile.launch @low_rank_2_slot_sums grid(%[[BATCHES]], %[[C1]], %[[C1]]) (%[[X]], %[[E]], %[[E_SUMS]]) :
// CHECK-NEXT:    %[[SK:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x3x16x24xf32>
// CHECK-NEXT:    %[[BATCHES_2:.*]] = memref.dim %[[EX]], %[[C0]] : memref
// CHECK-NEXT:    tile.launch @low_rank_2_project_slots grid(%[[BATCHES_2]], %[[C3]], %[[C1]]) (%[[WK]], %[[BK]], %[[EX]], %[[E_SUMS]], %[[SK]]) :
// CHECK-NEXT:    %[[SV:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x3x16x40xf32>
// CHECK-NEXT:    tile.launch @low_rank_3_project_slots grid(%[[BATCHES_2]], %[[C3]], %[[C1]]) (%[[WV_PACKED]], %[[EX]], %[[SV]]) :
// CHECK-NEXT:    %[[BATCHES_3:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @low_rank_softmax grid(%[[BATCHES_3]], %[[C3]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[O]], %[[SK]], %[[SV]]) :
// CHECK-NEXT:    return

// Compression of the input: a thread block for each sequence, block of 64 model columns and piece.
// CHECK-LABEL: tile.kernel @low_rank_2_compress_input(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[E:[a-z0-9]+]]: memref<1x16x?xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[EX_PIECES:[a-z0-9]+]]: memref<?x2x1x?x16x64xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_16x64:.*]] = arith.constant dense<0.000000e+00> : tensor<16x64xf32>
// CHECK-DAG:     %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
//   There is one block of 16 slots, so that the last axis counts pieces alone.
// CHECK-NEXT:    %[[PIECE:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[TOKENS:.*]] = memref.dim %[[X]], %[[C1]] : memref
//   The head axis counts the heads of E (one) times blocks of 64 model columns (two).
// CHECK-NEXT:    %[[E_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT:    %[[E_BLOCKS:.*]] = arith.muli %[[E_HEAD]], %[[C2]] : index
// CHECK-NEXT:    %[[MODEL_BLOCK:.*]] = arith.subi %[[HEAD]], %[[E_BLOCKS]] : index
// CHECK-NEXT:    %[[FIRST_MODEL:.*]] = arith.muli %[[MODEL_BLOCK]], %[[C64]] : index
//   The piece's tokens: FIRST_TOKEN to PIECE_END.
// CHECK-NEXT:    %[[FIRST_TOKEN:.*]] = arith.muli %[[PIECE]], %[[C2048]] : index
// CHECK-NEXT:    %[[PIECE_STOP:.*]] = arith.addi %[[FIRST_TOKEN]], %[[C2048]] : index
// CHECK-NEXT:    %[[PIECE_END:.*]] = arith.minsi %[[PIECE_STOP]], %[[TOKENS]] : index
//   Slots of the input [16, 64] = E x, 64 tokens at a time
// CHECK-NEXT:    %[[SLOTS:.*]] = tile.loop #tile.sum %[[TOKEN:[^ ]+]] = %[[FIRST_TOKEN]] to %[[PIECE_END]] step 64
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_16x64]]) : (tensor<16x64xf32>) {
// CHECK-NEXT:      %[[E_TILE:.*]] = tile.load %[[E]][%[[E_HEAD]], %[[C0]], %[[TOKEN]]] : memref{{.*}} -> tensor<16x64xf32>
// CHECK-NEXT:      %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[TOKEN]], %[[FIRST_MODEL]]] rows(%[[TOKENS]]) : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[E_TILE]], %[[X_TILE]], %[[PARTIAL]] : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<16x64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[SLOTS]], %[[EX_PIECES]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<16x64xf32>, memref
// CHECK-NEXT:    tile.return

// Merge: a thread block for each sequence and block of model columns adds up the pieces.
// CHECK-LABEL: tile.kernel @low_rank_2_merge(
// CHECK-SAME:    %[[EX:[a-z0-9]+]]: memref<?x1x2x16x64xf32>
// CHECK-SAME:    %[[EX_PIECES:[a-z0-9]+]]: memref<?x2x1x?x16x64xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_16x64:.*]] = arith.constant dense<0.000000e+00> : tensor<16x64xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[SLOT_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_SLOT:.*]] = arith.muli %[[SLOT_BLOCK]], %[[C16]] : index
// CHECK-NEXT:    %[[PIECES:.*]] = memref.dim %[[EX_PIECES]], %[[C3]] : memref
//   Sum over the pieces
// CHECK-NEXT:    %[[MERGED:.*]] = tile.loop #tile.sum %[[PIECE:[^ ]+]] = %[[C0]] to %[[PIECES]] step 1
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_16x64]]) : (tensor<16x64xf32>) {
// CHECK-NEXT:      %[[PIECE_TILE:.*]] = tile.load %[[EX_PIECES]][%[[BATCH]], %[[HEAD]], %[[SLOT_BLOCK]], %[[PIECE]], %[[C0]], %[[C0]]]
// CHECK-SAME:          : memref{{.*}} -> tensor<16x64xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = arith.addf %[[PARTIAL]], %[[PIECE_TILE]] : tensor<16x64xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<16x64xf32>
// CHECK-NEXT:    }
//   E x has an axis for the heads of E and one for blocks of model columns; the head axis of the grid counts both.
// CHECK-NEXT:    %[[E_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT:    %[[E_BLOCKS:.*]] = arith.muli %[[E_HEAD]], %[[C2]] : index
// CHECK-NEXT:    %[[MODEL_BLOCK:.*]] = arith.subi %[[HEAD]], %[[E_BLOCKS]] : index
// CHECK-NEXT:    tile.store %[[MERGED]], %[[EX]][%[[BATCH]], %[[E_HEAD]], %[[MODEL_BLOCK]], %[[FIRST_SLOT]], %[[C0]]] : tensor<16x64xf32>, memref
// CHECK-NEXT:    tile.return

// Row sums of E, for the bias: a thread block for each sequence.
// CHECK-LABEL: tile.kernel @low_rank_2_slot_sums(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[E:[a-z0-9]+]]: memref<1x16x?xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[E_SUMS:[a-z0-9]+]]: memref<?x1x16xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_16:.*]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[E_HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[SLOT_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_SLOT:.*]] = arith.muli %[[SLOT_BLOCK]], %[[C16]] : index
// CHECK-NEXT:    %[[TOKENS:.*]] = memref.dim %[[X]], %[[C1]] : memref
//   Row sums of E [16] over the tokens that exist
// CHECK-NEXT:    %[[E_TOTAL:.*]] = tile.loop #tile.sum %[[TOKEN:[^ ]+]] = %[[C0]] to %[[TOKENS]] step 64
// CHECK-SAME:        carries(%[[E_SUM:[^ ]+]] = %[[ZERO_16]]) : (tensor<16xf32>) {
// CHECK-NEXT:      %[[E_TILE:.*]] = tile.load %[[E]][%[[E_HEAD]], %[[FIRST_SLOT]], %[[TOKEN]]] : memref{{.*}} -> tensor<16x64xf32>
// CHECK-NEXT:      %[[TOKENS_LEFT:.*]] = arith.subi %[[TOKENS]], %[[TOKEN]] : index
// CHECK-NEXT:      %[[E_EXISTING:.*]] = tile.mask %[[E_TILE]] fill 0.000000e+00 cols(%[[TOKENS_LEFT]]) : tensor<16x64xf32>
// CHECK-NEXT:      %[[E_TILE_SUM:.*]] = tile.reduce add %[[E_EXISTING]] axis 1 : tensor<16x64xf32> -> tensor<16xf32>
// CHECK-NEXT:      %[[NEXT_E_SUM:.*]] = arith.addf %[[E_SUM]], %[[E_TILE_SUM]] : tensor<16xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_E_SUM]] : tensor<16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[E_TOTAL]], %[[E_SUMS]][%[[BATCH]], %[[E_HEAD]], %[[FIRST_SLOT]]] : tensor<16xf32>, memref
// CHECK-NEXT:    tile.return
