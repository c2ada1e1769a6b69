// Kernel attention with compressed features and values, without a denominator (naive FLuRKA), φ(x) = elu(x) + 1.
//
//   f_r = Σ_{j < length} E_rj φ(k_j),   v'_r = Σ_{j < length} F_rj v_j,   o_i = φ(q_i)ᵀ Σ_r f_r v'_rᵀ        16 slots, d = 24 features, dv = 40
//
// Six kernels: features are made in the load of their compression, and never stored for all tokens; compression of the values; merges of the pieces;
// the state [24, 40] = f v'; the readout. E is one for all heads, F one for each.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!e = tensor<1x16x?xf32>
!f = tensor<2x16x?xf32>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
func.func @flurka(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}, %e: !e {attn.name = "e"}, %f: !f {attn.name = "f"},
                  %lengths: tensor<?xi32> {attn.name = "lengths"}) -> !o {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : !q -> !q
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>, keys} : !k -> !k
  %sb = attn.compress %b, %e lengths(%lengths : tensor<?xi32>) : !k, !e -> tensor<?x2x16x24xf32>
  %sv = attn.compress %v, %f lengths(%lengths : tensor<?xi32>) : !v, !f -> tensor<?x2x16x40xf32>
  %s, %z = attn.state %sb, %sv : tensor<?x2x16x24xf32>, tensor<?x2x16x40xf32> -> !s, !z
  %num, %den = attn.readout %a, %s, %z : !q, !s, !z -> !o, tensor<?x4x?xf32>
  %o = attn.normalize %num {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : !o -> !o
  return %o : !o
}

// Six launches, with workspaces for slots, slots of pieces, and the state.
// CHECK-LABEL: func.func @flurka(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[E:[a-z0-9]+]]: memref<1x16x?xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[F:[a-z0-9]+]]: memref<2x16x?xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] : memref
// CHECK-NEXT:    %[[SB:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x16x24xf32>
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[PIECES:.*]] = arith.ceildivui %[[KEYS]], %[[C2048]] : index
// CHECK-NEXT:    %[[SB_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x1x?x16x24xf32>
// CHECK-NEXT:    tile.launch @flurka_compress grid(%[[BATCHES]], %[[C2]], %[[PIECES]]) (%[[K]], %[[E]], %[[LENGTHS]], %[[SB_PIECES]]) :
// CHECK-NEXT:    tile.launch @flurka_merge grid(%[[BATCHES]], %[[C2]], %[[C1]]) (%[[SB]], %[[SB_PIECES]]) :
// CHECK-NEXT:    %[[BATCHES_2:.*]] = memref.dim %[[V]], %[[C0]] : memref
// CHECK-NEXT:    %[[SV:.*]] = tile.workspace(%[[BATCHES_2]]) : memref<?x2x16x40xf32>
// CHECK-NEXT:    %[[VALUES:.*]] = memref.dim %[[V]], %[[C2]] : memref
// CHECK-NEXT:    %[[PIECES_V:.*]] = arith.ceildivui %[[VALUES]], %[[C2048]] : index
// CHECK-NEXT:    %[[SV_PIECES:.*]] = tile.workspace(%[[BATCHES_2]], %[[PIECES_V]]) : memref<?x2x1x?x16x40xf32>
// CHECK-NEXT:    tile.launch @flurka_2_compress grid(%[[BATCHES_2]], %[[C2]], %[[PIECES_V]]) (%[[V]], %[[F]], %[[LENGTHS]], %[[SV_PIECES]]) :
// CHECK-NEXT:    tile.launch @flurka_2_merge grid(%[[BATCHES_2]], %[[C2]], %[[C1]]) (%[[SV]], %[[SV_PIECES]]) :
// CHECK-NEXT:    %[[BATCHES_3:.*]] = memref.dim %[[SB]], %[[C0]] : memref
// CHECK-NEXT:    %[[STATE:.*]] = tile.workspace(%[[BATCHES_3]]) : memref<?x2x24x40xf32>
// CHECK-NEXT:    tile.launch @flurka_3_state grid(%[[BATCHES_3]], %[[C2]]) (%[[SB]], %[[SV]], %[[STATE]]) :
// CHECK-NEXT:    %[[BATCHES_4:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @flurka_3_readout grid(%[[BATCHES_4]], %[[C4]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[O]], %[[STATE]]) :
// CHECK-NEXT:    return

