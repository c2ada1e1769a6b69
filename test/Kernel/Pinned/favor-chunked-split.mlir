// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal FAVOR+ whose stabilizer cancels, chunk by chunk, in three parts of the sequence side by side. A part has equally many whole chunks
// of 32 tokens, ⌈N / 288⌉ · 96 tokens, and is cut into three pieces. "state" sums up the state (M, z, S) of each piece of all parts but the
// last, one thread block per (batch, key-value head, piece). "chunked" then has a thread block per (batch, query head, part)
// (favor-chunked-split-chunks.mlir).

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1, parts = 3>
#map = #attn.feature_map<favor, features = 16, epsilon = 0.000000e+00, scale = 2.500000e-01, stabilizer = constant>
func.func @split(%q: tensor<?x4x?x24xf32>, %k: tensor<?x2x?x24xf32>, %v: tensor<?x2x?x40xf32>,
    %omega: tensor<1x16x24xf32> {attn.name = "omega", attn.parameter}) -> tensor<?x4x?x40xf32> attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : tensor<1x16x24xf32>) {feature_map = #map} : tensor<?x4x?x24xf32> -> tensor<?x4x?x16xf32>
  %b = attn.map %k parameter(%omega : tensor<1x16x24xf32>) {feature_map = #map, keys} : tensor<?x2x?x24xf32> -> tensor<?x2x?x16xf32>
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v {execution = #attn.execution<split = true>}
      : tensor<?x4x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x40xf32>
      -> tensor<?x4x?x40xf32>, tensor<?x4x?xf32>, tensor<?x2x16x40xf32>, tensor<?x2x16xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>}
      : tensor<?x4x?x40xf32>, tensor<?x4x?xf32> -> tensor<?x4x?x40xf32>
  return %o : tensor<?x4x?x40xf32>
}

// CHECK-LABEL: func.func @split(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "omega"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG: %[[C288:.*]] = arith.constant 288 : index
// Parts of ⌈N / 288⌉ · 96 tokens; three pieces of each but the last.
// CHECK:      %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[THIRDS:.*]] = arith.ceildivui %[[KEYS]], %[[C288]] : index
// CHECK-NEXT: %[[PART_ALL:.*]] = arith.muli %[[THIRDS]], %[[C96]] : index
// CHECK-NEXT: %[[PART:.*]] = arith.maxsi %[[PART_ALL]], %[[C1]] : index
// CHECK-NEXT: %[[PARTS:.*]] = arith.ceildivui %[[KEYS]], %[[PART]] : index
// CHECK-NEXT: %[[PARTS_LEAST:.*]] = arith.maxsi %[[PARTS]], %[[C1]] : index
// CHECK-NEXT: %[[PARTS_BEFORE:.*]] = arith.subi %[[PARTS_LEAST]], %[[C1]] : index
// CHECK-NEXT: %[[PIECES:.*]] = arith.muli %[[PARTS_BEFORE]], %[[C3]] : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[Z_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x16xf32>
// CHECK-NEXT: %[[M_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x16xf32>
// CHECK-NEXT: %[[S_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x16x40xf32>
// CHECK-NEXT: %[[PIECES_AGAIN:.*]] = memref.dim %[[S_PIECES]], %[[C2]] :
// CHECK-NEXT: tile.launch @split_state grid(%[[BATCHES]], %[[C2]], %[[PIECES_AGAIN]])
// CHECK-SAME:     (%[[K]], %[[V]], %[[OMEGA]], %[[S_PIECES]], %[[M_PIECES]], %[[Z_PIECES]])
// CHECK-NEXT: %[[QUERY_BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @split_chunked grid(%[[QUERY_BATCHES]], %[[C4]], %[[PARTS]])
// CHECK-SAME:     (%[[Q]], %[[K]], %[[V]], %[[OMEGA]], %[[O]], %[[M_PIECES]], %[[Z_PIECES]], %[[S_PIECES]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @split_state(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x16x40xf32>
// CHECK-SAME:  %[[M_PIECES:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1, parts = 3>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C288:.*]] = arith.constant 288 : index
// CHECK-DAG: %[[ZERO_16x40:.*]] = arith.constant dense<0.000000e+00> : tensor<16x40xf32>
// CHECK-DAG: %[[NO_LOGARITHM_16:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<16xf32>
// CHECK-DAG: %[[ZERO_16:.*]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[ROOT_S_LOG2E_32x24:.*]] = arith.constant #tile.exact<0.72134752044448169> : tensor<32x24xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.18033688011112042> : tensor<32xf32>
// The keys of the piece: ⌈N / 288⌉ chunks.
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[PIECE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[CHUNKS:.*]] = arith.ceildivui %[[KEYS]], %[[C288]] : index
// CHECK-NEXT: %[[PIECE_LENGTH:.*]] = arith.muli %[[CHUNKS]], %[[C32]] : index
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PIECE]], %[[PIECE_LENGTH]] : index
// CHECK-NEXT: %[[PIECE_END_ALL:.*]] = arith.addi %[[BEGIN]], %[[PIECE_LENGTH]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PIECE_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// M starts at −1e30, z and S at 0.
// CHECK-NEXT: %[[STATE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST:.*]] = %[[BEGIN]] to %[[END]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[NO_LOGARITHM_16]], %[[Z:.*]] = %[[ZERO_16]], %[[S:.*]] = %[[ZERO_16x40]]) :
// CHECK-SAME:     (tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>) {
// L(k) [32, 16] = log2 e (⟨ω, k'⟩ − |k'|²/2): −∞ of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[ROOT_S_LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[HALF_NORM_COLS:.*]] = tile.expand %[[HALF_NORM]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[L_ALL:.*]] = arith.subf %[[OMEGA_K]], %[[HALF_NORM_COLS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[L_K:.*]] = tile.mask %[[L_ALL]] fill 0xFF800000 rows(%[[KEYS_LEFT]]) : tensor<32x16xf32>
// M' = max(M, max_j L(k)), z and S times 2^(M − M')
// CHECK-NEXT:   %[[L_MAX:.*]] = tile.reduce max %[[L_K]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:   %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[L_MAX]] : tensor<16xf32>
// CHECK-NEXT:   %[[M_DROP:.*]] = arith.subf %[[M]], %[[M_NEXT]] : tensor<16xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = math.exp2 %[[M_DROP]] : tensor<16xf32>
// CHECK-NEXT:   %[[Z_SCALED:.*]] = arith.mulf %[[Z]], %[[FACTOR]] : tensor<16xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<16xf32> -> tensor<16x40xf32>
// CHECK-NEXT:   %[[S_SCALED:.*]] = arith.mulf %[[S]], %[[FACTOR_COLS]] : tensor<16x40xf32>
// b [32, 16] = 2^(L(k) − M')
// CHECK-NEXT:   %[[M_NEXT_ROWS:.*]] = tile.expand %[[M_NEXT]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT:   %[[L_BELOW:.*]] = arith.subf %[[L_K]], %[[M_NEXT_ROWS]] : tensor<32x16xf32>
// CHECK-NEXT:   %[[B:.*]] = math.exp2 %[[L_BELOW]] : tensor<32x16xf32>
// z' = z 2^(M − M') + bᵀ 1, S' = S 2^(M − M') + bᵀ v
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[B_SUM:.*]] = tile.reduce add %[[B]] axis 0 : tensor<32x16xf32> -> tensor<16xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[B_SUM]] : tensor<16xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[B]], %[[V_TILE]], %[[S_SCALED]] {transpose_a} : {{.*}} -> tensor<16x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<16xf32>, tensor<16xf32>, tensor<16x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %[[STATE]]#0, %[[M_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<16xf32>
// CHECK-NEXT: tile.store %[[STATE]]#1, %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<16xf32>
// CHECK-NEXT: tile.store %[[STATE]]#2, %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<16x40xf32>
// CHECK-NEXT: tile.return

// Pinned in favor-chunked-split-chunks.mlir.
// CHECK-LABEL: tile.kernel @split_chunked(
