// RUN: attn-opt %s -split-input-file -attn-to-tile | FileCheck %s

// What a library prepares of the weights of its projections: those of f32 are packed by heads.
// CHECK-LABEL: func.func @packed__prepare(
// CHECK-SAME:    attune.name = "wq", attune.role = "parameter"
// CHECK-SAME:    memref<2x70x3xf32> {attune.dims = "...", attune.name = "wq.packed", attune.role = "prepared"
// CHECK-SAME:    attune.name = "wk.packed"
// CHECK-NOT:     "wv.packed"
// CHECK:         tile.launch @packed__prepare_wq_packed_pack grid({{.*}}) (%arg0, %arg2)
// CHECK-LABEL: func.func @packed(
// CHECK:         tile.launch @packed_2_project grid({{.*}}) (%arg0, %arg5, %{{[a-z0-9_]+}})
func.func @packed(%x: tensor<1x9x70xf32> {attn.name = "x"}, %wq: tensor<70x6xf32> {attn.name = "wq", attn.parameter},
                  %wk: tensor<70x6xf32> {attn.name = "wk", attn.parameter}, %v: tensor<1x2x9x3xf32> {attn.name = "v"}) -> tensor<1x2x9x3xf32> {
  %q = attn.project %x, %wq : tensor<1x9x70xf32>, tensor<70x6xf32> -> tensor<1x2x9x3xf32>
  %k = attn.project %x, %wk : tensor<1x9x70xf32>, tensor<70x6xf32> -> tensor<1x2x9x3xf32>
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64} : tensor<1x2x9x3xf32>, tensor<1x2x9x3xf32>, tensor<1x2x9x3xf32> -> tensor<1x2x9x3xf32>
  return %o : tensor<1x2x9x3xf32>
}

// -----

// One head, a small type, or a weight that every run is given: read as it lies.
// CHECK-LABEL: func.func @as_it_is(
// CHECK-NOT:     prepared
func.func @as_it_is(%x: tensor<1x9x70xf32> {attn.name = "x"}, %wq: tensor<70x3xf32> {attn.name = "wq", attn.parameter},
                    %wk: tensor<70x3xf32> {attn.name = "wk"}, %v: tensor<1x1x9x3xf32> {attn.name = "v"}) -> tensor<1x1x9x3xf32> {
  %q = attn.project %x, %wq : tensor<1x9x70xf32>, tensor<70x3xf32> -> tensor<1x1x9x3xf32>
  %k = attn.project %x, %wk : tensor<1x9x70xf32>, tensor<70x3xf32> -> tensor<1x1x9x3xf32>
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64} : tensor<1x1x9x3xf32>, tensor<1x1x9x3xf32>, tensor<1x1x9x3xf32> -> tensor<1x1x9x3xf32>
  return %o : tensor<1x1x9x3xf32>
}

// -----

