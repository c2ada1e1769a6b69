// RUN: attn-opt %s -attn-differentiate | attn-opt -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TILES --input-file=%t.mlir
// RUN: attn-opt %s -attn-differentiate | attn-opt -attn-to-tile="print-regions target=gpu" -o %t.gpu.mlir 2>&1 | FileCheck %s --check-prefix=GPU

// Exact attention: the forward pass leaves the logarithms of its sums, and a kernel of tokens the products of rows, once for all tiles of keys. A part of the keys makes all three gradients, blocks of keys with all
// queries that see them, from the diagonal on; heads that share a key are added up in one program, and parts of queries' gradients where they are read.
// CHECK-LABEL: region @f_backward_2_softmax
// CHECK:         output %{{.*}} to workspace0[batch, head, query : rows]
// CHECK-LABEL: region @f_backward_row_products grid(batch, head, query tile 64)
// CHECK:         %[[PRODUCTS:.*]] = row_products(
// CHECK:         %[[ROWS:.*]] = scale(%[[PRODUCTS]]) {factor = -1.0
// CHECK:         output %[[ROWS]] to [[DELTA:workspace[0-9]]][batch, head, query : rows]
// CHECK-LABEL: region @f_backward_3_key_gradients grid(batch, shared_head, part)
// CHECK:         = stage head of shared_head step 1
// CHECK:           output %{{.*}} to [[SUMS:workspace[0-9]]][part, batch, head, query : rows, 0 : 16]
// CHECK:         = stage key causal(query) of part step 64
// CHECK:           = stage head of shared_head step 1
// CHECK:             %[[KEY:.*]] = load k[batch, head / 2, key : rows, 0 : 16]
// CHECK:             %[[SCALED:.*]] = scale(%[[KEY]])
// CHECK:             = stage query that see key causal step 64 segments(entering: begin to entered masked, seen: entered to seen masked)
// CHECK:               %[[BEFORE:.*]] = load [[SUMS]][part, batch, head, query : rows, 0 : 16]
// CHECK-NOT:           row_products
// CHECK:               %[[QUERY:.*]] = load q[batch, head, query : rows, 0 : 16]
// CHECK:               = logits(%[[QUERY]], %[[SCALED]])
// CHECK:               = softmax_weights
// CHECK:               load workspace{{[0-9]}}[batch, head, query : rows]
// CHECK:               %[[SUM:.*]] = pair_sums(%[[BEFORE]],
// CHECK:               output %[[SUM]] to [[SUMS]][part, batch, head, query : rows, 0 : 16]
// CHECK:               carry transposed_sums(
// CHECK:             carry compose(
// CHECK:           to grad_k[batch, shared_head, key : rows, 0 : 16]
// CHECK:           to grad_v[batch, shared_head, key : rows, 0 : 16]
// CHECK-LABEL: region @f_backward_4_tokens grid(batch, head, query tile 64)
// CHECK:         = stage part step 1
// CHECK:         output %{{.*}} to grad_q[batch, head, query : rows, 0 : 16]

// A GPU has programs of queries, which read all keys that they see, and others of keys.
// GPU-LABEL: region @f_backward_quadratic grid(batch, head, query tile 64)
// GPU:         = row_products(
// GPU:         = stage key causal(query) step 64
// GPU:           = softmax_weights
// GPU:           carry weighted_sums(
// GPU:         output %{{.*}} to grad_q[batch, head, query : rows, 0 : 16]
// GPU-LABEL: region @f_backward_3_key_gradients grid(batch, shared_head, key tile 64)
// GPU:         = stage head of shared_head step 1
// GPU:           = stage query that see key causal step 64 segments(entering: begin to entered masked, seen: entered to seen)
// GPU:             carry transposed_sums(
// GPU:           carry compose(
// GPU:         to grad_k[batch, shared_head, key : rows, 0 : 16]
// GPU:         to grad_v[batch, shared_head, key : rows, 0 : 16]
func.func @f(%q: tensor<1x4x200x16xf32> {attn.name = "q"}, %k: tensor<1x2x200x16xf32> {attn.name = "k"}, %v: tensor<1x2x200x16xf32> {attn.name = "v"})
    -> (tensor<1x4x200x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %o = attn.softmax %q, %k, %v {causal, scale = 0.25 : f64} : tensor<1x4x200x16xf32>, tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32> -> tensor<1x4x200x16xf32>
  return %o : tensor<1x4x200x16xf32>
}

