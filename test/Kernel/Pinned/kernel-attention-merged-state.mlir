// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Kernel attention with φ = elu + 1, not causal, whose pieces are merged by the last thread block: S [24, 40] = Σ_j φ(k_j)ᵀ v_j, z [24] =
// Σ_j φ(k_j). As in kernel-attention-state.mlir, but no merge kernel: the thread block that finishes the last piece of a (batch, head),
// which a counter tells it, adds up all pieces in their order, so that the sum does not depend on which it is.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<elu1>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a = tensor<?x4x?x24xf32>
!b = tensor<?x2x?x24xf32>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @merged(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %lengths: tensor<?xi32> {attn.name = "key_lengths"}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k lengths(%lengths : tensor<?xi32>) {feature_map = #map} : !k -> !b
  %s, %z = attn.state %b, %v : !b, !v -> !s, !z
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<ending = last_block>} : !a, !s, !z -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @merged(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32> {{{.*}}attune.name = "key_lengths"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[Z:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x24xf32>
// CHECK-NEXT: %[[S:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x24x40xf32>
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[PIECES_ALL:.*]] = arith.ceildivui %[[KEYS]], %[[C2048]] : index
// Without keys there is one piece, so that some thread block writes the state.
// CHECK-NEXT: %[[PIECES:.*]] = arith.maxsi %[[PIECES_ALL]], %[[C1]] : index
// CHECK-NEXT: %[[S_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x24x40xf32>
// CHECK-NEXT: %[[Z_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x24xf32>
// CHECK-NEXT: %[[COUNTERS:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x2xi32>
// CHECK-NEXT: tile.launch @merged_merged_state grid(%[[BATCHES]], %[[C2]], %[[PIECES]])
// CHECK-SAME:     (%[[K]], %[[V]], %[[LENGTHS]], %[[S]], %[[Z]], %[[S_PIECES]], %[[Z_PIECES]], %[[COUNTERS]])
// CHECK-NEXT: %[[QUERY_BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @merged_readout grid(%[[QUERY_BATCHES]], %[[C4]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[O]], %[[S]], %[[Z]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @merged_merged_state(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32>
// CHECK-SAME:  %[[S_ALL:[^:]*]]: memref<?x2x24x40xf32>
// CHECK-SAME:  %[[Z_ALL:[^:]*]]: memref<?x2x24xf32>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x24x40xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x24xf32>
// CHECK-SAME:  %[[COUNTERS:[^:]*]]: memref<?x2x2xi32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// The keys that exist are max(0, min(length, N)). Those from 2048 piece up to the end of the piece or of all keys.
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[PIECE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[LENGTH_I32:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]] :
// CHECK-NEXT: %[[LENGTH:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT: %[[NOT_NEGATIVE:.*]] = arith.maxsi %[[LENGTH]], %[[C0]] : index
// CHECK-NEXT: %[[LIMIT:.*]] = arith.minsi %[[NOT_NEGATIVE]], %[[KEYS]] : index
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PIECE]], %[[C2048]] : index
// CHECK-NEXT: %[[PIECE_END_ALL:.*]] = arith.addi %[[BEGIN]], %[[C2048]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PIECE_END_ALL]], %[[LIMIT]] : index
// CHECK-NEXT: %[[STATE:.*]]:2 = tile.loop #tile.sum %[[FIRST:.*]] = %[[BEGIN]] to %[[END]] step 32 carries(
// CHECK-SAME:     %[[S:.*]] = %[[ZERO_24x40]], %[[Z:.*]] = %[[ZERO_24]]) : (tensor<24x40xf32>, tensor<24xf32>) {
// φ(k) [32, 24] = 2^(log2 e · min(k, 0)) + max(k, 0), and 0 of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_ALL:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST]] : index
// CHECK-NEXT:   %[[PHI_K:.*]] = tile.mask %[[PHI_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x40xf32>
// S [24, 40] += φ(k)ᵀ v, z [24] += φ(k)ᵀ 1
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[PHI_K]], %[[V_TILE]], %[[S]] {transpose_a} : tensor<32x24xf32>, tensor<32x40xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[Z_SUM:.*]] = tile.reduce add %[[PHI_K]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z]], %[[Z_SUM]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %[[STATE]]#0, %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<24x40xf32>
// CHECK-NEXT: tile.store %[[STATE]]#1, %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<24xf32>
// 1 for the thread block that arrives last, else 0
// CHECK-NEXT: %[[PIECES:.*]] = memref.dim %[[S_PIECES]], %[[C2]] :
// CHECK-NEXT: %[[LAST:.*]] = tile.arrive %[[COUNTERS]][%[[BATCH]], %[[HEAD]]] of %[[PIECES]] :
// CHECK-NEXT: tile.loop #tile.sum %[[STEP:.*]] = %[[C0]] to %[[LAST]] step 1 {
// CHECK-NEXT:   %[[STATE_2:.*]]:2 = tile.loop #tile.sum %[[PIECE_2:.*]] = %[[C0]] to %[[PIECES]] step 1 carries(
// CHECK-SAME:       %[[S:.*]] = %[[ZERO_24x40]], %[[Z:.*]] = %[[ZERO_24]]) : (tensor<24x40xf32>, tensor<24xf32>) {
// CHECK-NEXT:     %[[S_PIECE:.*]] = tile.load %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE_2]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT:     %[[Z_PIECE:.*]] = tile.load %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE_2]], %[[C0]]] : {{.*}} -> tensor<24xf32>
// CHECK-NEXT:     %[[S_NEXT:.*]] = arith.addf %[[S]], %[[S_PIECE]] : tensor<24x40xf32>
// CHECK-NEXT:     %[[Z_NEXT:.*]] = arith.addf %[[Z]], %[[Z_PIECE]] : tensor<24xf32>
// CHECK-NEXT:     tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.store %[[STATE_2]]#0, %[[S_ALL]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : tensor<24x40xf32>
// CHECK-NEXT:   tile.store %[[STATE_2]]#1, %[[Z_ALL]][%[[BATCH]], %[[HEAD]], %[[C0]]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @merged_readout(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x2x24x40xf32>
// CHECK-SAME:  %[[Z:[^:]*]]: memref<?x2x24xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C32]] : index
// φ(q) [32, 24]
// CHECK-NEXT: %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT: %[[NEGATIVE:.*]] = arith.minimumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT: %[[POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[PHI_Q:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[S_TILE:.*]] = tile.load %[[S]][%[[BATCH]], %[[KV_HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT: %[[Z_TILE:.*]] = tile.load %[[Z]][%[[BATCH]], %[[KV_HEAD]], %[[C0]]] : {{.*}} -> tensor<24xf32>
// num [32, 40] = φ(q) S, den [32] = φ(q) z
// CHECK-NEXT: %[[NUM:.*]] = tile.dot %[[PHI_Q]], %[[S_TILE]], %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[Z_TILE_ROWS:.*]] = tile.expand %[[Z_TILE]] axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[PHI_Z:.*]] = arith.mulf %[[PHI_Q]], %[[Z_TILE_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT: %[[DEN:.*]] = tile.reduce add %[[PHI_Z]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// o = num / den, 0 where den is 0
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT: tile.return
