// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal kernel attention with φ = elu + 1, chunk by chunk, two query heads to a key-value head:
//
//     o_i = Σ_{j ≤ i} ⟨φ(q_i), φ(k_j)⟩ v_j / Σ_{j ≤ i} ⟨φ(q_i), φ(k_j)⟩
//
// As kernel-attention-chunked.mlir, but by pairs, and a thread block per (batch, key-value head) serves both query heads: φ(k), v and the state are
// loaded and updated once.

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
func.func @grouped(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k {feature_map = #map} : !k -> !b
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v {execution = #attn.execution<grouped = true>} : !a, !b, !v -> !num, !den, !s, !z
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @grouped(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK:      %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @grouped_chunked grid(%[[BATCHES]], %[[C2]]) (%[[Q]], %[[K]], %[[V]], %[[O]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @grouped_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// Query heads 2h and 2h + 1 read key-value head h.
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TOKENS:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[HEAD0:.*]] = arith.muli %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[HEAD1:.*]] = arith.addi %[[HEAD0]], %[[C1]] : index
// CHECK-NEXT: %[[STATE:.*]]:2 = tile.loop #tile.sum %[[FIRST:.*]] = %[[C0]] to %[[TOKENS]] step 32 carries(
// CHECK-SAME:     %[[S:.*]] = %[[ZERO_24x40]], %[[Z:.*]] = %[[ZERO_24]]) : (tensor<24x40xf32>, tensor<24xf32>) {
// Query head 2h.
// What the state gives: num [32, 40] = φ(q) S, den [32] = φ(q) z
// CHECK-NEXT:   %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD0]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE:.*]] = arith.minimumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_Q:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[FROM_S:.*]] = tile.dot %[[PHI_Q]], %[[S]], %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[Z_ROWS:.*]] = tile.expand %[[Z]] axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_Z:.*]] = arith.mulf %[[PHI_Q]], %[[Z_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[FROM_Z:.*]] = tile.reduce add %[[PHI_Z]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// φ(k) [32, 24] = 2^(log2 e · min(k, 0)) + max(k, 0), and 0 of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE_2:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT_2:.*]] = arith.mulf %[[NEGATIVE_2]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE_2:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_ALL:.*]] = arith.addf %[[EXP_2]], %[[POSITIVE_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[PHI_K:.*]] = tile.mask %[[PHI_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// Pairs of the chunk: w [32, 32] = φ(q) φ(k)ᵀ below the diagonal; num += w v, den += w 1
// CHECK-NEXT:   %[[PAIRS:.*]] = tile.dot %[[PHI_Q]], %[[PHI_K]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:   %[[W:.*]] = tile.mask %[[PAIRS]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:   %[[NUM:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[FROM_S]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN:.*]] = arith.addf %[[ROW_SUM]], %[[FROM_Z]] : tensor<32xf32>
// CHECK-NEXT:   %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:   %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD0]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// Query head 2h + 1.
// What the state gives: num [32, 40] = φ(q) S, den [32] = φ(q) z
// CHECK-NEXT:   %[[Q_TILE_2:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD1]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE_3:.*]] = arith.minimumf %[[Q_TILE_2]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT_3:.*]] = arith.mulf %[[NEGATIVE_3]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP_3:.*]] = math.exp2 %[[EXPONENT_3]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE_3:.*]] = arith.maximumf %[[Q_TILE_2]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_Q_2:.*]] = arith.addf %[[EXP_3]], %[[POSITIVE_3]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[FROM_S_2:.*]] = tile.dot %[[PHI_Q_2]], %[[S]], %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[PHI_Z_2:.*]] = arith.mulf %[[PHI_Q_2]], %[[Z_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[FROM_Z_2:.*]] = tile.reduce add %[[PHI_Z_2]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// Pairs of the chunk: w [32, 32] = φ(q) φ(k)ᵀ below the diagonal; num += w v, den += w 1
// CHECK-NEXT:   %[[PAIRS_2:.*]] = tile.dot %[[PHI_Q_2]], %[[PHI_K]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:   %[[W_2:.*]] = tile.mask %[[PAIRS_2]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:   %[[NUM_2:.*]] = tile.dot %[[W_2]], %[[V_TILE]], %[[FROM_S_2]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[ROW_SUM_2:.*]] = tile.reduce add %[[W_2]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN_2:.*]] = arith.addf %[[ROW_SUM_2]], %[[FROM_Z_2]] : tensor<32xf32>
// CHECK-NEXT:   %[[INVERSE_2:.*]] = arith.divf %[[ONE_32]], %[[DEN_2]] : tensor<32xf32>
// CHECK-NEXT:   %[[BOUNDED_2:.*]] = arith.minimumf %[[INVERSE_2]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[IS_NULL_2:.*]] = arith.cmpf oeq, %[[DEN_2]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR_2:.*]] = arith.select %[[IS_NULL_2]], %[[ZERO_32]], %[[BOUNDED_2]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR_COLS_2:.*]] = tile.expand %[[FACTOR_2]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[OUT_2:.*]] = arith.mulf %[[NUM_2]], %[[FACTOR_COLS_2]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.store %[[OUT_2]], %[[O]][%[[BATCH]], %[[HEAD1]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// S += φ(k)ᵀ v, z += φ(k)ᵀ 1
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[PHI_K]], %[[V_TILE]], %[[S]] {transpose_a} : tensor<32x24xf32>, tensor<32x40xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[Z_SUM:.*]] = tile.reduce add %[[PHI_K]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z]], %[[Z_SUM]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
