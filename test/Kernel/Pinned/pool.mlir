// Agent attention (attn.agent): 16 agents, means of equal runs of queries, stand between queries and keys.
//
//   a_r = mean of q over run r,   o = softmax(s q aᵀ) softmax(s a Kᵀ) V        s = 0.25, d = 24, dv = 40
//
// Three kernels: the pooling, a thread block for each agent; softmax of the agents over the keys; softmax of the queries over the agents, which is
// pinned in pool-readers.mlir.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x3x?x24xf32>
!v = tensor<?x3x?x40xf32>
func.func @agent(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v {
  %o = attn.agent %q, %k, %v {agents = 16 : i64, scale = 0.25 : f64} : !q, !q, !v -> !v
  return %o : !v
}

// Three launches, and workspaces for the agents and for what they took from the keys.
// CHECK-LABEL: func.func @agent(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[AGENTS:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x3x16x24xf32>
// CHECK-NEXT:    %[[MIXED:.*]] = tile.workspace(%[[BATCHES]]) : memref<?x3x16x40xf32>
// CHECK-NEXT:    tile.launch @agent_pool grid(%[[BATCHES]], %[[C3]], %[[C16]]) (%[[Q]], %[[AGENTS]]) :
// CHECK-NEXT:    %[[BATCHES_2:.*]] = memref.dim %[[AGENTS]], %[[C0]] : memref
// CHECK-NEXT:    tile.launch @agent_softmax grid(%[[BATCHES_2]], %[[C3]], %[[C1]]) (%[[K]], %[[V]], %[[AGENTS]], %[[MIXED]]) :
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @agent_2_softmax grid(%[[BATCHES]], %[[C3]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[O]], %[[AGENTS]], %[[MIXED]]) :
// CHECK-NEXT:    return

// Pooling: a thread block for each sequence, head and agent.
// CHECK-LABEL: tile.kernel @agent_pool(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[AGENTS:[a-z0-9]+]]: memref<?x3x16x24xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT:    %[[AGENT:.*]] = tile.program_id query_block
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[WHOLE:.*]] = arith.divui %[[QUERIES]], %[[C16]] : index
// CHECK-NEXT:    %[[FIRST_QUERY:.*]] = arith.muli %[[AGENT]], %[[WHOLE]] : index
// CHECK-NEXT:    %[[QUERY_END:.*]] = arith.addi %[[FIRST_QUERY]], %[[WHOLE]] : index
//   Mean of the run's queries [1, 24]; 0 of none
// CHECK-NEXT:    %[[TOTAL:.*]] = tile.loop #tile.sum %[[QUERY:[^ ]+]] = %[[FIRST_QUERY]] to %[[QUERY_END]] step 64
// CHECK-SAME:        carries(%[[Q_SUM:[^ ]+]] = %[[ZERO_24]]) : (tensor<24xf32>) {
// CHECK-NEXT:      %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[C0]]]
// CHECK-SAME:          rows(%[[QUERY_END]]) : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:      %[[Q_TILE_SUM:.*]] = tile.reduce add %[[Q_TILE]] axis 0 : tensor<64x24xf32> -> tensor<24xf32>
// CHECK-NEXT:      %[[NEXT_Q_SUM:.*]] = arith.addf %[[Q_SUM]], %[[Q_TILE_SUM]] : tensor<24xf32>
// CHECK-NEXT:      tile.yield %[[NEXT_Q_SUM]] : tensor<24xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[COUNT:.*]] = arith.maxsi %[[WHOLE]], %[[C1]] : index
// CHECK-NEXT:    %[[DIVISOR:.*]] = tile.iota %[[COUNT]] : tensor<1xf32>
// CHECK-NEXT:    %[[TOTAL_ROW:.*]] = tile.expand %[[TOTAL]] axis 0 : tensor<24xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[DIVISOR_COLS:.*]] = tile.expand %[[DIVISOR]] axis 1 : tensor<1xf32> -> tensor<1x24xf32>
// CHECK-NEXT:    %[[MEAN:.*]] = arith.divf %[[TOTAL_ROW]], %[[DIVISOR_COLS]] : tensor<1x24xf32>
// CHECK-NEXT:    tile.store %[[MEAN]], %[[AGENTS]][%[[BATCH]], %[[HEAD]], %[[AGENT]], %[[C0]]] : tensor<1x24xf32>, memref
// CHECK-NEXT:    tile.return

