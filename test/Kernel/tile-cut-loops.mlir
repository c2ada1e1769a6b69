// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(tile-cut-loops),canonicalize,cse)" | FileCheck %s
// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(tile-cut-loops{seed=3}),canonicalize,cse)" | FileCheck %s --check-prefix=OTHER

// The spans of the steps before a border and behind it, their composition, and what it makes of what the loop began with. How many
// of eight shares of the steps are before the border comes from the seed.

// CHECK-LABEL: tile.kernel @total(
// CHECK-SAME:  %[[X:[^:]*]]: memref<?x8xf32>
// CHECK:      %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK:      %[[ROWS:.*]] = memref.dim %[[X]]
// CHECK:      %[[BORDER:.*]] = arith.muli {{.*}}, %c16 : index
// CHECK:      %[[BEFORE:.*]] = tile.loop #tile.sum %{{.*}} = %c0 to %[[BORDER]] step 16 carries(%{{.*}} = %[[ZERO]])
// CHECK:      %[[BEHIND:.*]] = tile.loop #tile.sum %{{.*}} = %[[BORDER]] to %[[ROWS]] step 16 carries(%{{.*}} = %[[ZERO]])
// CHECK:      %[[SUM:.*]] = arith.addf %[[BEFORE]], %[[BEHIND]] : tensor<8xf32>
// CHECK:      %[[ALL:.*]] = arith.addf %[[SUM]], %[[ZERO]] : tensor<8xf32>
// CHECK:      tile.store %[[ALL]]
// OTHER-COUNT-2: tile.loop #tile.sum
tile.kernel @total(%x: memref<?x8xf32>, %o: memref<8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %zero) : (tensor<8xf32>) {
    %rows = tile.load %x[%j, %c0] rows(%n) : memref<?x8xf32> -> tensor<16x8xf32>
    %columns = tile.reduce add %rows axis 0 : tensor<16x8xf32> -> tensor<8xf32>
    %next = arith.addf %s, %columns : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %sum, %o[%c0] : tensor<8xf32>, memref<8xf32>
  tile.return
}

// Behind a border of eight shares of the steps from the last one down come the low steps.
// CHECK-LABEL: tile.kernel @reverse(
// CHECK:       %[[BORDER:.*]] = arith.muli {{.*}}, %c16 : index
// CHECK:       %[[BEFORE:.*]] = tile.loop #tile.sum %{{.*}} = %[[BORDER]] to %{{.*}} step 16 reverse carries(
// CHECK:       %[[BEHIND:.*]] = tile.loop #tile.sum %{{.*}} = %c0 to %[[BORDER]] step 16 reverse carries(
// CHECK:       arith.addf %[[BEFORE]], %[[BEHIND]]
tile.kernel @reverse(%x: memref<?x8xf32>, %o: memref<8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %sum = tile.loop #tile.sum %j = %c0 to %n step 16 reverse carries(%s = %zero) : (tensor<8xf32>) {
    %rows = tile.load %x[%j, %c0] rows(%n) : memref<?x8xf32> -> tensor<16x8xf32>
    %columns = tile.reduce add %rows axis 0 : tensor<16x8xf32> -> tensor<8xf32>
    %next = arith.addf %s, %columns : tensor<8xf32>
    tile.yield %next : tensor<8xf32>
  }
  tile.store %sum, %o[%c0] : tensor<8xf32>, memref<8xf32>
  tile.return
}

// Where steps store, the first piece runs without stores for the state at the border, and each piece from its state.
// CHECK-LABEL: tile.kernel @scan(
// CHECK-SAME:  %{{.*}}: memref<?xf32>, %[[O:[^:]*]]: memref<?xf32>
// CHECK:       %[[SPAN:.*]] = tile.loop #tile.maximum %{{.*}} = %c0 to %[[BORDER:.*]] step 1 carries(
// CHECK-NOT:   tile.store
// CHECK:       %[[STATE:.*]] = arith.maximumf %[[SPAN]], %{{.*}} : tensor<1xf32>
// CHECK:       tile.loop #tile.maximum %{{.*}} = %c0 to %[[BORDER]] step 1 carries(
// CHECK:         tile.store %{{.*}}, %[[O]]
// CHECK:       tile.loop #tile.maximum %{{.*}} = %[[BORDER]] to %{{.*}} step 1 carries(%{{.*}} = %[[STATE]])
// CHECK:         tile.store %{{.*}}, %[[O]]
tile.kernel @scan(%x: memref<?xf32>, %o: memref<?xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %all = tile.loop #tile.maximum %j = %c0 to %n step 1 carries(%s = %zero) : (tensor<1xf32>) {
    %one = tile.load %x[%j] : memref<?xf32> -> tensor<1xf32>
    %next = arith.maximumf %s, %one : tensor<1xf32>
    tile.store %next, %o[%j] : tensor<1xf32>, memref<?xf32>
    tile.yield %next : tensor<1xf32>
  }
  tile.return
}

