// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// FAVOR+ whose stabilizer cancels, not causal, whose pieces are merged by the last thread block. φ(x) = 2^L(x) is never formed; with x' =
// √s x, L(q) = log2 e ⟨ω, q'⟩ and L(k) = log2 e (⟨ω, k'⟩ − |k'|²/2):
//
//     o_i = Σ_j w_ij v_j / Σ_j w_ij,    w_ij = Σ_f 2^(L_f(q_i) + L_f(k_j))
//
// The state of keys is M [16], the largest logarithm of each feature, z [16] = Σ 2^(L(k) − M) and S [16, 40] = Σ 2^(L(k) − M) vᵀ. As
// favor-state.mlir, but no merge kernel: the thread block that finishes the last piece of a (batch, head), which a counter tells it, merges
// all pieces in their order.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<favor, features = 16, epsilon = 0.000000e+00, scale = 2.500000e-01, stabilizer = constant>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a = tensor<?x4x?x16xf32>
!b = tensor<?x2x?x16xf32>
!s = tensor<?x2x16x40xf32>
!z = tensor<?x2x16xf32>
!omega = tensor<1x16x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @merged(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %omega: !omega {attn.name = "omega", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : !omega) {feature_map = #map} : !q -> !a
  %b = attn.map %k parameter(%omega : !omega) {feature_map = #map, keys} : !k -> !b
  %s, %z = attn.state %b, %v : !b, !v -> !s, !z
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<ending = last_block>} : !a, !s, !z -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @merged(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "omega"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[Z:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x16xf32>
// CHECK-NEXT: %[[M:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x16xf32>
// CHECK-NEXT: %[[S:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x16x40xf32>
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[PIECES_ALL:.*]] = arith.ceildivui %[[KEYS]], %[[C2048]] : index
// CHECK-NEXT: %[[PIECES:.*]] = arith.maxsi %[[PIECES_ALL]], %[[C1]] : index
// CHECK-NEXT: %[[M_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x16xf32>
// CHECK-NEXT: %[[Z_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x16xf32>
// CHECK-NEXT: %[[S_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x16x40xf32>
// CHECK-NEXT: %[[COUNTERS:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x2xi32>
// CHECK-NEXT: tile.launch @merged_merged_state grid(%[[BATCHES]], %[[C2]], %[[PIECES]])
// CHECK-SAME:     (%[[K]], %[[V]], %[[OMEGA]], %[[M]], %[[Z]], %[[S]], %[[M_PIECES]], %[[Z_PIECES]], %[[S_PIECES]], %[[COUNTERS]])
// CHECK-NEXT: %[[QUERY_BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @merged_readout grid(%[[QUERY_BATCHES]], %[[C4]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[OMEGA]], %[[O]], %[[M]], %[[Z]], %[[S]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @merged_merged_state(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[M_ALL:[^:]*]]: memref<?x2x16xf32>
// CHECK-SAME:  %[[Z_ALL:[^:]*]]: memref<?x2x16xf32>
// CHECK-SAME:  %[[S_ALL:[^:]*]]: memref<?x2x16x40xf32>
// CHECK-SAME:  %[[M_PIECES:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x16x40xf32>
// CHECK-SAME:  %[[COUNTERS:[^:]*]]: memref<?x2x2xi32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG: %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG: %[[NO_LOGARITHM_16:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<16xf32>
// CHECK-DAG: %[[MINUS_INFINITY_16:.*]] = arith.constant dense<0xFF800000> : tensor<16xf32>
// CHECK-DAG: %[[ZERO_16:.*]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[ROOT_S_LOG2E_32x24:.*]] = arith.constant #tile.exact<0.72134752044448169> : tensor<32x24xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.18033688011112042> : tensor<32xf32>
// Keys from 2048 piece up to the end of the piece or of all keys.
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[PIECE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PIECE]], %[[C2048]] : index
// CHECK-NEXT: %[[PIECE_END_ALL:.*]] = arith.addi %[[BEGIN]], %[[C2048]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PIECE_END_ALL]], %[[KEYS]] : index
// M starts at −1e30, z and S at 0.
// CHECK-NEXT: %[[STATE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST:.*]] = %[[BEGIN]] to %[[END]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[NO_LOGARITHM_16]], %[[Z:.*]] = %[[ZERO_16]], %[[S:.*]] = %[[ZERO_16x40]]) :
// CHECK-SAME:     (tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>) {
// L(k) [32, 16] = log2 e (⟨ω, k'⟩ − |k'|²/2): −∞ of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM_COLS:.*]] = tile.expand %[[HALF_NORM]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[L_ALL:.*]] = arith.subf %[[OMEGA_K]], %[[HALF_NORM_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[L_K:.*]] = tile.mask %[[L_ALL]] fill 0xFF800000 rows(%[[KEYS_LEFT]]) : tensor<32x16xf32>
// M' = max(M, max_j L(k)), z and S times 2^(M − M')
// CHECK-NEXT:   %[[L_MAX:.*]] = tile.reduce max %[[L_K]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:   %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[L_MAX]] : tensor<16xf32>
// CHECK-NEXT:   %[[M_DROP:.*]] = arith.subf %[[M]], %[[M_NEXT]] : tensor<16xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = math.exp2 %[[M_DROP]] : tensor<16xf32>
// CHECK-NEXT:   %[[Z_SCALED:.*]] = arith.mulf %[[Z]], %[[FACTOR]] : tensor<16xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<16xf32> -> tensor<16x40xf32>
// CHECK-NEXT:   %[[S_SCALED:.*]] = arith.mulf %[[S]], %[[FACTOR_COLS]] : tensor<16x40xf32>
// b [32, 16] = 2^(L(k) − M')
// CHECK-NEXT:   %[[M_NEXT_ROWS:.*]] = tile.expand %[[M_NEXT]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[L_BELOW:.*]] = arith.subf %[[L_K]], %[[M_NEXT_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B:.*]] = math.exp2 %[[L_BELOW]] : tensor<32x16xf32>
// z' = z 2^(M − M') + bᵀ 1, S' = S 2^(M − M') + bᵀ v
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[B_SUM:.*]] = tile.reduce add %[[B]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[B_SUM]] : tensor<16xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[B]], %[[V_TILE]], %[[S_SCALED]] {transpose_a} : {{.*}} -> tensor<16x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %[[STATE]]#0, %[[M_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<16xf32>
// CHECK-NEXT: tile.store %[[STATE]]#1, %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<16xf32>
// CHECK-NEXT: tile.store %[[STATE]]#2, %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<16x40xf32>
// 1 for the thread block that arrives last, else 0
// CHECK-NEXT: %[[PIECES:.*]] = memref.dim %[[M_PIECES]], %[[C2]] :
// CHECK-NEXT: %[[LAST:.*]] = tile.arrive %[[COUNTERS]][%[[BATCH]], %[[HEAD]]] of %[[PIECES]] :
// CHECK-NEXT: tile.loop #tile.sum %[[STEP:.*]] = %[[C0]] to %[[LAST]] step 1 {
// CHECK-NEXT:   %[[STATE_2:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[PIECE_2:.*]] = %[[C0]] to %[[PIECES]] step 1 carries(
// CHECK-SAME:       %[[M:.*]] = %[[NO_LOGARITHM_16]], %[[Z:.*]] = %[[ZERO_16]], %[[S:.*]] = %[[ZERO_16x40]]) :
// CHECK-SAME:       (tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>) {
// CHECK-NEXT:     %[[M_PIECE:.*]] = tile.load %[[M_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE_2]], %[[C0]]] : {{.*}} -> tensor<16xf32>
// CHECK-NEXT:     %[[Z_PIECE:.*]] = tile.load %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE_2]], %[[C0]]] : {{.*}} -> tensor<16xf32>
// CHECK-NEXT:     %[[S_PIECE:.*]] = tile.load %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE_2]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x40xf32>
// M' = max of both; z and S of both, times 2^(their M − M'), are added; 2^(their M) where M' = −∞.
// CHECK-NEXT:     %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[M_PIECE]] : tensor<16xf32>
// CHECK-NEXT:     %[[EMPTY:.*]] = arith.cmpf oeq, %[[M_NEXT]], %[[MINUS_INFINITY_16]] : tensor<16xf32>
// CHECK-NEXT:     %[[SHIFT:.*]] = arith.select %[[EMPTY]], %[[ZERO_16]], %[[M_NEXT]] : tensor<16xi1>, tensor<16xf32>
// CHECK-NEXT:     %[[M_DROP:.*]] = arith.subf %[[M]], %[[SHIFT]] : tensor<16xf32>
// CHECK-NEXT:     %[[FACTOR:.*]] = math.exp2 %[[M_DROP]] : tensor<16xf32>
// CHECK-NEXT:     %[[PIECE_DROP:.*]] = arith.subf %[[M_PIECE]], %[[SHIFT]] : tensor<16xf32>
// CHECK-NEXT:     %[[PIECE_FACTOR:.*]] = math.exp2 %[[PIECE_DROP]] : tensor<16xf32>
// CHECK-NEXT:     %[[Z_SCALED:.*]] = arith.mulf %[[Z]], %[[FACTOR]] : tensor<16xf32>
// CHECK-NEXT:     %[[Z_PIECE_SCALED:.*]] = arith.mulf %[[Z_PIECE]], %[[PIECE_FACTOR]] : tensor<16xf32>
// CHECK-NEXT:     %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[Z_PIECE_SCALED]] : tensor<16xf32>
// CHECK-NEXT:     %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<16xf32> -> tensor<16x40xf32>
// CHECK-NEXT:     %[[S_SCALED:.*]] = arith.mulf %[[S]], %[[FACTOR_COLS]] : tensor<16x40xf32>
// CHECK-NEXT:     %[[PIECE_FACTOR_COLS:.*]] = tile.expand %[[PIECE_FACTOR]] axis 1 : tensor<16xf32> -> tensor<16x40xf32>
// CHECK-NEXT:     %[[S_PIECE_SCALED:.*]] = arith.mulf %[[S_PIECE]], %[[PIECE_FACTOR_COLS]] : tensor<16x40xf32>
// CHECK-NEXT:     %[[S_NEXT:.*]] = arith.addf %[[S_SCALED]], %[[S_PIECE_SCALED]] : tensor<16x40xf32>
// CHECK-NEXT:     tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.store %[[STATE_2]]#0, %[[M_ALL]][%[[BATCH]], %[[HEAD]], %[[C0]]] : tensor<16xf32>
// CHECK-NEXT:   tile.store %[[STATE_2]]#1, %[[Z_ALL]][%[[BATCH]], %[[HEAD]], %[[C0]]] : tensor<16xf32>
// CHECK-NEXT:   tile.store %[[STATE_2]]#2, %[[S_ALL]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : tensor<16x40xf32>
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @merged_readout(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[M:[^:]*]]: memref<?x2x16xf32>
// CHECK-SAME:  %[[Z:[^:]*]]: memref<?x2x16xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x2x16x40xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[ROOT_S_LOG2E_32x24:.*]] = arith.constant #tile.exact<0.72134752044448169> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C32]] : index
// CHECK-NEXT: %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[L_Q:.*]] = tile.dot %[[Q_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[M_TILE:.*]] = tile.load %[[M]][%[[BATCH]], %[[KV_HEAD]], %[[C0]]] : {{.*}} -> tensor<16xf32>
// CHECK-NEXT: %[[Z_TILE:.*]] = tile.load %[[Z]][%[[BATCH]], %[[KV_HEAD]], %[[C0]]] : {{.*}} -> tensor<16xf32>
// CHECK-NEXT: %[[S_TILE:.*]] = tile.load %[[S]][%[[BATCH]], %[[KV_HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x40xf32>
// t = L(q) + M, c = max_f t, a [32, 16] = 2^(t − c)
// CHECK-NEXT: %[[M_TILE_ROWS:.*]] = tile.expand %[[M_TILE]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %[[T:.*]] = arith.addf %[[L_Q]], %[[M_TILE_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT: %[[C:.*]] = tile.reduce max %[[T]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[C_COLS:.*]] = tile.expand %[[C]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %[[OFFSET:.*]] = arith.subf %[[T]], %[[C_COLS]] : tensor<32x16xf32>
// CHECK-NEXT: %[[A:.*]] = math.exp2 %[[OFFSET]] : tensor<32x16xf32>
// num [32, 40] = a S, den [32] = a z
// CHECK-NEXT: %[[NUM:.*]] = tile.dot %[[A]], %[[S_TILE]], %[[ZERO_32x40]] : tensor<32x16xf32>, tensor<16x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[Z_TILE_ROWS:.*]] = tile.expand %[[Z_TILE]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %[[A_Z:.*]] = arith.mulf %[[A]], %[[Z_TILE_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT: %[[DEN:.*]] = tile.reduce add %[[A_Z]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// o = num / den, 0 where den is 0
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT: tile.return
