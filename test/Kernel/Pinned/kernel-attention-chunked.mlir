// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal kernel attention with φ = elu + 1, chunk by chunk, from an initial state and with a final one:
//
//     o_i = (φ(q_i) S₀ + Σ_{j ≤ i} ⟨φ(q_i), φ(k_j)⟩ v_j) / (φ(q_i) z₀ + Σ_{j ≤ i} ⟨φ(q_i), φ(k_j)⟩)
//
// One thread block per (batch, query head) walks the chunks of 32 tokens and carries S [24, 40] and z [24]. The tokens of a chunk go through
// S one after another: the key of each enters S, which its query then reads. A query's denominator comes of the sum of φ(k) up to it. The
// keys go through z for it in the same way, a state of one row which 1 reads. The heads of a group carry the same state, and the first of them
// stores it. It may be asked for where the initial state lies, which the other heads read meanwhile: so it goes to a workspace, and one more
// kernel, "final_state", brings it to its place. Either state may be absent: then it has no batch entry, and no row of it is there.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<elu1>
!q = tensor<?x4x4096x24xf32>
!k = tensor<?x2x4096x24xf32>
!v = tensor<?x2x4096x40xf32>
!o = tensor<?x4x4096x40xf32>
!a = tensor<?x4x4096x24xf32>
!b = tensor<?x2x4096x24xf32>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
!num = tensor<?x4x4096x40xf32>
!den = tensor<?x4x4096xf32>
func.func @chunked(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %s0: !s {attn.name = "initial_state"}, %z0: !z {attn.name = "initial_sum"}) -> (!o, !s, !z)
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k {feature_map = #map} : !k -> !b
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v initial(%s0, %z0 : !s, !z) : !a, !b, !v -> !num, !den, !s, !z
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o, %s, %z : !o, !s, !z
}

