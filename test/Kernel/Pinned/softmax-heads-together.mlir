// Two attentions that share the heads of one output, launched together (`launch = co_launched`): their kernels at the same position run at once.
//
//   o = concat_heads(softmax_window(q_{0,1}, k_{0,1}, v_{0,1}), softmax(q_{2..4}, k_{2..4}, v_{2..4}))
//
// The host function alone; the kernels are those of softmax-heads.mlir.
//
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

!q = tensor<?x5x?x24xf32>
!v = tensor<?x5x?x40xf32>
!q2 = tensor<?x2x?x24xf32>
!v2 = tensor<?x2x?x40xf32>
!q3 = tensor<?x3x?x24xf32>
!v3 = tensor<?x3x?x40xf32>
func.func @heads(%q: !q {attn.name = "q"}, %k: !q {attn.name = "k"}, %v: !v {attn.name = "v"}) -> !v {
  %q2 = attn.take_heads %q {first = 0 : i64} : !q -> !q2
  %k2 = attn.take_heads %k {first = 0 : i64} : !q -> !q2
  %v2 = attn.take_heads %v {first = 0 : i64} : !v -> !v2
  %q3 = attn.take_heads %q {first = 2 : i64} : !q -> !q3
  %k3 = attn.take_heads %k {first = 2 : i64} : !q -> !q3
  %v3 = attn.take_heads %v {first = 2 : i64} : !v -> !v3
  %a = attn.softmax %q2, %k2, %v2 {scale = 0.25 : f64, window = #attn.window<144>} : !q2, !q2, !v2 -> !v2
  %b = attn.softmax %q3, %k3, %v3 {scale = 0.25 : f64} : !q3, !q3, !v3 -> !v3
  %o = attn.concat_heads %a, %b {execution = #attn.execution<launch = co_launched>} : !v2, !v3 -> !v
  return %o : !v
}

// The second launch is marked to run with the one before it.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<?x5x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: memref<?x5x?x24xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: memref<?x5x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<?x5x?x40xf32, strided<[?, ?, ?, 1]>>
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C144:.*]] = arith.constant 144 : index
// CHECK:         %[[BATCHES:.*]] = memref.dim %[[Q]], %[[C0]] : memref
// CHECK-NEXT:    %[[QUERIES:.*]] = memref.dim %[[Q]], %[[C2]] : memref
// CHECK-NEXT:    %[[WINDOWS:.*]] = arith.divui %[[QUERIES]], %[[C144]] : index
//   Every window of every sequence is an entry of the batch axis.
// CHECK-NEXT:    %[[ALL_WINDOWS:.*]] = arith.muli %[[BATCHES]], %[[WINDOWS]] : index
// CHECK-NEXT:    %[[QUERY_BLOCKS:.*]] = arith.ceildivui %[[QUERIES]], %[[C64]] : index
// CHECK-NEXT:    tile.launch @heads_softmax grid(%[[ALL_WINDOWS]], %[[C2]], %[[C3]]) (%[[Q]], %[[K]], %[[V]], %[[O]]) :
// CHECK-NEXT:    tile.launch @heads_2_softmax grid(%[[BATCHES]], %[[C3]], %[[QUERY_BLOCKS]]) (%[[Q]], %[[K]], %[[V]], %[[O]]) {tile.co_launched} :
// CHECK-NEXT:    return
