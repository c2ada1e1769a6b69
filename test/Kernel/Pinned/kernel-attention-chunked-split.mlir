// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal kernel attention with φ = elu + 1, chunk by chunk, in three parts of the sequence side by side. A part has equally many whole
// chunks of 32 tokens, ⌈N / 288⌉ · 96 tokens, and is cut into three pieces. "state" sums up the state of each piece of all parts but the
// last, one thread block per (batch, key-value head, piece). "chunked" has a thread block per (batch, query head, part): it adds the states
// of the pieces before its part in their order and then walks its chunks as in kernel-attention-chunked.mlir.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1, parts = 3>
#map = #attn.feature_map<elu1>
!q = tensor<?x4x4096x24xf32>
!k = tensor<?x2x4096x24xf32>
!v = tensor<?x2x4096x40xf32>
!o = tensor<?x4x4096x40xf32>
!a = tensor<?x4x4096x24xf32>
!b = tensor<?x2x4096x24xf32>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
!num = tensor<?x4x4096x40xf32>
!den = tensor<?x4x4096xf32>
func.func @split(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k {feature_map = #map} : !k -> !b
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v {execution = #attn.execution<split = true>} : !a, !b, !v -> !num, !den, !s, !z
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @split(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG: %[[C288:.*]] = arith.constant 288 : index
// Parts of ⌈N / 288⌉ · 96 tokens; three pieces of each but the last.
// CHECK:      %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[THIRDS:.*]] = arith.ceildivui %[[KEYS]], %[[C288]] : index
// CHECK-NEXT: %[[PART_ALL:.*]] = arith.muli %[[THIRDS]], %[[C96]] : index
// CHECK-NEXT: %[[PART:.*]] = arith.maxsi %[[PART_ALL]], %[[C1]] : index
// CHECK-NEXT: %[[PARTS:.*]] = arith.ceildivui %[[KEYS]], %[[PART]] : index
// CHECK-NEXT: %[[PARTS_LEAST:.*]] = arith.maxsi %[[PARTS]], %[[C1]] : index
// CHECK-NEXT: %[[PARTS_BEFORE:.*]] = arith.subi %[[PARTS_LEAST]], %[[C1]] : index
// CHECK-NEXT: %[[PIECES:.*]] = arith.muli %[[PARTS_BEFORE]], %[[C3]] : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[Z_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x24xf32>
// CHECK-NEXT: %[[S_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x24x40xf32>
// CHECK-NEXT: %[[PIECES_AGAIN:.*]] = memref.dim %[[S_PIECES]], %[[C2]] :
// CHECK-NEXT: tile.launch @split_state grid(%[[BATCHES]], %[[C2]], %[[PIECES_AGAIN]]) (%[[K]], %[[V]], %[[S_PIECES]], %[[Z_PIECES]])
// CHECK-NEXT: %[[QUERY_BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @split_chunked grid(%[[QUERY_BATCHES]], %[[C4]], %[[PARTS]]) (%[[Q]], %[[K]], %[[V]], %[[O]], %[[S_PIECES]], %[[Z_PIECES]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @split_state(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x24x40xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x24xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1, parts = 3>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C288:.*]] = arith.constant 288 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// The keys of the piece: ⌈N / 288⌉ chunks.
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[PIECE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[CHUNKS:.*]] = arith.ceildivui %[[KEYS]], %[[C288]] : index
// CHECK-NEXT: %[[PIECE_LENGTH:.*]] = arith.muli %[[CHUNKS]], %[[C32]] : index
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PIECE]], %[[PIECE_LENGTH]] : index
// CHECK-NEXT: %[[PIECE_END_ALL:.*]] = arith.addi %[[BEGIN]], %[[PIECE_LENGTH]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PIECE_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT: %[[STATE:.*]]:2 = tile.loop #tile.sum %[[FIRST:.*]] = %[[BEGIN]] to %[[END]] step 32 carries(
// CHECK-SAME:     %[[S:.*]] = %[[ZERO_24x40]], %[[Z:.*]] = %[[ZERO_24]]) : (tensor<24x40xf32>, tensor<24xf32>) {
// φ(k) [32, 24] = 2^(log2 e · min(k, 0)) + max(k, 0), and 0 of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_ALL:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[PHI_K:.*]] = tile.mask %[[PHI_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// S [24, 40] += φ(k)ᵀ v, z [24] += φ(k)ᵀ 1
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[PHI_K]], %[[V_TILE]], %[[S]] {transpose_a} : tensor<32x24xf32>, tensor<32x40xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[Z_SUM:.*]] = tile.reduce add %[[PHI_K]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z]], %[[Z_SUM]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %[[STATE]]#0, %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<24x40xf32>
// CHECK-NEXT: tile.store %[[STATE]]#1, %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<24xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @split_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x24x40xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x24xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1, parts = 3>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG: %[[C288:.*]] = arith.constant 288 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[ONE_32x1:.*]] = arith.constant dense<1.000000e+00> : tensor<32x1xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// The tokens of the part.
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// The pieces before it, in order.
// CHECK-NEXT: %[[PART:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[CHUNKS:.*]] = arith.ceildivui %[[KEYS]], %[[C288]] : index
// CHECK-NEXT: %[[PART_LENGTH:.*]] = arith.muli %[[CHUNKS]], %[[C96]] : index
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PART]], %[[PART_LENGTH]] : index
// CHECK-NEXT: %[[PART_END_ALL:.*]] = arith.addi %[[BEGIN]], %[[PART_LENGTH]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PART_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT: %[[PIECES_BEFORE:.*]] = arith.muli %[[PART]], %[[C3]] : index
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[BEFORE:.*]]:2 = tile.loop #tile.sum %[[BEFORE_PIECE:.*]] = %[[C0]] to %[[PIECES_BEFORE]] step 1 carries(
// CHECK-SAME:     %[[S_SO_FAR:.*]] = %[[ZERO_24x40]], %[[Z_SO_FAR:.*]] = %[[ZERO_24]]) : (tensor<24x40xf32>, tensor<24xf32>) {
// CHECK-NEXT:   %[[S_PIECE:.*]] = tile.load %[[S_PIECES]][%[[BATCH]], %[[KV_HEAD]], %[[BEFORE_PIECE]], %[[C0]], %[[C0]]]
// CHECK-SAME:       -> tensor<24x40xf32>
// CHECK-NEXT:   %[[Z_PIECE:.*]] = tile.load %[[Z_PIECES]][%[[BATCH]], %[[KV_HEAD]], %[[BEFORE_PIECE]], %[[C0]]] : {{.*}} -> tensor<24xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = arith.addf %[[S_SO_FAR]], %[[S_PIECE]] : tensor<24x40xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z_SO_FAR]], %[[Z_PIECE]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[STATE:.*]]:2 = tile.loop #tile.sum %[[FIRST:.*]] = %[[BEGIN]] to %[[END]] step 32 carries(
// CHECK-SAME:     %[[S:.*]] = %[[BEFORE]]#0, %[[Z:.*]] = %[[BEFORE]]#1) : (tensor<24x40xf32>, tensor<24xf32>) {
// φ(q) [32, 24] = 2^(log2 e · min(q, 0)) + max(q, 0)
// CHECK-NEXT:   %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE:.*]] = arith.minimumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_Q:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// φ(k) [32, 24] = 2^(log2 e · min(k, 0)) + max(k, 0), and 0 of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE_2:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT_2:.*]] = arith.mulf %[[NEGATIVE_2]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE_2:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_ALL:.*]] = arith.addf %[[EXP_2]], %[[POSITIVE_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[PHI_K:.*]] = tile.mask %[[PHI_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// Token by token: S += φ(k_t) v_tᵀ, num_t [40] = φ(q_t) S
// CHECK-NEXT:   %[[NUM:.*]], %[[S_NEXT:.*]] = tile.scan %[[PHI_Q]], %[[PHI_K]], %[[V_TILE]], %[[S]], %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<32x40xf32>, tensor<24x40xf32>
// Sums up to each token in the same way, in a state of one row: z [1, 24] += 1 φ(k_t)ᵀ, Σ_t [24] = 1 z
// CHECK-NEXT:   %[[Z_ROW:.*]] = tile.expand %[[Z]] axis 0 : tensor<24xf32> -> tensor<1x24xf32>
// CHECK-NEXT:   %[[Z_UP_TO:.*]], %[[Z_ROW_NEXT:.*]] = tile.scan %[[ONE_32x1]], %[[ONE_32x1]], %[[PHI_K]], %[[Z_ROW]], %[[ZERO_32x24]] : tensor<32x1xf32>, tensor<32x24xf32>, tensor<1x24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = tile.reduce add %[[Z_ROW_NEXT]] axis 0 : tensor<1x24xf32> -> tensor<24xf32>
// den_t = φ(q_t) Σ_t
// CHECK-NEXT:   %[[PHI_Z:.*]] = arith.mulf %[[PHI_Q]], %[[Z_UP_TO]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[DEN:.*]] = tile.reduce add %[[PHI_Z]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:   %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