// A causal readout: on a CPU tokens go through states one after another, upwards through that of keys, downwards through that of cotangents, and
// denominators come of sums of the keys' features up to each token. These sums are a scan, too: of a state of one row, which ones read. What reaches
// the denominators comes of the product that gradients of queries are made of, and adds to such a state in the pass downwards. That pass has the state
// and its transpose, which keys and values read.
// CHECK-LABEL: region @g_backward_query_gradients grid(batch, head)
// CHECK:         = stage query step 32 with key
// CHECK:           %[[A:.*]] = elu1(
// CHECK:           %[[ONES:.*]] = ones_of_rows()
// CHECK:           %[[FEATURES:.*]] = elu1(
// CHECK:           %[[B:.*]] = existing(%[[FEATURES]])
// CHECK:           %[[STATE:.*]] = state
// CHECK:           %[[SUM:.*]] = select(%[[STATE]]) {tiles = [1]}
// CHECK:           %[[ROW:.*]] = as_row(%[[SUM]])
// CHECK:           %[[SUM_SCAN:.*]] = scan(%[[ONES]], %[[ONES]], %[[B]], %[[ROW]]){{$}}
// CHECK:           %[[ROWS:.*]] = select(%[[SUM_SCAN]]) {tiles = [0]}
// CHECK:           %[[ROW_NEXT:.*]] = select(%[[SUM_SCAN]]) {tiles = [1]}
// CHECK:           %[[SUM_NEXT:.*]] = of_row(%[[ROW_NEXT]])
// CHECK:           %[[RUNNING:.*]] = blocks(%[[ROWS]], %[[SUM_NEXT]])
// CHECK:           %[[UP_TO:.*]] = select(%[[RUNNING]]) {tiles = [0]}
// CHECK:           %[[DIVISORS:.*]] = row_products(%[[A]], %[[UP_TO]])
// CHECK:           %[[PARTS:.*]] = blocks(%{{.*}}, %[[DIVISORS]])
// CHECK:           %[[U:.*]] = normalize(%[[PARTS]])
// CHECK:           %[[V:.*]] = load v[
// CHECK:           %[[MATRIX:.*]] = select(%[[STATE]]) {tiles = [0]}
// CHECK:           %[[SCAN:.*]] = scan(%[[U]], %[[V]], %[[B]], %[[MATRIX]]){{$}}
// CHECK:           %[[READ:.*]] = select(%[[SCAN]]) {tiles = [0]}
// CHECK:           %[[PRODUCTS:.*]] = row_products(%[[A]], %[[READ]])
// CHECK:           %[[W:.*]] = denominator_gradient(%[[PRODUCTS]], %[[DIVISORS]])
// CHECK:           %[[SUMS:.*]] = plus_weighed(%[[READ]], %[[UP_TO]], %[[W]])
// CHECK:           %[[QUERY:.*]] = elu1_gradient(%{{.*}}, %[[SUMS]])
// CHECK:           output %[[QUERY]] to grad_q
// CHECK:           output %[[DIVISORS]] to workspace{{[0-9]}}[batch, head, query : rows
// CHECK:           output %[[W]] to workspace{{[0-9]}}[batch, head, query : rows
// CHECK:           carry carried_on(
// CHECK-LABEL: region @g_backward_key_gradients grid(batch, head)
// CHECK:         = stage query step 32 reverse with key
// CHECK:           %[[V:.*]] = load v[
// CHECK:           %[[U:.*]] = normalize(
// CHECK:           %[[A:.*]] = elu1(
// CHECK:           %[[STATE:.*]] = state
// CHECK:           %[[TRANSPOSE:.*]] = select(%[[STATE]]) {tiles = [1]}
// CHECK:           %[[ONES:.*]] = ones_of_rows()
// CHECK:           %[[W:.*]] = load workspace{{[0-9]}}[batch, head, query : rows]
// CHECK:           %[[COLUMN:.*]] = as_column(%[[W]])
// CHECK:           %[[SUM:.*]] = select(%[[STATE]]) {tiles = [2]}
// CHECK:           %[[ROW:.*]] = as_row(%[[SUM]])
// CHECK:           %[[SUM_SCAN:.*]] = scan(%[[ONES]], %[[COLUMN]], %[[A]], %[[ROW]]) {reverse}
// CHECK:           %[[ROWS:.*]] = select(%[[SUM_SCAN]]) {tiles = [0]}
// CHECK:           %[[RUNNING:.*]] = blocks(%[[ROWS]], %{{[0-9]+}})
// CHECK:           %[[FROM:.*]] = select(%[[RUNNING]]) {tiles = [0]}
// CHECK:           %[[OF_KEYS:.*]] = scan(%[[V]], %[[U]], %[[A]], %[[TRANSPOSE]], %[[FROM]]) {reverse}
// CHECK:           %[[READ:.*]] = select(%[[OF_KEYS]]) {tiles = [0]}
// CHECK:           %[[KEY:.*]] = elu1_gradient(%{{.*}}, %[[READ]])
// CHECK:           output %[[KEY]] to grad_k
// CHECK:           %[[B:.*]] = existing(
// CHECK:           %[[MATRIX:.*]] = select(%[[STATE]]) {tiles = [0]}
// CHECK:           %[[OF_VALUES:.*]] = scan(%[[B]], %[[A]], %[[U]], %[[MATRIX]]) {reverse}
// CHECK:           %[[VALUE:.*]] = select(%[[OF_VALUES]]) {tiles = [0]}
// CHECK:           output %[[VALUE]] to grad_v
// CHECK:           carry carried_on(

