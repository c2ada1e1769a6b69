// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// The sketches S(q / |q|) and S(k) of polynomial attention, of degree p' = 2 and size r = 8, and the matrices of their tree:
//
//     M[i, c] = sign_i (-1)^popcount(i & index_c)         leaves [20, 8], sides of nodes [8, 8], made once by prepare
//     S(x) = 8^(-1/2) (a A) ⊙ (b B),   a = 8^(-1/2) x M_0,   b = 8^(-1/2) x M_1
//
// Both are made once for each query head, by a thread block for 32 tokens. The rows that chunks read are 8 + 4 wide and stand a second time
// as columns (polysketch-chunked.mlir). Queries are scaled to norm 1; |scale q| is kept apart for the guard.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
!q = tensor<?x4x?x20xf32>
!k = tensor<?x2x?x20xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!leaf = tensor<4x32xf32>
!node = tensor<4x8xf32>
!index = tensor<4x8xi32>
func.func @sketches(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"},
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

// CHECK-LABEL: func.func @sketches__prepare(
// CHECK-SAME:  %[[S0:[^:]*]]: memref<4x32xf32, strided<[?, 1]>> {{{.*}}attune.name = "s0"
// CHECK-SAME:  %[[S1:[^:]*]]: memref<4x32xf32, strided<[?, 1]>> {{{.*}}attune.name = "s1"
// CHECK-SAME:  %[[S2:[^:]*]]: memref<4x8xf32, strided<[?, 1]>> {{{.*}}attune.name = "s2"
// CHECK-SAME:  %[[S3:[^:]*]]: memref<4x8xf32, strided<[?, 1]>> {{{.*}}attune.name = "s3"
// CHECK-SAME:  %[[I0:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i0"
// CHECK-SAME:  %[[I1:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i1"
// CHECK-SAME:  %[[I2:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i2"
// CHECK-SAME:  %[[I3:[^:]*]]: memref<4x8xi32, strided<[?, 1]>> {{{.*}}attune.name = "i3"
// CHECK-SAME:  %[[LEAF0:[^:]*]]: memref<4x20x8xf32> {{{.*}}attune.name = "sketch0.0"
// CHECK-SAME:  %[[LEAF1:[^:]*]]: memref<4x20x8xf32> {{{.*}}attune.name = "sketch0.1"
// CHECK-SAME:  %[[SIDE0:[^:]*]]: memref<4x8x8xf32> {{{.*}}attune.name = "sketch0.2"
// CHECK-SAME:  %[[SIDE1:[^:]*]]: memref<4x8x8xf32> {{{.*}}attune.name = "sketch0.3"
// CHECK-SAME:  attributes {attune.prepare}
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// A matrix a launch, a head a thread block.
// CHECK-NEXT: tile.launch @sketches__prepare_sketch0_0_matrix grid(%[[C4]]) (%[[S0]], %[[I0]], %[[LEAF0]])
// CHECK-NEXT: tile.launch @sketches__prepare_sketch0_1_matrix grid(%[[C4]]) (%[[S1]], %[[I1]], %[[LEAF1]])
// CHECK-NEXT: tile.launch @sketches__prepare_sketch0_2_matrix grid(%[[C4]]) (%[[S2]], %[[I2]], %[[SIDE0]])
// CHECK-NEXT: tile.launch @sketches__prepare_sketch0_3_matrix grid(%[[C4]]) (%[[S3]], %[[I3]], %[[SIDE1]])
// CHECK-NEXT: return

// CHECK-LABEL: func.func @sketches(

// Signs and indices of a leaf. Rows past d = 20 of the 32 signs multiply padding, and are left out.
// CHECK-LABEL: tile.kernel @sketches__prepare_sketch0_0_matrix(
// CHECK-SAME:  %[[SIGNS:[^:]*]]: memref<4x32xf32, strided<[?, 1]>>
// CHECK-SAME:  %[[INDICES:[^:]*]]: memref<4x8xi32, strided<[?, 1]>>
// CHECK-SAME:  %[[MATRIX:[^:]*]]: memref<4x20x8xf32>
// CHECK-SAME:  grid(head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[MF1_20x8:.*]] = arith.constant dense<-1.000000e+00> : tensor<20x8xf32>
// CHECK-DAG: %[[ONE_20x8:.*]] = arith.constant dense<1.000000e+00> : tensor<20x8xf32>
// CHECK-DAG: %[[ONE_20x8_i32:.*]] = arith.constant dense<1> : tensor<20x8xi32>
// CHECK-DAG: %[[ZERO_20x8_i32:.*]] = arith.constant dense<0> : tensor<20x8xi32>
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[SIGNS_TILE:.*]] = tile.load %[[SIGNS]][%[[HEAD]], %[[C0]]] : {{.*}} -> tensor<20xf32>
// CHECK-NEXT: %[[COLUMNS:.*]] = tile.load %[[INDICES]][%[[HEAD]], %[[C0]]] : {{.*}} -> tensor<8xi32>
// CHECK-NEXT: %[[ROW:.*]] = tile.iota %[[C0]] : tensor<20xi32>
// CHECK-NEXT: %[[ROW_COLS:.*]] = tile.expand %[[ROW]] axis 1 : tensor<20xi32> -> tensor<20x8xi32>
// CHECK-NEXT: %[[COLUMNS_ROWS:.*]] = tile.expand %[[COLUMNS]] axis 0 : tensor<8xi32> -> tensor<20x8xi32>
// CHECK-NEXT: %[[BITS:.*]] = arith.andi %[[ROW_COLS]], %[[COLUMNS_ROWS]] : tensor<20x8xi32>
// CHECK-NEXT: %[[ONES:.*]] = math.ctpop %[[BITS]] : tensor<20x8xi32>
// CHECK-NEXT: %[[PARITY:.*]] = arith.andi %[[ONES]], %[[ONE_20x8_i32]] : tensor<20x8xi32>
// CHECK-NEXT: %[[EVEN:.*]] = arith.cmpi eq, %[[PARITY]], %[[ZERO_20x8_i32]] : tensor<20x8xi32>
// CHECK-NEXT: %[[HADAMARD:.*]] = arith.select %[[EVEN]], %[[ONE_20x8]], %[[MF1_20x8]] : tensor<20x8xi1>, tensor<20x8xf32>
// CHECK-NEXT: %[[SIGNS_TILE_COLS:.*]] = tile.expand %[[SIGNS_TILE]] axis 1 : tensor<20xf32> -> tensor<20x8xf32>
// CHECK-NEXT: %[[ENTRIES:.*]] = arith.mulf %[[HADAMARD]], %[[SIGNS_TILE_COLS]] : tensor<20x8xf32>
// CHECK-NEXT: tile.store %[[ENTRIES]], %[[MATRIX]][%[[HEAD]], %[[C0]], %[[C0]]] : tensor<20x8xf32>
// CHECK-NEXT: tile.return

