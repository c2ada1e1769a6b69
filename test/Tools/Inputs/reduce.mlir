!m = memref<?x?xf32, strided<[?, 1]>>
!q = tensor<1x2x8x4xf32>

func.func @plain(%q: !q) -> !q {
  %o = attn.softmax %q, %q, %q {scale = 0.5 : f64} : !q, !q, !q -> !q
  return %o : !q
}

tile.kernel @wanted(%x: !m, %o: !m) grid(query_block)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : !m -> tensor<64x64xf32>
  %s = arith.addf %t, %t : tensor<64x64xf32>
  tile.store %t, %o[%c0, %c0] : tensor<64x64xf32>, !m
  tile.return
}

tile.kernel @other(%x: !m, %o: !m) grid(query_block)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  tile.return
}
