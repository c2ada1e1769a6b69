// RUN: attn-opt %s -attn-differentiate=save | attn-opt -attn-to-tile | FileCheck %s

// Where a run gives what the forward pass has left the kernel that computes it again has no programs, and others read what is given.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME:    %[[O:arg4]]: memref<?x4x?x16xf32, strided<[?, ?, ?, 1]>> {attune.argument = 4 : i64, attune.dims = "b.q.", attune.name = "saved.o", attune.role = "optional_input"
// CHECK-SAME:    %[[LSE:arg5]]: memref<?x4x?xf32, strided<[?, ?, 1]>> {attune.argument = 5 : i64, attune.dims = "b.q", attune.name = "saved.lse", attune.role = "optional_input"
// CHECK-DAG:     %[[OWN:.*]] = tile.workspace(%{{.*}}, %{{.*}}) : memref<?x4x?x16xf32>
// CHECK-DAG:     %[[SUMS:.*]] = tile.workspace(%{{.*}}, %{{.*}}) : memref<?x4x?xf32>
// CHECK:         %[[ABSENT:.*]] = arith.subi %c1{{.*}}, %{{.*}} : index
// CHECK:         %[[HEADS:.*]] = arith.muli %c4{{.*}}, %[[ABSENT]] : index
// CHECK:         tile.launch @f_backward_softmax grid(%{{.*}}, %[[HEADS]], %{{.*}}) ({{.*}}, %[[SUMS]], %[[OWN]])
// CHECK:         %[[OUT:.*]] = tile.either %[[O]], %[[OWN]]
// CHECK:         %[[L:.*]] = tile.either %[[LSE]], %[[SUMS]]
// CHECK:         tile.launch @f_backward_2_row_products grid({{.*}}) (%{{.*}}, %[[OUT]], %[[DELTA:.*]]) :
// CHECK:         tile.launch @f_backward_3_key_gradients grid({{.*}}, %[[L]], %[[DELTA]])
func.func @f(%q: tensor<1x4x200x16xf32> {attn.name = "q"}, %k: tensor<1x2x200x16xf32> {attn.name = "k"}, %v: tensor<1x2x200x16xf32> {attn.name = "v"})
    -> (tensor<1x4x200x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %o = attn.softmax %q, %k, %v {causal, scale = 0.25 : f64} : tensor<1x4x200x16xf32>, tensor<1x2x200x16xf32>, tensor<1x2x200x16xf32> -> tensor<1x4x200x16xf32>
  return %o : tensor<1x4x200x16xf32>
}
