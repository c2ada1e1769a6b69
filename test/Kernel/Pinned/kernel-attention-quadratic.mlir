// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal kernel attention with φ = elu + 1 and key lengths, all pair weights in tiles:
//
//     o_i = Σ_{j ≤ i} w_ij v_j / max(Σ_{j ≤ i} w_ij + 10⁻⁶, 0.002),    w_ij = ⟨φ(q_i), φ(k_j)⟩
//
// One thread block per (batch, query head, 32 queries) walks the key tiles of 32, first those that every query of the block sees in full,
// then those at the diagonal and at the end of the keys with the mask; it carries num [32, 40] and den [32].

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<elu1>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a = tensor<?x4x?x24xf32>
!b = tensor<?x2x?x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @quadratic(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %lengths: tensor<?xi32> {attn.name = "key_lengths"}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k lengths(%lengths : tensor<?xi32>) {feature_map = #map} : !k -> !b
  %pairs = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : !a, !b -> tensor<?x4x?x?xf32>
  %w = attn.visible %pairs {causal} : tensor<?x4x?x?xf32>
  %num = attn.contract %w[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value]
      : tensor<?x4x?x?xf32>, !v -> !num
  %den = attn.row_sum %w : tensor<?x4x?x?xf32> -> !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 1.000000e-06, floor = 2.000000e-03>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @quadratic(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32> {{{.*}}attune.name = "key_lengths"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK:      %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @quadratic_quadratic grid(%[[BATCHES]], %[[C4]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[K]], %[[V]], %[[LENGTHS]], %[[O]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @quadratic_quadratic(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[BIAS_32:.*]] = arith.constant #tile.exact<9.9999999999999995E-7> : tensor<32xf32>
// CHECK-DAG: %[[FLOOR_32:.*]] = arith.constant #tile.exact<2.000000e-03> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C32]] : index
// The keys that exist: max(0, min(length, N)).
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[LENGTH_I32:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]] :
// CHECK-NEXT: %[[LENGTH:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT: %[[NOT_NEGATIVE:.*]] = arith.maxsi %[[LENGTH]], %[[C0]] : index
// CHECK-NEXT: %[[LIMIT:.*]] = arith.minsi %[[NOT_NEGATIVE]], %[[KEYS]] : index
// Query i is token i + N − n. All queries of the block see the tiles below ⌊min(first token + 1, limit) / 32⌋ · 32;
// its last query sees keys up to its own.
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[OFFSET:.*]] = arith.subi %[[KEYS]], %[[QUERIES]] : index
// CHECK-NEXT: %[[FIRST_TOKEN:.*]] = arith.addi %[[FIRST]], %[[OFFSET]] : index
// CHECK-NEXT: %[[SEEN_BY_FIRST:.*]] = arith.addi %[[FIRST_TOKEN]], %[[C1]] : index
// CHECK-NEXT: %[[SEEN_KEYS:.*]] = arith.minsi %[[SEEN_BY_FIRST]], %[[LIMIT]] : index
// CHECK-NEXT: %[[SEEN_SAFE:.*]] = arith.maxsi %[[SEEN_KEYS]], %[[C0]] : index
// CHECK-NEXT: %[[SEEN_TILES:.*]] = arith.divui %[[SEEN_SAFE]], %[[C32]] : index
// CHECK-NEXT: %[[SEEN:.*]] = arith.muli %[[SEEN_TILES]], %[[C32]] : index
// CHECK-NEXT: %[[LAST_ALL:.*]] = arith.addi %[[FIRST]], %[[C32]] : index
// CHECK-NEXT: %[[LAST:.*]] = arith.minsi %[[LAST_ALL]], %[[QUERIES]] : index
// CHECK-NEXT: %[[PAST_LAST:.*]] = arith.addi %[[LAST]], %[[OFFSET]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PAST_LAST]], %[[LIMIT]] : index
// φ(q) [32, 24]
// CHECK-NEXT: %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT: %[[NEGATIVE:.*]] = arith.minimumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT: %[[POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[PHI_Q:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[SEEN_SUMS:.*]]:2 = tile.loop #tile.sum %[[FIRST_KEY:.*]] = %[[C0]] to %[[SEEN]] step 32 carries(
// CHECK-SAME:     %[[NUM:.*]] = %[[ZERO_32x40]], %[[DEN:.*]] = %[[ZERO_32]]) : (tensor<32x40xf32>, tensor<32xf32>) {
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE_2:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT_2:.*]] = arith.mulf %[[NEGATIVE_2]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE_2:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_K:.*]] = arith.addf %[[EXP_2]], %[[POSITIVE_2]] : tensor<32x24xf32>
// w [32, 32] = φ(q) φ(k)ᵀ; num += w v, den += w 1
// CHECK-NEXT:   %[[W:.*]] = tile.dot %[[PHI_Q]], %[[PHI_K]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN_NEXT:.*]] = arith.addf %[[DEN]], %[[ROW_SUM]] : tensor<32xf32>
// CHECK-NEXT:   tile.yield %[[NUM_NEXT]], %[[DEN_NEXT]] : tensor<32x40xf32>, tensor<32xf32>
// CHECK-NEXT: }
// The same with the mask: key first + c of row r counts if c < limit − first and c ≤ r + first token − first.
// CHECK-NEXT: %[[SUMS:.*]]:2 = tile.loop #tile.sum %[[FIRST_KEY:.*]] = %[[SEEN]] to %[[END]] step 32 carries(
// CHECK-SAME:     %[[NUM:.*]] = %[[SEEN_SUMS]]#0, %[[DEN:.*]] = %[[SEEN_SUMS]]#1) : (tensor<32x40xf32>, tensor<32xf32>) {
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE_2:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT_2:.*]] = arith.mulf %[[NEGATIVE_2]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE_2:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_K:.*]] = arith.addf %[[EXP_2]], %[[POSITIVE_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PAIRS:.*]] = tile.dot %[[PHI_Q]], %[[PHI_K]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[DIAGONAL:.*]] = arith.subi %[[FIRST_TOKEN]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[W:.*]] = tile.mask %[[PAIRS]] fill 0.000000e+00 cols(%[[KEYS_LEFT]]) diagonal(%[[DIAGONAL]]) : tensor<32x32xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN_NEXT:.*]] = arith.addf %[[DEN]], %[[ROW_SUM]] : tensor<32xf32>
// CHECK-NEXT:   tile.yield %[[NUM_NEXT]], %[[DEN_NEXT]] : tensor<32x40xf32>, tensor<32xf32>
// CHECK-NEXT: }
// o = num / max(den + 10⁻⁶, 0.002)
// CHECK-NEXT: %[[BIASED:.*]] = arith.addf %[[SUMS]]#1, %[[BIAS_32]] : tensor<32xf32>
// CHECK-NEXT: %[[GUARDED:.*]] = arith.maximumf %[[BIASED]], %[[FLOOR_32]] : tensor<32xf32>
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[GUARDED]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[GUARDED]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[INVERSE]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[SUMS]]#0, %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT: tile.return
