// RUN: attn-opt %s -attn-to-tile | FileCheck %s

// What a run asks for is written where it lies, and read there by the others; else it lies in a workspace.
// CHECK-LABEL: func.func @stored(
// CHECK-SAME:    %[[LEFT:arg[0-9]+]]: memref<?x2x?x16xf32, strided<[?, ?, ?, 1]>> {attune.dims = "b.q.", attune.name = "saved.q", attune.role = "optional_output"
// CHECK:         %[[OWN:.*]] = tile.workspace({{.*}}) : memref<?x2x?x16xf32>
// CHECK:         %[[Q:.*]] = tile.either %[[LEFT]], %[[OWN]]
// CHECK:         tile.launch @stored_2_project grid(%{{.*}}, %c2{{.*}}, %{{.*}}) ({{.*}}%[[Q]])
// CHECK:         tile.launch @stored_softmax grid({{.*}}%[[Q]]
func.func @stored(%x: tensor<1x80x24xf32> {attn.name = "x"}, %wq: tensor<24x32xf32> {attn.name = "wq", attn.parameter}, %k: tensor<1x2x80x16xf32> {attn.name = "k"},
                  %v: tensor<1x2x80x16xf32> {attn.name = "v"}) -> (tensor<1x2x80x16xf32> {attn.name = "o"}, tensor<1x2x80x16xf32> {attn.name = "saved.q"}) {
  %q = attn.project %x, %wq : tensor<1x80x24xf32>, tensor<24x32xf32> -> tensor<1x2x80x16xf32>
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64} : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x80x16xf32>
  %left = attn.keep %q : tensor<1x2x80x16xf32>
  return %o, %left : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>
}

// What no other kernel reads is made if a run asks for it, and else by no program.
// CHECK-LABEL: func.func @asked(
// CHECK-SAME:    %[[LEFT:arg[0-9]+]]: memref<?x2x?x16xf32, strided<[?, ?, ?, 1]>> {attune.dims = "b.q.", attune.name = "saved.q"
// CHECK:         tile.launch @asked_softmax
// CHECK:         %[[ENTRIES:.*]] = memref.dim %[[LEFT]], %c0{{.*}}
// CHECK:         %[[SUM:.*]] = arith.addi %{{.*}}, %[[ENTRIES]]
// CHECK:         %[[ASKED:.*]] = arith.minsi %[[SUM]], %c1
// CHECK:         %[[HEADS:.*]] = arith.muli %c2{{.*}}, %[[ASKED]]
// CHECK:         tile.launch @asked_2_project grid(%{{.*}}, %[[HEADS]], %{{.*}})
func.func @asked(%x: tensor<1x80x24xf32> {attn.name = "x"}, %wq: tensor<24x32xf32> {attn.name = "wq", attn.parameter}, %k: tensor<1x2x80x16xf32> {attn.name = "k"},
                 %v: tensor<1x2x80x16xf32> {attn.name = "v"}) -> (tensor<1x2x80x16xf32> {attn.name = "o"}, tensor<1x2x80x16xf32> {attn.name = "saved.q"}) {
  %q = attn.project %x, %wq {execution = #attn.execution<values = fused>} : tensor<1x80x24xf32>, tensor<24x32xf32> -> tensor<1x2x80x16xf32>
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64} : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x80x16xf32>
  %again = attn.project %x, %wq : tensor<1x80x24xf32>, tensor<24x32xf32> -> tensor<1x2x80x16xf32>
  %left = attn.keep %again : tensor<1x2x80x16xf32>
  return %o, %left : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>
}