// Softmax of the agents over the keys: mixed [16, 40] = softmax(s a Kᵀ) V.
// CHECK-LABEL: tile.kernel @agent_softmax(
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x3x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x3x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[AGENTS:[a-z0-9]+]]: memref<?x3x16x24xf32>
// CHECK-SAME:    %[[MIXED:[a-z0-9]+]]: memref<?x3x16x40xf32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 64, key_tile = 64, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1>}
// CHECK-DAG:     %[[FLOAT_MAX_64:.*]] = arith.constant dense<3.40282347E+38> : tensor<64xf32>
// CHECK-DAG:     %[[ONE_64:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[ZERO_64x64:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-DAG:     %[[ZERO_64x40:.*]] = arith.constant dense<0.000000e+00> : tensor<64x40xf32>
// CHECK-DAG:     %[[ZERO_64:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK-DAG:     %[[NEG_INF_64:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32>
// CHECK-DAG:     %[[SCALE_64x24:.*]] = arith.constant #tile.exact<0.36067376022224085> : tensor<64x24xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
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
//   The queries are the agents: one tile of 64 rows, of which 16 exist; rows past the end are 0.
// CHECK-NEXT:    %[[Q_TILE:.*]] = tile.load %[[AGENTS]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:.*]] = arith.mulf %[[Q_TILE]], %[[SCALE_64x24]] : tensor<64x24xf32>
//   Online softmax over the key tiles that need no mask: row maximum, row sum, accumulator.
// CHECK-NEXT:    %[[UNMASKED:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[C0]] to %[[FULL_END]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[NEG_INF_64]], %[[SUM:[^ ]+]] = %[[ZERO_64]], %[[ACC:[^ ]+]] = %[[ZERO_64x40]])
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
//     Running maximum of each row [64]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[SCORES]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<64xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [64]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[NEW_MAX]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<64xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x40xf32>
//     Weights [64, 64] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[NEW_MAX]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[SCORES]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//     Running sum [64]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]] : memref{{.*}} -> tensor<64x40xf32>
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   The same over the last key tiles, with the mask.
// CHECK-NEXT:    %[[ALL:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[FIRST_KEY:[^ ]+]] = %[[FULL_END]] to %[[KEYS]] step 64
// CHECK-SAME:        carries(%[[MAX:[^ ]+]] = %[[UNMASKED]]#0, %[[SUM:[^ ]+]] = %[[UNMASKED]]#1, %[[ACC:[^ ]+]] = %[[UNMASKED]]#2)
// CHECK-SAME:        : (tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x24xf32>
//     Scores [64, 64] = q [64, 24] kᵀ
// CHECK-NEXT:      %[[SCORES:.*]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_64x64]] {transpose_b}
// CHECK-SAME:          : tensor<64x24xf32>, tensor<64x24xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST_KEY]] : index
//     Scores of keys that do not exist become −∞.
// CHECK-NEXT:      %[[MASKED:.*]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<64x64xf32>
//     Running maximum of each row [64]
// CHECK-NEXT:      %[[TILE_MAX:.*]] = tile.reduce max %[[MASKED]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_MAX:.*]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<64xf32>
//     A row that has seen no key yet has the maximum −∞; 0 is subtracted instead, since −∞ − −∞ is NaN.
// CHECK-NEXT:      %[[UNSEEN:.*]] = arith.cmpf oeq, %[[NEW_MAX]], %[[NEG_INF_64]] : tensor<64xf32>
// CHECK-NEXT:      %[[SHIFT:.*]] = arith.select %[[UNSEEN]], %[[ZERO_64]], %[[NEW_MAX]] : tensor<64xi1>, tensor<64xf32>
//     What the sum and the accumulator so far are multiplied by: exp2(max − new max) [64]
// CHECK-NEXT:      %[[MAX_CHANGE:.*]] = arith.subf %[[MAX]], %[[SHIFT]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE:.*]] = math.exp2 %[[MAX_CHANGE]] : tensor<64xf32>
// CHECK-NEXT:      %[[OLD_SUM:.*]] = arith.mulf %[[SUM]], %[[RESCALE]] : tensor<64xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:.*]] = tile.expand %[[RESCALE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:.*]] = arith.mulf %[[ACC]], %[[RESCALE_COLS]] : tensor<64x40xf32>
//     Weights [64, 64] = exp2(scores − new max)
// CHECK-NEXT:      %[[SHIFT_COLS:.*]] = tile.expand %[[SHIFT]] axis 1 : tensor<64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      %[[EXPONENTS:.*]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[WEIGHTS:.*]] = math.exp2 %[[EXPONENTS]] : tensor<64x64xf32>
//     Running sum [64]
// CHECK-NEXT:      %[[TILE_SUM:.*]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-NEXT:      %[[NEW_SUM:.*]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<64xf32>
// CHECK-NEXT:      %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST_KEY]], %[[C0]]]
// CHECK-SAME:          rows(%[[KEYS]]) : memref{{.*}} -> tensor<64x40xf32>
//     Accumulator [64, 40] = exp2(max − new max) · accumulator + weights [64, 64] v
// CHECK-NEXT:      %[[NEW_ACC:.*]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<64xf32>, tensor<64xf32>, tensor<64x40xf32>
// CHECK-NEXT:    }
//   Output = accumulator / sum, or 0 where the sum is 0; an inverse beyond the largest float is cut off.
// CHECK-NEXT:    %[[RECIPROCAL:.*]] = arith.divf %[[ONE_64]], %[[ALL]]#1 : tensor<64xf32>
// CHECK-NEXT:    %[[BOUNDED:.*]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO_64]] : tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.select %[[EMPTY]], %[[ZERO_64]], %[[BOUNDED]] : tensor<64xi1>, tensor<64xf32>
// CHECK-NEXT:    %[[INVERSE_COLS:.*]] = tile.expand %[[INVERSE]] axis 1 : tensor<64xf32> -> tensor<64x40xf32>
// CHECK-NEXT:    %[[OUTPUT:.*]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<64x40xf32>
// CHECK-NEXT:    tile.store %[[OUTPUT]], %[[MIXED]][%[[BATCH]], %[[HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<64x40xf32>, memref
// CHECK-NEXT:    tile.return
