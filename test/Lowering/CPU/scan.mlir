// RUN: attn-opt %s -cpu-lower-kernels=isas=avx512 -cpu-lower-plans=isas=avx512 | FileCheck %s
// RUN: attn-opt %s -cpu-lower-kernels=isas=avx2 -cpu-lower-plans=isas=avx2 | FileCheck %s --check-prefix=AVX2

// A scan is a function of its shape and strides. The state of 28 features and 80 values has blocks of two vectors of 16 and of 8 rows, three and one of 4, then
// one vector's; with AVX2 its vectors have 8 numbers and its blocks 4 rows. Four loads of the next rows and the next store are fetched meanwhile.

// CHECK-LABEL: llvm.func @causal__avx512
// The carried state has one place, which the scan reads and writes.
// CHECK-COUNT-1: llvm.call @scan_32x28x80_32_32_80_32_80_80_80_80_f32x2_f32x2_f32x5_f32x5__avx512

// CHECK-LABEL: llvm.func internal @scan_32x28x80_32_32_80_32_80_80_80_80_f32x2_f32x2_f32x5_f32x5__avx512
// The first block of a strip is read once, goes through all rows, and is written once.
// CHECK:          scf.for
// CHECK-COUNT-16:   llvm.load {{.*}} -> vector<16xf32>
// CHECK:            scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK-COUNT-2:      llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-32:     llvm.intr.fma
// CHECK-COUNT-2:      llvm.store {{.*}} : vector<16xf32>
// CHECK:              scf.yield
// CHECK-COUNT-16:   llvm.store {{.*}} : vector<16xf32>
// The second one adds to what the first has left of the results.
// CHECK:            scf.for
// CHECK-COUNT-16:     llvm.load {{.*}} -> vector<16xf32>
// CHECK:              scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK-COUNT-4:        llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-32:       llvm.intr.fma

// AVX2-LABEL: llvm.func internal @scan_32x28x80_32_32_80_32_80_80_80_80
// AVX2:         scf.for
// AVX2-COUNT-8:   llvm.load {{.*}} -> vector<8xf32>
// AVX2:           scf.for
// AVX2-COUNT-16:    llvm.intr.fma
tile.kernel @causal(%q: memref<?x28xf32>, %k: memref<?x28xf32>, %v: memref<?x80xf32>, %o: memref<?x80xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<28x80xf32>
  %none = arith.constant dense<0.0> : tensor<32x80xf32>
  %n = memref.dim %q, %c0 : memref<?x28xf32>
  %all = tile.loop #tile.sum %i = %c0 to %n step 32 carries(%s = %zero) : (tensor<28x80xf32>) {
    %qs = tile.load %q[%i, %c0] : memref<?x28xf32> -> tensor<32x28xf32>
    %ks = tile.load %k[%i, %c0] : memref<?x28xf32> -> tensor<32x28xf32>
    %vs = tile.load %v[%i, %c0] : memref<?x80xf32> -> tensor<32x80xf32>
    %a = arith.mulf %qs, %qs : tensor<32x28xf32>
    %b = arith.mulf %ks, %ks : tensor<32x28xf32>
    %x = arith.mulf %vs, %vs : tensor<32x80xf32>
    %read, %next = tile.scan %a, %b, %x, %s, %none : tensor<32x28xf32>, tensor<32x80xf32>, tensor<28x80xf32>
    tile.store %read, %o[%i, %c0] : tensor<32x80xf32>, memref<?x80xf32>
    tile.yield %next : tensor<28x80xf32>
  }
  tile.return
}
