// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// The feature maps that no other file pins, as kernels that store φ(k) for 32 keys per thread block (map-alone.mlir has the host function
// and a reader):
//
//     focused, power 3:   φ(x) = (|y| / |y³|) y³,  y = (relu(x) + ε) / softplus(focus)                     one focus a query head
//     favor, constant:    φ(x) = (2^(ω·x' − |x'|²/2 − c) + ε) / √m,  c = max_f |ω_f|²/2 in units of log 2   x' = √s x, m = 16
//     favor_relu:         φ(x) = relu(ω·x') + ε

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map_focused = #attn.feature_map<focused, epsilon = 1.000000e-06, power = 3.000000e+00>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a_focused = tensor<?x4x?x24xf32>
!b_focused = tensor<?x4x?x24xf32>
!s_focused = tensor<?x4x24x40xf32>
!z_focused = tensor<?x4x24xf32>
!focus_focused = tensor<4x24xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
#map_favor = #attn.feature_map<favor, features = 16, epsilon = 1.000000e-04, scale = 5.000000e-01, stabilizer = constant>
!a_favor = tensor<?x4x?x16xf32>
!b_favor = tensor<?x2x?x16xf32>
!s_favor = tensor<?x2x16x40xf32>
!z_favor = tensor<?x2x16xf32>
!omega_favor = tensor<1x16x24xf32>
#map_favor_relu = #attn.feature_map<favor_relu, features = 16, epsilon = 1.000000e-03, scale = 2.500000e-01>
!a_favor_relu = tensor<?x4x?x16xf32>
!b_favor_relu = tensor<?x2x?x16xf32>
!s_favor_relu = tensor<?x2x16x40xf32>
!z_favor_relu = tensor<?x2x16xf32>
!omega_favor_relu = tensor<1x16x24xf32>
func.func @focused(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %focus: !focus_focused {attn.name = "focus", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%focus : !focus_focused) {feature_map = #map_focused} : !q -> !a_focused
  %b = attn.map %k parameter(%focus : !focus_focused) {execution = #attn.execution<values = materialized>, feature_map = #map_focused} : !k -> !b_focused
  %s, %z = attn.state %b, %v : !b_focused, !v -> !s_focused, !z_focused
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<values = fused>} : !a_focused, !s_focused, !z_focused -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

func.func @favor(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %omega: !omega_favor {attn.name = "omega", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : !omega_favor) {feature_map = #map_favor} : !q -> !a_favor
  %b = attn.map %k parameter(%omega : !omega_favor) {execution = #attn.execution<values = materialized>, feature_map = #map_favor, keys} : !k -> !b_favor
  %s, %z = attn.state %b, %v : !b_favor, !v -> !s_favor, !z_favor
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<values = fused>} : !a_favor, !s_favor, !z_favor -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

func.func @favor_relu(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %omega: !omega_favor_relu {attn.name = "omega", attn.parameter}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q parameter(%omega : !omega_favor_relu) {feature_map = #map_favor_relu} : !q -> !a_favor_relu
  %b = attn.map %k parameter(%omega : !omega_favor_relu) {execution = #attn.execution<values = materialized>, feature_map = #map_favor_relu} : !k -> !b_favor_relu
  %s, %z = attn.state %b, %v : !b_favor_relu, !v -> !s_favor_relu, !z_favor_relu
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<values = fused>} : !a_favor_relu, !s_favor_relu, !z_favor_relu -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: tile.kernel @focused_features(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[FOCUS:[^:]*]]: memref<4x24xf32, strided<[?, 1]>>
// CHECK-SAME:  %[[PHI:[^:]*]]: memref<?x4x?x24xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[LN2_24:.*]] = arith.constant #tile.exact<0.69314718055994529> : tensor<24xf32>
// CHECK-DAG: %[[MLOG2E_24:.*]] = arith.constant #tile.exact<-1.4426950408889634> : tensor<24xf32>
// CHECK-DAG: %[[ONE_24:.*]] = arith.constant dense<1.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[EPSILON_32x24:.*]] = arith.constant #tile.exact<9.9999999999999995E-7> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[TWO_TO_18_32:.*]] = arith.constant dense<2.621440e+05> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M18_32:.*]] = arith.constant dense<3.81469727E-6> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M60_32:.*]] = arith.constant dense<8.67361737E-19> : tensor<32xf32>
// Query heads 2h and 2h + 1 each have features of the keys of head h.
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
// y [32, 24]
// CHECK-NEXT: %[[POSITIVE_K:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[WITH_EPSILON:.*]] = arith.addf %[[POSITIVE_K]], %[[EPSILON_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[INVERSE_FOCUS_ROWS:.*]] = tile.expand %[[INVERSE_FOCUS]] axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[Y_K:.*]] = arith.mulf %[[WITH_EPSILON]], %[[INVERSE_FOCUS_ROWS]] : tensor<32x24xf32>
// y times 2^18 / its row's largest, so that powers stay in the normal range
// CHECK-NEXT: %[[Y_LARGEST:.*]] = tile.reduce max %[[Y_K]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[Y_SAFE:.*]] = arith.maximumf %[[Y_LARGEST]], %[[TWO_TO_M60_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LIFT:.*]] = arith.divf %[[TWO_TO_18_32]], %[[Y_SAFE]] : tensor<32xf32>
// CHECK-NEXT: %[[LIFT_COLS:.*]] = tile.expand %[[LIFT]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[Y_UNIT:.*]] = arith.mulf %[[Y_K]], %[[LIFT_COLS]] : tensor<32x24xf32>
// CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[Y_UNIT]], %[[Y_UNIT]] : tensor<32x24xf32>
// CHECK-NEXT: %[[CUBE:.*]] = arith.mulf %[[Y_UNIT]], %[[SQUARE]] : tensor<32x24xf32>
// times |y| / |y³| times what the division took
// CHECK-NEXT: %[[UNIT:.*]] = arith.mulf %[[Y_SAFE]], %[[TWO_TO_M18_32]] : tensor<32xf32>
// CHECK-NEXT: %[[SQUARE_SUM:.*]] = tile.reduce add %[[SQUARE]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[Y_NORM:.*]] = math.sqrt %[[SQUARE_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[CUBE_SQUARE:.*]] = arith.mulf %[[CUBE]], %[[CUBE]] : tensor<32x24xf32>
// CHECK-NEXT: %[[CUBE_SUM:.*]] = tile.reduce add %[[CUBE_SQUARE]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[CUBE_NORM:.*]] = math.sqrt %[[CUBE_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[RATIO:.*]] = arith.divf %[[Y_NORM]], %[[CUBE_NORM]] : tensor<32xf32>
// CHECK-NEXT: %[[SCALE:.*]] = arith.mulf %[[UNIT]], %[[RATIO]] : tensor<32xf32>
// CHECK-NEXT: %[[SCALE_COLS:.*]] = tile.expand %[[SCALE]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT: %[[PHI_K:.*]] = arith.mulf %[[CUBE]], %[[SCALE_COLS]] : tensor<32x24xf32>
// CHECK-NEXT: tile.store %[[PHI_K]], %[[PHI]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x24xf32>
// CHECK-NEXT: tile.return

// A reader of features, as in map-alone.mlir.
// CHECK-LABEL: tile.kernel @focused_fused_state(

// CHECK-LABEL: tile.kernel @favor_features(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[PHI:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[HALF_LOG2E_16:.*]] = arith.constant #tile.exact<0.72134752044448169> : tensor<16xf32>
// CHECK-DAG: %[[EPSILON_32x16:.*]] = arith.constant #tile.exact<1.000000e-04> : tensor<32x16xf32>
// CHECK-DAG: %[[F0_25_32x16:.*]] = arith.constant dense<2.500000e-01> : tensor<32x16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
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
// |ω|²/2 [16] in units of log 2
// CHECK-NEXT: %[[OMEGA_SQUARES:.*]] = arith.mulf %[[OMEGAS]], %[[OMEGAS]] : tensor<16x24xf32>
// CHECK-NEXT: %[[OMEGA_SUM:.*]] = tile.reduce add %[[OMEGA_SQUARES]] axis 1 : tensor<16x24xf32> -> tensor<16xf32>
// CHECK-NEXT: %[[OMEGA_HALF:.*]] = arith.mulf %[[OMEGA_SUM]], %[[HALF_LOG2E_16]] : tensor<16xf32>
// c [32], the same in every row
// CHECK-NEXT: %[[OMEGA_HALF_ROWS:.*]] = tile.expand %[[OMEGA_HALF]] axis 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %[[C:.*]] = tile.reduce max %[[OMEGA_HALF_ROWS]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[BELOW:.*]] = arith.addf %[[HALF_NORM]], %[[C]] : tensor<32xf32>
// CHECK-NEXT: %[[BELOW_COLS:.*]] = tile.expand %[[BELOW]] axis 1 : tensor<32xf32> -> tensor<32x16xf32>
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.subf %[[OMEGA_K]], %[[BELOW_COLS]] : tensor<32x16xf32>
// CHECK-NEXT: %[[EXP:.*]] = math.exp2 %[[EXPONENT]] : tensor<32x16xf32>
// CHECK-NEXT: %[[WITH_EPSILON:.*]] = arith.addf %[[EXP]], %[[EPSILON_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: %[[PHI_K:.*]] = arith.mulf %[[WITH_EPSILON]], %[[F0_25_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: tile.store %[[PHI_K]], %[[PHI]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x16xf32>
// CHECK-NEXT: tile.return

// A reader of features, as in map-alone.mlir.
// CHECK-LABEL: tile.kernel @favor_fused_state(

// CHECK-LABEL: tile.kernel @favor_relu_features(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[OMEGA:[^:]*]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:  %[[PHI:[^:]*]]: memref<?x2x?x16xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[EPSILON_32x16:.*]] = arith.constant #tile.exact<1.000000e-03> : tensor<32x16xf32>
// CHECK-DAG: %[[ZERO_32x16:.*]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
// CHECK-DAG: %[[F0_5_32x24:.*]] = arith.constant dense<5.000000e-01> : tensor<32x24xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id key_piece
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT: %[[OMEGAS:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<16x24xf32>
// CHECK-NEXT: %[[K_SCALED:.*]] = arith.mulf %[[K_TILE]], %[[F0_5_32x24]] : tensor<32x24xf32>
// CHECK-NEXT: %[[OMEGA_K:.*]] = tile.dot %[[K_SCALED]], %[[OMEGAS]], %[[ZERO_32x16]] precision f32 {transpose_b} : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT: %[[RELU:.*]] = arith.maximumf %[[OMEGA_K]], %[[ZERO_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: %[[PHI_K:.*]] = arith.addf %[[RELU]], %[[EPSILON_32x16]] : tensor<32x16xf32>
// CHECK-NEXT: tile.store %[[PHI_K]], %[[PHI]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x16xf32>
// CHECK-NEXT: tile.return

// A reader of features, as in map-alone.mlir.
// CHECK-LABEL: tile.kernel @favor_relu_fused_state(
