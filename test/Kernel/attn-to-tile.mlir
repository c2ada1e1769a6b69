// RUN: attn-opt %s -split-input-file -attn-to-tile | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-to-tile=target=gpu | FileCheck %s --check-prefix=GPU

// Exact softmax: one kernel over query blocks, unmasked tiles first, then the masked ones at the end.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME:    memref<?x4x?x64xf16, strided<[?, ?, ?, 1]>> {attune.argument = 0 : i64, attune.dims = "b.q.", attune.name = "q", attune.role = "input", attune.tensor = tensor<?x4x?x64xf16>}
// CHECK-SAME:    memref<?x2x?x64xf16, strided<[?, ?, ?, 1]>> {attune.argument = 1 : i64, attune.dims = "b.k.", attune.name = "k"
// CHECK-SAME:    memref<?x2x?x40xf16, strided<[?, ?, ?, 1]>> {attune.argument = 2 : i64, attune.dims = "b.k.", attune.name = "v"
// CHECK-SAME:    memref<?x4x?x40xf16, strided<[?, ?, ?, 1]>> {attune.dims = "b.q.", attune.name = "o", attune.role = "output", attune.tensor = tensor<?x4x?x40xf16>}
// CHECK:         tile.launch @softmax_softmax grid(%{{.*}}, %c4, %{{.*}})
// CHECK-LABEL: tile.kernel @softmax_softmax
// CHECK-SAME:    grid(batch, head, query_block)
// The head of keys and values is h / 2; the scale 0.125 · log2 e is folded into the query on a CPU.
// CHECK:         %[[H:.*]] = tile.program_id{{ +}}head
// CHECK-NOT:     memref.load
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : tensor<64x64xf32>
// CHECK:         arith.divui %[[H]], %c2
// CHECK:         %[[INNER:.*]]:3 = tile.loop #tile.rescaled_sum<exp2, row>
// CHECK-NOT:       tile.mask
// CHECK:           tile.dot %{{.*}} {transpose_b} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK:           tile.dot %{{.*}} : tensor<64x64xf32>, tensor<64x40xf32> -> tensor<64x40xf32>
// CHECK:         tile.loop #tile.rescaled_sum<exp2, row> {{.*}} carries(%{{.*}} = %[[INNER]]#0
// CHECK:           tile.mask %{{.*}} fill 0xFF800000 cols(%{{.*}})
// CHECK-NOT:       diagonal
// CHECK:         tile.store

// On a GPU the operands keep the storage type and the scale goes onto the scores.
// GPU-LABEL:   tile.kernel @softmax_softmax
// GPU:           tile.dot %{{.*}} {transpose_b} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
// GPU:           arith.truncf %{{.*}} : tensor<64x64xf32> to tensor<64x64xf16>
func.func @softmax(%q: tensor<?x4x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x40xf16>) -> tensor<?x4x?x40xf16> {
  %o = attn.softmax %q, %k, %v {scale = 1.250000e-01 : f64}
      : tensor<?x4x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x40xf16> -> tensor<?x4x?x40xf16>
  return %o : tensor<?x4x?x40xf16>
}

// -----

