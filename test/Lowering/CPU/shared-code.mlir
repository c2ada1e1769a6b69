// An instruction set with products of pairs, or of tiles, has a kernel of its own where that uses them; else it runs a simpler one's.
// RUN: attn-opt %s -cpu-lower-kernels=isas=avx2,avx512,avx512_bf16,amx -cpu-lower-plans=isas=avx2,avx512,avx512_bf16,amx -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=KERNELS
// RUN: attn-opt %s -cpu-lower-kernels=isas=amx | FileCheck %s --check-prefix=ALONE

// CHECK-DAG: llvm.func @sum__avx512({{.*}}) attributes {{.*}}passthrough = ["attune-shared"]
// CHECK-DAG: llvm.func @rounds__avx512_bf16({{.*}}) attributes {{.*}}passthrough = ["attune-shared"]
// KERNELS-NOT: @sum__avx512_bf16(
// KERNELS-NOT: @sum__amx(
// KERNELS-NOT: @rounds__amx(
// KERNELS-NOT: @pairs__amx(
// ALONE-DAG: llvm.func @sum__amx(
// ALONE-DAG: llvm.func @tiles__amx(

tile.kernel @sum(%a: memref<16xf32>, %o: memref<16xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : memref<16xf32> -> tensor<16xf32>
  %s = arith.addf %x, %x : tensor<16xf32>
  tile.store %s, %o[%c0] : tensor<16xf32>, memref<16xf32>
  tile.return
}

// One instruction rounds to bf16.
tile.kernel @rounds(%a: memref<16xf32>, %o: memref<16xbf16>) grid(batch) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0] : memref<16xf32> -> tensor<16xf32>
  %r = arith.truncf %x : tensor<16xf32> to tensor<16xbf16>
  tile.store %r, %o[%c0] : tensor<16xbf16>, memref<16xbf16>
  tile.return
}

// Too few rows for tiles.
tile.kernel @pairs(%a: memref<8x32xbf16>, %b: memref<16x32xbf16>, %o: memref<8x16xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %x = tile.load %a[%c0, %c0] : memref<8x32xbf16> -> tensor<8x32xbf16>
  %y = tile.load %b[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %s = tile.dot %x, %y, %zero {transpose_b} : tensor<8x32xbf16>, tensor<16x32xbf16> -> tensor<8x16xf32>
  tile.store %s, %o[%c0, %c0] : tensor<8x16xf32>, memref<8x16xf32>
  tile.return
}

tile.kernel @tiles(%a: memref<16x32xbf16>, %b: memref<16x32xbf16>, %o: memref<16x16xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %x = tile.load %a[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %y = tile.load %b[%c0, %c0] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %s = tile.dot %x, %y, %zero {transpose_b} : tensor<16x32xbf16>, tensor<16x32xbf16> -> tensor<16x16xf32>
  tile.store %s, %o[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  tile.return
}

// CHECK-LABEL: llvm.mlir.global internal constant @plan__avx512_kernels
// CHECK:         addressof @sum__avx512 :
// CHECK:         addressof @tiles__avx512 :
// CHECK-LABEL: llvm.mlir.global internal constant @plan__avx512_bf16_kernels
// CHECK:         addressof @sum__avx512 :
// CHECK:         addressof @rounds__avx512_bf16 :
// CHECK:         addressof @pairs__avx512_bf16 :
// CHECK:         addressof @tiles__avx512_bf16 :
// CHECK-LABEL: llvm.mlir.global internal constant @plan__amx_kernels
// CHECK:         addressof @sum__avx512 :
// CHECK:         addressof @rounds__avx512_bf16 :
// CHECK:         addressof @pairs__avx512_bf16 :
// CHECK:         addressof @tiles__amx :
func.func @plan(%x: memref<16xf32>, %y: memref<16xbf16>, %a: memref<8x32xbf16>, %b: memref<16x32xbf16>, %o: memref<8x16xf32>, %p: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @sum grid(%c1) (%x, %x) : memref<16xf32>, memref<16xf32>
  tile.launch @rounds grid(%c1) (%x, %y) : memref<16xf32>, memref<16xbf16>
  tile.launch @pairs grid(%c1) (%a, %b, %o) : memref<8x32xbf16>, memref<16x32xbf16>, memref<8x16xf32>
  tile.launch @tiles grid(%c1) (%b, %b, %p) : memref<16x32xbf16>, memref<16x32xbf16>, memref<16x16xf32>
  return
}