// CHECK-LABEL: func.func @chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[S0:[^:]*]]: memref<?x2x24x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "initial_state"
// CHECK-SAME:  %[[Z0:[^:]*]]: memref<?x2x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "initial_sum"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  %[[S1:[^:]*]]: memref<?x2x24x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "final_state"
// CHECK-SAME:  %[[Z1:[^:]*]]: memref<?x2x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "final_sum"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK:      %[[KEY_BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[Z_MADE:.*]] = tile.workspace(%[[KEY_BATCHES]]) : memref<?x2x24xf32>
// CHECK-NEXT: %[[S_MADE:.*]] = tile.workspace(%[[KEY_BATCHES]]) : memref<?x2x24x40xf32>
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @chunked_chunked grid(%[[BATCHES]], %[[C4]]) (%[[Q]], %[[K]], %[[V]], %[[S0]], %[[Z0]], %[[O]], %[[S_MADE]], %[[Z_MADE]])
// CHECK-NEXT: tile.launch @chunked_final_state grid(%[[KEY_BATCHES]], %[[C2]]) (%[[S1]], %[[Z1]], %[[S_MADE]], %[[Z_MADE]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @chunked_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[S0:[^:]*]]: memref<?x2x24x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[Z0:[^:]*]]: memref<?x2x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[S_MADE:[^:]*]]: memref<?x2x24x40xf32>
// CHECK-SAME:  %[[Z_MADE:[^:]*]]: memref<?x2x24xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[ONE_32x1:.*]] = arith.constant dense<1.000000e+00> : tensor<32x1xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TOKENS:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// The rows of the initial state, if it is there
// CHECK-NEXT: %[[S0_BATCHES:.*]] = memref.dim %[[S0]], %[[C0]] :
// CHECK-NEXT: %[[S0_THERE:.*]] = arith.minsi %[[S0_BATCHES]], %[[C1]] : index
// CHECK-NEXT: %[[S0_ROWS:.*]] = arith.muli %[[S0_THERE]], %[[C24]] : index
// CHECK-NEXT: %[[S0_TILE:.*]] = tile.load %[[S0]][%[[BATCH]], %[[KV_HEAD]], %[[C0]], %[[C0]]] rows(%[[S0_ROWS]]) : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT: %[[Z0_BATCHES:.*]] = memref.dim %[[Z0]], %[[C0]] :
// CHECK-NEXT: %[[Z0_THERE:.*]] = arith.minsi %[[Z0_BATCHES]], %[[C1]] : index
// CHECK-NEXT: %[[Z0_ROWS:.*]] = arith.muli %[[Z0_THERE]], %[[C24]] : index
// CHECK-NEXT: %[[Z0_TILE:.*]] = tile.load %[[Z0]][%[[BATCH]], %[[KV_HEAD]], %[[C0]]] rows(%[[Z0_ROWS]]) : {{.*}} -> tensor<24xf32>
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[STATE:.*]]:2 = tile.loop #tile.sum %[[FIRST:.*]] = %[[C0]] to %[[TOKENS]] step 32 carries(
// CHECK-SAME:     %[[S:.*]] = %[[S0_TILE]], %[[Z:.*]] = %[[Z0_TILE]]) : (tensor<24x40xf32>, tensor<24xf32>) {
// φ(q) [32, 24] = 2^(log2 e · min(q, 0)) + max(q, 0)
// CHECK-NEXT:   %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE:.*]] = arith.minimumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_Q:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// φ(k) [32, 24] = 2^(log2 e · min(k, 0)) + max(k, 0), and 0 of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE_2:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT_2:.*]] = arith.mulf %[[NEGATIVE_2]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE_2:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_ALL:.*]] = arith.addf %[[EXP_2]], %[[POSITIVE_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[PHI_K:.*]] = tile.mask %[[PHI_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// Token by token: S += φ(k_t) v_tᵀ, num_t [40] = φ(q_t) S
// CHECK-NEXT:   %[[NUM:.*]], %[[S_NEXT:.*]] = tile.scan %[[PHI_Q]], %[[PHI_K]], %[[V_TILE]], %[[S]], %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<32x40xf32>, tensor<24x40xf32>
// Sums up to each token in the same way, in a state of one row: z [1, 24] += 1 φ(k_t)ᵀ, Σ_t [24] = 1 z
// CHECK-NEXT:   %[[Z_ROW:.*]] = tile.expand %[[Z]] axis 0 : tensor<24xf32> -> tensor<1x24xf32>
// CHECK-NEXT:   %[[Z_UP_TO:.*]], %[[Z_ROW_NEXT:.*]] = tile.scan %[[ONE_32x1]], %[[ONE_32x1]], %[[PHI_K]], %[[Z_ROW]], %[[ZERO_32x24]] : tensor<32x1xf32>, tensor<32x24xf32>, tensor<1x24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = tile.reduce add %[[Z_ROW_NEXT]] axis 0 : tensor<1x24xf32> -> tensor<24xf32>
// den_t = φ(q_t) Σ_t
// CHECK-NEXT:   %[[PHI_Z:.*]] = arith.mulf %[[PHI_Q]], %[[Z_UP_TO]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[DEN:.*]] = tile.reduce add %[[PHI_Z]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:   %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// Of the heads of a group the first, for which head mod 2 = 0
// CHECK-NEXT: %[[FIRST_HEAD:.*]] = arith.muli %[[KV_HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[MEMBER:.*]] = arith.subi %[[HEAD]], %[[FIRST_HEAD]] : index
// CHECK-NEXT: %[[IS_OTHER:.*]] = arith.minsi %[[MEMBER]], %[[C1]] : index
// CHECK-NEXT: %[[STORES:.*]] = arith.subi %[[C1]], %[[IS_OTHER]] : index
// CHECK-NEXT: %[[ROWS:.*]] = arith.muli %[[STORES]], %[[C24]] : index
// CHECK-NEXT: tile.store %[[STATE]]#0, %[[S_MADE]][%[[BATCH]], %[[KV_HEAD]], %[[C0]], %[[C0]]] rows(%[[ROWS]]) : tensor<24x40xf32>
// CHECK-NEXT: tile.store %[[STATE]]#1, %[[Z_MADE]][%[[BATCH]], %[[KV_HEAD]], %[[C0]]] rows(%[[ROWS]]) : tensor<24xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @chunked_final_state(
// CHECK-SAME:  %[[S1:[^:]*]]: memref<?x2x24x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[Z1:[^:]*]]: memref<?x2x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[S_MADE:[^:]*]]: memref<?x2x24x40xf32>
// CHECK-SAME:  %[[Z_MADE:[^:]*]]: memref<?x2x24xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[S:.*]] = tile.load %[[S_MADE]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT: %[[Z:.*]] = tile.load %[[Z_MADE]][%[[BATCH]], %[[HEAD]], %[[C0]]] : {{.*}} -> tensor<24xf32>
// CHECK-NEXT: %[[S1_BATCHES:.*]] = memref.dim %[[S1]], %[[C0]] :
// CHECK-NEXT: %[[S1_THERE:.*]] = arith.minsi %[[S1_BATCHES]], %[[C1]] : index
// CHECK-NEXT: %[[S1_ROWS:.*]] = arith.muli %[[S1_THERE]], %[[C24]] : index
// CHECK-NEXT: tile.store %[[S]], %[[S1]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] rows(%[[S1_ROWS]]) : tensor<24x40xf32>
// CHECK-NEXT: %[[Z1_BATCHES:.*]] = memref.dim %[[Z1]], %[[C0]] :
// CHECK-NEXT: %[[Z1_THERE:.*]] = arith.minsi %[[Z1_BATCHES]], %[[C1]] : index
// CHECK-NEXT: %[[Z1_ROWS:.*]] = arith.muli %[[Z1_THERE]], %[[C24]] : index
// CHECK-NEXT: tile.store %[[Z]], %[[Z1]][%[[BATCH]], %[[HEAD]], %[[C0]]] rows(%[[Z1_ROWS]]) : tensor<24xf32>
// CHECK-NEXT: tile.return
