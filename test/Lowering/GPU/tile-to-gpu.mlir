// RUN: attn-opt %s -tile-to-gpu-pipeline | FileCheck %s

// The second operand comes when the first is in registers, and takes its place.
// A pointer, two sizes and two strides for each memory; a row of 16 bytes by cp.async, with its size; mma.sync.
// CHECK-LABEL: gpu.module @attune_kernels
// CHECK: llvm.mlir.global external @attune_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @product(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1>
// CHECK-SAME: attune.block_size = 128 : i64, attune.shared_bytes = 8192 : i64, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
tile.kernel @product(%A: memref<?x64xf16>, %B: memref<?x64xf16>, %C: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x64xf16> -> tensor<64x64xf16>
  %b = tile.load %B[%c0, %c0] : memref<?x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %c, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// Columns stay in the four lanes of a quad: halves of 16 only change their registers, single steps are shuffles. To and from
// memory the quad exchanges what makes 16 bytes a lane.
// CHECK-LABEL: llvm.func @halves
// CHECK-NOT: nvvm.shfl.sync idx
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync idx
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK-NOT: nvvm.shfl.sync idx
// CHECK: llvm.return
tile.kernel @halves(%A: memref<?x16xf32>, %C: memref<?x16xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : memref<?x16xf32> -> tensor<64x16xf32>
  %p = tile.permute_columns %a [8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7] : tensor<64x16xf32>
  tile.store %p, %C[%c0, %c0] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}
// CHECK-LABEL: llvm.func @rotated
// CHECK: nvvm.shfl.sync idx
tile.kernel @rotated(%A: memref<?x8xf32>, %C: memref<?x8xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
  %p = tile.permute_columns %a [1, 2, 3, 4, 5, 6, 7, 0] : tensor<64x8xf32>
  tile.store %p, %C[%c0, %c0] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// A table lies in the module, padded to what threads read of it. Neither a sine nor a logarithm is a library's.
// CHECK-LABEL: llvm.func @angles
// CHECK: llvm.intr.roundeven
// CHECK-NOT: llvm.call @
// CHECK-NOT: lg2.approx
// CHECK: llvm.return
tile.kernel @angles(%A: memref<?x4xf32>, %C: memref<?x4xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : memref<?x4xf32> -> tensor<64x4xf32>
  %t = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = tile.expand %t axis 0 : tensor<4xf32> -> tensor<64x4xf32>
  %l = math.log2 %a : tensor<64x4xf32>
  %m = arith.mulf %l, %e : tensor<64x4xf32>
  %s = tile.sine %m : tensor<64x4xf32>
  tile.store %s, %C[%c0, %c0] : tensor<64x4xf32>, memref<?x4xf32>
  tile.return
}

// What one thread stores and another loads is ordered by a barrier.
// CHECK-LABEL: llvm.func @exchanged
// CHECK: llvm.store
// CHECK: nvvm.barrier
// CHECK: llvm.load
tile.kernel @exchanged(%A: memref<?xf32>, %C: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %i = tile.iota %c0 : tensor<64xf32>
  tile.store %i, %A[%c0] : tensor<64xf32>, memref<?xf32>
  %a = tile.load %A[%c0] : memref<?xf32> -> tensor<64xf32>
  %e = tile.expand %a axis 0 : tensor<64xf32> -> tensor<64x64xf32>
  tile.store %e, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// f32 takes three products of tf32 numbers for one; precision tf32 takes one.
// CHECK-LABEL: llvm.func @exact
// CHECK-COUNT-3: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.return
// Each 16 of k, six products, is summed from zero; the first of them is the sum, the second is added.
// CHECK-LABEL: llvm.func @deep
// CHECK-COUNT-6: nvvm.mma.sync
// CHECK-NOT: llvm.fadd
// CHECK-COUNT-6: nvvm.mma.sync
// CHECK-COUNT-4: llvm.fadd
// CHECK-NOT: {{nvvm.mma.sync|llvm.fadd}}
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @relaxed
// CHECK-COUNT-1: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.return
!a = memref<16x8xf32>
!b = memref<8x8xf32>
tile.kernel @exact(%A: !a, %B: !b, %C: !a) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = tile.load %A[%c0, %c0] : !a -> tensor<16x8xf32>
  %b = tile.load %B[%c0, %c0] : !b -> tensor<8x8xf32>
  %c = tile.dot %a, %b, %zero : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  tile.store %c, %C[%c0, %c0] : tensor<16x8xf32>, !a
  tile.return
}
tile.kernel @deep(%A: memref<16x32xf32>, %B: memref<32x8xf32>, %C: !a) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = tile.load %A[%c0, %c0] : memref<16x32xf32> -> tensor<16x32xf32>
  %b = tile.load %B[%c0, %c0] : memref<32x8xf32> -> tensor<32x8xf32>
  %c = tile.dot %a, %b, %zero : tensor<16x32xf32>, tensor<32x8xf32> -> tensor<16x8xf32>
  tile.store %c, %C[%c0, %c0] : tensor<16x8xf32>, !a
  tile.return
}
tile.kernel @relaxed(%A: !a, %B: !b, %C: !a) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 16, key_tile = 16, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = tile.load %A[%c0, %c0] : !a -> tensor<16x8xf32>
  %b = tile.load %B[%c0, %c0] : !b -> tensor<8x8xf32>
  %c = tile.dot %a, %b, %zero precision tf32 : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
  tile.store %c, %C[%c0, %c0] : tensor<16x8xf32>, !a
  tile.return
}

// Rows before the first are a convolution's neighbours: sums stay beside their loads.
// CHECK-LABEL: llvm.func @neighbours
// CHECK-SAME: passthrough = ["attune-sums-loads"]
tile.kernel @neighbours(%A: memref<?x8xf32>, %C: memref<?x8xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %before = arith.constant -1 : index
  %a = tile.load %A[%c0, %c0] : memref<?x8xf32> -> tensor<64x8xf32>
  %b = tile.load %A[%before, %c0] from(%c0) : memref<?x8xf32> -> tensor<64x8xf32>
  %sum = arith.addf %a, %b : tensor<64x8xf32>
  tile.store %sum, %C[%c0, %c0] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}
