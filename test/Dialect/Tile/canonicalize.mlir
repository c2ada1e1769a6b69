// RUN: attn-opt %s --canonicalize | FileCheck %s
// RUN: attn-opt %s --cse --loop-invariant-code-motion --canonicalize --cse | FileCheck %s

// A mask whose every condition holds for the whole tile keeps it whole.
// CHECK-LABEL: tile.kernel @whole
tile.kernel @whole(%in: memref<4x6xf32>, %out: memref<4x6xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  // CHECK: %[[T:.*]] = tile.load
  %t = tile.load %in[%c0, %c0] : memref<4x6xf32> -> tensor<4x6xf32>
  // CHECK-NOT: tile.mask
  // CHECK: tile.store %[[T]]
  %m = tile.mask %t fill 0.0 rows(%c4) cols(%c6) diagonal(%c5) : tensor<4x6xf32>
  tile.store %m, %out[%c0, %c0] : tensor<4x6xf32>, memref<4x6xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @whole_row
tile.kernel @whole_row(%in: memref<4xf32>, %out: memref<4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // CHECK: %[[T:.*]] = tile.load
  %t = tile.load %in[%c0] : memref<4xf32> -> tensor<4xf32>
  // CHECK-NOT: tile.mask
  // CHECK: tile.store %[[T]]
  %m = tile.mask %t fill 0.0 rows(%c4) : tensor<4xf32>
  tile.store %m, %out[%c0] : tensor<4xf32>, memref<4xf32>
  tile.return
}

// One condition that hides an element, or that nobody knows yet, keeps the mask.
// CHECK-LABEL: tile.kernel @partial
tile.kernel @partial(%in: memref<4x6xf32>, %out: memref<4x4x6xf32>, %n: index) grid(batch) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %t = tile.load %in[%c0, %c0] : memref<4x6xf32> -> tensor<4x6xf32>
  // CHECK: tile.mask %{{.*}} rows(
  %rows = tile.mask %t fill 0.0 rows(%c3) : tensor<4x6xf32>
  // CHECK: tile.mask %{{.*}} cols(
  %cols = tile.mask %t fill 0.0 rows(%c4) cols(%c5) : tensor<4x6xf32>
  // CHECK: tile.mask %{{.*}} diagonal(
  %diagonal = tile.mask %t fill 0.0 diagonal(%c4) : tensor<4x6xf32>
  // CHECK: tile.mask %{{.*}} rows(
  %unknown = tile.mask %t fill 0.0 rows(%n) : tensor<4x6xf32>
  tile.store %rows, %out[%c0, %c0, %c0] : tensor<4x6xf32>, memref<4x4x6xf32>
  tile.store %cols, %out[%c1, %c0, %c0] : tensor<4x6xf32>, memref<4x4x6xf32>
  tile.store %diagonal, %out[%c2, %c0, %c0] : tensor<4x6xf32>, memref<4x4x6xf32>
  tile.store %unknown, %out[%c3, %c0, %c0] : tensor<4x6xf32>, memref<4x4x6xf32>
  tile.return
}

// Pure ops without a use go; stores and launches stay.
// CHECK-LABEL: tile.kernel @dead
tile.kernel @dead(%in: memref<4x6xf32>, %out: memref<4x4xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %t = tile.load %in[%c0, %c0] : memref<4x6xf32> -> tensor<4x6xf32>
  // CHECK-NOT: tile.dot
  %s = tile.dot %t, %t, %zero {transpose_b} : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x4xf32>
  // CHECK-NOT: tile.reduce
  %m = tile.reduce max %s axis 1 : tensor<4x4xf32> -> tensor<4xf32>
  // CHECK-NOT: tile.expand
  %e = tile.expand %m axis 0 : tensor<4xf32> -> tensor<4x4xf32>
  // CHECK: tile.store
  tile.store %zero, %out[%c0, %c0] : tensor<4x4xf32>, memref<4x4xf32>
  tile.return
}

