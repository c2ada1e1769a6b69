// RUN: attn-opt %s -attn-to-tile=target=gpu -canonicalize -cse | FileCheck %s

// Causal polynomial attention of degree 4 through sketches, block after block, with exact pairs inside blocks of 64 tokens, on a GPU with
// f16 storage:
//
//     o_i = Σ_{j ≤ i} w_ij v_j / Σ_{j ≤ i} w_ij
//     w_ij = ⟨S(q_i), S(k_j)⟩²,   and ⟨q_i, k_j⟩⁴ where ⌊i / 64⌋ = ⌊j / 64⌋
//
// As polysketch-chunked.mlir, but the state has all 8 slices S_f [8, 40] = Σ t_f t vᵀ and z_f [8] = Σ t_f t, of which none stands for two,
// columns are read from the rows of sketches, and each slice takes all tiles of a block before the next slice does. The state's products
// are exact in f32, others take TF32.

#schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f16, warps = 4, stages = 2>
!q = tensor<?x4x?x20xf16>
!k = tensor<?x2x?x20xf16>
!v = tensor<?x2x?x40xf16>
!o = tensor<?x4x?x40xf16>
!leaf = tensor<4x32xf32>
!node = tensor<4x8xf32>
!index = tensor<4x8xi32>
func.func @poly(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %s0: !leaf {attn.name = "s0", attn.parameter}, %s1: !leaf {attn.name = "s1", attn.parameter},
    %s2: !node {attn.name = "s2", attn.parameter}, %s3: !node {attn.name = "s3", attn.parameter},
    %i0: !index {attn.name = "i0", attn.parameter}, %i1: !index {attn.name = "i1", attn.parameter},
    %i2: !index {attn.name = "i2", attn.parameter}, %i3: !index {attn.name = "i3", attn.parameter})
    -> !o attributes {tile.schedule = #schedule} {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %s2, %s3 : !leaf, !leaf, !node, !node)
      indices(%i0, %i1, %i2, %i3 : !index, !index, !index, !index)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>,
       execution = #attn.execution<form = chunked>, local_exact = 64 : i64, scale = 5.000000e-01 : f64, size = 8 : i64}
      : !q, !k, !v -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @poly(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x20xf16, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf16, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf16, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[S0:[^:]*]]: memref<4x32xf32, strided<[?, 1]>> {{{.*}}attune.name = "s0"
// CHECK-SAME:  %[[S1:[^:]*]]: memref<4x32xf32, strided<[?, 1]>> {{{.*}}attune.name = "s1"
// CHECK-SAME:  %[[S2:[^:]*]]: memref<4x8xf32, strided<[?, 1]>> {{{.*}}attune.name = "s2"
// CHECK-SAME:  %[[S3:[^:]*]]: memref<4x8xf32, strided<[?, 1]>> {{{.*}}attune.name = "s3"
// CHECK-SAME:  %[[I0:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i0"
// CHECK-SAME:  %[[I1:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i1"
// CHECK-SAME:  %[[I2:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i2"
// CHECK-SAME:  %[[I3:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i3"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf16, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  %[[LEAF0:[^:]*]]: memref<4x20x8xf32> {{{.*}}attune.name = "sketch0.0"
// CHECK-SAME:  %[[LEAF1:[^:]*]]: memref<4x20x8xf32> {{{.*}}attune.name = "sketch0.1"
// CHECK-SAME:  %[[SIDE0:[^:]*]]: memref<4x8x8xf32> {{{.*}}attune.name = "sketch0.2"
// CHECK-SAME:  %[[SIDE1:[^:]*]]: memref<4x8x8xf32> {{{.*}}attune.name = "sketch0.3"
// CHECK-SAME:  attributes {attune.equal_lengths, attune.size_rules = [{kind = "divides", symbol = "queries", value = 64 : i64}]}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// S(q / |q|) and S(k) of each query head: rows of 8.
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[SQ:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x4x?x8xf32>
// CHECK-NEXT: %[[Q_LENGTHS:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x4x?xf32>
// CHECK-NEXT: %[[KEY_BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[SK:.*]] = tile.workspace(%[[KEY_BATCHES]], %[[KEYS]]) : memref<?x4x?x8xf32>
// CHECK-NEXT: %[[UNIT:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x4x8xf32>
// CHECK-NEXT: %[[Z:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x4x8x8xf32>
// The state: 8 slices S_f [8, 40] and z_f [8], the unit K of each.
// CHECK-NEXT: %[[S:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x4x8x8x40xf32>
// CHECK-NEXT: %[[QUERY_TILES:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: tile.launch @poly_query_sketch grid(%[[BATCHES]], %[[C4]], %[[QUERY_TILES]])
// CHECK-SAME:     (%[[Q]], %[[LEAF0]], %[[LEAF1]], %[[SIDE0]], %[[SIDE1]], %[[SQ]], %[[Q_LENGTHS]])
// CHECK-NEXT: %[[KEY_TILES:.*]] = arith.ceildivui %[[KEYS]], %[[C32]] : index
// CHECK-NEXT: tile.launch @poly_key_sketch grid(%[[KEY_BATCHES]], %[[C4]], %[[KEY_TILES]])
// CHECK-SAME:     (%[[K]], %[[LEAF0]], %[[LEAF1]], %[[SIDE0]], %[[SIDE1]], %[[SK]])
// CHECK-NEXT: tile.launch @poly_chunked grid(%[[BATCHES]], %[[C4]])
// CHECK-SAME:     (%[[Q]], %[[K]], %[[V]], %[[O]], %[[UNIT]], %[[S]], %[[Z]], %[[SQ]], %[[SK]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @poly__prepare_sketch0_0_matrix(

// Pinned in polysketch-sketches-gpu.mlir.
// CHECK-LABEL: tile.kernel @poly_query_sketch(

// CHECK-LABEL: tile.kernel @poly_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x20xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[UNIT:[^:]*]]: memref<?x4x8xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x8x8x40xf32>
// CHECK-SAME:  %[[Z:[^:]*]]: memref<?x4x8x8xf32>
// CHECK-SAME:  %[[SQ:[^:]*]]: memref<?x4x?x8xf32>
// CHECK-SAME:  %[[SK:[^:]*]]: memref<?x4x?x8xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f16, warps = 4, stages = 2>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[ONE_1:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK-DAG: %[[TWO_TO_M126_1:.*]] = arith.constant dense<1.17549435E-38> : tensor<1xf32>
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M126_32:.*]] = arith.constant dense<1.17549435E-38> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_8x40:.*]] = arith.constant dense<0.000000e+00> : tensor<8x40xf32>
// CHECK-DAG: %[[ZERO_8:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// Query heads 2h and 2h + 1 read key-value head h.
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// An empty state: K is the least normal number.
// CHECK-NEXT: tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C8]] step 1 {
// CHECK-NEXT:   tile.store %[[TWO_TO_M126_1]], %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[F]]] : tensor<1xf32>
// CHECK-NEXT:   tile.store %[[ZERO_8x40]], %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : tensor<8x40xf32>
// CHECK-NEXT:   tile.store %[[ZERO_8]], %[[Z]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]]] : tensor<8xf32>
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// The blocks of 64 tokens.
// CHECK-NEXT: tile.loop #tile.sum %[[START:.*]] = %[[C0]] to %[[QUERIES]] step 64 {
// CHECK-NEXT:   %[[END_ALL:.*]] = arith.addi %[[START]], %[[C64]] : index
// CHECK-NEXT:   %[[END:.*]] = arith.minsi %[[END_ALL]], %[[QUERIES]] : index
// The query tiles of the block.
// CHECK-NEXT:   tile.loop #tile.sum %[[FIRST:.*]] = %[[START]] to %[[END]] step 32 {
// CHECK-NEXT:     %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// Queries s [32, 8] in the unit of their row: the power of two next to its largest |s_f|.
// CHECK-NEXT:     %[[SQ_TILE:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT:     %[[ABS_SQ:.*]] = math.absf %[[SQ_TILE]] : tensor<32x8xf32>
// CHECK-NEXT:     %[[LARGEST_SQ:.*]] = tile.reduce max %[[ABS_SQ]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[AT_LEAST:.*]] = arith.maximumf %[[LARGEST_SQ]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[LOG_SQ:.*]] = math.log2 %[[AT_LEAST]] : tensor<32xf32>
// CHECK-NEXT:     %[[ROUNDED:.*]] = math.roundeven %[[LOG_SQ]] : tensor<32xf32>
// CHECK-NEXT:     %[[ROW_UNIT:.*]] = math.exp2 %[[ROUNDED]] : tensor<32xf32>
// Carried from here: the unit m [32] of roots, den and num relative to m². It begins as K times the row's unit.
// CHECK-NEXT:     %[[K_1:.*]] = tile.load %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[C0]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:     %[[K_1_COLS:.*]] = tile.expand %[[K_1]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:     %[[K_32:.*]] = tile.reduce add %[[K_1_COLS]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[UNIT_STATE:.*]] = arith.mulf %[[ROW_UNIT]], %[[K_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[EACH:.*]] = arith.divf %[[ONE_32]], %[[ROW_UNIT]] : tensor<32xf32>
// CHECK-NEXT:     %[[EACH_COLS:.*]] = tile.expand %[[EACH]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT:     %[[S_ROWS:.*]] = arith.mulf %[[SQ_TILE]], %[[EACH_COLS]] : tensor<32x8xf32>
// a [32, 8] = s_f s; den [32] += a z_f, num [32, 40] += a S_f
// CHECK-NEXT:     %[[SUMS:.*]]:2 = tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C8]] step 1 carries(
// CHECK-SAME:         %[[DEN_IN:.*]] = %[[ZERO_32]], %[[NUM_IN:.*]] = %[[ZERO_32x40]]) : (tensor<32xf32>, tensor<32x40xf32>) {
// CHECK-NEXT:       %[[COLUMN_32x1:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[F]]] : {{.*}} -> tensor<32x1xf32>
// CHECK-NEXT:       %[[COLUMN:.*]] = tile.reduce add %[[COLUMN_32x1]] axis 1 : tensor<32x1xf32> -> tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT:.*]] = arith.mulf %[[COLUMN]], %[[EACH]] : tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT_COLS:.*]] = tile.expand %[[COLUMN_IN_UNIT]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT:       %[[A:.*]] = arith.mulf %[[S_ROWS]], %[[COLUMN_IN_UNIT_COLS]] : tensor<32x8xf32>
// CHECK-NEXT:       %[[S_F:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x40xf32>
// CHECK-NEXT:       %[[Z_F:.*]] = tile.load %[[Z]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]]] : {{.*}} -> tensor<8xf32>
// CHECK-NEXT:       %[[Z_F_ROWS:.*]] = tile.expand %[[Z_F]] axis 0 : tensor<8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:       %[[A_Z:.*]] = arith.mulf %[[A]], %[[Z_F_ROWS]] : tensor<32x8xf32>
// CHECK-NEXT:       %[[A_Z_SUM:.*]] = tile.reduce add %[[A_Z]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT:       %[[DEN_OUT:.*]] = arith.addf %[[DEN_IN]], %[[A_Z_SUM]] : tensor<32xf32>
// CHECK-NEXT:       %[[NUM_OUT:.*]] = tile.dot %[[A]], %[[S_F]], %[[NUM_IN]] precision f32 : tensor<32x8xf32>, tensor<8x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:       tile.yield %[[DEN_OUT]], %[[NUM_OUT]] : tensor<32xf32>, tensor<32x40xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[M_LEAST:.*]] = arith.maximumf %[[UNIT_STATE]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_SAFE:.*]] = arith.maximumf %[[M_LEAST]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[INVERSE_M:.*]] = arith.divf %[[ONE_32]], %[[M_SAFE]] : tensor<32xf32>
// CHECK-NEXT:     %[[RATIO:.*]] = arith.mulf %[[UNIT_STATE]], %[[INVERSE_M]] : tensor<32xf32>
// CHECK-NEXT:     %[[RATIO_SQ:.*]] = arith.mulf %[[RATIO]], %[[RATIO]] : tensor<32xf32>
// CHECK-NEXT:     %[[DEN_START:.*]] = arith.mulf %[[SUMS]]#0, %[[RATIO_SQ]] : tensor<32xf32>
// CHECK-NEXT:     %[[RATIO_SQ_COLS:.*]] = tile.expand %[[RATIO_SQ]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[NUM_START:.*]] = arith.mulf %[[SUMS]]#1, %[[RATIO_SQ_COLS]] : tensor<32x40xf32>
// q / |q| [32, 20]
// CHECK-NEXT:     %[[TILE_END_ALL:.*]] = arith.addi %[[FIRST]], %[[C1]] : index
// CHECK-NEXT:     %[[TILE_END:.*]] = arith.minsi %[[TILE_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT:     %[[Q_F16:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf16>
// CHECK-NEXT:     %[[Q_TILE:.*]] = arith.extf %[[Q_F16]] : tensor<32x20xf16> to tensor<32x20xf32>
// CHECK-NEXT:     %[[Q_SQUARES:.*]] = arith.mulf %[[Q_TILE]], %[[Q_TILE]] : tensor<32x20xf32>
// CHECK-NEXT:     %[[Q_SUM:.*]] = tile.reduce add %[[Q_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[Q_NORM:.*]] = math.sqrt %[[Q_SUM]] : tensor<32xf32>
// CHECK-NEXT:     %[[NORM_SAFE:.*]] = arith.maximumf %[[Q_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[NORM_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[NORM_SAFE]] : tensor<32xf32>
// CHECK-NEXT:     %[[NORM_INVERSE_COLS:.*]] = tile.expand %[[NORM_INVERSE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT:     %[[Q_UNIT:.*]] = arith.mulf %[[Q_TILE]], %[[NORM_INVERSE_COLS]] : tensor<32x20xf32>
// The keys of the block up to the tile's last query.
// CHECK-NEXT:     %[[PAIRS:.*]]:3 = tile.loop #tile.rescaled_sum<power 2, row> %[[FIRST_KEY:.*]] = %[[START]] to %[[TILE_END]] step 32 carries(
// CHECK-SAME:         %[[M:.*]] = %[[M_LEAST]], %[[DEN:.*]] = %[[DEN_START]], %[[NUM:.*]] = %[[NUM_START]]) :
// CHECK-SAME:         (tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>) {
// roots of weights t [32, 32]: ⟨q / |q|, k⟩², below the diagonal
// CHECK-NEXT:       %[[K_F16:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x20xf16>
// CHECK-NEXT:       %[[K_TILE:.*]] = arith.extf %[[K_F16]] : tensor<32x20xf16> to tensor<32x20xf32>
// CHECK-NEXT:       %[[LOGITS:.*]] = tile.dot %[[Q_UNIT]], %[[K_TILE]], %[[ZERO_32x32]] precision tf32 {transpose_b} : {{.*}} -> tensor<32x32xf32>
// CHECK-NEXT:       %[[T_ALL:.*]] = arith.mulf %[[LOGITS]], %[[LOGITS]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[DIAGONAL:.*]] = arith.subi %[[FIRST]], %[[FIRST_KEY]] : index
// CHECK-NEXT:       %[[T:.*]] = tile.mask %[[T_ALL]] fill 0.000000e+00 diagonal(%[[DIAGONAL]]) : tensor<32x32xf32>
// m' = max(m, max |t|), w = (t / m')², den and num times (m / m')²
// CHECK-NEXT:       %[[ABS_T:.*]] = math.absf %[[T]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[ROW_MAX:.*]] = tile.reduce max %[[ABS_T]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:       %[[M_NEXT:.*]] = arith.maximumf %[[M]], %[[ROW_MAX]] : tensor<32xf32>
// CHECK-NEXT:       %[[M_NEXT_SAFE:.*]] = arith.maximumf %[[M_NEXT]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:       %[[M_NEXT_INVERSE:.*]] = arith.divf %[[ONE_32]], %[[M_NEXT_SAFE]] : tensor<32xf32>
// CHECK-NEXT:       %[[GROWTH:.*]] = arith.mulf %[[M]], %[[M_NEXT_INVERSE]] : tensor<32xf32>
// CHECK-NEXT:       %[[GROWTH_SQ:.*]] = arith.mulf %[[GROWTH]], %[[GROWTH]] : tensor<32xf32>
// CHECK-NEXT:       %[[SAME:.*]] = arith.cmpf oeq, %[[M]], %[[M_NEXT]] : tensor<32xf32>
// CHECK-NEXT:       %[[KEPT:.*]] = arith.select %[[SAME]], %[[ONE_32]], %[[GROWTH_SQ]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:       %[[DEN_KEPT:.*]] = arith.mulf %[[DEN]], %[[KEPT]] : tensor<32xf32>
// CHECK-NEXT:       %[[KEPT_COLS:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:       %[[NUM_KEPT:.*]] = arith.mulf %[[NUM]], %[[KEPT_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:       %[[M_NEXT_INVERSE_COLS:.*]] = tile.expand %[[M_NEXT_INVERSE]] axis 1 : tensor<32xf32> -> tensor<32x32xf32>
// CHECK-NEXT:       %[[T_IN_UNIT:.*]] = arith.mulf %[[T]], %[[M_NEXT_INVERSE_COLS]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[W:.*]] = arith.mulf %[[T_IN_UNIT]], %[[T_IN_UNIT]] : tensor<32x32xf32>
// CHECK-NEXT:       %[[ROW_SUM:.*]] = tile.reduce add %[[W]] axis 1 : tensor<32x32xf32> -> tensor<32xf32>
// CHECK-NEXT:       %[[DEN_NEXT:.*]] = arith.addf %[[DEN_KEPT]], %[[ROW_SUM]] : tensor<32xf32>
// CHECK-NEXT:       %[[V_F16:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf16>
// CHECK-NEXT:       %[[V_TILE:.*]] = arith.extf %[[V_F16]] : tensor<32x40xf16> to tensor<32x40xf32>
// CHECK-NEXT:       %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM_KEPT]] precision tf32 : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:       tile.yield %[[M_NEXT]], %[[DEN_NEXT]], %[[NUM_NEXT]] : tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>
// CHECK-NEXT:     }
// o = num / den, stored up to the block's end.
// CHECK-NEXT:     %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[PAIRS]]#1 : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL:.*]] = arith.cmpf oeq, %[[PAIRS]]#1, %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT:.*]] = arith.mulf %[[PAIRS]]#2, %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT_F16:.*]] = arith.truncf %[[OUT]] : tensor<32x40xf32> to tensor<32x40xf16>
// CHECK-NEXT:     tile.store %[[OUT_F16]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf16>
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C8]] step 1 {
// CHECK-NEXT:     %[[KEYS_NOW:.*]] = memref.dim %[[K]], %[[C2]] : memref<?x2x?x20xf16, strided<[?, ?, ?, 1]>>
// The block's keys enter every slice.
// CHECK-NEXT:     %[[KEYS_END:.*]] = arith.minsi %[[END_ALL]], %[[KEYS_NOW]] : index
// CHECK-NEXT:     %[[K_F:.*]] = tile.load %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[F]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:     %[[S_F:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x40xf32>
// CHECK-NEXT:     %[[Z_F:.*]] = tile.load %[[Z]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]]] : {{.*}} -> tensor<8xf32>
// CHECK-NEXT:     %[[SLICE:.*]]:3 = tile.loop #tile.rescaled_sum<power 2, scalar> %[[FIRST:.*]] = %[[START]] to %[[KEYS_END]] step 32 carries(
// CHECK-SAME:         %[[K_IN:.*]] = %[[K_F]], %[[S_IN:.*]] = %[[S_F]], %[[Z_IN:.*]] = %[[Z_F]]) : (tensor<1xf32>, tensor<8x40xf32>, tensor<8xf32>) {
// CHECK-NEXT:       %[[SK_TILE:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x8xf32>
// K' = max(K, max |s_f|); the slice is kept times (K / K')².
// CHECK-NEXT:       %[[ABS_SK:.*]] = math.absf %[[SK_TILE]] : tensor<32x8xf32>
// CHECK-NEXT:       %[[LARGEST_ROW:.*]] = tile.reduce max %[[ABS_SK]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT:       %[[LARGEST_ROW_ROWS:.*]] = tile.expand %[[LARGEST_ROW]] axis 0 : tensor<32xf32> -> tensor<1x32xf32>
// CHECK-NEXT:       %[[LARGEST_SK:.*]] = tile.reduce max %[[LARGEST_ROW_ROWS]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:       %[[K_NEXT:.*]] = arith.maximumf %[[K_IN]], %[[LARGEST_SK]] : tensor<1xf32>
// CHECK-NEXT:       %[[K_SAFE:.*]] = arith.maximumf %[[K_NEXT]], %[[TWO_TO_M126_1]] : tensor<1xf32>
// CHECK-NEXT:       %[[K_INVERSE:.*]] = arith.divf %[[ONE_1]], %[[K_SAFE]] : tensor<1xf32>
// CHECK-NEXT:       %[[RATIO:.*]] = arith.mulf %[[K_IN]], %[[K_INVERSE]] : tensor<1xf32>
// CHECK-NEXT:       %[[RATIO_SQ:.*]] = arith.mulf %[[RATIO]], %[[RATIO]] : tensor<1xf32>
// CHECK-NEXT:       %[[SAME:.*]] = arith.cmpf oeq, %[[K_IN]], %[[K_NEXT]] : tensor<1xf32>
// CHECK-NEXT:       %[[KEPT:.*]] = arith.select %[[SAME]], %[[ONE_1]], %[[RATIO_SQ]] : tensor<1xi1>, tensor<1xf32>
// S_f += bᵀ v, z_f += bᵀ 1
// CHECK-NEXT:       %[[KEPT_COLS:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<1xf32> -> tensor<1x8xf32>
// CHECK-NEXT:       %[[KEPT_ROW:.*]] = tile.reduce add %[[KEPT_COLS]] axis 0 : tensor<1x8xf32> -> tensor<8xf32>
// CHECK-NEXT:       %[[KEPT_ROW_COLS:.*]] = tile.expand %[[KEPT_ROW]] axis 1 : tensor<8xf32> -> tensor<8x40xf32>
// CHECK-NEXT:       %[[S_KEPT:.*]] = arith.mulf %[[S_IN]], %[[KEPT_ROW_COLS]] : tensor<8x40xf32>
// CHECK-NEXT:       %[[Z_KEPT:.*]] = arith.mulf %[[Z_IN]], %[[KEPT_ROW]] : tensor<8xf32>
// CHECK-NEXT:       %[[COLUMN_32x1:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[F]]] rows(%[[KEYS_END]])
// CHECK-SAME:           -> tensor<32x1xf32>
// CHECK-NEXT:       %[[COLUMN:.*]] = tile.reduce add %[[COLUMN_32x1]] axis 1 : tensor<32x1xf32> -> tensor<32xf32>
// CHECK-NEXT:       %[[V_F16:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x40xf16>
// CHECK-NEXT:       %[[V_TILE:.*]] = arith.extf %[[V_F16]] : tensor<32x40xf16> to tensor<32x40xf32>
// b [32, 8] = s_f s relative to K'²
// CHECK-NEXT:       %[[K_INVERSE_COLS:.*]] = tile.expand %[[K_INVERSE]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:       %[[INVERSES:.*]] = tile.reduce add %[[K_INVERSE_COLS]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT:.*]] = arith.mulf %[[COLUMN]], %[[INVERSES]] : tensor<32xf32>
// CHECK-NEXT:       %[[K_INVERSE_COLS_2:.*]] = tile.expand %[[K_INVERSE]] axis 1 : tensor<1xf32> -> tensor<1x8xf32>
// CHECK-NEXT:       %[[INVERSE_ROW:.*]] = tile.reduce add %[[K_INVERSE_COLS_2]] axis 0 : tensor<1x8xf32> -> tensor<8xf32>
// CHECK-NEXT:       %[[INVERSE_ROW_ROWS:.*]] = tile.expand %[[INVERSE_ROW]] axis 0 : tensor<8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:       %[[S_IN_UNIT:.*]] = arith.mulf %[[SK_TILE]], %[[INVERSE_ROW_ROWS]] : tensor<32x8xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT_COLS:.*]] = tile.expand %[[COLUMN_IN_UNIT]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT:       %[[B:.*]] = arith.mulf %[[S_IN_UNIT]], %[[COLUMN_IN_UNIT_COLS]] : tensor<32x8xf32>
// CHECK-NEXT:       %[[S_NEXT:.*]] = tile.dot %[[B]], %[[V_TILE]], %[[S_KEPT]] precision f32 {transpose_a} : {{.*}} -> tensor<8x40xf32>
// CHECK-NEXT:       %[[B_SUM:.*]] = tile.reduce add %[[B]] axis 0 : tensor<32x8xf32> -> tensor<8xf32>
// CHECK-NEXT:       %[[Z_NEXT:.*]] = arith.addf %[[Z_KEPT]], %[[B_SUM]] : tensor<8xf32>
// CHECK-NEXT:       tile.yield %[[K_NEXT]], %[[S_NEXT]], %[[Z_NEXT]] : tensor<1xf32>, tensor<8x40xf32>, tensor<8xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.store %[[SLICE]]#0, %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[F]]] : tensor<1xf32>
// CHECK-NEXT:     tile.store %[[SLICE]]#1, %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : tensor<8x40xf32>
// CHECK-NEXT:     tile.store %[[SLICE]]#2, %[[Z]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]]] : tensor<8xf32>
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
