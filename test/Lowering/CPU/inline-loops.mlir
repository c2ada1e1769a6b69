// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(cpu-inline-loops))" | FileCheck %s

// One step: the state that the softmax begins with is known, so nothing is rescaled. A second loop has no step.
// CHECK-LABEL: tile.kernel @window
// CHECK-NOT:     tile.loop
// CHECK:         %[[S:.*]] = tile.dot
// CHECK-NEXT:    %[[M:.*]] = tile.reduce max %[[S]] axis 1
// CHECK-NEXT:    %[[ROWS:.*]] = tile.expand %[[M]] axis 1
// CHECK-NEXT:    %[[SHIFTED:.*]] = arith.subf %[[S]], %[[ROWS]]
// CHECK-NEXT:    %[[W:.*]] = math.exp2 %[[SHIFTED]]
// CHECK-NEXT:    %[[L:.*]] = tile.reduce add %[[W]] axis 1
// CHECK-NEXT:    %[[O:.*]] = tile.dot %[[W]], %{{.*}}, %{{.*}} : tensor
// CHECK-NOT:     arith.mulf
// CHECK:         tile.store %[[O]]
// CHECK:         tile.store %[[L]]
!m = memref<?x8xf32>
tile.kernel @window(%X: !m, %O: !m, %L: memref<?xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant dense<0xFF800000> : tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x8xf32>
  %q = tile.load %X[%c0, %c0] : !m -> tensor<8x8xf32>
  %r:3 = tile.loop #tile.rescaled_sum<exp2, row> %j = %c0 to %c8 step 8 carries(%m = %none, %l = %zero, %acc = %zeros) : (tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>) {
    %k = tile.load %X[%j, %c0] : !m -> tensor<8x8xf32>
    %s = tile.dot %q, %k, %zeros {transpose_b} : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %ms = tile.reduce max %s axis 1 : tensor<8x8xf32> -> tensor<8xf32>
    %m1 = arith.maximumf %m, %ms : tensor<8xf32>
    %d = arith.subf %m, %m1 : tensor<8xf32>
    %alpha = math.exp2 %d : tensor<8xf32>
    %rows = tile.expand %m1 axis 1 : tensor<8xf32> -> tensor<8x8xf32>
    %shifted = arith.subf %s, %rows : tensor<8x8xf32>
    %w = math.exp2 %shifted : tensor<8x8xf32>
    %l0 = arith.mulf %l, %alpha : tensor<8xf32>
    %ls = tile.reduce add %w axis 1 : tensor<8x8xf32> -> tensor<8xf32>
    %l1 = arith.addf %l0, %ls : tensor<8xf32>
    %scale = tile.expand %alpha axis 1 : tensor<8xf32> -> tensor<8x8xf32>
    %before = arith.mulf %acc, %scale : tensor<8x8xf32>
    %acc1 = tile.dot %w, %k, %before : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    tile.yield %m1, %l1, %acc1 : tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>
  }
  %e:3 = tile.loop #tile.rescaled_sum<exp2, row> %j = %c8 to %c8 step 8 carries(%m = %r#0, %l = %r#1, %acc = %r#2) : (tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>) {
    %k = tile.load %X[%j, %c0] : !m -> tensor<8x8xf32>
    tile.yield %m, %l, %k : tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>
  }
  tile.store %e#2, %O[%c0, %c0] : tensor<8x8xf32>, !m
  tile.store %e#1, %L[%c0] : tensor<8xf32>, memref<?xf32>
  tile.return
}

// Two steps stay, and so does a loop whose end is not known; a product with zero is none of a softmax's state in a sum.
// CHECK-LABEL: tile.kernel @others
// CHECK:         tile.loop #tile.sum %{{.*}} = %c0 to %c16 step 8
// CHECK:         tile.loop #tile.sum %{{.*}} = %c0 to %{{.*}} step 8
// CHECK-NOT:     tile.loop
// CHECK:         arith.mulf
tile.kernel @others(%X: !m, %O: !m) grid(batch) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %X, %c0 : !m
  %zeros = arith.constant dense<0.0> : tensor<8x8xf32>
  %a = tile.loop #tile.sum %j = %c0 to %c16 step 8 carries(%acc = %zeros) : (tensor<8x8xf32>) {
    %k = tile.load %X[%j, %c0] : !m -> tensor<8x8xf32>
    %next = arith.addf %acc, %k : tensor<8x8xf32>
    tile.yield %next : tensor<8x8xf32>
  }
  %b = tile.loop #tile.sum %j = %c0 to %n step 8 carries(%acc = %a) : (tensor<8x8xf32>) {
    %k = tile.load %X[%j, %c0] : !m -> tensor<8x8xf32>
    %next = arith.addf %acc, %k : tensor<8x8xf32>
    tile.yield %next : tensor<8x8xf32>
  }
  %c = tile.loop #tile.sum %j = %c0 to %c8 step 8 carries(%acc = %zeros) : (tensor<8x8xf32>) {
    %k = tile.load %X[%j, %c0] : !m -> tensor<8x8xf32>
    %scaled = arith.mulf %acc, %k : tensor<8x8xf32>
    %next = arith.addf %scaled, %b : tensor<8x8xf32>
    tile.yield %next : tensor<8x8xf32>
  }
  tile.store %c, %O[%c0, %c0] : tensor<8x8xf32>, !m
  tile.return
}