// Causal with key lengths and lse: the limit is read from memory and kept within 0 … keys, the mask has columns and a diagonal.
// CHECK-LABEL: func.func @masked
// CHECK-SAME:    memref<?xi32> {attune.argument = 3 : i64, attune.dims = "b", attune.key_lengths, attune.name = "key_lengths"
// CHECK-SAME:    memref<?x4x?xf32, strided<[?, ?, 1]>> {attune.dims = "b.q", attune.empty = "minus_infinity", attune.name = "lse", attune.role = "optional_output"
// CHECK-LABEL: tile.kernel @masked_softmax
// CHECK:         %[[READ:.*]] = memref.load
// CHECK-NEXT:    %[[LENGTH:.*]] = arith.index_cast %[[READ]]
// CHECK:         %[[FROM:.*]] = arith.maxsi %[[LENGTH]]
// CHECK-NEXT:    arith.minsi %[[FROM]]
// CHECK:         tile.mask %{{.*}} fill 0xFF800000 cols(%{{.*}}) diagonal(%{{.*}})
// CHECK:         math.log2
// CHECK:         tile.store %{{.*}} : tensor<64xf32>, memref<?x4x?xf32, strided<[?, ?, 1]>>
func.func @masked(%q: tensor<2x4x48x64xbf16>, %k: tensor<2x4x80x64xbf16>, %v: tensor<2x4x80x64xbf16>,
                  %lengths: tensor<2xi32>) -> (tensor<2x4x48x64xbf16>, tensor<2x4x48xf32>) {
  %o, %lse = attn.softmax %q, %k, %v lengths(%lengths : tensor<2xi32>) {causal, scale = 1.250000e-01 : f64}
      : tensor<2x4x48x64xbf16>, tensor<2x4x80x64xbf16>, tensor<2x4x80x64xbf16> -> tensor<2x4x48x64xbf16>, lse tensor<2x4x48xf32>
  return %o, %lse : tensor<2x4x48x64xbf16>, tensor<2x4x48xf32>
}

// -----

// State and readout: three kernels, workspaces for the pieces and for the merged state, pieces of 2,048 keys.
// CHECK-LABEL: func.func @state
// CHECK-DAG:     tile.workspace(%{{.*}}) : memref<?x2x64x32xf32>
// CHECK-DAG:     tile.workspace(%{{.*}}, %{{.*}}) : memref<?x2x?x64x32xf32>
// CHECK:         tile.launch @state_state
// CHECK:         tile.launch @state_merge
// CHECK:         tile.launch @state_readout
// CHECK-LABEL: tile.kernel @state_state
// CHECK:         arith.constant 2048 : index
// CHECK:         tile.loop #tile.sum
// CHECK:           tile.mask %{{.*}} fill 0.000000e+00 rows(
// CHECK:           tile.dot %{{.*}} {transpose_a}
// CHECK-LABEL: tile.kernel @state_merge
// CHECK:         tile.loop #tile.sum {{.*}} step 1
// CHECK-LABEL: tile.kernel @state_readout
// CHECK:         tile.dot
// CHECK:         arith.select
func.func @state(%q: tensor<?x4x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x32xbf16>) -> tensor<?x4x?x32xbf16> {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<?x4x?x64xbf16> -> tensor<?x4x?x64xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>} : tensor<?x2x?x64xbf16> -> tensor<?x2x?x64xf32>
  %s, %z = attn.state %b, %v : tensor<?x2x?x64xf32>, tensor<?x2x?x32xbf16> -> tensor<?x2x64x32xf32>, tensor<?x2x64xf32>
  %num, %den = attn.readout %a, %s, %z : tensor<?x4x?x64xf32>, tensor<?x2x64x32xf32>, tensor<?x2x64xf32>
      -> tensor<?x4x?x32xf32>, tensor<?x4x?xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>}
      : tensor<?x4x?x32xf32>, tensor<?x4x?xf32> -> tensor<?x4x?x32xbf16>
  return %o : tensor<?x4x?x32xbf16>
}

// -----

