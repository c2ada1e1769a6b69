// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Efficient attention, not causal: o_i = softmax_f(q_i) Σ_j softmax_j(k)_j v_j, the softmax of a query over its 24 features, that of keys
// over the tokens, for each feature. Three kernels: "state" carries the maximum M [24] of each feature over a piece of 2048 keys, z [24] =
// Σ 2^(log2 e · k − M) and S [24, 40] = Σ 2^(log2 e · k − M) vᵀ; "merge" merges the pieces in order and stores the means S / z, of which
// 2^M cancels; "readout" reads these, its S, for 32 queries per thread block.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
func.func @effatt(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %lengths: tensor<?xi32> {attn.name = "key_lengths"}) -> !o
    attributes {tile.schedule = #schedule} {
  %o = attn.effatt %q, %k, %v lengths(%lengths : tensor<?xi32>) : !q, !k, !v -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @effatt(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32> {{{.*}}attune.name = "key_lengths"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[S:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x2x24x40xf32>
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[PIECES:.*]] = arith.ceildivui %[[KEYS]], %[[C2048]] : index
// CHECK-NEXT: %[[M_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x24xf32>
// CHECK-NEXT: %[[Z_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x24xf32>
// CHECK-NEXT: %[[S_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x2x?x24x40xf32>
// CHECK-NEXT: tile.launch @effatt_state grid(%[[BATCHES]], %[[C2]], %[[PIECES]])
// CHECK-SAME:     (%[[K]], %[[V]], %[[LENGTHS]], %[[M_PIECES]], %[[Z_PIECES]], %[[S_PIECES]])
// CHECK-NEXT: tile.launch @effatt_merge grid(%[[BATCHES]], %[[C2]]) (%[[S]], %[[M_PIECES]], %[[Z_PIECES]], %[[S_PIECES]])
// CHECK-NEXT: %[[QUERY_BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @effatt_readout grid(%[[QUERY_BATCHES]], %[[C4]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[O]], %[[S]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @effatt_state(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?xi32>
// CHECK-SAME:  %[[M_PIECES:[^:]*]]: memref<?x2x?x24xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x24xf32>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x24x40xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[NO_LOGARITHM_24:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<24xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// The keys that exist: max(0, min(length, N)), those from 2048 piece up to the end of the piece.
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[PIECE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[LENGTH_I32:.*]] = memref.load %[[LENGTHS]][%[[BATCH]]] :
// CHECK-NEXT: %[[LENGTH:.*]] = arith.index_cast %[[LENGTH_I32]] : i32 to index
// CHECK-NEXT: %[[NOT_NEGATIVE:.*]] = arith.maxsi %[[LENGTH]], %[[C0]] : index
// CHECK-NEXT: %[[LIMIT:.*]] = arith.minsi %[[NOT_NEGATIVE]], %[[KEYS]] : index
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PIECE]], %[[C2048]] : index
// CHECK-NEXT: %[[PIECE_END_ALL:.*]] = arith.addi %[[BEGIN]], %[[C2048]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PIECE_END_ALL]], %[[LIMIT]] : index
// M starts at −1e30, z and S at 0.
// CHECK-NEXT: %[[STATE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST:.*]] = %[[BEGIN]] to %[[END]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[NO_LOGARITHM_24]], %[[Z:.*]] = %[[ZERO_24]], %[[S:.*]] = %[[ZERO_24x40]]) :
// CHECK-SAME:     (tensor<24xf32>, tensor<24xf32>, tensor<24x40xf32>) {
// L(k) [32, 24] = log2 e · k: −∞ of keys that do not exist
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[L_ALL:.*]] = arith.mulf %[[K_TILE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST]] : index
// CHECK-NEXT:   %[[L_K:.*]] = tile.mask %[[L_ALL]] fill 0xFF800000 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// M' = max(M, max_j L(k)), z and S times 2^(M − M')
// CHECK-NEXT:   %[[L_MAX:.*]] = tile.reduce max %[[L_K]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[L_MAX]] : tensor<24xf32>
// CHECK-NEXT:   %[[M_DROP:.*]] = arith.subf %[[M]], %[[M_NEXT]] : tensor<24xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = math.exp2 %[[M_DROP]] : tensor<24xf32>
// CHECK-NEXT:   %[[Z_SCALED:.*]] = arith.mulf %[[Z]], %[[FACTOR]] : tensor<24xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<24xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[S_SCALED:.*]] = arith.mulf %[[S]], %[[FACTOR_COLS]] : tensor<24x40xf32>
// b [32, 24] = 2^(L(k) − M')
// CHECK-NEXT:   %[[M_NEXT_ROWS:.*]] = tile.expand %[[M_NEXT]] axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[L_BELOW:.*]] = arith.subf %[[L_K]], %[[M_NEXT_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[B:.*]] = math.exp2 %[[L_BELOW]] : tensor<32x24xf32>
// z' = z 2^(M − M') + bᵀ 1, S' = S 2^(M − M') + bᵀ v
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[LIMIT]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[B_SUM:.*]] = tile.reduce add %[[B]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[B_SUM]] : tensor<24xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[B]], %[[V_TILE]], %[[S_SCALED]] {transpose_a} : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<24xf32>, tensor<24xf32>, tensor<24x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %[[STATE]]#0, %[[M_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<24xf32>
// CHECK-NEXT: tile.store %[[STATE]]#1, %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<24xf32>
// CHECK-NEXT: tile.store %[[STATE]]#2, %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<24x40xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @effatt_merge(
// CHECK-SAME:  %[[S_ALL:[^:]*]]: memref<?x2x24x40xf32>
// CHECK-SAME:  %[[M_PIECES:[^:]*]]: memref<?x2x?x24xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x24xf32>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x24x40xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[NO_LOGARITHM_24:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<24xf32>
// CHECK-DAG: %[[ONE_24:.*]] = arith.constant dense<1.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[MINUS_INFINITY_24:.*]] = arith.constant dense<0xFF800000> : tensor<24xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[PIECES:.*]] = memref.dim %[[M_PIECES]], %[[C2]] :
// CHECK-NEXT: %[[STATE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[PIECE:.*]] = %[[C0]] to %[[PIECES]] step 1 carries(
// CHECK-SAME:     %[[M:.*]] = %[[NO_LOGARITHM_24]], %[[Z:.*]] = %[[ZERO_24]], %[[S:.*]] = %[[ZERO_24x40]]) :
// CHECK-SAME:     (tensor<24xf32>, tensor<24xf32>, tensor<24x40xf32>) {
// CHECK-NEXT:   %[[M_PIECE:.*]] = tile.load %[[M_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : {{.*}} -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_PIECE:.*]] = tile.load %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : {{.*}} -> tensor<24xf32>
// CHECK-NEXT:   %[[S_PIECE:.*]] = tile.load %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<24x40xf32>
// M' = max of both; z and S of both, times 2^(their M − M'), are added; 2^(their M) where M' = −∞.
// CHECK-NEXT:   %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[M_PIECE]] : tensor<24xf32>
// CHECK-NEXT:   %[[EMPTY:.*]] = arith.cmpf oeq, %[[M_NEXT]], %[[MINUS_INFINITY_24]] : tensor<24xf32>
// CHECK-NEXT:   %[[SHIFT:.*]] = arith.select %[[EMPTY]], %[[ZERO_24]], %[[M_NEXT]] : tensor<24xi1>, tensor<24xf32>
// CHECK-NEXT:   %[[M_DROP:.*]] = arith.subf %[[M]], %[[SHIFT]] : tensor<24xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = math.exp2 %[[M_DROP]] : tensor<24xf32>
// CHECK-NEXT:   %[[PIECE_DROP:.*]] = arith.subf %[[M_PIECE]], %[[SHIFT]] : tensor<24xf32>
// CHECK-NEXT:   %[[PIECE_FACTOR:.*]] = math.exp2 %[[PIECE_DROP]] : tensor<24xf32>
// CHECK-NEXT:   %[[Z_SCALED:.*]] = arith.mulf %[[Z]], %[[FACTOR]] : tensor<24xf32>
// CHECK-NEXT:   %[[Z_PIECE_SCALED:.*]] = arith.mulf %[[Z_PIECE]], %[[PIECE_FACTOR]] : tensor<24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[Z_PIECE_SCALED]] : tensor<24xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<24xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[S_SCALED:.*]] = arith.mulf %[[S]], %[[FACTOR_COLS]] : tensor<24x40xf32>
// CHECK-NEXT:   %[[PIECE_FACTOR_COLS:.*]] = tile.expand %[[PIECE_FACTOR]] axis 1 : tensor<24xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[S_PIECE_SCALED:.*]] = arith.mulf %[[S_PIECE]], %[[PIECE_FACTOR_COLS]] : tensor<24x40xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = arith.addf %[[S_SCALED]], %[[S_PIECE_SCALED]] : tensor<24x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<24xf32>, tensor<24xf32>, tensor<24x40xf32>
// CHECK-NEXT: }
// S / z, 0 where z is 0: all that is stored
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_24]], %[[STATE]]#1 : tensor<24xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[STATE]]#1, %[[ZERO_24]] : tensor<24xf32>
// CHECK-NEXT: %[[DIVISOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_24]], %[[INVERSE]] : tensor<24xi1>, tensor<24xf32>
// CHECK-NEXT: %[[DIVISOR_COLS:.*]] = tile.expand %[[DIVISOR]] axis 1 : tensor<24xf32> -> tensor<24x40xf32>
// CHECK-NEXT: %[[NORMALIZED:.*]] = arith.mulf %[[STATE]]#2, %[[DIVISOR_COLS]] : tensor<24x40xf32>
// CHECK-NEXT: tile.store %[[NORMALIZED]], %[[S_ALL]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : tensor<24x40xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @effatt_readout(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x2x24x40xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C32]] : index
// a [32, 24] = 2^(log2 e · q − max_f)
// CHECK-NEXT: %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT: %[[L_Q:.*]] = arith.mulf %[[Q_TILE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[C:.*]] = tile.reduce max %[[L_Q]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[C_COLS:.*]] = tile.expand %[[C]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[OFFSET:.*]] = arith.subf %[[L_Q]], %[[C_COLS]] : tensor<32x24xf32>
// CHECK-NEXT: %[[A:.*]] = math.exp2 %[[OFFSET]] : tensor<32x24xf32>
// o = a S / (a 1)
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[S_TILE:.*]] = tile.load %[[S]][%[[BATCH]], %[[KV_HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT: %[[NUM:.*]] = tile.dot %[[A]], %[[S_TILE]], %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[DEN:.*]] = tile.reduce add %[[A]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT: tile.return