// A step that writes what steps read stays where it is.
// CHECK-LABEL: tile.kernel @place(
// CHECK:       tile.loop #tile.maximum
// CHECK-NOT:   tile.loop
// CHECK:       tile.return
tile.kernel @place(%x: memref<?xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %all = tile.loop #tile.maximum %j = %c0 to %n step 1 carries(%s = %zero) : (tensor<1xf32>) {
    %one = tile.load %x[%j] : memref<?xf32> -> tensor<1xf32>
    %next = arith.maximumf %s, %one : tensor<1xf32>
    tile.store %next, %x[%j] : tensor<1xf32>, memref<?xf32>
    tile.yield %next : tensor<1xf32>
  }
  tile.return
}

// A span carries a column of ones, X, with what decays: the body does to X what it does to S, and adds nothing.
// CHECK-LABEL: tile.kernel @decay(
// CHECK:       %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<4x1xf32>
// CHECK:       %[[A:.*]]:2 = tile.loop #tile.affine<transition = vector> %{{.*}} = %c0 to %[[BORDER:.*]] step 1 carries(%[[X:.*]] = %[[ONE]], %[[S:.*]] = %{{.*}}) : (tensor<4x1xf32>, tensor<4x3xf32>)
// CHECK:         %[[D:.*]] = tile.load
// CHECK:         %[[WIDE:.*]] = tile.expand %[[D]] axis 1 : tensor<4xf32> -> tensor<4x3xf32>
// CHECK:         %[[KEPT:.*]] = arith.mulf %[[S]], %[[WIDE]] : tensor<4x3xf32>
// CHECK:         %[[NEXT:.*]] = arith.addf %[[KEPT]], %{{.*}} : tensor<4x3xf32>
// CHECK:         %[[NARROW:.*]] = tile.expand %[[D]] axis 1 : tensor<4xf32> -> tensor<4x1xf32>
// CHECK:         %[[XNEXT:.*]] = arith.mulf %[[X]], %[[NARROW]] : tensor<4x1xf32>
// CHECK:         tile.yield %[[XNEXT]], %[[NEXT]]
// CHECK:       %[[B:.*]]:2 = tile.loop #tile.affine<transition = vector> %{{.*}} = %[[BORDER]] to
// CHECK:       %[[FACTORS:.*]] = tile.reduce add %[[B]]#0 axis 1 : tensor<4x1xf32> -> tensor<4xf32>
// CHECK:       arith.mulf %{{.*}}, %[[A]]#0 : tensor<4x1xf32>
tile.kernel @decay(%d: memref<?x4xf32>, %k: memref<?x4xf32>, %v: memref<?x3xf32>, %o: memref<4x3xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %d, %c0 : memref<?x4xf32>
  %s0 = tile.load %o[%c0, %c0] : memref<4x3xf32> -> tensor<4x3xf32>
  %all = tile.loop #tile.affine<transition = vector> %t = %c0 to %n step 1 carries(%s = %s0) : (tensor<4x3xf32>) {
    %f = tile.load %d[%t, %c0] : memref<?x4xf32> -> tensor<4xf32>
    %a = tile.load %k[%t, %c0] : memref<?x4xf32> -> tensor<4xf32>
    %b = tile.load %v[%t, %c0] : memref<?x3xf32> -> tensor<3xf32>
    %factors = tile.expand %f axis 1 : tensor<4xf32> -> tensor<4x3xf32>
    %kept = arith.mulf %s, %factors : tensor<4x3xf32>
    %rows = tile.expand %a axis 1 : tensor<4xf32> -> tensor<4x3xf32>
    %columns = tile.expand %b axis 0 : tensor<3xf32> -> tensor<4x3xf32>
    %new = arith.mulf %rows, %columns : tensor<4x3xf32>
    %next = arith.addf %kept, %new : tensor<4x3xf32>
    tile.yield %next : tensor<4x3xf32>
  }
  tile.store %all, %o[%c0, %c0] : tensor<4x3xf32>, memref<4x3xf32>
  tile.return
}

// No span stands for some of the steps: the loop stays whole.
// CHECK-LABEL: tile.kernel @in_order(
// CHECK:         tile.loop #tile.sequential %{{.*}} = %c0 to %{{.*}} step 16
// CHECK-NOT:     tile.loop
// CHECK:         tile.return
tile.kernel @in_order(%x: memref<?x8xf32>, %o: memref<8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %last = tile.loop #tile.sequential %j = %c0 to %n step 16 carries(%s = %zero) : (tensor<8xf32>) {
    %rows = tile.load %x[%j, %c0] rows(%n) : memref<?x8xf32> -> tensor<16x8xf32>
    %columns = tile.reduce add %rows axis 0 : tensor<16x8xf32> -> tensor<8xf32>
    %next = arith.maximumf %s, %columns : tensor<8xf32>
    %half = arith.mulf %next, %columns : tensor<8xf32>
    tile.yield %half : tensor<8xf32>
  }
  tile.store %last, %o[%c0] : tensor<8xf32>, memref<8xf32>
  tile.return
}
