// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Kernel attention with φ = elu + 1, not causal, in one kernel: o_i = φ(q_i) S / φ(q_i) z with S [24, 40] = Σ_j φ(k_j)ᵀ v_j, z [24] = Σ_j
// φ(k_j). One thread block per (batch, key-value head) sums up the state of all keys and keeps it in tiles while it walks the queries of
// its two query heads.

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
func.func @fused(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k {feature_map = #map} : !k -> !b
  %s, %z = attn.state %b, %v : !b, !v -> !s, !z
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<values = fused>} : !a, !s, !z -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @fused(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @fused_fused_state grid(%[[BATCHES]], %[[C2]]) (%[[Q]], %[[K]], %[[V]], %[[O]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @fused_fused_state(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[STATE:.*]]:2 = tile.loop #tile.sum %[[FIRST:.*]] = %[[C0]] to %[[KEYS]] step 32 carries(
// CHECK-SAME:     %[[S:.*]] = %[[ZERO_24x40]], %[[Z:.*]] = %[[ZERO_24]]) : (tensor<24x40xf32>, tensor<24xf32>) {
// φ(k) [32, 24] = 2^(log2 e · min(k, 0)) + max(k, 0), and 0 of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_ALL:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[PHI_K:.*]] = tile.mask %[[PHI_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[PHI_K]], %[[V_TILE]], %[[S]] {transpose_a} : tensor<32x24xf32>, tensor<32x40xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[Z_SUM:.*]] = tile.reduce add %[[PHI_K]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z]], %[[Z_SUM]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// Query heads 2h and 2h + 1, tile after tile.
// CHECK-NEXT: tile.loop #tile.sum %[[MEMBER:.*]] = %[[C0]] to %[[C2]] step 1 {
// CHECK-NEXT:   %[[GROUP:.*]] = arith.muli %[[HEAD]], %[[C2]] : index
// CHECK-NEXT:   %[[Q_HEAD:.*]] = arith.addi %[[GROUP]], %[[MEMBER]] : index
// CHECK-NEXT:   %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT:   tile.loop #tile.sum %[[FIRST_QUERY:.*]] = %[[C0]] to %[[QUERIES]] step 32 {
// CHECK-NEXT:     %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[Q_HEAD]], %[[FIRST_QUERY]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:     %[[NEGATIVE:.*]] = arith.minimumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[PHI_Q:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// num = φ(q) S, den = φ(q) z
// CHECK-NEXT:     %[[NUM:.*]] = tile.dot %[[PHI_Q]], %[[STATE]]#0, %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[Z_ROWS:.*]] = tile.expand %[[STATE]]#1 axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:     %[[PHI_Z:.*]] = arith.mulf %[[PHI_Q]], %[[Z_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[DEN:.*]] = tile.reduce add %[[PHI_Z]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
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
