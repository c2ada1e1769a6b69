// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// The sketches S(q / |q|) and S(k) of polynomial attention of degree 4 and size r = 4, without copies for chunks:
//
//     S(x) = 4^(-1/2) (a A) ⊙ (b B),   a = 4^(-1/2) x M_0,   b = 4^(-1/2) x M_1
//
// So small a sketch may cancel to all but the last digits of f32 (as may one of 16 leaves or more), so that the tree carries pairs of
// numbers, the second below the last place of the first. A product with a matrix of ±1 is of leading digits, on one grid so coarse that
// their sum is exact, plus one of what is left. The factors 4^(-1/2) are powers of two. |x| is the power of two next to it.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
!q = tensor<?x4x?x20xf32>
!k = tensor<?x2x?x20xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!leaf = tensor<4x32xf32>
!node = tensor<4x4xf32>
!index = tensor<4x4xi32>
func.func @pairs(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %s0: !leaf {attn.name = "s0", attn.parameter}, %s1: !leaf {attn.name = "s1", attn.parameter},
    %s2: !node {attn.name = "s2", attn.parameter}, %s3: !node {attn.name = "s3", attn.parameter},
    %i0: !index {attn.name = "i0", attn.parameter}, %i1: !index {attn.name = "i1", attn.parameter},
    %i2: !index {attn.name = "i2", attn.parameter}, %i3: !index {attn.name = "i3", attn.parameter})
    -> !o attributes {tile.schedule = #schedule} {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %s2, %s3 : !leaf, !leaf, !node, !node)
      indices(%i0, %i1, %i2, %i3 : !index, !index, !index, !index)
      {degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, scale = 5.000000e-01 : f64, size = 4 : i64}
      : !q, !k, !v -> !o
  return %o : !o
}

