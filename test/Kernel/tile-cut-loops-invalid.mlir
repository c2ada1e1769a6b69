// RUN: attn-opt %s -split-input-file -verify-diagnostics -pass-pipeline="builtin.module(tile.kernel(tile-cut-loops))"

// Loops that say that they are affine, and are not.

tile.kernel @curved(%n: index, %s0: memref<4x3xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x3xf32>
  // expected-note @below {{the loop says that it carries #tile.affine<transition = matrix>; give it the carry that it has, or leave it uncut}}
  %all = tile.loop #tile.affine<transition = matrix> %t = %c0 to %n step 1 carries(%s = %zero) : (tensor<4x3xf32>) {
    // expected-error @below {{expected ops that are linear in the carried tile, but got 'math.exp'}}
    %next = math.exp %s : tensor<4x3xf32>
    tile.yield %next : tensor<4x3xf32>
  }
  tile.store %all, %s0[%c0, %c0] : tensor<4x3xf32>, memref<4x3xf32>
  tile.return
}

// -----

tile.kernel @squares(%n: index, %s0: memref<4x3xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x3xf32>
  // expected-note @below {{the loop says}}
  %all = tile.loop #tile.affine<transition = vector> %t = %c0 to %n step 1 carries(%s = %zero) : (tensor<4x3xf32>) {
    // expected-error @below {{expected ops that are linear in the carried tile, but got 'arith.mulf'}}
    %next = arith.mulf %s, %s : tensor<4x3xf32>
    tile.yield %next : tensor<4x3xf32>
  }
  tile.store %all, %s0[%c0, %c0] : tensor<4x3xf32>, memref<4x3xf32>
  tile.return
}

// -----

tile.kernel @columns(%n: index, %s0: memref<4x3xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %gate = tile.load %s0[%c0, %c0] : memref<4x3xf32> -> tensor<4x3xf32>
  // expected-note @below {{the loop says}}
  %all = tile.loop #tile.affine<transition = vector> %t = %c0 to %n step 1 carries(%s = %gate) : (tensor<4x3xf32>) {
    // expected-error @below {{expected factors of the carried tile with the same columns everywhere, but got 'arith.mulf'}}
    %next = arith.mulf %s, %gate : tensor<4x3xf32>
    tile.yield %next : tensor<4x3xf32>
  }
  tile.store %all, %s0[%c0, %c0] : tensor<4x3xf32>, memref<4x3xf32>
  tile.return
}

// -----

tile.kernel @right(%n: index, %s0: memref<3x3xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %w = tile.load %s0[%c0, %c0] : memref<3x3xf32> -> tensor<3x3xf32>
  // expected-note @below {{the loop says}}
  %all = tile.loop #tile.affine<transition = matrix> %t = %c0 to %n step 1 carries(%s = %w) : (tensor<3x3xf32>) {
    // expected-error @below {{expected the columns of the carried tile to stay apart, but got 'tile.dot'}}
    %next = tile.dot %s, %w, %w : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
    tile.yield %next : tensor<3x3xf32>
  }
  tile.store %all, %s0[%c0, %c0] : tensor<3x3xf32>, memref<3x3xf32>
  tile.return
}

// -----

tile.kernel @mixed(%n: index, %s0: memref<4x3xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x3xf32>
  // expected-error @below {{expected the first carried tile of the next step to depend on no other carried tile, but got 'tile.loop'}}
  // expected-note @below {{the loop says}}
  %all:2 = tile.loop #tile.affine<transition = matrix> %t = %c0 to %n step 1 carries(%s = %zero, %z = %zero) : (tensor<4x3xf32>, tensor<4x3xf32>) {
    %next = arith.addf %s, %z : tensor<4x3xf32>
    tile.yield %next, %z : tensor<4x3xf32>, tensor<4x3xf32>
  }
  tile.store %all#0, %s0[%c0, %c0] : tensor<4x3xf32>, memref<4x3xf32>
  tile.return
}
