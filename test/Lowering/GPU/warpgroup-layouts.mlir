// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(tile-assign-layouts{products=wgmma}))" | FileCheck %s
// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(tile-assign-layouts{products=mma.sync}))" | FileCheck %s --check-prefix=WARPS

// WARPS-NOT: panel

!m = memref<?x64xf16>
!wide = memref<?x128xf16>
!odd = memref<?x80xf16>
!f = memref<?x64xf32>

// Loaded operands are read where they were copied to, weights from registers.
// CHECK-LABEL: tile.kernel @weights
tile.kernel @weights(%Q: !m, %K: !m, %V: !wide, %O: memref<?x128xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x128xf32>
  // CHECK: %[[Q:.*]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.shared<rows = 64, columns = 64, panel = 64>>
  // CHECK: %[[K:.*]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.shared<rows = 64, columns = 64, panel = 64>>
  %q = tile.load %Q[%c0, %c0] : !m -> tensor<64x64xf16>
  %k = tile.load %K[%c0, %c0] : !m -> tensor<64x64xf16>
  // CHECK: tile.dot %[[Q]], %[[K]], {{.*}} -> tensor<64x64xf32, #tile.fragment<role = c, inner = 16, warps = [4, 1]>>
  %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK: %[[A:.*]] = tile.convert_layout {{.*}} -> tensor<64x64xf16, #tile.fragment<role = a, inner = 16, warps = [4, 1]>>
  %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  // CHECK: %[[V:.*]] = tile.load {{.*}} -> tensor<64x128xf16, #tile.shared<rows = 64, columns = 128, panel = 64>>
  %v = tile.load %V[%c0, %c0] : !wide -> tensor<64x128xf16>
  // CHECK: tile.dot %[[A]], %[[V]]
  %o = tile.dot %w, %v, %none : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
  tile.store %o, %O[%c0, %c0] : tensor<64x128xf32>, memref<?x128xf32>
  tile.return
}

// Widths that panels do not divide are padded; narrow ones have panels of their own.
// CHECK-LABEL: tile.kernel @widths
tile.kernel @widths(%A: !odd, %B: !odd, %C: memref<?x32xf16>, %O: !f, %P: !f) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK-COUNT-2: tile.load {{.*}} -> tensor<64x80xf16, #tile.shared<rows = 64, columns = 128, panel = 64>>
  %a = tile.load %A[%c0, %c0] : !odd -> tensor<64x80xf16>
  %b = tile.load %B[%c0, %c0] : !odd -> tensor<64x80xf16>
  %o = tile.dot %a, %b, %zero {transpose_b} : tensor<64x80xf16>, tensor<64x80xf16> -> tensor<64x64xf32>
  // CHECK: tile.load {{.*}} -> tensor<64x32xf16, #tile.shared<rows = 64, columns = 32, panel = 32>>
  %c = tile.load %C[%c0, %c0] : memref<?x32xf16> -> tensor<64x32xf16>
  %p = tile.dot %c, %c, %zero {transpose_b} : tensor<64x32xf16>, tensor<64x32xf16> -> tensor<64x64xf32>
  tile.store %o, %O[%c0, %c0] : tensor<64x64xf32>, !f
  tile.store %p, %P[%c0, %c0] : tensor<64x64xf32>, !f
  tile.return
}

// An operand that a product of warps takes too lies as mma.sync reads it, for both.
// CHECK-LABEL: tile.kernel @shared_with_others
// CHECK-NOT: panel
tile.kernel @shared_with_others(%A: !m, %B: !m, %D: memref<?x8xf16>, %O: !f) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<8x64xf32>
  %a = tile.load %A[%c0, %c0] : !m -> tensor<64x64xf16>
  %b = tile.load %B[%c0, %c0] : !m -> tensor<64x64xf16>
  %d = tile.load %D[%c0, %c0] : memref<?x8xf16> -> tensor<64x8xf16>
  %o = tile.dot %a, %b, %zero {transpose_b} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // Eight rows of a transposed A: no block of 64.
  %p = tile.dot %d, %b, %none {transpose_a} : tensor<64x8xf16>, tensor<64x64xf16> -> tensor<8x64xf32>
  tile.store %o, %O[%c0, %c0] : tensor<64x64xf32>, !f
  tile.store %p, %O[%c0, %c0] : tensor<8x64xf32>, !f
  tile.return
}

// CHECK-LABEL: tile.kernel @two_rows_of_warps
// CHECK-NOT: panel
tile.kernel @two_rows_of_warps(%A: !m, %B: !m, %O: !f) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2, warp_columns = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] : !m -> tensor<64x64xf16>
  %b = tile.load %B[%c0, %c0] : !m -> tensor<64x64xf16>
  %o = tile.dot %a, %b, %zero {transpose_b} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %o, %O[%c0, %c0] : tensor<64x64xf32>, !f
  tile.return
}

// Of f32 all products are those of warps.
// CHECK-LABEL: tile.kernel @f32
// CHECK-NOT: panel
tile.kernel @f32(%A: !f, %B: !f, %O: !f) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] : !f -> tensor<64x64xf32>
  %b = tile.load %B[%c0, %c0] : !f -> tensor<64x64xf32>
  %o = tile.dot %a, %b, %zero {transpose_b} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %o, %O[%c0, %c0] : tensor<64x64xf32>, !f
  tile.return
}