// As sketch0_0.
// CHECK-LABEL: tile.kernel @sketches__prepare_sketch0_1_matrix(

// The side of a node: as above, [8, 8].
// CHECK-LABEL: tile.kernel @sketches__prepare_sketch0_2_matrix(
// CHECK-SAME:  %[[SIGNS:[^:]*]]: memref<4x8xf32, strided<[?, 1]>>
// CHECK-SAME:  %[[INDICES:[^:]*]]: memref<4x8xi32, strided<[?, 1]>>
// CHECK-SAME:  %[[MATRIX:[^:]*]]: memref<4x8x8xf32>
// CHECK-SAME:  grid(head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[MF1_8x8:.*]] = arith.constant dense<-1.000000e+00> : tensor<8x8xf32>
// CHECK-DAG: %[[ONE_8x8:.*]] = arith.constant dense<1.000000e+00> : tensor<8x8xf32>
// CHECK-DAG: %[[ONE_8x8_i32:.*]] = arith.constant dense<1> : tensor<8x8xi32>
// CHECK-DAG: %[[ZERO_8x8_i32:.*]] = arith.constant dense<0> : tensor<8x8xi32>
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[SIGNS_TILE:.*]] = tile.load %[[SIGNS]][%[[HEAD]], %[[C0]]] : {{.*}} -> tensor<8xf32>
// CHECK-NEXT: %[[COLUMNS:.*]] = tile.load %[[INDICES]][%[[HEAD]], %[[C0]]] : {{.*}} -> tensor<8xi32>
// CHECK-NEXT: %[[ROW:.*]] = tile.iota %[[C0]] : tensor<8xi32>
// CHECK-NEXT: %[[ROW_COLS:.*]] = tile.expand %[[ROW]] axis 1 : tensor<8xi32> -> tensor<8x8xi32>
// CHECK-NEXT: %[[COLUMNS_ROWS:.*]] = tile.expand %[[COLUMNS]] axis 0 : tensor<8xi32> -> tensor<8x8xi32>
// CHECK-NEXT: %[[BITS:.*]] = arith.andi %[[ROW_COLS]], %[[COLUMNS_ROWS]] : tensor<8x8xi32>
// CHECK-NEXT: %[[ONES:.*]] = math.ctpop %[[BITS]] : tensor<8x8xi32>
// CHECK-NEXT: %[[PARITY:.*]] = arith.andi %[[ONES]], %[[ONE_8x8_i32]] : tensor<8x8xi32>
// CHECK-NEXT: %[[EVEN:.*]] = arith.cmpi eq, %[[PARITY]], %[[ZERO_8x8_i32]] : tensor<8x8xi32>
// CHECK-NEXT: %[[HADAMARD:.*]] = arith.select %[[EVEN]], %[[ONE_8x8]], %[[MF1_8x8]] : tensor<8x8xi1>, tensor<8x8xf32>
// CHECK-NEXT: %[[SIGNS_TILE_COLS:.*]] = tile.expand %[[SIGNS_TILE]] axis 1 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[ENTRIES:.*]] = arith.mulf %[[HADAMARD]], %[[SIGNS_TILE_COLS]] : tensor<8x8xf32>
// CHECK-NEXT: tile.store %[[ENTRIES]], %[[MATRIX]][%[[HEAD]], %[[C0]], %[[C0]]] : tensor<8x8xf32>
// CHECK-NEXT: tile.return

