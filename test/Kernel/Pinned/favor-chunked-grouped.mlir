// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal FAVOR+ whose stabilizer cancels, chunk by chunk, two query heads to a key-value head. φ(x) = 2^L(x) is never formed; with x' = √s
// x, L(q) = log2 e ⟨ω, q'⟩ and L(k) = log2 e (⟨ω, k'⟩ − |k'|²/2):
//
//     o_i = Σ_{j ≤ i} w_ij v_j / Σ_{j ≤ i} w_ij,    w_ij = Σ_f 2^(L_f(q_i) + L_f(k_j))
//
// One thread block per (batch, key-value head) walks the chunks of 32 tokens and carries M [16], the largest logarithm of each feature so
// far, z [16] = Σ 2^(L(k) − M) and S [16, 40] = Σ 2^(L(k) − M) vᵀ. Two loops of at most one step are the branches of a chunk: steady, if no
// L(k) is above M + 60 (M stays, one product has the pairs), else rise (M' = max(M, L(k)), pairs in two bands of 176).

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<favor, features = 16, epsilon = 0.000000e+00, scale = 2.500000e-01, stabilizer = constant>
func.func @favor_grouped(%q: tensor<?x4x?x24xf32>, %k: tensor<?x2x?x24xf32>, %v: tensor<?x2x?x40xf32>,
    %omega: tensor<1x16x24xf32> {attn.name = "omega", attn.parameter}) -> tensor<?x4x?x40xf32> attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : tensor<1x16x24xf32>) {feature_map = #map} : tensor<?x4x?x24xf32> -> tensor<?x4x?x16xf32>
  %b = attn.map %k parameter(%omega : tensor<1x16x24xf32>) {feature_map = #map, keys} : tensor<?x2x?x24xf32> -> tensor<?x2x?x16xf32>
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v {execution = #attn.execution<grouped = true>}
      : tensor<?x4x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x40xf32>
      -> tensor<?x4x?x40xf32>, tensor<?x4x?xf32>, tensor<?x2x16x40xf32>, tensor<?x2x16xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>}
      : tensor<?x4x?x40xf32>, tensor<?x4x?xf32> -> tensor<?x4x?x40xf32>
  return %o : tensor<?x4x?x40xf32>
}

// CHECK-LABEL: func.func @favor_grouped(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "omega"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK:      %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @favor_grouped_chunked grid(%[[BATCHES]], %[[C2]]) (%[[Q]], %[[K]], %[[V]], %[[OMEGA]], %[[O]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @favor_grouped_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG: %[[F60_16:.*]] = arith.constant dense<6.000000e+01> : tensor<16xf32>
// CHECK-DAG: %[[NO_LOGARITHM_16:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<16xf32>
// CHECK-DAG: %[[ZERO_16:.*]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK-DAG: %[[F0_5_32x16:.*]] = arith.constant dense<5.000000e-01> : tensor<32x16xf32>
// CHECK-DAG: %[[F120_32x16:.*]] = arith.constant dense<1.200000e+02> : tensor<32x16xf32>
// CHECK-DAG: %[[F264_32x16:.*]] = arith.constant dense<2.640000e+02> : tensor<32x16xf32>
// CHECK-DAG: %[[F88_32x16:.*]] = arith.constant dense<8.800000e+01> : tensor<32x16xf32>
// CHECK-DAG: %[[F96_32x16:.*]] = arith.constant dense<9.600000e+01> : tensor<32x16xf32>
// CHECK-DAG: %[[MF88_32x16:.*]] = arith.constant dense<-8.800000e+01> : tensor<32x16xf32>
// CHECK-DAG: %[[TWO_TO_M88_32x16:.*]] = arith.constant dense<3.23117427E-27> : tensor<32x16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[ROOT_S_LOG2E_32x24:.*]] = arith.constant #tile.exact<0.72134752044448169> : tensor<32x24xf32>
// CHECK-DAG: %[[TWO_TO_100_32x32:.*]] = arith.constant dense<1.2676506E+30> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[F2_32:.*]] = arith.constant dense<2.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[F4_32:.*]] = arith.constant dense<4.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[F96_32:.*]] = arith.constant dense<9.600000e+01> : tensor<32xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.18033688011112042> : tensor<32xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[NO_LOGARITHM_32:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// Query heads 2h and 2h + 1 read key-value head h; one ω [16, 24] serves all heads.
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[HEAD0:.*]] = arith.muli %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[HEAD1:.*]] = arith.addi %[[HEAD0]], %[[C1]] : index
// M starts at −1e30, z and S at 0.
// CHECK-NEXT: %[[STATE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST:.*]] = %[[C0]] to %[[QUERIES]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[NO_LOGARITHM_16]], %[[Z:.*]] = %[[ZERO_16]], %[[S:.*]] = %[[ZERO_16x40]]) :
// CHECK-SAME:     (tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>) {
// L(k) [32, 16]: −∞ of keys that do not exist.
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
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// RISES = 1 if some max_j L(k) is above M + 60, else 0.
// CHECK-NEXT:   %[[BOUND:.*]] = arith.addf %[[M]], %[[F60_16]] : tensor<16xf32>
// CHECK-NEXT:   %[[L_MAX:.*]] = tile.reduce max %[[L_K]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:   %[[EXCESS:.*]] = arith.subf %[[L_MAX]], %[[BOUND]] : tensor<16xf32>
// CHECK-NEXT:   %[[RISES:.*]] = tile.any %[[EXCESS]] : tensor<16xf32>
// The steady branch runs if RISES = 0. It carries z and S alone.
// CHECK-NEXT:   %[[STEADY:.*]]:2 = tile.loop #tile.sum %[[STEP:.*]] = %[[RISES]] to %[[C1]] step 1 carries(
// CHECK-SAME:       %[[Z_IN:.*]] = %[[Z]], %[[S_IN:.*]] = %[[S]]) : (tensor<16xf32>, tensor<16x40xf32>) {
// Exponents of q ∈ head 2h, relative to the row's largest: t = L(q) + M, c = max_f t, a = 2^(t − c) [32, 16].
// CHECK-NEXT:     %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD0]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:     %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[L_Q:.*]] = tile.dot %[[Q_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// b [32, 16] = 2^(L(k) − M)
// CHECK-NEXT:     %[[M_ROWS:.*]] = tile.expand %[[M]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[L_BELOW:.*]] = arith.subf %[[L_K]], %[[M_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[B:.*]] = math.exp2 %[[L_BELOW]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[T:.*]] = arith.addf %[[L_Q]], %[[M_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[C:.*]] = tile.reduce max %[[T]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[C_COLS:.*]] = tile.expand %[[C]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[OFFSET:.*]] = arith.subf %[[T]], %[[C_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A:.*]] = math.exp2 %[[OFFSET]] : tensor<32x16xf32>
// w [32, 32] = a bᵀ below the diagonal.
// CHECK-NEXT:     %[[PAIRS:.*]] = tile.dot %[[A]], %[[B]], %[[ZERO_32x32]] {transpose_b} : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<32x32xf32>
// CHECK-NEXT:     %[[W:.*]] = tile.mask %[[PAIRS]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// num [32, 40] = a S + w v, den [32] = w 1 + a z.
// CHECK-NEXT:     %[[FROM_S:.*]] = tile.dot %[[A]], %[[S_IN]], %[[ZERO_32x40]] : tensor<32x16xf32>, tensor<16x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[Z_IN_ROWS:.*]] = tile.expand %[[Z_IN]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[A_Z:.*]] = arith.mulf %[[A]], %[[Z_IN_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[FROM_Z:.*]] = tile.reduce add %[[A_Z]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[DEN:.*]] = arith.addf %[[ROW_SUM]], %[[FROM_Z]] : tensor<32xf32>
// CHECK-NEXT:     %[[NUM:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[FROM_S]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// o = num / den, 0 where den is 0.
// CHECK-NEXT:     %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD0]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// Exponents of q ∈ head 2h + 1, relative to the row's largest: t = L(q) + M, c = max_f t, a = 2^(t − c) [32, 16].
// CHECK-NEXT:     %[[Q_TILE_2:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD1]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:     %[[Q_SCALED_2:.*]] = arith.mulf %[[Q_TILE_2]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[L_Q_2:.*]] = tile.dot %[[Q_SCALED_2]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:     %[[T_2:.*]] = arith.addf %[[L_Q_2]], %[[M_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[C_2:.*]] = tile.reduce max %[[T_2]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[C_2_COLS:.*]] = tile.expand %[[C_2]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[OFFSET_2:.*]] = arith.subf %[[T_2]], %[[C_2_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A_2:.*]] = math.exp2 %[[OFFSET_2]] : tensor<32x16xf32>
// w [32, 32] = a bᵀ below the diagonal.
// CHECK-NEXT:     %[[PAIRS_2:.*]] = tile.dot %[[A_2]], %[[B]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:     %[[W_2:.*]] = tile.mask %[[PAIRS_2]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// num [32, 40] = a S + w v, den [32] = w 1 + a z.
// CHECK-NEXT:     %[[FROM_S_2:.*]] = tile.dot %[[A_2]], %[[S_IN]], %[[ZERO_32x40]] : tensor<32x16xf32>, tensor<16x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[A_Z_2:.*]] = arith.mulf %[[A_2]], %[[Z_IN_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[FROM_Z_2:.*]] = tile.reduce add %[[A_Z_2]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[ROW_SUM_2:.*]] = tile.reduce add %[[W_2]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[DEN_2:.*]] = arith.addf %[[ROW_SUM_2]], %[[FROM_Z_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[NUM_2:.*]] = tile.dot %[[W_2]], %[[V_TILE]], %[[FROM_S_2]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// o = num / den, 0 where den is 0.
// CHECK-NEXT:     %[[INVERSE_2:.*]] = arith.divf %[[ONE_32]], %[[DEN_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED_2:.*]] = arith.minimumf %[[INVERSE_2]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL_2:.*]] = arith.cmpf oeq, %[[DEN_2]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_2:.*]] = arith.select %[[IS_NULL_2]], %[[ZERO_32]], %[[BOUNDED_2]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS_2:.*]] = tile.expand %[[FACTOR_2]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT_2:.*]] = arith.mulf %[[NUM_2]], %[[FACTOR_COLS_2]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.store %[[OUT_2]], %[[O]][%[[BATCH]], %[[HEAD1]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// z + bᵀ 1, S + bᵀ v
// CHECK-NEXT:     %[[B_SUM:.*]] = tile.reduce add %[[B]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:     %[[Z_NEXT:.*]] = arith.addf %[[Z_IN]], %[[B_SUM]] : tensor<16xf32>
// CHECK-NEXT:     %[[S_NEXT:.*]] = tile.dot %[[B]], %[[V_TILE]], %[[S_IN]] {transpose_a} : tensor<32x16xf32>, tensor<32x40xf32> -> tensor<16x40xf32>
// CHECK-NEXT:     tile.yield %[[Z_NEXT]], %[[S_NEXT]] : tensor<16xf32>, tensor<16x40xf32>
// CHECK-NEXT:   }
// The branch of rising keys runs if RISES = 1.
// CHECK-NEXT:   %[[RISEN:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[STEP:.*]] = %[[C0]] to %[[RISES]] step 1 carries(
// CHECK-SAME:       %[[M_IN:.*]] = %[[M]], %[[Z_IN:.*]] = %[[STEADY]]#0, %[[S_IN:.*]] = %[[STEADY]]#1) :
// CHECK-SAME:       (tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>) {
// M' = max(M, max_j L(k))
// CHECK-NEXT:     %[[M_NEXT:.*]] = arith.maximumf %[[M_IN]], %[[L_MAX]] : tensor<16xf32>
// t = L(q) + M of head 2h: its largest is a lower bound of c.
// CHECK-NEXT:     %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD0]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:     %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[L_Q:.*]] = tile.dot %[[Q_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:     %[[M_IN_ROWS:.*]] = tile.expand %[[M_IN]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[T:.*]] = arith.addf %[[L_Q]], %[[M_IN_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[LEAST:.*]] = tile.reduce max %[[T]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// c from a product of square roots: p = 2, 2^96 keeps small sums in range, 4 = p log2(16) / 2 is half the slack.
// CHECK-NEXT:     %[[M_NEXT_ROWS:.*]] = tile.expand %[[M_NEXT]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[Q_TOP:.*]] = arith.addf %[[L_Q]], %[[M_NEXT_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[LARGEST:.*]] = tile.reduce max %[[Q_TOP]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[LARGEST_COLS:.*]] = tile.expand %[[LARGEST]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[Q_BELOW:.*]] = arith.subf %[[Q_TOP]], %[[LARGEST_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[Q_HALF:.*]] = arith.mulf %[[Q_BELOW]], %[[F0_5_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[ROOT_A:.*]] = math.exp2 %[[Q_HALF]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[K_BELOW:.*]] = arith.subf %[[L_K]], %[[M_NEXT_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[K_HALF:.*]] = arith.mulf %[[K_BELOW]], %[[F0_5_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[K_OFFSET:.*]] = arith.addf %[[K_HALF]], %[[F96_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[ROOT_B:.*]] = math.exp2 %[[K_OFFSET]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[ROOTS:.*]] = tile.dot %[[ROOT_A]], %[[ROOT_B]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:     %[[ROOTS_SEEN:.*]] = tile.mask %[[ROOTS]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:     %[[ROOT_SUM:.*]] = tile.reduce max %[[ROOTS_SEEN]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[LOG:.*]] = math.log2 %[[ROOT_SUM]] : tensor<32xf32>
// CHECK-NEXT:     %[[LOG_SUM:.*]] = arith.subf %[[LOG]], %[[F96_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[LOG_P:.*]] = arith.mulf %[[LOG_SUM]], %[[F2_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[C_SLACK:.*]] = arith.addf %[[LOG_P]], %[[LARGEST]] : tensor<32xf32>
// CHECK-NEXT:     %[[C_EST:.*]] = arith.subf %[[C_SLACK]], %[[F4_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[C_NUM:.*]] = arith.maximumf %[[C_EST]], %[[NO_LOGARITHM_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[C:.*]] = arith.maximumf %[[LEAST]], %[[C_NUM]] : tensor<32xf32>
// Band 0: keys with 2^x, x = L(k) − M' + 88 above −88; queries with 2^min(L(q) + M' − c − 88, 120).
// CHECK-NEXT:     %[[C_COLS:.*]] = tile.expand %[[C]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[Q_C:.*]] = arith.subf %[[Q_TOP]], %[[C_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[X0:.*]] = arith.addf %[[K_BELOW]], %[[F88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[B0_ALL:.*]] = math.exp2 %[[X0]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[IN_BAND0:.*]] = arith.cmpf ogt, %[[X0]], %[[MF88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[B0:.*]] = arith.select %[[IN_BAND0]], %[[B0_ALL]], %[[ZERO_32x16]] : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT:     %[[Y0:.*]] = arith.subf %[[Q_C]], %[[F88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[Y0_CAPPED:.*]] = arith.minimumf %[[Y0]], %[[F120_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A0:.*]] = math.exp2 %[[Y0_CAPPED]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[W0:.*]] = tile.dot %[[A0]], %[[B0]], %[[ZERO_32x32]] {transpose_b} : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<32x32xf32>
// Band 1, open below: x = L(k) − M' + 264 at most 88.
// CHECK-NEXT:     %[[X1:.*]] = arith.addf %[[K_BELOW]], %[[F264_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[B1_ALL:.*]] = math.exp2 %[[X1]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[ABOVE_BAND1:.*]] = arith.cmpf ogt, %[[X1]], %[[F88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[B1:.*]] = arith.select %[[ABOVE_BAND1]], %[[ZERO_32x16]], %[[B1_ALL]] : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT:     %[[Y1:.*]] = arith.subf %[[Q_C]], %[[F264_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[Y1_CAPPED:.*]] = arith.minimumf %[[Y1]], %[[F120_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A1:.*]] = math.exp2 %[[Y1_CAPPED]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[W1:.*]] = tile.dot %[[A1]], %[[B1]], %[[W0]] {transpose_b} : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<32x32xf32>
// w: below the diagonal, at most 2^100.
// CHECK-NEXT:     %[[W_SEEN:.*]] = tile.mask %[[W1]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:     %[[W:.*]] = arith.minimumf %[[W_SEEN]], %[[TWO_TO_100_32x32]] : tensor<32x32xf32>
// num = a S + w v and den = w 1 + a z with a = 2^(t − c).
// CHECK-NEXT:     %[[OFFSET:.*]] = arith.subf %[[T]], %[[C_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A:.*]] = math.exp2 %[[OFFSET]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[FROM_S:.*]] = tile.dot %[[A]], %[[S_IN]], %[[ZERO_32x40]] : tensor<32x16xf32>, tensor<16x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[Z_IN_ROWS:.*]] = tile.expand %[[Z_IN]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[A_Z:.*]] = arith.mulf %[[A]], %[[Z_IN_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[FROM_Z:.*]] = tile.reduce add %[[A_Z]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[DEN:.*]] = arith.addf %[[ROW_SUM]], %[[FROM_Z]] : tensor<32xf32>
// CHECK-NEXT:     %[[NUM:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[FROM_S]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD0]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// t = L(q) + M of head 2h + 1: its largest is a lower bound of c.
// CHECK-NEXT:     %[[Q_TILE_2:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD1]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:     %[[Q_SCALED_2:.*]] = arith.mulf %[[Q_TILE_2]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[L_Q_2:.*]] = tile.dot %[[Q_SCALED_2]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:     %[[T_2:.*]] = arith.addf %[[L_Q_2]], %[[M_IN_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[LEAST_2:.*]] = tile.reduce max %[[T_2]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// c from a product of square roots: p = 2, 2^96 keeps small sums in range, 4 = p log2(16) / 2 is half the slack.
// CHECK-NEXT:     %[[Q_TOP_2:.*]] = arith.addf %[[L_Q_2]], %[[M_NEXT_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[LARGEST_2:.*]] = tile.reduce max %[[Q_TOP_2]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[LARGEST_2_COLS:.*]] = tile.expand %[[LARGEST_2]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[Q_BELOW_2:.*]] = arith.subf %[[Q_TOP_2]], %[[LARGEST_2_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[Q_HALF_2:.*]] = arith.mulf %[[Q_BELOW_2]], %[[F0_5_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[ROOT_A_2:.*]] = math.exp2 %[[Q_HALF_2]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[ROOTS_2:.*]] = tile.dot %[[ROOT_A_2]], %[[ROOT_B]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:     %[[ROOTS_SEEN_2:.*]] = tile.mask %[[ROOTS_2]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:     %[[ROOT_SUM_2:.*]] = tile.reduce max %[[ROOTS_SEEN_2]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[LOG_2:.*]] = math.log2 %[[ROOT_SUM_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[LOG_SUM_2:.*]] = arith.subf %[[LOG_2]], %[[F96_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[LOG_P_2:.*]] = arith.mulf %[[LOG_SUM_2]], %[[F2_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[C_SLACK_2:.*]] = arith.addf %[[LOG_P_2]], %[[LARGEST_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[C_EST_2:.*]] = arith.subf %[[C_SLACK_2]], %[[F4_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[C_NUM_2:.*]] = arith.maximumf %[[C_EST_2]], %[[NO_LOGARITHM_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[C_2:.*]] = arith.maximumf %[[LEAST_2]], %[[C_NUM_2]] : tensor<32xf32>
// Band 0: keys with 2^x, x = L(k) − M' + 88 above −88; queries with 2^min(L(q) + M' − c − 88, 120).
// CHECK-NEXT:     %[[C_2_COLS:.*]] = tile.expand %[[C_2]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[Q_C_2:.*]] = arith.subf %[[Q_TOP_2]], %[[C_2_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[Y0_2:.*]] = arith.subf %[[Q_C_2]], %[[F88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[Y0_CAPPED_2:.*]] = arith.minimumf %[[Y0_2]], %[[F120_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A0_2:.*]] = math.exp2 %[[Y0_CAPPED_2]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[W0_2:.*]] = tile.dot %[[A0_2]], %[[B0]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// Band 1, open below: x = L(k) − M' + 264 at most 88.
// CHECK-NEXT:     %[[Y1_2:.*]] = arith.subf %[[Q_C_2]], %[[F264_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[Y1_CAPPED_2:.*]] = arith.minimumf %[[Y1_2]], %[[F120_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A1_2:.*]] = math.exp2 %[[Y1_CAPPED_2]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[W1_2:.*]] = tile.dot %[[A1_2]], %[[B1]], %[[W0_2]] {transpose_b} : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<32x32xf32>
// w: below the diagonal, at most 2^100.
// CHECK-NEXT:     %[[W_SEEN_2:.*]] = tile.mask %[[W1_2]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:     %[[W_2:.*]] = arith.minimumf %[[W_SEEN_2]], %[[TWO_TO_100_32x32]] : tensor<32x32xf32>
// num = a S + w v and den = w 1 + a z with a = 2^(t − c).
// CHECK-NEXT:     %[[OFFSET_2:.*]] = arith.subf %[[T_2]], %[[C_2_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A_2:.*]] = math.exp2 %[[OFFSET_2]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[FROM_S_2:.*]] = tile.dot %[[A_2]], %[[S_IN]], %[[ZERO_32x40]] : tensor<32x16xf32>, tensor<16x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[A_Z_2:.*]] = arith.mulf %[[A_2]], %[[Z_IN_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[FROM_Z_2:.*]] = tile.reduce add %[[A_Z_2]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[ROW_SUM_2:.*]] = tile.reduce add %[[W_2]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[DEN_2:.*]] = arith.addf %[[ROW_SUM_2]], %[[FROM_Z_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[NUM_2:.*]] = tile.dot %[[W_2]], %[[V_TILE]], %[[FROM_S_2]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[INVERSE_2:.*]] = arith.divf %[[ONE_32]], %[[DEN_2]] : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED_2:.*]] = arith.minimumf %[[INVERSE_2]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL_2:.*]] = arith.cmpf oeq, %[[DEN_2]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_2:.*]] = arith.select %[[IS_NULL_2]], %[[ZERO_32]], %[[BOUNDED_2]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS_2:.*]] = tile.expand %[[FACTOR_2]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT_2:.*]] = arith.mulf %[[NUM_2]], %[[FACTOR_COLS_2]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.store %[[OUT_2]], %[[O]][%[[BATCH]], %[[HEAD1]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:     %[[M_DROP:.*]] = arith.subf %[[M_IN]], %[[M_NEXT]] : tensor<16xf32>
// CHECK-NEXT:     %[[FACTOR_3:.*]] = math.exp2 %[[M_DROP]] : tensor<16xf32>
// CHECK-NEXT:     %[[Z_SCALED:.*]] = arith.mulf %[[Z_IN]], %[[FACTOR_3]] : tensor<16xf32>
// CHECK-NEXT:     %[[FACTOR_3_COLS:.*]] = tile.expand %[[FACTOR_3]] axis 1 : tensor<16xf32> -> tensor<16x40xf32>
// CHECK-NEXT:     %[[S_SCALED:.*]] = arith.mulf %[[S_IN]], %[[FACTOR_3_COLS]] : tensor<16x40xf32>
// M', z 2^(M − M') + bᵀ 1, S 2^(M − M') + bᵀ v; b = 2^(L(k) − M') is band 0 without its 2^88.
// CHECK-NEXT:     %[[B:.*]] = arith.mulf %[[B0]], %[[TWO_TO_M88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[B_SUM:.*]] = tile.reduce add %[[B]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:     %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[B_SUM]] : tensor<16xf32>
// CHECK-NEXT:     %[[S_NEXT:.*]] = tile.dot %[[B]], %[[V_TILE]], %[[S_SCALED]] {transpose_a} : {{.*}} -> tensor<16x40xf32>
// CHECK-NEXT:     tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.yield %[[RISEN]]#0, %[[RISEN]]#1, %[[RISEN]]#2 : tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
