// RUN: attn-opt %s -split-input-file -cpu-lower-kernels=isas=avx512 -cpu-lower-plans=isas=avx512 | FileCheck %s

// A state of 8 KiB stays in a first-level cache: one strip of four vectors, two rows at a time. A token goes through it twice.
// CHECK-LABEL: llvm.func internal @scan_1x32x64_32_32_64_32_64_64_64_64_32_fades_erases__avx512
// CHECK:           scf.for {{.*}} iter_args
// CHECK-COUNT-8:     llvm.intr.fma
// CHECK-NOT:         llvm.intr.prefetch
// CHECK:             scf.yield
// CHECK-COUNT-4:   arith.subf
// From the last rows up.
// CHECK:           scf.for %[[ROW:.*]] = {{.*}} iter_args
// CHECK:             arith.subi %{{.*}}, %[[ROW]]
// CHECK-COUNT-16:    llvm.intr.fma
// CHECK-NOT:         llvm.intr.prefetch
// CHECK:             scf.yield
tile.kernel @near(%q: memref<?x2x32xf32>, %v: memref<?x2x64xf32>, %g: memref<?x2x32xf32>, %s: memref<?x2x32x64xf32>, %o: memref<?x2x64xf32>) grid(batch, head) {
  %c0 = arith.constant 0 : index
  %entry = tile.program_id batch
  %head = tile.program_id head
  %none = arith.constant dense<0.0> : tensor<1x64xf32>
  %a = tile.load %q[%entry, %head, %c0] : memref<?x2x32xf32> -> tensor<1x32xf32>
  %x = tile.load %v[%entry, %head, %c0] : memref<?x2x64xf32> -> tensor<1x64xf32>
  %decay = tile.load %g[%entry, %head, %c0] : memref<?x2x32xf32> -> tensor<1x32xf32>
  %state = tile.load %s[%entry, %head, %c0, %c0] : memref<?x2x32x64xf32> -> tensor<32x64xf32>
  %read, %next, %u = tile.scan %a, %a, %x, %state, %none decay %decay erase %a
               : tensor<1x32xf32>, tensor<1x64xf32>, tensor<32x64xf32> decay tensor<1x32xf32> erase tensor<1x32xf32> -> tensor<1x64xf32>
  tile.store %read, %o[%entry, %head, %c0] : tensor<1x64xf32>, memref<?x2x64xf32>
  tile.store %next, %s[%entry, %head, %c0, %c0] : tensor<32x64xf32>, memref<?x2x32x64xf32>
  tile.return
}

// -----

// One of 64 KiB does not: four strips of two lines, each of which fetches a line of the next one for every row that it has updated.
// CHECK-LABEL: llvm.func internal @scan_1x128x128_{{.*}}_erases__avx512
// CHECK:         scf.for %{{.*}} = %c0_i64{{.*}} to %c128_i64{{.*}} step %c32_i64
// CHECK:           scf.for {{.*}} iter_args
// CHECK-COUNT-8:     llvm.intr.fma
// CHECK-NOT:         llvm.intr.prefetch
// CHECK:             scf.yield
// CHECK:           scf.for {{.*}} iter_args
// CHECK-COUNT-4:     llvm.intr.prefetch
// CHECK-NOT:         llvm.intr.prefetch
// CHECK:             scf.yield
tile.kernel @strips(%q: memref<?x128xf32>, %v: memref<?x128xf32>, %s: memref<?x128x128xf32>, %o: memref<?x128xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %entry = tile.program_id batch
  %none = arith.constant dense<0.0> : tensor<1x128xf32>
  %a = tile.load %q[%entry, %c0] : memref<?x128xf32> -> tensor<1x128xf32>
  %x = tile.load %v[%entry, %c0] : memref<?x128xf32> -> tensor<1x128xf32>
  %state = tile.load %s[%entry, %c0, %c0] : memref<?x128x128xf32> -> tensor<128x128xf32>
  %read, %next, %u = tile.scan %a, %a, %x, %state, %none erase %a : tensor<1x128xf32>, tensor<1x128xf32>, tensor<128x128xf32> erase tensor<1x128xf32> -> tensor<1x128xf32>
  tile.store %read, %o[%entry, %c0] : tensor<1x128xf32>, memref<?x128xf32>
  tile.store %next, %s[%entry, %c0, %c0] : tensor<128x128xf32>, memref<?x128x128xf32>
  tile.return
}

// -----

// Rows after the first go through the state once: what one makes of it the next row reads as well, and what is written is stored for whoever reads it. The
// loop over rows carries what S has for the next one, here two sums of four vectors; the first row finds S where it lay, and all find what decayed at once.
// CHECK-LABEL: llvm.func internal @scan_16x32x64_{{.*}}_fadesonce_erases_writes__avx512
// CHECK:           scf.for {{.*}} iter_args
// CHECK-COUNT-8:     llvm.intr.fma
// CHECK:             scf.yield
// CHECK-COUNT-4:   arith.subf
// CHECK:           scf.for {{.*}} iter_args
// CHECK-COUNT-24:    llvm.intr.fma
// CHECK:             scf.yield
// CHECK:           scf.for {{.*}} iter_args
// CHECK:             arith.subf
// CHECK:             llvm.store
// CHECK:             scf.for {{.*}} iter_args
// CHECK-NOT:           arith.mulf
// CHECK-COUNT-24:      llvm.intr.fma
// CHECK-NOT:           llvm.intr.fma
// CHECK:               scf.yield
tile.kernel @rows(%q: memref<?x32xf32>, %v: memref<?x64xf32>, %g: memref<?x32xf32>, %s: memref<?x32x64xf32>, %o: memref<?x64xf32>, %u: memref<?x64xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %entry = tile.program_id batch
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %a = tile.load %q[%c0, %c0] : memref<?x32xf32> -> tensor<16x32xf32>
  %x = tile.load %v[%c0, %c0] : memref<?x64xf32> -> tensor<16x64xf32>
  %decay = tile.load %g[%entry, %c0] : memref<?x32xf32> -> tensor<32xf32>
  %state = tile.load %s[%entry, %c0, %c0] : memref<?x32x64xf32> -> tensor<32x64xf32>
  %read, %next, %written = tile.scan %a, %a, %x, %state, %none decay %decay erase %a
                         : tensor<16x32xf32>, tensor<16x64xf32>, tensor<32x64xf32> decay tensor<32xf32> erase tensor<16x32xf32> -> tensor<16x64xf32>
  tile.store %read, %o[%c0, %c0] : tensor<16x64xf32>, memref<?x64xf32>
  tile.store %written, %u[%c0, %c0] : tensor<16x64xf32>, memref<?x64xf32>
  tile.store %next, %s[%entry, %c0, %c0] : tensor<32x64xf32>, memref<?x32x64xf32>
  tile.return
}