// TILES-LABEL: tile.kernel @g_backward_query_gradients(
// TILES:         tile.loop #tile.sum {{.*}} carries(%[[S:[^ ]*]] = %{{[^,]*}}, %[[Z:[^ ]*]] = %{{[^,]*}}) :
// TILES:           %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<32x1xf32>
// TILES:           %[[B:.*]] = tile.mask %{{.*}} rows(
// TILES:           %[[Z_ROW:.*]] = tile.expand %[[Z]] axis 0
// TILES:           %[[UP_TO:.*]], %[[Z_ROW_NEXT:.*]] = tile.scan %[[ONES]], %[[ONES]], %[[B]], %[[Z_ROW]], %{{[^ ]*}} : tensor<32x1xf32>, tensor<32x16xf32>, tensor<1x16xf32>
// TILES:           %[[Z_NEXT:.*]] = tile.reduce add %[[Z_ROW_NEXT]] axis 0
// TILES:           arith.mulf %{{.*}}, %[[UP_TO]] :
// TILES:           %[[READ:.*]], %[[S_NEXT:.*]] = tile.scan %{{[^ ]*}}, %{{[^ ]*}}, %[[B]], %[[S]], %{{[^ ]*}} : tensor<32x16xf32>, tensor<32x16xf32>, tensor<16x16xf32>
// TILES:           tile.yield %[[S_NEXT]], %[[Z_NEXT]] : tensor<16x16xf32>, tensor<16xf32>
// TILES-LABEL: tile.kernel @g_backward_key_gradients(
// TILES:         tile.loop #tile.sum {{.*}} carries(%[[R:[^ ]*]] = %{{[^,]*}}, %[[TRANSPOSE:[^ ]*]] = %{{[^,]*}}, %[[Z:[^ ]*]] = %{{[^,]*}}) :
// TILES:           %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<32x1xf32>
// TILES:           %[[W:.*]] = tile.expand %{{.*}} axis 1 : tensor<32xf32> -> tensor<32x1xf32>
// TILES:           %[[Z_ROW:.*]] = tile.expand %[[Z]] axis 0
// TILES:           %[[FROM:.*]], %[[Z_ROW_NEXT:.*]] = tile.scan %[[ONES]], %[[W]], %[[A:[^ ]*]], %[[Z_ROW]], %{{[^ ]*}} {reverse} :
// TILES:           %[[Z_NEXT:.*]] = tile.reduce add %[[Z_ROW_NEXT]] axis 0
// TILES:           %[[OF_KEYS:.*]], %[[TRANSPOSE_NEXT:.*]] = tile.scan %{{[^ ]*}}, %[[U:[^ ]*]], %[[A]], %[[TRANSPOSE]], %[[FROM]] {reverse} :
// TILES:           %[[OF_VALUES:.*]], %[[R_NEXT:.*]] = tile.scan %{{[^ ]*}}, %[[A]], %[[U]], %[[R]], %{{[^ ]*}} {reverse} :
// TILES:           tile.store %[[OF_VALUES]],
// TILES:           tile.yield %[[R_NEXT]], %[[TRANSPOSE_NEXT]], %[[Z_NEXT]] : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>

// A GPU has chunks with products of their pairs.
// GPU-LABEL: region @g_backward_query_gradients grid(batch, head)
// GPU:         = stage query step 32 with key
// GPU:           = carried_gradient(
// GPU:           = pair_sums(
// GPU:           output %{{.*}} to grad_q
// GPU:           carry state(
// GPU-LABEL: region @g_backward_key_gradients grid(batch, head)
// GPU:         = stage query step 32 reverse with key
// GPU:           = carried_gradient(
// GPU:           = pair_sums(
// GPU:           output %{{.*}} to grad_k
// GPU:           = value_readout_gradient(
// GPU:           output %{{.*}} to grad_v
// GPU:           carry state(
func.func @g(%q: tensor<1x2x200x16xf32> {attn.name = "q"}, %k: tensor<1x2x200x16xf32> {attn.name = "k"}, %v: tensor<1x2x200x16xf32> {attn.name = "v"})
    -> (tensor<1x2x200x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<1x2x200x16xf32> -> tensor<1x2x200x16xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x2x200x16xf32> -> tensor<1x2x200x16xf32>
  %num, %den, %S, %z = attn.causal_readout %a, %b, %v : tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32>
      -> tensor<1x2x200x16xf32>, tensor<1x2x200xf32>, tensor<1x2x16x16xf32>, tensor<1x2x16xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 1.0e-06>} : tensor<1x2x200x16xf32>, tensor<1x2x200xf32> -> tensor<1x2x200x16xf32>
  return %o : tensor<1x2x200x16xf32>
}