// Compression of the features: a thread block for each sequence, head and piece of 2,048 tokens.
// CHECK-LABEL: tile.kernel @flurka_compress(
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[E:[a-z0-9]+]]: memref<1x16x?xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[SB_PIECES:[a-z0-9]+]]: memref<?x2x1x?x16x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[LOG2E_64x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<64x24xf32>
// CHECK-DAG:     %[[ZERO_64x24:.*]] = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
// CHECK-DAG:     %[[ZERO_16x24:.*]] = arith.constant dense<0.000000e+00> : tensor<16x24xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
//   There is one block of 16 slots, so that the last axis counts pieces alone.
// CHECK-NEXT:    %[[PIECE:.*]] = tile.program_id query_block
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
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_16x24]]) : (tensor<16x24xf32>) {
// CHECK-NEXT:      %[[E_TILE:.*]] = tile.load %[[E]][%[[C0]], %[[C0]], %[[TOKEN]]] : memref{{.*}} -> tensor<16x64xf32>
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[TOKEN]], %[[C0]]]
// CHECK-SAME:          rows(%[[LENGTH]]) : memref{{.*}} -> tensor<64x24xf32>
//     φ(x) = elu(x) + 1 = exp(min(x, 0)) + max(x, 0)
// CHECK-NEXT:      %[[K_NEGATIVE:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[K_EXPONENT:.*]] = arith.mulf %[[K_NEGATIVE]], %[[LOG2E_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[K_EXP:.*]] = math.exp2 %[[K_EXPONENT]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[K_POSITIVE:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[K_FEATURES:.*]] = arith.addf %[[K_EXP]], %[[K_POSITIVE]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[TOKENS_LEFT:.*]] = arith.subi %[[LENGTH]], %[[TOKEN]] : index
//     Features of tokens that do not exist are 0: φ(0) is not.
// CHECK-NEXT:      %[[K_FEATURES_EXISTING:.*]] = tile.mask %[[K_FEATURES]] fill 0.000000e+00 rows(%[[TOKENS_LEFT]]) : tensor<64x24xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[E_TILE]], %[[K_FEATURES_EXISTING]], %[[PARTIAL]]
// CHECK-SAME:          : tensor<16x64xf32>, tensor<64x24xf32> -> tensor<16x24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<16x24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[SLOTS]], %[[SB_PIECES]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<16x24xf32>, memref
// CHECK-NEXT:    tile.return

