!m = memref<?x?xf32, strided<[?, 1]>>

// One block of o = 2 x.
tile.kernel @twice(%x: !m, %o: !m) grid(query_block)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %p = tile.program_id query_block
  %i = arith.muli %p, %c64 : index
  %t = tile.load %x[%i, %c0] : !m -> tensor<64x64xf32>
  %s = arith.addf %t, %t : tensor<64x64xf32>
  tile.store %s, %o[%i, %c0] : tensor<64x64xf32>, !m
  tile.return
}

func.func @decoder(%q: tensor<2x8x48x64xbf16>, %k: tensor<2x2x80x64xbf16>, %v: tensor<2x2x80x64xbf16>) -> tensor<2x8x48x64xbf16> {
  %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
      : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
  return %o : tensor<2x8x48x64xbf16>
}