// Chunked: the state is carried. On a CPU tokens go through it one after another: the key of each enters the state, which its query then reads.
// Denominators come of sums of the keys' features up to each token, which go through a state of one row in the same way.
// CHECK-LABEL: tile.kernel @chunked_chunked
// CHECK:         tile.loop #tile.sum {{.*}} carries(%[[S:[^ ]*]] = %{{[^,]*}}, %[[Z:[^ ]*]] = %{{[^,]*}}) :
// CHECK:           %[[A:.*]] = arith.addf
// CHECK:           %[[B:.*]] = tile.mask %{{.*}} fill 0.000000e+00 rows(
// CHECK:           %[[READ:.*]], %[[S_NEXT:.*]] = tile.scan %[[A]], %[[B]], %{{[^ ]*}}, %[[S]], %{{[^ ]*}} : tensor<64x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>
// CHECK:           %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<64x1xf32>
// CHECK:           %[[Z_ROW:.*]] = tile.expand %[[Z]] axis 0 : tensor<64xf32> -> tensor<1x64xf32>
// CHECK:           %[[UP_TO:.*]], %[[Z_ROW_NEXT:.*]] = tile.scan %[[ONES]], %[[ONES]], %[[B]], %[[Z_ROW]], %{{[^ ]*}} : tensor<64x1xf32>, tensor<64x64xf32>, tensor<1x64xf32>
// CHECK:           %[[Z_NEXT:.*]] = tile.reduce add %[[Z_ROW_NEXT]] axis 0
// CHECK:           arith.mulf %[[A]], %[[UP_TO]]
// CHECK:           tile.store
// CHECK:           tile.yield %[[S_NEXT]], %[[Z_NEXT]] :
// A GPU has products of the chunk's pairs: a row's sum starts from what the state gives and goes on inside the chunk. f16 features underflow and f16
// weights overflow: all products have f32 operands.
// GPU-LABEL:   tile.kernel @chunked_chunked
// GPU:           %[[BEFORE:.*]] = tile.dot
// GPU:           tile.dot %{{.*}} precision tf32 {transpose_b} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
// GPU:           tile.mask %{{.*}} fill 0.000000e+00 diagonal(
// GPU:           tile.dot %{{.*}}, %{{.*}}, %[[BEFORE]] precision tf32 : tensor<64x64xf32>, tensor<64x32xf32> -> tensor<64x32xf32>
// GPU:           tile.store
// GPU:           tile.dot %{{.*}} {transpose_a}
func.func @chunked(%q: tensor<?x4x4096x64xf16>, %k: tensor<?x2x4096x64xf16>, %v: tensor<?x2x4096x32xf16>) -> tensor<?x4x4096x32xf16> {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<?x4x4096x64xf16> -> tensor<?x4x4096x64xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>} : tensor<?x2x4096x64xf16> -> tensor<?x2x4096x64xf32>
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v : tensor<?x4x4096x64xf32>, tensor<?x2x4096x64xf32>, tensor<?x2x4096x32xf16>
      -> tensor<?x4x4096x32xf32>, tensor<?x4x4096xf32>, tensor<?x2x64x32xf32>, tensor<?x2x64xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 1.000000e-06, floor = 0.000000e+00>}
      : tensor<?x4x4096x32xf32>, tensor<?x4x4096xf32> -> tensor<?x4x4096x32xf16>
  return %o : tensor<?x4x4096x32xf16>
}

// -----

