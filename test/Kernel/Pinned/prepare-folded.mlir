// A projection folded with the matrix of a random feature map: prepare multiplies them once, and one kernel makes ω q of x directly.
//
//   P_h = W_Q,h ωᵀ [80, 16],   c_h = ω b_Q,h [16],   ω q = x P_h + c_h        model width 80, 3 heads, d = 24, 16 features, one ω for all heads
//
// Here: prepare, its two kernels, the host and the projection. (The kernels of the attention, which read ω q, are those of favor_relu's state form.)
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!t = tensor<?x3x?x24xf32>
!v = tensor<?x3x?x40xf32>
!f = tensor<?x3x?x16xf32>
!s = tensor<?x3x16x40xf32>
!w = tensor<1x16x24xf32>
#map = #attn.feature_map<favor_relu, features = 16, epsilon = 0.0>
func.func @folded(%x: tensor<?x?x80xf32> {attn.name = "x"}, %wq: tensor<80x72xf32> {attn.name = "wq", attn.parameter},
                  %bq: tensor<72xf32> {attn.name = "bq", attn.parameter}, %w: !w {attn.name = "omega", attn.parameter},
                  %k: !t {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v {
  %q = attn.project %x, %wq bias(%bq : tensor<72xf32>) {execution = #attn.execution<form = folded>} : tensor<?x?x80xf32>, tensor<80x72xf32> -> !t
  %a = attn.map %q parameter(%w : !w) {feature_map = #map} : !t -> !f
  %b = attn.map %k parameter(%w : !w) {feature_map = #map, keys} : !t -> !f
  %s, %z = attn.state %b, %v : !f, !v -> !s, tensor<?x3x16xf32>
  %num, %den = attn.readout %a, %s, %z : !f, !s, tensor<?x3x16xf32> -> !v, tensor<?x3x?xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : !v, tensor<?x3x?xf32> -> !v
  return %o : !v
}

// Two launches of prepare
// CHECK-LABEL: func.func @folded__prepare(
// CHECK-SAME:    %[[WQ:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BQ:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[OMEGA:[a-z0-9]+]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ_FOLDED:[a-z0-9]+]]: memref<3x80x16xf32>
// CHECK-SAME:    %[[BQ_FOLDED:[a-z0-9]+]]: memref<48xf32>
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         tile.launch @folded__prepare_wq_folded_fold grid(%[[C3]], %[[C2]]) (%[[WQ]], %[[OMEGA]], %[[WQ_FOLDED]]) :
// CHECK-NEXT:    tile.launch @folded__prepare_wq_folded_fold_bias grid(%[[C3]]) (%[[BQ]], %[[OMEGA]], %[[BQ_FOLDED]]) :
// CHECK-NEXT:    return

// The host: ω q goes through a workspace; then the three kernels of the state form.
// CHECK-LABEL: func.func @folded(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[BQ:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[OMEGA:[a-z0-9]+]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[WQ_FOLDED:[a-z0-9]+]]: memref<3x80x16xf32>
// CHECK-SAME:    %[[BQ_FOLDED:[a-z0-9]+]]: memref<48xf32>
// CHECK-DAG:     %[[C2048:.*]] = arith.constant 2048 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[X]], %[[C0]] : memref
// CHECK-NEXT:    %[[TOKENS:.*]] = memref.dim %[[X]], %[[C1]] : memref
// CHECK-NEXT:    %[[Q_MAPPED:.*]] = tile.workspace(%[[BATCHES]], %[[TOKENS]]) : memref<?x3x?x16xf32>
// CHECK-NEXT:    %[[TOKEN_BLOCKS:.*]] = arith.ceildivui %[[TOKENS]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @folded_2_project grid(%[[BATCHES]], %[[C3]], %[[TOKEN_BLOCKS]])
// CHECK-SAME:        (%[[X]], %[[WQ_FOLDED]], %[[BQ_FOLDED]], %[[Q_MAPPED]]) :
// CHECK-NEXT:    %[[BATCHES_2:.*]] = memref.dim %[[K]], %[[C0]] : memref
// CHECK-NEXT:    %[[STATE_SUM:.*]] = tile.workspace(%[[BATCHES_2]]) : memref<?x3x16xf32>
// CHECK-NEXT:    %[[STATE:.*]] = tile.workspace(%[[BATCHES_2]]) : memref<?x3x16x40xf32>
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
// CHECK-NEXT:    %[[PIECES:.*]] = arith.ceildivui %[[KEYS]], %[[C2048]] : index
// CHECK-NEXT:    %[[STATE_PIECES:.*]] = tile.workspace(%[[BATCHES_2]], %[[PIECES]]) : memref<?x3x?x16x40xf32>
// CHECK-NEXT:    %[[SUM_PIECES:.*]] = tile.workspace(%[[BATCHES_2]], %[[PIECES]]) : memref<?x3x?x16xf32>
// CHECK-NEXT:    tile.launch @folded_state grid(%[[BATCHES_2]], %[[C3]], %[[PIECES]])
// CHECK-SAME:        (%[[OMEGA]], %[[K]], %[[V]], %[[STATE_PIECES]], %[[SUM_PIECES]]) :
// CHECK-NEXT:    tile.launch @folded_merge grid(%[[BATCHES_2]], %[[C3]]) (%[[STATE]], %[[STATE_SUM]], %[[STATE_PIECES]], %[[SUM_PIECES]]) :
// CHECK-NEXT:    %[[BATCHES_4:.*]] = memref.dim %[[Q_MAPPED]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q_MAPPED]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @folded_readout grid(%[[BATCHES_4]], %[[C3]], %[[QUERY_BLOCKS]])
// CHECK-SAME:        (%[[O]], %[[Q_MAPPED]], %[[STATE]], %[[STATE_SUM]]) :
// CHECK-NEXT:    return

// Fold: a thread block for each head and 64 model columns.
// CHECK-LABEL: tile.kernel @folded__prepare_wq_folded_fold(
// CHECK-SAME:    %[[WQ:[a-z0-9]+]]: memref<80x72xf32, strided<[?, 1]>>
// CHECK-SAME:    %[[OMEGA:[a-z0-9]+]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ_FOLDED:[a-z0-9]+]]: memref<3x80x16xf32>
// CHECK-SAME:    grid(head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_64x16:.*]] = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[MODEL_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_MODEL:.*]] = arith.muli %[[MODEL_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C24]] : index
// CHECK-NEXT:    %[[WQ_TILE:.*]] = tile.load %[[WQ]][%[[FIRST_MODEL]], %[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[OMEGA_TILE:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<16x24xf32>
//   P [64, 16] = W_Q [64, 24 of the head] ωᵀ
// CHECK-NEXT:    %[[P_TILE:.*]] = tile.dot %[[WQ_TILE]], %[[OMEGA_TILE]], %[[ZERO_64x16]] {transpose_b}
// CHECK-SAME:        : tensor<64x24xf32>, tensor<16x24xf32> -> tensor<64x16xf32>
// CHECK-NEXT:    tile.store %[[P_TILE]], %[[WQ_FOLDED]][%[[HEAD]], %[[FIRST_MODEL]], %[[C0]]] : tensor<64x16xf32>, memref
// CHECK-NEXT:    tile.return

// Fold of the bias: a thread block for each head.
// CHECK-LABEL: tile.kernel @folded__prepare_wq_folded_fold_bias(
// CHECK-SAME:    %[[BQ:[a-z0-9]+]]: memref<72xf32>
// CHECK-SAME:    %[[OMEGA:[a-z0-9]+]]: memref<1x16x24xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[BQ_FOLDED:[a-z0-9]+]]: memref<48xf32>
// CHECK-SAME:    grid(head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32,
// CHECK-SAME:    warps = 1, stages = 1>}
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK:         %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C24]] : index
// CHECK-NEXT:    %[[BIAS:.*]] = tile.load %[[BQ]][%[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<24xf32>
// CHECK-NEXT:    %[[OMEGA_TILE:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<16x24xf32>
// CHECK-NEXT:    %[[BIAS_ROWS:.*]] = tile.expand %[[BIAS]] axis 0 : tensor<24xf32> -> tensor<16x24xf32>
//   c [16] = ω b_Q
// CHECK-NEXT:    %[[TERMS:.*]] = arith.mulf %[[OMEGA_TILE]], %[[BIAS_ROWS]] : tensor<16x24xf32>
// CHECK-NEXT:    %[[SHIFT:.*]] = tile.reduce add %[[TERMS]] axis 1 : tensor<16x24xf32> -> tensor<16xf32>
// CHECK-NEXT:    %[[FIRST_FEATURE:.*]] = arith.muli %[[HEAD]], %[[C16]] : index
// CHECK-NEXT:    tile.store %[[SHIFT]], %[[BQ_FOLDED]][%[[FIRST_FEATURE]]] : tensor<16xf32>, memref
// CHECK-NEXT:    tile.return

// The projection reads P and c in the place of the weight and the bias.
// CHECK-LABEL: tile.kernel @folded_2_project(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ_FOLDED:[a-z0-9]+]]: memref<3x80x16xf32>
// CHECK-SAME:    %[[BQ_FOLDED:[a-z0-9]+]]: memref<48xf32>
// CHECK-SAME:    %[[Q_MAPPED:[a-z0-9]+]]: memref<?x3x?x16xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C80:.*]] = arith.constant 80 : index
// CHECK-DAG:     %[[ZERO_64x16:.*]] = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[TOKEN_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_TOKEN:.*]] = arith.muli %[[TOKEN_BLOCK]], %[[C64]] : index
//   ω q [64, 16] = x P + c, 64 model columns at a time
// CHECK-NEXT:    %[[PROJECTED:.*]] = tile.loop #tile.sum %[[MODEL:[^ ]+]] = %[[C0]] to %[[C80]] step 64
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_64x16]]) : (tensor<64x16xf32>) {
// CHECK-NEXT:      %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[FIRST_TOKEN]], %[[MODEL]]] : memref{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:      %[[WQ_FOLDED_TILE:.*]] = tile.load %[[WQ_FOLDED]][%[[HEAD]], %[[MODEL]], %[[C0]]] : memref{{.*}} -> tensor<64x16xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[X_TILE]], %[[WQ_FOLDED_TILE]], %[[PARTIAL]]
// CHECK-SAME:          : tensor<64x64xf32>, tensor<64x16xf32> -> tensor<64x16xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<64x16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[FIRST_FEATURE:.*]] = arith.muli %[[HEAD]], %[[C16]] : index
// CHECK-NEXT:    %[[C:.*]] = tile.load %[[BQ_FOLDED]][%[[FIRST_FEATURE]]] : memref{{.*}} -> tensor<16xf32>
// CHECK-NEXT:    %[[C_ROWS:.*]] = tile.expand %[[C]] axis 0 : tensor<16xf32> -> tensor<64x16xf32>
// CHECK-NEXT:    %[[SHIFTED:.*]] = arith.addf %[[PROJECTED]], %[[C_ROWS]] : tensor<64x16xf32>
// CHECK-NEXT:    tile.store %[[SHIFTED]], %[[Q_MAPPED]][%[[BATCH]], %[[HEAD]], %[[FIRST_TOKEN]], %[[C0]]] : tensor<64x16xf32>, memref
// CHECK-NEXT:    tile.return
