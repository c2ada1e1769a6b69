// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal FAVOR+ whose stabilizer cancels, with key lengths, all pair weights in tiles. φ(x) = 2^L(x) is never formed; with x' = √s x, L(q)
// = log2 e ⟨ω, q'⟩ and L(k) = log2 e (⟨ω, k'⟩ − |k'|²/2):
//
//     o_i = Σ_{j ≤ i} w_ij v_j / Σ_{j ≤ i} w_ij,    w_ij = Σ_f 2^(L_f(q_i) + L_f(k_j))
//
// One thread block per (batch, query head, 32 queries). It carries what online softmax carries: the maximum of exponents [32], den [32] and
// num [32, 40]. A key tile that all rows see takes one product, relative to its largest L(k) of each feature; the tile at the diagonal
// takes three, for three bands of exponents (s = 1/2 makes the span of exponents that wide).

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<favor, features = 16, epsilon = 0.000000e+00, scale = 5.000000e-01, stabilizer = constant>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a = tensor<?x4x?x16xf32>
!b = tensor<?x2x?x16xf32>
!omega = tensor<1x16x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @favor(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %lengths: tensor<?xi32> {attn.name = "key_lengths"}, %omega: !omega {attn.name = "omega", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : !omega) {feature_map = #map} : !q -> !a
  %b = attn.map %k lengths(%lengths : tensor<?xi32>) parameter(%omega : !omega) {feature_map = #map, keys} : !k -> !b
  %pairs = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : !a, !b -> tensor<?x4x?x?xf32>
  %w = attn.visible %pairs {causal} : tensor<?x4x?x?xf32>
  %num = attn.contract %w[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value]
      : tensor<?x4x?x?xf32>, !v -> !num
  %den = attn.row_sum %w : tensor<?x4x?x?xf32> -> !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @favor(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32> {{{.*}}attune.name = "key_lengths"
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "omega"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK:      %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @favor_quadratic grid(%[[BATCHES]], %[[C4]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[K]], %[[V]], %[[LENGTHS]], %[[OMEGA]], %[[O]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @favor_quadratic(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[NO_LOGARITHM_16:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<16xf32>
// CHECK-DAG: %[[F0_25_32x16:.*]] = arith.constant dense<2.500000e-01> : tensor<32x16xf32>
// CHECK-DAG: %[[F120_32x16:.*]] = arith.constant dense<1.200000e+02> : tensor<32x16xf32>
// CHECK-DAG: %[[F264_32x16:.*]] = arith.constant dense<2.640000e+02> : tensor<32x16xf32>
// CHECK-DAG: %[[F440_32x16:.*]] = arith.constant dense<4.400000e+02> : tensor<32x16xf32>
// CHECK-DAG: %[[F88_32x16:.*]] = arith.constant dense<8.800000e+01> : tensor<32x16xf32>
// CHECK-DAG: %[[F96_32x16:.*]] = arith.constant dense<9.600000e+01> : tensor<32x16xf32>
// CHECK-DAG: %[[MF88_32x16:.*]] = arith.constant dense<-8.800000e+01> : tensor<32x16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[F1_02014_32x24:.*]] = arith.constant #tile.exact<1.0201394465967895> : tensor<32x24xf32>
// CHECK-DAG: %[[TWO_TO_100_32x32:.*]] = arith.constant dense<1.2676506E+30> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[F4_32:.*]] = arith.constant dense<4.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[F8_32:.*]] = arith.constant dense<8.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[F96_32:.*]] = arith.constant dense<9.600000e+01> : tensor<32xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<32xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[NO_LOGARITHM_32:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C32]] : index
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[LENGTH_I32:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]] :
// CHECK-NEXT: %[[LENGTH:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT: %[[NOT_NEGATIVE:.*]] = arith.maxsi %[[LENGTH]], %[[C0]] : index
// CHECK-NEXT: %[[LIMIT:.*]] = arith.minsi %[[NOT_NEGATIVE]], %[[KEYS]] : index
// CHECK-NEXT: %[[SEEN:.*]] = arith.minsi %[[FIRST]], %[[LIMIT]] : index
// L(q) [32, 16]
// CHECK-NEXT: %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[F1_02014_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[L_Q:.*]] = tile.dot %[[Q_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[SEEN_SUMS:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:.*]] = %[[C0]] to %[[SEEN]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[NO_LOGARITHM_32]], %[[DEN:.*]] = %[[ZERO_32]], %[[NUM:.*]] = %[[ZERO_32x40]]) :
// CHECK-SAME:     (tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>) {
// L(k) [32, 16] = log2 e (⟨ω, k'⟩ − |k'|²/2): −∞ of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[F1_02014_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM_COLS:.*]] = tile.expand %[[HALF_NORM]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[L_ALL:.*]] = arith.subf %[[OMEGA_K]], %[[HALF_NORM_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[L_K:.*]] = tile.mask %[[L_ALL]] fill 0xFF800000 rows(%[[KEYS_LEFT]]) : tensor<32x16xf32>
// R = max_j L(k) [16], at least −1e30; t = L(q) + R; M' = max(M, max_f t)
// CHECK-NEXT:   %[[L_MAX:.*]] = tile.reduce max %[[L_K]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:   %[[R:.*]] = arith.maximumf %[[L_MAX]], %[[NO_LOGARITHM_16]] : tensor<16xf32>
// CHECK-NEXT:   %[[R_ROWS:.*]] = tile.expand %[[R]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[T:.*]] = arith.addf %[[L_Q]], %[[R_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[T_MAX:.*]] = tile.reduce max %[[T]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[T_MAX]] : tensor<32xf32>
// den, num times 2^(M − M'), plus w 1, w v
// CHECK-NEXT:   %[[M_DROP:.*]] = arith.subf %[[M]], %[[M_NEXT]] : tensor<32xf32>
// CHECK-NEXT:   %[[SCALE:.*]] = math.exp2 %[[M_DROP]] : tensor<32xf32>
// CHECK-NEXT:   %[[DEN_SCALED:.*]] = arith.mulf %[[DEN]], %[[SCALE]] : tensor<32xf32>
// CHECK-NEXT:   %[[SCALE_COLS:.*]] = tile.expand %[[SCALE]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM_SCALED:.*]] = arith.mulf %[[NUM]], %[[SCALE_COLS]] : tensor<32x40xf32>
// w [32, 32] = 2^(t − M') (2^(L(k) − R))ᵀ
// CHECK-NEXT:   %[[M_NEXT_COLS:.*]] = tile.expand %[[M_NEXT]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[T_BELOW:.*]] = arith.subf %[[T]], %[[M_NEXT_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[A:.*]] = math.exp2 %[[T_BELOW]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[K_BELOW:.*]] = arith.subf %[[L_K]], %[[R_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B:.*]] = math.exp2 %[[K_BELOW]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[W:.*]] = tile.dot %[[A]], %[[B]], %[[ZERO_32x32]] {transpose_b} : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<32x32xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN_NEXT:.*]] = arith.addf %[[DEN_SCALED]], %[[ROW_SUM]] : tensor<32xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM_SCALED]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[DEN_NEXT]], %[[NUM_NEXT]] : tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>
// CHECK-NEXT: }
// The tile at the diagonal, if its keys exist.
// CHECK-NEXT: %[[NEXT_TOKEN:.*]] = arith.addi %[[FIRST]], %[[C1]] : index
// CHECK-NEXT: %[[DIAGONAL_END:.*]] = arith.minsi %[[NEXT_TOKEN]], %[[LIMIT]] : index
// CHECK-NEXT: %[[SUMS:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:.*]] = %[[FIRST]] to %[[DIAGONAL_END]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[SEEN_SUMS]]#0, %[[DEN:.*]] = %[[SEEN_SUMS]]#1, %[[NUM:.*]] = %[[SEEN_SUMS]]#2) :
// CHECK-SAME:     (tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>) {
// L(k) [32, 16] = log2 e (⟨ω, k'⟩ − |k'|²/2): −∞ of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[F1_02014_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM_COLS:.*]] = tile.expand %[[HALF_NORM]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[L_ALL:.*]] = arith.subf %[[OMEGA_K]], %[[HALF_NORM_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[L_K:.*]] = tile.mask %[[L_ALL]] fill 0xFF800000 rows(%[[KEYS_LEFT]]) : tensor<32x16xf32>
// CHECK-NEXT:   %[[L_MAX:.*]] = tile.reduce max %[[L_K]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:   %[[R:.*]] = arith.maximumf %[[L_MAX]], %[[NO_LOGARITHM_16]] : tensor<16xf32>
// c from a product of fourth roots: p = 4, 2^96 keeps small sums in range, 8 = p log2(16) / 2 is half the slack; at least M.
// CHECK-NEXT:   %[[R_ROWS:.*]] = tile.expand %[[R]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[Q_TOP:.*]] = arith.addf %[[L_Q]], %[[R_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[LARGEST:.*]] = tile.reduce max %[[Q_TOP]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[LARGEST_COLS:.*]] = tile.expand %[[LARGEST]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[Q_BELOW:.*]] = arith.subf %[[Q_TOP]], %[[LARGEST_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[Q_ROOT:.*]] = arith.mulf %[[Q_BELOW]], %[[F0_25_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[ROOT_A:.*]] = math.exp2 %[[Q_ROOT]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[K_BELOW:.*]] = arith.subf %[[L_K]], %[[R_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[K_ROOT:.*]] = arith.mulf %[[K_BELOW]], %[[F0_25_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[K_OFFSET:.*]] = arith.addf %[[K_ROOT]], %[[F96_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[ROOT_B:.*]] = math.exp2 %[[K_OFFSET]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[ROOTS:.*]] = tile.dot %[[ROOT_A]], %[[ROOT_B]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:   %[[ROOTS_SEEN:.*]] = tile.mask %[[ROOTS]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:   %[[ROOT_SUM:.*]] = tile.reduce max %[[ROOTS_SEEN]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[LOG:.*]] = math.log2 %[[ROOT_SUM]] : tensor<32xf32>
// CHECK-NEXT:   %[[LOG_SUM:.*]] = arith.subf %[[LOG]], %[[F96_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[LOG_P:.*]] = arith.mulf %[[LOG_SUM]], %[[F4_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[C_SLACK:.*]] = arith.addf %[[LOG_P]], %[[LARGEST]] : tensor<32xf32>
// CHECK-NEXT:   %[[C_EST:.*]] = arith.subf %[[C_SLACK]], %[[F8_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[C_NUM:.*]] = arith.maximumf %[[C_EST]], %[[NO_LOGARITHM_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[C:.*]] = arith.maximumf %[[M]], %[[C_NUM]] : tensor<32xf32>
// CHECK-NEXT:   %[[M_DROP:.*]] = arith.subf %[[M]], %[[C]] : tensor<32xf32>
// CHECK-NEXT:   %[[SCALE:.*]] = math.exp2 %[[M_DROP]] : tensor<32xf32>
// CHECK-NEXT:   %[[DEN_SCALED:.*]] = arith.mulf %[[DEN]], %[[SCALE]] : tensor<32xf32>
// CHECK-NEXT:   %[[SCALE_COLS:.*]] = tile.expand %[[SCALE]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM_SCALED:.*]] = arith.mulf %[[NUM]], %[[SCALE_COLS]] : tensor<32x40xf32>
// Band 0: keys with 2^x, x = L(k) − R + 88 above −88; queries with 2^min(L(q) + R − c − 88, 120).
// CHECK-NEXT:   %[[C_COLS:.*]] = tile.expand %[[C]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[Q_C:.*]] = arith.subf %[[Q_TOP]], %[[C_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[X0:.*]] = arith.addf %[[K_BELOW]], %[[F88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B0_ALL:.*]] = math.exp2 %[[X0]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[IN_BAND0:.*]] = arith.cmpf ogt, %[[X0]], %[[MF88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B0:.*]] = arith.select %[[IN_BAND0]], %[[B0_ALL]], %[[ZERO_32x16]] : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT:   %[[Y0:.*]] = arith.subf %[[Q_C]], %[[F88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[Y0_CAPPED:.*]] = arith.minimumf %[[Y0]], %[[F120_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[A0:.*]] = math.exp2 %[[Y0_CAPPED]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[W0:.*]] = tile.dot %[[A0]], %[[B0]], %[[ZERO_32x32]] {transpose_b} : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<32x32xf32>
// Band 1: x = L(k) − R + 264 in (−88, 88].
// CHECK-NEXT:   %[[X1:.*]] = arith.addf %[[K_BELOW]], %[[F264_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B1_ALL:.*]] = math.exp2 %[[X1]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[ABOVE_BAND1:.*]] = arith.cmpf ogt, %[[X1]], %[[F88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B1_OPEN:.*]] = arith.select %[[ABOVE_BAND1]], %[[ZERO_32x16]], %[[B1_ALL]] : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT:   %[[IN_BAND1:.*]] = arith.cmpf ogt, %[[X1]], %[[MF88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B1:.*]] = arith.select %[[IN_BAND1]], %[[B1_OPEN]], %[[ZERO_32x16]] : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT:   %[[Y1:.*]] = arith.subf %[[Q_C]], %[[F264_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[Y1_CAPPED:.*]] = arith.minimumf %[[Y1]], %[[F120_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[A1:.*]] = math.exp2 %[[Y1_CAPPED]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[W1:.*]] = tile.dot %[[A1]], %[[B1]], %[[W0]] {transpose_b} : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<32x32xf32>
// Band 2, open below: x = L(k) − R + 440 at most 88.
// CHECK-NEXT:   %[[X2:.*]] = arith.addf %[[K_BELOW]], %[[F440_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B2_ALL:.*]] = math.exp2 %[[X2]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[ABOVE_BAND2:.*]] = arith.cmpf ogt, %[[X2]], %[[F88_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B2:.*]] = arith.select %[[ABOVE_BAND2]], %[[ZERO_32x16]], %[[B2_ALL]] : tensor<32x16xi1>, tensor<32x16xf32>
// CHECK-NEXT:   %[[Y2:.*]] = arith.subf %[[Q_C]], %[[F440_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[Y2_CAPPED:.*]] = arith.minimumf %[[Y2]], %[[F120_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[A2:.*]] = math.exp2 %[[Y2_CAPPED]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[W2:.*]] = tile.dot %[[A2]], %[[B2]], %[[W1]] {transpose_b} : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<32x32xf32>
// w: below the diagonal, at most 2^100.
// CHECK-NEXT:   %[[W_SEEN:.*]] = tile.mask %[[W2]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:   %[[W:.*]] = arith.minimumf %[[W_SEEN]], %[[TWO_TO_100_32x32]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN_NEXT:.*]] = arith.addf %[[DEN_SCALED]], %[[ROW_SUM]] : tensor<32xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM_SCALED]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   tile.yield %[[C]], %[[DEN_NEXT]], %[[NUM_NEXT]] : tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[SUMS]]#1 : tensor<32xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[SUMS]]#1, %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[SUMS]]#2, %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT: tile.return
