// UNCOUNTED: error: 'math.tanh' op expected an op that says what it does (CostOpInterface)
tile.kernel @curve(%x: memref<?x8xf32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %rows = tile.load %x[%c0, %c0] : memref<?x8xf32> -> tensor<16x8xf32>
  %curve = math.tanh %rows : tensor<16x8xf32>
  tile.store %curve, %x[%c0, %c0] : tensor<16x8xf32>, memref<?x8xf32>
  tile.return
}
func.func @host(%x: memref<?x8xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @curve grid(%c1) (%x) : memref<?x8xf32>
  return
}

// -----

// UNCOUNTED: error: expected the length of a sequence to be the operand of a minimum, but got it as a bound or an index
tile.kernel @ragged(%x: memref<?x8xf32>, %lengths: memref<?xi32>) grid(batch) {
  %c0 = arith.constant 0 : index
  %b = tile.program_id batch
  %read = memref.load %lengths[%b] : memref<?xi32>
  %length = arith.index_cast %read : i32 to index
  tile.loop #tile.sum %i = %c0 to %length step 16 {
    %rows = tile.load %x[%i, %c0] : memref<?x8xf32> -> tensor<16x8xf32>
    tile.store %rows, %x[%i, %c0] : tensor<16x8xf32>, memref<?x8xf32>
    tile.yield
  }
  tile.return
}
func.func @host(%x: memref<?x8xf32>, %lengths: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @ragged grid(%c1) (%x, %lengths) : memref<?x8xf32>, memref<?xi32>
  return
}