// As sketch0_2.
// CHECK-LABEL: tile.kernel @sketches__prepare_sketch0_3_matrix(

// CHECK-LABEL: tile.kernel @sketches_query_sketch(
// CHECK-SAME:  %[[X:[^:]*]]: memref<?x4x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LEAF0:[^:]*]]: memref<4x20x8xf32>
// CHECK-SAME:  %[[LEAF1:[^:]*]]: memref<4x20x8xf32>
// CHECK-SAME:  %[[SIDE0:[^:]*]]: memref<4x8x8xf32>
// CHECK-SAME:  %[[SIDE1:[^:]*]]: memref<4x8x8xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x?x12xf32>
// CHECK-SAME:  %[[COLUMNS:[^:]*]]: memref<?x4x?x8x32xf32>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?x4x?xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[F0_353553_32x8:.*]] = arith.constant #tile.exact<0.35355339059327379> : tensor<32x8xf32>
// CHECK-DAG: %[[F0_5_32x8:.*]] = arith.constant dense<5.000000e-01> : tensor<32x8xf32>
// CHECK-DAG: %[[ZERO_32x8:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[F0_5_32:.*]] = arith.constant dense<5.000000e-01> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_8x32:.*]] = arith.constant dense<0.000000e+00> : tensor<8x32xf32>
// CHECK-DAG: %[[ONE_8x8:.*]] = arith.constant dense<1.000000e+00> : tensor<8x8xf32>
// CHECK-DAG: %[[ZERO_8x8:.*]] = arith.constant dense<0.000000e+00> : tensor<8x8xf32>
// x / max(|x|, 2^-120) [32, 20]
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_SQUARES:.*]] = arith.mulf %[[X_TILE]], %[[X_TILE]] : tensor<32x20xf32>
// CHECK-NEXT: %[[X_SUM:.*]] = tile.reduce add %[[X_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[X_NORM:.*]] = math.sqrt %[[X_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_SAFE:.*]] = arith.maximumf %[[X_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_SAFE_COLS:.*]] = tile.expand %[[NORM_SAFE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_UNIT:.*]] = arith.divf %[[X_TILE]], %[[NORM_SAFE_COLS]] : tensor<32x20xf32>
// The tree: leaves x M_i / √8 [32, 8], then their products with the matrices of the sides, entry by entry. A step multiplies by the
// power of two of 8^(-1/2), 2^-1; what is left, 2^(-1/2) for each of three steps, multiplies the root.
// CHECK-NEXT: %[[LEAF0_TILE:.*]] = tile.load %[[LEAF0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x8xf32>
// CHECK-NEXT: %[[DOT0:.*]] = tile.dot %[[X_UNIT]], %[[LEAF0_TILE]], %[[ZERO_32x8]] : tensor<32x20xf32>, tensor<20x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[A:.*]] = arith.mulf %[[DOT0]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[LEAF1_TILE:.*]] = tile.load %[[LEAF1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x8xf32>
// CHECK-NEXT: %[[DOT1:.*]] = tile.dot %[[X_UNIT]], %[[LEAF1_TILE]], %[[ZERO_32x8]] : tensor<32x20xf32>, tensor<20x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[DOT1]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[SIDE0_TILE:.*]] = tile.load %[[SIDE0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[A_SIDE:.*]] = tile.dot %[[A]], %[[SIDE0_TILE]], %[[ZERO_32x8]] : tensor<32x8xf32>, tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[SIDE1_TILE:.*]] = tile.load %[[SIDE1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[B_SIDE:.*]] = tile.dot %[[B]], %[[SIDE1_TILE]], %[[ZERO_32x8]] : tensor<32x8xf32>, tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[NODE:.*]] = arith.mulf %[[A_SIDE]], %[[B_SIDE]] : tensor<32x8xf32>
// CHECK-NEXT: %[[HALVED:.*]] = arith.mulf %[[NODE]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[ROOT:.*]] = arith.mulf %[[HALVED]], %[[F0_353553_32x8]] : tensor<32x8xf32>
// s with its first half behind its end: rows of 12. The second store is cut off at the row's end.
// CHECK-NEXT: tile.store %[[ROOT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x8xf32>
// CHECK-NEXT: tile.store %[[ROOT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C8]]] : tensor<32x8xf32>
// sᵀ [8, 32] = I sᵀ, the identity made of i - j = 0
// CHECK-NEXT: %[[NUMBERS:.*]] = tile.iota %[[C0]] : tensor<8xf32>
// CHECK-NEXT: %[[NUMBERS_ROWS:.*]] = tile.expand %[[NUMBERS]] axis 0 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[NUMBERS_COLS:.*]] = tile.expand %[[NUMBERS]] axis 1 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[APART:.*]] = arith.subf %[[NUMBERS_ROWS]], %[[NUMBERS_COLS]] : tensor<8x8xf32>
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpf oeq, %[[APART]], %[[ZERO_8x8]] : tensor<8x8xf32>
// CHECK-NEXT: %[[IDENTITY:.*]] = arith.select %[[SAME]], %[[ONE_8x8]], %[[ZERO_8x8]] : tensor<8x8xi1>, tensor<8x8xf32>
// CHECK-NEXT: %[[TRANSPOSED:.*]] = tile.dot %[[IDENTITY]], %[[ROOT]], %[[ZERO_8x32]] {transpose_b} : {{.*}} -> tensor<8x32xf32>
// CHECK-NEXT: tile.store %[[TRANSPOSED]], %[[COLUMNS]][%[[BATCH]], %[[HEAD]], %[[TILE]], %[[C0]], %[[C0]]] : tensor<8x32xf32>
// |scale q|
// CHECK-NEXT: %[[LENGTH:.*]] = arith.mulf %[[X_NORM]], %[[F0_5_32]] : tensor<32xf32>
// CHECK-NEXT: tile.store %[[LENGTH]], %[[LENGTHS]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] : tensor<32xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @sketches_key_sketch(
// CHECK-SAME:  %[[X:[^:]*]]: memref<?x2x?x20xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LEAF0:[^:]*]]: memref<4x20x8xf32>
// CHECK-SAME:  %[[LEAF1:[^:]*]]: memref<4x20x8xf32>
// CHECK-SAME:  %[[SIDE0:[^:]*]]: memref<4x8x8xf32>
// CHECK-SAME:  %[[SIDE1:[^:]*]]: memref<4x8x8xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x?x12xf32>
// CHECK-SAME:  %[[COLUMNS:[^:]*]]: memref<?x4x?x8x32xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[F0_353553_32x8:.*]] = arith.constant #tile.exact<0.35355339059327379> : tensor<32x8xf32>
// CHECK-DAG: %[[F0_5_32x8:.*]] = arith.constant dense<5.000000e-01> : tensor<32x8xf32>
// CHECK-DAG: %[[ZERO_32x8:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[TWO_TO_120_32:.*]] = arith.constant dense<1.329228E+36> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_8x32:.*]] = arith.constant dense<0.000000e+00> : tensor<8x32xf32>
// CHECK-DAG: %[[ONE_8x8:.*]] = arith.constant dense<1.000000e+00> : tensor<8x8xf32>
// CHECK-DAG: %[[ZERO_8x8:.*]] = arith.constant dense<0.000000e+00> : tensor<8x8xf32>
// Query heads 2h and 2h + 1 each have sketches of the keys of head h.
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_SQUARES:.*]] = arith.mulf %[[X_TILE]], %[[X_TILE]] : tensor<32x20xf32>
// CHECK-NEXT: %[[X_SUM:.*]] = tile.reduce add %[[X_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[X_NORM:.*]] = math.sqrt %[[X_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_SAFE:.*]] = arith.maximumf %[[X_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_SAFE_COLS:.*]] = tile.expand %[[NORM_SAFE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_UNIT:.*]] = arith.divf %[[X_TILE]], %[[NORM_SAFE_COLS]] : tensor<32x20xf32>
// The tree: leaves x M_i / √8 [32, 8], then their products with the matrices of the sides, entry by entry. A step multiplies by the
// power of two of 8^(-1/2), 2^-1; what is left, 2^(-1/2) for each of three steps, multiplies the root.
// CHECK-NEXT: %[[LEAF0_TILE:.*]] = tile.load %[[LEAF0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x8xf32>
// CHECK-NEXT: %[[DOT0:.*]] = tile.dot %[[X_UNIT]], %[[LEAF0_TILE]], %[[ZERO_32x8]] : tensor<32x20xf32>, tensor<20x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[A:.*]] = arith.mulf %[[DOT0]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[LEAF1_TILE:.*]] = tile.load %[[LEAF1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x8xf32>
// CHECK-NEXT: %[[DOT1:.*]] = tile.dot %[[X_UNIT]], %[[LEAF1_TILE]], %[[ZERO_32x8]] : tensor<32x20xf32>, tensor<20x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[DOT1]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[SIDE0_TILE:.*]] = tile.load %[[SIDE0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[A_SIDE:.*]] = tile.dot %[[A]], %[[SIDE0_TILE]], %[[ZERO_32x8]] : tensor<32x8xf32>, tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[SIDE1_TILE:.*]] = tile.load %[[SIDE1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[B_SIDE:.*]] = tile.dot %[[B]], %[[SIDE1_TILE]], %[[ZERO_32x8]] : tensor<32x8xf32>, tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[NODE:.*]] = arith.mulf %[[A_SIDE]], %[[B_SIDE]] : tensor<32x8xf32>
// CHECK-NEXT: %[[HALVED:.*]] = arith.mulf %[[NODE]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[ROOT:.*]] = arith.mulf %[[HALVED]], %[[F0_353553_32x8]] : tensor<32x8xf32>
// times |k|², at most 2^120
// CHECK-NEXT: %[[LENGTH_SQ:.*]] = arith.mulf %[[X_NORM]], %[[X_NORM]] : tensor<32xf32>
// CHECK-NEXT: %[[SIZE:.*]] = arith.minimumf %[[LENGTH_SQ]], %[[TWO_TO_120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[SIZE_COLS:.*]] = tile.expand %[[SIZE]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[S_TILE:.*]] = arith.mulf %[[ROOT]], %[[SIZE_COLS]] : tensor<32x8xf32>
// s with its first half behind its end: rows of 12. The second store is cut off at the row's end.
// CHECK-NEXT: tile.store %[[S_TILE]], %[[S]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x8xf32>
// CHECK-NEXT: tile.store %[[S_TILE]], %[[S]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C8]]] : tensor<32x8xf32>
// sᵀ [8, 32] = I sᵀ, the identity made of i - j = 0
// CHECK-NEXT: %[[NUMBERS:.*]] = tile.iota %[[C0]] : tensor<8xf32>
// CHECK-NEXT: %[[NUMBERS_ROWS:.*]] = tile.expand %[[NUMBERS]] axis 0 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[NUMBERS_COLS:.*]] = tile.expand %[[NUMBERS]] axis 1 : tensor<8xf32> -> tensor<8x8xf32>
// CHECK-NEXT: %[[APART:.*]] = arith.subf %[[NUMBERS_ROWS]], %[[NUMBERS_COLS]] : tensor<8x8xf32>
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpf oeq, %[[APART]], %[[ZERO_8x8]] : tensor<8x8xf32>
// CHECK-NEXT: %[[IDENTITY:.*]] = arith.select %[[SAME]], %[[ONE_8x8]], %[[ZERO_8x8]] : tensor<8x8xi1>, tensor<8x8xf32>
// CHECK-NEXT: %[[TRANSPOSED:.*]] = tile.dot %[[IDENTITY]], %[[S_TILE]], %[[ZERO_8x32]] {transpose_b} : {{.*}} -> tensor<8x32xf32>
// CHECK-NEXT: tile.store %[[TRANSPOSED]], %[[COLUMNS]][%[[BATCH]], %[[HEAD]], %[[TILE]], %[[C0]], %[[C0]]] : tensor<8x32xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @sketches_chunked(
