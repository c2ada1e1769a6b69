// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(cpu-fold-accumulators))" | FileCheck %s

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

// The scale of the rows is there when the dot comes; a dot that is used twice stays where it is.
// CHECK-LABEL: tile.kernel @sunk
// CHECK:         %[[STAYS:.*]] = tile.dot %[[X:.*]], %[[X]], %{{.*}} {transpose_b}
// CHECK:         %[[SCALE:.*]] = arith.addf
// CHECK:         %[[ROWS:.*]] = tile.expand %[[SCALE]] axis 1
// CHECK-NEXT:    %[[NUM:.*]] = tile.dot %[[X]], %[[X]], %{{.*}} : tensor
// CHECK-NEXT:    arith.mulf %[[NUM]], %[[ROWS]]
tile.kernel @sunk(%X: !m, %O: !m, %W: !m) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %x = tile.load %X[%c0, %c0] : !m -> tensor<8x8xf32>
  %num = tile.dot %x, %x, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %stays = tile.dot %x, %x, %zero {transpose_b} : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %sum = tile.reduce add %x axis 1 : tensor<8x8xf32> -> tensor<8xf32>
  %scale = arith.addf %sum, %sum : tensor<8xf32>
  %rows = tile.expand %scale axis 1 : tensor<8xf32> -> tensor<8x8xf32>
  %o = arith.mulf %num, %rows : tensor<8x8xf32>
  tile.store %o, %O[%c0, %c0] : tensor<8x8xf32>, !m
  %w = arith.mulf %stays, %stays : tensor<8x8xf32>
  tile.store %w, %W[%c0, %c0] : tensor<8x8xf32>, !m
  tile.return
}

// What is added to the scaled rows before they are stored is there, too.
// CHECK-LABEL: tile.kernel @sunk_to_sum
// CHECK:         %[[MORE:.*]] = arith.addf %[[X:.*]], %[[X]] : tensor<8x8xf32>
// CHECK-NEXT:    %[[NUM:.*]] = tile.dot %[[X]], %[[X]], %{{.*}} : tensor
// CHECK-NEXT:    %[[O:.*]] = arith.mulf %[[NUM]], %{{.*}}
// CHECK-NEXT:    arith.addf %[[MORE]], %[[O]]
tile.kernel @sunk_to_sum(%X: !m, %O: !m) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %x = tile.load %X[%c0, %c0] : !m -> tensor<8x8xf32>
  %scale = tile.reduce add %x axis 1 : tensor<8x8xf32> -> tensor<8xf32>
  %rows = tile.expand %scale axis 1 : tensor<8xf32> -> tensor<8x8xf32>
  %num = tile.dot %x, %x, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %o = arith.mulf %num, %rows : tensor<8x8xf32>
  %more = arith.addf %x, %x : tensor<8x8xf32>
  %sum = arith.addf %more, %o : tensor<8x8xf32>
  tile.store %sum, %O[%c0, %c0] : tensor<8x8xf32>, !m
  tile.return
}
