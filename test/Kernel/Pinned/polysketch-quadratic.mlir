// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal polynomial attention of degree 4 through sketches, all pair weights in tiles, with exact pairs inside blocks of 64 tokens:
//
//     o_i = Σ_{j ≤ i} w_ij v_j / max(Σ_{j ≤ i} w_ij + 10⁻⁶, 0.002)
//     w_ij = ⟨S(scale q_i), S(k_j)⟩²,   and (scale ⟨q_i, k_j⟩)⁴ where ⌊i / 64⌋ = ⌊j / 64⌋
//
// One thread block per (batch, query head, 32 queries) walks the keys before the queries' block and then the block up to the last query.
// Both kinds of weights are squares of roots t. A row carries the largest |t| so far, m [32], and den [32] and num [32, 40] relative to m²;
// queries are of norm 1 until the guard is applied. The kernels that make sketches are pinned in polysketch-sketches.mlir.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
!q = tensor<?x4x?x20xf32>
!k = tensor<?x2x?x20xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!leaf = tensor<4x32xf32>
!node = tensor<4x8xf32>
!index = tensor<4x8xi32>
func.func @quadratic(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %s0: !leaf {attn.name = "s0", attn.parameter}, %s1: !leaf {attn.name = "s1", attn.parameter},
    %s2: !node {attn.name = "s2", attn.parameter}, %s3: !node {attn.name = "s3", attn.parameter},
    %i0: !index {attn.name = "i0", attn.parameter}, %i1: !index {attn.name = "i1", attn.parameter},
    %i2: !index {attn.name = "i2", attn.parameter}, %i3: !index {attn.name = "i3", attn.parameter})
    -> !o attributes {tile.schedule = #schedule} {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %s2, %s3 : !leaf, !leaf, !node, !node)
      indices(%i0, %i1, %i2, %i3 : !index, !index, !index, !index)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.000000e-06, floor = 2.000000e-03>, local_exact = 64 : i64, scale = 5.000000e-01 : f64, size = 8 : i64}
      : !q, !k, !v -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @quadratic(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x20xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[S0:[^:]*]]: memref<4x32xf32, strided<[?, 1]>> {{{.*}}attune.name = "s0"
// CHECK-SAME:  %[[S1:[^:]*]]: memref<4x32xf32, strided<[?, 1]>> {{{.*}}attune.name = "s1"
// CHECK-SAME:  %[[S2:[^:]*]]: memref<4x8xf32, strided<[?, 1]>> {{{.*}}attune.name = "s2"
// CHECK-SAME:  %[[S3:[^:]*]]: memref<4x8xf32, strided<[?, 1]>> {{{.*}}attune.name = "s3"
// CHECK-SAME:  %[[I0:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i0"
// CHECK-SAME:  %[[I1:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i1"
// CHECK-SAME:  %[[I2:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i2"
// CHECK-SAME:  %[[I3:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i3"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  %[[LEAF0:[^:]*]]: memref<4x20x8xf32> {{{.*}}attune.name = "sketch0.0"
// CHECK-SAME:  %[[LEAF1:[^:]*]]: memref<4x20x8xf32> {{{.*}}attune.name = "sketch0.1"
// CHECK-SAME:  %[[SIDE0:[^:]*]]: memref<4x8x8xf32> {{{.*}}attune.name = "sketch0.2"
// CHECK-SAME:  %[[SIDE1:[^:]*]]: memref<4x8x8xf32> {{{.*}}attune.name = "sketch0.3"
// CHECK-SAME:  attributes {attune.equal_lengths, attune.size_rules = [{kind = "divides", symbol = "queries", value = 64 : i64}]}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[SQ:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x4x?x8xf32>
// CHECK-NEXT: %[[Q_LENGTHS:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x4x?xf32>
// CHECK-NEXT: %[[KEY_BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[SK:.*]] = tile.workspace(%[[KEY_BATCHES]], %[[KEYS]]) : memref<?x4x?x8xf32>
// CHECK-NEXT: %[[QUERY_TILES:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @quadratic_query_sketch grid(%[[BATCHES]], %[[C4]], %[[QUERY_TILES]])
// CHECK-SAME:     (%[[Q]], %[[LEAF0]], %[[LEAF1]], %[[SIDE0]], %[[SIDE1]], %[[SQ]], %[[Q_LENGTHS]])
// CHECK-NEXT: %[[KEY_TILES:.*]] = arith.ceildivui %[[KEYS]], %[[C32]] : index
// CHECK-NEXT: tile.launch @quadratic_key_sketch grid(%[[KEY_BATCHES]], %[[C4]], %[[KEY_TILES]])
// CHECK-SAME:     (%[[K]], %[[LEAF0]], %[[LEAF1]], %[[SIDE0]], %[[SIDE1]], %[[SK]])
// CHECK-NEXT: tile.launch @quadratic_polysketch grid(%[[BATCHES]], %[[C4]], %[[QUERY_TILES]])
// CHECK-SAME:     (%[[Q]], %[[K]], %[[V]], %[[O]], %[[SQ]], %[[SK]], %[[Q_LENGTHS]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @quadratic__prepare_sketch0_0_matrix(

// CHECK-LABEL: tile.kernel @quadratic_polysketch(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x20xf32, strided<[?, ?, ?, 1]>>
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
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[BIAS_32:.*]] = arith.constant #tile.exact<9.9999999999999995E-7> : tensor<32xf32>
// CHECK-DAG: %[[FLOOR_32:.*]] = arith.constant #tile.exact<2.000000e-03> : tensor<32xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[MOST_32:.*]] = arith.constant dense<1.200000e+02> : tensor<32xf32>
// CHECK-DAG: %[[MINUS_2_32:.*]] = arith.constant dense<-2.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[MINUS_POWER_32:.*]] = arith.constant dense<-4.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_120_32:.*]] = arith.constant dense<1.329228E+36> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_60_32:.*]] = arith.constant dense<1.1529215E+18> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M126_32:.*]] = arith.constant dense<1.17549435E-38> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// The tile and its first query.
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C32]] : index
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// The unit m of roots starts at 1 / |scale q|², at most 2^60, so that the guard in that unit is in range.
// CHECK-NEXT: %[[LENGTH_ALL:.*]] = tile.load %[[Q_LENGTHS]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] : {{.*}} -> tensor<32xf32>
// CHECK-NEXT: %[[LENGTH:.*]] = arith.minimumf %[[LENGTH_ALL]], %[[TWO_TO_120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LENGTH_SAFE:.*]] = arith.maximumf %[[LENGTH]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT: %[[LENGTH_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[LENGTH_SAFE]] : tensor<32xf32>
// CHECK-NEXT: %[[INVERSE_2:.*]] = arith.mulf %[[LENGTH_INVERSE]], %[[LENGTH_INVERSE]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT_MOST:.*]] = arith.minimumf %[[INVERSE_2]], %[[TWO_TO_60_32]] : tensor<32xf32>
// CHECK-NEXT: %[[M_START:.*]] = arith.maximumf %[[UNIT_MOST]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT: %[[BLOCK_NUMBER:.*]] = arith.divui %[[BLOCK]], %[[C2]] : index
// CHECK-NEXT: %[[START:.*]] = arith.muli %[[BLOCK_NUMBER]], %[[C64]] : index
// Keys before the block, through sketches.
// CHECK-NEXT: %[[BEFORE:.*]] = arith.minsi %[[START]], %[[KEYS]] : index
// CHECK-NEXT: %[[SQ_TILE:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[SKETCHED:.*]]:3 = tile.loop #tile.rescaled_sum<power 2, row> %[[FIRST_KEY:.*]] = %[[C0]] to %[[BEFORE]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[M_START]], %[[DEN:.*]] = %[[ZERO_32]], %[[NUM:.*]] = %[[ZERO_32x40]]) :
// CHECK-SAME:     (tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>) {
// roots of weights t [32, 32] = S(q) S(k)ᵀ
// CHECK-NEXT:   %[[SK_TILE:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[BEFORE]]) : {{.*}} -> tensor<32x8xf32>
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
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[BEFORE]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM_KEPT]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:   tile.yield %[[M_NEXT]], %[[DEN_NEXT]], %[[NUM_NEXT]] : tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>
// CHECK-NEXT: }
// Keys of the block.
// q / |q| [32, 20]
// CHECK-NEXT: %[[TILE_END_ALL:.*]] = arith.addi %[[FIRST]], %[[C1]] : index
// CHECK-NEXT: %[[TILE_END:.*]] = arith.minsi %[[TILE_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT: %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT: %[[Q_SQUARES:.*]] = arith.mulf %[[Q_TILE]], %[[Q_TILE]] : tensor<32x20xf32>
// CHECK-NEXT: %[[Q_SUM:.*]] = tile.reduce add %[[Q_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[Q_NORM:.*]] = math.sqrt %[[Q_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_SAFE:.*]] = arith.maximumf %[[Q_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[NORM_SAFE]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_INVERSE_COLS:.*]] = tile.expand %[[NORM_INVERSE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT: %[[Q_UNIT:.*]] = arith.mulf %[[Q_TILE]], %[[NORM_INVERSE_COLS]] : tensor<32x20xf32>
// CHECK-NEXT: %[[EXACT:.*]]:3 = tile.loop #tile.rescaled_sum<power 2, row> %[[FIRST_KEY:.*]] = %[[START]] to %[[TILE_END]] step 32 carries(
// CHECK-SAME:     %[[M:.*]] = %[[SKETCHED]]#0, %[[DEN:.*]] = %[[SKETCHED]]#1, %[[NUM:.*]] = %[[SKETCHED]]#2) :
// CHECK-SAME:     (tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>) {
// roots of weights t [32, 32]: ⟨q / |q|, k⟩², below the diagonal
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT:   %[[LOGITS:.*]] = tile.dot %[[Q_UNIT]], %[[K_TILE]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:   %[[T_ALL:.*]] = arith.mulf %[[LOGITS]], %[[LOGITS]] : tensor<32x32xf32>
// CHECK-NEXT:   %[[DIAGONAL:.*]] = arith.subi %[[FIRST]], %[[FIRST_KEY]] : index
// CHECK-NEXT:   %[[T:.*]] = tile.mask %[[T_ALL]] fill 0.000000e+00 diagonal(%[[DIAGONAL]]) : tensor<32x32xf32>
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
// In the unit m the guard is times (m |scale q|²)^-2: den + 10⁻⁶ …, at least 0.002 …
// Powers of 2 are taken apart from m and from the length, and from the powers of what is left of them.
// CHECK-NEXT: %[[M_LOG:.*]] = math.log2 %[[EXACT]]#0 : tensor<32xf32>
// CHECK-NEXT: %[[M_EXPONENT:.*]] = math.roundeven %[[M_LOG]] : tensor<32xf32>
// CHECK-NEXT: %[[M_DOWN:.*]] = arith.negf %[[M_EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[M_INTO:.*]] = math.exp2 %[[M_DOWN]] : tensor<32xf32>
// CHECK-NEXT: %[[M_REST:.*]] = arith.mulf %[[EXACT]]#0, %[[M_INTO]] : tensor<32xf32>
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
// CHECK-NEXT: %[[L_POWER_LOG:.*]] = math.log2 %[[L_4]] : tensor<32xf32>
// CHECK-NEXT: %[[L_POWER_EXPONENT:.*]] = math.roundeven %[[L_POWER_LOG]] : tensor<32xf32>
// CHECK-NEXT: %[[L_POWER_DOWN:.*]] = arith.negf %[[L_POWER_EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[L_POWER_INTO:.*]] = math.exp2 %[[L_POWER_DOWN]] : tensor<32xf32>
// CHECK-NEXT: %[[L_POWER_REST:.*]] = arith.mulf %[[L_4]], %[[L_POWER_INTO]] : tensor<32xf32>
// CHECK-NEXT: %[[L_EXPONENTS:.*]] = arith.mulf %[[L_EXPONENT]], %[[MINUS_POWER_32]] : tensor<32xf32>
// CHECK-NEXT: %[[L_ALL:.*]] = arith.addf %[[L_EXPONENTS]], %[[L_POWER_EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[EXPONENTS:.*]] = arith.addf %[[M_ALL]], %[[L_ALL]] : tensor<32xf32>
// CHECK-NEXT: %[[EXPONENT:.*]] = arith.minimumf %[[EXPONENTS]], %[[MOST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[TWO_TO:.*]] = math.exp2 %[[EXPONENT]] : tensor<32xf32>
// CHECK-NEXT: %[[RESTS:.*]] = arith.mulf %[[M_POWER_REST]], %[[L_POWER_REST]] : tensor<32xf32>
// CHECK-NEXT: %[[UNIT_POWER:.*]] = arith.mulf %[[TWO_TO]], %[[RESTS]] : tensor<32xf32>
// CHECK-NEXT: %[[BIAS_UNIT:.*]] = arith.mulf %[[UNIT_POWER]], %[[BIAS_32]] : tensor<32xf32>
// CHECK-NEXT: %[[DEN_BIASED:.*]] = arith.addf %[[EXACT]]#1, %[[BIAS_UNIT]] : tensor<32xf32>
// CHECK-NEXT: %[[FLOOR_UNIT:.*]] = arith.mulf %[[UNIT_POWER]], %[[FLOOR_32]] : tensor<32xf32>
// CHECK-NEXT: %[[DEN:.*]] = arith.maximumf %[[DEN_BIASED]], %[[FLOOR_UNIT]] : tensor<32xf32>
// CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT: %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT: %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[EXACT]]#2, %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT: tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT: tile.return
