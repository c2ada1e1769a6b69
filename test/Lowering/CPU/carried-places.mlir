// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx512 | FileCheck %s

// What a loop carries lies where it is stored, unless rows there do not exist or lie further apart than in the scratch. Only an initial
// value that is elsewhere is loaded, and only what is in the scratch is stored.
// CHECK-LABEL: llvm.func @state__avx512
// CHECK:         %[[FAR:.*]] = arith.cmpi ne, %{{.*}}, %c64{{.*}} : i64
// CHECK:         %[[SCRATCH:.*]] = arith.ori %[[FAR]], %{{.*}} : i1
// CHECK:         %[[PLACE:.*]] = arith.select %[[SCRATCH]], %{{.*}}, %{{.*}} : !llvm.ptr
// CHECK:         llvm.ptrtoint %[[PLACE]]
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:         scf.for
// CHECK:           llvm.call @dot_64x64x16{{.*}}(%[[PLACE]], %[[PLACE]],
// CHECK:         scf.if %[[SCRATCH]]
// CHECK-NOT:     scf.for
// CHECK:           scf.for
// CHECK:         llvm.return
tile.kernel @state(%k: memref<?x64xf32>, %first: memref<?x64xf32, strided<[?, 1]>>, %last: memref<?x64xf32, strided<[?, 1]>>) grid(head) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %k, %c0 : memref<?x64xf32>
  %s = tile.load %first[%c0, %c0] : memref<?x64xf32, strided<[?, 1]>> -> tensor<64x64xf32>
  %r = tile.loop #tile.sum %i = %c0 to %n step 16 carries(%acc = %s) : (tensor<64x64xf32>) {
    %t = tile.load %k[%i, %c0] : memref<?x64xf32> -> tensor<16x64xf32>
    %u = tile.dot %t, %t, %acc {transpose_a} : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<64x64xf32>
    tile.yield %u : tensor<64x64xf32>
  }
  tile.store %r, %last[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32, strided<[?, 1]>>
  tile.return
}

// -----

// A tile that is read again, as it is stored twice, lies in the scratch.
// CHECK-LABEL: llvm.func @twice__avx512
// CHECK-NOT:     llvm.ptrtoint
// CHECK:         llvm.return
tile.kernel @twice(%k: memref<?x64xf32>, %first: memref<?x64xf32>, %last: memref<?x64xf32>) grid(head) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %k, %c0 : memref<?x64xf32>
  %s = tile.load %first[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  %r = tile.loop #tile.sum %i = %c0 to %n step 16 carries(%acc = %s) : (tensor<64x64xf32>) {
    %t = tile.load %k[%i, %c0] : memref<?x64xf32> -> tensor<16x64xf32>
    %u = tile.dot %t, %t, %acc {transpose_a} : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<64x64xf32>
    tile.yield %u : tensor<64x64xf32>
  }
  tile.store %r, %last[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.store %r, %last[%c64, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}
