// Every check of the verifiers and of the parsers.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// An index for each dimension.
tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected an index for each of 2 dimensions, but got 1}}
  %t = tile.load %in[%i] : memref<4x6xf32> -> tensor<6xf32>
  tile.return
}

// -----

// The tile's rank.
tile.kernel @k(%in: memref<?xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected a tile of rank at most 1, but got 2}}
  %t = tile.load %in[%i] : memref<?xf32> -> tensor<4x6xf32>
  tile.return
}

// -----

// The element type.
tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected elements of 'f32', but got 'f16'}}
  %t = tile.load %in[%i, %i] : memref<4x6xf32> -> tensor<4x6xf16>
  tile.return
}

// -----

// The same for a store.
tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected an index for each of 2 dimensions, but got 3}}
  tile.store %t, %in[%i, %i, %i] : tensor<4x6xf32>, memref<4x6xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4xf32>, %i: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected a tile of rank at most 1, but got 2}}
  tile.store %t, %in[%i] : tensor<4x6xf32>, memref<4xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xbf16>, %i: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected elements of 'bf16', but got 'f32'}}
  tile.store %t, %in[%i, %i] : tensor<4x6xf32>, memref<4x6xbf16>
  tile.return
}

// -----

// A window's rows.
tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected a window of at least 1 and at most 6 columns, as many as its image has, but got 7}}
  %t = tile.load %in[%i, %i] fold(%i) columns 7 stride 6 : memref<4x6xf32> -> tensor<4x6xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected a window of at least 1 and at most 6 columns, as many as its image has, but got 0}}
  tile.store %t, %in[%i, %i] fold(%i) columns 0 stride 6 : tensor<4x6xf32>, memref<4x6xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected a fold of a tile of rank 2, but got rank 1}}
  %t = tile.load %in[%i, %i] fold(%i) columns 2 stride 6 : memref<4x6xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected fold, columns and stride together}}
  %t = "tile.load"(%in, %i, %i, %i) <{columns = 2 : i64, operandSegmentSizes = array<i32: 1, 2, 0, 0, 1>}> : (memref<4x6xf32>, index, index, index) -> tensor<4x6xf32>
  tile.return
}

// -----

// Numbers and permutations.
tile.kernel @k(%i: index) grid(batch) {
  // expected-error @below {{expected a result of rank 1 of f32 or i32, but got 'tensor<4xf16>'}}
  %t = tile.iota %i : tensor<4xf16>
  tile.return
}

// -----

tile.kernel @k(%i: index) grid(batch) {
  // expected-error @below {{expected a result of rank 1 of f32 or i32, but got 'tensor<4x4xf32>'}}
  %t = tile.iota %i : tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @k(%x: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<4x3xf32>
  // expected-error @below {{expected a permutation of 3 columns, but got one of 4}}
  %p = tile.permute_columns %t [0, 1, 2, 3] : tensor<4x3xf32>
  tile.return
}

// -----

tile.kernel @k(%x: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<4x3xf32>
  // expected-error @below {{expected each column from 0 to 2 once, but got 3}}
  %p = tile.permute_columns %t [0, 1, 3] : tensor<4x3xf32>
  tile.return
}

// -----

tile.kernel @k(%x: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<3xf32>
  // expected-error @below {{expected each column from 0 to 2 once, but got 1 twice}}
  %p = tile.permute_columns %t [0, 1, 1] : tensor<3xf32>
  tile.return
}

// -----

// What is not a tile: a dynamic size, rank 3, other elements, no element.
tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{must be tile: a tensor of rank 1 or 2, static shape, f32, f16, bf16, i32 or i1, but got 'tensor<?xf32>'}}
  %t = tile.load %in[%i, %i] : memref<4x6xf32> -> tensor<?xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{must be tile: a tensor of rank 1 or 2, static shape, f32, f16, bf16, i32 or i1, but got 'tensor<2x2x2xf32>'}}
  %t = tile.load %in[%i, %i] : memref<4x6xf32> -> tensor<2x2x2xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{must be tile: a tensor of rank 1 or 2, static shape, f32, f16, bf16, i32 or i1, but got 'tensor<4xf64>'}}
  %t = tile.load %in[%i, %i] : memref<4x6xf32> -> tensor<4xf64>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{must be tile: a tensor of rank 1 or 2, static shape, f32, f16, bf16, i32 or i1, but got 'tensor<0x4xf32>'}}
  %t = tile.load %in[%i, %i] : memref<4x6xf32> -> tensor<0x4xf32>
  tile.return
}

