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

// A state is stored by the kernel that reads it, with the units of features that are exponents.
// CHECK-LABEL: func.func @state(
// CHECK-SAME:    memref<?x2x32xf32, strided<[?, ?, 1]>> {attune.dims = "b..", attune.name = "saved.sum"
// CHECK-NOT:     tile.launch
// CHECK:         %[[Z:.*]] = tile.either %arg6, %{{.*}}
// CHECK:         %[[S:.*]] = tile.either %arg5, %{{.*}}
// CHECK:         %[[M:.*]] = tile.either %arg7, %{{.*}}
// CHECK:         tile.launch @state_fused_state grid(%{{.*}}, %c2{{.*}}) ({{.*}}, %[[S]], %[[Z]], %[[M]])
// CHECK-NEXT:    return
func.func @state(%q: tensor<1x2x80x16xf32> {attn.name = "q"}, %k: tensor<1x2x80x16xf32> {attn.name = "k"}, %v: tensor<1x2x80x16xf32> {attn.name = "v"},
                 %omega: tensor<1x32x16xf32> {attn.name = "omega", attn.parameter})
    -> (tensor<1x2x80x16xf32> {attn.name = "o"}, tensor<1x2x32x16xf32> {attn.name = "saved.state"}, tensor<1x2x32xf32> {attn.name = "saved.sum"},
        tensor<1x2x32xf32> {attn.name = "saved.maximum"}) {
  %m = attn.key_maximum %k parameter(%omega : tensor<1x32x16xf32>)
      {feature_map = #attn.feature_map<favor, features = 32, epsilon = 0.0, scale = 0.25, stabilizer = none>} : tensor<1x2x80x16xf32> -> tensor<1x2x32xf32>
  %a = attn.map %q parameter(%omega : tensor<1x32x16xf32>) shift(%m : tensor<1x2x32xf32>)
      {feature_map = #attn.feature_map<favor, features = 32, epsilon = 0.0, scale = 0.25, stabilizer = constant>} : tensor<1x2x80x16xf32> -> tensor<1x2x80x32xf32>
  %b = attn.map %k parameter(%omega : tensor<1x32x16xf32>) shift(%m : tensor<1x2x32xf32>)
      {feature_map = #attn.feature_map<favor, features = 32, epsilon = 0.0, scale = 0.25, stabilizer = none>, keys} : tensor<1x2x80x16xf32> -> tensor<1x2x80x32xf32>
  %S, %z = attn.state %b, %v : tensor<1x2x80x32xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x32x16xf32>, tensor<1x2x32xf32>
  %num, %den = attn.readout %a, %S, %z {execution = #attn.execution<values = fused>}
      : tensor<1x2x80x32xf32>, tensor<1x2x32x16xf32>, tensor<1x2x32xf32> -> tensor<1x2x80x16xf32>, tensor<1x2x80xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : tensor<1x2x80x16xf32>, tensor<1x2x80xf32> -> tensor<1x2x80x16xf32>
  %0 = attn.keep %S : tensor<1x2x32x16xf32>
  %1 = attn.keep %z : tensor<1x2x32xf32>
  %2 = attn.keep %m : tensor<1x2x32xf32>
  return %o, %0, %1, %2 : tensor<1x2x80x16xf32>, tensor<1x2x32x16xf32>, tensor<1x2x32xf32>, tensor<1x2x32xf32>
}

// A plan that stores none has it made if a run asks for it.
// CHECK-LABEL: func.func @state_asked(
// CHECK:         tile.launch @state_asked_softmax
// CHECK:         %[[ASKED:.*]] = arith.minsi
// CHECK:         %[[HEADS:.*]] = arith.muli %c2{{.*}}, %[[ASKED]]
// CHECK:         tile.launch @state_asked_2_state grid(%{{.*}}, %[[HEADS]]
func.func @state_asked(%q: tensor<1x2x80x16xf32> {attn.name = "q"}, %k: tensor<1x2x80x16xf32> {attn.name = "k"}, %v: tensor<1x2x80x16xf32> {attn.name = "v"})
    -> (tensor<1x2x80x16xf32> {attn.name = "o"}, tensor<1x2x16x16xf32> {attn.name = "saved.state"}) {
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64} : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x80x16xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x2x80x16xf32> -> tensor<1x2x80x16xf32>
  %S, %z = attn.state %b, %v : tensor<1x2x80x16xf32>, tensor<1x2x80x16xf32> -> tensor<1x2x16x16xf32>, tensor<1x2x16xf32>
  %left = attn.keep %S : tensor<1x2x16x16xf32>
  return %o, %left : tensor<1x2x80x16xf32>, tensor<1x2x16x16xf32>
}
