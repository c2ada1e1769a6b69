// RUN: attn-opt %s -split-input-file -verify-diagnostics -tile-to-gpu-pipeline=shared-limit=10000

// expected-error @below {{expected at most 10000 bytes of shared memory, but got 16384}}
// expected-note @below {{the tiles of 64 queries and 64 keys in 2 stages do not fit; choose smaller tiles or fewer stages}}
tile.kernel @large(%A: memref<?x64xf16>, %B: memref<?x64xf16>, %C: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x64xf16> -> tensor<64x64xf16>
  %b = tile.load %B[%c0, %c0] : memref<?x64xf16> -> tensor<64x64xf16>
  %c = tile.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %c, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

tile.kernel @axes(%V: memref<?xf32>, %C: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %V[%c0] : memref<?xf32> -> tensor<64xf32>
  %r = tile.expand %v axis 1 : tensor<64xf32> -> tensor<64x64xf32>
  // expected-error @below {{expected a rank-1 tile along one axis, but got one that is used along both; load or compute it once for each}}
  %c = tile.expand %v axis 0 : tensor<64xf32> -> tensor<64x64xf32>
  %s = arith.addf %r, %c : tensor<64x64xf32>
  tile.store %s, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

tile.kernel @constants(%C: memref<2x2xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a constant of one value, in registers, on a GPU}}
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  tile.store %c, %C[%c0, %c0] : tensor<2x2xf32>, memref<2x2xf32>
  tile.return
}

// -----

// What only CPUs do.
tile.kernel @window(%C: memref<?x64xf32>, %O: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected what device code can do, but got the rows of a window, which is not supported yet on a GPU}}
  %t = tile.load %C[%c0, %c0] fold(%c0) columns 7 stride 56 : memref<?x64xf32> -> tensor<64x64xf32>
  tile.store %t, %O[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

tile.kernel @lower(%C: memref<?x64xf32>, %O: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %t = tile.load %C[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  // expected-error @below {{expected what device code can do, but got a lower bound of rows, which is not supported yet on a GPU}}
  tile.store %t, %O[%c0, %c0] from(%c0) : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

tile.kernel @places(%C: memref<?xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected what device code can do, but got tile.iota, which is not supported yet on a GPU}}
  %t = tile.iota %c0 : tensor<64xf32>
  tile.store %t, %C[%c0] : tensor<64xf32>, memref<?xf32>
  tile.return
}

// -----

tile.kernel @integers(%C: memref<?xi32>, %O: memref<?xi32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected what device code can do, but got a tile of i32, which is not supported yet on a GPU}}
  %t = tile.load %C[%c0] : memref<?xi32> -> tensor<64xi32>
  tile.store %t, %O[%c0] : tensor<64xi32>, memref<?xi32>
  tile.return
}

// -----

tile.kernel @angles(%C: memref<?x64xf32>, %O: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %t = tile.load %C[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  // expected-error @below {{expected what device code can do, but got tile.sine, which is not supported yet on a GPU}}
  %s = tile.sine %t : tensor<64x64xf32>
  tile.store %s, %O[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

tile.kernel @roots(%C: memref<?x64xf32>, %O: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %t = tile.load %C[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  // expected-error @below {{expected arithmetic that a GPU kernel can do on f32 tiles, but got math.sqrt}}
  %s = math.sqrt %t : tensor<64x64xf32>
  tile.store %s, %O[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}