// -----

// What is not a memory: rank 0, other elements, an innermost stride, an offset.
// expected-error @below {{expected memory, index, i64 or f32 arguments, but got 'memref<f32>'}}
tile.kernel @k(%in: memref<f32>) grid(batch) {
  tile.return
}

// -----

// expected-error @below {{expected memory, index, i64 or f32 arguments, but got 'memref<4xf64>'}}
tile.kernel @k(%in: memref<4xf64>) grid(batch) {
  tile.return
}

// -----

// expected-error @below {{expected memory, index, i64 or f32 arguments, but got 'memref<4x6xf32, strided<[6, 2]>>'}}
tile.kernel @k(%in: memref<4x6xf32, strided<[6, 2]>>) grid(batch) {
  tile.return
}

// -----

// expected-error @below {{expected memory, index, i64 or f32 arguments, but got 'memref<4x6xf32, strided<[6, 1], offset: ?>>'}}
tile.kernel @k(%in: memref<4x6xf32, strided<[6, 1], offset: ?>>) grid(batch) {
  tile.return
}

// -----

// Nor are other scalars arguments.
// expected-error @below {{expected memory, index, i64 or f32 arguments, but got 'i32'}}
tile.kernel @k(%in: i32) grid(batch) {
  tile.return
}

// -----

// Operands of a dot product.
tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x4xf16>
  %acc = arith.constant dense<0.0> : tensor<4x4xf32>
  // expected-error @below {{expected a precision only with operands of f32, but got 'f16'}}
  %r = tile.dot %a, %a, %acc precision tf32 : tensor<4x4xf16>, tensor<4x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  %b = arith.constant dense<0.0> : tensor<4x6xf32>
  %acc = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected operands of rank 2}}
  %r = tile.dot %a, %b, %acc : tensor<4xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x5xf32>
  %b = arith.constant dense<0.0> : tensor<5x6xf32>
  %acc = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected operands of rank 2}}
  %r = tile.dot %a, %b, %acc : tensor<4x5xf32>, tensor<5x6xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x5xf16>
  %b = arith.constant dense<0.0> : tensor<5x6xbf16>
  %acc = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected operands of one floating-point type, but got 'f16' and 'bf16'}}
  %r = tile.dot %a, %b, %acc : tensor<4x5xf16>, tensor<5x6xbf16> -> tensor<4x6xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<true> : tensor<4x4xi1>
  %acc = arith.constant dense<0.0> : tensor<4x4xf32>
  // expected-error @below {{expected operands of one floating-point type, but got 'i1' and 'i1'}}
  %r = tile.dot %a, %a, %acc : tensor<4x4xi1>, tensor<4x4xi1> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x5xf32>
  %b = arith.constant dense<0.0> : tensor<6x7xf32>
  %acc = arith.constant dense<0.0> : tensor<4x7xf32>
  // expected-error @below {{expected the inner sizes to agree, but got 5 and 6}}
  %r = tile.dot %a, %b, %acc : tensor<4x5xf32>, tensor<6x7xf32> -> tensor<4x7xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<5x4xf32>
  %b = arith.constant dense<0.0> : tensor<7x6xf32>
  %acc = arith.constant dense<0.0> : tensor<4x7xf32>
  // expected-error @below {{expected the inner sizes to agree, but got 5 and 6}}
  %r = tile.dot %a, %b, %acc {transpose_a, transpose_b} : tensor<5x4xf32>, tensor<7x6xf32> -> tensor<4x7xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x5xf32>
  %b = arith.constant dense<0.0> : tensor<5x6xf32>
  %acc = arith.constant dense<0.0> : tensor<6x4xf32>
  // expected-error @below {{expected a result of 4x6, but got 6x4}}
  %r = tile.dot %a, %b, %acc : tensor<4x5xf32>, tensor<5x6xf32> -> tensor<6x4xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x5xf16>
  %b = arith.constant dense<0.0> : tensor<5x6xf16>
  %acc = arith.constant dense<0.0> : tensor<4x6xf16>
  // expected-error @below {{must be tile of f32, but got 'tensor<4x6xf16>'}}
  %r = tile.dot %a, %b, %acc : tensor<4x5xf16>, tensor<5x6xf16> -> tensor<4x6xf16>
  tile.return
}

