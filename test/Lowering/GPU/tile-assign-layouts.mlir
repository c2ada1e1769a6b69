// RUN: attn-opt %s -pass-pipeline="builtin.module(tile.kernel(tile-assign-layouts))" | FileCheck %s

!m = memref<?x64xf16>

// Weights are converted from result to operand; keys and values come through shared memory; sums lie along rows.
// CHECK-LABEL: tile.kernel @weights
tile.kernel @weights(%Q: !m, %K: !m, %V: !m, %O: memref<?x64xf32>, %L: memref<?xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: %[[QS:.*]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.shared<rows = 64, columns = 64>>
  // CHECK: %[[Q:.*]] = tile.convert_layout %[[QS]] {{.*}} -> tensor<64x64xf16, #tile.fragment<role = a, inner = 16, warps = [4, 1]>>
  %q = tile.load %Q[%c0, %c0] : !m -> tensor<64x64xf16>
  // CHECK: %[[K:.*]] = tile.load {{.*}} -> tensor<64x64xf16, #tile.shared<rows = 64, columns = 64>>
  // CHECK-NOT: convert_layout
  %k = tile.load %K[%c0, %c0] : !m -> tensor<64x64xf16>
  // CHECK: tile.dot %[[Q]], %[[K]], {{.*}} -> tensor<64x64xf32, #tile.fragment<role = c, inner = 16, warps = [4, 1]>>
  %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK-DAG: tile.reduce add {{.*}} -> tensor<64xf32, #tile.slice<axis = 1, warps = [4, 1]>>
  %l = tile.reduce add %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
  // CHECK-DAG: %[[W:.*]] = arith.truncf
  // CHECK-DAG: %[[A:.*]] = tile.convert_layout %[[W]] : tensor<64x64xf16, #tile.fragment<role = c, inner = 16, warps = [4, 1]>> -> tensor<64x64xf16, #tile.fragment<role = a, inner = 16, warps = [4, 1]>>
  %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %v = tile.load %V[%c0, %c0] : !m -> tensor<64x64xf16>
  // CHECK: tile.dot %[[A]]
  %o = tile.dot %w, %v, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %o, %O[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.store %l, %L[%c0] : tensor<64xf32>, memref<?xf32>
  tile.return
}

// A constant lies as its reader wants it, and stays the number that it was.
// CHECK-LABEL: tile.kernel @exact
tile.kernel @exact(%Q: !m, %K: !m, %O: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: %[[E:.*]] = arith.constant #tile.exact<1.4426950408889634> : tensor<64x64xf32, #tile.fragment<role = c, inner = 16, warps = [4, 1]>>
  %e = arith.constant #tile.exact<1.4426950408889634> : tensor<64x64xf32>
  %q = tile.load %Q[%c0, %c0] : !m -> tensor<64x64xf16>
  %k = tile.load %K[%c0, %c0] : !m -> tensor<64x64xf16>
  %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK: arith.mulf %{{.*}}, %[[E]] : tensor<64x64xf32, #tile.fragment<role = c, inner = 16, warps = [4, 1]>>
  %r = arith.mulf %s, %e : tensor<64x64xf32>
  tile.store %r, %O[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// A rank-1 tile along both axes: more uses have it along columns, the other pays for a conversion.
// CHECK-LABEL: tile.kernel @axes
tile.kernel @axes(%V: memref<?xf32>, %C: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[V:.*]] = tile.load {{.*}} -> tensor<64xf32, #tile.slice<axis = 0, warps = [4, 1]>>
  // CHECK-NEXT: %[[ROWS:.*]] = tile.convert_layout %[[V]] : {{.*}} -> tensor<64xf32, #tile.slice<axis = 1, warps = [4, 1]>>
  %v = tile.load %V[%c0] : memref<?xf32> -> tensor<64xf32>
  // CHECK: tile.expand %[[ROWS]] axis 1
  %r = tile.expand %v axis 1 : tensor<64xf32> -> tensor<64x64xf32>
  // CHECK: tile.expand %[[V]] axis 0
  %c = tile.expand %v axis 0 : tensor<64xf32> -> tensor<64x64xf32>
  %s = arith.addf %r, %c : tensor<64x64xf32>
  %d = tile.expand %v axis 0 : tensor<64xf32> -> tensor<64x64xf32>
  %t = arith.mulf %s, %d : tensor<64x64xf32>
  tile.store %t, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// Where columns of results are spread over two warps, a row of an operand comes together in shared memory; sums of rows are
// the same in both.
// CHECK-LABEL: tile.kernel @columns
tile.kernel @columns(%Q: !m, %K: !m, %V: !m, %O: memref<?x64xf32>, %L: memref<?xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 8, stages = 2, warp_columns = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tile.convert_layout {{.*}} -> tensor<64x64xf16, #tile.fragment<role = a, inner = 16, warps = [4, 2]>>
  %q = tile.load %Q[%c0, %c0] : !m -> tensor<64x64xf16>
  %k = tile.load %K[%c0, %c0] : !m -> tensor<64x64xf16>
  // CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #tile.fragment<role = c, inner = 16, warps = [4, 2]>>
  %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK-DAG: tile.reduce add {{.*}} -> tensor<64xf32, #tile.slice<axis = 1, warps = [4, 2]>>
  %l = tile.reduce add %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
  // CHECK-DAG: %[[W:.*]] = arith.truncf
  // CHECK-DAG: %[[S:.*]] = tile.convert_layout %[[W]] : tensor<64x64xf16, #tile.fragment<role = c, inner = 16, warps = [4, 2]>> -> tensor<64x64xf16, #tile.shared<rows = 64, columns = 64>>
  // CHECK-DAG: %[[A:.*]] = tile.convert_layout %[[S]] : tensor<64x64xf16, #tile.shared<rows = 64, columns = 64>> -> tensor<64x64xf16, #tile.fragment<role = a, inner = 16, warps = [4, 2]>>
  %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %v = tile.load %V[%c0, %c0] : !m -> tensor<64x64xf16>
  // CHECK: tile.dot %[[A]]
  %o = tile.dot %w, %v, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %o, %O[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.store %l, %L[%c0] : tensor<64xf32>, memref<?xf32>
  tile.return
}

// The state of a loop, of which products read a copy in shared memory, comes back from it to be rescaled: in between it takes no
// registers. The accumulator of a product stays where it is.
// CHECK-LABEL: tile.kernel @rescaled
tile.kernel @rescaled(%Q: memref<?x64xf32>, %F: memref<?xf32>, %O: memref<?x64xf32>, %n: index) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tile.loop {{.*}} carries(%[[SCALED:[^ ]+]] = {{[^,]*}}, %[[SUMMED:[^ ]+]] =
  %state:2 = tile.loop #tile.sum %i = %c0 to %n step 64 carries(%scaled = %zero, %summed = %zero) : (tensor<64x64xf32>, tensor<64x64xf32>) {
    // CHECK-DAG: %[[COPY:.*]] = tile.convert_layout %[[SCALED]] : {{.*}} -> tensor<64x64xf32, #tile.shared<rows = 64, columns = 64>>
    // CHECK-DAG: %[[OTHER:.*]] = tile.convert_layout %[[SUMMED]] : {{.*}} -> tensor<64x64xf32, #tile.shared<rows = 64, columns = 64>>
    %q = tile.load %Q[%i, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
    // CHECK: tile.dot %{{.*}}, %[[COPY]], %
    %a = tile.dot %q, %scaled, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    // CHECK: tile.dot %{{.*}}, %[[OTHER]], %
    %b = tile.dot %q, %summed, %a : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.store %b, %O[%i, %c0] : tensor<64x64xf32>, memref<?x64xf32>
    %f = tile.load %F[%c0] : memref<?xf32> -> tensor<64xf32>
    %factor = tile.expand %f axis 1 : tensor<64xf32> -> tensor<64x64xf32>
    // CHECK: tile.dot %{{.*}}, %{{.*}}, %[[SUMMED]] :
    // CHECK-NOT: tile.convert_layout %[[OTHER]]
    // CHECK: %[[BACK:.*]] = tile.convert_layout %[[COPY]] : {{.*}} -> tensor<64x64xf32, #tile.fragment<role = c
    // CHECK: arith.mulf %[[BACK]], %
    %next = arith.mulf %scaled, %factor : tensor<64x64xf32>
    %sum = tile.dot %q, %b, %summed : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    tile.yield %next, %sum : tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.return
}