// Folded: omega times the weight, and times the bias.
// CHECK-LABEL: func.func @folded__prepare(
// CHECK-SAME:    memref<2x70x4xf32> {attune.dims = "...", attune.name = "wq.folded"
// CHECK-SAME:    memref<8xf32> {attune.dims = ".", attune.name = "bq.folded"
// CHECK:         tile.launch @folded__prepare_wq_folded_fold grid({{.*}}) (%arg0, %arg2, %arg3)
// CHECK:         tile.launch @folded__prepare_wq_folded_fold_bias grid({{.*}}) (%arg1, %arg2, %arg4)
// CHECK-LABEL: func.func @folded(
// CHECK:         tile.launch @folded_2_project grid({{.*}}) (%arg0, %arg7, %arg8, %{{[a-z0-9_]+}})
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#map = #attn.feature_map<favor_relu, features = 4, epsilon = 0.0>
func.func @folded(%x: tensor<1x9x70xf32> {attn.name = "x"}, %wq: tensor<70x6xf32> {attn.name = "wq", attn.parameter},
                  %bq: tensor<6xf32> {attn.name = "bq", attn.parameter}, %w: tensor<1x4x3xf32> {attn.name = "omega", attn.parameter},
                  %k: tensor<1x2x9x3xf32> {attn.name = "k"}, %v: tensor<1x2x9x3xf32> {attn.name = "v"}) -> tensor<1x2x9x3xf32> {
  %q = attn.project %x, %wq bias(%bq : tensor<6xf32>) {folded} : tensor<1x9x70xf32>, tensor<70x6xf32> -> tensor<1x2x9x3xf32>
  %a = attn.map %q parameter(%w : tensor<1x4x3xf32>) {feature_map = #map} : tensor<1x2x9x3xf32> -> tensor<1x2x9x4xf32>
  %b = attn.map %k parameter(%w : tensor<1x4x3xf32>) {feature_map = #map, keys} : tensor<1x2x9x3xf32> -> tensor<1x2x9x4xf32>
  %s, %z = attn.state %b, %v : tensor<1x2x9x4xf32>, tensor<1x2x9x3xf32> -> tensor<1x2x4x3xf32>, tensor<1x2x4xf32>
  %num, %den = attn.readout %a, %s, %z : tensor<1x2x9x4xf32>, tensor<1x2x4x3xf32>, tensor<1x2x4xf32> -> tensor<1x2x9x3xf32>, tensor<1x2x9xf32>
  %o = attn.normalize %num, %den {guard = #none} : tensor<1x2x9x3xf32>, tensor<1x2x9xf32> -> tensor<1x2x9x3xf32>
  return %o : tensor<1x2x9x3xf32>
}

// -----

// Plans of one library have the same prepared tensors, whichever they read.
// CHECK-LABEL: func.func @plans__prepare(
// CHECK-SAME:    attune.name = "wq.packed"
// CHECK-SAME:    attune.name = "wq.folded"
// CHECK-SAME:    attune.name = "bq.folded"
// CHECK-LABEL: func.func @plans(
// CHECK-SAME:    attune.name = "wq.packed"{{.*}}attune.name = "wq.folded"{{.*}}attune.name = "bq.folded"
// CHECK:         tile.launch @plans_2_project grid({{.*}}) (%arg0, %arg7, %arg2, %{{[a-z0-9_]+}})
// CHECK-NOT:   __prepare
// CHECK-LABEL: func.func @plans__state(
// CHECK-SAME:    attune.name = "wq.packed"{{.*}}attune.name = "wq.folded"{{.*}}attune.name = "bq.folded"
// CHECK:         tile.launch @plans__state_2_project grid({{.*}}) (%arg0, %arg8, %arg9, %{{[a-z0-9_]+}})
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#map = #attn.feature_map<favor_relu, features = 4, epsilon = 0.0>
func.func @plans(%x: tensor<1x9x70xf32> {attn.name = "x"}, %wq: tensor<70x6xf32> {attn.name = "wq", attn.parameter},
                  %bq: tensor<6xf32> {attn.name = "bq", attn.parameter}, %w: tensor<1x4x3xf32> {attn.name = "omega", attn.parameter},
                  %k: tensor<1x2x9x3xf32> {attn.name = "k"}, %v: tensor<1x2x9x3xf32> {attn.name = "v"}) -> tensor<1x2x9x3xf32>
    attributes {attn.plan = #attn.plan<form = state, from = 0>} {
  %q = attn.project %x, %wq bias(%bq : tensor<6xf32>) : tensor<1x9x70xf32>, tensor<70x6xf32> -> tensor<1x2x9x3xf32>
  %a = attn.map %q parameter(%w : tensor<1x4x3xf32>) {feature_map = #map} : tensor<1x2x9x3xf32> -> tensor<1x2x9x4xf32>
  %b = attn.map %k parameter(%w : tensor<1x4x3xf32>) {feature_map = #map, keys} : tensor<1x2x9x3xf32> -> tensor<1x2x9x4xf32>
  %s, %z = attn.state %b, %v : tensor<1x2x9x4xf32>, tensor<1x2x9x3xf32> -> tensor<1x2x4x3xf32>, tensor<1x2x4xf32>
  %num, %den = attn.readout %a, %s, %z : tensor<1x2x9x4xf32>, tensor<1x2x4x3xf32>, tensor<1x2x4xf32> -> tensor<1x2x9x3xf32>, tensor<1x2x9xf32>
  %o = attn.normalize %num, %den {guard = #none} : tensor<1x2x9x3xf32>, tensor<1x2x9xf32> -> tensor<1x2x9x3xf32>
  return %o : tensor<1x2x9x3xf32>
}

func.func @plans__state(%x: tensor<1x9x70xf32> {attn.name = "x"}, %wq: tensor<70x6xf32> {attn.name = "wq", attn.parameter},
                  %bq: tensor<6xf32> {attn.name = "bq", attn.parameter}, %w: tensor<1x4x3xf32> {attn.name = "omega", attn.parameter},
                  %k: tensor<1x2x9x3xf32> {attn.name = "k"}, %v: tensor<1x2x9x3xf32> {attn.name = "v"}) -> tensor<1x2x9x3xf32>
    attributes {attn.plan = #attn.plan<form = state, from = 65>} {
  %q = attn.project %x, %wq bias(%bq : tensor<6xf32>) {folded} : tensor<1x9x70xf32>, tensor<70x6xf32> -> tensor<1x2x9x3xf32>
  %a = attn.map %q parameter(%w : tensor<1x4x3xf32>) {feature_map = #map} : tensor<1x2x9x3xf32> -> tensor<1x2x9x4xf32>
  %b = attn.map %k parameter(%w : tensor<1x4x3xf32>) {feature_map = #map, keys} : tensor<1x2x9x3xf32> -> tensor<1x2x9x4xf32>
  %s, %z = attn.state %b, %v : tensor<1x2x9x4xf32>, tensor<1x2x9x3xf32> -> tensor<1x2x4x3xf32>, tensor<1x2x4xf32>
  %num, %den = attn.readout %a, %s, %z : tensor<1x2x9x4xf32>, tensor<1x2x4x3xf32>, tensor<1x2x4xf32> -> tensor<1x2x9x3xf32>, tensor<1x2x9xf32>
  %o = attn.normalize %num, %den {guard = #none} : tensor<1x2x9x3xf32>, tensor<1x2x9xf32> -> tensor<1x2x9x3xf32>
  return %o : tensor<1x2x9x3xf32>
}
