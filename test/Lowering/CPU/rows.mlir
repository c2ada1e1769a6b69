// RUN: attn-opt %s -cpu-lower-kernels=isas=avx512 -cpu-lower-plans=isas=avx512 | FileCheck %s
// RUN: attn-opt %s -cpu-lower-kernels=isas=avx2 -cpu-lower-plans=isas=avx2 | FileCheck %s --check-prefix=AVX2

// A step of a decoder: two rows are multiplied by one state, which then takes a product of one term.

!rows = memref<?x?x?x128xf32>
!states = memref<?x?x128x128xf32>
!small = memref<?x?x64x64xf32>

// One function reads the state for both rows, wherever these and their results lie: their distances are arguments. Its strip is eight vectors wide, four of
// AVX2; so is that of the sum, whose blocks have two rows then. That sum fetches the next head's state: 1,024 lines in 64 blocks.
// CHECK-LABEL: llvm.func @wide__avx512
// CHECK-DAG:     %[[A:.*]] = llvm.ptrtoint
// CHECK:         llvm.call @dot_2x128x128_sx1_1_v128_c128_store__avx512(
// CHECK-NOT:     llvm.call
// CHECK:         llvm.call @dot_128x128x1_{{.*}}_add_f128x8__avx512(
// CHECK-LABEL: llvm.func internal @dot_2x128x128_sx1_1_v128_c128_store__avx512
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c128_i64{{.*}} step %{{.*}} iter_args
// CHECK-COUNT-8:   llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-16:  llvm.intr.fma
// CHECK:           scf.yield
// CHECK-COUNT-16: llvm.store {{.*}} : vector<16xf32>
// CHECK-LABEL: llvm.func internal @dot_128x128x1
// CHECK:         scf.for
// CHECK-COUNT-16:  llvm.intr.fma
// The lines lie between the rows that are stored.
// CHECK-COUNT-8:   llvm.store {{.*}} : vector<16xf32>
// CHECK-COUNT-8:   hint = 2
// CHECK-COUNT-8:   llvm.store {{.*}} : vector<16xf32>
// CHECK-COUNT-8:   hint = 2

// AVX2-LABEL: llvm.func internal @dot_2x128x128_sx1_1_v128_c128_store__avx2
// AVX2:         scf.for %{{.*}} = %{{.*}} to %c128_i64{{.*}} step %{{.*}} iter_args
// AVX2-COUNT-4:   llvm.load {{.*}} -> vector<8xf32>
// AVX2-COUNT-8:   llvm.intr.fma
// AVX2:           scf.yield
tile.kernel @wide(%Q: !rows, %K: !rows, %S: !states, %O: !rows, %T: !states) grid(batch, head)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 1, key_tile = 1, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<1x128xf32>
  %half = arith.constant dense<0.5> : tensor<1x128xf32>
  %b = tile.program_id batch
  %h = tile.program_id head
  %n = memref.dim %Q, %c2 : !rows
  %begin = tile.load %S[%b, %h, %c0, %c0] : !states -> tensor<128x128xf32>
  %end = tile.loop #tile.affine<transition = matrix> %t = %c0 to %n step 1 carries(%s = %begin) : (tensor<128x128xf32>) {
    %q = tile.load %Q[%b, %h, %t, %c0] : !rows -> tensor<1x128xf32>
    %k = tile.load %K[%b, %h, %t, %c0] : !rows -> tensor<1x128xf32>
    %scaled = arith.mulf %q, %half : tensor<1x128xf32>
    %erased = arith.mulf %k, %half : tensor<1x128xf32>
    %read = tile.dot %scaled, %s, %none : tensor<1x128xf32>, tensor<128x128xf32> -> tensor<1x128xf32>
    %taken = tile.dot %erased, %s, %none : tensor<1x128xf32>, tensor<128x128xf32> -> tensor<1x128xf32>
    %o = arith.subf %read, %taken : tensor<1x128xf32>
    tile.store %o, %O[%b, %h, %t, %c0] : tensor<1x128xf32>, !rows
    %next = tile.dot %k, %taken, %s {transpose_a} : tensor<1x128xf32>, tensor<1x128xf32> -> tensor<128x128xf32>
    tile.yield %next : tensor<128x128xf32>
  }
  tile.store %end, %T[%b, %h, %c0, %c0] : tensor<128x128xf32>, !states
  tile.return
}

// A state of 16 KiB is fetched into the first-level cache. A dot that ends with another op, or adds something, is alone.
// CHECK-LABEL: llvm.func @small__avx512
// CHECK:         llvm.call @dot_1x64x64_{{.*}}_add__avx512(
// CHECK:         llvm.call @dot_1x64x64_{{[^a]*}}__avx512(
// CHECK:         llvm.call @dot_64x64x1_{{.*}}_add_n64x4__avx512(
// CHECK-LABEL: llvm.func internal @dot_64x64x1_{{.*}}_n64x4__avx512
// CHECK:         hint = 3
tile.kernel @small(%Q: memref<?x?x?x64xf32>, %S: !small, %O: memref<?x?x?x64xf32>, %T: !small) grid(batch, head)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 1, key_tile = 1, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %none = arith.constant dense<0.0> : tensor<1x64xf32>
  %half = arith.constant dense<0.5> : tensor<1x64xf32>
  %b = tile.program_id batch
  %h = tile.program_id head
  %n = memref.dim %Q, %c2 : memref<?x?x?x64xf32>
  %begin = tile.load %S[%b, %h, %c0, %c0] : !small -> tensor<64x64xf32>
  %end = tile.loop #tile.affine<transition = matrix> %t = %c0 to %n step 1 carries(%s = %begin) : (tensor<64x64xf32>) {
    %q = tile.load %Q[%b, %h, %t, %c0] : memref<?x?x?x64xf32> -> tensor<1x64xf32>
    %scaled = arith.mulf %q, %half : tensor<1x64xf32>
    %read = tile.dot %scaled, %s, %q : tensor<1x64xf32>, tensor<64x64xf32> -> tensor<1x64xf32>
    %taken = tile.dot %q, %s, %none : tensor<1x64xf32>, tensor<64x64xf32> -> tensor<1x64xf32>
    %o = arith.subf %read, %taken : tensor<1x64xf32>
    tile.store %o, %O[%b, %h, %t, %c0] : tensor<1x64xf32>, memref<?x?x?x64xf32>
    %next = tile.dot %scaled, %taken, %s {transpose_a} : tensor<1x64xf32>, tensor<1x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  tile.store %end, %T[%b, %h, %c0, %c0] : tensor<64x64xf32>, !small
  tile.return
}
