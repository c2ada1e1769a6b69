// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Retention, chunk by chunk: causal kernel attention with φ(q) = s q and φ(k) = k, that nothing divides, and whose state decays by e^g a key:
//
//     o_i = Σ_{j ≤ i} e^(g (i − j)) ⟨s q_i, k_j⟩ v_j
//
// One program for each (batch, query head) walks the chunks of 32 tokens and carries S [24, 40] alone: without a denominator nobody reads z. Only keys
// that exist decay the state, so that the last chunk decays it by as many as it has.
//
// The tokens of a chunk go through S one after another: the key of each enters S, which its query then reads. Two loops of at most one step are the
// branches of a chunk. Usually keys are taken as what is left of them at its end, S decays once, by the whole chunk, and queries make up for it. If
// a chunk decays something to less than 2^-60 these factors could leave the range of f32, and S decays at each token.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<identity, scale = 5.000000e-01>
!q = tensor<?x4x4096x24xf32>
!k = tensor<?x2x4096x24xf32>
!v = tensor<?x2x4096x40xf32>
!o = tensor<?x4x4096x40xf32>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
!den = tensor<?x4x4096xf32>
func.func @retention(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %g: tensor<2xf32> {attn.name = "log_decay", attn.parameter}) -> !o attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !q
  %b = attn.map %k {feature_map = #map, keys} : !k -> !k
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v decay(%g : tensor<2xf32>) : !q, !k, !v -> !o, !den, !s, !z
  %o = attn.normalize %num {guard = #attn.denominator<none>} : !o -> !o
  return %o : !o
}

// CHECK-LABEL: tile.kernel @retention_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LOG_DECAY:[^:]*]]: memref<2xf32>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[F60_32:.*]] = arith.constant dense<6.000000e+01> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<5.000000e-01> : tensor<32x24xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<1xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TOKENS:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[G:.*]] = tile.load %[[LOG_DECAY]][%[[KV_HEAD]]] : memref<2xf32> -> tensor<1xf32>
// CHECK-NEXT: %[[STATE:.*]] = tile.loop #tile.sequential %[[FIRST:.*]] = %[[C0]] to %[[TOKENS]] step 32 carries(%[[S:.*]] = %[[ZERO_24x40]]) : (tensor<24x40xf32>) {
// φ(q) = s q; keys and values of tokens that do not exist are 0
// CHECK-NEXT:   %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[A:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[B:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// d_t [32] = (c − p_t) g log2 e, of which 2^ is what is left of key t at the chunk's end: of the c keys of the chunk that exist p_t are there up to t
// CHECK-NEXT:   %[[G_LOG2:.*]] = arith.mulf %[[G]], %[[LOG2E]] : tensor<1xf32>
// CHECK-NEXT:   %[[LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[EXISTING:.*]] = arith.maxsi %[[LEFT]], %[[C0]] : index
// CHECK-NEXT:   %[[IN_CHUNK:.*]] = arith.minsi %[[EXISTING]], %[[C32]] : index
// CHECK-NEXT:   %[[IN_CHUNK_1:.*]] = tile.iota %[[IN_CHUNK]] : tensor<1xf32>
// CHECK-NEXT:   %[[IN_CHUNK_ROW:.*]] = tile.expand %[[IN_CHUNK_1]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:   %[[IN_CHUNK_ROWS:.*]] = tile.reduce add %[[IN_CHUNK_ROW]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[COUNTED:.*]] = tile.iota %[[C1]] : tensor<32xf32>
// CHECK-NEXT:   %[[EXISTING_1:.*]] = tile.iota %[[EXISTING]] : tensor<1xf32>
// CHECK-NEXT:   %[[EXISTING_ROW:.*]] = tile.expand %[[EXISTING_1]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:   %[[EXISTING_ROWS:.*]] = tile.reduce add %[[EXISTING_ROW]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[P:.*]] = arith.minimumf %[[COUNTED]], %[[EXISTING_ROWS]] : tensor<32xf32>
// CHECK-NEXT:   %[[AFTER:.*]] = arith.subf %[[IN_CHUNK_ROWS]], %[[P]] : tensor<32xf32>
// CHECK-NEXT:   %[[G_ROW:.*]] = tile.expand %[[G_LOG2]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:   %[[G_ROWS:.*]] = tile.reduce add %[[G_ROW]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[D:.*]] = arith.mulf %[[AFTER]], %[[G_ROWS]] : tensor<32xf32>
// c g log2 e [24], the same of every row of S
// CHECK-NEXT:   %[[ALL_ROW:.*]] = tile.expand %[[IN_CHUNK_1]] axis 1 : tensor<1xf32> -> tensor<1x24xf32>
// CHECK-NEXT:   %[[ALL:.*]] = tile.reduce add %[[ALL_ROW]] axis 0 : tensor<1x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[G_ROW_24:.*]] = tile.expand %[[G_LOG2]] axis 1 : tensor<1xf32> -> tensor<1x24xf32>
// CHECK-NEXT:   %[[G_24:.*]] = tile.reduce add %[[G_ROW_24]] axis 0 : tensor<1x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[WHOLE_LOG2:.*]] = arith.mulf %[[ALL]], %[[G_24]] : tensor<24xf32>
// What each token decays S by: g log2 e, or 0 of those that do not exist, up to which as many exist as before them
// CHECK-NEXT:   %[[COUNTED_BEFORE:.*]] = tile.iota %[[C0]] : tensor<32xf32>
// CHECK-NEXT:   %[[P_BEFORE:.*]] = arith.minimumf %[[COUNTED_BEFORE]], %[[EXISTING_ROWS]] : tensor<32xf32>
// CHECK-NEXT:   %[[OWN:.*]] = arith.subf %[[P]], %[[P_BEFORE]] : tensor<32xf32>
// CHECK-NEXT:   %[[OWN_LOG2:.*]] = arith.mulf %[[OWN]], %[[G_ROWS]] : tensor<32xf32>
// k_t 2^(d_t) and s q_t 2^(−d_t)
// CHECK-NEXT:   %[[DOWN:.*]] = math.exp2 %[[D]] : tensor<32xf32>
// CHECK-NEXT:   %[[MINUS_D:.*]] = arith.subf %[[ZERO_32]], %[[D]] : tensor<32xf32>
// CHECK-NEXT:   %[[UP:.*]] = math.exp2 %[[MINUS_D]] : tensor<32xf32>
// CHECK-NEXT:   %[[WHOLE:.*]] = math.exp2 %[[WHOLE_LOG2]] : tensor<24xf32>
// CHECK-NEXT:   %[[DOWN_COLS:.*]] = tile.expand %[[DOWN]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[B_DOWN:.*]] = arith.mulf %[[B]], %[[DOWN_COLS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[UP_COLS:.*]] = tile.expand %[[UP]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[A_UP:.*]] = arith.mulf %[[A]], %[[UP_COLS]] : tensor<32x24xf32>
// RARE = 1 if some |d_t| is above 60, else 0.
// CHECK-NEXT:   %[[SPAN:.*]] = math.absf %[[D]] : tensor<32xf32>
// CHECK-NEXT:   %[[EXCESS:.*]] = arith.subf %[[SPAN]], %[[F60_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[RARE:.*]] = tile.any %[[EXCESS]] : tensor<32xf32>
// If RARE = 0: S = e^(g c) S, then token by token S += k_t 2^(d_t) v_tᵀ, o_t = s q_t 2^(−d_t) S
// CHECK-NEXT:   %[[USUAL:.*]]:2 = tile.loop #tile.sequential %{{.*}} = %[[RARE]] to %[[C1]] step 1 carries(
// CHECK-SAME:       %{{.*}} = %[[ZERO_32x40]], %[[S_IN:.*]] = %[[S]]) : (tensor<32x40xf32>, tensor<24x40xf32>) {
// CHECK-NEXT:     %[[OUT:.*]], %[[S_NEXT:.*]] = tile.scan %[[A_UP]], %[[B_DOWN]], %[[V_TILE]], %[[S_IN]], %[[ZERO_32x40]] decay %[[WHOLE]] : tensor<32x24xf32>, tensor<32x40xf32>, tensor<24x40xf32> decay tensor<24xf32>
// CHECK-NEXT:     tile.yield %[[OUT]], %[[S_NEXT]] : tensor<32x40xf32>, tensor<24x40xf32>
// CHECK-NEXT:   }
// If RARE = 1: token by token S = e^g S, S += k_t v_tᵀ, o_t = s q_t S
// CHECK-NEXT:   %[[ALWAYS:.*]]:2 = tile.loop #tile.sequential %{{.*}} = %[[C0]] to %[[RARE]] step 1 carries(
// CHECK-SAME:       %{{.*}} = %[[USUAL]]#0, %[[S_IN:.*]] = %[[USUAL]]#1) : (tensor<32x40xf32>, tensor<24x40xf32>) {
// CHECK-NEXT:     %[[FACTOR:.*]] = math.exp2 %[[OWN_LOG2]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTORS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:     %[[OUT:.*]], %[[S_NEXT:.*]] = tile.scan %[[A]], %[[B]], %[[V_TILE]], %[[S_IN]], %[[ZERO_32x40]] decay %[[FACTORS]] : tensor<32x24xf32>, tensor<32x40xf32>, tensor<24x40xf32> decay tensor<32x24xf32>
// CHECK-NEXT:     tile.yield %[[OUT]], %[[S_NEXT]] : tensor<32x40xf32>, tensor<24x40xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.store %[[ALWAYS]]#0, %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.yield %[[ALWAYS]]#1 : tensor<24x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