// -----

// Reductions.
tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected a source of rank 2 and axis 0 or 1}}
  %r = tile.reduce add %a axis 0 : tensor<4xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected a source of rank 2 and axis 0 or 1}}
  %r = tile.reduce add %a axis 2 : tensor<4x6xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected a source of rank 2 and axis 0 or 1}}
  %r = tile.reduce add %a axis -1 : tensor<4x6xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected a result of 4 elements, but got 'tensor<6xf32>'}}
  %r = tile.reduce add %a axis 1 : tensor<4x6xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected a result of 6 elements, but got 'tensor<1x6xf32>'}}
  %r = tile.reduce add %a axis 0 : tensor<4x6xf32> -> tensor<1x6xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x6xf16>
  // expected-error @below {{must be tile of f32, but got 'tensor<4x6xf16>'}}
  %r = tile.reduce add %a axis 0 : tensor<4x6xf16> -> tensor<6xf32>
  tile.return
}

// -----

// Expansions.
tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected a source of rank 1, a result of rank 2 and axis 0 or 1}}
  %r = tile.expand %a axis 0 : tensor<4x6xf32> -> tensor<4x6xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected a source of rank 1, a result of rank 2 and axis 0 or 1}}
  %r = tile.expand %a axis 0 : tensor<4xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected a source of rank 1, a result of rank 2 and axis 0 or 1}}
  %r = tile.expand %a axis 2 : tensor<4xf32> -> tensor<4x6xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected a source of 6 elements of 'f32', but got 'tensor<4xf32>'}}
  %r = tile.expand %a axis 0 : tensor<4xf32> -> tensor<4x6xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  %a = arith.constant dense<0.0> : tensor<4xf16>
  // expected-error @below {{expected a source of 4 elements of 'f32', but got 'tensor<4xf16>'}}
  %r = tile.expand %a axis 1 : tensor<4xf16> -> tensor<4x6xf32>
  tile.return
}

// -----

// Masks.
tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected at least one of rows, cols and diagonal}}
  %m = tile.mask %t fill 0.0 : tensor<4x6xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected only rows on a tile of rank 1}}
  %m = tile.mask %t fill 0.0 cols(%i) : tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %t = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected only rows on a tile of rank 1}}
  %m = tile.mask %t fill 0.0 rows(%i) diagonal(%i) : tensor<4xf32>
  tile.return
}

// -----

