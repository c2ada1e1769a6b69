// RUN: attn-opt %s -tile-fold-grids | FileCheck %s

// Blocks become one axis with the batch, and their number an argument. Heads are constants in both launches: they stay.
#gpu = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>
!m = memref<?x4x?x64xf32>

// CHECK-LABEL: tile.kernel @copy(
// CHECK-SAME: %{{.*}}: memref<?x4x?x64xf32>, %{{.*}}: memref<?x4x?x64xf32>, %[[SIZE:.*]]: index) grid(batch, head)
// CHECK: %[[POINT:.*]] = tile.program_id batch
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[POINT]] : index to i32
// CHECK: %[[BLOCKS:.*]] = arith.index_cast %[[SIZE]] : index to i32
// CHECK: %[[ROW:.*]] = arith.divui %[[NUMBER]], %[[BLOCKS]] : i32
// CHECK: %[[WHOLE:.*]] = arith.muli %[[ROW]], %[[BLOCKS]] : i32
// CHECK: %[[REST:.*]] = arith.subi %[[NUMBER]], %[[WHOLE]] : i32
// CHECK: %[[BLOCK:.*]] = arith.index_cast %[[REST]] : i32 to index
// CHECK: %[[BATCH:.*]] = arith.index_cast %[[ROW]] : i32 to index
// CHECK: %[[HEAD:.*]] = tile.program_id head
// CHECK-NOT: tile.program_id
// CHECK: tile.load %{{.*}}[%[[BATCH]], %[[HEAD]], %[[BLOCK]], %{{.*}}]
tile.kernel @copy(%in: !m, %out: !m) grid(batch, head, query_block) attributes {schedule = #gpu} {
  %b = tile.program_id batch
  %h = tile.program_id head
  %p = tile.program_id query_block
  %c0 = arith.constant 0 : index
  %t = tile.load %in[%b, %h, %p, %c0] : !m -> tensor<64x64xf32>
  tile.store %t, %out[%b, %h, %p, %c0] : tensor<64x64xf32>, !m
  tile.return
}

// CHECK-LABEL: tile.kernel @one_axis(%{{[^,]*}}: memref<?x4x?x64xf32>) grid(query_block)
tile.kernel @one_axis(%in: !m) grid(query_block) attributes {schedule = #gpu} {
  tile.return
}

// Heads stay, so there is nothing to do.
// CHECK-LABEL: tile.kernel @heads(%{{[^,]*}}: memref<?x4x?x64xf32>) grid(batch, head)
tile.kernel @heads(%in: !m) grid(batch, head) attributes {schedule = #gpu} {
  tile.return
}

// More than there can be.
// CHECK-LABEL: tile.kernel @many_heads(%{{[^,]*}}: memref<?x4x?x64xf32>, %{{[^,]*}}: index) grid(batch)
tile.kernel @many_heads(%in: !m) grid(batch, head) attributes {schedule = #gpu} {
  tile.return
}

// Kernels for a CPU keep their axes.
// CHECK-LABEL: tile.kernel @on_cpu(%{{[^,]*}}: memref<?x4x?x64xf32>) grid(batch, head)
tile.kernel @on_cpu(%in: !m) grid(batch, head)
    attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 1, stages = 1>} {
  tile.return
}

// CHECK-LABEL: func.func @host
// CHECK-SAME: (%[[IN:.*]]: memref<?x4x?x64xf32>, %[[OUT:.*]]: memref<?x4x?x64xf32>, %[[B:.*]]: index, %[[N:.*]]: index)
// CHECK: %[[ALL:.*]] = arith.muli %[[B]], %[[N]] : index
// CHECK: tile.launch @copy grid(%[[ALL]], %{{.*}}) (%[[IN]], %[[OUT]], %[[N]])
// CHECK: tile.launch @copy grid(%{{.*}}, %{{.*}}) (%[[IN]], %[[OUT]], %[[B]])
// CHECK: tile.launch @heads grid(%[[B]], %{{.*}}) (%[[IN]])
// CHECK: tile.launch @many_heads grid(%{{.*}}) (%[[IN]], %{{.*}})
func.func @host(%in: !m, %out: !m, %batch: index, %blocks: index) {
  %c4 = arith.constant 4 : index
  tile.launch @copy grid(%batch, %c4, %blocks) (%in, %out) : !m, !m
  tile.launch @copy grid(%blocks, %c4, %batch) (%in, %out) : !m, !m
  %many = arith.constant 65536 : index
  tile.launch @heads grid(%batch, %c4) (%in) : !m
  tile.launch @many_heads grid(%batch, %many) (%in) : !m
  tile.launch @one_axis grid(%blocks) (%in) : !m
  return
}
