// RUN: attn-opt %s -attn-to-tile=target=gpu -canonicalize -cse | FileCheck %s

// Causal kernel attention with φ = elu + 1, chunk by chunk, on a GPU with f16 storage, by pairs of
// queries and keys of a chunk, without states of the caller. Features underflow and weights overflow in f16, so that all operands of products are f32 and take TF32.

#schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f16, warps = 4, stages = 2>
#map = #attn.feature_map<elu1>
!q = tensor<?x4x?x24xf16>
!k = tensor<?x2x?x24xf16>
!v = tensor<?x2x?x40xf16>
!o = tensor<?x4x?x40xf16>
!a = tensor<?x4x?x24xf32>
!b = tensor<?x2x?x24xf32>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @chunked(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k {feature_map = #map} : !k -> !b
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v : !a, !b, !v -> !num, !den, !s, !z
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf16, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf16, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf16, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf16, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  attributes {attune.equal_lengths}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK:      %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @chunked_chunked grid(%[[BATCHES]], %[[C4]]) (%[[Q]], %[[K]], %[[V]], %[[O]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @chunked_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f16, warps = 4, stages = 2>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[LOG2E_32x24:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK:      %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TOKENS:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[STATE:.*]]:2 = tile.loop #tile.sum %[[FIRST:.*]] = %[[C0]] to %[[TOKENS]] step 32 carries(
// CHECK-SAME:     %[[S:.*]] = %[[ZERO_24x40]], %[[Z:.*]] = %[[ZERO_24]]) : (tensor<24x40xf32>, tensor<24xf32>) {
// What the state gives: num [32, 40] = φ(q) S, den [32] = φ(q) z
// CHECK-NEXT:   %[[Q_LOADED:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf16>
// CHECK-NEXT:   %[[Q_TILE:.*]] = arith.extf %[[Q_LOADED]] : tensor<32x24xf16> to tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE:.*]] = arith.minimumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT:.*]] = arith.mulf %[[NEGATIVE]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_Q:.*]] = arith.addf %[[EXP]], %[[POSITIVE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[FROM_S:.*]] = tile.dot %[[PHI_Q]], %[[S]], %[[ZERO_32x40]] precision tf32 : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[Z_ROWS:.*]] = tile.expand %[[Z]] axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_Z:.*]] = arith.mulf %[[PHI_Q]], %[[Z_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[FROM_Z:.*]] = tile.reduce add %[[PHI_Z]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// φ(k) [32, 24] = 2^(log2 e · min(k, 0)) + max(k, 0), and 0 of keys that do not exist
// CHECK-NEXT:   %[[K_LOADED:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf16>
// CHECK-NEXT:   %[[K_TILE:.*]] = arith.extf %[[K_LOADED]] : tensor<32x24xf16> to tensor<32x24xf32>
// CHECK-NEXT:   %[[NEGATIVE_2:.*]] = arith.minimumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXPONENT_2:.*]] = arith.mulf %[[NEGATIVE_2]], %[[LOG2E_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP_2:.*]] = math.exp2 %[[EXPONENT_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POSITIVE_2:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[PHI_ALL:.*]] = arith.addf %[[EXP_2]], %[[POSITIVE_2]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[PHI_K:.*]] = tile.mask %[[PHI_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// CHECK-NEXT:   %[[V_F16:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf16>
// Pairs of the chunk: w [32, 32] = φ(q) φ(k)ᵀ below the diagonal; num += w v, den += w 1
// CHECK-NEXT:   %[[PAIRS:.*]] = tile.dot %[[PHI_Q]], %[[PHI_K]], %[[ZERO_32x32]] precision tf32 {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:   %[[W:.*]] = tile.mask %[[PAIRS]] fill 0.000000e+00 diagonal(%[[C0]]) : tensor<32x32xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = arith.extf %[[V_F16]] : tensor<32x40xf16> to tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[FROM_S]] precision tf32 : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN:.*]] = arith.addf %[[ROW_SUM]], %[[FROM_Z]] : tensor<32xf32>
// CHECK-NEXT:   %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:   %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:   %[[OUT_F16:.*]] = arith.truncf %[[OUT]] : tensor<32x40xf32> to tensor<32x40xf16>
// CHECK-NEXT:   tile.store %[[OUT_F16]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf16>
// S += φ(k)ᵀ v, z += φ(k)ᵀ 1
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[PHI_K]], %[[V_TILE]], %[[S]] precision tf32 {transpose_a} : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT:   %[[Z_SUM:.*]] = tile.reduce add %[[PHI_K]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z]], %[[Z_SUM]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
