// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(tile-assign-layouts{products=wgmma}),tile-to-gpu,gpu.module(llvm.func(gpu-order-products)))" | FileCheck %s
// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(tile-assign-layouts{products=wgmma}),tile-to-gpu)" | FileCheck %s --check-prefix=BEFORE

// The products alone are without order.
// BEFORE: wgmma.mma_async
// BEFORE-NOT: wgmma.{{fence|commit|wait}}

!k = memref<?x32xf16>
!f = memref<?x16xf32>

// Shared memory begins at a multiple of the longest pattern: 8 rows of 128 bytes.
// CHECK: llvm.mlir.global external @attune_shared() {addr_space = 3 : i32, alignment = 1024 : i64}

// Scores from zero: nothing enters the group, its sums leave it at the next barrier. What threads have written is made known
// to the products before each barrier.
// CHECK-LABEL: llvm.func @attention
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: nvvm.barrier
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.inline_asm has_side_effects "{{.*}}wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{.*}}", "{{.*}},l,l,n,n,n,n,n"
// CHECK-NOT: wgmma.{{fence|commit|wait}}
// CHECK: llvm.inline_asm has_side_effects "{{.*}}wgmma.mma_async.sync.aligned.m64n16k16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NOT: nvvm.barrier
// CHECK: %[[S:.*]] = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned $16;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,n"
// CHECK: %[[S0:.*]] = llvm.extractvalue %[[S]][0]
// CHECK: llvm.insertelement %[[S0]]

// Weights are four registers of the second product; its sums begin from zero too.
// CHECK: nvvm.barrier
// CHECK: %[[W:.*]] = llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=r,=r,=r,=r,0,1,2,3"
// CHECK: %[[W0:.*]] = llvm.extractvalue %[[W]][0]
// CHECK: llvm.inline_asm has_side_effects "{{.*}}wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {{.*}}", "{{.*}},r,r,r,r,l,n,n,n,n" {{.*}}%[[W0]],
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned $32;"
tile.kernel @attention(%Q: !k, %K: !k, %V: !k, %O: memref<?x32xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 16, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %q = tile.load %Q[%c0, %c0] : !k -> tensor<64x32xf16>
  %k = tile.load %K[%c0, %c0] : !k -> tensor<16x32xf16>
  %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x32xf16>, tensor<16x32xf16> -> tensor<64x16xf32>
  %w = arith.truncf %s : tensor<64x16xf32> to tensor<64x16xf16>
  %v = tile.load %V[%c0, %c0] : !k -> tensor<16x32xf16>
  %o = tile.dot %w, %v, %none : tensor<64x16xf16>, tensor<16x32xf16> -> tensor<64x32xf32>
  tile.store %o, %O[%c0, %c0] : tensor<64x32xf32>, memref<?x32xf32>
  tile.return
}

// What a loop carries enters the group, and is there again at the end of the body.
// CHECK-LABEL: llvm.func @sum
// CHECK: %{{.*}}:9 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[F:.*]] = llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7" %[[ACC]],
// CHECK: %[[F0:.*]] = llvm.extractvalue %[[F]][0]
// CHECK: llvm.inline_asm has_side_effects "{{.*}}wgmma.mma_async{{.*}}" %[[F0]],
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: %[[R:.*]] = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned $16;"
// CHECK: %[[R0:.*]] = llvm.extractvalue %[[R]][0]
// CHECK: scf.yield %[[R0]],
tile.kernel @sum(%A: memref<?x16xf16>, %B: memref<?x16xf16>, %O: !f, %N: index) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 16, piece = 2048, operand = f16, warps = 4, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %sum = tile.loop #tile.sum %j = %c0 to %N step 64 carries(%acc = %zero) : (tensor<64x16xf32>) {
    %a = tile.load %A[%j, %c0] : memref<?x16xf16> -> tensor<64x16xf16>
    %b = tile.load %B[%j, %c0] : memref<?x16xf16> -> tensor<16x16xf16>
    %next = tile.dot %a, %b, %acc {transpose_b} : tensor<64x16xf16>, tensor<16x16xf16> -> tensor<64x16xf32>
    tile.yield %next : tensor<64x16xf32>
  }
  tile.store %sum, %O[%c0, %c0] : tensor<64x16xf32>, !f
  tile.return
}