// Loops.
tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected a positive step, but got 0}}
  tile.loop #tile.sum %j = %i to %i step 0 {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %z = arith.constant dense<0.0> : tensor<4xf16>
  // expected-error @below {{expected carried tiles of f32, but got 'tensor<4xf16>'}}
  %r = tile.loop #tile.sum %j = %i to %i step 1 carries(%a = %z) : (tensor<4xf16>) {
    tile.yield %a : tensor<4xf16>
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %a0 = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected #tile.rescaled_sum<exp2, row> to carry a unit of rank 1 and sums in it, but got 'tensor<4xf32>'}}
  %r = tile.loop #tile.rescaled_sum<exp2, row> %j = %i to %i step 1 carries(%a = %a0) : (tensor<4xf32>) {
    tile.yield %a : tensor<4xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %a0 = arith.constant dense<0.0> : tensor<4xf32>
  %b0 = arith.constant dense<0.0> : tensor<5xf32>
  %c0 = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected #tile.rescaled_sum<exp2, row> to carry sums of 4 rows, but got 'tensor<5xf32>'}}
  %r:3 = tile.loop #tile.rescaled_sum<exp2, row> %j = %i to %i step 1 carries(%a = %a0, %b = %b0, %c = %c0) : (tensor<4xf32>, tensor<5xf32>, tensor<4x6xf32>) {
    tile.yield %a, %b, %c : tensor<4xf32>, tensor<5xf32>, tensor<4x6xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %a0 = arith.constant dense<0.0> : tensor<4xf32>
  %b0 = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant dense<0.0> : tensor<5x6xf32>
  // expected-error @below {{expected #tile.rescaled_sum<exp2, row> to carry sums of 4 rows, but got 'tensor<5x6xf32>'}}
  %r:3 = tile.loop #tile.rescaled_sum<exp2, row> %j = %i to %i step 1 carries(%a = %a0, %b = %b0, %c = %c0) : (tensor<4xf32>, tensor<4xf32>, tensor<5x6xf32>) {
    tile.yield %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<5x6xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %a0 = arith.constant dense<0.0> : tensor<4xf32>
  %b0 = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected #tile.rescaled_sum<power 2, scalar> to carry a unit [1], but got 'tensor<4xf32>'}}
  %r:3 = tile.loop #tile.rescaled_sum<power 2, scalar> %j = %i to %i step 1 carries(%a = %a0, %b = %b0, %c = %c0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    tile.yield %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %a0 = arith.constant dense<0.0> : tensor<4x6xf32>
  %b0 = arith.constant dense<0.0> : tensor<4x6xf32>
  %c0 = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @below {{expected #tile.rescaled_sum<exp2, row> to carry a unit of rank 1 and sums in it, but got 'tensor<4x6xf32>', 'tensor<4x6xf32>', 'tensor<4x6xf32>'}}
  %r:3 = tile.loop #tile.rescaled_sum<exp2, row> %j = %i to %i step 1 carries(%a = %a0, %b = %b0, %c = %c0) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
    tile.yield %a, %b, %c : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected the body to yield the carried tiles}}
  %r = tile.loop #tile.sum %j = %i to %i step 1 carries(%a = %z) : (tensor<4xf32>) {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected the results to have the types of the carried tiles}}
  %r = "tile.loop"(%i, %i, %z) <{carry = #tile.sum, step = 1 : i64}> ({
  ^bb0(%j: index, %a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }) : (index, index, tensor<4xf32>) -> tensor<5xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected the body to take an index and the carried tiles}}
  %r = "tile.loop"(%i, %i, %z) <{carry = #tile.sum, step = 1 : i64}> ({
  ^bb0(%j: i64, %a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }) : (index, index, tensor<4xf32>) -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected #tile.affine<transition = matrix> to carry a tile of rank 2 first, but got 'tensor<4xf32>'}}
  %r = tile.loop #tile.affine<transition = matrix> %j = %i to %i step 1 carries(%a = %z) : (tensor<4xf32>) {
    tile.yield %a : tensor<4xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected #tile.affine<transition = vector> to carry a tile of rank 2 first}}
  tile.loop #tile.affine<transition = vector> %j = %i to %i step 1 {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %y = arith.constant dense<0.0> : tensor<6xf32>
  // expected-error @below {{expected #tile.affine<transition = vector> to carry tiles of 4 rows, but got 'tensor<6xf32>'}}
  %r:2 = tile.loop #tile.affine<transition = vector> %j = %i to %i step 1 carries(%a = %z, %b = %y) : (tensor<4x6xf32>, tensor<6xf32>) {
    tile.yield %a, %b : tensor<4x6xf32>, tensor<6xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%i: index) grid(batch) {
  // expected-error @+2 {{expected ::attune::tile::Transition to be one of: vector, matrix}}
  // expected-error @+1 {{failed to parse Tile_AffineAttr parameter 'transition'}}
  tile.loop #tile.affine<transition = diagonal> %j = %i to %i step 1 {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected a carry, such as #tile.sum, but got 1 : i64}}
  tile.loop 1 %j = %i to %i step 1 {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%in: memref<4x6xf32>, %i: index) grid(batch) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{expected a type for each of 1 carried tiles, but got 2}}
  %r = tile.loop #tile.sum %j = %i to %i step 1 carries(%a = %z) : (tensor<4xf32>, tensor<4xf32>) {
    tile.yield %a : tensor<4xf32>
  }
  tile.return
}

