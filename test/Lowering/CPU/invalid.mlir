// RUN: attn-opt %s -split-input-file -verify-diagnostics -tile-to-cpu

tile.kernel @constant(%O: memref<?x2xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a tile constant of equal elements}}
  %t = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  tile.store %t, %O[%c0, %c0] : tensor<1x2xf32>, memref<?x2xf32>
  tile.return
}

// -----

func.func @plan(%x: memref<?xf32>, %b: i1) {
  %c0 = arith.constant 0 : index
  scf.if %b {
    // expected-error @below {{expected to be at the top of its function}}
    %w = tile.workspace() : memref<4xf32>
  }
  return
}
