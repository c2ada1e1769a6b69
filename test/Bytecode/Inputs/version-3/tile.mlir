module {
  tile.kernel @memory(%arg0: memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>, %arg1: memref<?x4x?x64xf32, strided<[?, ?, ?, 1]>>, %arg2: index) grid(batch, head, query_block) {
    %c0 = arith.constant 0 : index
    %0 = tile.program_id  batch
    %1 = tile.program_id  head
    %2 = tile.program_id  query_block
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %3 = tile.load %arg0[%0, %c1, %c64, %c0] rows(%arg2) : memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>> -> tensor<64x64xf32>
    %4 = arith.negf %3 : tensor<64x64xf32>
    tile.store %4, %arg1[%0, %1, %2, %c0] : tensor<64x64xf32>, memref<?x4x?x64xf32, strided<[?, ?, ?, 1]>>
    tile.store %4, %arg1[%0, %1, %2, %c0] rows(%arg2) : tensor<64x64xf32>, memref<?x4x?x64xf32, strided<[?, ?, ?, 1]>>
    tile.return
  }
  tile.kernel @constants(%arg0: memref<4x6xf32>) grid(batch) {
    %c0 = arith.constant 0 : index
    %cst = arith.constant #tile.exact<1.4426950408889634> : tensor<4x6xf32>
    tile.store %cst, %arg0[%c0, %c0] : tensor<4x6xf32>, memref<4x6xf32>
    tile.return
  }
  tile.kernel @windows(%arg0: memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>, %arg1: memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>, %arg2: index, %arg3: index, %arg4: index, %arg5: index) grid(batch, head) {
    %c0 = arith.constant 0 : index
    %0 = tile.program_id  batch
    %1 = tile.program_id  head
    %2 = tile.load %arg0[%0, %1, %arg2, %c0] from(%arg3) rows(%arg5) fold(%arg4) columns 7 stride 56 : memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>> -> tensor<49x64xf32>
    %3 = tile.load %arg0[%0, %1, %arg4, %c0] from(%arg3) : memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>> -> tensor<49x64xf32>
    %4 = arith.addf %2, %3 : tensor<49x64xf32>
    tile.store %4, %arg1[%0, %1, %arg2, %c0] fold(%arg4) columns 7 stride 7 : tensor<49x64xf32>, memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
    tile.store %4, %arg1[%0, %1, %arg2, %c0] from(%arg3) rows(%arg5) fold(%arg4) columns 1 stride 56 : tensor<49x64xf32>, memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
    tile.return
  }
  tile.kernel @numbers(%arg0: memref<64x4xf32>, %arg1: memref<64x4xf32>, %arg2: memref<64xf32>, %arg3: memref<64xi32>, %arg4: index) grid(batch) {
    %c0 = arith.constant 0 : index
    %0 = tile.load %arg0[%c0, %c0] : memref<64x4xf32> -> tensor<64x4xf32>
    %1 = tile.iota %arg4 : tensor<64xf32>
    %2 = tile.iota %arg4 : tensor<64xi32>
    %3 = tile.permute_columns %0 [1, 0, 3, 2] : tensor<64x4xf32>
    tile.store %1, %arg2[%c0] : tensor<64xf32>, memref<64xf32>
    tile.store %2, %arg3[%c0] : tensor<64xi32>, memref<64xi32>
    tile.store %3, %arg1[%c0, %c0] : tensor<64x4xf32>, memref<64x4xf32>
    tile.return
  }
  tile.kernel @elementwise(%arg0: memref<64x32xf32>, %arg1: memref<64x32xf32>) grid(batch) {
    %c0 = arith.constant 0 : index
    %0 = tile.load %arg0[%c0, %c0] : memref<64x32xf32> -> tensor<64x32xf32>
    %1 = tile.sine %0 : tensor<64x32xf32>
    %2 = tile.cosine %0 : tensor<64x32xf32>
    %3 = arith.addf %1, %2 : tensor<64x32xf32>
    tile.store %3, %arg1[%c0, %c0] : tensor<64x32xf32>, memref<64x32xf32>
    tile.return
  }
  tile.kernel @arithmetic(%arg0: memref<64x80xf32>, %arg1: memref<32x80xf32>, %arg2: memref<64x32xf32>, %arg3: index, %arg4: index) grid(value_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
    %c0 = arith.constant 0 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %0 = tile.load %arg0[%c0, %c0] : memref<64x80xf32> -> tensor<64x80xf32>
    %1 = tile.load %arg1[%c0, %c0] : memref<32x80xf32> -> tensor<32x80xf32>
    %2 = tile.dot %0, %1, %cst {transpose_b} : tensor<64x80xf32>, tensor<32x80xf32> -> tensor<64x32xf32>
    %3 = tile.reduce  max %2 axis 1 : tensor<64x32xf32> -> tensor<64xf32>
    %4 = tile.expand %3 axis 1 : tensor<64xf32> -> tensor<64x32xf32>
    %5 = tile.mask %2 fill 0xFF800000 cols(%arg3) diagonal(%arg4) : tensor<64x32xf32>
    %6 = tile.mask %3 fill 0.000000e+00 rows(%arg3) : tensor<64xf32>
    %7 = arith.addf %4, %5 : tensor<64x32xf32>
    tile.store %7, %arg2[%c0, %c0] : tensor<64x32xf32>, memref<64x32xf32>
    tile.store %6, %arg2[%c0, %c0] : tensor<64xf32>, memref<64x32xf32>
    tile.return
  }
  tile.kernel @sequence(%arg0: memref<?x?x64xf32>, %arg1: memref<64x64xf32>, %arg2: memref<?x64xf32>, %arg3: index) grid(batch, key_piece) {
    %c0 = arith.constant 0 : index
    %0 = tile.program_id  batch
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %1 = tile.loop #tile.sum %arg4 = %c0 to %arg3 step 64 carries(%arg5 = %cst) : (tensor<64x64xf32>) {
      %3 = tile.load %arg0[%0, %arg4, %c0] : memref<?x?x64xf32> -> tensor<64x64xf32>
      %4 = tile.dot %3, %3, %arg5 {transpose_a} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      tile.yield %4 : tensor<64x64xf32>
    }
    tile.store %1, %arg1[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
    %2 = tile.loop #tile.sum %arg4 = %c0 to %arg3 step 64 reverse carries(%arg5 = %cst) : (tensor<64x64xf32>) {
      tile.store %arg5, %arg2[%arg4, %c0] : tensor<64x64xf32>, memref<?x64xf32>
      %3 = tile.load %arg0[%0, %arg4, %c0] : memref<?x?x64xf32> -> tensor<64x64xf32>
      %4 = tile.dot %3, %3, %arg5 {transpose_a} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      tile.yield %4 : tensor<64x64xf32>
    }
    tile.loop #tile.sum %arg4 = %c0 to %arg3 step 1 reverse attributes {note = 1 : i64} {
      tile.yield
    }
    tile.loop #tile.sum %arg4 = %c0 to %arg3 step 1 {
      tile.yield
    }
    tile.return
  }
  tile.kernel @online(%arg0: memref<64xf32>, %arg1: index) grid(query_block) {
    %c0 = arith.constant 0 : index
    %cst = arith.constant dense<0xFF800000> : tensor<64xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
    %0:3 = tile.loop #tile.rescaled_sum<exp2, row> %arg2 = %c0 to %arg1 step 64 carries(%arg3 = %cst, %arg4 = %cst_0, %arg5 = %cst_1) : (tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>) {
      tile.yield %arg3, %arg4, %arg5 : tensor<64xf32>, tensor<64xf32>, tensor<64x32xf32>
    }
    %1:2 = tile.loop #tile.sum %arg2 = %c0 to %arg1 step 64 carries(%arg3 = %cst, %arg4 = %cst_0) : (tensor<64xf32>, tensor<64xf32>) {
      tile.yield %arg3, %arg4 : tensor<64xf32>, tensor<64xf32>
    }
    tile.store %0#1, %arg0[%c0] : tensor<64xf32>, memref<64xf32>
    tile.return
  }
  tile.kernel @copy(%arg0: memref<?x64xf32>, %arg1: memref<?x64xf32>) grid(query_block) {
    %0 = tile.program_id  query_block
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %1 = arith.muli %0, %c64 : index
    %2 = tile.load %arg0[%1, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
    tile.store %2, %arg1[%1, %c0] : tensor<64x64xf32>, memref<?x64xf32>
    tile.return
  }
  tile.kernel @arguments(%arg0: index, %arg1: i64, %arg2: f32, %arg3: memref<?xi32>, %arg4: memref<?xf16>, %arg5: memref<?xbf16>) grid(head) {
    tile.return
  }
  func.func @plan(%arg0: memref<?x64xf32>, %arg1: memref<?x64xf32>, %arg2: index, %arg3: index, %arg4: index) {
    tile.launch @copy grid(%arg2) (%arg0, %arg1) : memref<?x64xf32>, memref<?x64xf32>
    %0 = tile.workspace(%arg3, %arg4) : memref<?x4x?x64x64xf32>
    %1 = tile.workspace() : memref<2x2xf32>
    return
  }
  func.func @precision(%arg0: tensor<64x32xf32>, %arg1: tensor<32x80xf32>, %arg2: tensor<64x80xf32>) {
    %0 = tile.dot %arg0, %arg1, %arg2 precision  tf32 : tensor<64x32xf32>, tensor<32x80xf32> -> tensor<64x80xf32>
    return
  }
  func.func @layouts(%arg0: tensor<64x64xf16, #tile.fragment<role = c, inner = 16, warps = [4, 1]>>, %arg1: tensor<64x64xf32, #tile.fragment<role = c, inner = 16, warps = [4, 2]>>, %arg2: tensor<64xf32, #tile.slice<axis = 1, warps = [4, 1]>>, %arg3: tensor<64x64xf16, #tile.shared<rows = 64, columns = 64>>) {
    %0 = tile.convert_layout %arg0 : tensor<64x64xf16, #tile.fragment<role = c, inner = 16, warps = [4, 1]>> -> tensor<64x64xf16, #tile.fragment<role = a, inner = 16, warps = [4, 1]>>
    return
  }
  func.func private @panels(tensor<64x128xf16, #tile.shared<rows = 64, columns = 128, panel = 64>>, tensor<64x64xf16, #tile.shared<rows = 64, columns = 64>>)
  tile.kernel @arrive(%arg0: memref<?x4x2xi32>, %arg1: index, %arg2: index) grid(head, key_piece) {
    %0 = tile.program_id  head
    %c0 = arith.constant 0 : index
    %1 = tile.arrive %arg0[%arg1, %0] of %arg2 : memref<?x4x2xi32>
    tile.loop #tile.sum %arg3 = %c0 to %1 step 1 {
      tile.yield
    }
    tile.return
  }
  tile.kernel @any(%arg0: memref<256xf32>) grid(head) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = tile.load %arg0[%c0] : memref<256xf32> -> tensor<256xf32>
    %1 = tile.any %0 : tensor<256xf32>
    tile.loop #tile.sum %arg1 = %1 to %c1 step 1 {
      tile.yield
    }
    tile.return
  }
  tile.kernel @scalar_unit(%arg0: index) grid(batch) {
    %c0 = arith.constant 0 : index
    %cst = arith.constant dense<1.000000e+00> : tensor<1xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<8x4xf32>
    %0:2 = tile.loop #tile.rescaled_sum<power 2, scalar> %arg1 = %c0 to %arg0 step 8 carries(%arg2 = %cst, %arg3 = %cst_0) : (tensor<1xf32>, tensor<8x4xf32>) {
      tile.yield %arg2, %arg3 : tensor<1xf32>, tensor<8x4xf32>
    }
    tile.return
  }
  tile.kernel @affine(%arg0: index) grid(batch) {
    %c0 = arith.constant 0 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<8x4xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<8xf32>
    %0:2 = tile.loop #tile.affine<transition = vector> %arg1 = %c0 to %arg0 step 8 reverse carries(%arg2 = %cst, %arg3 = %cst_0) : (tensor<8x4xf32>, tensor<8xf32>) {
      tile.yield %arg2, %arg3 : tensor<8x4xf32>, tensor<8xf32>
    }
    %1 = tile.loop #tile.affine<transition = matrix> %arg1 = %c0 to %arg0 step 8 carries(%arg2 = %cst) : (tensor<8x4xf32>) {
      tile.yield %arg2 : tensor<8x4xf32>
    }
    tile.return
  }
}

