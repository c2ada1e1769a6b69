// Naive FLuRKA on a GPU, storage f16: f_r = Σ_j E_rj φ(k_j), S = fᵀ v', o_i = φ(q_i)ᵀ S, φ(x) = elu(x) + 1        16 slots, d = 24, dv = 40
//
// Features are f32, which all products take as TF32: f16 would lose those of keys far below 0. Here: the compression of
// the features, the state and the readout. (The compression of the values and the merges are those of compressed-kernel.mlir, with f16 operands.)
//
// RUN: attn-opt %s -attn-to-tile=target=gpu -canonicalize -cse | FileCheck %s

!q = tensor<?x4x?x24xf16>
!k = tensor<?x2x?x24xf16>
!v = tensor<?x2x?x40xf16>
!o = tensor<?x4x?x40xf16>
!e = tensor<1x16x?xf16>
!f = tensor<2x16x?xf16>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
func.func @flurka(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}, %e: !e {attn.name = "e"}, %f: !f {attn.name = "f"},
                  %lengths: tensor<?xi32> {attn.name = "lengths"}) -> !o {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : !q -> tensor<?x4x?x24xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>, keys} : !k -> tensor<?x2x?x24xf32>
  %sb = attn.compress %b, %e lengths(%lengths : tensor<?xi32>) : tensor<?x2x?x24xf32>, !e -> tensor<?x2x16x24xf32>
  %sv = attn.compress %v, %f lengths(%lengths : tensor<?xi32>) : !v, !f -> tensor<?x2x16x40xf32>
  %s, %z = attn.state %sb, %sv : tensor<?x2x16x24xf32>, tensor<?x2x16x40xf32> -> !s, !z
  %num, %den = attn.readout %a, %s, %z : tensor<?x4x?x24xf32>, !s, !z -> tensor<?x4x?x40xf32>, tensor<?x4x?xf32>
  %o = attn.normalize %num {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : tensor<?x4x?x40xf32> -> !o
  return %o : !o
}

// Compression of the features: a thread block for each sequence, head and piece of 2,048 tokens.
// CHECK-LABEL: tile.kernel @flurka_compress(
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[E:[a-z0-9]+]]: memref<1x16x?xf16, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[LENGTHS:[a-z0-9]+]]: memref<?xi32>
// CHECK-SAME:    %[[SB_PIECES:[a-z0-9]+]]: memref<?x2x1x?x16x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f16, warps = 4, stages = 2>}
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
// CHECK-NEXT:      %[[E_TILE:.*]] = tile.load %[[E]][%[[C0]], %[[C0]], %[[TOKEN]]] : memref{{.*}} -> tensor<16x64xf16>
// CHECK-NEXT:      %[[E_F32:.*]] = arith.extf %[[E_TILE]] : tensor<16x64xf16> to tensor<16x64xf32>
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[TOKEN]], %[[C0]]]
// CHECK-SAME:          rows(%[[LENGTH]]) : memref{{.*}} -> tensor<64x24xf16>
// CHECK-NEXT:      %[[K_F32:.*]] = arith.extf %[[K_TILE]] : tensor<64x24xf16> to tensor<64x24xf32>
//     φ(x) = elu(x) + 1 = exp(min(x, 0)) + max(x, 0)
// CHECK-NEXT:      %[[K_NEGATIVE:.*]] = arith.minimumf %[[K_F32]], %[[ZERO_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[K_EXPONENT:.*]] = arith.mulf %[[K_NEGATIVE]], %[[LOG2E_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[K_EXP:.*]] = math.exp2 %[[K_EXPONENT]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[K_POSITIVE:.*]] = arith.maximumf %[[K_F32]], %[[ZERO_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[K_FEATURES:.*]] = arith.addf %[[K_EXP]], %[[K_POSITIVE]] : tensor<64x24xf32>
// CHECK-NEXT:      %[[TOKENS_LEFT:.*]] = arith.subi %[[LENGTH]], %[[TOKEN]] : index
//     Features of tokens that do not exist are 0: φ(0) is not.
// CHECK-NEXT:      %[[K_FEATURES_EXISTING:.*]] = tile.mask %[[K_FEATURES]] fill 0.000000e+00 rows(%[[TOKENS_LEFT]]) : tensor<64x24xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[E_F32]], %[[K_FEATURES_EXISTING]], %[[PARTIAL]] precision tf32
// CHECK-SAME:          : tensor<16x64xf32>, tensor<64x24xf32> -> tensor<16x24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<16x24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[SLOTS]], %[[SB_PIECES]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<16x24xf32>, memref
// CHECK-NEXT:    tile.return

// State: a thread block for each sequence and key-value head.
// CHECK-LABEL: tile.kernel @flurka_3_state(
// CHECK-SAME:    %[[SB:[a-z0-9]+]]: memref<?x2x16x24xf32>
// CHECK-SAME:    %[[SV:[a-z0-9]+]]: memref<?x2x16x40xf32>
// CHECK-SAME:    %[[STATE:[a-z0-9]+]]: memref<?x2x24x40xf32>
// CHECK-SAME:    grid(batch, head) attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16,
// CHECK-SAME:    warps = 4, stages = 2>}
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
// CHECK-NEXT:      %[[NEXT_STATE_SUM:.*]] = tile.dot %[[F_SLOTS]], %[[V_SLOTS]], %[[STATE_SUM]] precision tf32 {transpose_a}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x40xf32> -> tensor<24x40xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_STATE_SUM]] : tensor<24x40xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.store %[[STATE_TOTAL]], %[[STATE]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : tensor<24x40xf32>, memref
// CHECK-NEXT:    tile.return

// Readout: a thread block for each sequence, query head and 64 queries.
// CHECK-LABEL: tile.kernel @flurka_3_readout(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x4x?x24xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x4x?x40xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[STATE:[a-z0-9]+]]: memref<?x2x24x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f16, warps = 4, stages = 2>}
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
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf16>
// CHECK-NEXT:    %[[Q_F32:.*]] = arith.extf %[[Q_TILE]] : tensor<64x24xf16> to tensor<64x24xf32>
//   φ(x) = elu(x) + 1 = exp(min(x, 0)) + max(x, 0)
// CHECK-NEXT:    %[[Q_NEGATIVE:.*]] = arith.minimumf %[[Q_F32]], %[[ZERO_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_EXPONENT:.*]] = arith.mulf %[[Q_NEGATIVE]], %[[LOG2E_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_EXP:.*]] = math.exp2 %[[Q_EXPONENT]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_POSITIVE:.*]] = arith.maximumf %[[Q_F32]], %[[ZERO_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_FEATURES:.*]] = arith.addf %[[Q_EXP]], %[[Q_POSITIVE]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT:    %[[STATE_TILE:.*]] = tile.load %[[STATE]][%[[BATCH]], %[[KV_HEAD]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<24x40xf32>
//   Output [64, 40] = φ(q) [64, 24] S [24, 40]
// CHECK-NEXT:    %[[OUTPUT:.*]] = tile.dot %[[Q_FEATURES]], %[[STATE_TILE]], %[[ZERO_64x40]] precision tf32
// CHECK-SAME:        : tensor<64x24xf32>, tensor<24x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:    %[[OUTPUT_F16:.*]] = arith.truncf %[[OUTPUT]] : tensor<64x40xf32> to tensor<64x40xf16>
// CHECK-NEXT:    tile.store %[[OUTPUT_F16]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x40xf16>, memref
// CHECK-NEXT:    tile.return
