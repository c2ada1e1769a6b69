// Output projection on a GPU, storage f16, of heads that are sums nobody divided: y = Σ_h o_h W_O,h        4 heads, dv = 40, model width 72
//
// Such sums (here of naive FLuRKA) may be beyond the range of f16, so the operands are widened to f32, and the product takes them as TF32.
//
// RUN: attn-opt %s -attn-to-tile=target=gpu -canonicalize -cse | FileCheck %s

!q = tensor<?x4x?x24xf16>
!k = tensor<?x2x?x24xf16>
!v = tensor<?x2x?x40xf16>
!o = tensor<?x4x?x40xf16>
!y = tensor<?x?x72xf16>
!e = tensor<1x16x?xf16>
!f = tensor<2x16x?xf16>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
func.func @flurka(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}, %e: !e {attn.name = "e"}, %f: !f {attn.name = "f"},
                  %lengths: tensor<?xi32> {attn.name = "lengths"}, %wo: tensor<160x72xf16> {attn.name = "wo"}) -> !y {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : !q -> tensor<?x4x?x24xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>, keys} : !k -> tensor<?x2x?x24xf32>
  %sb = attn.compress %b, %e lengths(%lengths : tensor<?xi32>) : tensor<?x2x?x24xf32>, !e -> tensor<?x2x16x24xf32>
  %sv = attn.compress %v, %f lengths(%lengths : tensor<?xi32>) : !v, !f -> tensor<?x2x16x40xf32>
  %s, %z = attn.state %sb, %sv : tensor<?x2x16x24xf32>, tensor<?x2x16x40xf32> -> !s, !z
  %num, %den = attn.readout %a, %s, %z : tensor<?x4x?x24xf32>, !s, !z -> tensor<?x4x?x40xf32>, tensor<?x4x?xf32>
  %o = attn.normalize %num {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : tensor<?x4x?x40xf32> -> !o
  %y = attn.project_output %o, %wo : !o, tensor<160x72xf16> -> !y
  return %y : !y
}

// A thread block for each sequence, 64 tokens and 64 columns of y.
// CHECK-LABEL: tile.kernel @flurka_4_project_output(
// CHECK-SAME:    %[[WO:[a-z0-9]+]]: memref<160x72xf16, strided<[?, 1]>>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: memref<?x?x72xf16, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[O_HEADS:[a-z0-9]+]]: memref<?x4x?x40xf32>
// CHECK-SAME:    grid(batch, query_block, value_block) attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64,
// CHECK-SAME:    piece = 2048, operand = f16, warps = 4, stages = 2>}
// CHECK-DAG:     %[[C40:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[TOKEN_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_TOKEN:.*]] = arith.muli %[[TOKEN_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[COLUMN_BLOCK:.*]] = tile.program_id value_block
// CHECK-NEXT:    %[[FIRST_COLUMN:.*]] = arith.muli %[[COLUMN_BLOCK]], %[[C64]] : index
//   y [64, 64] = Σ over heads of o [64, 40] W_O [40, 64]
// CHECK-NEXT:    %[[HEADS_MERGED:.*]] = tile.loop #tile.sum %[[SOURCE_HEAD:[^ ]+]] = %[[C0]] to %[[C4]] step 1
// CHECK-SAME:        carries(%[[PARTIAL:[^ ]+]] = %[[ZERO_64x64]]) : (tensor<64x64xf32>) {
// CHECK-NEXT:      %[[O_TILE:.*]] = tile.load %[[O_HEADS]][%[[BATCH]], %[[SOURCE_HEAD]], %[[FIRST_TOKEN]], %[[C0]]]
// CHECK-SAME:          : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[FIRST_ROW:.*]] = arith.muli %[[SOURCE_HEAD]], %[[C40]] : index
// CHECK-NEXT:      %[[WO_TILE:.*]] = tile.load %[[WO]][%[[FIRST_ROW]], %[[FIRST_COLUMN]]] : memref{{.*}} -> tensor<40x64xf16>
// CHECK-NEXT:      %[[WO_F32:.*]] = arith.extf %[[WO_TILE]] : tensor<40x64xf16> to tensor<40x64xf32>
// CHECK-NEXT:      %[[NEXT_PARTIAL:.*]] = tile.dot %[[O_TILE]], %[[WO_F32]], %[[PARTIAL]] precision tf32
// CHECK-SAME:          : tensor<64x40xf32>, tensor<40x64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_PARTIAL]] : tensor<64x64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[HEADS_MERGED_F16:.*]] = arith.truncf %[[HEADS_MERGED]] : tensor<64x64xf32> to tensor<64x64xf16>
// CHECK-NEXT:    tile.store %[[HEADS_MERGED_F16]], %[[Y]][%[[BATCH]], %[[FIRST_TOKEN]], %[[FIRST_COLUMN]]] : tensor<64x64xf16>, memref
// CHECK-NEXT:    tile.return