// -----

// Kernels.
// expected-error @below {{expected no results}}
"tile.kernel"() <{function_type = () -> f32, grid = [#tile<axis batch>], sym_name = "k"}> ({
  tile.return
}) : () -> ()

// -----

// expected-error @below {{expected one to three grid axes, but got 0}}
tile.kernel @k() grid() {
  tile.return
}

// -----

// expected-error @below {{expected one to three grid axes, but got 4}}
tile.kernel @k() grid(batch, head, query_block, key_piece) {
  tile.return
}

// -----

// expected-error @below {{expected distinct grid axes, but got #tile<axis head> twice}}
tile.kernel @k() grid(head, batch, head) {
  tile.return
}

// -----

// expected-error @below {{expected a grid axis, one of batch, head, query_block, key_piece, value_block, but got 'heads'}}
tile.kernel @k() grid(heads) {
  tile.return
}

// -----

// Places in the grid.
tile.kernel @k() grid(batch) {
  // expected-error @below {{expected a grid with axis head}}
  %h = tile.program_id head
  tile.return
}

// -----

func.func @f() {
  // expected-error @below {{expected to be inside a tile.kernel}}
  %h = tile.program_id head
  return
}

// -----

// Terminators have their parents.
func.func @f() {
  // expected-error @below {{expects parent op 'tile.kernel'}}
  tile.return
}

// -----

func.func @f() {
  // expected-error @below {{expects parent op 'tile.loop'}}
  tile.yield
}

// -----

// Schedules.
// expected-error @+2 {{expected positive tile sizes, piece, warps and stages}}
tile.kernel @k() grid(batch)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 0, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  tile.return
}

// -----

// expected-error @+2 {{expected positive tile sizes, piece, warps and stages}}
tile.kernel @k() grid(batch)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 0, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  tile.return
}

// -----

// expected-error @+2 {{expected positive tile sizes, piece, warps and stages}}
tile.kernel @k() grid(batch)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 0, operand = f32, warps = 1, stages = 1>} {
  tile.return
}

// -----

// expected-error @+2 {{expected positive tile sizes, piece, warps and stages}}
tile.kernel @k() grid(batch)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 0, stages = 1>} {
  tile.return
}

// -----

// expected-error @+2 {{expected positive tile sizes, piece, warps and stages}}
tile.kernel @k() grid(batch)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 0>} {
  tile.return
}

// -----

// expected-error @+2 {{expected a piece of whole key tiles, but got piece = 100 with key_tile = 64}}
tile.kernel @k() grid(batch)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 100, operand = f32, warps = 1, stages = 1>} {
  tile.return
}

// -----

// expected-error @+2 {{expected warp_columns to divide 8 warps, but got 3}}
tile.kernel @k() grid(batch)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 8, stages = 1, warp_columns = 3>} {
  tile.return
}

// -----

// expected-error @+2 {{expected feature_tile and value_tile both positive or both left out, but got 64 and 0}}
tile.kernel @k() grid(batch)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 1, feature_tile = 64>} {
  tile.return
}

// -----

