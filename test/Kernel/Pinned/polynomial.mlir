// Polynomial attention (attn.polynomial) with all pair weights in tiles.
//
//   o_i = Σ_j t_ij⁴ v_j / Σ_j t_ij⁴,   t_ij = s ⟨q_i, k_j⟩        s = 0.5, d = 24, dv = 40, 6 query heads share 2 key-value heads
//
// One thread block computes 64 queries of one head. Sums are kept divided by unit⁴, the unit of a row being the largest |t| so far: a carry that is
// rescaled like an online softmax, although the loops are tagged `sum`. Whole key tiles first, then the rest, with a mask.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!k = tensor<?x2x?x24xf32>
!o = tensor<?x6x?x40xf32>
func.func @poly(%q: tensor<?x6x?x24xf32>, %k: !k, %v: tensor<?x2x?x40xf32>) -> !o {
  %o = attn.polynomial %q, %k, %v {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 0.5 : f64}
      : tensor<?x6x?x24xf32>, !k, tensor<?x2x?x40xf32> -> !o
  return %o : !o
}

// One launch: a thread block for each sequence, head and 64 queries.
// CHECK-LABEL: func.func @poly(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x6x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x6x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @poly_polynomial grid(%[[BATCHES]], %[[C6]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[K]], %[[V]], %[[O]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @poly_polynomial(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x6x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x6x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[LEAST_64:.*]] = arith.constant dense<1.17549435E-38> : tensor<64xf32>
// CHECK-DAG:     %[[HALF_64x24:.*]] = arith.constant dense<5.000000e-01> : tensor<64x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[QUERY_BLOCK:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[QUERY_BLOCK]], %[[C64]] : index
// CHECK-NEXT:    %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] : memref
//   Keys 0 to FULL_END: the whole tiles.
// CHECK-NEXT:    %[[SEEN_FLOOR:.*]] = arith.maxsi %[[KEYS]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_TILES:.*]] = arith.divui %[[SEEN_FLOOR]], %[[C64]] : index
// CHECK-NEXT:    %[[FULL_END:.*]] = arith.muli %[[FULL_TILES]], %[[C64]] : index
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[HALF_64x24]] : tensor<64x24xf32>
// CHECK-NEXT:    %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %[[C3]] : index
//   Key tiles without a mask; carried are the unit, the sum in that unit, and the accumulator in that unit.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<power 4, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[FULL_END]] step 64
// CHECK-SAME:        carries(%[[UNIT:[^ ]+]] = %[[LEAST_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
//     Logits t [64, 64] = 0.5 q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
//     Unit of each row [64]: the largest |t| so far. Powers are those of t / unit, so that none overflows.
// CHECK-NEXT:      %[[MAGNITUDES:.*]] = math.absf %[[SCORES]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MAGNITUDES]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_UNIT:.*]] = arith.maximumf %[[UNIT]], %[[TILE_MAX]] : tensor<64xf32>
// CHECK-NEXT:      %[[DIVISOR:.*]] = arith.maximumf %[[NEW_UNIT]], %[[LEAST_64]] : tensor<64xf32>
// CHECK-NEXT:      %[[INVERSE_UNIT:.*]] = arith.divf %[[ONE_64]], %[[DIVISOR]] : tensor<64xf32>
//     What the sum and the accumulator so far are multiplied by: (unit / new unit)^p, exactly 1 where the unit stays
// CHECK-NEXT:      %[[RATIO:.*]] = arith.mulf %[[UNIT]], %[[INVERSE_UNIT]] : tensor<64xf32>
// CHECK-NEXT:      %[[RATIO_2:.*]] = arith.mulf %[[RATIO]], %[[RATIO]] : tensor<64xf32>
// CHECK-NEXT:      %[[RATIO_4:.*]] = arith.mulf %[[RATIO_2]], %[[RATIO_2]] : tensor<64xf32>
// CHECK-NEXT:      %[[SAME_UNIT:.*]] = arith.cmpf oeq, %[[UNIT]], %[[NEW_UNIT]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = arith.select %[[SAME_UNIT]], %[[ONE_64]], %[[RATIO_4]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:      %[[INVERSE_UNIT_COLS:.*]] = tile.expand %[[INVERSE_UNIT]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
//     Weights [64, 64] = (t / new unit)^p
// CHECK-NEXT:      %[[BASE:.*]] = arith.mulf %[[SCORES]], %[[INVERSE_UNIT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[BASE_2:.*]] = arith.mulf %[[BASE]], %[[BASE]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[BASE_4:.*]] = arith.mulf %[[BASE_2]], %[[BASE_2]] : tensor<64x64xf32>
//     Running sum [64] and accumulator [64, 40], in the new unit
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[BASE_4]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[BASE_4]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_UNIT]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<power 4, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[KEYS]] step 64
// CHECK-SAME:        carries(%[[UNIT:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x24xf32>
//     Logits t [64, 64] = 0.5 q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST_KEY]] : index
//     Logits of keys that do not exist or come after the query become 0.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0.000000e+00 cols(%[[KEYS_LEFT]]) : tensor<64x64xf32>
//     Unit of each row [64]: the largest |t| so far. Powers are those of t / unit, so that none overflows.
// CHECK-NEXT:      %[[MAGNITUDES:.*]] = math.absf %[[MASKED]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MAGNITUDES]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_UNIT:.*]] = arith.maximumf %[[UNIT]], %[[TILE_MAX]] : tensor<64xf32>
// CHECK-NEXT:      %[[DIVISOR:.*]] = arith.maximumf %[[NEW_UNIT]], %[[LEAST_64]] : tensor<64xf32>
// CHECK-NEXT:      %[[INVERSE_UNIT:.*]] = arith.divf %[[ONE_64]], %[[DIVISOR]] : tensor<64xf32>
//     What the sum and the accumulator so far are multiplied by: (unit / new unit)^p, exactly 1 where the unit stays
// CHECK-NEXT:      %[[RATIO:.*]] = arith.mulf %[[UNIT]], %[[INVERSE_UNIT]] : tensor<64xf32>
// CHECK-NEXT:      %[[RATIO_2:.*]] = arith.mulf %[[RATIO]], %[[RATIO]] : tensor<64xf32>
// CHECK-NEXT:      %[[RATIO_4:.*]] = arith.mulf %[[RATIO_2]], %[[RATIO_2]] : tensor<64xf32>
// CHECK-NEXT:      %[[SAME_UNIT:.*]] = arith.cmpf oeq, %[[UNIT]], %[[NEW_UNIT]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = arith.select %[[SAME_UNIT]], %[[ONE_64]], %[[RATIO_4]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:      %[[INVERSE_UNIT_COLS:.*]] = tile.expand %[[INVERSE_UNIT]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
//     Weights [64, 64] = (t / new unit)^p
// CHECK-NEXT:      %[[BASE:.*]] = arith.mulf %[[MASKED]], %[[INVERSE_UNIT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[BASE_2:.*]] = arith.mulf %[[BASE]], %[[BASE]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[BASE_4:.*]] = arith.mulf %[[BASE_2]], %[[BASE_2]] : tensor<64x64xf32>
//     Running sum [64] and accumulator [64, 40], in the new unit
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[BASE_4]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[BASE_4]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_UNIT]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_64]], %[[ALL]]#1 : tensor<64xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_64]], %[[BOUNDED]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x40xf32>, memref
// CHECK-NEXT:    tile.return
