// RUN: attn-opt %s -attn-to-tile=target=gpu -canonicalize -cse | FileCheck %s

// The sketches of polynomial attention of degree 4 and size r = 8 on a GPU with f16 storage, as polysketch-sketches.mlir on a CPU, but
// without columns and without a half that stands again: rows of 8 in f32. The products of the tree take TF32.

#schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f16, warps = 4, stages = 2>
!q = tensor<?x4x?x20xf16>
!k = tensor<?x2x?x20xf16>
!v = tensor<?x2x?x40xf16>
!o = tensor<?x4x?x40xf16>
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

// CHECK-LABEL: tile.kernel @sketches_query_sketch(
// CHECK-SAME:  %[[X:[^:]*]]: memref<?x4x?x20xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LEAF0:[^:]*]]: memref<4x20x8xf32>
// CHECK-SAME:  %[[LEAF1:[^:]*]]: memref<4x20x8xf32>
// CHECK-SAME:  %[[SIDE0:[^:]*]]: memref<4x8x8xf32>
// CHECK-SAME:  %[[SIDE1:[^:]*]]: memref<4x8x8xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x?x8xf32>
// CHECK-SAME:  %[[LENGTHS:[^:]*]]: memref<?x4x?xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f16, warps = 4, stages = 2>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[F0_353553_32x8:.*]] = arith.constant #tile.exact<0.35355339059327379> : tensor<32x8xf32>
// CHECK-DAG: %[[F0_5_32x8:.*]] = arith.constant dense<5.000000e-01> : tensor<32x8xf32>
// CHECK-DAG: %[[ZERO_32x8:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[F0_5_32:.*]] = arith.constant dense<5.000000e-01> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// x / max(|x|, 2^-120) [32, 20]
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[X_F16:.*]] = tile.load %[[X]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf16>
// CHECK-NEXT: %[[X_TILE:.*]] = arith.extf %[[X_F16]] : tensor<32x20xf16> to tensor<32x20xf32>
// CHECK-NEXT: %[[X_SQUARES:.*]] = arith.mulf %[[X_TILE]], %[[X_TILE]] : tensor<32x20xf32>
// CHECK-NEXT: %[[X_SUM:.*]] = tile.reduce add %[[X_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[X_NORM:.*]] = math.sqrt %[[X_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_SAFE:.*]] = arith.maximumf %[[X_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_SAFE_COLS:.*]] = tile.expand %[[NORM_SAFE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_UNIT:.*]] = arith.divf %[[X_TILE]], %[[NORM_SAFE_COLS]] : tensor<32x20xf32>
// The tree: leaves x M_i / √8, products with the sides, their product entry by entry.
// CHECK-NEXT: %[[LEAF0_TILE:.*]] = tile.load %[[LEAF0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x8xf32>
// CHECK-NEXT: %[[DOT0:.*]] = tile.dot %[[X_UNIT]], %[[LEAF0_TILE]], %[[ZERO_32x8]] precision tf32 : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[A:.*]] = arith.mulf %[[DOT0]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[LEAF1_TILE:.*]] = tile.load %[[LEAF1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x8xf32>
// CHECK-NEXT: %[[DOT1:.*]] = tile.dot %[[X_UNIT]], %[[LEAF1_TILE]], %[[ZERO_32x8]] precision tf32 : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[DOT1]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[SIDE0_TILE:.*]] = tile.load %[[SIDE0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[A_SIDE:.*]] = tile.dot %[[A]], %[[SIDE0_TILE]], %[[ZERO_32x8]] precision tf32 : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[SIDE1_TILE:.*]] = tile.load %[[SIDE1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[B_SIDE:.*]] = tile.dot %[[B]], %[[SIDE1_TILE]], %[[ZERO_32x8]] precision tf32 : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[NODE:.*]] = arith.mulf %[[A_SIDE]], %[[B_SIDE]] : tensor<32x8xf32>
// CHECK-NEXT: %[[HALVED:.*]] = arith.mulf %[[NODE]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[ROOT:.*]] = arith.mulf %[[HALVED]], %[[F0_353553_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: tile.store %[[ROOT]], %[[S]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x8xf32>
// |scale q|
// CHECK-NEXT: %[[LENGTH:.*]] = arith.mulf %[[X_NORM]], %[[F0_5_32]] : tensor<32xf32>
// CHECK-NEXT: tile.store %[[LENGTH]], %[[LENGTHS]][%[[BATCH]], %[[HEAD]], %[[FIRST]]] : tensor<32xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @sketches_key_sketch(
// CHECK-SAME:  %[[X:[^:]*]]: memref<?x2x?x20xf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[LEAF0:[^:]*]]: memref<4x20x8xf32>
// CHECK-SAME:  %[[LEAF1:[^:]*]]: memref<4x20x8xf32>
// CHECK-SAME:  %[[SIDE0:[^:]*]]: memref<4x8x8xf32>
// CHECK-SAME:  %[[SIDE1:[^:]*]]: memref<4x8x8xf32>
// CHECK-SAME:  %[[S:[^:]*]]: memref<?x4x?x8xf32>
// CHECK-SAME:  grid(batch, head, query_block)
// CHECK-SAME:      attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f16, warps = 4, stages = 2>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[F0_353553_32x8:.*]] = arith.constant #tile.exact<0.35355339059327379> : tensor<32x8xf32>
// CHECK-DAG: %[[F0_5_32x8:.*]] = arith.constant dense<5.000000e-01> : tensor<32x8xf32>
// CHECK-DAG: %[[ZERO_32x8:.*]] = arith.constant dense<0.000000e+00> : tensor<32x8xf32>
// CHECK-DAG: %[[TWO_TO_120_32:.*]] = arith.constant dense<1.329228E+36> : tensor<32xf32>
// CHECK-DAG: %[[TWO_TO_M120_32:.*]] = arith.constant dense<7.52316385E-37> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[TILE:.*]] = tile.program_id query_block
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILE]], %[[C32]] : index
// CHECK-NEXT: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C2]] : index
// CHECK-NEXT: %[[X_F16:.*]] = tile.load %[[X]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST]], %[[C0]]] : {{.*}} -> tensor<32x20xf16>
// CHECK-NEXT: %[[X_TILE:.*]] = arith.extf %[[X_F16]] : tensor<32x20xf16> to tensor<32x20xf32>
// CHECK-NEXT: %[[X_SQUARES:.*]] = arith.mulf %[[X_TILE]], %[[X_TILE]] : tensor<32x20xf32>
// CHECK-NEXT: %[[X_SUM:.*]] = tile.reduce add %[[X_SQUARES]] axis 1 : tensor<32x20xf32> -> tensor<32xf32>
// CHECK-NEXT: %[[X_NORM:.*]] = math.sqrt %[[X_SUM]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_SAFE:.*]] = arith.maximumf %[[X_NORM]], %[[TWO_TO_M120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[NORM_SAFE_COLS:.*]] = tile.expand %[[NORM_SAFE]] axis 1 : tensor<32xf32> -> tensor<32x20xf32>
// CHECK-NEXT: %[[X_UNIT:.*]] = arith.divf %[[X_TILE]], %[[NORM_SAFE_COLS]] : tensor<32x20xf32>
// CHECK-NEXT: %[[LEAF0_TILE:.*]] = tile.load %[[LEAF0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x8xf32>
// CHECK-NEXT: %[[DOT0:.*]] = tile.dot %[[X_UNIT]], %[[LEAF0_TILE]], %[[ZERO_32x8]] precision tf32 : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[A:.*]] = arith.mulf %[[DOT0]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[LEAF1_TILE:.*]] = tile.load %[[LEAF1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<20x8xf32>
// CHECK-NEXT: %[[DOT1:.*]] = tile.dot %[[X_UNIT]], %[[LEAF1_TILE]], %[[ZERO_32x8]] precision tf32 : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[DOT1]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[SIDE0_TILE:.*]] = tile.load %[[SIDE0]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[A_SIDE:.*]] = tile.dot %[[A]], %[[SIDE0_TILE]], %[[ZERO_32x8]] precision tf32 : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[SIDE1_TILE:.*]] = tile.load %[[SIDE1]][%[[HEAD]], %[[C0]], %[[C0]]] : {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: %[[B_SIDE:.*]] = tile.dot %[[B]], %[[SIDE1_TILE]], %[[ZERO_32x8]] precision tf32 : {{.*}} -> tensor<32x8xf32>
// CHECK-NEXT: %[[NODE:.*]] = arith.mulf %[[A_SIDE]], %[[B_SIDE]] : tensor<32x8xf32>
// CHECK-NEXT: %[[HALVED:.*]] = arith.mulf %[[NODE]], %[[F0_5_32x8]] : tensor<32x8xf32>
// CHECK-NEXT: %[[ROOT:.*]] = arith.mulf %[[HALVED]], %[[F0_353553_32x8]] : tensor<32x8xf32>
// times |k|², at most 2^120
// CHECK-NEXT: %[[LENGTH_SQ:.*]] = arith.mulf %[[X_NORM]], %[[X_NORM]] : tensor<32xf32>
// CHECK-NEXT: %[[SIZE:.*]] = arith.minimumf %[[LENGTH_SQ]], %[[TWO_TO_120_32]] : tensor<32xf32>
// CHECK-NEXT: %[[SIZE_COLS:.*]] = tile.expand %[[SIZE]] axis 1 : tensor<32xf32> -> tensor<32x8xf32>
// CHECK-NEXT: %[[S_TILE:.*]] = arith.mulf %[[ROOT]], %[[SIZE_COLS]] : tensor<32x8xf32>
// CHECK-NEXT: tile.store %[[S_TILE]], %[[S]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] : tensor<32x8xf32>
// CHECK-NEXT: tile.return

// CHECK-LABEL: tile.kernel @sketches_chunked(
