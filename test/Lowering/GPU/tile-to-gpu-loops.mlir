// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(tile-assign-layouts),tile-to-gpu)" -split-input-file | FileCheck %s

// Two ranges with one body, which differs in a bound: the body stands once, in a loop over the ranges.
// CHECK-LABEL: llvm.func @ranges
// CHECK: scf.for %[[RANGE:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANGE]], %{{.*}} : i32
// CHECK: arith.select %[[FIRST]], %{{.*}} : i64
// CHECK: scf.for
// CHECK-COUNT-4: ex2.approx
// CHECK-NOT: ex2.approx
// CHECK: llvm.return
tile.kernel @ranges(%A: memref<?x8xf32>, %C: memref<?x8xf32>, %m: index, %n: index) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %first = tile.loop #tile.sum %i = %c0 to %m step 64 carries(%sum = %zero) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] rows(%m) : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %next = arith.addf %sum, %e : tensor<64x8xf32>
    tile.yield %next : tensor<64x8xf32>
  }
  %from = arith.addi %m, %m : index
  %second = tile.loop #tile.sum %i = %from to %n step 64 carries(%sum = %first) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] rows(%n) : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %next = arith.addf %sum, %e : tensor<64x8xf32>
    tile.yield %next : tensor<64x8xf32>
  }
  tile.store %second, %C[%c0, %c0] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// -----

// A bound of the first body is its column, too, and the second body has another bound in the same column: no scalar of the one
// stands for one of the other, so each range has a body.
// CHECK-LABEL: llvm.func @column
// CHECK-COUNT-8: ex2.approx
// CHECK: llvm.return
tile.kernel @column(%A: memref<?x8xf32>, %C: memref<?x8xf32>, %m: index, %n: index) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %first = tile.loop #tile.sum %i = %c0 to %m step 64 carries(%sum = %zero) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] rows(%c0) : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %next = arith.addf %sum, %e : tensor<64x8xf32>
    tile.yield %next : tensor<64x8xf32>
  }
  %second = tile.loop #tile.sum %i = %m to %n step 64 carries(%sum = %first) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] rows(%n) : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %next = arith.addf %sum, %e : tensor<64x8xf32>
    tile.yield %next : tensor<64x8xf32>
  }
  tile.store %second, %C[%c0, %c0] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// -----

// What the first loop carries is stored as well: it must be there between the two.
// CHECK-LABEL: llvm.func @used
// CHECK-COUNT-8: ex2.approx
// CHECK: llvm.return
tile.kernel @used(%A: memref<?x8xf32>, %C: memref<?x8xf32>, %D: memref<?x8xf32>, %m: index, %n: index) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %first = tile.loop #tile.sum %i = %c0 to %m step 64 carries(%sum = %zero) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %next = arith.addf %sum, %e : tensor<64x8xf32>
    tile.yield %next : tensor<64x8xf32>
  }
  %second = tile.loop #tile.sum %i = %m to %n step 64 carries(%sum = %first) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %next = arith.addf %sum, %e : tensor<64x8xf32>
    tile.yield %next : tensor<64x8xf32>
  }
  tile.store %first, %D[%c0, %c0] : tensor<64x8xf32>, memref<?x8xf32>
  tile.store %second, %C[%c0, %c0] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// -----

// The same operations on other operands are another body: the second adds to what it carries the square, not the product.
// CHECK-LABEL: llvm.func @other
// CHECK-COUNT-8: ex2.approx
// CHECK: llvm.return
tile.kernel @other(%A: memref<?x8xf32>, %C: memref<?x8xf32>, %m: index, %n: index) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %first = tile.loop #tile.sum %i = %c0 to %m step 64 carries(%sum = %zero) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %p = arith.mulf %e, %a : tensor<64x8xf32>
    %next = arith.addf %sum, %p : tensor<64x8xf32>
    tile.yield %next : tensor<64x8xf32>
  }
  %second = tile.loop #tile.sum %i = %m to %n step 64 carries(%sum = %first) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %p = arith.mulf %e, %e : tensor<64x8xf32>
    %next = arith.addf %sum, %p : tensor<64x8xf32>
    tile.yield %next : tensor<64x8xf32>
  }
  tile.store %second, %C[%c0, %c0] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// -----

// Keys at the diagonal: one step at most, which is a condition.
// CHECK-LABEL: llvm.func @diagonal
// CHECK-NOT: scf.for
// CHECK: scf.if {{.*}} -> (f32, f32, f32, f32)
// CHECK-COUNT-4: ex2.approx
// CHECK-NOT: ex2.approx
// CHECK: llvm.return
tile.kernel @diagonal(%A: memref<?x8xf32>, %C: memref<?x8xf32>, %first: index, %n: index) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %next = arith.addi %first, %c1 : index
  %end = arith.minsi %next, %n : index
  %sum = tile.loop #tile.sum %i = %first to %end step 64 carries(%before = %zero) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] rows(%n) : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %after = arith.addf %before, %e : tensor<64x8xf32>
    tile.yield %after : tensor<64x8xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// -----

// One more key, and there may be a second step.
// CHECK-LABEL: llvm.func @two_steps
// CHECK: scf.for
// CHECK: llvm.return
tile.kernel @two_steps(%A: memref<?x8xf32>, %C: memref<?x8xf32>, %first: index, %n: index) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c65 = arith.constant 65 : index
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %next = arith.addi %first, %c65 : index
  %end = arith.minsi %next, %n : index
  %sum = tile.loop #tile.sum %i = %first to %end step 64 carries(%before = %zero) : (tensor<64x8xf32>) {
    %a = tile.load %A[%i, %c0] rows(%n) : memref<?x8xf32> -> tensor<64x8xf32>
    %e = math.exp2 %a : tensor<64x8xf32>
    %after = arith.addf %before, %e : tensor<64x8xf32>
    tile.yield %after : tensor<64x8xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}