// Where more than 65,536 tokens may come before a chunk, the state is brought over it by a product then, which sums up its tokens first.
// CHECK-LABEL: tile.kernel @long_chunked
// CHECK:         %[[LATE:.*]] = tile.any %{{.*}} : tensor<1xf32>
// CHECK:         tile.loop #tile.sequential %{{.*}} = %[[LATE]] to
// CHECK:           tile.scan {{.*}} tensor<64x32xf32>
// CHECK-NOT:       tile.dot
// CHECK:           tile.yield
// CHECK:         tile.loop #tile.sequential %{{.*}} to %[[LATE]]
// CHECK:           tile.scan {{.*}} tensor<64x32xf32>
// CHECK:           tile.dot {{.*}} {transpose_a} : tensor<64x64xf32>, tensor<64x32xf32> -> tensor<64x32xf32>
func.func @long(%q: tensor<?x4x?x64xf32>, %k: tensor<?x2x?x64xf32>, %v: tensor<?x2x?x32xf32>) -> tensor<?x4x?x32xf32> {
  %a = attn.map %q {feature_map = #attn.feature_map<relu>} : tensor<?x4x?x64xf32> -> tensor<?x4x?x64xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<relu>} : tensor<?x2x?x64xf32> -> tensor<?x2x?x64xf32>
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v : tensor<?x4x?x64xf32>, tensor<?x2x?x64xf32>, tensor<?x2x?x32xf32> -> tensor<?x4x?x32xf32>, tensor<?x4x?xf32>, tensor<?x2x64x32xf32>, tensor<?x2x64xf32>
  %o = attn.normalize %num {guard = #attn.denominator<none>} : tensor<?x4x?x32xf32> -> tensor<?x4x?x32xf32>
  return %o : tensor<?x4x?x32xf32>
}

// -----

// Quadratic: pair weights in tiles, masked only at the edge.
// CHECK-LABEL: tile.kernel @quadratic_quadratic
// CHECK:         tile.loop #tile.sum
// CHECK-NOT:       tile.mask
// CHECK:         tile.loop #tile.sum
// CHECK:           tile.mask %{{.*}} fill 0.000000e+00 cols(%{{.*}}) diagonal(
func.func @quadratic(%q: tensor<1x1x9x8xf16>, %k: tensor<1x1x9x8xf16>, %v: tensor<1x1x9x8xf16>) -> tensor<1x1x9x8xf16> {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>} : tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf32>
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<1x1x9x8xf32>, tensor<1x1x9x8xf32> -> tensor<1x1x9x9xf32>
  %m = attn.visible %w {causal} : tensor<1x1x9x9xf32>
  %num = attn.contract %m[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value]
      : tensor<1x1x9x9xf32>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf32>
  %den = attn.row_sum %m : tensor<1x1x9x9xf32> -> tensor<1x1x9xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>}
      : tensor<1x1x9x8xf32>, tensor<1x1x9xf32> -> tensor<1x1x9x8xf16>
  return %o : tensor<1x1x9x8xf16>
}

// -----

// A kernel of one function's second attention, and the kernel of a function that is called like it, keep apart.
// CHECK-LABEL: func.func @clash
// CHECK:         tile.launch @clash_2_softmax
// CHECK:         tile.launch @clash_softmax
// CHECK-LABEL: func.func @clash_2
// CHECK:         tile.launch @clash_2_softmax_2
func.func @clash(%q: tensor<1x1x9x8xf16>, %k: tensor<1x1x9x8xf16>, %v: tensor<1x1x9x8xf16>) -> tensor<1x1x9x8xf16> {
  %x = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  %o = attn.softmax %x, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  return %o : tensor<1x1x9x8xf16>
}
func.func @clash_2(%q: tensor<1x1x9x8xf16>, %k: tensor<1x1x9x8xf16>, %v: tensor<1x1x9x8xf16>) -> tensor<1x1x9x8xf16> {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  return %o : tensor<1x1x9x8xf16>
}

// -----

// Two attentions in a row: what the first writes lies in a workspace, and the second reads it.
// CHECK-LABEL: func.func @chain
// CHECK:         %[[W:.*]] = tile.workspace(%{{.*}}, %{{.*}}) : memref<?x1x?x8xf32>
// CHECK:         tile.launch @chain_2_softmax {{.*}}, %[[W]]) :
// CHECK:         tile.launch @chain_softmax grid({{.*}}) ({{.*}}, %[[W]]) :
func.func @chain(%q: tensor<1x1x9x8xf16>, %k: tensor<1x1x9x8xf16>, %v: tensor<1x1x9x8xf16>) -> tensor<1x1x9x8xf16> {
  %x = attn.softmax %q, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  %o = attn.softmax %x, %k, %v {scale = 1.0 : f64}
      : tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16>, tensor<1x1x9x8xf16> -> tensor<1x1x9x8xf16>
  return %o : tensor<1x1x9x8xf16>
}
