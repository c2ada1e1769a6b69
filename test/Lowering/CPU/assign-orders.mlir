// RUN: attn-opt %s -split-input-file -pass-pipeline="builtin.module(tile.kernel(cpu-assign-orders))" | FileCheck %s

// Scores whose rows are reduced: column-major, so that the queries lie in the lanes. The query is transposed once; the
// keys are read as scalars and stay as they are in memory.
// CHECK-LABEL: tile.kernel @scores
// CHECK:         %[[Q:.*]] = arith.mulf {{.*}} : tensor<64x64xf32>
// CHECK:         tile.loop
// CHECK:           %[[K:.*]] = tile.load
// CHECK-NOT:       attune.column
// CHECK:           %[[S:.*]] = tile.dot %[[Q]], %[[K]], %{{.*}} {attune.column, transpose_b}
// CHECK:           math.exp2 %{{.*}} {attune.column}
// The accumulator is row-major: the values are read as vectors.
// CHECK:           tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xf32>
!m = memref<?x64xf32>
tile.kernel @scores(%Q: !m, %K: !m, %V: !m, %O: !m, %L: memref<?xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %K, %c0 : !m
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %scale = arith.constant dense<0.125> : tensor<64x64xf32>
  %q0 = tile.load %Q[%c0, %c0] : !m -> tensor<64x64xf32>
  %q = arith.mulf %q0, %scale : tensor<64x64xf32>
  %r:2 = tile.loop #tile.sum %j = %c0 to %n step 64 carries(%acc = %zero, %l = %zeros) : (tensor<64x64xf32>, tensor<64xf32>) {
    %k = tile.load %K[%j, %c0] : !m -> tensor<64x64xf32>
    %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %w = math.exp2 %s : tensor<64x64xf32>
    %sum = tile.reduce add %w axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l1 = arith.addf %l, %sum : tensor<64xf32>
    %v = tile.load %V[%j, %c0] : !m -> tensor<64x64xf32>
    %acc1 = tile.dot %w, %v, %acc : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %acc1, %l1 : tensor<64x64xf32>, tensor<64xf32>
  }
  tile.store %r#0, %O[%c0, %c0] : tensor<64x64xf32>, !m
  tile.store %r#1, %L[%c0] : tensor<64xf32>, memref<?xf32>
  tile.return
}

// -----

// One row is a whole vector in neither order; 1×64 keeps its 64 elements together.
// CHECK-LABEL: tile.kernel @copy
// CHECK-NOT:     attune.column
!r = memref<?x64xf32>
tile.kernel @copy(%X: !r, %Y: !r) grid(batch) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : !r -> tensor<1x64xf32>
  %y = arith.addf %x, %x : tensor<1x64xf32>
  tile.store %y, %Y[%c0, %c0] : tensor<1x64xf32>, !r
  tile.return
}
