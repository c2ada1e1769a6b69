// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

// Kernel attention with the map of cosFormer, not causal, in one kernel: φ(x_i) = [relu(x) sin(π i / 2M), relu(x) cos(π i / 2M)] with the
// position i from 1 and M = 4096. Features of 48 columns are two blocks of 24, each with its state; everything else is as in
// kernel-attention-fused-state.mlir. Angles are counted in turns: i / 4M = i / 16384.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<cosformer, max_position = 4096>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!a = tensor<?x4x?x48xf32>
!b = tensor<?x2x?x48xf32>
!s = tensor<?x2x48x40xf32>
!z = tensor<?x2x48xf32>
!num = tensor<?x4x?x40xf32>
!den = tensor<?x4x?xf32>
func.func @cosformer(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !o
    attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !a
  %b = attn.map %k {feature_map = #map} : !k -> !b
  %s, %z = attn.state %b, %v : !b, !v -> !s, !z
  %num, %den = attn.readout %a, %s, %z {execution = #attn.execution<values = fused>} : !a, !s, !z -> !num, !den
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : !num, !den -> !o
  return %o : !o
}

// CHECK-LABEL: func.func @cosformer(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "q"
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "k"
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "v"
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>> {{{.*}}attune.name = "o"
// CHECK-SAME:  attributes {attune.size_rules = [{kind = "at_most", symbol = "queries", value = 4096 : i64}]}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] :
// CHECK-NEXT: tile.launch @cosformer_fused_state grid(%[[BATCHES]], %[[C2]]) (%[[Q]], %[[K]], %[[V]], %[[O]])
// CHECK-NEXT: return

// CHECK-LABEL: tile.kernel @cosformer_fused_state(
// CHECK-SAME:  %[[Q:[^:]*]]: memref<?x4x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[K:[^:]*]]: memref<?x2x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[V:[^:]*]]: memref<?x2x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  %[[O:[^:]*]]: memref<?x4x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:  grid(batch, head) attributes {schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048,
// CHECK-SAME:      operand = f32, warps = 1, stages = 1>}
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ZERO_24x40:.*]] = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
// CHECK-DAG: %[[ZERO_24:.*]] = arith.constant dense<0.000000e+00> : tensor<24xf32>
// CHECK-DAG: %[[ZERO_32x24:.*]] = arith.constant dense<0.000000e+00> : tensor<32x24xf32>
// CHECK-DAG: %[[ZERO_32x40:.*]] = arith.constant dense<0.000000e+00> : tensor<32x40xf32>
// CHECK-DAG: %[[LARGEST_32:.*]] = arith.constant dense<3.40282347E+38> : tensor<32xf32>
// CHECK-DAG: %[[ONE_32:.*]] = arith.constant dense<1.000000e+00> : tensor<32xf32>
// CHECK-DAG: %[[TURN_32:.*]] = arith.constant dense<6.10351563E-5> : tensor<32xf32>
// CHECK-DAG: %[[ZERO_32:.*]] = arith.constant dense<0.000000e+00> : tensor<32xf32>
// CHECK-NEXT: %[[BATCH:.*]] = tile.program_id batch
// CHECK-NEXT: %[[HEAD:.*]] = tile.program_id head
// CHECK-NEXT: %[[KEYS:.*]] = memref.dim %[[K]], %[[C2]] :
// CHECK-NEXT: %[[STATE:.*]]:4 = tile.loop #tile.sum %[[FIRST:.*]] = %[[C0]] to %[[KEYS]] step 32 carries(
// CHECK-SAME:     %[[S_SIN:.*]] = %[[ZERO_24x40]], %[[Z_SIN:.*]] = %[[ZERO_24]], %[[S_COS:.*]] = %[[ZERO_24x40]], %[[Z_COS:.*]] = %[[ZERO_24]]) :
// CHECK-SAME:     (tensor<24x40xf32>, tensor<24xf32>, tensor<24x40xf32>, tensor<24xf32>) {
// φ(k) in two blocks [32, 24]
// CHECK-NEXT:   %[[K_TILE:.*]] = tile.load %[[K]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:   %[[INDEX:.*]] = tile.iota %[[FIRST]] : tensor<32xf32>
// CHECK-NEXT:   %[[POSITION:.*]] = arith.addf %[[INDEX]], %[[ONE_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[TURNS:.*]] = arith.mulf %[[POSITION]], %[[TURN_32]] : tensor<32xf32>
// CHECK-NEXT:   %[[RELU:.*]] = arith.maximumf %[[K_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[SINE:.*]] = tile.sine %[[TURNS]] : tensor<32xf32>
// CHECK-NEXT:   %[[SINE_COLS:.*]] = tile.expand %[[SINE]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[SIN_ALL:.*]] = arith.mulf %[[RELU]], %[[SINE_COLS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[COSINE:.*]] = tile.cosine %[[TURNS]] : tensor<32xf32>
// CHECK-NEXT:   %[[COSINE_COLS:.*]] = tile.expand %[[COSINE]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:   %[[COS_ALL:.*]] = arith.mulf %[[RELU]], %[[COSINE_COLS]] : tensor<32x24xf32>
// CHECK-NEXT:   %[[KEYS_LEFT:.*]] = arith.subi %[[KEYS]], %[[FIRST]] : index
// CHECK-NEXT:   %[[SIN_K:.*]] = tile.mask %[[SIN_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// CHECK-NEXT:   %[[COS_K:.*]] = tile.mask %[[COS_ALL]] fill 0.000000e+00 rows(%[[KEYS_LEFT]]) : tensor<32x24xf32>
// CHECK-NEXT:   %[[V_TILE:.*]] = tile.load %[[V]][%[[BATCH]], %[[HEAD]], %[[FIRST]], %[[C0]]] rows(%[[KEYS]]) : {{.*}} -> tensor<32x40xf32>
// CHECK-NEXT:   %[[S_SIN_NEXT:.*]] = tile.dot %[[SIN_K]], %[[V_TILE]], %[[S_SIN]] {transpose_a} : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT:   %[[Z_SIN_SUM:.*]] = tile.reduce add %[[SIN_K]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_SIN_NEXT:.*]] = arith.addf %[[Z_SIN]], %[[Z_SIN_SUM]] : tensor<24xf32>
// CHECK-NEXT:   %[[S_COS_NEXT:.*]] = tile.dot %[[COS_K]], %[[V_TILE]], %[[S_COS]] {transpose_a} : {{.*}} -> tensor<24x40xf32>
// CHECK-NEXT:   %[[Z_COS_SUM:.*]] = tile.reduce add %[[COS_K]] axis 0 : tensor<32x24xf32> -> tensor<24xf32>
// CHECK-NEXT:   %[[Z_COS_NEXT:.*]] = arith.addf %[[Z_COS]], %[[Z_COS_SUM]] : tensor<24xf32>
// CHECK-NEXT:   tile.yield %[[S_SIN_NEXT]], %[[Z_SIN_NEXT]], %[[S_COS_NEXT]], %[[Z_COS_NEXT]] :
// CHECK-SAME:       tensor<24x40xf32>, tensor<24xf32>, tensor<24x40xf32>, tensor<24xf32>
// CHECK-NEXT: }
// Query heads 2h and 2h + 1, tile after tile.
// CHECK-NEXT: tile.loop #tile.sum %[[MEMBER:.*]] = %[[C0]] to %[[C2]] step 1 {
// CHECK-NEXT:   %[[GROUP:.*]] = arith.muli %[[HEAD]], %[[C2]] : index
// CHECK-NEXT:   %[[Q_HEAD:.*]] = arith.addi %[[GROUP]], %[[MEMBER]] : index
// CHECK-NEXT:   %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] :
// CHECK-NEXT:   tile.loop #tile.sum %[[FIRST_QUERY:.*]] = %[[C0]] to %[[QUERIES]] step 32 {
// φ(q) in two blocks
// CHECK-NEXT:     %[[Q_TILE:.*]] = tile.load %[[Q]][%[[BATCH]], %[[Q_HEAD]], %[[FIRST_QUERY]], %[[C0]]] : {{.*}} -> tensor<32x24xf32>
// CHECK-NEXT:     %[[INDEX:.*]] = tile.iota %[[FIRST_QUERY]] : tensor<32xf32>
// CHECK-NEXT:     %[[POSITION:.*]] = arith.addf %[[INDEX]], %[[ONE_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[TURNS:.*]] = arith.mulf %[[POSITION]], %[[TURN_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[RELU:.*]] = arith.maximumf %[[Q_TILE]], %[[ZERO_32x24]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[SINE:.*]] = tile.sine %[[TURNS]] : tensor<32xf32>
// CHECK-NEXT:     %[[SINE_COLS:.*]] = tile.expand %[[SINE]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:     %[[SIN_Q:.*]] = arith.mulf %[[RELU]], %[[SINE_COLS]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[COSINE:.*]] = tile.cosine %[[TURNS]] : tensor<32xf32>
// CHECK-NEXT:     %[[COSINE_COLS:.*]] = tile.expand %[[COSINE]] axis 1 : tensor<32xf32> -> tensor<32x24xf32>
// CHECK-NEXT:     %[[COS_Q:.*]] = arith.mulf %[[RELU]], %[[COSINE_COLS]] : tensor<32x24xf32>
// num [32, 40] and den [32] over both blocks
// CHECK-NEXT:     %[[NUM_SIN:.*]] = tile.dot %[[SIN_Q]], %[[STATE]]#0, %[[ZERO_32x40]] : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[Z_SIN_ROWS:.*]] = tile.expand %[[STATE]]#1 axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:     %[[SIN_Z:.*]] = arith.mulf %[[SIN_Q]], %[[Z_SIN_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[DEN_SIN:.*]] = tile.reduce add %[[SIN_Z]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[NUM:.*]] = tile.dot %[[COS_Q]], %[[STATE]]#2, %[[NUM_SIN]] : tensor<32x24xf32>, tensor<24x40xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[Z_COS_ROWS:.*]] = tile.expand %[[STATE]]#3 axis 0 : tensor<24xf32> -> tensor<32x24xf32>
// CHECK-NEXT:     %[[COS_Z:.*]] = arith.mulf %[[COS_Q]], %[[Z_COS_ROWS]] : tensor<32x24xf32>
// CHECK-NEXT:     %[[DEN_COS:.*]] = tile.reduce add %[[COS_Z]] axis 1 : tensor<32x24xf32> -> tensor<32xf32>
// CHECK-NEXT:     %[[DEN:.*]] = arith.addf %[[DEN_SIN]], %[[DEN_COS]] : tensor<32xf32>
// CHECK-NEXT:     %[[INVERSE:.*]] = arith.divf %[[ONE_32]], %[[DEN]] : tensor<32xf32>
// CHECK-NEXT:     %[[BOUNDED:.*]] = arith.minimumf %[[INVERSE]], %[[LARGEST_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[IS_NULL:.*]] = arith.cmpf oeq, %[[DEN]], %[[ZERO_32]] : tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR:.*]] = arith.select %[[IS_NULL]], %[[ZERO_32]], %[[BOUNDED]] : tensor<32xi1>, tensor<32xf32>
// CHECK-NEXT:     %[[FACTOR_COLS:.*]] = tile.expand %[[FACTOR]] axis 1 : tensor<32xf32> -> tensor<32x40xf32>
// CHECK-NEXT:     %[[OUT:.*]] = arith.mulf %[[NUM]], %[[FACTOR_COLS]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.store %[[OUT]], %[[O]][%[[BATCH]], %[[Q_HEAD]], %[[FIRST_QUERY]], %[[C0]]] : tensor<32x40xf32>
// CHECK-NEXT:     tile.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