// Merge: adds up the pieces.
// CHECK-LABEL: tile.kernel @flurka_merge(
// CHECK-SAME:    %[[SB:[a-z0-9]+]]: memref<?x2x16x24xf32>
// CHECK-SAME:    %[[SB_PIECES:[a-z0-9]+]]: memref<?x2x1x?x16x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_16x24:.*]] = arith.constant dense<0.000000e+00> : tensor<16x24xf32>
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[SLOT_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_SLOT:.*]] = arith.muli %[[SLOT_BLOCK]], %[[C16]] : index
// CHECK-NEXT:    %[[PIECES:.*]] = memref.dim %[[SB_PIECES]], %[[C3]] : memref
//   Sum over the pieces
// CHECK-NEXT:    %[[MERGED:.*]] = tile.loop #tile.sum %[[PIECE:[^ ]+]] = %[[C0]] to %[[PIECES]] step 1
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_16x24]]) : (tensor<16x24xf32>) {
// CHECK-NEXT:      %[[PIECE_TILE:.*]] = tile.load %[[SB_PIECES]][%[[BATCH]], %[[HEAD]], %[[SLOT_BLOCK]], %[[PIECE]], %[[C0]], %[[C0]]]
// CHECK-SAME:          : memref{{.*}} -> tensor<16x24xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = arith.addf %[[PARTIAL]], %[[PIECE_TILE]] : tensor<16x24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<16x24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[MERGED]], %[[SB]][%[[BATCH]], %[[HEAD]], %[[FIRST_SLOT]], %[[C0]]] : tensor<16x24xf32>, memref
// CHECK-NEXT:    tile.return

// Compression of the values, by a matrix for each head
// CHECK-LABEL: tile.kernel @flurka_2_compress(
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[F:[a-z0-9]+]]: memref<2x16x?xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[SV_PIECES:[a-z0-9]+]]: memref<?x2x1x?x16x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
//   There is one block of 16 slots, so that the last axis counts pieces alone.
// CHECK-NEXT:    %[[PIECE:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[VALUES:.*]] = memref.dim %[[V]], %[[C2]] : memref
//   The tokens of this sequence that exist: its length, kept within 0 and the number of tokens.
// CHECK-NEXT:    %[[LENGTH_I32:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]] : memref
// CHECK-NEXT:    %[[LENGTH_READ:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT:    %[[LENGTH_FLOOR:.*]] = arith.maxsi %[[LENGTH_READ]], %[[C0]] : index
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.minsi %[[LENGTH_FLOOR]], %[[VALUES]] : index
//   The piece's tokens: FIRST_TOKEN to PIECE_END.
// CHECK-NEXT:    %[[FIRST_TOKEN:.*]] = arith.muli %[[PIECE]], %[[C2048]] : index
// CHECK-NEXT:    %[[PIECE_STOP:.*]] = arith.addi %[[FIRST_TOKEN]], %[[C2048]] : index
// CHECK-NEXT:    %[[PIECE_END:.*]] = arith.minsi %[[PIECE_STOP]], %[[LENGTH]] : index
//   Slots = E x, 64 tokens at a time
// CHECK-NEXT:    %[[SLOTS:.*]] = tile.loop #tile.sum %[[TOKEN:[^ ]+]] = %[[FIRST_TOKEN]] to %[[PIECE_END]] step 64
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_16x40]]) : (tensor<16x40xf32>) {
// CHECK-NEXT:      %[[F_TILE:.*]] = tile.load %[[F]][%[[HEAD]], %[[C0]], %[[TOKEN]]] : memref{{.*}} -> tensor<16x64xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[TOKEN]], %[[C0]]]
// CHECK-SAME:          rows(%[[LENGTH]]) : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[F_TILE]], %[[V_TILE]], %[[PARTIAL]] : tensor<16x64xf32>, tensor<64x40xf32> -> tensor<16x40xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<16x40xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[SLOTS]], %[[SV_PIECES]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<16x40xf32>, memref
// CHECK-NEXT:    tile.return

// Merge: adds up the pieces.
// CHECK-LABEL: tile.kernel @flurka_2_merge(
// CHECK-SAME:    %[[SV:[a-z0-9]+]]: memref<?x2x16x40xf32>
// CHECK-SAME:    %[[SV_PIECES:[a-z0-9]+]]: memref<?x2x1x?x16x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[SLOT_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_SLOT:.*]] = arith.muli %[[SLOT_BLOCK]], %[[C16]] : index
// CHECK-NEXT:    %[[PIECES:.*]] = memref.dim %[[SV_PIECES]], %[[C3]] : memref
//   Sum over the pieces
// CHECK-NEXT:    %[[MERGED:.*]] = tile.loop #tile.sum %[[PIECE:[^ ]+]] = %[[C0]] to %[[PIECES]] step 1
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_16x40]]) : (tensor<16x40xf32>) {
// CHECK-NEXT:      %[[PIECE_TILE:.*]] = tile.load %[[SV_PIECES]][%[[BATCH]], %[[HEAD]], %[[SLOT_BLOCK]], %[[PIECE]], %[[C0]], %[[C0]]]
// CHECK-SAME:          : memref{{.*}} -> tensor<16x40xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = arith.addf %[[PARTIAL]], %[[PIECE_TILE]] : tensor<16x40xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<16x40xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[MERGED]], %[[SV]][%[[BATCH]], %[[HEAD]], %[[FIRST_SLOT]], %[[C0]]] : tensor<16x40xf32>, memref
// CHECK-NEXT:    tile.return

// State: a thread block for each sequence and key-value head.
// CHECK-LABEL: tile.kernel @flurka_3_state(
// CHECK-SAME:    %[[SB:[a-z0-9]+]]: memref<?x2x16x24xf32>
// CHECK-SAME:    %[[SV:[a-z0-9]+]]: memref<?x2x16x40xf32>
// CHECK-SAME:    %[[STATE:[a-z0-9]+]]: memref<?x2x24x40xf32>
// CHECK-SAME:    grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32,
// CHECK-SAME:    warps = 1, stages = 1>}
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
//   S [24, 40] = fᵀ v', 64 slots at a time; of 16 slots there is one step.
// CHECK-NEXT:    %[[STATE_TOTAL:.*]] = tile.loop #tile.sum %[[SLOT:[^ ]+]] = %[[C0]] to %[[C16]] step 64
// CHECK-SAME:        carries(%[[STATE_SUM:[^ ]+]] = %[[ZERO_24x40]]) : (tensor<24x40xf32>) {
// CHECK-NEXT:      %[[F_SLOTS:.*]] = tile.load %[[SB]][%[[BATCH]], %[[HEAD]], %[[SLOT]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[V_SLOTS:.*]] = tile.load %[[SV]][%[[BATCH]], %[[HEAD]], %[[SLOT]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEXT_STATE_SUM:.*]] = tile.dot %[[F_SLOTS]], %[[V_SLOTS]], %[[STATE_SUM]] {transpose_a}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x40xf32> -> tensor<24x40xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_STATE_SUM]] : tensor<24x40xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[STATE_TOTAL]], %[[STATE]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : tensor<24x40xf32>, memref
// CHECK-NEXT:    tile.return

// Readout: a thread block for each sequence, query head and 64 queries.
// CHECK-LABEL: tile.kernel @flurka_3_readout(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[STATE:[a-z0-9]+]]: memref<?x2x24x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[LOG2E_64x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<64x24xf32>
// CHECK-DAG:     %[[ZERO_64x24:.*]] = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
//   φ(x) = elu(x) + 1 = exp(min(x, 0)) + max(x, 0)
// CHECK-NEXT:    %[[Q_NEGATIVE:.*]] = arith.minimumf %[[Q_TILE]], %[[ZERO_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_EXPONENT:.*]] = arith.mulf %[[Q_NEGATIVE]], %[[LOG2E_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_EXP:.*]] = math.exp2 %[[Q_EXPONENT]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_FEATURES:.*]] = arith.addf %[[Q_EXP]], %[[Q_POSITIVE]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT:    %[[STATE_TILE:.*]] = tile.load %[[STATE]][%[[BATCH]], %[[KV_HEAD]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<24x40xf32>
//   Output [64, 40] = φ(q) [64, 24] S [24, 40]
// CHECK-NEXT:    %[[OUTPUT:.*]] = tile.dot %[[Q_FEATURES]], %[[STATE_TILE]], %[[ZERO_64x40]]
// CHECK-SAME:        : tensor<64x24xf32>, tensor<24x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x40xf32>, memref
// CHECK-NEXT:    tile.return