// Tokens that decay: both passes leave what each row has to do with others, and a third one sums that up from the first on. Scans that are
// `exclusive` read others alone, and what a row has to do with itself is added behind them.
// CHECK-LABEL: region @decays_backward_query_gradients grid(batch, head)
// CHECK:         = stage query step 16 with key
// CHECK:           %[[U:.*]] = load grad_o[
// CHECK:           %[[V:.*]] = load v[
// CHECK:           %[[B:.*]] = load k[
// CHECK:           %[[UNTIL:.*]] = token_decay(%{{.*}}) {until}
// CHECK:           %[[WHOLE:.*]] = token_decay(%{{.*}}) {whole}
// CHECK:           %[[OWN:.*]] = token_decay(%{{.*}}) {own}
// CHECK:           %[[SCAN:.*]] = scan(%[[U]], %[[V]], %[[B]], %{{[0-9]+}}, %[[UNTIL]], %[[WHOLE]], %[[OWN]]) {exclusive, columns decay}
// CHECK:           %[[OTHERS:.*]] = select(%[[SCAN]]) {tiles = [0]}
// CHECK:           %[[PRODUCTS:.*]] = row_products(%[[U]], %[[V]])
// CHECK:           %[[ALL:.*]] = plus_weighed(%[[OTHERS]], %[[B]], %[[PRODUCTS]])
// CHECK:           output %[[ALL]] to grad_q
// CHECK:           %[[A:.*]] = load q[
// CHECK:           %[[SHARES:.*]] = row_products(%[[A]], %[[OTHERS]])
// CHECK:           output %[[SHARES]] to workspace{{[0-9]}}[batch, head, query : rows
// CHECK:           carry carried_on(
// CHECK-LABEL: region @decays_backward_key_gradients grid(batch, head)
// CHECK:         = stage query step 16 reverse with key
// CHECK:           %[[V:.*]] = load v[
// CHECK:           %[[U:.*]] = load grad_o[
// CHECK:           %[[A:.*]] = load q[
// CHECK:           %[[STATE:.*]] = state
// CHECK:           %[[TRANSPOSE:.*]] = select(%[[STATE]]) {tiles = [1]}
// CHECK:           %[[SINCE:.*]] = token_decay(%{{.*}}) {since}
// CHECK:           %[[OF_KEYS:.*]] = scan(%[[V]], %[[U]], %[[A]], %[[TRANSPOSE]], %[[SINCE]], %{{.*}}) {reverse, exclusive, columns decay}
// CHECK:           %[[OTHERS:.*]] = select(%[[OF_KEYS]]) {tiles = [0]}
// CHECK:           %[[PRODUCTS:.*]] = row_products(%[[U]], %[[V]])
// CHECK:           %[[ALL:.*]] = plus_weighed(%[[OTHERS]], %[[A]], %[[PRODUCTS]])
// CHECK:           output %[[ALL]] to grad_k
// CHECK:           %[[B:.*]] = load k[
// CHECK:           %[[MATRIX:.*]] = select(%[[STATE]]) {tiles = [0]}
// CHECK:           %[[OF_VALUES:.*]] = scan(%[[B]], %[[A]], %[[U]], %[[MATRIX]], %{{.*}}) {reverse, rows decay}
// CHECK:           %[[VALUE:.*]] = select(%[[OF_VALUES]]) {tiles = [0]}
// CHECK:           output %[[VALUE]] to grad_v
// CHECK:           %[[SHARES:.*]] = row_products(%[[B]], %[[OTHERS]])
// CHECK:           output %[[SHARES]] to workspace{{[0-9]}}[batch, head, key : rows
// CHECK:           carry carried_on(
// CHECK-LABEL: region @decays_backward_decay_gradients grid(batch, head)
// CHECK:         = stage query step 16 with key
// CHECK:           = minus(
// CHECK:           = prefix_sums(
// CHECK:           output %{{.*}} to grad_g[batch, head, key : rows
// CHECK:           carry row_totals(

