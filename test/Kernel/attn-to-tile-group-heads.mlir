// RUN: attn-opt %s -attn-to-tile -split-input-file | FileCheck %s
// RUN: attn-opt %s -attn-to-tile=target=gpu -split-input-file | FileCheck %s
// RUN: attn-opt %s -attn-to-tile=print-regions -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REGION

// One query of eight heads on two is four queries of two heads: the host makes views, and no row is masked by its place.
// CHECK-LABEL: func.func @grouped
// CHECK-DAG:     %[[Q:.*]] = tile.group_heads %arg0 : memref<?x8x?x64xf32, {{.*}}> to memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[O:.*]] = tile.group_heads %arg3 : memref<?x8x?x64xf32, {{.*}}> to memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
// CHECK:         %[[ROWS:.*]] = memref.dim %[[Q]], %c2
// CHECK:         tile.launch @grouped_softmax grid(%{{.*}}, %c2, %{{.*}}) ({{.*}}%[[Q]], %[[O]]
// CHECK-LABEL: tile.kernel @grouped_softmax
// CHECK-NOT:     diagonal
func.func @grouped(%q: tensor<3x8x1x64xf32>, %k: tensor<3x2x200x64xf32>, %v: tensor<3x2x200x64xf32>) -> tensor<3x8x1x64xf32> {
  %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
      : tensor<3x8x1x64xf32>, tensor<3x2x200x64xf32>, tensor<3x2x200x64xf32> -> tensor<3x8x1x64xf32>
  return %o : tensor<3x8x1x64xf32>
}

// -----

// REGION:      region @two_queries_heads grid(batch, head, query tile
// REGION:      region @two_queries_softmax
// REGION:        stage key {{.*}}causal(query) of 4 heads
// REGION:      region @two_queries_output

// Heads of two queries need not be adjacent: they are copied, and so is the output. Row r of four heads is query r mod 2, so that each head has a diagonal
// of its own, from the last head's to the first one's.
// CHECK-LABEL: func.func @two_queries
// CHECK:         %[[DENSE:.*]] = tile.workspace(%{{.*}}, %{{.*}}) : memref<?x8x?x64xf32>
// CHECK:         %[[OWN:.*]] = tile.workspace(%{{.*}}, %{{.*}}) : memref<?x8x?x64xf32>
// CHECK:         tile.launch @two_queries_heads grid(%{{.*}}, %c8{{.*}}, %{{.*}}) (%arg0, %[[DENSE]])
// CHECK-DAG:     %[[Q:.*]] = tile.group_heads %[[DENSE]] : memref<?x8x?x64xf32> to memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[O:.*]] = tile.group_heads %[[OWN]] : memref<?x8x?x64xf32> to memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
// CHECK:         tile.launch @two_queries_softmax grid(%{{.*}}, %c2{{.*}}, %{{.*}}) ({{.*}}%[[Q]], %[[O]]
// CHECK:         tile.launch @two_queries_output grid(%{{.*}}, %c8{{.*}}, %{{.*}}) (%arg3, %[[OWN]])
// CHECK-LABEL: tile.kernel @two_queries_softmax
// CHECK:         %[[ROWS:.*]] = memref.dim %arg2, %c2
// CHECK:         %[[QUERIES:.*]] = arith.divui %[[ROWS]], %c4
// CHECK:         arith.muli %[[QUERIES]], %c3
// CHECK:         tile.mask %{{.*}} fill 0xFF800000 cols(%{{.*}}) diagonal(%{{.*}})
// CHECK:         tile.mask %{{.*}} rows(
func.func @two_queries(%q: tensor<3x8x2x64xf32>, %k: tensor<3x2x200x64xf32>, %v: tensor<3x2x200x64xf32>) -> tensor<3x8x2x64xf32> {
  %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
      : tensor<3x8x2x64xf32>, tensor<3x2x200x64xf32>, tensor<3x2x200x64xf32> -> tensor<3x8x2x64xf32>
  return %o : tensor<3x8x2x64xf32>
}

// -----

// Head by head: where heads differ by slopes, where there are many queries, and where sums of rows are asked for.
// CHECK-LABEL: func.func @many
// CHECK-NOT:     tile.group_heads
func.func @many(%q: tensor<3x8x17x64xf32>, %k: tensor<3x2x200x64xf32>, %v: tensor<3x2x200x64xf32>) -> tensor<3x8x17x64xf32> {
  %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
      : tensor<3x8x17x64xf32>, tensor<3x2x200x64xf32>, tensor<3x2x200x64xf32> -> tensor<3x8x17x64xf32>
  return %o : tensor<3x8x17x64xf32>
}

// -----

// CHECK-LABEL: func.func @slopes
// CHECK-NOT:     tile.group_heads
func.func @slopes(%q: tensor<3x8x1x64xf32>, %k: tensor<3x2x200x64xf32>, %v: tensor<3x2x200x64xf32>, %m: tensor<8xf32>) -> tensor<3x8x1x64xf32> {
  %o = attn.softmax %q, %k, %v slopes(%m : tensor<8xf32>) {causal, scale = 1.250000e-01 : f64}
      : tensor<3x8x1x64xf32>, tensor<3x2x200x64xf32>, tensor<3x2x200x64xf32> -> tensor<3x8x1x64xf32>
  return %o : tensor<3x8x1x64xf32>
}

// -----

// The one query sees the last 50 keys, in every row.
// CHECK-LABEL: func.func @last
// CHECK:         tile.group_heads %arg0
// CHECK-NOT:     tile.launch @last_heads
// CHECK-LABEL: tile.kernel @last_softmax
// CHECK:         arith.muli %{{.*}}, %c3
func.func @last(%q: tensor<3x8x1x64xf32>, %k: tensor<3x2x200x64xf32>, %v: tensor<3x2x200x64xf32>) -> tensor<3x8x1x64xf32> {
  %o = attn.softmax %q, %k, %v {causal, last = 50 : i64, scale = 1.250000e-01 : f64}
      : tensor<3x8x1x64xf32>, tensor<3x2x200x64xf32>, tensor<3x2x200x64xf32> -> tensor<3x8x1x64xf32>
  return %o : tensor<3x8x1x64xf32>
}

// -----

// CHECK-LABEL: func.func @sums
// CHECK-NOT:     tile.group_heads
func.func @sums(%q: tensor<3x8x1x64xf32>, %k: tensor<3x2x200x64xf32>, %v: tensor<3x2x200x64xf32>) -> (tensor<3x8x1x64xf32>, tensor<3x8x1xf32>) {
  %o, %lse = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
      : tensor<3x8x1x64xf32>, tensor<3x2x200x64xf32>, tensor<3x2x200x64xf32> -> tensor<3x8x1x64xf32>, lse tensor<3x8x1xf32>
  return %o, %lse : tensor<3x8x1x64xf32>, tensor<3x8x1xf32>
}
