// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal FAVOR+ whose stabilizer cancels, chunk by chunk, in three parts of the sequence side by side: the kernel "chunked", after "state"
// (favor-chunked-split.mlir) has summed up the states (M, z, S) of three pieces of each part but the last. A thread block per (batch, query
// head, part) merges the states of the pieces before its part in their order, and then walks its chunks of 32 tokens as in
// favor-chunked-grouped.mlir, but with one query head: the tokens of a steady chunk go through S one after another, the key of each before its
// query. Sums of 2^(L(k) − M) up to each token, of which denominators come, go through z in the same way, a state of one row. Rising chunks have
// products of pairs.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1, parts = 3>
#map = #attn.feature_map<favor, features = 16, epsilon = 0.000000e+00, scale = 2.500000e-01, stabilizer = constant>
func.func @split(%q: tensor<?x4x4096x24xf32>, %k: tensor<?x2x4096x24xf32>, %v: tensor<?x2x4096x40xf32>,
    %omega: tensor<1x16x24xf32> {attn.name = "omega", attn.parameter}) -> tensor<?x4x4096x40xf32> attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : tensor<1x16x24xf32>) {feature_map = #map} : tensor<?x4x4096x24xf32> -> tensor<?x4x4096x16xf32>
  %b = attn.map %k parameter(%omega : tensor<1x16x24xf32>) {feature_map = #map, keys} : tensor<?x2x4096x24xf32> -> tensor<?x2x4096x16xf32>
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v {execution = #attn.execution<split = true>}
      : tensor<?x4x4096x16xf32>, tensor<?x2x4096x16xf32>, tensor<?x2x4096x40xf32>
      -> tensor<?x4x4096x40xf32>, tensor<?x4x4096xf32>, tensor<?x2x16x40xf32>, tensor<?x2x16xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>}
      : tensor<?x4x4096x40xf32>, tensor<?x4x4096xf32> -> tensor<?x4x4096x40xf32>
  return %o : tensor<?x4x4096x40xf32>
}

// CHECK-LABEL: tile.kernel @split_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[M_PIECES:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x16x40xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1, parts = 3>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG: %[[C288:.*]] = arith.constant 288 : index
// CHECK-DAG: %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG: %[[F60_16:.*]] = arith.constant dense<6.000000e+01> : tensor<16xf32>
// CHECK-DAG: %[[NO_LOGARITHM_16:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<16xf32>
// CHECK-DAG: %[[MINUS_INFINITY_16:.*]] = arith.constant dense<0xFF800000> : tensor<16xf32>
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
// CHECK-DAG: %[[ONE_32x1:.*]] = arith.constant dense<1.000000e+00> : tensor<32x1xf32>
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
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[PART:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[CHUNKS:.*]] = arith.ceildivui %[[KEYS]], %[[C288]] : index
// CHECK-NEXT: %[[PART_LENGTH:.*]] = arith.muli %[[CHUNKS]], %[[C96]] : index
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PART]], %[[PART_LENGTH]] : index
// CHECK-NEXT: %[[PART_END_ALL:.*]] = arith.addi %[[BEGIN]], %[[PART_LENGTH]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PART_END_ALL]], %[[KEYS]] : index
// The state of the pieces before it.
// CHECK-NEXT: %[[PIECES_BEFORE:.*]] = arith.muli %[[PART]], %[[C3]] : index
// The tokens of the part.
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[BEFORE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[BEFORE_PIECE:.*]] = %[[C0]] to %[[PIECES_BEFORE]] step 1 carries(
// CHECK-SAME:     %[[M:.*]] = %[[NO_LOGARITHM_16]], %[[Z:.*]] = %[[ZERO_16]], %[[S:.*]] = %[[ZERO_16x40]]) :
// CHECK-SAME:     (tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>) {
// CHECK-NEXT:   %[[M_PIECE:.*]] = tile.load %[[M_PIECES]][%[[BATCH]], %[[KV_HEAD]], %[[BEFORE_PIECE]], %[[C0]]] : {{.*}} -> tensor<16xf32>
// CHECK-NEXT:   %[[Z_PIECE:.*]] = tile.load %[[Z_PIECES]][%[[BATCH]], %[[KV_HEAD]], %[[BEFORE_PIECE]], %[[C0]]] : {{.*}} -> tensor<16xf32>
// CHECK-NEXT:   %[[S_PIECE:.*]] = tile.load %[[S_PIECES]][%[[BATCH]], %[[KV_HEAD]], %[[BEFORE_PIECE]], %[[C0]], %[[C0]]]
// CHECK-SAME:       -> tensor<16x40xf32>
// CHECK-NEXT:   %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[M_PIECE]] : tensor<16xf32>
// CHECK-NEXT:   %[[EMPTY:.*]] = arith.cmpf oeq, %[[M_NEXT]], %[[MINUS_INFINITY_16]] : tensor<16xf32>
// CHECK-NEXT:   %[[SHIFT:.*]] = arith.select %[[EMPTY]], %[[ZERO_16]], %[[M_NEXT]] : tensor<16xi1>, tensor<16xf32>
// CHECK-NEXT:   %[[M_DROP:.*]] = arith.subf %[[M]], %[[SHIFT]] : tensor<16xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = math.exp2 %[[M_DROP]] : tensor<16xf32>
// CHECK-NEXT:   %[[PIECE_DROP:.*]] = arith.subf %[[M_PIECE]], %[[SHIFT]] : tensor<16xf32>
// CHECK-NEXT:   %[[PIECE_FACTOR:.*]] = math.exp2 %[[PIECE_DROP]] : tensor<16xf32>
// CHECK-NEXT:   %[[Z_SCALED:.*]] = arith.mulf %[[Z]], %[[FACTOR]] : tensor<16xf32>
// CHECK-NEXT:   %[[Z_PIECE_SCALED:.*]] = arith.mulf %[[Z_PIECE]], %[[PIECE_FACTOR]] : tensor<16xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[Z_PIECE_SCALED]] : tensor<16xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<16xf32> -> tensor<16x40xf32>
// CHECK-NEXT:   %[[S_SCALED:.*]] = arith.mulf %[[S]], %[[FACTOR_COLS]] : tensor<16x40xf32>
// CHECK-NEXT:   %[[PIECE_FACTOR_COLS:.*]] = tile.expand %[[PIECE_FACTOR]] axis 1 : tensor<16xf32> -> tensor<16x40xf32>
// CHECK-NEXT:   %[[S_PIECE_SCALED:.*]] = arith.mulf %[[S_PIECE]], %[[PIECE_FACTOR_COLS]] : tensor<16x40xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = arith.addf %[[S_SCALED]], %[[S_PIECE_SCALED]] : tensor<16x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// The chunks of the part.
// CHECK-NEXT: %[[STATE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST:.*]] = %[[BEGIN]] to %[[END]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[BEFORE]]#0, %[[Z:.*]] = %[[BEFORE]]#1, %[[S:.*]] = %[[BEFORE]]#2) :
// CHECK-SAME:     (tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>) {
// L(k) [32, 16] = log2 e (⟨ω, k'⟩ − |k'|²/2): −∞ of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM_COLS:.*]] = tile.expand %[[HALF_NORM]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[L_ALL:.*]] = arith.subf %[[OMEGA_K]], %[[HALF_NORM_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[L_K:.*]] = tile.mask %[[L_ALL]] fill 0xFF800000 rows(%[[KEYS_LEFT]]) : tensor<32x16xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[L_Q:.*]] = tile.dot %[[Q_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// RISES = 1 if some max_j L(k) is above M + 60, else 0.
// CHECK-NEXT:   %[[BOUND:.*]] = arith.addf %[[M]], %[[F60_16]] : tensor<16xf32>
// CHECK-NEXT:   %[[L_MAX:.*]] = tile.reduce max %[[L_K]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:   %[[EXCESS:.*]] = arith.subf %[[L_MAX]], %[[BOUND]] : tensor<16xf32>
// CHECK-NEXT:   %[[RISES:.*]] = tile.any %[[EXCESS]] : tensor<16xf32>
// The steady branch runs if RISES = 0.
// CHECK-NEXT:   %[[STEADY:.*]]:2 = tile.loop #tile.sum %[[STEP:.*]] = %[[RISES]] to %[[C1]] step 1 carries(
// CHECK-SAME:       %[[Z_IN:.*]] = %[[Z]], %[[S_IN:.*]] = %[[S]]) : (tensor<16xf32>, tensor<16x40xf32>) {
// t = L(q) + M, c = max_f t, a = 2^(t − c) [32, 16]; b [32, 16] = 2^(L(k) − M)
// CHECK-NEXT:     %[[M_ROWS:.*]] = tile.expand %[[M]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[T:.*]] = arith.addf %[[L_Q]], %[[M_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[C:.*]] = tile.reduce max %[[T]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[C_COLS:.*]] = tile.expand %[[C]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:     %[[OFFSET:.*]] = arith.subf %[[T]], %[[C_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[A:.*]] = math.exp2 %[[OFFSET]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[L_BELOW:.*]] = arith.subf %[[L_K]], %[[M_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[B:.*]] = math.exp2 %[[L_BELOW]] : tensor<32x16xf32>
// Sums up to each token, token by token: z [1, 16] += 1 b_tᵀ, Σ_t [16] = 1 z
// CHECK-NEXT:     %[[Z_IN_ROW:.*]] = tile.expand %[[Z_IN]] axis 0 : tensor<16xf32> -> tensor<1x16xf32>
// CHECK-NEXT:     %[[Z_UP_TO:.*]], %[[Z_ROW_NEXT:.*]] = tile.scan %[[ONE_32x1]], %[[ONE_32x1]], %[[B]], %[[Z_IN_ROW]], %[[ZERO_32x16]] : tensor<32x1xf32>, tensor<32x16xf32>, tensor<1x16xf32>
// CHECK-NEXT:     %[[Z_NEXT:.*]] = tile.reduce add %[[Z_ROW_NEXT]] axis 0 : tensor<1x16xf32> -> tensor<16xf32>
// den_t = a_t Σ_t
// CHECK-NEXT:     %[[A_Z:.*]] = arith.mulf %[[A]], %[[Z_UP_TO]] : tensor<32x16xf32>
// CHECK-NEXT:     %[[DEN:.*]] = tile.reduce add %[[A_Z]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// In the same way S += b_t v_tᵀ, num_t [40] = a_t S
// CHECK-NEXT:     %[[NUM:.*]], %[[S_NEXT:.*]] = tile.scan %[[A]], %[[B]], %[[V_TILE]], %[[S_IN]], %[[ZERO_32x40]] : tensor<32x16xf32>, tensor<32x40xf32>, tensor<16x40xf32>
// CHECK-NEXT:     %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.yield %[[Z_NEXT]], %[[S_NEXT]] : tensor<16xf32>, tensor<16x40xf32>
// CHECK-NEXT:   }
// The branch of rising keys runs if RISES = 1.
// CHECK-NEXT:   %[[RISEN:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[STEP:.*]] = %[[C0]] to %[[RISES]] step 1 carries(
// CHECK-SAME:       %[[M_IN:.*]] = %[[M]], %[[Z_IN:.*]] = %[[STEADY]]#0, %[[S_IN:.*]] = %[[STEADY]]#1) :
// CHECK-SAME:       (tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>) {
// CHECK-NEXT:     %[[M_NEXT:.*]] = arith.maximumf %[[M_IN]], %[[L_MAX]] : tensor<16xf32>
// t = L(q) + M: its largest is a lower bound of c.
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
// num = a S + w v and den = w 1 + a z with a = 2^(t − c)
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
// CHECK-NEXT:     tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:     %[[M_DROP:.*]] = arith.subf %[[M_IN]], %[[M_NEXT]] : tensor<16xf32>
// CHECK-NEXT:     %[[FACTOR_2:.*]] = math.exp2 %[[M_DROP]] : tensor<16xf32>
// CHECK-NEXT:     %[[Z_SCALED:.*]] = arith.mulf %[[Z_IN]], %[[FACTOR_2]] : tensor<16xf32>
// CHECK-NEXT:     %[[FACTOR_2_COLS:.*]] = tile.expand %[[FACTOR_2]] axis 1 : tensor<16xf32> -> tensor<16x40xf32>
// CHECK-NEXT:     %[[S_SCALED:.*]] = arith.mulf %[[S_IN]], %[[FACTOR_2_COLS]] : tensor<16x40xf32>
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
