// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal polynomial attention of degree 4 through sketches, block after block, with exact pairs inside a block:
//
//     o_i = Σ_{j ≤ i} w_ij v_j / Σ_{j ≤ i} w_ij
//
//
// S is the sketch of degree 2 and size r = 8, so that w_ij = ⟨S(q_i), S(k_j)⟩² stands for ⟨q_i, k_j⟩⁴. Keys of the query's own block of 64
// tokens count with ⟨q_i, k_j⟩⁴ itself. ⟨s, t⟩² = Σ_fg s_f s_g t_f t_g: the state of keys t is z [8, 8] = Σ t tᵀ and S_fg [40] = Σ t_f t_g
// v, each product f ≤ g stored once, as slices f of the 4 products t_f t_(f+i mod 8), i < 4, and one of t_f t_(f+4).
//
// One thread block per (batch, query head) walks the blocks. Every tile of 32 queries reads the state of the blocks before, then pairs with
// the keys of its own block; then the block's keys enter the state. The state lies in memory: slices are read and written one by one. Sums
// are relative to a power of a unit, the largest number so far: m of a row, K of the state. The kernels that make sketches and their
// matrices are pinned in polysketch-sketches.mlir.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
!q = tensor<?x4x?x20xf32>
!k = tensor<?x2x?x20xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
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
// S(q / |q|) and S(k) of each query head. The rows are 8 + 4 wide: half of a row stands again behind its end.
// A second copy is transposed, a tile of 32 tokens after the other, so that a column is a row of memory.
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT: %[[SQ:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x4x?x12xf32>
// CHECK-NEXT: %[[QUERY_TILES:.*]] = arith.ceildivui %[[QUERIES]], %[[C32]] : index
// CHECK-NEXT: %[[SQ_COLUMNS:.*]] = tile.workspace(%[[BATCHES]], %[[QUERY_TILES]]) : memref<?x4x?x8x32xf32>
// CHECK-NEXT: %[[Q_LENGTHS:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x4x?xf32>
// CHECK-NEXT: %[[KEY_BATCHES:.*]] = memref.dim %[[K]], %[[C0]] :
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[SK:.*]] = tile.workspace(%[[KEY_BATCHES]], %[[KEYS]]) : memref<?x4x?x12xf32>
// CHECK-NEXT: %[[KEY_TILES:.*]] = arith.ceildivui %[[KEYS]], %[[C32]] : index
// CHECK-NEXT: %[[SK_COLUMNS:.*]] = tile.workspace(%[[KEY_BATCHES]], %[[KEY_TILES]]) : memref<?x4x?x8x32xf32>
// CHECK-NEXT: %[[UNIT:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x4x9xf32>
// CHECK-NEXT: %[[Z:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x4x9x8xf32>
// The state: 9 slices S_f [4, 40], a row of z [8], the unit K in each.
// CHECK-NEXT: %[[S:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x4x9x4x40xf32>
// CHECK-NEXT: tile.launch @poly_query_sketch grid(%[[BATCHES]], %[[C4]], %[[QUERY_TILES]])
// CHECK-SAME:     (%[[Q]], %[[LEAF0]], %[[LEAF1]], %[[SIDE0]], %[[SIDE1]], %[[SQ]], %[[SQ_COLUMNS]], %[[Q_LENGTHS]])
// CHECK-NEXT: tile.launch @poly_key_sketch grid(%[[KEY_BATCHES]], %[[C4]], %[[KEY_TILES]])
// CHECK-SAME:     (%[[K]], %[[LEAF0]], %[[LEAF1]], %[[SIDE0]], %[[SIDE1]], %[[SK]], %[[SK_COLUMNS]])
// CHECK-NEXT: tile.launch @poly_chunked grid(%[[BATCHES]], %[[C4]])
// CHECK-SAME:     (%[[Q]], %[[K]], %[[V]], %[[O]], %[[UNIT]], %[[S]], %[[Z]], %[[SQ]], %[[SQ_COLUMNS]], %[[SK]], %[[SK_COLUMNS]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @poly__prepare_sketch0_0_matrix(

// CHECK-LABEL: tile.kernel @poly_chunked(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[UNIT:[^:]*]]: memref<?x4x9xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x9x4x40xf32>
// CHECK-SAME:  %[[Z:[^:]*]]: memref<?x4x9x8xf32>
// CHECK-SAME:  %[[SQ:[^:]*]]: memref<?x4x?x12xf32>
// CHECK-SAME:  %[[SQ_COLUMNS:[^:]*]]: memref<?x4x?x8x32xf32>
// CHECK-SAME:  %[[SK:[^:]*]]: memref<?x4x?x12xf32>
// CHECK-SAME:  %[[SK_COLUMNS:[^:]*]]: memref<?x4x?x8x32xf32>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[ONE_1:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK-DAG: %[[TWO_TO_M126_1:.*]] = arith.constant dense<1.17549435E-38> : tensor<1xf32>
// CHECK-DAG: %[[ZERO_32x32:.*]] = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[F2_32x4:.*]] = arith.constant dense<2.000000e+00> : tensor<32x4xf32>
// CHECK-DAG: %[[ZERO_32x8:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M126_32:.*]] = arith.constant dense<1.17549435E-38> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_4x40:.*]] = arith.constant dense<0.000000e+00> : tensor<4x40xf32>
// CHECK-DAG: %[[COUNTS_4:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK-DAG: %[[ZERO_8:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// Query heads 2h and 2h + 1 read key-value head h.
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// An empty state: K is the least normal number.
// CHECK-NEXT: tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C9]] step 1 {
// CHECK-NEXT:   tile.store %[[TWO_TO_M126_1]], %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[F]]] : tensor<1xf32>
// CHECK-NEXT:   tile.store %[[ZERO_4x40]], %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : tensor<4x40xf32>
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
// den [32] = Σ_fg s_f s_g z_fg
// CHECK-NEXT:     %[[Z_TILE:.*]] = tile.load %[[Z]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:     %[[S_Z:.*]] = tile.dot %[[S_ROWS]], %[[Z_TILE]], %[[ZERO_32x8]] : tensor<32x8xf32>, tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:     %[[S_TERMS:.*]] = arith.mulf %[[S_Z]], %[[S_ROWS]] : tensor<32x8xf32>
// CHECK-NEXT:     %[[DEN_STATE:.*]] = tile.reduce add %[[S_TERMS]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[TILE_NUMBER:.*]] = arith.divui %[[FIRST]], %[[C32]] : index
// num [32, 40] = Σ_f Σ_{i < 4} c_i s_f s_(f+i mod 8) S_f[i], c_0 = 1, other products stand for two.
// CHECK-NEXT:     %[[COUNTS_4_ROWS:.*]] = tile.expand %[[COUNTS_4]] axis 0 : tensor<4xf32> -> tensor<32x4xf32>
// CHECK-NEXT:     %[[NUM_SLICES:.*]] = tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C8]] step 1 carries(
// CHECK-SAME:         %[[NUM_IN:.*]] = %[[ZERO_32x40]]) : (tensor<32x40xf32>) {
// CHECK-NEXT:       %[[WINDOW:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[F]]] : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:       %[[EACH_HALF:.*]] = tile.expand %[[EACH]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:       %[[WINDOW_IN_UNIT:.*]] = arith.mulf %[[WINDOW]], %[[EACH_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[COLUMN:.*]] = tile.load %[[SQ_COLUMNS]][%[[BATCH]], %[[HEAD]], %[[TILE_NUMBER]], %[[F]], %[[C0]]] : {{.*}} -> tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT:.*]] = arith.mulf %[[COLUMN]], %[[EACH]] : tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT_COLS:.*]] = tile.expand %[[COLUMN_IN_UNIT]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:       %[[PRODUCTS:.*]] = arith.mulf %[[WINDOW_IN_UNIT]], %[[COLUMN_IN_UNIT_COLS]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[COUNTED:.*]] = arith.mulf %[[PRODUCTS]], %[[COUNTS_4_ROWS]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[S_F:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:       %[[NUM_OUT:.*]] = tile.dot %[[COUNTED]], %[[S_F]], %[[NUM_IN]] : tensor<32x4xf32>, tensor<4x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:       tile.yield %[[NUM_OUT]] : tensor<32x40xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[HALF0:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x4xf32>
// The last slice has s_f s_(f+4), each of which stands for two.
// CHECK-NEXT:     %[[EACH_HALF:.*]] = tile.expand %[[EACH]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF0_IN_UNIT:.*]] = arith.mulf %[[HALF0]], %[[EACH_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1:.*]] = tile.load %[[SQ]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C4]]] : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1_IN_UNIT:.*]] = arith.mulf %[[HALF1]], %[[EACH_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[OPPOSITE:.*]] = arith.mulf %[[HALF0_IN_UNIT]], %[[HALF1_IN_UNIT]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[TWICE:.*]] = arith.mulf %[[OPPOSITE]], %[[F2_32x4]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[S_LAST:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[C8]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:     %[[NUM_STATE:.*]] = tile.dot %[[TWICE]], %[[S_LAST]], %[[NUM_SLICES]] : tensor<32x4xf32>, tensor<4x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[M_LEAST:.*]] = arith.maximumf %[[UNIT_STATE]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[M_SAFE:.*]] = arith.maximumf %[[M_LEAST]], %[[TWO_TO_M126_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[INVERSE_M:.*]] = arith.divf %[[ONE_32]], %[[M_SAFE]] : tensor<32xf32>
// CHECK-NEXT:     %[[RATIO:.*]] = arith.mulf %[[UNIT_STATE]], %[[INVERSE_M]] : tensor<32xf32>
// CHECK-NEXT:     %[[RATIO_SQ:.*]] = arith.mulf %[[RATIO]], %[[RATIO]] : tensor<32xf32>
// CHECK-NEXT:     %[[DEN_START:.*]] = arith.mulf %[[DEN_STATE]], %[[RATIO_SQ]] : tensor<32xf32>
// CHECK-NEXT:     %[[RATIO_SQ_COLS:.*]] = tile.expand %[[RATIO_SQ]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[NUM_START:.*]] = arith.mulf %[[NUM_STATE]], %[[RATIO_SQ_COLS]] : tensor<32x40xf32>
// q / |q| [32, 20]
// CHECK-NEXT:     %[[TILE_END_ALL:.*]] = arith.addi %[[FIRST]], %[[C1]] : index
// CHECK-NEXT:     %[[TILE_END:.*]] = arith.minsi %[[TILE_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT:     %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf32>
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
// CHECK-NEXT:       %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT:       %[[LOGITS:.*]] = tile.dot %[[Q_UNIT]], %[[K_TILE]], %[[ZERO_32x32]] {transpose_b} : {{.*}} -> tensor<32x32xf32>
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
// CHECK-NEXT:       %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:       %[[NUM_NEXT:.*]] = tile.dot %[[W]], %[[V_TILE]], %[[NUM_KEPT]] : tensor<32x32xf32>, tensor<32x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:       tile.yield %[[M_NEXT]], %[[DEN_NEXT]], %[[NUM_NEXT]] : tensor<32xf32>, tensor<32xf32>, tensor<32x40xf32>
// CHECK-NEXT:     }
// o = num / den.
// CHECK-NEXT:     %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[PAIRS]]#1 : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL:.*]] = arith.cmpf oeq, %[[PAIRS]]#1, %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT:.*]] = arith.mulf %[[PAIRS]]#2, %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[KEYS_NOW:.*]] = memref.dim %[[K]], %[[C2]] : memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// The block's keys enter the state.
// CHECK-NEXT:   %[[KEYS_END:.*]] = arith.minsi %[[END_ALL]], %[[KEYS_NOW]] : index
// CHECK-NEXT:   tile.loop #tile.sum %[[FIRST:.*]] = %[[START]] to %[[KEYS_END]] step 32 {
// CHECK-NEXT:     %[[SK_TILE:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x8xf32>
// K' = max(K, max |s_f|), stored for all slices; the state is kept times (K / K')².
// CHECK-NEXT:     %[[ABS_SK:.*]] = math.absf %[[SK_TILE]] : tensor<32x8xf32>
// CHECK-NEXT:     %[[LARGEST_ROW:.*]] = tile.reduce max %[[ABS_SK]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[LARGEST_ROW_ROWS:.*]] = tile.expand %[[LARGEST_ROW]] axis 0 : tensor<32xf32> -> tensor<1x32xf32>
// CHECK-NEXT:     %[[LARGEST_SK:.*]] = tile.reduce max %[[LARGEST_ROW_ROWS]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:     %[[K_BEFORE:.*]] = tile.load %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[C0]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:     %[[K_MAX:.*]] = arith.maximumf %[[K_BEFORE]], %[[LARGEST_SK]] : tensor<1xf32>
// CHECK-NEXT:     %[[K_NEXT:.*]] = arith.maximumf %[[K_MAX]], %[[TWO_TO_M126_1]] : tensor<1xf32>
// CHECK-NEXT:     %[[K_NEXT_COLS:.*]] = tile.expand %[[K_NEXT]] axis 1 : tensor<1xf32> -> tensor<1x9xf32>
// CHECK-NEXT:     %[[K_ALL:.*]] = tile.reduce add %[[K_NEXT_COLS]] axis 0 : tensor<1x9xf32> -> tensor<9xf32>
// CHECK-NEXT:     tile.store %[[K_ALL]], %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[C0]]] : tensor<9xf32>
// CHECK-NEXT:     %[[K_INVERSE:.*]] = arith.divf %[[ONE_1]], %[[K_NEXT]] : tensor<1xf32>
// CHECK-NEXT:     %[[RATIO:.*]] = arith.mulf %[[K_BEFORE]], %[[K_INVERSE]] : tensor<1xf32>
// CHECK-NEXT:     %[[RATIO_SQ:.*]] = arith.mulf %[[RATIO]], %[[RATIO]] : tensor<1xf32>
// CHECK-NEXT:     %[[SAME:.*]] = arith.cmpf oeq, %[[K_BEFORE]], %[[K_NEXT]] : tensor<1xf32>
// CHECK-NEXT:     %[[KEPT:.*]] = arith.select %[[SAME]], %[[ONE_1]], %[[RATIO_SQ]] : tensor<1xi1>, tensor<1xf32>
// z [8, 8] += sᵀ s, s relative to K'
// CHECK-NEXT:     %[[K_INVERSE_COLS:.*]] = tile.expand %[[K_INVERSE]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:     %[[INVERSES:.*]] = tile.reduce add %[[K_INVERSE_COLS]] axis 0 : tensor<1x32xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[INVERSES_COLS:.*]] = tile.expand %[[INVERSES]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT:     %[[S_IN_UNIT:.*]] = arith.mulf %[[SK_TILE]], %[[INVERSES_COLS]] : tensor<32x8xf32>
// CHECK-NEXT:     %[[Z_BEFORE:.*]] = tile.load %[[Z]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:     %[[KEPT_COLS:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<1xf32> -> tensor<1x8xf32>
// CHECK-NEXT:     %[[KEPT_ROWS:.*]] = tile.reduce add %[[KEPT_COLS]] axis 0 : tensor<1x8xf32> -> tensor<8xf32>
// CHECK-NEXT:     %[[KEPT_ROWS_COLS:.*]] = tile.expand %[[KEPT_ROWS]] axis 1 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT:     %[[Z_KEPT:.*]] = arith.mulf %[[Z_BEFORE]], %[[KEPT_ROWS_COLS]] : tensor<8x8xf32>
// CHECK-NEXT:     %[[Z_NEXT:.*]] = tile.dot %[[S_IN_UNIT]], %[[S_IN_UNIT]], %[[Z_KEPT]] {transpose_a} : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:     tile.store %[[Z_NEXT]], %[[Z]][%[[BATCH]], %[[HEAD]], %[[C0]], %[[C0]]] : tensor<8x8xf32>
// The last slice: s_f s_(f+4).
// CHECK-NEXT:     %[[HALF0:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:     %[[INVERSES_HALF:.*]] = tile.expand %[[INVERSES]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF0_IN_UNIT:.*]] = arith.mulf %[[HALF0]], %[[INVERSES_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C4]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1_IN_UNIT:.*]] = arith.mulf %[[HALF1]], %[[INVERSES_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[OPPOSITE:.*]] = arith.mulf %[[HALF0_IN_UNIT]], %[[HALF1_IN_UNIT]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:     %[[S_BEFORE:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[C8]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:     %[[KEPT_COLS_2:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<1xf32> -> tensor<1x4xf32>
// CHECK-NEXT:     %[[KEPT_HALF:.*]] = tile.reduce add %[[KEPT_COLS_2]] axis 0 : tensor<1x4xf32> -> tensor<4xf32>
// CHECK-NEXT:     %[[KEPT_HALF_COLS:.*]] = tile.expand %[[KEPT_HALF]] axis 1 : tensor<4xf32> -> tensor<4x40xf32>
// CHECK-NEXT:     %[[S_KEPT:.*]] = arith.mulf %[[S_BEFORE]], %[[KEPT_HALF_COLS]] : tensor<4x40xf32>
// CHECK-NEXT:     %[[S_NEXT:.*]] = tile.dot %[[OPPOSITE]], %[[V_TILE]], %[[S_KEPT]] {transpose_a} : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:     tile.store %[[S_NEXT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[C8]], %[[C0]], %[[C0]]] : tensor<4x40xf32>
// CHECK-NEXT:     %[[TILE_NUMBER:.*]] = arith.divui %[[FIRST]], %[[C32]] : index
// S_f [4, 40] += (s_f s_(f+i mod 8))ᵀ v
// CHECK-NEXT:     tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C8]] step 1 {
// CHECK-NEXT:       %[[WINDOW:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[F]]] rows(%[[KEYS_END]]) : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:       %[[WINDOW_IN_UNIT:.*]] = arith.mulf %[[WINDOW]], %[[INVERSES_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS_END]], %[[FIRST]] : index
// CHECK-NEXT:       %[[COLUMN:.*]] = tile.load %[[SK_COLUMNS]][%[[BATCH]], %[[HEAD]], %[[TILE_NUMBER]], %[[F]], %[[C0]]] rows(%[[KEYS_LEFT]])
// CHECK-SAME:           : {{.*}} -> tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT:.*]] = arith.mulf %[[COLUMN]], %[[INVERSES]] : tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT_COLS:.*]] = tile.expand %[[COLUMN_IN_UNIT]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:       %[[PRODUCTS:.*]] = arith.mulf %[[WINDOW_IN_UNIT]], %[[COLUMN_IN_UNIT_COLS]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[S_BEFORE:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:       %[[S_KEPT:.*]] = arith.mulf %[[S_BEFORE]], %[[KEPT_HALF_COLS]] : tensor<4x40xf32>
// CHECK-NEXT:       %[[S_NEXT:.*]] = tile.dot %[[PRODUCTS]], %[[V_TILE]], %[[S_KEPT]] {transpose_a} : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:       tile.store %[[S_NEXT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[F]], %[[C0]], %[[C0]]] : tensor<4x40xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
