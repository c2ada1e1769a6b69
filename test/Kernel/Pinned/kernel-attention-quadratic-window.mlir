// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Kernel attention with φ = elu + 1 in windows of 48 tokens, causal inside a window, all pair weights in tiles:
//
//     o_i = Σ_j w_ij v_j / Σ_j w_ij,    w_ij = ⟨φ(q_i), φ(k_j)⟩,   over j ≤ i with ⌊j / 48⌋ = ⌊i / 48⌋
//
// As kernel-attention-quadratic.mlir with the windows on the batch's axis of the grid, and tiles of 24, the largest divisor of 48 that is
// at most 32. Positions are relative to the window; loads add its first token.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<elu1>
!q = tensor<?x4x96x20xf32>
!k = tensor<?x2x96x20xf32>
!v = tensor<?x2x96x40xf32>
!o = tensor<?x4x96x40xf32>
!a = tensor<?x4x96x20xf32>
!b = tensor<?x2x96x20xf32>
!num = tensor<?x4x96x40xf32>
!den = tensor<?x4x96xf32>
func.func @window(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k {feature_map = #map} : !k -> !b
  %pairs = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : !a, !b -> tensor<?x4x96x96xf32>
  %w = attn.visible %pairs {causal, window = #attn.window<48>} : tensor<?x4x96x96xf32>
  %num = attn.contract %w[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value]
      : tensor<?x4x96x96xf32>, !v -> !num
  %den = attn.row_sum %w : tensor<?x4x96x96xf32> -> !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @window(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x20xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C48:.*]] = arith.constant 48 : index
// CHECK:      %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[TOKENS:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[WINDOWS:.*]] = arith.divui %[[TOKENS]], %[[C48]] : index
// CHECK-NEXT: %[[BATCH_WINDOWS:.*]] = arith.muli %[[BATCHES]], %[[WINDOWS]] : index
// CHECK-NEXT: tile.launch @window_quadratic grid(%[[BATCH_WINDOWS]], %[[C4]], %[[C2]]) (%[[Q]], %[[K]], %[[V]], %[[O]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @window_quadratic(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[C48:.*]] = arith.constant 48 : index
// CHECK-DAG: %[[LOG2E_24x20:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<24x20xf32>
// CHECK-DAG: %[[ZERO_24x20:.*]] = arith.constant dense<0.000000e+00> : tensor<24x20xf32>
// CHECK-DAG: %[[ZERO_24x24:.*]] = arith.constant dense<0.000000e+00> : tensor<24x24xf32>
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[LARGEST_24:.*]] = arith.constant dense<3.40282347E+38> : tensor<24xf32>
// CHECK-DAG: %[[ONE_24:.*]] = arith.constant dense<1.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// Batch and window of the thread block.
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[TOKENS:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[WINDOWS:.*]] = arith.divui %[[TOKENS]], %[[C48]] : index
// CHECK-NEXT: %[[WINDOW:.*]] = arith.remui %[[BATCH]], %[[WINDOWS]] : index
// CHECK-NEXT: %[[BATCH_INDEX:.*]] = arith.divui %[[BATCH]], %[[WINDOWS]] : index
// CHECK-NEXT: %[[START:.*]] = arith.muli %[[WINDOW]], %[[C48]] : index
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C24]] : index
// CHECK-NEXT: %[[SEEN_BY_FIRST:.*]] = arith.addi %[[FIRST]], %[[C1]] : index
// CHECK-NEXT: %[[SEEN_KEYS:.*]] = arith.minsi %[[SEEN_BY_FIRST]], %[[C48]] : index
// CHECK-NEXT: %[[SEEN_SAFE:.*]] = arith.maxsi %[[SEEN_KEYS]], %[[C0]] : index
// CHECK-NEXT: %[[SEEN_TILES:.*]] = arith.divui %[[SEEN_SAFE]], %[[C24]] : index
// CHECK-NEXT: %[[SEEN:.*]] = arith.muli %[[SEEN_TILES]], %[[C24]] : index
// CHECK-NEXT: %[[LAST_ALL:.*]] = arith.addi %[[FIRST]], %[[C24]] : index
// CHECK-NEXT: %[[LAST:.*]] = arith.minsi %[[LAST_ALL]], %[[C48]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[LAST]], %[[C48]] : index
// φ(q) [24, 20]; no row past the window's end
// CHECK-NEXT: %[[FIRST_TOKEN:.*]] = arith.addi %[[START]], %[[FIRST]] : index
// CHECK-NEXT: %[[WINDOW_END:.*]] = arith.addi %[[START]], %[[C48]] : index
// CHECK-NEXT: %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH_INDEX]], %[[HEAD]], %[[FIRST_TOKEN]], %[[C0]]] rows(%[[WINDOW_END]])
// CHECK-SAME:     -> tensor<24x20xf32>
// CHECK-NEXT: %[[NEGATIVE:.*]] = arith.minimumf %[[Q_TILE]], %[[ZERO_24x20]] : tensor<24x20xf32>
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_24x20]] : tensor<24x20xf32>
// CHECK-NEXT: %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<24x20xf32>
// CHECK-NEXT: %[[POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_24x20]] : tensor<24x20xf32>
// CHECK-NEXT: %[[PHI_Q:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<24x20xf32>
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[SEEN_SUMS:.*]]:2 = tile.loop #tile.sum %[[FIRST_KEY:.*]] = %[[C0]] to %[[SEEN]] step 24 carries(
// CHECK-SAME:     %[[NUM:.*]] = %[[ZERO_24x40]], %[[DEN:.*]] = %[[ZERO_24]]) : (tensor<24x40xf32>, tensor<24xf32>) {
// CHECK-NEXT:   %[[KEY_TOKEN:.*]] = arith.addi %[[START]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH_INDEX]], %[[KV_HEAD]], %[[KEY_TOKEN]], %[[C0]]] rows(%[[WINDOW_END]])
// CHECK-SAME:       -> tensor<24x20xf32>
// CHECK-NEXT:   %[[NEGATIVE_2:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_24x20]] : tensor<24x20xf32>
// CHECK-NEXT:   %[[EXPONENT_2:.*]] = arith.mulf %[[NEGATIVE_2]], %[[LOG2E_24x20]] : tensor<24x20xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT_2]] : tensor<24x20xf32>
// CHECK-NEXT:   %[[POSITIVE_2:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_24x20]] : tensor<24x20xf32>
// CHECK-NEXT:   %[[PHI_K:.*]] = arith.addf %[[EXP_2]], %[[POSITIVE_2]] : tensor<24x20xf32>
// w [24, 24] = φ(q) φ(k)ᵀ; num += w v, den += w 1
// CHECK-NEXT:   %[[W:.*]] = tile.dot %[[PHI_Q]], %[[PHI_K]], %[[ZERO_24x24]] {transpose_b} : {{.*}} -> tensor<24x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH_INDEX]], %[[KV_HEAD]], %[[KEY_TOKEN]], %[[C0]]] rows(%[[WINDOW_END]])
// CHECK-SAME:       -> tensor<24x40xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM]] : tensor<24x24xf32>, tensor<24x40xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<24x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[DEN_NEXT:.*]] = arith.addf %[[DEN]], %[[ROW_SUM]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield %[[NUM_NEXT]], %[[DEN_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// The same with the mask.
// CHECK-NEXT: %[[SUMS:.*]]:2 = tile.loop #tile.sum %[[FIRST_KEY:.*]] = %[[SEEN]] to %[[END]] step 24 carries(
// CHECK-SAME:     %[[NUM:.*]] = %[[SEEN_SUMS]]#0, %[[DEN:.*]] = %[[SEEN_SUMS]]#1) : (tensor<24x40xf32>, tensor<24xf32>) {
// CHECK-NEXT:   %[[KEY_TOKEN:.*]] = arith.addi %[[START]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH_INDEX]], %[[KV_HEAD]], %[[KEY_TOKEN]], %[[C0]]] rows(%[[WINDOW_END]])
// CHECK-SAME:       -> tensor<24x20xf32>
// CHECK-NEXT:   %[[NEGATIVE_2:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_24x20]] : tensor<24x20xf32>
// CHECK-NEXT:   %[[EXPONENT_2:.*]] = arith.mulf %[[NEGATIVE_2]], %[[LOG2E_24x20]] : tensor<24x20xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT_2]] : tensor<24x20xf32>
// CHECK-NEXT:   %[[POSITIVE_2:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_24x20]] : tensor<24x20xf32>
// CHECK-NEXT:   %[[PHI_K:.*]] = arith.addf %[[EXP_2]], %[[POSITIVE_2]] : tensor<24x20xf32>
// CHECK-NEXT:   %[[PAIRS:.*]] = tile.dot %[[PHI_Q]], %[[PHI_K]], %[[ZERO_24x24]] {transpose_b} : {{.*}} -> tensor<24x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[C48]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[DIAGONAL:.*]] = arith.subi %[[FIRST]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[W:.*]] = tile.mask %[[PAIRS]] fill 0.000000e+00 cols(%[[KEYS_LEFT]]) diagonal(%[[DIAGONAL]]) : tensor<24x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH_INDEX]], %[[KV_HEAD]], %[[KEY_TOKEN]], %[[C0]]] rows(%[[WINDOW_END]])
// CHECK-SAME:       -> tensor<24x40xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM]] : tensor<24x24xf32>, tensor<24x40xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<24x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[DEN_NEXT:.*]] = arith.addf %[[DEN]], %[[ROW_SUM]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield %[[NUM_NEXT]], %[[DEN_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_24]], %[[SUMS]]#1 : tensor<24xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_24]] : tensor<24xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[SUMS]]#1, %[[ZERO_24]] : tensor<24xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_24]], %[[BOUNDED]] : tensor<24xi1>, tensor<24xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<24xf32> -> tensor<24x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[SUMS]]#0, %[[FACTOR_COLS]] : tensor<24x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH_INDEX]], %[[HEAD]], %[[FIRST_TOKEN]], %[[C0]]] rows(%[[WINDOW_END]]) : tensor<24x40xf32>
// CHECK-NEXT: tile.return
