// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// FAVOR+ whose stabilizer cancels, not causal, in one kernel. φ(x) = 2^L(x) is never formed; with x' = √s x, L(q) = log2 e ⟨ω, q'⟩ and L(k)
// = log2 e (⟨ω, k'⟩ − |k'|²/2):
//
//     o_i = Σ_j w_ij v_j / Σ_j w_ij,    w_ij = Σ_f 2^(L_f(q_i) + L_f(k_j))
//
// The state of keys is M [16], the largest logarithm of each feature, z [16] = Σ 2^(L(k) − M) and S [16, 40] = Σ 2^(L(k) − M) vᵀ. One
// thread block per (batch, key-value head) sums it up over all keys and keeps it in tiles while it walks the queries of its two heads.

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
func.func @fused(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %omega: !omega {attn.name = "omega", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : !omega) {feature_map = #map} : !q -> !a
  %b = attn.map %k parameter(%omega : !omega) {feature_map = #map, keys} : !k -> !b
  %s, %z = attn.state %b, %v : !b, !v -> !s, !z
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<values = fused>} : !a, !s, !z -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @fused(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "omega"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @fused_fused_state grid(%[[BATCHES]], %[[C2]]) (%[[Q]], %[[K]], %[[V]], %[[OMEGA]], %[[O]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @fused_fused_state(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG: %[[NO_LOGARITHM_16:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<16xf32>
// CHECK-DAG: %[[ZERO_16:.*]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[ROOT_S_LOG2E_32x24:.*]] = arith.constant #tile.exact<0.72134752044448169> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.18033688011112042> : tensor<32xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[STATE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST:.*]] = %[[C0]] to %[[KEYS]] step 32 carries(
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
// Query heads 2h and 2h + 1, tile after tile.
// CHECK-NEXT: tile.loop #tile.sum %[[MEMBER:.*]] = %[[C0]] to %[[C2]] step 1 {
// CHECK-NEXT:   %[[GROUP:.*]] = arith.muli %[[HEAD]], %[[C2]] : index
// CHECK-NEXT:   %[[Q_HEAD:.*]] = arith.addi %[[GROUP]], %[[MEMBER]] : index
// CHECK-NEXT:   %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT:   tile.loop #tile.sum %[[FIRST_QUERY:.*]] = %[[C0]] to %[[QUERIES]] step 32 {
// CHECK-NEXT:     %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[Q_HEAD]], %[[FIRST_QUERY]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:     %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[L_Q:.*]] = tile.dot %[[Q_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// t = L(q) + M, c = max_f t, a [32, 16] = 2^(t − c)
// CHECK-NEXT:     %[[M_ROWS:.*]] = tile.expand %[[STATE]]#0 axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[T:.*]] = arith.addf %[[L_Q]], %[[M_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[C:.*]] = tile.reduce max %[[T]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[C_COLS:.*]] = tile.expand %[[C]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[OFFSET:.*]] = arith.subf %[[T]], %[[C_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A:.*]] = math.exp2 %[[OFFSET]] : tensor<32x16xf32>
// num [32, 40] = a S, den [32] = a z
// CHECK-NEXT:     %[[NUM:.*]] = tile.dot %[[A]], %[[STATE]]#2, %[[ZERO_32x40]] : tensor<32x16xf32>, tensor<16x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[Z_ROWS:.*]] = tile.expand %[[STATE]]#1 axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[A_Z:.*]] = arith.mulf %[[A]], %[[Z_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[DEN:.*]] = tile.reduce add %[[A_Z]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[Q_HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
