// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=amx | FileCheck %s
// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx512_bf16 | FileCheck %s --check-prefix=PAIRS

// Tiles are configured once, by the kernel. Rows of a are read where they lie, or where they were copied; b becomes pairs.
// PAIRS-NOT:   tile{{loadd|zero|release}}
// CHECK:       llvm.mlir.global internal constant @attune_tiles_0
// CHECK-LABEL: llvm.func @scores__amx
// CHECK:         llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK:         llvm.call @dot_tiles_{{.*}}__amx
// CHECK:         llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK-LABEL: llvm.func internal @dot_tiles_32x32x128
// CHECK-SAME:    +amx-tile
// CHECK-NOT:     ldtilecfg
// CHECK-COUNT-4: "llvm.x86.tilezero"
// CHECK:         scf.for
// CHECK-COUNT-2:   "llvm.x86.tileloadd64"
// CHECK:           "llvm.x86.tdpbf16ps"
// CHECK:           "llvm.x86.tileloadd64"
// CHECK:           "llvm.x86.tdpbf16ps"
// CHECK:           "llvm.x86.tileloadd64"
// CHECK-COUNT-2:   "llvm.x86.tdpbf16ps"
// CHECK:         }
// CHECK-COUNT-4: "llvm.x86.tilestored64"
tile.kernel @scores(%a: memref<32x128xbf16>, %b: memref<32x128xbf16>, %o: memref<32x32xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = tile.load %a[%c0, %c0] : memref<32x128xbf16> -> tensor<32x128xbf16>
  %y = tile.load %b[%c0, %c0] : memref<32x128xbf16> -> tensor<32x128xbf16>
  %s = tile.dot %x, %y, %zero {transpose_b} : tensor<32x128xbf16>, tensor<32x128xbf16> -> tensor<32x32xf32>
  tile.store %s, %o[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32>
  tile.return
}

// -----

// Sums of 40 products end within a tile: 4 pairs are left, for tiles of 16 × 4 and 4 × 16. A sum is loaded as it begins.
// CHECK:       llvm.mlir.global internal constant @attune_tiles_4
// CHECK-LABEL: llvm.func internal @dot_tiles4_16x16x40
// CHECK:         "llvm.x86.tileloadd64"
// CHECK-NOT:     "llvm.x86.tilezero"
// CHECK-COUNT-2: "llvm.x86.tdpbf16ps"
// CHECK:         "llvm.x86.tilestored64"
tile.kernel @rest(%a: memref<16x40xbf16>, %b: memref<40x16xbf16>, %c: memref<16x16xf32>, %o: memref<16x16xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] : memref<16x40xbf16> -> tensor<16x40xbf16>
  %y = tile.load %b[%c0, %c0] : memref<40x16xbf16> -> tensor<40x16xbf16>
  %z = tile.load %c[%c0, %c0] : memref<16x16xf32> -> tensor<16x16xf32>
  %s = tile.dot %x, %y, %z : tensor<16x40xbf16>, tensor<40x16xbf16> -> tensor<16x16xf32>
  tile.store %s, %o[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  tile.return
}

// -----

// Fewer than 16 rows are left to dot products, and such a kernel configures nothing.
// CHECK-LABEL: llvm.func @few__amx
// CHECK-NOT:     ldtilecfg
// CHECK:         llvm.call @dot_bf16_8x64x64
tile.kernel @few(%a: memref<8x64xbf16>, %b: memref<64x64xbf16>, %o: memref<8x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x64xf32>
  %x = tile.load %a[%c0, %c0] : memref<8x64xbf16> -> tensor<8x64xbf16>
  %y = tile.load %b[%c0, %c0] : memref<64x64xbf16> -> tensor<64x64xbf16>
  %s = tile.dot %x, %y, %zero : tensor<8x64xbf16>, tensor<64x64xbf16> -> tensor<8x64xf32>
  tile.store %s, %o[%c0, %c0] : tensor<8x64xf32>, memref<8x64xf32>
  tile.return
}
