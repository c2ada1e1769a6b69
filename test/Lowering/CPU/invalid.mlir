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

// -----

// More than a thread's scratch: one tile, or all of them.
tile.kernel @tile(%A: memref<?x3000xf32>, %O: memref<?x3000xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a tile of at most 33554432 bytes, but got 36000000}}
  // expected-note @below {{every thread holds the tiles of its kernel at once; choose smaller tiles}}
  %t = tile.load %A[%c0, %c0] : memref<?x3000xf32> -> tensor<3000x3000xf32>
  tile.store %t, %O[%c0, %c0] : tensor<3000x3000xf32>, memref<?x3000xf32>
  tile.return
}

// -----

// expected-error @below {{expected tiles of at most 33554432 bytes, but got}}
// expected-note @below {{every thread holds the tiles of its kernel at once; choose smaller tiles}}
tile.kernel @tiles(%A: memref<?x2000xf32>, %B: memref<?x2000xf32>, %O: memref<?x2000xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<2000x2000xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x2000xf32> -> tensor<2000x2000xf32>
  %b = tile.load %B[%c0, %c0] : memref<?x2000xf32> -> tensor<2000x2000xf32>
  %c = arith.mulf %a, %b : tensor<2000x2000xf32>
  %d = arith.addf %a, %b : tensor<2000x2000xf32>
  %e = tile.dot %c, %d, %zero : tensor<2000x2000xf32>, tensor<2000x2000xf32> -> tensor<2000x2000xf32>
  %f = math.exp2 %e : tensor<2000x2000xf32>
  tile.store %f, %O[%c0, %c0] : tensor<2000x2000xf32>, memref<?x2000xf32>
  tile.return
}

// -----

// What would be a call of a library for each element.
tile.kernel @powers(%O: memref<?x2xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %t = tile.load %O[%c0, %c0] : memref<?x2xf32> -> tensor<1x2xf32>
  // expected-error @below {{expected an elementwise op that a CPU kernel computes without a library}}
  %r = math.powf %t, %t : tensor<1x2xf32>
  tile.store %r, %O[%c0, %c0] : tensor<1x2xf32>, memref<?x2xf32>
  tile.return
}

// -----

// One truth value for a whole tile.
tile.kernel @choice(%O: memref<?x2xf32>, %n: index) grid(batch) {
  %c0 = arith.constant 0 : index
  %t = tile.load %O[%c0, %c0] : memref<?x2xf32> -> tensor<1x2xf32>
  %b = arith.cmpi eq, %n, %c0 : index
  // expected-error @below {{expected operands that are tiles}}
  %r = arith.select %b, %t, %t : tensor<1x2xf32>
  tile.store %r, %O[%c0, %c0] : tensor<1x2xf32>, memref<?x2xf32>
  tile.return
}

// -----

tile.kernel @reverse(%A: memref<?x4xf32>, %O: memref<?x4xf32>, %n: index) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  // expected-error @below {{expected a loop from the first step up, but got a reverse one; only the interpreter runs it}}
  %s = tile.loop #tile.sum %j = %c0 to %n step 4 reverse carries(%acc = %zero) : (tensor<4x4xf32>) {
    %a = tile.load %A[%j, %c0] rows(%n) : memref<?x4xf32> -> tensor<4x4xf32>
    %next = arith.addf %acc, %a : tensor<4x4xf32>
    tile.yield %next : tensor<4x4xf32>
  }
  tile.store %s, %O[%c0, %c0] : tensor<4x4xf32>, memref<?x4xf32>
  tile.return
}
