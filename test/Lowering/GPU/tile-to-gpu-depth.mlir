// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(tile-assign-layouts),tile-to-gpu)" -split-input-file | FileCheck %s

// Both operands in shared memory: a loop over k, 32 of it a round, and what is left of it after the loop. Each step has
// four blocks of columns, two times 8 of k and three products of tf32; sums go round with the loop.
// CHECK-LABEL: llvm.func @depth
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK-NOT: arith.remui
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-48: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-24: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.return
tile.kernel @depth(%A: memref<16x80xf32>, %B: memref<80x64xf32>, %C: memref<16x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 2, stages = 1, warp_columns = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %a = tile.load %A[%c0, %c0] : memref<16x80xf32> -> tensor<16x80xf32>
  %b = tile.load %B[%c0, %c0] : memref<80x64xf32> -> tensor<80x64xf32>
  %c = tile.dot %a, %b, %zero : tensor<16x80xf32>, tensor<80x64xf32> -> tensor<16x64xf32>
  tile.store %c, %C[%c0, %c0] : tensor<16x64xf32>, memref<16x64xf32>
  tile.return
}

// -----

// Five blocks of columns are enough for a round of 16 of k. The swizzle begins anew after 32, so the chunk is computed.
// CHECK-LABEL: llvm.func @half_pattern
// CHECK: scf.for %[[DONE:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK: arith.remui %[[DONE]], %{{.*}} : i32
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-30: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.return
tile.kernel @half_pattern(%A: memref<16x48xf32>, %B: memref<80x48xf32>, %C: memref<16x80xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 2, stages = 1, warp_columns = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x80xf32>
  %a = tile.load %A[%c0, %c0] : memref<16x48xf32> -> tensor<16x48xf32>
  %b = tile.load %B[%c0, %c0] : memref<80x48xf32> -> tensor<80x48xf32>
  %c = tile.dot %a, %b, %zero {transpose_b} : tensor<16x48xf32>, tensor<80x48xf32> -> tensor<16x80xf32>
  tile.store %c, %C[%c0, %c0] : tensor<16x80xf32>, memref<16x80xf32>
  tile.return
}

// -----

// With one column of warps the first operand is in registers, which have no index.
// CHECK-LABEL: llvm.func @registers
// CHECK-NOT: scf.for {{.*}} iter_args
// CHECK: llvm.return
tile.kernel @registers(%A: memref<32x80xf32>, %B: memref<80x64xf32>, %C: memref<32x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 2, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %a = tile.load %A[%c0, %c0] : memref<32x80xf32> -> tensor<32x80xf32>
  %b = tile.load %B[%c0, %c0] : memref<80x64xf32> -> tensor<80x64xf32>
  %c = tile.dot %a, %b, %zero : tensor<32x80xf32>, tensor<80x64xf32> -> tensor<32x64xf32>
  tile.store %c, %C[%c0, %c0] : tensor<32x64xf32>, memref<32x64xf32>
  tile.return
}
