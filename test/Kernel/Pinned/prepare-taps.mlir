// Weights of a depthwise 3 x 3 convolution (LePE), packed by prepare: [heads, dv, 3, 3] of bf16 become [heads, 9, dv] of f32.
//
// Each tap's weights of all channels then lie side by side, and a tile of tokens reads them as one row. A thread block for each head; a column of
// weights [40, 1] is turned into a row by a sum over its one column. (The convolution that reads taps is in softmax-lepe-halo.mlir.)
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x2x?x24xbf16>
!v = tensor<?x2x?x40xbf16>
func.func @lepe(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"},
                %w: tensor<2x40x3x3xbf16> {attn.name = "w", attn.parameter}) -> !v {
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64} : !q, !q, !v -> !v
  %r = attn.lepe %o, %v, %w {grid = array<i64: 14, 15>} : !v, !v, tensor<2x40x3x3xbf16> -> !v
  return %r : !v
}

// The host function
// CHECK-LABEL: func.func @lepe__prepare(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x40x3x3xbf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[W_PACKED:[a-z0-9]+]]: memref<2x9x40xf32>
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         tile.launch @lepe__prepare_w_packed_pack grid(%[[C2]]) (%[[W]], %[[W_PACKED]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @lepe__prepare_w_packed_pack(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x40x3x3xbf16, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[W_PACKED:[a-z0-9]+]]: memref<2x9x40xf32>
// CHECK-SAME:    grid(head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = bf16,
// CHECK-SAME:    warps = 1, stages = 1>}
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[HEAD:.*]] = tile.program_id head
//   The 3 × 3 weights of a channel as 9 taps.
// CHECK-NEXT:    %[[TAPS:.*]] = memref.collapse_shape %[[W]] {{\[\[0\], \[1\], \[2, 3\]\]}}
// CHECK-SAME:        : memref<2x40x3x3xbf16, strided<[?, ?, ?, 1]>> into memref<2x40x9xbf16, strided<[?, ?, 1]>>
// CHECK-NEXT:    %[[TAP_COLUMN0:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<40x1xbf16>
// CHECK-NEXT:    %[[TAP_WIDE0:.*]] = arith.extf %[[TAP_COLUMN0]] : tensor<40x1xbf16> to tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP0:.*]] = tile.reduce add %[[TAP_WIDE0]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP0]], %[[W_PACKED]][%[[HEAD]], %[[C0]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN1:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C1]]] : memref{{.*}} -> tensor<40x1xbf16>
// CHECK-NEXT:    %[[TAP_WIDE1:.*]] = arith.extf %[[TAP_COLUMN1]] : tensor<40x1xbf16> to tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP1:.*]] = tile.reduce add %[[TAP_WIDE1]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP1]], %[[W_PACKED]][%[[HEAD]], %[[C1]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN2:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C2]]] : memref{{.*}} -> tensor<40x1xbf16>
// CHECK-NEXT:    %[[TAP_WIDE2:.*]] = arith.extf %[[TAP_COLUMN2]] : tensor<40x1xbf16> to tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP2:.*]] = tile.reduce add %[[TAP_WIDE2]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP2]], %[[W_PACKED]][%[[HEAD]], %[[C2]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN3:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C3]]] : memref{{.*}} -> tensor<40x1xbf16>
// CHECK-NEXT:    %[[TAP_WIDE3:.*]] = arith.extf %[[TAP_COLUMN3]] : tensor<40x1xbf16> to tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP3:.*]] = tile.reduce add %[[TAP_WIDE3]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP3]], %[[W_PACKED]][%[[HEAD]], %[[C3]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN4:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C4]]] : memref{{.*}} -> tensor<40x1xbf16>
// CHECK-NEXT:    %[[TAP_WIDE4:.*]] = arith.extf %[[TAP_COLUMN4]] : tensor<40x1xbf16> to tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP4:.*]] = tile.reduce add %[[TAP_WIDE4]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP4]], %[[W_PACKED]][%[[HEAD]], %[[C4]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN5:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C5]]] : memref{{.*}} -> tensor<40x1xbf16>
// CHECK-NEXT:    %[[TAP_WIDE5:.*]] = arith.extf %[[TAP_COLUMN5]] : tensor<40x1xbf16> to tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP5:.*]] = tile.reduce add %[[TAP_WIDE5]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP5]], %[[W_PACKED]][%[[HEAD]], %[[C5]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN6:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C6]]] : memref{{.*}} -> tensor<40x1xbf16>
// CHECK-NEXT:    %[[TAP_WIDE6:.*]] = arith.extf %[[TAP_COLUMN6]] : tensor<40x1xbf16> to tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP6:.*]] = tile.reduce add %[[TAP_WIDE6]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP6]], %[[W_PACKED]][%[[HEAD]], %[[C6]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN7:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C7]]] : memref{{.*}} -> tensor<40x1xbf16>
// CHECK-NEXT:    %[[TAP_WIDE7:.*]] = arith.extf %[[TAP_COLUMN7]] : tensor<40x1xbf16> to tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP7:.*]] = tile.reduce add %[[TAP_WIDE7]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP7]], %[[W_PACKED]][%[[HEAD]], %[[C7]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    %[[TAP_COLUMN8:.*]] = tile.load %[[TAPS]][%[[HEAD]], %[[C0]], %[[C8]]] : memref{{.*}} -> tensor<40x1xbf16>
// CHECK-NEXT:    %[[TAP_WIDE8:.*]] = arith.extf %[[TAP_COLUMN8]] : tensor<40x1xbf16> to tensor<40x1xf32>
// CHECK-NEXT:    %[[TAP8:.*]] = tile.reduce add %[[TAP_WIDE8]] axis 1 : tensor<40x1xf32> -> tensor<40xf32>
// CHECK-NEXT:    tile.store %[[TAP8]], %[[W_PACKED]][%[[HEAD]], %[[C8]], %[[C0]]] : tensor<40xf32>, memref
// CHECK-NEXT:    tile.return
