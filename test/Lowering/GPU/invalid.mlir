// RUN: attn-opt %s -split-input-file -verify-diagnostics -tile-to-gpu-pipeline=shared-limit=5000

// expected-error @below {{no schedule fits: expected at most 5000 bytes of shared memory, but got 8192}}
// expected-note @below {{the tiles of 64 queries and 64 keys do not fit, even in one stage; narrower heads, fewer features and 16-bit types have smaller ones, and `--target cpu` has limits that are far wider (docs/Limits.md)}}
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

tile.kernel @scan(%q: memref<?x32xf32>, %o: memref<?x32xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %t = tile.load %q[%c0, %c0] : memref<?x32xf32> -> tensor<32x32xf32>
  // expected-error @below {{expected an op that threads of a GPU have a part of, but this one is for CPUs; write it as products of tiles}}
  %read, %next = tile.scan %t, %t, %t, %zero, %zero : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
  tile.store %read, %o[%c0, %c0] : tensor<32x32xf32>, memref<?x32xf32>
  tile.return
}

// -----

tile.kernel @any(%q: memref<?xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %t = tile.load %q[%c0] : memref<?xf32> -> tensor<32xf32>
  // expected-error @below {{expected an op that threads of a GPU have a part of, but this one is for CPUs}}
  %far = tile.any %t : tensor<32xf32>
  tile.loop #tile.sum %i = %c0 to %far step 1 {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @constants(%C: memref<2x2xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a constant of one value, or of rank 1, on a GPU}}
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  tile.store %c, %C[%c0, %c0] : tensor<2x2xf32>, memref<2x2xf32>
  tile.return
}

// -----

tile.kernel @half(%C: memref<?x64xf16>, %O: memref<?x64xf16>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %t = tile.load %C[%c0, %c0] : memref<?x64xf16> -> tensor<64x64xf16>
  // expected-error @below {{expected f32 tiles, but got 'tensor<64x64xf16, #tile.fragment<role = c, inner = 16, warps = [4, 1]>>'; widen the operands first}}
  %s = arith.addf %t, %t : tensor<64x64xf16>
  tile.store %s, %O[%c0, %c0] : tensor<64x64xf16>, memref<?x64xf16>
  tile.return
}

// -----

// A library's function.
tile.kernel @hyperbolic(%C: memref<?x64xf32>, %O: memref<?x64xf32>) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %t = tile.load %C[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
  // expected-error @below {{expected arithmetic that a GPU kernel can do on tiles, but got math.tanh}}
  %s = math.tanh %t : tensor<64x64xf32>
  tile.store %s, %O[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

tile.kernel @reverse(%A: memref<?x64xf32>, %O: memref<?x64xf32>, %n: index) grid(query_block)
    attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  // expected-error @below {{expected a loop from the first step up, but got a reverse one; only the interpreter runs it}}
  %s = tile.loop #tile.sum %j = %c0 to %n step 16 reverse carries(%acc = %zero) : (tensor<16x64xf32>) {
    %a = tile.load %A[%j, %c0] rows(%n) : memref<?x64xf32> -> tensor<16x64xf32>
    %next = arith.addf %acc, %a : tensor<16x64xf32>
    tile.yield %next : tensor<16x64xf32>
  }
  tile.store %s, %O[%c0, %c0] : tensor<16x64xf32>, memref<?x64xf32>
  tile.return
}
