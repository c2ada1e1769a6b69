// RUN: attn-opt %s -attn-to-tile=target=gpu -canonicalize -cse | FileCheck %s

// FAVOR+ whose stabilizer cancels, not causal, in two passes on a GPU with bf16 storage, as favor-state.mlir on a CPU. Exponents are
// products in f32 (of three TF32 products each); features enter S [16, 40] rounded to bf16, z [16] in f32; the state is read in TF32.

#schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048, operand = bf16, warps = 4, stages = 2>
#map = #attn.feature_map<favor, features = 16, epsilon = 0.000000e+00, scale = 2.500000e-01, stabilizer = constant>
!q = tensor<?x4x?x24xbf16>
!k = tensor<?x2x?x24xbf16>
!v = tensor<?x2x?x40xbf16>
!o = tensor<?x4x?x40xbf16>
!a = tensor<?x4x?x16xf32>
!b = tensor<?x2x?x16xf32>
!s = tensor<?x2x16x40xf32>
!z = tensor<?x2x16xf32>
!omega = tensor<1x16x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @favor(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %omega: !omega {attn.name = "omega", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : !omega) {feature_map = #map} : !q -> !a
  %b = attn.map %k parameter(%omega : !omega) {feature_map = #map, keys} : !k -> !b
  %s, %z = attn.state %b, %v : !b, !v -> !s, !z
  %num, %den = attn.readout %a, %s, %z : !a, !s, !z -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: tile.kernel @favor_state(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xbf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xbf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[M_PIECES:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x16x40xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = bf16, warps = 4, stages = 2>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG: %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG: %[[NO_LOGARITHM_16:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<16xf32>
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
// CHECK-NEXT:   %[[K_BF16:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xbf16>
// CHECK-NEXT:   %[[K_TILE:.*]] = arith.extf %[[K_BF16]] : tensor<32x24xbf16> to tensor<32x24xf32>
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
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xbf16>
// CHECK-NEXT:   %[[B_SUM:.*]] = tile.reduce add %[[B]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[B_SUM]] : tensor<16xf32>
// CHECK-NEXT:   %[[B_BF16:.*]] = arith.truncf %[[B]] : tensor<32x16xf32> to tensor<32x16xbf16>
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[B_BF16]], %[[V_TILE]], %[[S_SCALED]] {transpose_a} : {{.*}} -> tensor<16x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %[[STATE]]#0, %[[M_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<16xf32>
// CHECK-NEXT: tile.store %[[STATE]]#1, %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<16xf32>
// CHECK-NEXT: tile.store %[[STATE]]#2, %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<16x40xf32>
// CHECK-NEXT: tile.return

// As in favor-state.mlir: the states are f32.
// CHECK-LABEL: tile.kernel @favor_merge(

// CHECK-LABEL: tile.kernel @favor_readout(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xbf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xbf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[M:[^:]*]]: memref<?x2x16xf32>
// CHECK-SAME:  %[[Z:[^:]*]]: memref<?x2x16xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x2x16x40xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = bf16, warps = 4, stages = 2>}
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
// CHECK-NEXT: %[[Q_BF16:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xbf16>
// CHECK-NEXT: %[[Q_TILE:.*]] = arith.extf %[[Q_BF16]] : tensor<32x24xbf16> to tensor<32x24xf32>
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
// CHECK-NEXT: %[[NUM:.*]] = tile.dot %[[A]], %[[S_TILE]], %[[ZERO_32x40]] precision tf32 : tensor<32x16xf32>, tensor<16x40xf32> -> tensor<32x40xf32>
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
// CHECK-NEXT: %[[OUT_BF16:.*]] = arith.truncf %[[OUT]] : tensor<32x40xf32> to tensor<32x40xbf16>
// CHECK-NEXT: tile.store %[[OUT_BF16]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xbf16>
// CHECK-NEXT: tile.return