// Usually rows are taken as what is left of them at the chunk's end, and readers make up for it. The other branch is for chunks that decay something to
// less than 2^-60: there the state decays at each row.
// TILES-LABEL: tile.kernel @decays_backward_query_gradients(
// TILES:         tile.loop {{.*}} step 16 carries(%[[S:[^ ]*]] = %{{[^,]*}}) :
// TILES:           %[[DOWN:.*]] = math.exp2 %[[D:.*]] : tensor<16xf32>
// TILES:           %[[MINUS_D:.*]] = arith.subf %{{.*}}, %[[D]] :
// TILES:           %[[UP:.*]] = math.exp2 %[[MINUS_D]] :
// TILES:           %[[WHOLE:.*]] = math.exp2 %{{.*}} : tensor<16xf32>
// TILES:           %[[DOWN_COLS:.*]] = tile.expand %[[DOWN]] axis 1
// TILES:           %[[B_DOWN:.*]] = arith.mulf %[[B:.*]], %[[DOWN_COLS]] :
// TILES:           %[[RARE:.*]] = tile.any
// TILES:           %[[USUAL:.*]]:2 = tile.loop {{.*}} = %[[RARE]] to %{{[^ ]*}} step 1 carries(%{{[^ ]*}} = %{{[^,]*}}, %[[S_IN:[^ ]*]] = %[[S]]) :
// TILES:             %[[READ:.*]], %{{.*}} = tile.scan %[[U:.*]], %[[V:.*]], %[[B_DOWN]], %[[S_IN]], %{{[^ ]*}} decay %[[WHOLE]] {decay_columns, exclusive} : {{.*}} decay tensor<16xf32>
// TILES:             %[[UP_COLS:.*]] = tile.expand %[[UP]] axis 1
// TILES:             arith.mulf %[[READ]], %[[UP_COLS]] :
// TILES:           tile.loop {{.*}} to %[[RARE]] step 1 carries(%{{[^ ]*}} = %[[USUAL]]#0, %[[S_IN:[^ ]*]] = %[[USUAL]]#1) :
// TILES:             tile.scan %[[U]], %[[V]], %[[B]], %[[S_IN]], %{{[^ ]*}} decay %{{[^ ]*}} {decay_columns, exclusive} : {{.*}} decay tensor<16x16xf32>
// TILES-LABEL: tile.kernel @decays_backward_key_gradients(
// TILES:         tile.loop {{.*}} step 16 carries(%[[R:[^ ]*]] = %{{[^,]*}}, %[[TRANSPOSE:[^ ]*]] = %{{[^,]*}}) :
// TILES:           tile.loop {{.*}} step 1 carries(%{{[^ ]*}} = %{{[^,]*}}, %[[S_IN:[^ ]*]] = %[[TRANSPOSE]]) :
// TILES:             tile.scan %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %[[S_IN]], %{{.*}} {decay_columns, exclusive, reverse} : {{.*}} decay tensor<16xf32>
// TILES:           tile.loop {{.*}} step 1
// TILES:             tile.scan {{.*}} {decay_columns, exclusive, reverse} : {{.*}} decay tensor<16x16xf32>
// TILES:           tile.loop {{.*}} step 1 carries(%{{[^ ]*}} = %{{[^,]*}}, %[[S_IN:[^ ]*]] = %[[R]]) :
// TILES:             tile.scan %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %[[S_IN]], %{{.*}} {reverse} : {{.*}} decay tensor<16xf32>
// TILES:           tile.loop {{.*}} step 1
// TILES:             tile.scan {{.*}} {reverse} : {{.*}} decay tensor<16x16xf32>

// GPU-LABEL: region @decays_backward_query_gradients grid(batch, head)
// GPU:         = stage query step 32 with key
// GPU:           = below_diagonal(
// GPU:           = pair_sums(
// GPU:           = with_own_pairs(
// GPU:           output %{{.*}} to grad_q
// GPU:           = row_products(
// GPU:           output %{{.*}} to workspace{{[0-9]}}[batch, head, query : rows
// GPU:           carry state(
// GPU-LABEL: region @decays_backward_key_gradients grid(batch, head)
// GPU:         = stage query step 32 reverse with key
// GPU:           output %{{.*}} to workspace{{[0-9]}}[batch, head, key : rows
func.func @decays(%q: tensor<1x2x200x16xf32> {attn.name = "q"}, %k: tensor<1x2x200x16xf32> {attn.name = "k"}, %v: tensor<1x2x200x16xf32> {attn.name = "v"},
                  %g: tensor<1x2x200xf32> {attn.name = "g"})
    -> (tensor<1x2x200x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v", "g"]} {
  %num, %den, %S, %z = attn.causal_readout %q, %k, %v decay(%g : tensor<1x2x200xf32>) : tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32>
      -> tensor<1x2x200x16xf32>, tensor<1x2x200xf32>, tensor<1x2x16x16xf32>, tensor<1x2x16xf32>
  return %num : tensor<1x2x200x16xf32>
}

