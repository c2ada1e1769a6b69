// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx512 -cpu-lower-plans=isas=avx512 | FileCheck %s

// A window of an image is read where it lies: the keys row by row as numbers (_sf), the values as vectors (_vf), each
// with its first token and the rows that are left out as arguments. Of 49 queries the last is a row by itself. The result
// is scaled and stored in its window (_cf) as the product ends. Every tile is fetched for the next window.
// CHECK-LABEL: llvm.func @window__avx512
// 48 queries are transposed, read in quarters of vectors; the last one is moved number by number.
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c48_i64
// CHECK:           llvm.load %{{.*}} -> vector<4xf32>
// CHECK:           vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>, vector<4xf32>
// CHECK:           llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
// CHECK:         scf.for %{{.*}} to %c64_i64
// CHECK-NOT:       vector
// CHECK:           llvm.load %{{.*}} -> f32
// CHECK:         scf.if %{{.*}} -> (!llvm.ptr, i64, i64, i64)
// The first dot fetches the queries' and the output's next window, the second one keys and values.
// CHECK:         llvm.call @dot_49x49x64_s64_1_v64_c64_tail_sf7r7_f49x4w7_56_f49x4w7_56__avx512(
// CHECK:         llvm.call @dot_49x64x49_s1_64_v64_c64_storebelow_scaled_vf7r7_cf7r7_f49x4w7_56_f49x4w7_56__avx512(
!m = memref<?x64xf32>
tile.kernel @window(%Q: !m, %K: !m, %V: !m, %O: !m) grid(batch, query_block) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c49 = arith.constant 49 : index
  %none = arith.constant dense<0.0> : tensor<49x49xf32>
  %zero = arith.constant dense<0.0> : tensor<49x64xf32>
  %number = tile.program_id batch
  %origin = arith.muli %number, %c7 : index
  %q = tile.load %Q[%origin, %c0] rows(%c49) fold(%c0) columns 7 stride 56 : !m -> tensor<49x64xf32>
  %q2 = arith.addf %q, %q : tensor<49x64xf32>
  %k = tile.load %K[%origin, %c0] rows(%c49) fold(%c0) columns 7 stride 56 : !m -> tensor<49x64xf32>
  %v = tile.load %V[%origin, %c0] rows(%c49) fold(%c0) columns 7 stride 56 : !m -> tensor<49x64xf32>
  %s = tile.dot %q2, %k, %none {transpose_b, attune.column} : tensor<49x64xf32>, tensor<49x64xf32> -> tensor<49x49xf32>
  %l = tile.reduce add %s axis 1 : tensor<49x49xf32> -> tensor<49xf32>
  %rows = tile.expand %l axis 1 : tensor<49xf32> -> tensor<49x64xf32>
  %num = tile.dot %s, %v, %zero : tensor<49x49xf32>, tensor<49x64xf32> -> tensor<49x64xf32>
  %o = arith.mulf %num, %rows : tensor<49x64xf32>
  tile.store %o, %O[%origin, %c0] rows(%c49) fold(%c0) columns 7 stride 56 : tensor<49x64xf32>, !m
  tile.return
}

// -----

// A window that has whole rows of the image is consecutive: no fold in any dot.
// CHECK-LABEL: llvm.func @stripe__avx512
// CHECK:         llvm.call @dot_64x64x64_s64_1_v64_c64_f64x4_f64x4__avx512(
!m = memref<?x64xf32>
tile.kernel @stripe(%K: !m, %O: !m) grid(batch, query_block) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %number = tile.program_id batch
  %origin = arith.muli %number, %c64 : index
  %q = tile.load %O[%c0, %c0] : !m -> tensor<64x64xf32>
  %q2 = arith.addf %q, %q : tensor<64x64xf32>
  %k = tile.load %K[%origin, %c0] rows(%c64) fold(%c0) columns 32 stride 32 : !m -> tensor<64x64xf32>
  %s = tile.dot %q2, %k, %zero {transpose_b, attune.column} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %s, %O[%c0, %c0] : tensor<64x64xf32>, !m
  tile.return
}

// -----

// A convolution that is added to a product: its shifted loads are in the nest of the sum, behind the product. Two vectors
// of 16 rows at a time: each row reads those of the later load and of the product, and has those of the other from the row
// before, the first one from memory.
// CHECK-LABEL: llvm.func @taps__avx512
// CHECK:         llvm.call @dot_64x64x64_
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-COUNT-2:     llvm.load {{.*}} -> vector<16xf32>
// CHECK:             scf.for {{.*}} iter_args
// CHECK-COUNT-4:       llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT:     llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT:     scf.for
// CHECK:         llvm.func internal
!m = memref<?x64xf32>
tile.kernel @taps(%X: !m, %V: !m, %O: !m) grid(query_block) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %block = tile.program_id query_block
  %i = arith.muli %block, %c64 : index
  %next = arith.addi %i, %c1 : index
  %v0 = tile.load %V[%i, %c0] : !m -> tensor<64x64xf32>
  %v1 = tile.load %V[%next, %c0] : !m -> tensor<64x64xf32>
  %taps = arith.addf %v0, %v1 : tensor<64x64xf32>
  %x = tile.load %X[%i, %c0] : !m -> tensor<64x64xf32>
  %s = tile.dot %x, %x, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %squared = arith.mulf %s, %s : tensor<64x64xf32>
  %o = arith.addf %squared, %taps : tensor<64x64xf32>
  tile.store %o, %O[%i, %c0] : tensor<64x64xf32>, !m
  tile.return
}
