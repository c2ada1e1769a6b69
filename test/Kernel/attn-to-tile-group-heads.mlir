// RUN: attn-opt %s -attn-to-tile -split-input-file | FileCheck %s
// RUN: attn-opt %s -attn-to-tile=target=gpu -split-input-file | FileCheck %s

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

// Head by head: of two queries, where heads differ by slopes, where places count, and where sums of rows are asked for.
// CHECK-LABEL: func.func @two_queries
// CHECK-NOT:     tile.group_heads
func.func @two_queries(%q: tensor<3x8x2x64xf32>, %k: tensor<3x2x200x64xf32>, %v: tensor<3x2x200x64xf32>) -> tensor<3x8x2x64xf32> {
  %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
      : tensor<3x8x2x64xf32>, tensor<3x2x200x64xf32>, tensor<3x2x200x64xf32> -> tensor<3x8x2x64xf32>
  return %o : tensor<3x8x2x64xf32>
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

// CHECK-LABEL: func.func @last
// CHECK-NOT:     tile.group_heads
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