// expected-error @+2 {{expected operand f32, f16 or bf16, but got 'i8'}}
tile.kernel @k() grid(batch)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = i8, warps = 1, stages = 1>} {
  tile.return
}

// -----

// Launches.
func.func @f(%in: memref<4xf32>, %n: index) {
  // expected-error @below {{expected a tile.kernel named @missing}}
  tile.launch @missing grid(%n) (%in) : memref<4xf32>
  return
}

// -----

func.func @f(%in: memref<4xf32>, %n: index) {
  // expected-error @below {{expected a tile.kernel named @f}}
  tile.launch @f grid(%n) (%in) : memref<4xf32>
  return
}

// -----

tile.kernel @k(%in: memref<4xf32>) grid(batch, head) {
  tile.return
}
func.func @f(%in: memref<4xf32>, %n: index) {
  // expected-error @below {{expected 2 grid sizes, but got 1}}
  tile.launch @k grid(%n) (%in) : memref<4xf32>
  return
}

// -----

tile.kernel @k(%in: memref<4xf32>) grid(batch, head) {
  tile.return
}
func.func @f(%in: memref<4xf32>, %n: index) {
  // expected-error @below {{expected operands of the kernel's argument types}}
  tile.launch @k grid(%n, %n) (%n) : index
  return
}

// -----

tile.kernel @k(%in: memref<4xf32>) grid(batch, head) {
  tile.return
}
func.func @f(%in: memref<4xf32>, %n: index) {
  // expected-error @below {{expected operands of the kernel's argument types}}
  tile.launch @k grid(%n, %n) ()
  return
}

// -----

// Workspaces.
func.func @f(%n: index) {
  // expected-error @below {{expected a size for each of 1 dynamic dimensions, but got 2}}
  %w = tile.workspace(%n, %n) : memref<?x4xf32>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @below {{expected a row-major memref, but got 'memref<4x4xf32, strided<[8, 1]>>'}}
  %w = tile.workspace() : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @f(%given: memref<4x4xf32>, %other: memref<4x4xbf16>) {
  // expected-error @below {{expected memories of one shape and type of elements, but got 'memref<4x4xf32>' and 'memref<4x4xbf16>'}}
  %m = tile.either %given, %other : memref<4x4xf32>, memref<4x4xbf16>
  return
}

// -----

// Heads as rows: other columns, heads that do not divide, rows that are known.
func.func @f(%q: memref<?x8x?x64xf32>) {
  // expected-error @below {{expected memories of rank 4 with one type of elements, batch and columns, but got}}
  %m = tile.group_heads %q : memref<?x8x?x64xf32> to memref<?x2x?x32xf32, strided<[?, ?, ?, 1]>>
  return
}

// -----

func.func @f(%q: memref<?x8x?x64xf32>) {
  // expected-error @below {{expected a number of heads that divides those of the source, but got}}
  %m = tile.group_heads %q : memref<?x8x?x64xf32> to memref<?x3x?x64xf32, strided<[?, ?, ?, 1]>>
  return
}

// -----

func.func @f(%q: memref<?x8x?x64xf32>) {
  // expected-error @below {{expected rows that are not known, of adjacent elements, but got}}
  %m = tile.group_heads %q : memref<?x8x?x64xf32> to memref<?x2x4x64xf32, strided<[?, ?, ?, 1]>>
  return
}

// -----

// Constants: a tile of f32, a number that f32 does not hold.
tile.kernel @k() grid(batch) {
  // expected-error @below {{expected a tile of f32, but got 'tensor<4xf16>'}}
  %t = arith.constant #tile.exact<0.1> : tensor<4xf16>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  // expected-error @below {{expected a number that f32 does not hold, but got 5.000000e-01}}
  %t = arith.constant #tile.exact<0.5> : tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  // expected-error @below {{expected a tile type after the number}}
  %t = arith.constant #tile.exact<0.1>
  tile.return
}

// -----

tile.kernel @k() grid(batch) {
  // expected-error @below {{expected a tile type after the number}}
  %t = arith.constant #tile.exact<0.1> : f32
  tile.return
}

// -----

// Counters are pairs of words.
tile.kernel @k(%counters: memref<4x3xi32>, %i: index) grid(batch) {
  // expected-error @below {{expected counters of two words, a memory of i32 whose last dimension is 2, but got 'memref<4x3xi32>'}}
  %last = tile.arrive %counters[%i] of %i : memref<4x3xi32>
  tile.return
}

// -----

// Of i32.
tile.kernel @k(%counters: memref<4x2xf32>, %i: index) grid(batch) {
  // expected-error @below {{expected counters of two words, a memory of i32 whose last dimension is 2, but got 'memref<4x2xf32>'}}
  %last = tile.arrive %counters[%i] of %i : memref<4x2xf32>
  tile.return
}

// -----

// An index for each dimension but the last.
tile.kernel @k(%counters: memref<4x2xi32>, %i: index) grid(batch) {
  // expected-error @below {{expected 1 indices, one for each dimension but the last, but got 2}}
  %last = tile.arrive %counters[%i, %i] of %i : memref<4x2xi32>
  tile.return
}

// -----

// Once.
tile.kernel @k(%counters: memref<4x2xi32>, %i: index) grid(batch) {
  tile.loop #tile.sum %j = %i to %i step 1 {
    // expected-error @below {{expected each program to arrive once, but got a loop around it}}
    %last = tile.arrive %counters[%i] of %i : memref<4x2xi32>
    tile.yield
  }
  tile.return
}

