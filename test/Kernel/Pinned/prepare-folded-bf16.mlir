// A projection folded with the matrix of a random feature map, storage bf16: P_h = W_Q,h ωᵀ, c_h = ω b_Q,h, ω q = x P_h + c_h.
//
// As prepare-folded.mlir, but what is folded is f32: P and c give exponents of features, or what is added up. The product widens x instead of
// rounding P.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!t = tensor<?x3x?x24xbf16>
!v = tensor<?x3x?x40xbf16>
!f = tensor<?x3x?x16xf32>
!s = tensor<?x3x16x40xf32>
!w = tensor<1x16x24xbf16>
#map = #attn.feature_map<favor_relu, features = 16, epsilon = 0.0>
func.func @folded(%x: tensor<?x?x80xbf16> {attn.name = "x"}, %wq: tensor<80x72xbf16> {attn.name = "wq", attn.parameter},
                  %bq: tensor<72xbf16> {attn.name = "bq", attn.parameter}, %w: !w {attn.name = "omega", attn.parameter},
                  %k: !t {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v {
  %q = attn.project %x, %wq bias(%bq : tensor<72xbf16>) {execution = #attn.execution<form = folded>} : tensor<?x?x80xbf16>, tensor<80x72xbf16> -> !t
  %a = attn.map %q parameter(%w : !w) {feature_map = #map} : !t -> !f
  %b = attn.map %k parameter(%w : !w) {feature_map = #map, keys} : !t -> !f
  %s, %z = attn.state %b, %v : !f, !v -> !s, tensor<?x3x16xf32>
  %num, %den = attn.readout %a, %s, %z : !f, !s, tensor<?x3x16xf32> -> tensor<?x3x?x40xf32>, tensor<?x3x?xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : tensor<?x3x?x40xf32>, tensor<?x3x?xf32> -> !v
  return %o : !v
}

// Fold: a thread block for each head and 64 model columns.
// CHECK-LABEL: tile.kernel @folded__prepare_wq_folded_fold(
// CHECK-SAME:    %[[WQ:[a-z0-9]+]]: memref<80x72xbf16, strided<[?, 1]>>
// CHECK-SAME:    %[[OMEGA:[a-z0-9]+]]: memref<1x16x24xbf16, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ_FOLDED:[a-z0-9]+]]: memref<3x80x16xf32>
// CHECK-SAME:    grid(head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = bf16, warps = 1, stages = 1>}
// CHECK-DAG:     %[[ZERO_64x16:.*]] = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[MODEL_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_MODEL:.*]] = arith.muli %[[MODEL_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C24]] : index
// CHECK-NEXT:    %[[WQ_TILE:.*]] = tile.load %[[WQ]][%[[FIRST_MODEL]], %[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<64x24xbf16>
// CHECK-NEXT:    %[[WQ_WIDE:.*]] = arith.extf %[[WQ_TILE]] : tensor<64x24xbf16> to tensor<64x24xf32>
// CHECK-NEXT:    %[[OMEGA_TILE:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<16x24xbf16>
// CHECK-NEXT:    %[[OMEGA_WIDE:.*]] = arith.extf %[[OMEGA_TILE]] : tensor<16x24xbf16> to tensor<16x24xf32>
//   P [64, 16] = W_Q [64, 24 of the head] ωᵀ
// CHECK-NEXT:    %[[P_TILE:.*]] = tile.dot %[[WQ_WIDE]], %[[OMEGA_WIDE]], %[[ZERO_64x16]] precision tf32 {transpose_b}
// CHECK-SAME:        : tensor<64x24xf32>, tensor<16x24xf32> -> tensor<64x16xf32>
// CHECK-NEXT:    tile.store %[[P_TILE]], %[[WQ_FOLDED]][%[[HEAD]], %[[FIRST_MODEL]], %[[C0]]] : tensor<64x16xf32>, memref
// CHECK-NEXT:    tile.return

// Fold of the bias: a thread block for each head.
// CHECK-LABEL: tile.kernel @folded__prepare_wq_folded_fold_bias(
// CHECK-SAME:    %[[BQ:[a-z0-9]+]]: memref<72xbf16>
// CHECK-SAME:    %[[OMEGA:[a-z0-9]+]]: memref<1x16x24xbf16, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[BQ_FOLDED:[a-z0-9]+]]: memref<48xf32>
// CHECK-SAME:    grid(head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048, operand = bf16,
// CHECK-SAME:    warps = 1, stages = 1>}
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK:         %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.muli %[[HEAD]], %[[C24]] : index
// CHECK-NEXT:    %[[BIAS:.*]] = tile.load %[[BQ]][%[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<24xbf16>
// CHECK-NEXT:    %[[BIAS_WIDE:.*]] = arith.extf %[[BIAS]] : tensor<24xbf16> to tensor<24xf32>
// CHECK-NEXT:    %[[OMEGA_TILE:.*]] = tile.load %[[OMEGA]][%[[C0]], %[[C0]], %[[C0]]] : memref{{.*}} -> tensor<16x24xbf16>
// CHECK-NEXT:    %[[OMEGA_WIDE:.*]] = arith.extf %[[OMEGA_TILE]] : tensor<16x24xbf16> to tensor<16x24xf32>
// CHECK-NEXT:    %[[BIAS_ROWS:.*]] = tile.expand %[[BIAS_WIDE]] axis 0 : tensor<24xf32> -> tensor<16x24xf32>
//   c [16] = ω b_Q
// CHECK-NEXT:    %[[TERMS:.*]] = arith.mulf %[[OMEGA_WIDE]], %[[BIAS_ROWS]] : tensor<16x24xf32>
// CHECK-NEXT:    %[[SHIFT:.*]] = tile.reduce add %[[TERMS]] axis 1 : tensor<16x24xf32> -> tensor<16xf32>
// CHECK-NEXT:    %[[FIRST_FEATURE:.*]] = arith.muli %[[HEAD]], %[[C16]] : index
// CHECK-NEXT:    tile.store %[[SHIFT]], %[[BQ_FOLDED]][%[[FIRST_FEATURE]]] : tensor<16xf32>, memref
// CHECK-NEXT:    tile.return

// The projection reads P and c in the place of the weight and the bias.
// CHECK-LABEL: tile.kernel @folded_2_project(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x80xbf16, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[WQ_FOLDED:[a-z0-9]+]]: memref<3x80x16xf32>
// CHECK-SAME:    %[[BQ_FOLDED:[a-z0-9]+]]: memref<48xf32>
// CHECK-SAME:    %[[Q_MAPPED:[a-z0-9]+]]: memref<?x3x?x16xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = bf16, warps = 1, stages = 1>}
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
// CHECK-NEXT:      %[[X_TILE:.*]] = tile.load %[[X]][%[[BATCH]], %[[FIRST_TOKEN]], %[[MODEL]]] : memref{{.*}} -> tensor<64x64xbf16>
// CHECK-NEXT:      %[[WQ_FOLDED_TILE:.*]] = tile.load %[[WQ_FOLDED]][%[[HEAD]], %[[MODEL]], %[[C0]]] : memref{{.*}} -> tensor<64x16xf32>
// CHECK-NEXT:      %[[X_F32:.*]] = arith.extf %[[X_TILE]] : tensor<64x64xbf16> to tensor<64x64xf32>
//     The operands of this product become exponents of features, so they keep f32.
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[X_F32]], %[[WQ_FOLDED_TILE]], %[[PARTIAL]] precision f32
// CHECK-SAME:          : tensor<64x64xf32>, tensor<64x16xf32> -> tensor<64x16xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<64x16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[FIRST_FEATURE:.*]] = arith.muli %[[HEAD]], %[[C16]] : index
// CHECK-NEXT:    %[[C:.*]] = tile.load %[[BQ_FOLDED]][%[[FIRST_FEATURE]]] : memref{{.*}} -> tensor<16xf32>
// CHECK-NEXT:    %[[C_ROWS:.*]] = tile.expand %[[C]] axis 0 : tensor<16xf32> -> tensor<64x16xf32>
// CHECK-NEXT:    %[[SHIFTED:.*]] = arith.addf %[[PROJECTED]], %[[C_ROWS]] : tensor<64x16xf32>
// CHECK-NEXT:    tile.store %[[SHIFTED]], %[[Q_MAPPED]][%[[BATCH]], %[[HEAD]], %[[FIRST_TOKEN]], %[[C0]]] : tensor<64x16xf32>, memref
// CHECK-NEXT:    tile.return