// Keys that erase: what they write, which is the forward pass without its readout, then the keys' pass, then that of the queries, which knows what the
// states before them were.
// CHECK-LABEL: region @erases_backward_2_written grid(batch, head)
// CHECK:         = stage query step 16 with key
// CHECK:           = unit_inverse(
// CHECK-NOT:     = readout(
// CHECK:           output %{{.*}} to workspace{{[0-9]}}[batch, head, key : rows
// CHECK:           carry erased_sums(
// CHECK-LABEL: region @erases_backward_key_gradients grid(batch, head)
// CHECK:         = stage query step 16 reverse with key
// CHECK:           = value_readout_gradient(
// CHECK:           = product{{.*}}transposed
// CHECK:           output %{{.*}} to workspace{{[0-9]}}[batch, head, key : rows
// CHECK:           output %{{.*}} to workspace{{[0-9]}}[batch, head, key : rows
// CHECK:           output %{{.*}} to grad_v
// CHECK:           carry erased_sums(
// CHECK-LABEL: region @erases_backward_query_gradients grid(batch, head)
// CHECK:         = stage query step 16 with key
// CHECK:           output %{{.*}} to grad_q
// CHECK:           output %{{.*}} to grad_k
// CHECK:           output %{{.*}} to grad_beta[batch, head, key : rows
// CHECK:           carry erased_sums(
func.func @erases(%q: tensor<1x2x200x16xf32> {attn.name = "q"}, %k: tensor<1x2x200x16xf32> {attn.name = "k"}, %v: tensor<1x2x200x16xf32> {attn.name = "v"},
                  %beta: tensor<1x2x200xf32> {attn.name = "beta"})
    -> (tensor<1x2x200x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v", "beta"]} {
  %num, %den, %S, %z = attn.causal_readout %q, %k, %v erase(%beta : tensor<1x2x200xf32>) : tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32>
      -> tensor<1x2x200x16xf32>, tensor<1x2x200xf32>, tensor<1x2x16x16xf32>, tensor<1x2x16xf32>
  return %num : tensor<1x2x200x16xf32>
}

// A state of keys: that of the cotangents is one of queries, summed over the heads that share one, and nothing is made of pairs. Its kernel
// stores the gradients of the queries, too: what reaches the denominators comes of the product that these are made of, and both read rows that are 0
// past the last one. Both gradients of keys and values come from one kernel. A GPU has a kernel for each.
// CHECK-LABEL: region @reads_backward_2_state grid(batch, head)
// CHECK-LABEL: region @reads_backward_2_readout grid(batch, head, query tile 64)
// CHECK:         output %{{.*}}#1 to workspace
// CHECK-NOT:     output
// CHECK-LABEL: region @reads_backward_tokens_state grid(batch, head)
// CHECK:         = stage key step 64 {{.*}} in pieces of 2048 merged by @reads_backward_merge
// CHECK:           %[[O:.*]] = normalize(
// CHECK:           %[[U:.*]] = existing(%[[O]])
// CHECK:           %[[AS:.*]] = logits(%[[U]], %{{.*}})
// CHECK:           %[[E:.*]] = elu1(
// CHECK:           %[[F:.*]] = existing(%[[E]])
// CHECK:           %[[PRODUCTS:.*]] = row_products(%[[F]], %[[AS]])
// CHECK:           %[[D:.*]] = denominator_gradient(%[[PRODUCTS]], %{{.*}})
// CHECK:           %[[G:.*]] = existing(%[[D]])
// CHECK:           %[[AZ:.*]] = outer(%[[G]], %{{.*}})
// CHECK:           %[[A:.*]] = plus(%[[AS]], %[[AZ]])
// CHECK:           = elu1_gradient(%{{.*}}, %[[A]])
// CHECK:           output %{{.*}} to grad_q
// CHECK:           carry state(%[[F]], %[[U]], %[[G]])
// CHECK-LABEL: region @reads_backward_3_state_sums grid(batch, shared_head)
// CHECK:         = stage head of shared_head step 1
// CHECK-LABEL: region @reads_backward_3_tokens grid(batch, head, key tile 64)
// CHECK:         %[[BS:.*]] = logits(%{{.*}}, %{{.*}})
// CHECK:         %[[BZ:.*]] = over_rows(
// CHECK:         %[[B:.*]] = plus(%[[BS]], %[[BZ]])
// CHECK:         %[[K:.*]] = elu1_gradient(%{{.*}}, %[[B]])
// CHECK:         %[[THERE:.*]] = existing(%[[K]])
// CHECK:         output %[[THERE]] to grad_k[batch, head, key : rows below size(grad_k, 2), 0 : 16]
// CHECK:         = state_readout(
// CHECK:         output %{{.*}} to grad_v
// GPU-LABEL: region @reads_backward_tokens grid(batch, head, query tile 64)
// GPU:         %[[G:.*]] = denominator_gradient(
// GPU:         output %[[G]] to workspace
// GPU:         output %{{.*}} to grad_q
// GPU-LABEL: region @reads_backward_3_state grid(batch, head)
// GPU:         load workspace
func.func @reads(%q: tensor<1x4x200x16xf32> {attn.name = "q"}, %k: tensor<1x2x200x16xf32> {attn.name = "k"}, %v: tensor<1x2x200x24xf32> {attn.name = "v"},
                 %l: tensor<1xi32>) -> (tensor<1x4x200x24xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<1x4x200x16xf32> -> tensor<1x4x200x16xf32>
  %b = attn.map %k lengths(%l : tensor<1xi32>) {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x2x200x16xf32> -> tensor<1x2x200x16xf32>
  %S, %z = attn.state %b, %v lengths(%l : tensor<1xi32>) : tensor<1x2x200x16xf32>, tensor<1x2x200x24xf32> -> tensor<1x2x16x24xf32>, tensor<1x2x16xf32>
  %num, %den = attn.readout %a, %S, %z : tensor<1x4x200x16xf32>, tensor<1x2x16x24xf32>, tensor<1x2x16xf32> -> tensor<1x4x200x24xf32>, tensor<1x4x200xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 1.0e-06>} : tensor<1x4x200x24xf32>, tensor<1x4x200xf32> -> tensor<1x4x200x24xf32>
  return %o : tensor<1x4x200x24xf32>
}

