// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Causal polynomial attention of degree 4 through sketches, with exact pairs inside blocks of 64 tokens, in three parts of the sequence
// side by side. A part has equally many whole blocks, ⌈N / 576⌉ · 192 tokens, and is cut into three pieces. "pieces" sums up the state of
// each piece of all parts but the last; "chunked" has a thread block per (batch, query head, part): its state begins as the sum of the
// pieces before the part, merged in their order, and then goes on as in polysketch-chunked.mlir, in a workspace for each part.
//
// This file has the host function and "pieces", polysketch-split-chunked.mlir the other kernel.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1, parts = 3>
!q = tensor<?x4x?x20xf32>
!k = tensor<?x2x?x20xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!leaf = tensor<4x32xf32>
!node = tensor<4x8xf32>
!index = tensor<4x8xi32>
func.func @split(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
    %s0: !leaf {attn.name = "s0", attn.parameter}, %s1: !leaf {attn.name = "s1", attn.parameter},
    %s2: !node {attn.name = "s2", attn.parameter}, %s3: !node {attn.name = "s3", attn.parameter},
    %i0: !index {attn.name = "i0", attn.parameter}, %i1: !index {attn.name = "i1", attn.parameter},
    %i2: !index {attn.name = "i2", attn.parameter}, %i3: !index {attn.name = "i3", attn.parameter})
    -> !o attributes {tile.schedule = #schedule} {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %s2, %s3 : !leaf, !leaf, !node, !node)
      indices(%i0, %i1, %i2, %i3 : !index, !index, !index, !index)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>,
       execution = #attn.execution<form = chunked, split = true>, local_exact = 64 : i64, scale = 5.000000e-01 : f64, size = 8 : i64}
      : !q, !k, !v -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @split(
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
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C192:.*]] = arith.constant 192 : index
// CHECK-DAG: %[[C576:.*]] = arith.constant 576 : index
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
// Parts of ⌈N / 576⌉ · 192 tokens; three pieces of each but the last.
// CHECK-NEXT: %[[THIRDS:.*]] = arith.ceildivui %[[KEYS]], %[[C576]] : index
// CHECK-NEXT: %[[PART_ALL:.*]] = arith.muli %[[THIRDS]], %[[C192]] : index
// CHECK-NEXT: %[[PART:.*]] = arith.maxsi %[[PART_ALL]], %[[C1]] : index
// CHECK-NEXT: %[[PARTS:.*]] = arith.ceildivui %[[KEYS]], %[[PART]] : index
// CHECK-NEXT: %[[PARTS_LEAST:.*]] = arith.maxsi %[[PARTS]], %[[C1]] : index
// CHECK-NEXT: %[[PARTS_BEFORE:.*]] = arith.subi %[[PARTS_LEAST]], %[[C1]] : index
// CHECK-NEXT: %[[PIECES:.*]] = arith.muli %[[PARTS_BEFORE]], %[[C3]] : index
// CHECK-NEXT: %[[UNIT_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x4x?x9xf32>
// CHECK-NEXT: %[[Z_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x4x?x9x8xf32>
// CHECK-NEXT: %[[S_PIECES:.*]] = tile.workspace(%[[BATCHES]], %[[PIECES]]) : memref<?x4x?x9x4x40xf32>
// CHECK-NEXT: %[[UNIT:.*]] = tile.workspace(%[[BATCHES]], %[[PARTS]]) : memref<?x4x?x9xf32>
// CHECK-NEXT: %[[Z:.*]] = tile.workspace(%[[BATCHES]], %[[PARTS]]) : memref<?x4x?x9x8xf32>
// A state for each part.
// CHECK-NEXT: %[[S:.*]] = tile.workspace(%[[BATCHES]], %[[PARTS]]) : memref<?x4x?x9x4x40xf32>
// CHECK-NEXT: tile.launch @split_query_sketch grid(%[[BATCHES]], %[[C4]], %[[QUERY_TILES]])
// CHECK-SAME:     (%[[Q]], %[[LEAF0]], %[[LEAF1]], %[[SIDE0]], %[[SIDE1]], %[[SQ]], %[[SQ_COLUMNS]], %[[Q_LENGTHS]])
// CHECK-NEXT: tile.launch @split_key_sketch grid(%[[KEY_BATCHES]], %[[C4]], %[[KEY_TILES]])
// CHECK-SAME:     (%[[K]], %[[LEAF0]], %[[LEAF1]], %[[SIDE0]], %[[SIDE1]], %[[SK]], %[[SK_COLUMNS]])
// CHECK-NEXT: %[[PIECES_OF_ALL:.*]] = memref.dim %[[S_PIECES]], %[[C2]] : memref<?x4x?x9x4x40xf32>
// CHECK-NEXT: tile.launch @split_pieces grid(%[[KEY_BATCHES]], %[[C4]], %[[PIECES_OF_ALL]])
// CHECK-SAME:     (%[[K]], %[[V]], %[[UNIT_PIECES]], %[[S_PIECES]], %[[Z_PIECES]], %[[SK]], %[[SK_COLUMNS]])
// CHECK-NEXT: tile.launch @split_chunked grid(%[[BATCHES]], %[[C4]], %[[PARTS]])
// CHECK-SAME:     (%[[Q]], %[[K]], %[[V]], %[[O]], %[[UNIT_PIECES]], %[[S_PIECES]], %[[Z_PIECES]], %[[UNIT]], %[[S]], %[[Z]], %[[SQ]], %[[SQ_COLUMNS]], %[[SK]], %[[SK_COLUMNS]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @split__prepare_sketch0_0_matrix(

