// Exact softmax whose keys are split (`split`, tile-split-reduction): one query that sees many keys.
//
//   o = Σ_j exp(s ⟨q, k_j⟩) v_j / Σ_j exp(s ⟨q, k_j⟩)        s = 0.25, d = 24, dv = 40, 6 query heads share 2 key-value heads
//
// The kernel is that of softmax.mlir with tiles of one query and 32 keys. 16 programs have a piece of the keys each, a share of the steps
// of both loops, and store its span: the maximum [1], the sum [1] and the accumulator [1, 40], in units of log 2. The last one to arrive
// applies all spans, in their order, to what the loops began with, and writes output and lse.
//
// RUN: attn-opt %s -attn-to-tile -tile-split-reduction -canonicalize -cse | FileCheck %s

func.func @one_query(%q: tensor<?x6x1x24xf32>, %k: tensor<?x2x?x24xf32>, %v: tensor<?x2x?x40xf32>) -> (tensor<?x6x1x40xf32>, tensor<?x6x1xf32>) attributes {tile.schedule = #tile.schedule<target = cpu, query_tile = 1, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1, parts = 16>} {
  %o, %lse = attn.softmax %q, %k, %v {execution = #attn.execution<split = true>, scale = 0.25 : f64} : tensor<?x6x1x24xf32>, tensor<?x2x?x24xf32>, tensor<?x2x?x40xf32> -> tensor<?x6x1x40xf32>, lse tensor<?x6x1xf32>
  return %o, %lse : tensor<?x6x1x40xf32>, tensor<?x6x1xf32>
}

// One launch, of 16 times as many points along the third axis; the workspaces of spans and counters have the kernel's own grid first, its
// constant size, 6 heads, in their types.
// CHECK-LABEL: func.func @one_query(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x6x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x6x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[LSE:[a-z0-9]+]]: memref<?x6x?xf32, strided<[?, ?, 1]>>
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[UNITS:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x6x?x16x1xf32>
// CHECK-NEXT:    %[[SUMS:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x6x?x16x1xf32>
// CHECK-NEXT:    %[[ACCS:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x6x?x16x1x40xf32>
// CHECK-NEXT:    %[[COUNTERS:.*]] = tile.workspace(%[[BATCHES]], %[[QUERIES]]) : memref<?x6x?x2xi32>
// CHECK-NEXT:    %[[POINTS:.*]] = arith.muli %[[QUERIES]], %[[C16]] : index
// CHECK-NEXT:    tile.launch @one_query_softmax grid(%[[BATCHES]], %[[C6]], %[[POINTS]])
// CHECK-SAME:        (%[[Q]], %[[K]], %[[V]], %[[O]], %[[LSE]], %[[UNITS]], %[[SUMS]], %[[ACCS]], %[[COUNTERS]]) :
// CHECK-NEXT:    return

// CHECK-LABEL: tile.kernel @one_query_softmax(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x6x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x6x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[LSE:[a-z0-9]+]]: memref<?x6x?xf32, strided<[?, ?, 1]>>
// CHECK-SAME:    %[[UNITS:[a-z0-9]+]]: memref<?x6x?x16x1xf32>
// CHECK-SAME:    %[[SUMS:[a-z0-9]+]]: memref<?x6x?x16x1xf32>
// CHECK-SAME:    %[[ACCS:[a-z0-9]+]]: memref<?x6x?x16x1x40xf32>
// CHECK-SAME:    %[[COUNTERS:[a-z0-9]+]]: memref<?x6x?x2xi32>
// CHECK-SAME:    grid(batch, head, query_block) attributes {schedule = #tile.schedule<target = cpu, query_tile = 1, key_tile = 32, piece = 2048,
// CHECK-SAME:    operand = f32, warps = 1, stages = 1, parts = 16>}
// CHECK-DAG:     %[[FLOAT_MAX:[^ :]+]] = arith.constant dense<3.40282347E+38> : tensor<1xf32>
// CHECK-DAG:     %[[ONE:[^ :]+]] = arith.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[LN2:[^ :]+]] = arith.constant #tile.exact<0.69314718055994529> : tensor<1xf32>
// CHECK-DAG:     %[[ZERO_1x32:[^ :]+]] = arith.constant dense<0.000000e+00> : tensor<1x32xf32>
// CHECK-DAG:     %[[LEAST_UNIT:[^ :]+]] = arith.constant #tile.exact<-1.000000e+30> : tensor<1xf32>
// CHECK-DAG:     %[[ZERO_1x40:[^ :]+]] = arith.constant dense<0.000000e+00> : tensor<1x40xf32>
// CHECK-DAG:     %[[ZERO:[^ :]+]] = arith.constant dense<0.000000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[NEG_INF:[^ :]+]] = arith.constant dense<0xFF800000> : tensor<1xf32>
// CHECK-DAG:     %[[SCALE:[^ :]+]] = arith.constant #tile.exact<0.36067376022224085> : tensor<1x24xf32>
// CHECK-DAG:     %[[C32:[^ :]+]] = arith.constant 32 : index
// CHECK-DAG:     %[[C0:[^ :]+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C2:[^ :]+]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:[^ :]+]] = arith.constant 3 : index
// CHECK-DAG:     %[[C16:[^ :]+]] = arith.constant 16 : index
// CHECK:         %[[BATCH:[^ :]+]] = tile.program_id batch
// CHECK-NEXT:    %[[HEAD:[^ :]+]] = tile.program_id head
// CHECK-NEXT:    %[[NUMBER:[^ :]+]] = tile.program_id query_block
//   A number along the third axis is that of one of 16 pieces and of a query: piece · queries + query.
// CHECK-NEXT:    %[[QUERIES:[^ :]+]] = memref.dim %[[UNITS]], %[[C2]] : memref{{.*}}
// CHECK-NEXT:    %[[PIECE:[^ :]+]] = arith.divui %[[NUMBER]], %[[QUERIES]] : index
// CHECK-NEXT:    %[[BEFORE:[^ :]+]] = arith.muli %[[PIECE]], %[[QUERIES]] : index
// CHECK-NEXT:    %[[QUERY:[^ :]+]] = arith.subi %[[NUMBER]], %[[BEFORE]] : index
// CHECK-NEXT:    %[[KEYS:[^ :]+]] = memref.dim %[[K]], %[[C2]] : memref{{.*}}
// CHECK-NEXT:    %[[KEYS_0:[^ :]+]] = arith.maxsi %[[KEYS]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_TILES:[^ :]+]] = arith.divui %[[KEYS_0]], %[[C32]] : index
// CHECK-NEXT:    %[[FULL:[^ :]+]] = arith.muli %[[FULL_TILES]], %[[C32]] : index
// CHECK-NEXT:    %[[Q_TILE:[^ :]+]] = tile.load %[[Q]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[C0]]] : memref{{.*}} -> tensor<1x24xf32>
// CHECK-NEXT:    %[[Q_SCALED:[^ :]+]] = arith.mulf %[[Q_TILE]], %[[SCALE]] : tensor<1x24xf32>
// CHECK-NEXT:    %[[KV_HEAD:[^ :]+]] = arith.divui %[[HEAD]], %[[C3]] : index
//   Steps of both segments, numbered through: those of whole tiles, then one of the rest, if any.
// CHECK-NEXT:    %[[FULL_0:[^ :]+]] = arith.maxsi %[[FULL]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_STEPS:[^ :]+]] = arith.ceildivui %[[FULL_0]], %[[C32]] : index
// CHECK-NEXT:    %[[LEFT:[^ :]+]] = arith.subi %[[KEYS]], %[[FULL]] : index
// CHECK-NEXT:    %[[LEFT_0:[^ :]+]] = arith.maxsi %[[LEFT]], %[[C0]] : index
// CHECK-NEXT:    %[[REST_STEPS:[^ :]+]] = arith.ceildivui %[[LEFT_0]], %[[C32]] : index
// CHECK-NEXT:    %[[STEPS:[^ :]+]] = arith.addi %[[FULL_STEPS]], %[[REST_STEPS]] : index
//   Steps FIRST ≤ i < END of this piece.
// CHECK-NEXT:    %[[LENGTH:[^ :]+]] = arith.ceildivui %[[STEPS]], %[[C16]] : index
// CHECK-NEXT:    %[[FIRST:[^ :]+]] = arith.muli %[[PIECE]], %[[LENGTH]] : index
// CHECK-NEXT:    %[[END:[^ :]+]] = arith.addi %[[FIRST]], %[[LENGTH]] : index
//   What of them lies in the first segment.
// CHECK-NEXT:    %[[FIRST_0:[^ :]+]] = arith.maxsi %[[FIRST]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_FIRST:[^ :]+]] = arith.minsi %[[FIRST_0]], %[[FULL_STEPS]] : index
// CHECK-NEXT:    %[[END_0:[^ :]+]] = arith.maxsi %[[END]], %[[C0]] : index
// CHECK-NEXT:    %[[FULL_END:[^ :]+]] = arith.minsi %[[END_0]], %[[FULL_STEPS]] : index
// CHECK-NEXT:    %[[FULL_LOWER:[^ :]+]] = arith.muli %[[FULL_FIRST]], %[[C32]] : index
// CHECK-NEXT:    %[[FULL_UPPER_0:[^ :]+]] = arith.muli %[[FULL_END]], %[[C32]] : index
// CHECK-NEXT:    %[[FULL_UPPER:[^ :]+]] = arith.minsi %[[FULL_UPPER_0]], %[[FULL]] : index
//   The span of those steps: from the unit −10³⁰ and sums of 0.
// CHECK-NEXT:    %[[A:[^ :]+]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[KEY:[^ :]+]] = %[[FULL_LOWER]] to %[[FULL_UPPER]] step 32 carries(%[[MAX:[^ :]+]] = %[[LEAST_UNIT]], %[[SUM_F:[^ :]+]] = %[[ZERO]], %[[ACC_F:[^ :]+]] = %[[ZERO_1x40]]) : (tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:[^ :]+]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[KEY]], %[[C0]]] : memref{{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:      %[[SCORES:[^ :]+]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_1x32]] {transpose_b} : tensor<1x24xf32>, tensor<32x24xf32> -> tensor<1x32xf32>
// CHECK-NEXT:      %[[TILE_MAX:[^ :]+]] = tile.reduce max %[[SCORES]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:      %[[NEW_MAX:[^ :]+]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<1xf32>
// CHECK-NEXT:      %[[CHANGE:[^ :]+]] = arith.subf %[[MAX]], %[[NEW_MAX]] : tensor<1xf32>
// CHECK-NEXT:      %[[RESCALE:[^ :]+]] = math.exp2 %[[CHANGE]] : tensor<1xf32>
// CHECK-NEXT:      %[[OLD_SUM:[^ :]+]] = arith.mulf %[[SUM_F]], %[[RESCALE]] : tensor<1xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:[^ :]+]] = tile.expand %[[RESCALE]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:[^ :]+]] = arith.mulf %[[ACC_F]], %[[RESCALE_COLS]] : tensor<1x40xf32>
// CHECK-NEXT:      %[[MAX_COLS:[^ :]+]] = tile.expand %[[NEW_MAX]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:      %[[EXPONENTS:[^ :]+]] = arith.subf %[[SCORES]], %[[MAX_COLS]] : tensor<1x32xf32>
// CHECK-NEXT:      %[[WEIGHTS:[^ :]+]] = math.exp2 %[[EXPONENTS]] : tensor<1x32xf32>
// CHECK-NEXT:      %[[TILE_SUM:[^ :]+]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:      %[[NEW_SUM:[^ :]+]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<1xf32>
// CHECK-NEXT:      %[[V_TILE:[^ :]+]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[KEY]], %[[C0]]] : memref{{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:[^ :]+]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<1x32xf32>, tensor<32x40xf32> -> tensor<1x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>
// CHECK-NEXT:    }
//   What of them lies in the second segment, which numbers its steps from 0.
// CHECK-NEXT:    %[[REST_FIRST_0:[^ :]+]] = arith.subi %[[FIRST]], %[[FULL_STEPS]] : index
// CHECK-NEXT:    %[[REST_END_0:[^ :]+]] = arith.subi %[[END]], %[[FULL_STEPS]] : index
// CHECK-NEXT:    %[[REST_FIRST_1:[^ :]+]] = arith.maxsi %[[REST_FIRST_0]], %[[C0]] : index
// CHECK-NEXT:    %[[REST_FIRST:[^ :]+]] = arith.minsi %[[REST_FIRST_1]], %[[REST_STEPS]] : index
// CHECK-NEXT:    %[[REST_END_1:[^ :]+]] = arith.maxsi %[[REST_END_0]], %[[C0]] : index
// CHECK-NEXT:    %[[REST_END:[^ :]+]] = arith.minsi %[[REST_END_1]], %[[REST_STEPS]] : index
// CHECK-NEXT:    %[[REST_OFFSET:[^ :]+]] = arith.muli %[[REST_FIRST]], %[[C32]] : index
// CHECK-NEXT:    %[[REST_LOWER:[^ :]+]] = arith.addi %[[FULL]], %[[REST_OFFSET]] : index
// CHECK-NEXT:    %[[REST_LENGTH:[^ :]+]] = arith.muli %[[REST_END]], %[[C32]] : index
// CHECK-NEXT:    %[[REST_UPPER_0:[^ :]+]] = arith.addi %[[FULL]], %[[REST_LENGTH]] : index
// CHECK-NEXT:    %[[REST_UPPER:[^ :]+]] = arith.minsi %[[REST_UPPER_0]], %[[KEYS]] : index
//   The span of those.
// CHECK-NEXT:    %[[B:[^ :]+]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[KEY:[^ :]+]] = %[[REST_LOWER]] to %[[REST_UPPER]] step 32 carries(%[[MAX:[^ :]+]] = %[[LEAST_UNIT]], %[[SUM_R:[^ :]+]] = %[[ZERO]], %[[ACC_R:[^ :]+]] = %[[ZERO_1x40]]) : (tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>) {
// CHECK-NEXT:      %[[K_TILE:[^ :]+]] = tile.load %[[K]][%[[BATCH]], %[[KV_HEAD]], %[[KEY]], %[[C0]]] rows(%[[KEYS]]) : memref{{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:      %[[SCORES:[^ :]+]] = tile.dot %[[Q_SCALED]], %[[K_TILE]], %[[ZERO_1x32]] {transpose_b} : tensor<1x24xf32>, tensor<32x24xf32> -> tensor<1x32xf32>
// CHECK-NEXT:      %[[KEYS_LEFT:[^ :]+]] = arith.subi %[[KEYS]], %[[KEY]] : index
// CHECK-NEXT:      %[[MASKED:[^ :]+]] = tile.mask %[[SCORES]] fill 0xFF800000 cols(%[[KEYS_LEFT]]) : tensor<1x32xf32>
// CHECK-NEXT:      %[[TILE_MAX:[^ :]+]] = tile.reduce max %[[MASKED]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:      %[[NEW_MAX:[^ :]+]] = arith.maximumf %[[MAX]], %[[TILE_MAX]] : tensor<1xf32>
// CHECK-NEXT:      %[[UNSEEN:[^ :]+]] = arith.cmpf oeq, %[[NEW_MAX]], %[[NEG_INF]] : tensor<1xf32>
// CHECK-NEXT:      %[[SHIFT_R:[^ :]+]] = arith.select %[[UNSEEN]], %[[ZERO]], %[[NEW_MAX]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT:      %[[CHANGE:[^ :]+]] = arith.subf %[[MAX]], %[[SHIFT_R]] : tensor<1xf32>
// CHECK-NEXT:      %[[RESCALE:[^ :]+]] = math.exp2 %[[CHANGE]] : tensor<1xf32>
// CHECK-NEXT:      %[[OLD_SUM:[^ :]+]] = arith.mulf %[[SUM_R]], %[[RESCALE]] : tensor<1xf32>
// CHECK-NEXT:      %[[RESCALE_COLS:[^ :]+]] = tile.expand %[[RESCALE]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:      %[[OLD_ACC:[^ :]+]] = arith.mulf %[[ACC_R]], %[[RESCALE_COLS]] : tensor<1x40xf32>
// CHECK-NEXT:      %[[SHIFT_COLS:[^ :]+]] = tile.expand %[[SHIFT_R]] axis 1 : tensor<1xf32> -> tensor<1x32xf32>
// CHECK-NEXT:      %[[EXPONENTS:[^ :]+]] = arith.subf %[[MASKED]], %[[SHIFT_COLS]] : tensor<1x32xf32>
// CHECK-NEXT:      %[[WEIGHTS:[^ :]+]] = math.exp2 %[[EXPONENTS]] : tensor<1x32xf32>
// CHECK-NEXT:      %[[TILE_SUM:[^ :]+]] = tile.reduce add %[[WEIGHTS]] axis 1 : tensor<1x32xf32> -> tensor<1xf32>
// CHECK-NEXT:      %[[NEW_SUM:[^ :]+]] = arith.addf %[[OLD_SUM]], %[[TILE_SUM]] : tensor<1xf32>
// CHECK-NEXT:      %[[V_TILE:[^ :]+]] = tile.load %[[V]][%[[BATCH]], %[[KV_HEAD]], %[[KEY]], %[[C0]]] rows(%[[KEYS]]) : memref{{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:      %[[NEW_ACC:[^ :]+]] = tile.dot %[[WEIGHTS]], %[[V_TILE]], %[[OLD_ACC]] : tensor<1x32xf32>, tensor<32x40xf32> -> tensor<1x40xf32>
// CHECK-NEXT:      tile.yield %[[NEW_MAX]], %[[NEW_SUM]], %[[NEW_ACC]] : tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>
// CHECK-NEXT:    }
//   Both composed: sums in the larger unit.
// CHECK-NEXT:    %[[UNIT:[^ :]+]] = arith.maximumf %[[A]]#0, %[[B]]#0 : tensor<1xf32>
// CHECK-NEXT:    %[[NONE:[^ :]+]] = arith.cmpf oeq, %[[UNIT]], %[[NEG_INF]] : tensor<1xf32>
// CHECK-NEXT:    %[[SHIFT:[^ :]+]] = arith.select %[[NONE]], %[[ZERO]], %[[UNIT]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT:    %[[A_BELOW:[^ :]+]] = arith.subf %[[A]]#0, %[[SHIFT]] : tensor<1xf32>
// CHECK-NEXT:    %[[A_FACTOR:[^ :]+]] = math.exp2 %[[A_BELOW]] : tensor<1xf32>
// CHECK-NEXT:    %[[B_BELOW:[^ :]+]] = arith.subf %[[B]]#0, %[[SHIFT]] : tensor<1xf32>
// CHECK-NEXT:    %[[B_FACTOR:[^ :]+]] = math.exp2 %[[B_BELOW]] : tensor<1xf32>
// CHECK-NEXT:    %[[A_SUM:[^ :]+]] = arith.mulf %[[A]]#1, %[[A_FACTOR]] : tensor<1xf32>
// CHECK-NEXT:    %[[B_SUM:[^ :]+]] = arith.mulf %[[B]]#1, %[[B_FACTOR]] : tensor<1xf32>
// CHECK-NEXT:    %[[SUM:[^ :]+]] = arith.addf %[[A_SUM]], %[[B_SUM]] : tensor<1xf32>
// CHECK-NEXT:    %[[A_FACTORS:[^ :]+]] = tile.expand %[[A_FACTOR]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:    %[[A_ACC:[^ :]+]] = arith.mulf %[[A]]#2, %[[A_FACTORS]] : tensor<1x40xf32>
// CHECK-NEXT:    %[[B_FACTORS:[^ :]+]] = tile.expand %[[B_FACTOR]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:    %[[B_ACC:[^ :]+]] = arith.mulf %[[B]]#2, %[[B_FACTORS]] : tensor<1x40xf32>
// CHECK-NEXT:    %[[ACC:[^ :]+]] = arith.addf %[[A_ACC]], %[[B_ACC]] : tensor<1x40xf32>
//   The span of the piece, stored; the last of the 16 goes on.
// CHECK-NEXT:    tile.store %[[UNIT]], %[[UNITS]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[PIECE]], %[[C0]]] : tensor<1xf32>, memref<?x6x?x16x1xf32>
// CHECK-NEXT:    tile.store %[[SUM]], %[[SUMS]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[PIECE]], %[[C0]]] : tensor<1xf32>, memref<?x6x?x16x1xf32>
// CHECK-NEXT:    tile.store %[[ACC]], %[[ACCS]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[PIECE]], %[[C0]], %[[C0]]] : tensor<1x40xf32>, memref<?x6x?x16x1x40xf32>
// CHECK-NEXT:    %[[LAST:[^ :]+]] = tile.arrive %[[COUNTERS]][%[[BATCH]], %[[HEAD]], %[[QUERY]]] of %[[C16]] : memref<?x6x?x2xi32>
// CHECK-NEXT:    tile.loop #tile.sum %[[ONCE:[^ :]+]] = %[[C0]] to %[[LAST]] step 1 {
//   In the order of the pieces, each acts on the state, which begins at −∞, 0, 0.
// CHECK-NEXT:      %[[ALL:[^ :]+]]:3 = tile.loop #tile.rescaled_sum<exp2, row> %[[P:[^ :]+]] = %[[C0]] to %[[C16]] step 1 carries(%[[U_STATE:[^ :]+]] = %[[NEG_INF]], %[[L_STATE:[^ :]+]] = %[[ZERO]], %[[ACC_STATE:[^ :]+]] = %[[ZERO_1x40]]) : (tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>) {
// CHECK-NEXT:        %[[U_SPAN:[^ :]+]] = tile.load %[[UNITS]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[P]], %[[C0]]] : memref<?x6x?x16x1xf32> -> tensor<1xf32>
// CHECK-NEXT:        %[[L_SPAN:[^ :]+]] = tile.load %[[SUMS]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[P]], %[[C0]]] : memref<?x6x?x16x1xf32> -> tensor<1xf32>
// CHECK-NEXT:        %[[ACC_SPAN:[^ :]+]] = tile.load %[[ACCS]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[P]], %[[C0]], %[[C0]]] : memref<?x6x?x16x1x40xf32> -> tensor<1x40xf32>
// CHECK-NEXT:        %[[U:[^ :]+]] = arith.maximumf %[[U_STATE]], %[[U_SPAN]] : tensor<1xf32>
// CHECK-NEXT:        %[[U_NONE:[^ :]+]] = arith.cmpf oeq, %[[U]], %[[NEG_INF]] : tensor<1xf32>
// CHECK-NEXT:        %[[U_SHIFT:[^ :]+]] = arith.select %[[U_NONE]], %[[ZERO]], %[[U]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT:        %[[U_BELOW:[^ :]+]] = arith.subf %[[U_STATE]], %[[U_SHIFT]] : tensor<1xf32>
// CHECK-NEXT:        %[[OLD_FACTOR:[^ :]+]] = math.exp2 %[[U_BELOW]] : tensor<1xf32>
// CHECK-NEXT:        %[[SPAN_BELOW:[^ :]+]] = arith.subf %[[U_SPAN]], %[[U_SHIFT]] : tensor<1xf32>
// CHECK-NEXT:        %[[NEW_FACTOR:[^ :]+]] = math.exp2 %[[SPAN_BELOW]] : tensor<1xf32>
// CHECK-NEXT:        %[[L_OLD:[^ :]+]] = arith.mulf %[[L_STATE]], %[[OLD_FACTOR]] : tensor<1xf32>
// CHECK-NEXT:        %[[L_NEW:[^ :]+]] = arith.mulf %[[L_SPAN]], %[[NEW_FACTOR]] : tensor<1xf32>
// CHECK-NEXT:        %[[L:[^ :]+]] = arith.addf %[[L_OLD]], %[[L_NEW]] : tensor<1xf32>
// CHECK-NEXT:        %[[OLD_FACTORS:[^ :]+]] = tile.expand %[[OLD_FACTOR]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:        %[[ACC_OLD:[^ :]+]] = arith.mulf %[[ACC_STATE]], %[[OLD_FACTORS]] : tensor<1x40xf32>
// CHECK-NEXT:        %[[NEW_FACTORS:[^ :]+]] = tile.expand %[[NEW_FACTOR]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:        %[[ACC_NEW:[^ :]+]] = arith.mulf %[[ACC_SPAN]], %[[NEW_FACTORS]] : tensor<1x40xf32>
// CHECK-NEXT:        %[[ACC_U:[^ :]+]] = arith.addf %[[ACC_OLD]], %[[ACC_NEW]] : tensor<1x40xf32>
// CHECK-NEXT:        tile.yield %[[U]], %[[L]], %[[ACC_U]] : tensor<1xf32>, tensor<1xf32>, tensor<1x40xf32>
// CHECK-NEXT:      }
//   lse = (unit + log2 sum) · ln 2, or −∞ of nothing.
// CHECK-NEXT:      %[[LOG_SUM:[^ :]+]] = math.log2 %[[ALL]]#1 : tensor<1xf32>
// CHECK-NEXT:      %[[LOG2_SUM:[^ :]+]] = arith.addf %[[ALL]]#0, %[[LOG_SUM]] : tensor<1xf32>
// CHECK-NEXT:      %[[LSE_ROWS:[^ :]+]] = arith.mulf %[[LOG2_SUM]], %[[LN2]] : tensor<1xf32>
// CHECK-NEXT:      %[[EMPTY:[^ :]+]] = arith.cmpf oeq, %[[ALL]]#1, %[[ZERO]] : tensor<1xf32>
// CHECK-NEXT:      %[[LSE_OUT:[^ :]+]] = arith.select %[[EMPTY]], %[[NEG_INF]], %[[LSE_ROWS]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT:      tile.store %[[LSE_OUT]], %[[LSE]][%[[BATCH]], %[[HEAD]], %[[QUERY]]] : tensor<1xf32>, memref{{.*}}
//   Output = accumulator / sum, or 0 where the sum is 0.
// CHECK-NEXT:      %[[RECIPROCAL:[^ :]+]] = arith.divf %[[ONE]], %[[ALL]]#1 : tensor<1xf32>
// CHECK-NEXT:      %[[BOUNDED:[^ :]+]] = arith.minimumf %[[RECIPROCAL]], %[[FLOAT_MAX]] : tensor<1xf32>
// CHECK-NEXT:      %[[INVERSE:[^ :]+]] = arith.select %[[EMPTY]], %[[ZERO]], %[[BOUNDED]] : tensor<1xi1>, tensor<1xf32>
// CHECK-NEXT:      %[[INVERSE_COLS:[^ :]+]] = tile.expand %[[INVERSE]] axis 1 : tensor<1xf32> -> tensor<1x40xf32>
// CHECK-NEXT:      %[[OUTPUT:[^ :]+]] = arith.mulf %[[ALL]]#2, %[[INVERSE_COLS]] : tensor<1x40xf32>
// CHECK-NEXT:      tile.store %[[OUTPUT]], %[[O]][%[[BATCH]], %[[HEAD]], %[[QUERY]], %[[C0]]] : tensor<1x40xf32>, memref{{.*}}
// CHECK-NEXT:      tile.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    tile.return