// -----

// Within a kernel.
func.func @f(%counters: memref<4x2xi32>, %i: index) {
  // expected-error @below {{expected to be inside a tile.kernel}}
  %last = tile.arrive %counters[%i] of %i : memref<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @below {{expected a tile of rank 1 in f32, but got 'tensor<4x4xf32>'}}
  %any = tile.any %x : tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf16>) {
  // expected-error @below {{expected a tile of rank 1 in f32, but got 'tensor<4xf16>'}}
  %any = tile.any %x : tensor<4xf16>
  return
}

// -----

func.func @f(%a: tensor<4x8xf16>, %v: tensor<4x8xf16>, %s: tensor<8x8xf16>) {
  // expected-error @below {{expected operands of f32 with static sizes and rank 2, or a decay of rank 1, but got 'tensor<4x8xf16>'}}
  %o:2 = tile.scan %a, %a, %v, %s, %v : tensor<4x8xf16>, tensor<4x8xf16>, tensor<8x8xf16>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %v: tensor<4x8xf32>, %s: tensor<8x8xf32>) {
  // expected-error @below {{expected operands of f32 with static sizes and rank 2, or a decay of rank 1, but got 'tensor<4xf32>'}}
  %o:2 = tile.scan %a, %a, %v, %s, %v : tensor<4xf32>, tensor<4x8xf32>, tensor<8x8xf32>
  return
}

// -----

