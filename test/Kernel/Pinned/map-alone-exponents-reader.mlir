// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Kernel attention with the focused map of power 8, not causal, of whose features φ = g 2^L logarithms are kept: the kernel that reads L
// and g of the keys, which map-alone-exponents.mlir stores side by side [48]. One thread block per (batch, query head) carries M [24], the
// largest L of each feature, z [24] = Σ g 2^(L − M) and S [24, 40] = Σ g 2^(L − M) vᵀ, then maps the queries and reads the state:
//
//     o_i = num / max(den + 10⁻⁶, 0.002),    num = φ(q) S,  den = φ(q) z       relative to 2^c, the row's unit

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

// CHECK-LABEL: tile.kernel @focused_fused_state(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[FOCUS:[^:]*]]: memref<4x24xf32, strided<[?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LOGS:[^:]*]]: memref<?x4x?x48xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[LN2_24:.*]] = arith.constant #tile.exact<0.69314718055994529> : tensor<24xf32>
// CHECK-DAG: %[[MLOG2E_24:.*]] = arith.constant #tile.exact<-1.4426950408889634> : tensor<24xf32>
// CHECK-DAG: %[[NO_LOGARITHM_24:.*]] = arith.constant #tile.exact<-1.000000e+30> : tensor<24xf32>
// CHECK-DAG: %[[ONE_24:.*]] = arith.constant dense<1.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[EPSILON_32x24:.*]] = arith.constant #tile.exact<9.9999999999999995E-7> : tensor<32x24xf32>
// CHECK-DAG: %[[F8_32x24:.*]] = arith.constant dense<8.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[TWO_TO_M126_32x24:.*]] = arith.constant dense<1.17549435E-38> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[BIAS_F_32:.*]] = arith.constant #tile.exact<5.242880e-01> : tensor<32xf32>
// CHECK-DAG: %[[FLOOR_F_32:.*]] = arith.constant #tile.exact<5.120000e-01> : tensor<32xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[MF105_32:.*]] = arith.constant dense<-1.050000e+02> : tensor<32xf32>
// CHECK-DAG: %[[MF19_32:.*]] = arith.constant dense<-1.900000e+01> : tensor<32xf32>
// CHECK-DAG: %[[MF8_32:.*]] = arith.constant dense<-8.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M126_32:.*]] = arith.constant dense<1.17549435E-38> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
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
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[LOGS]], %[[C2]] :
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// M starts at −1e30, z and S at 0.
// CHECK-NEXT: %[[STATE:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST:.*]] = %[[C0]] to %[[KEYS]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[NO_LOGARITHM_24]], %[[Z:.*]] = %[[ZERO_24]], %[[S:.*]] = %[[ZERO_24x40]]) :
// CHECK-SAME:     (tensor<24xf32>, tensor<24xf32>, tensor<24x40xf32>) {
// L [32, 24]: −∞ of keys that do not exist; g [32, 24]
// CHECK-NEXT:   %[[L_ALL:.*]] = tile.load %[[LOGS]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[G_K:.*]] = tile.load %[[LOGS]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C24]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[L_K:.*]] = tile.mask %[[L_ALL]] fill 0xFF800000 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// M' = max(M, max_j L), z and S times 2^(M − M')
// CHECK-NEXT:   %[[L_MAX:.*]] = tile.reduce max %[[L_K]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[L_MAX]] : tensor<24xf32>
// CHECK-NEXT:   %[[M_DROP:.*]] = arith.subf %[[M]], %[[M_NEXT]] : tensor<24xf32>
// CHECK-NEXT:   %[[SCALE:.*]] = math.exp2 %[[M_DROP]] : tensor<24xf32>
// CHECK-NEXT:   %[[Z_SCALED:.*]] = arith.mulf %[[Z]], %[[SCALE]] : tensor<24xf32>
// CHECK-NEXT:   %[[SCALE_COLS:.*]] = tile.expand %[[SCALE]] axis 1 : tensor<24xf32> -> tensor<24x40xf32>
// CHECK-NEXT:   %[[S_SCALED:.*]] = arith.mulf %[[S]], %[[SCALE_COLS]] : tensor<24x40xf32>
// b [32, 24] = g 2^(L − M')
// CHECK-NEXT:   %[[M_NEXT_ROWS:.*]] = tile.expand %[[M_NEXT]] axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[L_BELOW:.*]] = arith.subf %[[L_K]], %[[M_NEXT_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[L_BELOW]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[B:.*]] = arith.mulf %[[EXP]], %[[G_K]] : tensor<32x24xf32>
// z' = z 2^(M − M') + bᵀ 1, S' = S 2^(M − M') + bᵀ v
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[B_SUM:.*]] = tile.reduce add %[[B]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_NEXT:.*]] = arith.addf %[[Z_SCALED]], %[[B_SUM]] : tensor<24xf32>
// CHECK-NEXT:   %[[S_NEXT:.*]] = tile.dot %[[B]], %[[V_TILE]], %[[S_SCALED]] {transpose_a} : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[Z_NEXT]], %[[S_NEXT]] : tensor<24xf32>, tensor<24xf32>, tensor<24x40xf32>
// CHECK-NEXT: }
// CHECK-NEXT: tile.loop #tile.sum %[[FIRST_QUERY:.*]] = %[[C0]] to %[[QUERIES]] step 32 {
// y [32, 24] = (relu(q) + ε) / softplus(focus), divided by its row's largest
// CHECK-NEXT:   %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[Q_POSITIVE:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[Q_EPSILON:.*]] = arith.addf %[[Q_POSITIVE]], %[[EPSILON_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[INVERSE_FOCUS_ROWS:.*]] = tile.expand %[[INVERSE_FOCUS]] axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[Y_ROW:.*]] = arith.mulf %[[Q_EPSILON]], %[[INVERSE_FOCUS_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[Y_LARGEST:.*]] = tile.reduce max %[[Y_ROW]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[Y_LARGEST_COLS:.*]] = tile.expand %[[Y_LARGEST]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[Y_UNIT:.*]] = arith.divf %[[Y_ROW]], %[[Y_LARGEST_COLS]] : tensor<32x24xf32>
// y = f 2^e; y^8 = 2^(8 e + 8 log2 f), its exponent split into the integer L and what makes the mantissa g
// CHECK-NEXT:   %[[Y_SAFE:.*]] = arith.maximumf %[[Y_UNIT]], %[[TWO_TO_M126_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[LOG_Y:.*]] = math.log2 %[[Y_SAFE]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[E:.*]] = math.roundeven %[[LOG_Y]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NEG_E:.*]] = arith.negf %[[E]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[SHRINK:.*]] = math.exp2 %[[NEG_E]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[F:.*]] = arith.mulf %[[Y_SAFE]], %[[SHRINK]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[E8:.*]] = arith.mulf %[[E]], %[[F8_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[E8_ROUND:.*]] = math.roundeven %[[E8]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[LOG_F:.*]] = math.log2 %[[F]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[NEG_E8:.*]] = arith.negf %[[E8_ROUND]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[E8_REST:.*]] = math.fma %[[E]], %[[F8_32x24]], %[[NEG_E8]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[E_LOG_F:.*]] = arith.addf %[[E]], %[[LOG_F]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[REST_LOW:.*]] = math.fma %[[E_LOG_F]], %[[ZERO_32x24]], %[[E8_REST]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[REST:.*]] = math.fma %[[LOG_F]], %[[F8_32x24]], %[[REST_LOW]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[REST_ROUND:.*]] = math.roundeven %[[REST]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[L_Y:.*]] = arith.addf %[[E8_ROUND]], %[[REST_ROUND]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[G_LOG:.*]] = arith.subf %[[REST]], %[[REST_ROUND]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[G_Y:.*]] = math.exp2 %[[G_LOG]] : tensor<32x24xf32>
// times |y| / |y^8| times the largest of the row, split in the same way
// CHECK-NEXT:   %[[Y_SQUARES:.*]] = arith.mulf %[[Y_UNIT]], %[[Y_UNIT]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[Y_SUM:.*]] = tile.reduce add %[[Y_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[Y_NORM:.*]] = math.sqrt %[[Y_SUM]] : tensor<32xf32>
// CHECK-NEXT:   %[[POWER_L:.*]] = math.exp2 %[[L_Y]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[POWER:.*]] = arith.mulf %[[POWER_L]], %[[G_Y]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[P_SQUARES:.*]] = arith.mulf %[[POWER]], %[[POWER]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[P_SUM:.*]] = tile.reduce add %[[P_SQUARES]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[P_NORM:.*]] = math.sqrt %[[P_SUM]] : tensor<32xf32>
// CHECK-NEXT:   %[[RATIO:.*]] = arith.divf %[[Y_NORM]], %[[P_NORM]] : tensor<32xf32>
// CHECK-NEXT:   %[[UNIT:.*]] = arith.mulf %[[Y_LARGEST]], %[[RATIO]] : tensor<32xf32>
// CHECK-NEXT:   %[[UNIT_SAFE:.*]] = arith.maximumf %[[UNIT]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[LOG_UNIT:.*]] = math.log2 %[[UNIT_SAFE]] : tensor<32xf32>
// CHECK-NEXT:   %[[UNIT_E:.*]] = math.roundeven %[[LOG_UNIT]] : tensor<32xf32>
// CHECK-NEXT:   %[[NEG_UNIT_E:.*]] = arith.negf %[[UNIT_E]] : tensor<32xf32>
// CHECK-NEXT:   %[[UNIT_SHRINK:.*]] = math.exp2 %[[NEG_UNIT_E]] : tensor<32xf32>
// CHECK-NEXT:   %[[UNIT_F:.*]] = arith.mulf %[[UNIT_SAFE]], %[[UNIT_SHRINK]] : tensor<32xf32>
// CHECK-NEXT:   %[[UNIT_E_COLS:.*]] = tile.expand %[[UNIT_E]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[L_Q:.*]] = arith.addf %[[L_Y]], %[[UNIT_E_COLS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[UNIT_F_COLS:.*]] = tile.expand %[[UNIT_F]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[G_Q:.*]] = arith.mulf %[[G_Y]], %[[UNIT_F_COLS]] : tensor<32x24xf32>
// t = L(q) + M; c = max_f t, at least −105, so that the guard in the row's unit stays in range; a [32, 24] = g(q) 2^(t − c)
// CHECK-NEXT:   %[[M_ROWS:.*]] = tile.expand %[[STATE]]#0 axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[T:.*]] = arith.addf %[[L_Q]], %[[M_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[T_MAX:.*]] = tile.reduce max %[[T]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[C:.*]] = arith.maximumf %[[T_MAX]], %[[MF105_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[C_COLS:.*]] = tile.expand %[[C]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[OFFSET:.*]] = arith.subf %[[T]], %[[C_COLS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[EXP:.*]] = math.exp2 %[[OFFSET]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[A:.*]] = arith.mulf %[[EXP]], %[[G_Q]] : tensor<32x24xf32>
// num = a S, den = a z
// CHECK-NEXT:   %[[NUM:.*]] = tile.dot %[[A]], %[[STATE]]#2, %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[Z_ROWS:.*]] = tile.expand %[[STATE]]#1 axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[A_Z:.*]] = arith.mulf %[[A]], %[[Z_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[DEN_SUM:.*]] = tile.reduce add %[[A_Z]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// den + 10⁻⁶ 2^−c, at least 0.002 2^−c
// CHECK-NEXT:   %[[BIAS_E:.*]] = arith.subf %[[MF19_32]], %[[C]] : tensor<32xf32>
// CHECK-NEXT:   %[[BIAS_2:.*]] = math.exp2 %[[BIAS_E]] : tensor<32xf32>
// CHECK-NEXT:   %[[BIAS_UNIT:.*]] = arith.mulf %[[BIAS_2]], %[[BIAS_F_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[DEN_BIASED:.*]] = arith.addf %[[DEN_SUM]], %[[BIAS_UNIT]] : tensor<32xf32>
// CHECK-NEXT:   %[[FLOOR_E:.*]] = arith.subf %[[MF8_32]], %[[C]] : tensor<32xf32>
// CHECK-NEXT:   %[[FLOOR_2:.*]] = math.exp2 %[[FLOOR_E]] : tensor<32xf32>
// CHECK-NEXT:   %[[FLOOR_UNIT:.*]] = arith.mulf %[[FLOOR_2]], %[[FLOOR_F_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[DEN:.*]] = arith.maximumf %[[DEN_BIASED]], %[[FLOOR_UNIT]] : tensor<32xf32>
// CHECK-NEXT:   %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:   %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:   %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
