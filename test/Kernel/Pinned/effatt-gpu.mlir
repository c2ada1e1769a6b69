// RUN: attn-opt %s -attn-to-tile=target=gpu -canonicalize -cse | FileCheck %s

// Efficient attention, not causal, on a GPU with f16 storage, as effatt.mlir on a CPU: exponentials stay f32, and products take TF32.

#schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f16, warps = 4, stages = 2>
!q = tensor<?x4x?x24xf16>
!k = tensor<?x2x?x24xf16>
!v = tensor<?x2x?x40xf16>
!o = tensor<?x4x?x40xf16>
func.func @effatt(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !o
    attributes {tile.schedule = #schedule} {
  %o = attn.effatt %q, %k, %v : !q, !k, !v -> !o
  return %o : !o
}

// CHECK-LABEL: tile.kernel @effatt_state(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[M_PIECES:[^:]*]]: memref<?x2x?x24xf32>
// CHECK-SAME:  %[[Z_PIECES:[^:]*]]: memref<?x2x?x24xf32>
// CHECK-SAME:  %[[S_PIECES:[^:]*]]: memref<?x2x?x24x40xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f16, warps = 4, stages = 2>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[NO_LOGARITHM_24:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<24xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[PIECE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PIECE]], %[[C2048]] : index
// CHECK-NEXT: %[[PIECE_END_ALL:.*]] = arith.addi %[[BEGIN]], %[[C2048]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PIECE_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT: %[[STATE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST:.*]] = %[[BEGIN]] to %[[END]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[NO_LOGARITHM_24]], %[[Z:.*]] = %[[ZERO_24]], %[[S:.*]] = %[[ZERO_24x40]]) :
// CHECK-SAME:     (tensor<24xf32>, tensor<24xf32>, tensor<24x40xf32>) {
// L(k) [32, 24] = log2 e · k: −∞ of keys that do not exist
// CHECK-NEXT:   %[[K_F16:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf16>
// CHECK-NEXT:   %[[K_TILE:.*]] = arith.extf %[[K_F16]] : tensor<32x24xf16> to tensor<32x24xf32>
// CHECK-NEXT:   %[[L_ALL:.*]] = arith.mulf %[[K_TILE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
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
// CHECK-NEXT:   %[[V_F16:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf16>
// CHECK-NEXT:   %[[V_TILE:.*]] = arith.extf %[[V_F16]] : tensor<32x40xf16> to tensor<32x40xf32>
// CHECK-NEXT:   %[[B_SUM:.*]] = tile.reduce add %[[B]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[B_SUM]] : tensor<24xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[B]], %[[V_TILE]], %[[S_SCALED]] precision tf32 {transpose_a} : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<24xf32>, tensor<24xf32>, tensor<24x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.store %[[STATE]]#0, %[[M_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<24xf32>
// CHECK-NEXT: tile.store %[[STATE]]#1, %[[Z_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<24xf32>
// CHECK-NEXT: tile.store %[[STATE]]#2, %[[S_PIECES]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<24x40xf32>
// CHECK-NEXT: tile.return

// As in effatt.mlir: the states are f32.
// CHECK-LABEL: tile.kernel @effatt_merge(

// CHECK-LABEL: tile.kernel @effatt_readout(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x2x24x40xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f16, warps = 4, stages = 2>}
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
// a [32, 24] = 2^(L(q) − max_f L(q)) with L(q) = log2 e · q
// CHECK-NEXT: %[[Q_F16:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf16>
// CHECK-NEXT: %[[Q_TILE:.*]] = arith.extf %[[Q_F16]] : tensor<32x24xf16> to tensor<32x24xf32>
// CHECK-NEXT: %[[L_Q:.*]] = arith.mulf %[[Q_TILE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[C:.*]] = tile.reduce max %[[L_Q]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[C_COLS:.*]] = tile.expand %[[C]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[OFFSET:.*]] = arith.subf %[[L_Q]], %[[C_COLS]] : tensor<32x24xf32>
// CHECK-NEXT: %[[A:.*]] = math.exp2 %[[OFFSET]] : tensor<32x24xf32>
// o = a S / (a 1): a over its row sum is the softmax of q, and effatt_merge has stored S / z
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[S_TILE:.*]] = tile.load %[[S]][%[[BATCH]], %[[KV_HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT: %[[NUM:.*]] = tile.dot %[[A]], %[[S_TILE]], %[[ZERO_32x40]] precision tf32 : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[DEN:.*]] = tile.reduce add %[[A]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: %[[OUT_F16:.*]] = arith.truncf %[[OUT]] : tensor<32x40xf32> to tensor<32x40xf16>
// CHECK-NEXT: tile.store %[[OUT_F16]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf16>
// CHECK-NEXT: tile.return