// CHECK-LABEL: tile.kernel @pairs_query_sketch(
// CHECK-SAME:  %[[X:[^:]*]]: memref<?x4x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LEAF0:[^:]*]]: memref<4x20x4xf32>
// CHECK-SAME:  %[[LEAF1:[^:]*]]: memref<4x20x4xf32>
// CHECK-SAME:  %[[SIDE0:[^:]*]]: memref<4x4x4xf32>
// CHECK-SAME:  %[[SIDE1:[^:]*]]: memref<4x4x4xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x?x4xf32>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?x4x?xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[F32_32x20:.*]] = arith.constant dense<3.200000e+01> : tensor<32x20xf32>
// CHECK-DAG: %[[F0_5_32x4:.*]] = arith.constant dense<5.000000e-01> : tensor<32x4xf32>
// CHECK-DAG: %[[TWO_TO_M44_32x4:.*]] = arith.constant dense<5.68434189E-14> : tensor<32x4xf32>
// CHECK-DAG: %[[ZERO_32x4:.*]] = arith.constant dense<0.000000e+00> : tensor<32x4xf32>
// CHECK-DAG: %[[F0_5_32:.*]] = arith.constant dense<5.000000e-01> : tensor<32xf32>
// CHECK-DAG: %[[F16_32:.*]] = arith.constant dense<1.600000e+01> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_SQUARES:.*]] = arith.mulf %[[X_TILE]], %[[X_TILE]] : tensor<32x20xf32>
// CHECK-NEXT: %[[X_SUM:.*]] = tile.reduce add %[[X_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[X_NORM:.*]] = math.sqrt %[[X_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_LEAST:.*]] = arith.maximumf %[[X_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_LOG:.*]] = math.log2 %[[NORM_LEAST]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_ROUNDED:.*]] = math.roundeven %[[NORM_LOG]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_POWER:.*]] = math.exp2 %[[NORM_ROUNDED]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_NULL:.*]] = arith.cmpf oeq, %[[X_NORM]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LENGTH:.*]] = arith.select %[[NORM_NULL]], %[[X_NORM]], %[[NORM_POWER]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[LENGTH_SAFE:.*]] = arith.maximumf %[[LENGTH]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LENGTH_SAFE_COLS:.*]] = tile.expand %[[LENGTH_SAFE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_UNIT:.*]] = arith.divf %[[X_TILE]], %[[LENGTH_SAFE_COLS]] : tensor<32x20xf32>
// leaf 0 [32, 4]: x M = leading digits + rest, the first of which sum exactly; halved
// CHECK-NEXT: %[[LEAF0_TILE:.*]] = tile.load %[[LEAF0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x4xf32>
// CHECK-NEXT: %[[LIFTED:.*]] = arith.addf %[[X_UNIT]], %[[F32_32x20]] : tensor<32x20xf32>
// CHECK-NEXT: %[[LEADING:.*]] = arith.subf %[[LIFTED]], %[[F32_32x20]] : tensor<32x20xf32>
// CHECK-NEXT: %[[REST:.*]] = arith.subf %[[X_UNIT]], %[[LEADING]] : tensor<32x20xf32>
// CHECK-NEXT: %[[EXACT_0:.*]] = tile.dot %[[LEADING]], %[[LEAF0_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SMALL_0:.*]] = tile.dot %[[REST]], %[[LEAF0_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SUM_0:.*]] = arith.addf %[[EXACT_0]], %[[SMALL_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SUM_REST_0:.*]] = arith.subf %[[SUM_0]], %[[EXACT_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LOST_0:.*]] = arith.subf %[[SMALL_0]], %[[SUM_REST_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEAF0_HIGH:.*]] = arith.mulf %[[SUM_0]], %[[F0_5_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEAF0_LOW:.*]] = arith.mulf %[[LOST_0]], %[[F0_5_32x4]] : tensor<32x4xf32>
// leaf 1 [32, 4]: x M = leading digits + rest, the first of which sum exactly; halved
// CHECK-NEXT: %[[LEAF1_TILE:.*]] = tile.load %[[LEAF1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x4xf32>
// CHECK-NEXT: %[[EXACT_1:.*]] = tile.dot %[[LEADING]], %[[LEAF1_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SMALL_1:.*]] = tile.dot %[[REST]], %[[LEAF1_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SUM_1:.*]] = arith.addf %[[EXACT_1]], %[[SMALL_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SUM_REST_1:.*]] = arith.subf %[[SUM_1]], %[[EXACT_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LOST_1:.*]] = arith.subf %[[SMALL_1]], %[[SUM_REST_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEAF1_HIGH:.*]] = arith.mulf %[[SUM_1]], %[[F0_5_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEAF1_LOW:.*]] = arith.mulf %[[LOST_1]], %[[F0_5_32x4]] : tensor<32x4xf32>
// side 0: the grid is 16 times the row's largest; what is below its 2^-44 is 0.
// CHECK-NEXT: %[[ABS_0:.*]] = math.absf %[[LEAF0_HIGH]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LARGEST_0:.*]] = tile.reduce max %[[ABS_0]] axis 1 : tensor<32x4xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[GRID_0:.*]] = arith.mulf %[[LARGEST_0]], %[[F16_32]] : tensor<32xf32>
// CHECK-NEXT: %[[GRID_0_COLS:.*]] = tile.expand %[[GRID_0]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE0_TILE:.*]] = tile.load %[[SIDE0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[LIFTED_0:.*]] = arith.addf %[[LEAF0_HIGH]], %[[GRID_0_COLS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEADING_0:.*]] = arith.subf %[[LIFTED_0]], %[[GRID_0_COLS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[REST_HIGH_0:.*]] = arith.subf %[[LEAF0_HIGH]], %[[LEADING_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[REST_0:.*]] = arith.addf %[[REST_HIGH_0]], %[[LEAF0_LOW]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_EXACT_0:.*]] = tile.dot %[[LEADING_0]], %[[SIDE0_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SMALL_0:.*]] = tile.dot %[[REST_0]], %[[SIDE0_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SUM_0:.*]] = arith.addf %[[SIDE_EXACT_0]], %[[SIDE_SMALL_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SUM_REST_0:.*]] = arith.subf %[[SIDE_SUM_0]], %[[SIDE_EXACT_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_LOST_0:.*]] = arith.subf %[[SIDE_SMALL_0]], %[[SIDE_SUM_REST_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NOISE_0:.*]] = arith.mulf %[[GRID_0_COLS]], %[[TWO_TO_M44_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_ABS_0:.*]] = math.absf %[[SIDE_SUM_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CANCELS_0:.*]] = arith.cmpf ole, %[[SIDE_ABS_0]], %[[NOISE_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[A0_HIGH:.*]] = arith.select %[[CANCELS_0]], %[[ZERO_32x4]], %[[SIDE_SUM_0]] : tensor<32x4xi1>, tensor<32x4xf32>
// CHECK-NEXT: %[[A0_LOW:.*]] = arith.select %[[CANCELS_0]], %[[ZERO_32x4]], %[[SIDE_LOST_0]] : tensor<32x4xi1>, tensor<32x4xf32>
// side 1: the grid is 16 times the row's largest; what is below its 2^-44 is 0.
// CHECK-NEXT: %[[ABS_1:.*]] = math.absf %[[LEAF1_HIGH]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LARGEST_1:.*]] = tile.reduce max %[[ABS_1]] axis 1 : tensor<32x4xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[GRID_1:.*]] = arith.mulf %[[LARGEST_1]], %[[F16_32]] : tensor<32xf32>
// CHECK-NEXT: %[[GRID_1_COLS:.*]] = tile.expand %[[GRID_1]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE1_TILE:.*]] = tile.load %[[SIDE1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[LIFTED_1:.*]] = arith.addf %[[LEAF1_HIGH]], %[[GRID_1_COLS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEADING_1:.*]] = arith.subf %[[LIFTED_1]], %[[GRID_1_COLS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[REST_HIGH_1:.*]] = arith.subf %[[LEAF1_HIGH]], %[[LEADING_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[REST_1:.*]] = arith.addf %[[REST_HIGH_1]], %[[LEAF1_LOW]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_EXACT_1:.*]] = tile.dot %[[LEADING_1]], %[[SIDE1_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SMALL_1:.*]] = tile.dot %[[REST_1]], %[[SIDE1_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SUM_1:.*]] = arith.addf %[[SIDE_EXACT_1]], %[[SIDE_SMALL_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SUM_REST_1:.*]] = arith.subf %[[SIDE_SUM_1]], %[[SIDE_EXACT_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_LOST_1:.*]] = arith.subf %[[SIDE_SMALL_1]], %[[SIDE_SUM_REST_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NOISE_1:.*]] = arith.mulf %[[GRID_1_COLS]], %[[TWO_TO_M44_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_ABS_1:.*]] = math.absf %[[SIDE_SUM_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CANCELS_1:.*]] = arith.cmpf ole, %[[SIDE_ABS_1]], %[[NOISE_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[A1_HIGH:.*]] = arith.select %[[CANCELS_1]], %[[ZERO_32x4]], %[[SIDE_SUM_1]] : tensor<32x4xi1>, tensor<32x4xf32>
// CHECK-NEXT: %[[A1_LOW:.*]] = arith.select %[[CANCELS_1]], %[[ZERO_32x4]], %[[SIDE_LOST_1]] : tensor<32x4xi1>, tensor<32x4xf32>
// node: the product of both, and what it lost; halved
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[A0_HIGH]], %[[A1_HIGH]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NEGATED:.*]] = arith.negf %[[PRODUCT]] : tensor<32x4xf32>
// CHECK-NEXT: %[[ROUNDING:.*]] = math.fma %[[A0_HIGH]], %[[A1_HIGH]], %[[NEGATED]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CROSS_0:.*]] = arith.mulf %[[A0_HIGH]], %[[A1_LOW]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CROSS_1:.*]] = arith.mulf %[[A0_LOW]], %[[A1_HIGH]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CROSS:.*]] = arith.addf %[[CROSS_0]], %[[CROSS_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LOST:.*]] = arith.addf %[[ROUNDING]], %[[CROSS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NODE_HIGH:.*]] = arith.mulf %[[PRODUCT]], %[[F0_5_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NODE_LOW:.*]] = arith.mulf %[[LOST]], %[[F0_5_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[ROOT:.*]] = arith.addf %[[NODE_HIGH]], %[[NODE_LOW]] : tensor<32x4xf32>
// CHECK-NEXT: tile.store %[[ROOT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x4xf32>
// |scale q|
// CHECK-NEXT: %[[SCALED_LENGTH:.*]] = arith.mulf %[[LENGTH]], %[[F0_5_32]] : tensor<32xf32>
// CHECK-NEXT: tile.store %[[SCALED_LENGTH]], %[[LENGTHS]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] : tensor<32xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @pairs_key_sketch(
// CHECK-SAME:  %[[X:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LEAF0:[^:]*]]: memref<4x20x4xf32>
// CHECK-SAME:  %[[LEAF1:[^:]*]]: memref<4x20x4xf32>
// CHECK-SAME:  %[[SIDE0:[^:]*]]: memref<4x4x4xf32>
// CHECK-SAME:  %[[SIDE1:[^:]*]]: memref<4x4x4xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x?x4xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[F32_32x20:.*]] = arith.constant dense<3.200000e+01> : tensor<32x20xf32>
// CHECK-DAG: %[[F0_5_32x4:.*]] = arith.constant dense<5.000000e-01> : tensor<32x4xf32>
// CHECK-DAG: %[[TWO_TO_M44_32x4:.*]] = arith.constant dense<5.68434189E-14> : tensor<32x4xf32>
// CHECK-DAG: %[[ZERO_32x4:.*]] = arith.constant dense<0.000000e+00> : tensor<32x4xf32>
// CHECK-DAG: %[[F16_32:.*]] = arith.constant dense<1.600000e+01> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_120_32:.*]] = arith.constant dense<1.329228E+36> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_SQUARES:.*]] = arith.mulf %[[X_TILE]], %[[X_TILE]] : tensor<32x20xf32>
// CHECK-NEXT: %[[X_SUM:.*]] = tile.reduce add %[[X_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[X_NORM:.*]] = math.sqrt %[[X_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_LEAST:.*]] = arith.maximumf %[[X_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_LOG:.*]] = math.log2 %[[NORM_LEAST]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_ROUNDED:.*]] = math.roundeven %[[NORM_LOG]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_POWER:.*]] = math.exp2 %[[NORM_ROUNDED]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_NULL:.*]] = arith.cmpf oeq, %[[X_NORM]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LENGTH:.*]] = arith.select %[[NORM_NULL]], %[[X_NORM]], %[[NORM_POWER]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[LENGTH_SAFE:.*]] = arith.maximumf %[[LENGTH]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LENGTH_SAFE_COLS:.*]] = tile.expand %[[LENGTH_SAFE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_UNIT:.*]] = arith.divf %[[X_TILE]], %[[LENGTH_SAFE_COLS]] : tensor<32x20xf32>
// leaf 0 [32, 4]: x M = leading digits + rest, the first of which sum exactly; halved
// CHECK-NEXT: %[[LEAF0_TILE:.*]] = tile.load %[[LEAF0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x4xf32>
// CHECK-NEXT: %[[LIFTED:.*]] = arith.addf %[[X_UNIT]], %[[F32_32x20]] : tensor<32x20xf32>
// CHECK-NEXT: %[[LEADING:.*]] = arith.subf %[[LIFTED]], %[[F32_32x20]] : tensor<32x20xf32>
// CHECK-NEXT: %[[REST:.*]] = arith.subf %[[X_UNIT]], %[[LEADING]] : tensor<32x20xf32>
// CHECK-NEXT: %[[EXACT_0:.*]] = tile.dot %[[LEADING]], %[[LEAF0_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SMALL_0:.*]] = tile.dot %[[REST]], %[[LEAF0_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SUM_0:.*]] = arith.addf %[[EXACT_0]], %[[SMALL_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SUM_REST_0:.*]] = arith.subf %[[SUM_0]], %[[EXACT_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LOST_0:.*]] = arith.subf %[[SMALL_0]], %[[SUM_REST_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEAF0_HIGH:.*]] = arith.mulf %[[SUM_0]], %[[F0_5_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEAF0_LOW:.*]] = arith.mulf %[[LOST_0]], %[[F0_5_32x4]] : tensor<32x4xf32>
// leaf 1 [32, 4]: x M = leading digits + rest, the first of which sum exactly; halved
// CHECK-NEXT: %[[LEAF1_TILE:.*]] = tile.load %[[LEAF1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x4xf32>
// CHECK-NEXT: %[[EXACT_1:.*]] = tile.dot %[[LEADING]], %[[LEAF1_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SMALL_1:.*]] = tile.dot %[[REST]], %[[LEAF1_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SUM_1:.*]] = arith.addf %[[EXACT_1]], %[[SMALL_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SUM_REST_1:.*]] = arith.subf %[[SUM_1]], %[[EXACT_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LOST_1:.*]] = arith.subf %[[SMALL_1]], %[[SUM_REST_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEAF1_HIGH:.*]] = arith.mulf %[[SUM_1]], %[[F0_5_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEAF1_LOW:.*]] = arith.mulf %[[LOST_1]], %[[F0_5_32x4]] : tensor<32x4xf32>
// side 0: the grid is 16 times the row's largest; what is below its 2^-44 is 0.
// CHECK-NEXT: %[[ABS_0:.*]] = math.absf %[[LEAF0_HIGH]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LARGEST_0:.*]] = tile.reduce max %[[ABS_0]] axis 1 : tensor<32x4xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[GRID_0:.*]] = arith.mulf %[[LARGEST_0]], %[[F16_32]] : tensor<32xf32>
// CHECK-NEXT: %[[GRID_0_COLS:.*]] = tile.expand %[[GRID_0]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE0_TILE:.*]] = tile.load %[[SIDE0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[LIFTED_0:.*]] = arith.addf %[[LEAF0_HIGH]], %[[GRID_0_COLS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEADING_0:.*]] = arith.subf %[[LIFTED_0]], %[[GRID_0_COLS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[REST_HIGH_0:.*]] = arith.subf %[[LEAF0_HIGH]], %[[LEADING_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[REST_0:.*]] = arith.addf %[[REST_HIGH_0]], %[[LEAF0_LOW]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_EXACT_0:.*]] = tile.dot %[[LEADING_0]], %[[SIDE0_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SMALL_0:.*]] = tile.dot %[[REST_0]], %[[SIDE0_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SUM_0:.*]] = arith.addf %[[SIDE_EXACT_0]], %[[SIDE_SMALL_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SUM_REST_0:.*]] = arith.subf %[[SIDE_SUM_0]], %[[SIDE_EXACT_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_LOST_0:.*]] = arith.subf %[[SIDE_SMALL_0]], %[[SIDE_SUM_REST_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NOISE_0:.*]] = arith.mulf %[[GRID_0_COLS]], %[[TWO_TO_M44_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_ABS_0:.*]] = math.absf %[[SIDE_SUM_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CANCELS_0:.*]] = arith.cmpf ole, %[[SIDE_ABS_0]], %[[NOISE_0]] : tensor<32x4xf32>
// CHECK-NEXT: %[[A0_HIGH:.*]] = arith.select %[[CANCELS_0]], %[[ZERO_32x4]], %[[SIDE_SUM_0]] : tensor<32x4xi1>, tensor<32x4xf32>
// CHECK-NEXT: %[[A0_LOW:.*]] = arith.select %[[CANCELS_0]], %[[ZERO_32x4]], %[[SIDE_LOST_0]] : tensor<32x4xi1>, tensor<32x4xf32>
// side 1: the grid is 16 times the row's largest; what is below its 2^-44 is 0.
// CHECK-NEXT: %[[ABS_1:.*]] = math.absf %[[LEAF1_HIGH]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LARGEST_1:.*]] = tile.reduce max %[[ABS_1]] axis 1 : tensor<32x4xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[GRID_1:.*]] = arith.mulf %[[LARGEST_1]], %[[F16_32]] : tensor<32xf32>
// CHECK-NEXT: %[[GRID_1_COLS:.*]] = tile.expand %[[GRID_1]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE1_TILE:.*]] = tile.load %[[SIDE1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[LIFTED_1:.*]] = arith.addf %[[LEAF1_HIGH]], %[[GRID_1_COLS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LEADING_1:.*]] = arith.subf %[[LIFTED_1]], %[[GRID_1_COLS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[REST_HIGH_1:.*]] = arith.subf %[[LEAF1_HIGH]], %[[LEADING_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[REST_1:.*]] = arith.addf %[[REST_HIGH_1]], %[[LEAF1_LOW]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_EXACT_1:.*]] = tile.dot %[[LEADING_1]], %[[SIDE1_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SMALL_1:.*]] = tile.dot %[[REST_1]], %[[SIDE1_TILE]], %[[ZERO_32x4]] precision f32 : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SUM_1:.*]] = arith.addf %[[SIDE_EXACT_1]], %[[SIDE_SMALL_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_SUM_REST_1:.*]] = arith.subf %[[SIDE_SUM_1]], %[[SIDE_EXACT_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_LOST_1:.*]] = arith.subf %[[SIDE_SMALL_1]], %[[SIDE_SUM_REST_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NOISE_1:.*]] = arith.mulf %[[GRID_1_COLS]], %[[TWO_TO_M44_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[SIDE_ABS_1:.*]] = math.absf %[[SIDE_SUM_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CANCELS_1:.*]] = arith.cmpf ole, %[[SIDE_ABS_1]], %[[NOISE_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[A1_HIGH:.*]] = arith.select %[[CANCELS_1]], %[[ZERO_32x4]], %[[SIDE_SUM_1]] : tensor<32x4xi1>, tensor<32x4xf32>
// CHECK-NEXT: %[[A1_LOW:.*]] = arith.select %[[CANCELS_1]], %[[ZERO_32x4]], %[[SIDE_LOST_1]] : tensor<32x4xi1>, tensor<32x4xf32>
// node: the product of both, and what it lost; halved
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[A0_HIGH]], %[[A1_HIGH]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NEGATED:.*]] = arith.negf %[[PRODUCT]] : tensor<32x4xf32>
// CHECK-NEXT: %[[ROUNDING:.*]] = math.fma %[[A0_HIGH]], %[[A1_HIGH]], %[[NEGATED]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CROSS_0:.*]] = arith.mulf %[[A0_HIGH]], %[[A1_LOW]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CROSS_1:.*]] = arith.mulf %[[A0_LOW]], %[[A1_HIGH]] : tensor<32x4xf32>
// CHECK-NEXT: %[[CROSS:.*]] = arith.addf %[[CROSS_0]], %[[CROSS_1]] : tensor<32x4xf32>
// CHECK-NEXT: %[[LOST:.*]] = arith.addf %[[ROUNDING]], %[[CROSS]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NODE_HIGH:.*]] = arith.mulf %[[PRODUCT]], %[[F0_5_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[NODE_LOW:.*]] = arith.mulf %[[LOST]], %[[F0_5_32x4]] : tensor<32x4xf32>
// CHECK-NEXT: %[[ROOT:.*]] = arith.addf %[[NODE_HIGH]], %[[NODE_LOW]] : tensor<32x4xf32>
// times |k|², at most 2^120
// CHECK-NEXT: %[[LENGTH_SQ:.*]] = arith.mulf %[[LENGTH]], %[[LENGTH]] : tensor<32xf32>
// CHECK-NEXT: %[[SIZE:.*]] = arith.minimumf %[[LENGTH_SQ]], %[[TWO_TO_120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[SIZE_COLS:.*]] = tile.expand %[[SIZE]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT: %[[S_TILE:.*]] = arith.mulf %[[ROOT]], %[[SIZE_COLS]] : tensor<32x4xf32>
// CHECK-NEXT: tile.store %[[S_TILE]], %[[S]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x4xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @pairs_polysketch(
