// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal FAVOR+ with the stabilizer "constant", chunk by chunk, with a final state. A state that others read, and that has no scale, is one of
// features, not of their exponents, so that this is the kernel of kernel-attention-chunked.mlir with, in units of log 2, m = 16, ε = 0 and x' = √s x:
//
//     φ(q) = (2^(ω·q' − max_f ω·q') + ε) / √m,    φ(k) = (2^(ω·k' − |k'|²/2 − c) + ε) / √m,  c = max_f |ω_f|²/2

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<favor, features = 16, epsilon = 0.000000e+00, scale = 5.000000e-01, stabilizer = constant>
!q = tensor<?x4x4096x24xf32>
!k = tensor<?x2x4096x24xf32>
!v = tensor<?x2x4096x40xf32>
!o = tensor<?x4x4096x40xf32>
!a = tensor<?x4x4096x16xf32>
!b = tensor<?x2x4096x16xf32>
!s = tensor<?x2x16x40xf32>
!z = tensor<?x2x16xf32>
!omega = tensor<1x16x24xf32>
!num = tensor<?x4x4096x40xf32>
!den = tensor<?x4x4096xf32>
func.func @states(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %omega: !omega {attn.name = "omega", attn.parameter}) -> (!o, !s, !z)
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : !omega) {feature_map = #map} : !q -> !a
  %b = attn.map %k parameter(%omega : !omega) {feature_map = #map, keys} : !k -> !b
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v : !a, !b, !v -> !num, !den, !s, !z
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o, %s, %z : !o, !s, !z
}

// CHECK-LABEL: func.func @states(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "omega"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  %[[S1:[^:]*]]: memref<?x2x16x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "final_state"
// CHECK-SAME:  %[[Z1:[^:]*]]: memref<?x2x16xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "final_sum"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK:      %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// No program reads an initial state: the first head of a group stores the final one where it shall lie.
// CHECK-NEXT: tile.launch @states_chunked grid(%[[BATCHES]], %[[C4]]) (%[[Q]], %[[K]], %[[V]], %[[OMEGA]], %[[O]], %[[S1]], %[[Z1]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @states_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[S1:[^:]*]]: memref<?x2x16x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[Z1:[^:]*]]: memref<?x2x16xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG: %[[HALF_LOG2E_16:.*]] = arith.constant #tile.exact<0.72134752044448169> : tensor<16xf32>
// CHECK-DAG: %[[ZERO_16:.*]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK-DAG: %[[F0_25_32x16:.*]] = arith.constant dense<2.500000e-01> : tensor<32x16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[F1_02014_32x24:.*]] = arith.constant #tile.exact<1.0201394465967895> : tensor<32x24xf32>
// CHECK-DAG: %[[ONE_32x1:.*]] = arith.constant dense<1.000000e+00> : tensor<32x1xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<32xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TOKENS:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// |ω|²/2 [16] in units of log 2
// CHECK-NEXT: %[[OMEGA_SQUARES:.*]] = arith.mulf %[[OMEGAS]], %[[OMEGAS]] : tensor<16x24xf32>
// CHECK-NEXT: %[[OMEGA_SUM:.*]] = tile.reduce add %[[OMEGA_SQUARES]] axis 1 : tensor<16x24xf32> -> tensor<16xf32>
// CHECK-NEXT: %[[OMEGA_HALF:.*]] = arith.mulf %[[OMEGA_SUM]], %[[HALF_LOG2E_16]] : tensor<16xf32>
// CHECK-NEXT: %[[STATE:.*]]:2 = tile.loop #tile.sum %[[FIRST:.*]] = %[[C0]] to %[[TOKENS]] step 32 carries(
// CHECK-SAME:     %[[S:.*]] = %[[ZERO_16x40]], %[[Z:.*]] = %[[ZERO_16]]) : (tensor<16x40xf32>, tensor<16xf32>) {
// φ(q) [32, 16] = (2^(ω·q' − max_f ω·q') + ε) / √m
// CHECK-NEXT:   %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[F1_02014_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_Q:.*]] = tile.dot %[[Q_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[C_Q:.*]] = tile.reduce max %[[OMEGA_Q]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[C_Q_COLS:.*]] = tile.expand %[[C_Q]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.subf %[[OMEGA_Q]], %[[C_Q_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[WITH_EPSILON:.*]] = arith.addf %[[EXP]], %[[ZERO_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[PHI_Q:.*]] = arith.mulf %[[WITH_EPSILON]], %[[F0_25_32x16]] : tensor<32x16xf32>
// φ(k) [32, 16] = (2^(ω·k' − |k'|²/2 − c) + ε) / √m, 0 of keys that do not exist; c [32], the same in every row
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[F1_02014_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[OMEGA_HALF_ROWS:.*]] = tile.expand %[[OMEGA_HALF]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[C_K:.*]] = tile.reduce max %[[OMEGA_HALF_ROWS]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[BELOW:.*]] = arith.addf %[[HALF_NORM]], %[[C_K]] : tensor<32xf32>
// CHECK-NEXT:   %[[BELOW_COLS:.*]] = tile.expand %[[BELOW]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[EXPONENT_2:.*]] = arith.subf %[[OMEGA_K]], %[[BELOW_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT_2]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[WITH_EPSILON_2:.*]] = arith.addf %[[EXP_2]], %[[ZERO_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[PHI_ALL:.*]] = arith.mulf %[[WITH_EPSILON_2]], %[[F0_25_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[PHI_K:.*]] = tile.mask %[[PHI_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x16xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// Token by token: S += φ(k_t) v_tᵀ, num_t [40] = φ(q_t) S
// CHECK-NEXT:   %[[NUM:.*]], %[[S_NEXT:.*]] = tile.scan %[[PHI_Q]], %[[PHI_K]], %[[V_TILE]], %[[S]], %[[ZERO_32x40]] : tensor<32x16xf32>, tensor<32x40xf32>, tensor<16x40xf32>
// Sums up to each token in the same way, in a state of one row: z [1, 16] += 1 φ(k_t)ᵀ, Σ_t [16] = 1 z
// CHECK-NEXT:   %[[Z_ROW:.*]] = tile.expand %[[Z]] axis 0 : tensor<16xf32> -> tensor<1x16xf32>
// CHECK-NEXT:   %[[Z_UP_TO:.*]], %[[Z_ROW_NEXT:.*]] = tile.scan %[[ONE_32x1]], %[[ONE_32x1]], %[[PHI_K]], %[[Z_ROW]], %[[ZERO_32x16]] : tensor<32x1xf32>, tensor<32x16xf32>, tensor<1x16xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = tile.reduce add %[[Z_ROW_NEXT]] axis 0 : tensor<1x16xf32> -> tensor<16xf32>
// den_t = φ(q_t) Σ_t
// CHECK-NEXT:   %[[PHI_Z:.*]] = arith.mulf %[[PHI_Q]], %[[Z_UP_TO]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[DEN:.*]] = tile.reduce add %[[PHI_Z]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:   %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<16x40xf32>, tensor<16xf32>
// CHECK-NEXT: }
// The rows of the final state, if it is asked for, and of the heads of a group the first, for which head mod 2 = 0
// CHECK-NEXT: %[[S1_BATCHES:.*]] = memref.dim %[[S1]], %[[C0]] :
// CHECK-NEXT: %[[S1_THERE:.*]] = arith.minsi %[[S1_BATCHES]], %[[C1]] : index
// CHECK-NEXT: %[[S1_ALL:.*]] = arith.muli %[[S1_THERE]], %[[C16]] : index
// CHECK-NEXT: %[[FIRST_HEAD:.*]] = arith.muli %[[KV_HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[MEMBER:.*]] = arith.subi %[[HEAD]], %[[FIRST_HEAD]] : index
// CHECK-NEXT: %[[IS_OTHER:.*]] = arith.minsi %[[MEMBER]], %[[C1]] : index
// CHECK-NEXT: %[[STORES:.*]] = arith.subi %[[C1]], %[[IS_OTHER]] : index
// CHECK-NEXT: %[[S1_ROWS:.*]] = arith.muli %[[S1_ALL]], %[[STORES]] : index
// CHECK-NEXT: tile.store %[[STATE]]#0, %[[S1]][%[[BATCH]], %[[KV_HEAD]], %[[C0]], %[[C0]]] rows(%[[S1_ROWS]]) : tensor<16x40xf32>
// CHECK-NEXT: %[[Z1_BATCHES:.*]] = memref.dim %[[Z1]], %[[C0]] :
// CHECK-NEXT: %[[Z1_THERE:.*]] = arith.minsi %[[Z1_BATCHES]], %[[C1]] : index
// CHECK-NEXT: %[[Z1_ALL:.*]] = arith.muli %[[Z1_THERE]], %[[C16]] : index
// CHECK-NEXT: %[[Z1_ROWS:.*]] = arith.muli %[[Z1_ALL]], %[[STORES]] : index
// CHECK-NEXT: tile.store %[[STATE]]#1, %[[Z1]][%[[BATCH]], %[[KV_HEAD]], %[[C0]]] rows(%[[Z1_ROWS]]) : tensor<16xf32>
// CHECK-NEXT: tile.return
