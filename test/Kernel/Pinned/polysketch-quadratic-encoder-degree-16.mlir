// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Polynomial attention of degree 16 through sketches, not causal, all pair weights in tiles: w_ij = ⟨S(scale q_i), S(k_j)⟩². |k|^8 leaves
// the range of f32, so that lengths of keys count relative to the largest of them, which "largest" finds, one thread block per (batch,
// query head). Keys are sketched with |k| / largest, and queries have scale |q| · largest as their scale, which the guard takes to the
// power of −16.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
!q = tensor<?x4x?x20xf32>
!k = tensor<?x2x?x20xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!leaf = tensor<4x32xf32>
!node = tensor<4x8xf32>
!index = tensor<4x8xi32>
func.func @encoder(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %s: !leaf {attn.name = "s", attn.parameter}, %t: !node {attn.name = "t", attn.parameter},
    %i: !index {attn.name = "i", attn.parameter}, %j: !index {attn.name = "j", attn.parameter})
    -> !o attributes {tile.schedule = #schedule} {
  %o = attn.polysketch %q, %k, %v
      signs(%s, %s, %s, %s, %s, %s, %s, %s, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t, %t :
          !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !leaf, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node, !node,
          !node, !node, !node)
      indices(%i, %i, %i, %i, %i, %i, %i, %i, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j, %j :
          !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index, !index,
          !index, !index, !index, !index, !index)
      {degree = 16 : i64, denominator = #attn.denominator<bias = 1.000000e-06, floor = 0.000000e+00>, scale = 5.000000e-01 : f64, size = 8 : i64}
      : !q, !k, !v -> !o
  return %o : !o
}

// CHECK-LABEL: tile.kernel @encoder_largest(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LARGEST:[^:]*]]: memref<?x4xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[TWO_TO_M120_1:.*]] = arith.constant dense<7.52316385E-37> : tensor<1xf32>
// CHECK-DAG: %[[ZERO_1:.*]] = arith.constant dense<0.000000e+00> : tensor<1xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[ALL:.*]] = tile.loop #tile.maximum %[[FIRST:.*]] = %[[C0]] to %[[KEYS]] step 32 carries(
// CHECK-SAME:     %[[SO_FAR:.*]] = %[[ZERO_1]]) : (tensor<1xf32>) {
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT:   %[[K_SQUARES:.*]] = arith.mulf %[[K_TILE]], %[[K_TILE]] : tensor<32x20xf32>
// CHECK-NEXT:   %[[K_SUM:.*]] = tile.reduce add %[[K_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[K_NORM:.*]] = math.sqrt %[[K_SUM]] : tensor<32xf32>
// CHECK-NEXT:   %[[K_NORM_ROWS:.*]] = tile.expand %[[K_NORM]] axis 0 : tensor<32xf32> -> tensor<1x32xf32>
// CHECK-NEXT:   %[[TILE_LARGEST:.*]] = tile.reduce max %[[K_NORM_ROWS]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:   %[[NEXT:.*]] = arith.maximumf %[[SO_FAR]], %[[TILE_LARGEST]] : tensor<1xf32>
// CHECK-NEXT:   tile.yield %[[NEXT]] : tensor<1xf32>
// CHECK-NEXT: }
// at least 2^-120
// CHECK-NEXT: %[[AT_LEAST:.*]] = arith.maximumf %[[ALL]], %[[TWO_TO_M120_1]] : tensor<1xf32>
// CHECK-NEXT: tile.store %[[AT_LEAST]], %[[LARGEST]][%[[BATCH]], %[[HEAD]]] : tensor<1xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @encoder_query_sketch(

// CHECK-LABEL: tile.kernel @encoder_polysketch(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[SQ:[^:]*]]: memref<?x4x?x8xf32>
// CHECK-SAME:  %[[SK:[^:]*]]: memref<?x4x?x8xf32>
// CHECK-SAME:  %[[Q_LENGTHS:[^:]*]]: memref<?x4x?xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[BIAS_32:.*]] = arith.constant #tile.exact<9.9999999999999995E-7> : tensor<32xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[MOST_32:.*]] = arith.constant dense<1.200000e+02> : tensor<32xf32>
// CHECK-DAG: %[[MINUS_2_32:.*]] = arith.constant dense<-2.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[MINUS_POWER_32:.*]] = arith.constant dense<-1.600000e+01> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_120_32:.*]] = arith.constant dense<1.329228E+36> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_60_32:.*]] = arith.constant dense<1.1529215E+18> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M126_32:.*]] = arith.constant dense<1.17549435E-38> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C32]] : index
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// The unit m of roots starts at 1 / (scale |q| largest)^8, at most 2^60, so that the guard in that unit is in range.
// CHECK-NEXT: %[[LENGTH_ALL:.*]] = tile.load %[[Q_LENGTHS]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] : {{.*}} -> tensor<32xf32>
// CHECK-NEXT: %[[LENGTH:.*]] = arith.minimumf %[[LENGTH_ALL]], %[[TWO_TO_120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LENGTH_SAFE:.*]] = arith.maximumf %[[LENGTH]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LENGTH_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[LENGTH_SAFE]] : tensor<32xf32>
// CHECK-NEXT: %[[INVERSE_2:.*]] = arith.mulf %[[LENGTH_INVERSE]], %[[LENGTH_INVERSE]] : tensor<32xf32>
// CHECK-NEXT: %[[INVERSE_4:.*]] = arith.mulf %[[INVERSE_2]], %[[INVERSE_2]] : tensor<32xf32>
// CHECK-NEXT: %[[INVERSE_8:.*]] = arith.mulf %[[INVERSE_4]], %[[INVERSE_4]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT_MOST:.*]] = arith.minimumf %[[INVERSE_8]], %[[TWO_TO_60_32]] : tensor<32xf32>
// CHECK-NEXT: %[[M_START:.*]] = arith.maximumf %[[UNIT_MOST]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT: %[[SQ_TILE:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[SUMS:.*]]:3 = tile.loop #tile.rescaled_sum<power 2, row> %[[FIRST_KEY:.*]] = %[[C0]] to %[[KEYS]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[M_START]], %[[DEN:.*]] = %[[ZERO_32]], %[[NUM:.*]] = %[[ZERO_32x40]]) :
// CHECK-SAME:     (tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>) {
// roots of weights t [32, 32] = S(q) S(k)ᵀ
// CHECK-NEXT:   %[[SK_TILE:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT:   %[[T:.*]] = tile.dot %[[SQ_TILE]], %[[SK_TILE]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// m' = max(m, max |t|), w = (t / m')², den and num times (m / m')²
// CHECK-NEXT:   %[[ABS_T:.*]] = math.absf %[[T]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[ROW_MAX:.*]] = tile.reduce max %[[ABS_T]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[ROW_MAX]] : tensor<32xf32>
// CHECK-NEXT:   %[[M_NEXT_SAFE:.*]] = arith.maximumf %[[M_NEXT]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[M_NEXT_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[M_NEXT_SAFE]] : tensor<32xf32>
// CHECK-NEXT:   %[[GROWTH:.*]] = arith.mulf %[[M]], %[[M_NEXT_INVERSE]] : tensor<32xf32>
// CHECK-NEXT:   %[[GROWTH_SQ:.*]] = arith.mulf %[[GROWTH]], %[[GROWTH]] : tensor<32xf32>
// CHECK-NEXT:   %[[SAME:.*]] = arith.cmpf oeq, %[[M]], %[[M_NEXT]] : tensor<32xf32>
// CHECK-NEXT:   %[[KEPT:.*]] = arith.select %[[SAME]], %[[ONE_32]], %[[GROWTH_SQ]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:   %[[DEN_KEPT:.*]] = arith.mulf %[[DEN]], %[[KEPT]] : tensor<32xf32>
// CHECK-NEXT:   %[[KEPT_COLS:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM_KEPT:.*]] = arith.mulf %[[NUM]], %[[KEPT_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:   %[[M_NEXT_INVERSE_COLS:.*]] = tile.expand %[[M_NEXT_INVERSE]] axis 1 : tensor<32xf32> -> tensor<32x32xf32>
// CHECK-NEXT:   %[[T_IN_UNIT:.*]] = arith.mulf %[[T]], %[[M_NEXT_INVERSE_COLS]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[W:.*]] = arith.mulf %[[T_IN_UNIT]], %[[T_IN_UNIT]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:   %[[DEN_NEXT:.*]] = arith.addf %[[DEN_KEPT]], %[[ROW_SUM]] : tensor<32xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM_KEPT]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[DEN_NEXT]], %[[NUM_NEXT]] : tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>
// CHECK-NEXT: }
// In the unit m the guard is times (m (scale |q| largest)^8)^-2.
// Powers of 2 are taken apart from m and from the length, and from the powers of what is left of them.
// CHECK-NEXT: %[[M_LOG:.*]] = math.log2 %[[SUMS]]#0 : tensor<32xf32>
// CHECK-NEXT: %[[M_EXPONENT:.*]] = math.roundeven %[[M_LOG]] : tensor<32xf32>
// CHECK-NEXT: %[[M_DOWN:.*]] = arith.negf %[[M_EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[M_INTO:.*]] = math.exp2 %[[M_DOWN]] : tensor<32xf32>
// CHECK-NEXT: %[[M_REST:.*]] = arith.mulf %[[SUMS]]#0, %[[M_INTO]] : tensor<32xf32>
// CHECK-NEXT: %[[M_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[M_REST]] : tensor<32xf32>
// CHECK-NEXT: %[[M_2:.*]] = arith.mulf %[[M_INVERSE]], %[[M_INVERSE]] : tensor<32xf32>
// CHECK-NEXT: %[[M_POWER_LOG:.*]] = math.log2 %[[M_2]] : tensor<32xf32>
// CHECK-NEXT: %[[M_POWER_EXPONENT:.*]] = math.roundeven %[[M_POWER_LOG]] : tensor<32xf32>
// CHECK-NEXT: %[[M_POWER_DOWN:.*]] = arith.negf %[[M_POWER_EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[M_POWER_INTO:.*]] = math.exp2 %[[M_POWER_DOWN]] : tensor<32xf32>
// CHECK-NEXT: %[[M_POWER_REST:.*]] = arith.mulf %[[M_2]], %[[M_POWER_INTO]] : tensor<32xf32>
// CHECK-NEXT: %[[M_EXPONENTS:.*]] = arith.mulf %[[M_EXPONENT]], %[[MINUS_2_32]] : tensor<32xf32>
// CHECK-NEXT: %[[M_ALL:.*]] = arith.addf %[[M_EXPONENTS]], %[[M_POWER_EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[L_LOG:.*]] = math.log2 %[[LENGTH_SAFE]] : tensor<32xf32>
// CHECK-NEXT: %[[L_EXPONENT:.*]] = math.roundeven %[[L_LOG]] : tensor<32xf32>
// CHECK-NEXT: %[[L_DOWN:.*]] = arith.negf %[[L_EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[L_INTO:.*]] = math.exp2 %[[L_DOWN]] : tensor<32xf32>
// CHECK-NEXT: %[[L_REST:.*]] = arith.mulf %[[LENGTH_SAFE]], %[[L_INTO]] : tensor<32xf32>
// CHECK-NEXT: %[[L_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[L_REST]] : tensor<32xf32>
// CHECK-NEXT: %[[L_2:.*]] = arith.mulf %[[L_INVERSE]], %[[L_INVERSE]] : tensor<32xf32>
// CHECK-NEXT: %[[L_4:.*]] = arith.mulf %[[L_2]], %[[L_2]] : tensor<32xf32>
// CHECK-NEXT: %[[L_8:.*]] = arith.mulf %[[L_4]], %[[L_4]] : tensor<32xf32>
// CHECK-NEXT: %[[L_16:.*]] = arith.mulf %[[L_8]], %[[L_8]] : tensor<32xf32>
// CHECK-NEXT: %[[L_POWER_LOG:.*]] = math.log2 %[[L_16]] : tensor<32xf32>
// CHECK-NEXT: %[[L_POWER_EXPONENT:.*]] = math.roundeven %[[L_POWER_LOG]] : tensor<32xf32>
// CHECK-NEXT: %[[L_POWER_DOWN:.*]] = arith.negf %[[L_POWER_EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[L_POWER_INTO:.*]] = math.exp2 %[[L_POWER_DOWN]] : tensor<32xf32>
// CHECK-NEXT: %[[L_POWER_REST:.*]] = arith.mulf %[[L_16]], %[[L_POWER_INTO]] : tensor<32xf32>
// CHECK-NEXT: %[[L_EXPONENTS:.*]] = arith.mulf %[[L_EXPONENT]], %[[MINUS_POWER_32]] : tensor<32xf32>
// CHECK-NEXT: %[[L_ALL:.*]] = arith.addf %[[L_EXPONENTS]], %[[L_POWER_EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[EXPONENTS:.*]] = arith.addf %[[M_ALL]], %[[L_ALL]] : tensor<32xf32>
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.minimumf %[[EXPONENTS]], %[[MOST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[TWO_TO:.*]] = math.exp2 %[[EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[RESTS:.*]] = arith.mulf %[[M_POWER_REST]], %[[L_POWER_REST]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT_POWER:.*]] = arith.mulf %[[TWO_TO]], %[[RESTS]] : tensor<32xf32>
// CHECK-NEXT: %[[BIAS_UNIT:.*]] = arith.mulf %[[UNIT_POWER]], %[[BIAS_32]] : tensor<32xf32>
// CHECK-NEXT: %[[DEN_BIASED:.*]] = arith.addf %[[SUMS]]#1, %[[BIAS_UNIT]] : tensor<32xf32>
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN_BIASED]] : tensor<32xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN_BIASED]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[SUMS]]#2, %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT: tile.return