// Numbers that round to one f32 are different constants, and no fold computes with them; equal ones are one.
// CHECK-LABEL: tile.kernel @exact
tile.kernel @exact(%out: memref<4x6xf32>, %n: index) grid(batch) {
  %c0 = arith.constant 0 : index
  // CHECK-DAG: %[[A:.*]] = arith.constant #tile.exact<1.4426950408889634>
  // CHECK-DAG: %[[B:.*]] = arith.constant #tile.exact<1.44269504>
  // CHECK-DAG: %[[F:.*]] = arith.constant dense<1.44269502>
  // CHECK-NOT: arith.constant {{(#|dense)}}
  %a = arith.constant #tile.exact<1.4426950408889634> : tensor<4x6xf32>
  %b = arith.constant #tile.exact<1.44269504> : tensor<4x6xf32>
  %f = arith.constant dense<1.44269502> : tensor<4x6xf32>
  %sum = tile.loop #tile.sum %i = %c0 to %n step 4 carries(%s = %f) : (tensor<4x6xf32>) {
    %again = arith.constant #tile.exact<1.4426950408889634> : tensor<4x6xf32>
    // CHECK: %[[PRODUCT:.*]] = arith.mulf %[[A]], %[[B]]
    %product = arith.mulf %again, %b : tensor<4x6xf32>
    // CHECK: %[[NARROW:.*]] = arith.truncf %[[A]]
    %narrow = arith.truncf %a : tensor<4x6xf32> to tensor<4x6xf16>
    // CHECK: %[[WIDE:.*]] = arith.extf %[[NARROW]]
    %wide = arith.extf %narrow : tensor<4x6xf16> to tensor<4x6xf32>
    // CHECK: arith.cmpf olt, %[[A]], %[[F]]
    %less = arith.cmpf olt, %a, %f : tensor<4x6xf32>
    // CHECK: arith.select %{{.*}}, %[[PRODUCT]], %[[WIDE]]
    %either = arith.select %less, %product, %wide : tensor<4x6xi1>, tensor<4x6xf32>
    %next = arith.addf %s, %either : tensor<4x6xf32>
    tile.yield %next : tensor<4x6xf32>
  }
  tile.store %sum, %out[%c0, %c0] : tensor<4x6xf32>, memref<4x6xf32>
  tile.return
}

// At most one step has no direction.
// CHECK-LABEL: tile.kernel @direction
tile.kernel @direction(%out: memref<4x6xf32>, %n: index) grid(batch) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %f = arith.constant dense<1.0> : tensor<4x6xf32>
  // CHECK: tile.loop #tile.sum %{{.*}} = %c0 to %c4 step 4 carries
  %one = tile.loop #tile.sum %i = %c0 to %c4 step 4 reverse carries(%s = %f) : (tensor<4x6xf32>) {
    %next = arith.addf %s, %f : tensor<4x6xf32>
    tile.yield %next : tensor<4x6xf32>
  }
  // CHECK: tile.loop #tile.sum %{{.*}} = %c0 to %c5 step 4 reverse carries
  %two = tile.loop #tile.sum %i = %c0 to %c5 step 4 reverse carries(%s = %one) : (tensor<4x6xf32>) {
    %next = arith.addf %s, %f : tensor<4x6xf32>
    tile.yield %next : tensor<4x6xf32>
  }
  // CHECK: tile.loop #tile.sum %{{.*}} = %c0 to %{{.*}} step 4 reverse carries
  %many = tile.loop #tile.sum %i = %c0 to %n step 4 reverse carries(%s = %two) : (tensor<4x6xf32>) {
    %next = arith.addf %s, %f : tensor<4x6xf32>
    tile.yield %next : tensor<4x6xf32>
  }
  tile.store %many, %out[%c0, %c0] : tensor<4x6xf32>, memref<4x6xf32>
  tile.return
}

// CHECK-LABEL: func.func @host
func.func @host(%in: memref<4x6xf32>, %out: memref<4x4xf32>, %n: index) {
  // CHECK: tile.launch @dead
  tile.launch @dead grid(%n) (%in, %out) : memref<4x6xf32>, memref<4x4xf32>
  return
}

// Permutations: of the identity nothing stays, two are one.
// CHECK-LABEL: tile.kernel @permutations
tile.kernel @permutations(%in: memref<4x3xf32>, %out: memref<4x4x3xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %ones = arith.constant dense<1.0> : tensor<4x3xf32>
  // CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1.0
  // CHECK-DAG: %[[T:.*]] = tile.load
  %t = tile.load %in[%c0, %c0] : memref<4x3xf32> -> tensor<4x3xf32>
  %same = tile.permute_columns %t [0, 1, 2] : tensor<4x3xf32>
  %first = tile.permute_columns %t [1, 2, 0] : tensor<4x3xf32>
  // CHECK: %[[BOTH:.*]] = tile.permute_columns %[[T]] [2, 1, 0]
  %both = tile.permute_columns %first [1, 0, 2] : tensor<4x3xf32>
  %back = tile.permute_columns %first [2, 0, 1] : tensor<4x3xf32>
  %equal = tile.permute_columns %ones [1, 2, 0] : tensor<4x3xf32>
  // CHECK-NOT: tile.permute_columns
  // CHECK: tile.store %[[T]]
  tile.store %same, %out[%c0, %c0, %c0] : tensor<4x3xf32>, memref<4x4x3xf32>
  // CHECK: tile.store %[[BOTH]]
  tile.store %both, %out[%c1, %c0, %c0] : tensor<4x3xf32>, memref<4x4x3xf32>
  // CHECK: tile.store %[[T]]
  tile.store %back, %out[%c2, %c0, %c0] : tensor<4x3xf32>, memref<4x4x3xf32>
  // CHECK: tile.store %[[ONES]]
  tile.store %equal, %out[%c3, %c0, %c0] : tensor<4x3xf32>, memref<4x4x3xf32>
  tile.return
}
