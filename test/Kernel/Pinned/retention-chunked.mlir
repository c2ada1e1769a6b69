// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Retention, chunk by chunk: causal kernel attention with φ(q) = s q and φ(k) = k, that nothing divides, and whose state decays by e^g a key:
//
//     o_i = Σ_{j ≤ i} e^(g (i − j)) ⟨s q_i, k_j⟩ v_j
//
// One program for each (batch, query head) walks the chunks of 32 tokens and carries S [24, 40] alone: without a denominator nobody reads z. Only keys
// that exist decay the state, so that the last chunk decays it by as many as it has.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<identity, scale = 5.000000e-01>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
!den = tensor<?x4x?xf32>
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
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
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
// CHECK-NEXT: %[[STATE:.*]] = tile.loop #tile.affine<transition = vector> %[[FIRST:.*]] = %[[C0]] to %[[TOKENS]] step 32 carries(%[[S:.*]] = %[[ZERO_24x40]]) : (tensor<24x40xf32>) {
// p_t [32]: how many of the keys of the chunk exist up to token t; g log2 e, of which 2^ is e^g
// CHECK-NEXT:   %[[G_LOG2:.*]] = arith.mulf %[[G]], %[[LOG2E]] : tensor<1xf32>
// CHECK-NEXT:   %[[COUNTED:.*]] = tile.iota %[[C1]] : tensor<32xf32>
// CHECK-NEXT:   %[[LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[EXISTING:.*]] = arith.maxsi %[[LEFT]], %[[C0]] : index
// CHECK-NEXT:   %[[EXISTING_1:.*]] = tile.iota %[[EXISTING]] : tensor<1xf32>
// CHECK-NEXT:   %[[EXISTING_ROW:.*]] = tile.expand %[[EXISTING_1]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:   %[[EXISTING_ROWS:.*]] = tile.reduce add %[[EXISTING_ROW]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[P:.*]] = arith.minimumf %[[COUNTED]], %[[EXISTING_ROWS]] : tensor<32xf32>
// CHECK-NEXT:   %[[G_ROW:.*]] = tile.expand %[[G_LOG2]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:   %[[G_ROWS:.*]] = tile.reduce add %[[G_ROW]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// What the state gives: φ(q) = s q times e^(g p_i), times S
// CHECK-NEXT:   %[[SINCE_LOG2:.*]] = arith.mulf %[[P]], %[[G_ROWS]] : tensor<32xf32>
// CHECK-NEXT:   %[[SINCE:.*]] = math.exp2 %[[SINCE_LOG2]] : tensor<32xf32>
// CHECK-NEXT:   %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[A:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[SINCE_COLS:.*]] = tile.expand %[[SINCE]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[A_SINCE:.*]] = arith.mulf %[[A]], %[[SINCE_COLS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[FROM_S:.*]] = tile.dot %[[A_SINCE]], %[[S]], %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[B:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// Pairs of the chunk: w [32, 32] = ⟨φ(q_i), k_j⟩ e^(g (p_i − p_j)) on and below the diagonal, else 0; o += w v. Above it p_i − p_j counts as 0: with
// g ≤ 0 no exponent is above 0, and none overflows before the mask.
// CHECK-NEXT:   %[[P_I:.*]] = tile.expand %[[P]] axis 1 : tensor<32xf32> -> tensor<32x32xf32>
// CHECK-NEXT:   %[[P_J:.*]] = tile.expand %[[P]] axis 0 : tensor<32xf32> -> tensor<32x32xf32>
// CHECK-NEXT:   %[[DIFFERENCE:.*]] = arith.subf %[[P_I]], %[[P_J]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[BETWEEN:.*]] = arith.maximumf %[[DIFFERENCE]], %[[ZERO_32x32]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[G_PAIRS:.*]] = tile.expand %[[G_ROWS]] axis 1 : tensor<32xf32> -> tensor<32x32xf32>
// CHECK-NEXT:   %[[PAIRS_LOG2:.*]] = arith.mulf %[[BETWEEN]], %[[G_PAIRS]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[FACTORS:.*]] = math.exp2 %[[PAIRS_LOG2]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[PAIRS:.*]] = tile.dot %[[A]], %[[B]], %[[ZERO_32x32]] {transpose_b} : tensor<32x24xf32>, tensor<32x24xf32> -> tensor<32x32xf32>
// CHECK-NEXT:   %[[DECAYED:.*]] = arith.mulf %[[PAIRS]], %[[FACTORS]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[W:.*]] = tile.mask %[[DECAYED]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:   %[[OUT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[FROM_S]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// S = e^(g c) S + Σ_j e^(g (c − p_j)) k_j v_jᵀ for the c keys of the chunk that exist
// CHECK-NEXT:   %[[IN_CHUNK:.*]] = arith.minsi %[[EXISTING]], %[[C32]] : index
// CHECK-NEXT:   %[[IN_CHUNK_1:.*]] = tile.iota %[[IN_CHUNK]] : tensor<1xf32>
// CHECK-NEXT:   %[[IN_CHUNK_ROW:.*]] = tile.expand %[[IN_CHUNK_1]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:   %[[IN_CHUNK_ROWS:.*]] = tile.reduce add %[[IN_CHUNK_ROW]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[AFTER:.*]] = arith.subf %[[IN_CHUNK_ROWS]], %[[P]] : tensor<32xf32>
// CHECK-NEXT:   %[[UNTIL_LOG2:.*]] = arith.mulf %[[AFTER]], %[[G_ROWS]] : tensor<32xf32>
// CHECK-NEXT:   %[[UNTIL:.*]] = math.exp2 %[[UNTIL_LOG2]] : tensor<32xf32>
// CHECK-NEXT:   %[[UNTIL_COLS:.*]] = tile.expand %[[UNTIL]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[B_UNTIL:.*]] = arith.mulf %[[B]], %[[UNTIL_COLS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[ALL_ROW:.*]] = tile.expand %[[IN_CHUNK_1]] axis 1 : tensor<1xf32> -> tensor<1x24xf32>
// CHECK-NEXT:   %[[ALL:.*]] = tile.reduce add %[[ALL_ROW]] axis 0 : tensor<1x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[G_ROW_24:.*]] = tile.expand %[[G_LOG2]] axis 1 : tensor<1xf32> -> tensor<1x24xf32>
// CHECK-NEXT:   %[[G_24:.*]] = tile.reduce add %[[G_ROW_24]] axis 0 : tensor<1x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[WHOLE_LOG2:.*]] = arith.mulf %[[ALL]], %[[G_24]] : tensor<24xf32>
// CHECK-NEXT:   %[[WHOLE:.*]] = math.exp2 %[[WHOLE_LOG2]] : tensor<24xf32>
// CHECK-NEXT:   %[[WHOLE_COLS:.*]] = tile.expand %[[WHOLE]] axis 1 : tensor<24xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[S_KEPT:.*]] = arith.mulf %[[S]], %[[WHOLE_COLS]] : tensor<24x40xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[B_UNTIL]], %[[V_TILE]], %[[S_KEPT]] {transpose_a} : tensor<32x24xf32>, tensor<32x40xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]] : tensor<24x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
