// RUN: attn-opt %s -cpu-fold-accumulators | FileCheck %s

// Of two dots that are added the later one takes the sum; a dot with an accumulator or a second use takes none.
// CHECK-LABEL: tile.kernel @sums
// CHECK:         %[[PAST:.*]] = tile.dot %[[X:.*]], %[[X]], %[[ZERO:.*]] : tensor
// CHECK-NOT:     arith.addf
// CHECK:         %[[NUM:.*]] = tile.dot %[[X]], %[[X]], %[[PAST]] {transpose_b}
// CHECK:         %[[TWICE:.*]] = tile.dot %[[X]], %[[X]], %[[NUM]] {transpose_a}
// CHECK:         arith.addf %[[TWICE]], %[[X]]
// CHECK:         arith.addf %[[TWICE]], %{{.*}}
!m = memref<?x8xf32>
tile.kernel @sums(%X: !m) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %x = tile.load %X[%c0, %c0] : !m -> tensor<8x8xf32>
  %past = tile.dot %x, %x, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %local = tile.dot %x, %x, %zero {transpose_b} : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %num = arith.addf %local, %past : tensor<8x8xf32>
  %twice = tile.dot %x, %x, %num {transpose_a} : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %y = arith.addf %twice, %x : tensor<8x8xf32>
  %z = arith.addf %twice, %y : tensor<8x8xf32>
  tile.store %z, %X[%c0, %c0] : tensor<8x8xf32>, !m
  tile.return
}
