// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// FAVOR+ with ε and the stabilizer "max", not causal, with key lengths, all pair weights in tiles. c is the largest exponent of a key, over
// all existing keys of a head and all features, computed by a separate kernel:
//
//     φ(q) = (2^(ω·q' − max_f ω·q') + ε) / √m,    φ(k) = (2^(ω·k' − |k'|²/2 − c) + ε) / √m      with m = 16, x' = √s x, in units of log 2
//     o_i = Σ_j w_ij v_j / Σ_j w_ij,    w_ij = ⟨φ(q_i), φ(k_j)⟩

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<favor, features = 16, epsilon = 1.000000e-04, scale = 2.500000e-01, stabilizer = max>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a = tensor<?x4x?x16xf32>
!b = tensor<?x2x?x16xf32>
!omega = tensor<1x16x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @favor_max(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %lengths: tensor<?xi32> {attn.name = "key_lengths"}, %omega: !omega {attn.name = "omega", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %c = attn.key_maximum %k lengths(%lengths : tensor<?xi32>) parameter(%omega : !omega) {feature_map = #map} : !k -> tensor<?x2xf32>
  %a = attn.map %q parameter(%omega : !omega) {feature_map = #map} : !q -> !a
  %b = attn.map %k lengths(%lengths : tensor<?xi32>) parameter(%omega : !omega) shift(%c : tensor<?x2xf32>) {feature_map = #map, keys} : !k -> !b
  %pairs = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : !a, !b -> tensor<?x4x?x?xf32>
  %num = attn.contract %pairs[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value]
      : tensor<?x4x?x?xf32>, !v -> !num
  %den = attn.row_sum %pairs : tensor<?x4x?x?xf32> -> !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @favor_max(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32> {{{.*}}attune.name = "key_lengths"
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "omega"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK:      %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[C:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2xf32>
// CHECK-NEXT: tile.launch @favor_max_2_key_maximum grid(%[[BATCHES]], %[[C2]]) (%[[K]], %[[LENGTHS]], %[[OMEGA]], %[[C]])
// CHECK-NEXT: %[[QUERY_BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @favor_max_quadratic grid(%[[QUERY_BATCHES]], %[[C4]], %[[QUERY_BLOCKS]])
// CHECK-SAME:     (%[[Q]], %[[K]], %[[V]], %[[LENGTHS]], %[[OMEGA]], %[[O]], %[[C]])
// CHECK-NEXT: return

// One thread block per (batch, key-value head).
// CHECK-LABEL: tile.kernel @favor_max_2_key_maximum(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[C:[^:]*]]: memref<?x2xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[ROOT_S_LOG2E_32x24:.*]] = arith.constant #tile.exact<0.72134752044448169> : tensor<32x24xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.18033688011112042> : tensor<32xf32>
// CHECK-DAG: %[[MINUS_INF_1:.*]] = arith.constant dense<0xFF800000> : tensor<1xf32>
// CHECK-DAG: %[[ZERO_1:.*]] = arith.constant dense<0.000000e+00> : tensor<1xf32>
// CHECK-DAG: %[[MINUS_INF_32:.*]] = arith.constant dense<0xFF800000> : tensor<32xf32>
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[LENGTH_I32:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]] :
// CHECK-NEXT: %[[LENGTH:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT: %[[NOT_NEGATIVE:.*]] = arith.maxsi %[[LENGTH]], %[[C0]] : index
// CHECK-NEXT: %[[LIMIT:.*]] = arith.minsi %[[NOT_NEGATIVE]], %[[KEYS]] : index
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// A maximum for each row of a tile [32].
// CHECK-NEXT: %[[LARGEST:.*]] = tile.loop #tile.maximum %[[FIRST:.*]] = %[[C0]] to %[[LIMIT]] step 32 carries(
// CHECK-SAME:     %[[SO_FAR:.*]] = %[[MINUS_INF_32]]) : (tensor<32xf32>) {
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM_COLS:.*]] = tile.expand %[[HALF_NORM]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[L_K:.*]] = arith.subf %[[OMEGA_K]], %[[HALF_NORM_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[ROW_MAX:.*]] = tile.reduce max %[[L_K]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST]] : index
// CHECK-NEXT:   %[[ROW_MAX_SEEN:.*]] = tile.mask %[[ROW_MAX]] fill 0xFF800000 rows(%[[KEYS_LEFT]]) : tensor<32xf32>
// CHECK-NEXT:   %[[NEXT:.*]] = arith.maximumf %[[SO_FAR]], %[[ROW_MAX_SEEN]] : tensor<32xf32>
// CHECK-NEXT:   tile.yield %[[NEXT]] : tensor<32xf32>
// CHECK-NEXT: }
// Over the rows: [1].
// CHECK-NEXT: %[[LARGEST_ROWS:.*]] = tile.expand %[[LARGEST]] axis 0 : tensor<32xf32> -> tensor<1x32xf32>
// CHECK-NEXT: %[[ONE:.*]] = tile.reduce max %[[LARGEST_ROWS]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// 0 where there is no key.
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpf oeq, %[[ONE]], %[[MINUS_INF_1]] : tensor<1xf32>
// CHECK-NEXT: %[[ONE_OR_ZERO:.*]] = arith.select %[[NONE]], %[[ZERO_1]], %[[ONE]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT: tile.store %[[ONE_OR_ZERO]], %[[C]][%[[BATCH]], %[[HEAD]]] : tensor<1xf32>
// CHECK-NEXT: tile.return

// One thread block per (batch, query head, 32 queries).
// CHECK-LABEL: tile.kernel @favor_max_quadratic(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[C:[^:]*]]: memref<?x2xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[EPSILON_32x16:.*]] = arith.constant #tile.exact<1.000000e-04> : tensor<32x16xf32>
// CHECK-DAG: %[[F0_25_32x16:.*]] = arith.constant dense<2.500000e-01> : tensor<32x16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[ONE_32x1:.*]] = arith.constant dense<1.000000e+00> : tensor<32x1xf32>
// CHECK-DAG: %[[ZERO_32x1:.*]] = arith.constant dense<0.000000e+00> : tensor<32x1xf32>
// CHECK-DAG: %[[ROOT_S_LOG2E_32x24:.*]] = arith.constant #tile.exact<0.72134752044448169> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.18033688011112042> : tensor<32xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
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
// Tiles without a key that does not exist come first.
// CHECK-NEXT: %[[LIMIT_SAFE:.*]] = arith.maxsi %[[LIMIT]], %[[C0]] : index
// CHECK-NEXT: %[[FULL_TILES:.*]] = arith.divui %[[LIMIT_SAFE]], %[[C32]] : index
// CHECK-NEXT: %[[FULL:.*]] = arith.muli %[[FULL_TILES]], %[[C32]] : index
// φ(q) [32, 16]
// CHECK-NEXT: %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[L_Q:.*]] = tile.dot %[[Q_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT: %[[ROW_MAX:.*]] = tile.reduce max %[[L_Q]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[ROW_MAX_COLS:.*]] = tile.expand %[[ROW_MAX]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %[[OFFSET:.*]] = arith.subf %[[L_Q]], %[[ROW_MAX_COLS]] : tensor<32x16xf32>
// CHECK-NEXT: %[[EXP:.*]] = math.exp2 %[[OFFSET]] : tensor<32x16xf32>
// CHECK-NEXT: %[[WITH_EPSILON:.*]] = arith.addf %[[EXP]], %[[EPSILON_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: %[[PHI_Q:.*]] = arith.mulf %[[WITH_EPSILON]], %[[F0_25_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[C_TILE:.*]] = tile.load %[[C]][%[[BATCH]], %[[KV_HEAD]]] : {{.*}} -> tensor<1x1xf32>
// CHECK-NEXT: %[[FULL_SUMS:.*]]:2 = tile.loop #tile.sum %[[FIRST_KEY:.*]] = %[[C0]] to %[[FULL]] step 32 carries(
// CHECK-SAME:     %[[NUM:.*]] = %[[ZERO_32x40]], %[[DEN:.*]] = %[[ZERO_32]]) : (tensor<32x40xf32>, tensor<32xf32>) {
// φ(k) [32, 16] = (2^(ω·k' − |k'|²/2 − c) + ε) / 4, ω·k', |k'|²/2 and c in units of log 2
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[C_ROWS:.*]] = tile.dot %[[ONE_32x1]], %[[C_TILE]], %[[ZERO_32x1]] precision f32 : {{.*}} -> tensor<32x1xf32>
// CHECK-NEXT:   %[[C_32:.*]] = tile.reduce add %[[C_ROWS]] axis 1 : tensor<32x1xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[BELOW:.*]] = arith.addf %[[HALF_NORM]], %[[C_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[BELOW_COLS:.*]] = tile.expand %[[BELOW]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.subf %[[OMEGA_K]], %[[BELOW_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[WITH_EPSILON_2:.*]] = arith.addf %[[EXP_2]], %[[EPSILON_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[PHI_K:.*]] = arith.mulf %[[WITH_EPSILON_2]], %[[F0_25_32x16]] : tensor<32x16xf32>
// w [32, 32] = φ(q) φ(k)ᵀ; num += w v, den += w 1
// CHECK-NEXT:   %[[W:.*]] = tile.dot %[[PHI_Q]], %[[PHI_K]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN_NEXT:.*]] = arith.addf %[[DEN]], %[[ROW_SUM]] : tensor<32xf32>
// CHECK-NEXT:   tile.yield %[[NUM_NEXT]], %[[DEN_NEXT]] : tensor<32x40xf32>, tensor<32xf32>
// CHECK-NEXT: }
// The same with the mask.
// CHECK-NEXT: %[[SUMS:.*]]:2 = tile.loop #tile.sum %[[FIRST_KEY:.*]] = %[[FULL]] to %[[LIMIT]] step 32 carries(
// CHECK-SAME:     %[[NUM:.*]] = %[[FULL_SUMS]]#0, %[[DEN:.*]] = %[[FULL_SUMS]]#1) : (tensor<32x40xf32>, tensor<32xf32>) {
// φ(k) [32, 16] = (2^(ω·k' − |k'|²/2 − c) + ε) / 4, ω·k', |k'|²/2 and c in units of log 2
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[C_ROWS:.*]] = tile.dot %[[ONE_32x1]], %[[C_TILE]], %[[ZERO_32x1]] precision f32 : {{.*}} -> tensor<32x1xf32>
// CHECK-NEXT:   %[[C_32:.*]] = tile.reduce add %[[C_ROWS]] axis 1 : tensor<32x1xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[BELOW:.*]] = arith.addf %[[HALF_NORM]], %[[C_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[BELOW_COLS:.*]] = tile.expand %[[BELOW]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.subf %[[OMEGA_K]], %[[BELOW_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[WITH_EPSILON_2:.*]] = arith.addf %[[EXP_2]], %[[EPSILON_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[PHI_K:.*]] = arith.mulf %[[WITH_EPSILON_2]], %[[F0_25_32x16]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[PAIRS:.*]] = tile.dot %[[PHI_Q]], %[[PHI_K]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[W:.*]] = tile.mask %[[PAIRS]] fill 0.000000e+00 cols(%[[KEYS_LEFT]]) : tensor<32x32xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN_NEXT:.*]] = arith.addf %[[DEN]], %[[ROW_SUM]] : tensor<32xf32>
// CHECK-NEXT:   tile.yield %[[NUM_NEXT]], %[[DEN_NEXT]] : tensor<32x40xf32>, tensor<32xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[SUMS]]#1 : tensor<32xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[SUMS]]#1, %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[SUMS]]#0, %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT: tile.return