// CHECK-LABEL: tile.kernel @split_pieces(
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[UNIT:[^:]*]]: memref<?x4x?x9xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x?x9x4x40xf32>
// CHECK-SAME:  %[[Z:[^:]*]]: memref<?x4x?x9x8xf32>
// CHECK-SAME:  %[[SK:[^:]*]]: memref<?x4x?x12xf32>
// CHECK-SAME:  %[[SK_COLUMNS:[^:]*]]: memref<?x4x?x8x32xf32>
// CHECK-SAME:  grid(batch, head, key_piece)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1, parts = 3>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C576:.*]] = arith.constant 576 : index
// CHECK-DAG: %[[ONE_1:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK-DAG: %[[TWO_TO_M126_1:.*]] = arith.constant dense<1.17549435E-38> : tensor<1xf32>
// CHECK-DAG: %[[ZERO_4x40:.*]] = arith.constant dense<0.000000e+00> : tensor<4x40xf32>
// CHECK-DAG: %[[ZERO_8:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// The keys of the piece: ⌈N / 576⌉ blocks.
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[PIECE:.*]] = tile.program_id key_piece
// An empty state: K is the least normal number.
// CHECK-NEXT: tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C9]] step 1 {
// CHECK-NEXT:   tile.store %[[TWO_TO_M126_1]], %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[F]]] : tensor<1xf32>
// CHECK-NEXT:   tile.store %[[ZERO_4x40]], %[[S]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[F]], %[[C0]], %[[C0]]] : tensor<4x40xf32>
// CHECK-NEXT:   tile.store %[[ZERO_8]], %[[Z]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[F]], %[[C0]]] : tensor<8xf32>
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[BLOCKS:.*]] = arith.ceildivui %[[KEYS]], %[[C576]] : index
// CHECK-NEXT: %[[PIECE_LENGTH:.*]] = arith.muli %[[BLOCKS]], %[[C64]] : index
// CHECK-NEXT: %[[BEGIN:.*]] = arith.muli %[[PIECE]], %[[PIECE_LENGTH]] : index
// CHECK-NEXT: %[[PIECE_END_ALL:.*]] = arith.addi %[[BEGIN]], %[[PIECE_LENGTH]] : index
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[PIECE_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: tile.loop #tile.sum %[[START:.*]] = %[[BEGIN]] to %[[END]] step 64 {
// CHECK-NEXT:   %[[STEP_END_ALL:.*]] = arith.addi %[[START]], %[[C64]] : index
// CHECK-NEXT:   %[[STEP_END:.*]] = arith.minsi %[[STEP_END_ALL]], %[[KEYS]] : index
// CHECK-NEXT:   tile.loop #tile.sum %[[FIRST:.*]] = %[[START]] to %[[STEP_END]] step 32 {
// CHECK-NEXT:     %[[SK_TILE:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[STEP_END]]) : {{.*}} -> tensor<32x8xf32>
// K' = max(K, max |s_f|), stored for all slices; the state is kept times (K / K')².
// CHECK-NEXT:     %[[ABS_SK:.*]] = math.absf %[[SK_TILE]] : tensor<32x8xf32>
// CHECK-NEXT:     %[[LARGEST_ROW:.*]] = tile.reduce max %[[ABS_SK]] axis 1 : tensor<32x8xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[LARGEST_ROW_ROWS:.*]] = tile.expand %[[LARGEST_ROW]] axis 0 : tensor<32xf32> -> tensor<1x32xf32>
// CHECK-NEXT:     %[[LARGEST_SK:.*]] = tile.reduce max %[[LARGEST_ROW_ROWS]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:     %[[K_BEFORE:.*]] = tile.load %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : {{.*}} -> tensor<1xf32>
// CHECK-NEXT:     %[[K_MAX:.*]] = arith.maximumf %[[K_BEFORE]], %[[LARGEST_SK]] : tensor<1xf32>
// CHECK-NEXT:     %[[K_NEXT:.*]] = arith.maximumf %[[K_MAX]], %[[TWO_TO_M126_1]] : tensor<1xf32>
// CHECK-NEXT:     %[[K_NEXT_COLS:.*]] = tile.expand %[[K_NEXT]] axis 1 : tensor<1xf32> -> tensor<1x9xf32>
// CHECK-NEXT:     %[[K_ALL:.*]] = tile.reduce add %[[K_NEXT_COLS]] axis 0 : tensor<1x9xf32> -> tensor<9xf32>
// CHECK-NEXT:     tile.store %[[K_ALL]], %[[UNIT]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]]] : tensor<9xf32>
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
// CHECK-NEXT:     %[[Z_BEFORE:.*]] = tile.load %[[Z]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:     %[[KEPT_COLS:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<1xf32> -> tensor<1x8xf32>
// CHECK-NEXT:     %[[KEPT_ROWS:.*]] = tile.reduce add %[[KEPT_COLS]] axis 0 : tensor<1x8xf32> -> tensor<8xf32>
// CHECK-NEXT:     %[[KEPT_ROWS_COLS:.*]] = tile.expand %[[KEPT_ROWS]] axis 1 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT:     %[[Z_KEPT:.*]] = arith.mulf %[[Z_BEFORE]], %[[KEPT_ROWS_COLS]] : tensor<8x8xf32>
// CHECK-NEXT:     %[[Z_NEXT:.*]] = tile.dot %[[S_IN_UNIT]], %[[S_IN_UNIT]], %[[Z_KEPT]] {transpose_a} : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:     tile.store %[[Z_NEXT]], %[[Z]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<8x8xf32>
// The last slice: s_f s_(f+4).
// CHECK-NEXT:     %[[HALF0:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[STEP_END]]) : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:     %[[INVERSES_HALF:.*]] = tile.expand %[[INVERSES]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF0_IN_UNIT:.*]] = arith.mulf %[[HALF0]], %[[INVERSES_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C4]]] rows(%[[STEP_END]]) : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:     %[[HALF1_IN_UNIT:.*]] = arith.mulf %[[HALF1]], %[[INVERSES_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[OPPOSITE:.*]] = arith.mulf %[[HALF0_IN_UNIT]], %[[HALF1_IN_UNIT]] : tensor<32x4xf32>
// CHECK-NEXT:     %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] rows(%[[STEP_END]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:     %[[S_BEFORE:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C8]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:     %[[KEPT_COLS_2:.*]] = tile.expand %[[KEPT]] axis 1 : tensor<1xf32> -> tensor<1x4xf32>
// CHECK-NEXT:     %[[KEPT_HALF:.*]] = tile.reduce add %[[KEPT_COLS_2]] axis 0 : tensor<1x4xf32> -> tensor<4xf32>
// CHECK-NEXT:     %[[KEPT_HALF_COLS:.*]] = tile.expand %[[KEPT_HALF]] axis 1 : tensor<4xf32> -> tensor<4x40xf32>
// CHECK-NEXT:     %[[S_KEPT:.*]] = arith.mulf %[[S_BEFORE]], %[[KEPT_HALF_COLS]] : tensor<4x40xf32>
// CHECK-NEXT:     %[[S_NEXT:.*]] = tile.dot %[[OPPOSITE]], %[[V_TILE]], %[[S_KEPT]] {transpose_a} : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:     tile.store %[[S_NEXT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[C8]], %[[C0]], %[[C0]]] : tensor<4x40xf32>
// CHECK-NEXT:     %[[TILE_NUMBER:.*]] = arith.divui %[[FIRST]], %[[C32]] : index
// S_f [4, 40] += (s_f s_(f+i mod 8))ᵀ v
// CHECK-NEXT:     tile.loop #tile.sum %[[F:.*]] = %[[C0]] to %[[C8]] step 1 {
// CHECK-NEXT:       %[[WINDOW:.*]] = tile.load %[[SK]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[F]]] rows(%[[STEP_END]]) : {{.*}} -> tensor<32x4xf32>
// CHECK-NEXT:       %[[WINDOW_IN_UNIT:.*]] = arith.mulf %[[WINDOW]], %[[INVERSES_HALF]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[KEYS_LEFT:.*]] = arith.subi %[[STEP_END]], %[[FIRST]] : index
// CHECK-NEXT:       %[[COLUMN:.*]] = tile.load %[[SK_COLUMNS]][%[[BATCH]], %[[HEAD]], %[[TILE_NUMBER]], %[[F]], %[[C0]]] rows(%[[KEYS_LEFT]])
// CHECK-SAME:           : {{.*}} -> tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT:.*]] = arith.mulf %[[COLUMN]], %[[INVERSES]] : tensor<32xf32>
// CHECK-NEXT:       %[[COLUMN_IN_UNIT_COLS:.*]] = tile.expand %[[COLUMN_IN_UNIT]] axis 1 : tensor<32xf32> -> tensor<32x4xf32>
// CHECK-NEXT:       %[[PRODUCTS:.*]] = arith.mulf %[[WINDOW_IN_UNIT]], %[[COLUMN_IN_UNIT_COLS]] : tensor<32x4xf32>
// CHECK-NEXT:       %[[S_BEFORE:.*]] = tile.load %[[S]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[F]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:       %[[S_KEPT:.*]] = arith.mulf %[[S_BEFORE]], %[[KEPT_HALF_COLS]] : tensor<4x40xf32>
// CHECK-NEXT:       %[[S_NEXT:.*]] = tile.dot %[[PRODUCTS]], %[[V_TILE]], %[[S_KEPT]] {transpose_a} : {{.*}} -> tensor<4x40xf32>
// CHECK-NEXT:       tile.store %[[S_NEXT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[PIECE]], %[[F]], %[[C0]], %[[C0]]] : tensor<4x40xf32>
// CHECK-NEXT:       tile.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.return

// Pinned in polysketch-split-chunked.mlir.
// CHECK-LABEL: tile.kernel @split_chunked(