// The same numbers as rows and as a decay.
func.func @f(%a: tensor<8xf32>, %v: tensor<4x8xf32>, %s: tensor<8x8xf32>) {
  // expected-error @below {{or a decay of rank 1, but got 'tensor<8xf32>'}}
  %o:2 = tile.scan %a, %a, %v, %s, %v decay %a : tensor<8xf32>, tensor<4x8xf32>, tensor<8x8xf32> decay tensor<8xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8xf32>, %v: tensor<?x8xf32>, %s: tensor<8x8xf32>) {
  // expected-error @below {{with static sizes and rank 2, or a decay of rank 1, but got 'tensor<?x8xf32>'}}
  %o:2 = tile.scan %a, %a, %v, %s, %v : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<5x8xf32>, %s: tensor<16x8xf32>) {
  // expected-error @below {{expected v of 4x8, but got 5x8}}
  %o:2 = tile.scan %a, %a, %v, %s, %v : tensor<4x16xf32>, tensor<5x8xf32>, tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<8x16xf32>) {
  // expected-error @below {{expected a state of 16x8, but got 8x16}}
  %o:2 = tile.scan %a, %a, %v, %s, %v : tensor<4x16xf32>, tensor<4x8xf32>, tensor<8x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<16x8xf32>) {
  // expected-error @below {{expected a decay of 4x16, but got 4x8}}
  %o:2 = tile.scan %a, %a, %v, %s, %v decay %v : tensor<4x16xf32>, tensor<4x8xf32>, tensor<16x8xf32> decay tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<16x8xf32>, %g: tensor<16xf32>) {
  // expected-error @below {{expected a decay of 8, but got 16}}
  %o:2 = tile.scan %a, %a, %v, %s, %v decay %g {decay_columns} : tensor<4x16xf32>, tensor<4x8xf32>, tensor<16x8xf32> decay tensor<16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<16x8xf32>) {
  // expected-error @below {{expected a decay of columns, but got none}}
  %o:2 = tile.scan %a, %a, %v, %s, %v {decay_columns} : tensor<4x16xf32>, tensor<4x8xf32>, tensor<16x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<16x8xf32>) {
  // expected-error @below {{expected rows that erase of 4x16, but got 4x8}}
  %o:3 = tile.scan %a, %a, %v, %s, %v erase %v : tensor<4x16xf32>, tensor<4x8xf32>, tensor<16x8xf32> erase tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<16x8xf32>, %x: tensor<16xf32>) {
  // expected-error @below {{with static sizes and rank 2, or a decay of rank 1, but got 'tensor<16xf32>'}}
  %o:3 = tile.scan %a, %a, %v, %s, %v erase %x : tensor<4x16xf32>, tensor<4x8xf32>, tensor<16x8xf32> erase tensor<16xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<16x8xf32>) {
  // expected-error @below {{expected rows that erase to be read behind themselves, from the first on, but got `exclusive`}}
  %o:3 = tile.scan %a, %a, %v, %s, %v erase %a {exclusive} : tensor<4x16xf32>, tensor<4x8xf32>, tensor<16x8xf32> erase tensor<4x16xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<16x8xf32>) {
  // expected-error @below {{but got `reverse`}}
  %o:3 = tile.scan %a, %a, %v, %s, %v erase %a {reverse} : tensor<4x16xf32>, tensor<4x8xf32>, tensor<16x8xf32> erase tensor<4x16xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<16x8xf32>) {
  // expected-error @below {{expected what is written of 'tensor<4x8xf32>', but got 'tensor<4x16xf32>'}}
  %o:3 = tile.scan %a, %a, %v, %s, %v erase %a : tensor<4x16xf32>, tensor<4x8xf32>, tensor<16x8xf32> erase tensor<4x16xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x16xf32>, %v: tensor<4x8xf32>, %s: tensor<16x8xf32>) {
  // expected-error @below {{expected rows that erase together with what they write, but got no result for it}}
  %o:2 = "tile.scan"(%a, %a, %v, %s, %v, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1>}>
       : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x8xf32>, tensor<16x8xf32>, tensor<4x8xf32>, tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<16x8xf32>)
  return
}

// -----

// expected-error @below {{expected panels of 16, 32 or 64 columns, but got 48}}
func.func @f(%k: tensor<64x96xf16, #tile.shared<rows = 64, columns = 96, panel = 48>>)

// -----

// expected-error @below {{expected whole panels of 64 columns and rows in eights, but got 64 x 96}}
func.func @f(%k: tensor<64x96xf16, #tile.shared<rows = 64, columns = 96, panel = 64>>)

// -----

// expected-error @below {{expected whole panels of 32 columns and rows in eights, but got 12 x 32}}
func.func @f(%k: tensor<12x32xf16, #tile.shared<rows = 12, columns = 32, panel = 32>>)

// -----

// expected-error @below {{expected exp2 or power}}
#wrong = #tile.rescaled_sum<square, row>

// -----

// expected-error @below {{expected a power of at least 1, but got 0}}
#wrong = #tile.rescaled_sum<power 0, row>
