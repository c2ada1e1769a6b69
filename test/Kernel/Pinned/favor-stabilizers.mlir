// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// FAVOR+ with ε and the stabilizers "projection" and "none" (favor-key-maximum.mlir has "max", feature-maps.mlir "constant"), as kernels
// that store φ(k) [32, 16] for 32 keys per thread block (map-alone.mlir has a reader), in units of log 2, m = 16 and x' = √s x:
//
//     projection:  φ(k) = (2^(ω·k' − |k'|²/2 − c) + ε) / √m,   c the largest ω·k' of a head, over all its keys and features
//     none:        φ(k) = (2^(ω·k' − |k'|²/2) + ε) / √m        here with one ω a query head

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map_projection = #attn.feature_map<favor, features = 16, epsilon = 1.000000e-04, scale = 5.000000e-01, stabilizer = projection>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a_projection = tensor<?x4x?x16xf32>
!b_projection = tensor<?x2x?x16xf32>
!omega_projection = tensor<1x16x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
#map_none = #attn.feature_map<favor, features = 16, epsilon = 1.000000e-04, scale = 5.000000e-01, stabilizer = none>
!a_none = tensor<?x4x?x16xf32>
!b_none = tensor<?x4x?x16xf32>
!s_none = tensor<?x4x16x40xf32>
!z_none = tensor<?x4x16xf32>
!omega_none = tensor<4x16x24xf32>
func.func @projection(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %omega: !omega_projection {attn.name = "omega", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %c = attn.key_maximum %k parameter(%omega : !omega_projection) {feature_map = #map_projection} : !k -> tensor<?x2xf32>
  %a = attn.map %q parameter(%omega : !omega_projection) {feature_map = #map_projection} : !q -> !a_projection
  %b = attn.map %k parameter(%omega : !omega_projection) shift(%c : tensor<?x2xf32>) {execution = #attn.execution<values = materialized>, feature_map = #map_projection, keys}
      : !k -> !b_projection
  %pairs = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : !a_projection, !b_projection -> tensor<?x4x?x?xf32>
  %num = attn.contract %pairs[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value]
      : tensor<?x4x?x?xf32>, !v -> !num
  %den = attn.row_sum %pairs : tensor<?x4x?x?xf32> -> !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

func.func @none(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %omega: !omega_none {attn.name = "omega", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : !omega_none) {feature_map = #map_none} : !q -> !a_none
  %b = attn.map %k parameter(%omega : !omega_none) {execution = #attn.execution<values = materialized>, feature_map = #map_none, keys} : !k -> !b_none
  %s, %z = attn.state %b, %v : !b_none, !v -> !s_none, !z_none
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<values = fused>} : !a_none, !s_none, !z_none -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @projection(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>> {{{.*}}attune.name = "omega"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-NEXT: %[[KEY_BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[C:.*]] = tile.workspace(%[[KEY_BATCHES]]) : memref<?x2xf32>
// CHECK-NEXT: tile.launch @projection_2_key_maximum grid(%[[KEY_BATCHES]], %[[C2]]) (%[[K]], %[[OMEGA]], %[[C]])
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[PHI:.*]] = tile.workspace(%[[KEY_BATCHES]], %[[KEYS]]) : memref<?x2x?x16xf32>
// CHECK-NEXT: %[[KEY_TILES:.*]] = arith.ceildivui %[[KEYS]], %[[C32]] : index
// CHECK-NEXT: tile.launch @projection_features grid(%[[KEY_BATCHES]], %[[C2]], %[[KEY_TILES]]) (%[[K]], %[[OMEGA]], %[[C]], %[[PHI]])
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @projection_quadratic grid(%[[BATCHES]], %[[C4]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[V]], %[[OMEGA]], %[[O]], %[[PHI]])
// CHECK-NEXT: return

// CHECK-LABEL: func.func @none(

// CHECK-LABEL: tile.kernel @projection_2_key_maximum(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[C:[^:]*]]: memref<?x2xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[F1_02014_32x24:.*]] = arith.constant #tile.exact<1.0201394465967895> : tensor<32x24xf32>
// CHECK-DAG: %[[MINUS_INF_1:.*]] = arith.constant dense<0xFF800000> : tensor<1xf32>
// CHECK-DAG: %[[ZERO_1:.*]] = arith.constant dense<0.000000e+00> : tensor<1xf32>
// CHECK-DAG: %[[MINUS_INF_32:.*]] = arith.constant dense<0xFF800000> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// A maximum for each row of a tile [32], without |k'|²/2.
// CHECK-NEXT: %[[LARGEST:.*]] = tile.loop #tile.maximum %[[FIRST:.*]] = %[[C0]] to %[[KEYS]] step 32 carries(
// CHECK-SAME:     %[[SO_FAR:.*]] = %[[MINUS_INF_32]]) : (tensor<32xf32>) {
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[F1_02014_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT:   %[[ROW_MAX:.*]] = tile.reduce max %[[OMEGA_K]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[ROW_MAX_SEEN:.*]] = tile.mask %[[ROW_MAX]] fill 0xFF800000 rows(%[[KEYS_LEFT]]) : tensor<32xf32>
// CHECK-NEXT:   %[[NEXT:.*]] = arith.maximumf %[[SO_FAR]], %[[ROW_MAX_SEEN]] : tensor<32xf32>
// CHECK-NEXT:   tile.yield %[[NEXT]] : tensor<32xf32>
// CHECK-NEXT: }
// Over the rows: [1].
// CHECK-NEXT: %[[LARGEST_ROWS:.*]] = tile.expand %[[LARGEST]] axis 0 : tensor<32xf32> -> tensor<1x32xf32>
// CHECK-NEXT: %[[ONE:.*]] = tile.reduce max %[[LARGEST_ROWS]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// 0 where there is no key.
// CHECK-NEXT: %[[NONE:.*]] = arith.cmpf oeq, %[[ONE]], %[[MINUS_INF_1]] : tensor<1xf32>
// CHECK-NEXT: %[[ONE_OR_ZERO:.*]] = arith.select %[[NONE]], %[[ZERO_1]], %[[ONE]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT: tile.store %[[ONE_OR_ZERO]], %[[C]][%[[BATCH]], %[[HEAD]]] : tensor<1xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @projection_features(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[C:[^:]*]]: memref<?x2xf32>
// CHECK-SAME:  %[[PHI:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[EPSILON_32x16:.*]] = arith.constant #tile.exact<1.000000e-04> : tensor<32x16xf32>
// CHECK-DAG: %[[F0_25_32x16:.*]] = arith.constant dense<2.500000e-01> : tensor<32x16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[ONE_32x1:.*]] = arith.constant dense<1.000000e+00> : tensor<32x1xf32>
// CHECK-DAG: %[[ZERO_32x1:.*]] = arith.constant dense<0.000000e+00> : tensor<32x1xf32>
// CHECK-DAG: %[[F1_02014_32x24:.*]] = arith.constant #tile.exact<1.0201394465967895> : tensor<32x24xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[F1_02014_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT: %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT: %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT: %[[C_TILE:.*]] = tile.load %[[C]][%[[BATCH]], %[[HEAD]]] : {{.*}} -> tensor<1x1xf32>
// c in every row [32]: ones [32, 1] times c [1, 1]
// CHECK-NEXT: %[[C_ROWS:.*]] = tile.dot %[[ONE_32x1]], %[[C_TILE]], %[[ZERO_32x1]] precision f32 : {{.*}} -> tensor<32x1xf32>
// CHECK-NEXT: %[[C_32:.*]] = tile.reduce add %[[C_ROWS]] axis 1 : tensor<32x1xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[BELOW:.*]] = arith.addf %[[HALF_NORM]], %[[C_32]] : tensor<32xf32>
// CHECK-NEXT: %[[BELOW_COLS:.*]] = tile.expand %[[BELOW]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.subf %[[OMEGA_K]], %[[BELOW_COLS]] : tensor<32x16xf32>
// CHECK-NEXT: %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x16xf32>
// CHECK-NEXT: %[[WITH_EPSILON:.*]] = arith.addf %[[EXP]], %[[EPSILON_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: %[[PHI_K:.*]] = arith.mulf %[[WITH_EPSILON]], %[[F0_25_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: tile.store %[[PHI_K]], %[[PHI]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x16xf32>
// CHECK-NEXT: tile.return

// A reader of features.
// CHECK-LABEL: tile.kernel @projection_quadratic(

// CHECK-LABEL: tile.kernel @none_features(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<4x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[PHI:[^:]*]]: memref<?x4x?x16xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[EPSILON_32x16:.*]] = arith.constant #tile.exact<1.000000e-04> : tensor<32x16xf32>
// CHECK-DAG: %[[F0_25_32x16:.*]] = arith.constant dense<2.500000e-01> : tensor<32x16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[F1_02014_32x24:.*]] = arith.constant #tile.exact<1.0201394465967895> : tensor<32x24xf32>
// CHECK-DAG: %[[HALF_S_LOG2E_32:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<32xf32>
// Query heads 2h and 2h + 1 each have features of the keys of head h.
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[F1_02014_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT: %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x24xf32>
// CHECK-NEXT: %[[NORM_K:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[HALF_NORM:.*]] = arith.mulf %[[NORM_K]], %[[HALF_S_LOG2E_32]] : tensor<32xf32>
// CHECK-NEXT: %[[HALF_NORM_COLS:.*]] = tile.expand %[[HALF_NORM]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.subf %[[OMEGA_K]], %[[HALF_NORM_COLS]] : tensor<32x16xf32>
// CHECK-NEXT: %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x16xf32>
// CHECK-NEXT: %[[WITH_EPSILON:.*]] = arith.addf %[[EXP]], %[[EPSILON_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: %[[PHI_K:.*]] = arith.mulf %[[WITH_EPSILON]], %[[F0_25_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: tile.store %[[PHI_K]], %[[PHI]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x16xf32>
// CHECK-NEXT: tile.return

// A reader of features.
// CHECK-LABEL: tile.kernel @none_fused_state(
