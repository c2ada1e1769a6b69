// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx512_bf16 | FileCheck %s
// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx512 | FileCheck %s --check-prefix=WIDE

// Scores: numbers of a are read along its rows, b's rows are transposed as pairs; 32 numbers are 16 pairs. What has been stored is read from memory.
// WIDE-NOT:    bfloat
// WIDE-NOT:    call_intrinsic
// WIDE-LABEL:  llvm.func @scores__avx512
// CHECK-LABEL: llvm.func @scores__avx512_bf16
// CHECK:         llvm.fence syncscope("singlethread") seq_cst
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
// CHECK:         llvm.fence syncscope("singlethread") seq_cst
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

// -----

// Where operands are bf16, exponentials of matrices may be approximate; factors of rows, which are multiplied step by step, not.
// CHECK-LABEL: llvm.func @weights__avx512_bf16
// CHECK:         math.exp2 {{.*}} fastmath<afn> : vector<16xf32>
// CHECK:         math.exp2 %{{[0-9]+}} : vector<16xf32>
// CHECK-LABEL: llvm.func @weights_f32__avx512_bf16
// CHECK-NOT:     fastmath
// CHECK:         math.exp2 %{{[0-9]+}} : vector<16xf32>
// CHECK-LABEL: llvm.func @close_rows__avx512_bf16
#bf16 = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = bf16, warps = 1, stages = 1>
#f32 = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>
tile.kernel @weights(%a: memref<16x32xf32>, %l: memref<16xf32>, %w: memref<16x32xf32>, %f: memref<16xf32>) grid(batch)
    attributes {schedule = #bf16} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : memref<16x32xf32> -> tensor<16x32xf32>
  %y = math.exp2 %x : tensor<16x32xf32>
  tile.store %y, %w[%c0, %c0] : tensor<16x32xf32>, memref<16x32xf32>
  %m = tile.load %l[%c0] : memref<16xf32> -> tensor<16xf32>
  %n = math.exp2 %m : tensor<16xf32>
  tile.store %n, %f[%c0] : tensor<16xf32>, memref<16xf32>
  tile.return
}
tile.kernel @weights_f32(%a: memref<16x32xf32>, %w: memref<16x32xf32>) grid(batch) attributes {schedule = #f32} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : memref<16x32xf32> -> tensor<16x32xf32>
  %y = math.exp2 %x : tensor<16x32xf32>
  tile.store %y, %w[%c0, %c0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.return
}

// Pairs are read in place where rows lie close, which is known when the kernel runs: 128 numbers are four lines of a cache.
// CHECK:         %[[FAR:.*]] = arith.cmpi slt, %c128{{.*}}, %{{.*}} : i64
// CHECK:         scf.if %[[FAR]] -> (!llvm.ptr, i64)
tile.kernel @close_rows(%a: memref<16x32xbf16, strided<[?, 1]>>, %b: memref<16x32xbf16>, %o: memref<16x16xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %x = tile.load %a[%c0, %c0] : memref<16x32xbf16, strided<[?, 1]>> -> tensor<16x32xbf16>
  %y = tile.load %b[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %s = tile.dot %x, %y, %zero {transpose_b} : tensor<16x32xbf16>, tensor<16x32xbf16> -> tensor<16x16xf32>
  tile.store %s, %o[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  tile.return
}
