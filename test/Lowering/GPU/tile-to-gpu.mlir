// RUN: attn-opt %s -tile-to-gpu-pipeline | FileCheck %s

// A pointer, two sizes and two strides for each memory; a row of 16 bytes by cp.async, with its size; mma.sync.
// CHECK-LABEL: gpu.module @attune_kernels
// CHECK: llvm.mlir.global external @attune_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @product(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1>
// CHECK-SAME: attune.block_size = 128 : i64, attune.shared_bytes = 16384 : i64, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>
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
