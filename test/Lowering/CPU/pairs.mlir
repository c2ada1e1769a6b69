// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx512_bf16 | FileCheck %s
// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx512 | FileCheck %s --check-prefix=WIDE

// Scores: numbers of a are read along its rows, b's rows are transposed as pairs; 32 numbers are 16 pairs.
// WIDE-NOT:    bfloat
// WIDE-NOT:    call_intrinsic
// WIDE-LABEL:  llvm.func @scores__avx512
// CHECK-LABEL: llvm.func @scores__avx512_bf16
// CHECK:         vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK:         llvm.call @dot_bf16_{{.*}}__avx512_bf16
// CHECK-LABEL: llvm.func internal @dot_bf16_16x16x32
// CHECK-SAME:    +avx512bf16
// CHECK-DAG:     %[[PAIRS:.*]] = arith.constant 16 : i64
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[PAIRS]]
// CHECK:           llvm.load {{.*}} : !llvm.ptr -> vector<16xi32>
// CHECK:           llvm.load {{.*}} : !llvm.ptr -> i32
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
tile.kernel @scores(%a: memref<16x32xbf16>, %b: memref<16x32xbf16>, %o: memref<16x16xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %x = tile.load %a[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %y = tile.load %b[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %s = tile.dot %x, %y, %zero {transpose_b} : tensor<16x32xbf16>, tensor<16x32xbf16> -> tensor<16x16xf32>
  tile.store %s, %o[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  tile.return
}

// -----

// Weights that are rounded lie as bf16; rows of v become pairs. Of an odd number of keys the last one stands alone.
// CHECK-LABEL: llvm.func @values__avx512_bf16
// CHECK:         arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK:         vector.shuffle {{.*}} : vector<16xi16>, vector<16xi16>
// CHECK-LABEL: llvm.func internal @dot_bf16_16x32x17
// CHECK:         scf.for
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK:         arith.andi {{.*}} : vector<16xi32>
// CHECK:         arith.extui {{.*}} : i16 to i32
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// WIDE-LABEL:  llvm.func @values__avx512
// WIDE-NOT:      arith.truncf
tile.kernel @values(%w: memref<16x17xf32>, %v: memref<17x32xbf16>, %o: memref<16x32xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %x = tile.load %w[%c0, %c0] : memref<16x17xf32> -> tensor<16x17xf32>
  %r = arith.truncf %x : tensor<16x17xf32> to tensor<16x17xbf16>
  %y = tile.load %v[%c0, %c0] : memref<17x32xbf16> -> tensor<17x32xbf16>
  %s = tile.dot %r, %y, %zero : tensor<16x17xbf16>, tensor<17x32xbf16> -> tensor<16x32xf32>
  tile.store %s, %o[%c0, %c0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.return
}
