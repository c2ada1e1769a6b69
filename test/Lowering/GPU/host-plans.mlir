// RUN: attn-opt %s -cpu-lower-plans="isas=avx2 device=true" | FileCheck %s
// RUN: attn-opt %s -tile-to-gpu-pipeline | FileCheck %s --check-prefix=DEVICE

// The host launches kernels by their place in the table, which is their order in the device module.
// CHECK: llvm.func @attune_rt_launch_device(!llvm.ptr, i64, !llvm.ptr, i64, i64, i64, i64)
// CHECK-LABEL: llvm.func @plan__avx2(
// CHECK: %[[SECOND:.*]] = {{.*}}constant{{.*}}1
// CHECK: llvm.call @attune_rt_launch_device(
// CHECK-NOT: tile.kernel

// DEVICE-NOT: @plan
// DEVICE: llvm.func @first
// DEVICE: llvm.func @second
!m = memref<?x64xf32>
tile.kernel @first(%in: !m, %out: !m) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  tile.return
}
tile.kernel @second(%in: !m, %out: !m) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %t = tile.load %in[%c0, %c0] : !m -> tensor<64x64xf32>
  tile.store %t, %out[%c0, %c0] : tensor<64x64xf32>, !m
  tile.return
}
func.func @plan(%in: !m, %out: !m, %blocks: index) {
  tile.launch @second grid(%blocks) (%in, %out) : !m, !m
  return
}