// A denominator that is no sum of the numerator's weights is made by a kernel of its own, which may count other windows.
// CHECK-LABEL: region @windows_2_quadratic grid(batch, head, query tile 64)
// CHECK:         = stage key step 64
// CHECK:         output %{{.*}} to workspace0[batch, head, query : rows]
// CHECK-LABEL: region @windows_quadratic grid(batch, head, query tile 4)
// CHECK:         = stage key #attn.window<4> step 4
// CHECK:         = normalize(
func.func @windows(%q: tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> {
  %w = attn.contract %q[batch, head, query, feature], %q[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32> -> tensor<1x1x8x8xf32>
  %v = attn.visible %w {window = #attn.window<4>} : tensor<1x1x8x8xf32>
  %num = attn.contract %v[batch, head, query, key], %q[batch, head, key, value] -> [batch, head, query, value]
      : tensor<1x1x8x8xf32>, tensor<1x1x8x8xf32> -> tensor<1x1x8x8xf32>
  %den = attn.row_sum %w : tensor<1x1x8x8xf32> -> tensor<1x1x8xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : tensor<1x1x8x8xf32>, tensor<1x1x8xf32> -> tensor<1x1x8x8xf32>
  return %o : tensor<1x1x8x8xf32>
}

// In windows a program has the keys and the queries of one. What its queries sum up lies where their rows are, without parts: in the result, where
// that is the sum or a multiple of it. The multiple is the keys', which have it for the weights, too.
// CHECK-LABEL: region @of_windows_key_gradients grid(batch, head)
// CHECK:         = stage query #attn.window<128> step 64
// CHECK:           output %{{.*}} to o[batch, head, query : rows, 0 : 16]
// CHECK:         = stage key #attn.window<128> step 64 segments(keys: begin to end masked)
// CHECK:           %[[SCALED:.*]] = scale(%{{.*}}) {factor = 2.500000e-01}
// CHECK:           = stage query that see key causal #attn.window<128> step 64
// CHECK:             %[[BEFORE:.*]] = load o[batch, head, query : rows, 0 : 16]
// CHECK:             logits(%{{.*}}, %[[SCALED]]) {scale = 1.442695e+00}
// CHECK:             %[[SUMS:.*]] = pair_sums(%[[BEFORE]], %{{.*}}, %[[SCALED]])
// CHECK:             output %[[SUMS]] to o[batch, head, query : rows, 0 : 16]
// CHECK:             carry transposed_sums(
// CHECK-NOT:   region @of_windows_2_tokens
func.func @of_windows(%q: tensor<1x2x256x16xf32>, %k: tensor<1x2x256x16xf32>, %lse: tensor<1x2x256xf32>, %c: tensor<1x2x256x16xf32>)
    -> (tensor<1x2x256x16xf32>, tensor<1x2x256x16xf32>, tensor<1x2x256x16xf32>) {
  %w = attn.softmax_weights %q, %k lse(%lse : tensor<1x2x256xf32>) {causal, scale = 0.25 : f64, window = #attn.window<128>}
      : tensor<1x2x256x16xf32>, tensor<1x2x256x16xf32> -> tensor<1x2x256x256xf32>
  %a = attn.contract %w[batch, head, query, key], %k[batch, head, key, feature] -> [batch, head, query, feature]
      : tensor<1x2x256x256xf32>, tensor<1x2x256x16xf32> -> tensor<1x2x256x16xf32>
  %g = attn.scale %a {factor = 0.25 : f64} : tensor<1x2x256x16xf32> -> tensor<1x2x256x16xf32>
  %b = attn.contract %w[batch, head, query, key], %q[batch, head, query, feature] -> [batch, head, key, feature]
      : tensor<1x2x256x256xf32>, tensor<1x2x256x16xf32> -> tensor<1x2x256x16xf32>
  %d = attn.contract %w[batch, head, query, key], %c[batch, head, query, feature] -> [batch, head, key, feature]
      : tensor<1x2x256x256xf32>, tensor<1x2x256x16xf32> -> tensor<1x2x256x16xf32>
  return %g, %b, %d : tensor<1x2x256x16xf32>, tensor<1x2x256x16xf32>, tensor<1x2x256x16xf32>
}

// Of few keys it is the queries that are cut: a part's rows of the one sum are its own, and each part has what it adds to the other two.
// CHECK-LABEL: region @of_few_keys_key_gradients grid(batch, head, part)
// CHECK:         = stage query of part step 64
// CHECK:           output %{{.*}} to workspace0[batch, head, query : rows, 0 : 16]
// CHECK:         = stage key step 64 segments(keys: begin to end masked)
// CHECK:           = stage query that see key of part step 64 segments(all: begin to end masked)
// CHECK:             output %{{.*}} to workspace0[batch, head, query : rows, 0 : 16]
// CHECK:             carry transposed_sums(
// CHECK:           output %{{.*}} to workspace{{[0-9]}}[part, batch, head, key : rows, 0 : 16]
// CHECK-LABEL: region @of_few_keys_2_tokens grid(batch, head, query tile 64)
// CHECK:         = stage part step 1 segments(parts: begin to end) carry(#tile.sum)
func.func @of_few_keys(%q: tensor<1x2x?x16xf32>, %k: tensor<1x2x80x16xf32>, %lse: tensor<1x2x?xf32>, %c: tensor<1x2x?x16xf32>)
    -> (tensor<1x2x?x16xf32>, tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>) {
  %w = attn.softmax_weights %q, %k lse(%lse : tensor<1x2x?xf32>) {scale = 0.25 : f64} : tensor<1x2x?x16xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x?x80xf32>
  %a = attn.contract %w[batch, head, query, key], %k[batch, head, key, feature] -> [batch, head, query, feature]
      : tensor<1x2x?x80xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x?x16xf32>
  %b = attn.contract %w[batch, head, query, key], %q[batch, head, query, feature] -> [batch, head, key, feature]
      : tensor<1x2x?x80xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x80x16xf32>
  %d = attn.contract %w[batch, head, query, key], %c[batch, head, query, feature] -> [batch, head, key, feature]
      : tensor<1x2x?x80xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x80x16xf32>
  return %a, %b, %d : tensor<1x2x?x16xf32>, tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>
}

// Keys of a window that do not exist have gradients, too: rows of zeros. All keys of a query are in one tile, which makes the softmax, the products of
// its rows with the output, and all that there is of the query's gradient.
// CHECK-LABEL: region @of_window_lengths_backward_key_gradients grid(batch, head)
// CHECK-NOT:     stage query
// CHECK:         = stage key lengths(key_lengths) past lengths #attn.window<8> step 8 segments(keys: begin to end masked)
// CHECK:             %[[NONE:.*]] = zeros()
// CHECK:             %[[WEIGHTS:.*]] = softmax_of_pairs(
// CHECK:             %[[PAIRS:.*]] = logits(
// CHECK:             = row_products(%[[WEIGHTS]], %[[PAIRS]])
// CHECK:             %[[SUMS:.*]] = pair_sums(%[[NONE]],
// CHECK:             output %[[SUMS]] to grad_q[batch, head, query : rows, 0 : 16]
// CHECK:         output %{{.*}} to grad_k[batch, head, key : rows below size(grad_k, 2), 0 : 16]
func.func @of_window_lengths(%q: tensor<1x2x64x16xf32> {attn.name = "q"}, %k: tensor<1x2x64x16xf32> {attn.name = "k"}, %v: tensor<1x2x64x16xf32> {attn.name = "v"},
                             %l: tensor<1xi32> {attn.name = "key_lengths"}) -> (tensor<1x2x64x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %o = attn.softmax %q, %k, %v lengths(%l : tensor<1xi32>) {scale = 0.25 : f64, window = #attn.window<8>}
      : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %o : tensor<1x2x64x16xf32>
}
