// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Kernel attention with the focused map of power 8, not causal, of whose features logarithms are kept, since they span more than f32: φ(x)
// = (|y| / |y^8|) y^8 with y = (relu(x) + ε) / softplus(focus) is g 2^L with integers L. Every query head has its focus, so that keys are
// mapped for each. "features" stores L and g side by side [48] for 32 keys per thread block; "fused_state" reads them
// (map-alone-exponents-reader.mlir).

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<focused, epsilon = 1.000000e-06, power = 8.000000e+00>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a = tensor<?x4x?x24xf32>
!b = tensor<?x4x?x24xf32>
!s = tensor<?x4x24x40xf32>
!z = tensor<?x4x24xf32>
!focus = tensor<4x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @focused(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %focus: !focus {attn.name = "focus", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%focus : !focus) {feature_map = #map} : !q -> !a
  %b = attn.map %k parameter(%focus : !focus) {execution = #attn.execution<values = materialized>, feature_map = #map} : !k -> !b
  %s, %z = attn.state %b, %v : !b, !v -> !s, !z
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<values = fused>} : !a, !s, !z -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 1.000000e-06, floor = 2.000000e-03>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @focused(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[FOCUS:[^:]*]]: memref<4x24xf32, strided<[?, 1]>> {{{.*}}attune.name = "focus"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[LOGS:.*]] = tile.workspace(%[[BATCHES]], %[[KEYS]]) : memref<?x4x?x48xf32>
// CHECK-NEXT: %[[KEY_TILES:.*]] = arith.ceildivui %[[KEYS]], %[[C32]] : index
// CHECK-NEXT: tile.launch @focused_features grid(%[[BATCHES]], %[[C4]], %[[KEY_TILES]]) (%[[K]], %[[FOCUS]], %[[LOGS]])
// CHECK-NEXT: %[[QUERY_BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @focused_fused_state grid(%[[QUERY_BATCHES]], %[[C4]]) (%[[Q]], %[[V]], %[[FOCUS]], %[[O]], %[[LOGS]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @focused_features(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[FOCUS:[^:]*]]: memref<4x24xf32, strided<[?, 1]>>
// CHECK-SAME:  %[[LOGS:[^:]*]]: memref<?x4x?x48xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[LN2_24:.*]] = arith.constant #tile.exact<0.69314718055994529> : tensor<24xf32>
// CHECK-DAG: %[[MLOG2E_24:.*]] = arith.constant #tile.exact<-1.4426950408889634> : tensor<24xf32>
// CHECK-DAG: %[[ONE_24:.*]] = arith.constant dense<1.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[EPSILON_32x24:.*]] = arith.constant #tile.exact<9.9999999999999995E-7> : tensor<32x24xf32>
// CHECK-DAG: %[[F8_32x24:.*]] = arith.constant dense<8.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[TWO_TO_M126_32x24:.*]] = arith.constant dense<1.17549435E-38> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[TWO_TO_M126_32:.*]] = arith.constant dense<1.17549435E-38> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// 1 / softplus(focus) [24]: with y = e^−|f|, softplus(f) = max(f, 0) + log(1 + y), and log(1 + y) = log(1 + d) y / d
// for the d = (1 + y) − 1 that 1 + y keeps of y; y itself once d is 0.
// CHECK-NEXT: %[[FOCUS_TILE:.*]] = tile.load %[[FOCUS]][%[[HEAD]], %[[C0]]] : {{.*}} -> tensor<24xf32>
// CHECK-NEXT: %[[ABS:.*]] = math.absf %[[FOCUS_TILE]] : tensor<24xf32>
// CHECK-NEXT: %[[SMALL:.*]] = arith.mulf %[[ABS]], %[[MLOG2E_24]] : tensor<24xf32>
// CHECK-NEXT: %[[Y:.*]] = math.exp2 %[[SMALL]] : tensor<24xf32>
// CHECK-NEXT: %[[ONE_Y:.*]] = arith.addf %[[Y]], %[[ONE_24]] : tensor<24xf32>
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[ONE_Y]], %[[ONE_24]] : tensor<24xf32>
// CHECK-NEXT: %[[D_IS_ZERO:.*]] = arith.cmpf oeq, %[[D]], %[[ZERO_24]] : tensor<24xf32>
// CHECK-NEXT: %[[LOG2:.*]] = math.log2 %[[ONE_Y]] : tensor<24xf32>
// CHECK-NEXT: %[[LOG:.*]] = arith.mulf %[[LOG2]], %[[LN2_24]] : tensor<24xf32>
// CHECK-NEXT: %[[Y_D:.*]] = arith.divf %[[Y]], %[[D]] : tensor<24xf32>
// CHECK-NEXT: %[[LOG_EXACT:.*]] = arith.mulf %[[LOG]], %[[Y_D]] : tensor<24xf32>
// CHECK-NEXT: %[[LOG_1P:.*]] = arith.select %[[D_IS_ZERO]], %[[Y]], %[[LOG_EXACT]] : tensor<24xi1>, tensor<24xf32>
// CHECK-NEXT: %[[POSITIVE:.*]] = arith.maximumf %[[FOCUS_TILE]], %[[ZERO_24]] : tensor<24xf32>
// CHECK-NEXT: %[[SOFTPLUS:.*]] = arith.addf %[[POSITIVE]], %[[LOG_1P]] : tensor<24xf32>
// CHECK-NEXT: %[[INVERSE_FOCUS:.*]] = arith.divf %[[ONE_24]], %[[SOFTPLUS]] : tensor<24xf32>
// y [32, 24] = (relu(k) + ε) / softplus(focus), divided by its row's largest
// CHECK-NEXT: %[[K_POSITIVE:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[K_EPSILON:.*]] = arith.addf %[[K_POSITIVE]], %[[EPSILON_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[INVERSE_FOCUS_ROWS:.*]] = tile.expand %[[INVERSE_FOCUS]] axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[Y_ROW:.*]] = arith.mulf %[[K_EPSILON]], %[[INVERSE_FOCUS_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT: %[[Y_LARGEST:.*]] = tile.reduce max %[[Y_ROW]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[Y_LARGEST_COLS:.*]] = tile.expand %[[Y_LARGEST]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[Y_UNIT:.*]] = arith.divf %[[Y_ROW]], %[[Y_LARGEST_COLS]] : tensor<32x24xf32>
// y = f 2^e; y^8 = 2^(8 e + 8 log2 f), its exponent split into the integer L and what makes the mantissa g
// CHECK-NEXT: %[[Y_SAFE:.*]] = arith.maximumf %[[Y_UNIT]], %[[TWO_TO_M126_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[LOG_Y:.*]] = math.log2 %[[Y_SAFE]] : tensor<32x24xf32>
// CHECK-NEXT: %[[E:.*]] = math.roundeven %[[LOG_Y]] : tensor<32x24xf32>
// CHECK-NEXT: %[[NEG_E:.*]] = arith.negf %[[E]] : tensor<32x24xf32>
// CHECK-NEXT: %[[SHRINK:.*]] = math.exp2 %[[NEG_E]] : tensor<32x24xf32>
// CHECK-NEXT: %[[F:.*]] = arith.mulf %[[Y_SAFE]], %[[SHRINK]] : tensor<32x24xf32>
// CHECK-NEXT: %[[E8:.*]] = arith.mulf %[[E]], %[[F8_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[E8_ROUND:.*]] = math.roundeven %[[E8]] : tensor<32x24xf32>
// CHECK-NEXT: %[[LOG_F:.*]] = math.log2 %[[F]] : tensor<32x24xf32>
// CHECK-NEXT: %[[NEG_E8:.*]] = arith.negf %[[E8_ROUND]] : tensor<32x24xf32>
// CHECK-NEXT: %[[E8_REST:.*]] = math.fma %[[E]], %[[F8_32x24]], %[[NEG_E8]] : tensor<32x24xf32>
// CHECK-NEXT: %[[E_LOG_F:.*]] = arith.addf %[[E]], %[[LOG_F]] : tensor<32x24xf32>
// CHECK-NEXT: %[[REST_LOW:.*]] = math.fma %[[E_LOG_F]], %[[ZERO_32x24]], %[[E8_REST]] : tensor<32x24xf32>
// CHECK-NEXT: %[[REST:.*]] = math.fma %[[LOG_F]], %[[F8_32x24]], %[[REST_LOW]] : tensor<32x24xf32>
// CHECK-NEXT: %[[REST_ROUND:.*]] = math.roundeven %[[REST]] : tensor<32x24xf32>
// CHECK-NEXT: %[[L_Y:.*]] = arith.addf %[[E8_ROUND]], %[[REST_ROUND]] : tensor<32x24xf32>
// CHECK-NEXT: %[[G_LOG:.*]] = arith.subf %[[REST]], %[[REST_ROUND]] : tensor<32x24xf32>
// CHECK-NEXT: %[[G_Y:.*]] = math.exp2 %[[G_LOG]] : tensor<32x24xf32>
// times |y| / |y^8| times the largest of the row, split in the same way
// CHECK-NEXT: %[[Y_SQUARES:.*]] = arith.mulf %[[Y_UNIT]], %[[Y_UNIT]] : tensor<32x24xf32>
// CHECK-NEXT: %[[Y_SUM:.*]] = tile.reduce add %[[Y_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[Y_NORM:.*]] = math.sqrt %[[Y_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[POWER_L:.*]] = math.exp2 %[[L_Y]] : tensor<32x24xf32>
// CHECK-NEXT: %[[POWER:.*]] = arith.mulf %[[POWER_L]], %[[G_Y]] : tensor<32x24xf32>
// CHECK-NEXT: %[[P_SQUARES:.*]] = arith.mulf %[[POWER]], %[[POWER]] : tensor<32x24xf32>
// CHECK-NEXT: %[[P_SUM:.*]] = tile.reduce add %[[P_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[P_NORM:.*]] = math.sqrt %[[P_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[RATIO:.*]] = arith.divf %[[Y_NORM]], %[[P_NORM]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT:.*]] = arith.mulf %[[Y_LARGEST]], %[[RATIO]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT_SAFE:.*]] = arith.maximumf %[[UNIT]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LOG_UNIT:.*]] = math.log2 %[[UNIT_SAFE]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT_E:.*]] = math.roundeven %[[LOG_UNIT]] : tensor<32xf32>
// CHECK-NEXT: %[[NEG_UNIT_E:.*]] = arith.negf %[[UNIT_E]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT_SHRINK:.*]] = math.exp2 %[[NEG_UNIT_E]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT_F:.*]] = arith.mulf %[[UNIT_SAFE]], %[[UNIT_SHRINK]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT_E_COLS:.*]] = tile.expand %[[UNIT_E]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[L_K:.*]] = arith.addf %[[L_Y]], %[[UNIT_E_COLS]] : tensor<32x24xf32>
// CHECK-NEXT: %[[UNIT_F_COLS:.*]] = tile.expand %[[UNIT_F]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[G_K:.*]] = arith.mulf %[[G_Y]], %[[UNIT_F_COLS]] : tensor<32x24xf32>
// CHECK-NEXT: tile.store %[[L_K]], %[[LOGS]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x24xf32>
// CHECK-NEXT: tile.store %[[G_K]], %[[LOGS]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C24]]] : tensor<32x24xf32>
// CHECK-NEXT: tile.return

// Pinned in map-alone-exponents-reader.mlir.
// CHECK-LABEL: tile.kernel @focused_fused_state(
