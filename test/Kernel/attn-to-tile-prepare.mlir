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

// E of a compression, for keys and values once: blocks of 64 tokens, of which a tile is one run of memory. Past the tokens
// it is 0.
// CHECK-LABEL: func.func @slots__prepare(
// CHECK-SAME:    memref<1x2x6x64xbf16> {attune.dims = "....", attune.name = "e.packed", attune.role = "prepared"
// CHECK-NOT:     "e.packed.2"
// CHECK:         tile.launch @slots__prepare_e_packed_pack grid(%c1{{[_0-9]*}}, %c2{{[_0-9]*}}) (%arg0, %arg1)
// CHECK-LABEL: func.func @slots(
// CHECK-COUNT-2: tile.launch @slots_{{[23]}}_compress grid({{.*}}) (%{{.*}}, %arg5, %{{.*}})
// CHECK-LABEL: tile.kernel @slots__prepare_e_packed_pack(
// CHECK:         %[[E:.*]] = tile.load %arg0[%{{.*}}, %{{.*}}, %{{.*}}] : memref<1x6x70xbf16{{.*}}> -> tensor<6x64xbf16>
// CHECK:         tile.store %[[E]], %arg1[%{{.*}}, %{{.*}}, %{{.*}}, %c0{{[_0-9]*}}]
// CHECK-LABEL: tile.kernel @slots_2_compress(
// CHECK:         tile.loop #tile.sum %[[TOKEN:[a-z0-9]+]] =
// CHECK:           %[[BLOCK:.*]] = arith.divui %[[TOKEN]], %c64
// CHECK:           tile.load %{{.*}}[%{{.*}}, %[[BLOCK]], %{{.*}}, %c0{{[_0-9]*}}] : memref<1x2x6x64xbf16> -> tensor<6x64xbf16>
func.func @slots(%q: tensor<1x2x70x8xbf16> {attn.name = "q"}, %k: tensor<1x2x70x8xbf16> {attn.name = "k"},
                 %v: tensor<1x2x70x8xbf16> {attn.name = "v"},
                 %e: tensor<1x6x70xbf16> {attn.name = "e", attn.parameter}) -> tensor<1x2x70x8xbf16> {
  %ck = attn.compress %k, %e : tensor<1x2x70x8xbf16>, tensor<1x6x70xbf16> -> tensor<1x2x6x8xf32>
  %cv = attn.compress %v, %e : tensor<1x2x70x8xbf16>, tensor<1x6x70xbf16> -> tensor<1x2x6x8xf32>
  %o = attn.softmax %q, %ck, %cv {scale = 1.0 : f64} : tensor<1x2x70x8xbf16>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x70x8xbf16>
  return %o : tensor<1x2x70x8xbf16>
}

// -----

// W of an output projection that is a kernel of its own: blocks of 64 of its columns, whose rows follow one another. Past the
// columns it is 0.
// CHECK-LABEL: func.func @output__prepare(
// CHECK-SAME:    memref<2x8x64xf32> {attune.dims = "...", attune.name = "wo.packed", attune.role = "prepared"
// CHECK:         tile.launch @output__prepare_wo_packed_pack grid({{.*}}) (%arg0, %arg1)
// CHECK-LABEL: tile.kernel @output__prepare_wo_packed_pack(
// CHECK:         %[[W:.*]] = tile.load %arg0[%{{.*}}, %{{.*}}] : memref<8x70xf32{{.*}}> -> tensor<64x64xf32>
// CHECK:         tile.store %[[W]], %arg1[
// CHECK-LABEL: tile.kernel @output_2_project_output(
// CHECK:         tile.loop #tile.sum %[[ROW:[a-z0-9]+]] = {{.*}} step 4
// CHECK:           tile.load %{{.*}}[%{{.*}}, %[[ROW]], %{{.*}}] : memref<2x8x64xf32> -> tensor<4x64xf32>
func.func @output(%q: tensor<1x2x9x4xf32> {attn.name = "q"}, %wo: tensor<8x70xf32> {attn.name = "wo", attn.parameter}) -> tensor<1x9x70xf32> {
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64} : tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32> -> tensor<1x2x9x4xf32>
  %r = attn.project_output %o, %wo : tensor<1x2x9x4xf32>, tensor<8x70xf32> -> tensor<1x9x70xf32>
  return %r : tensor<1x9x70xf32>
}

// -----

// E that every run is given, or of one block: read as it lies.
// CHECK-LABEL: func.func @slots_as_they_are(
// CHECK-NOT:     prepared
func.func @slots_as_they_are(%q: tensor<1x1x70x8xf32> {attn.name = "q"}, %k: tensor<1x1x70x8xf32> {attn.name = "k"},
                             %v: tensor<1x1x64x8xf32> {attn.name = "v"}, %e: tensor<1x6x70xf32> {attn.name = "e"},
                             %f: tensor<1x6x64xf32> {attn.name = "f", attn.parameter}) -> tensor<1x1x70x8xf32> {
  %ck = attn.compress %k, %e : tensor<1x1x70x8xf32>, tensor<1x6x70xf32> -> tensor<1x1x6x8xf32>
  %cv = attn.compress %v, %f : tensor<1x1x64x8xf32>, tensor<1x6x64xf32> -> tensor<1x1x6x8xf32>
  %o = attn.softmax %q, %ck, %cv {scale = 1.0 : f64} : tensor<1x1x70x8xf32>, tensor<1x1x6x8xf32>, tensor<1x1x6x8xf32> -> tensor<1x1x70x8xf32>
  return %o : tensor<1x1x70x8xf32>
}

// -----

// Weights of a convolution: those of each tap, channel after channel, in f32.
// CHECK-LABEL: func.func @taps__prepare(
// CHECK-SAME:    memref<2x9x5xf32> {attune.dims = "...", attune.name = "lepe_weight.packed", attune.role = "prepared"
// CHECK:         tile.launch @taps__prepare_lepe_weight_packed_pack grid(%c2{{[_0-9]*}}) (%arg0, %arg1)
// CHECK-LABEL: tile.kernel @taps__prepare_lepe_weight_packed_pack(
// CHECK:         %[[COLUMN:.*]] = tile.load %{{.*}}[%{{.*}}, %{{.*}}, %c8{{[_0-9]*}}] : memref<2x5x9xbf16{{.*}}> -> tensor<5x1xbf16>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[COLUMN]]
// CHECK:         %[[TAP:.*]] = tile.reduce add %[[WIDE]] axis 1
// CHECK:         tile.store %[[TAP]], %arg1[%{{.*}}, %c8{{[_0-9]*}}, %c0{{[_0-9]*}}] : tensor<5xf32>, memref<2x9x5xf32>
// CHECK-LABEL: tile.kernel @taps_softmax(
// CHECK:         tile.load %{{.*}}[%{{.*}}, %c8{{[_0-9]*}}, %c0{{[_0-9]*}}] : memref<2x9x5xf32> -> tensor<5xf32>
func.func @taps(%q: tensor<1x2x12x5xbf16> {attn.name = "q"},
                %w: tensor<2x5x3x3xbf16> {attn.name = "lepe_weight", attn.parameter}) -> tensor<1x2x12x5xbf16> {
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64} : tensor<1x2x12x5xbf16>, tensor<1x2x12x5xbf16>, tensor<1x2x12x5xbf16> -> tensor<1x2x12x5xbf16>
  %r = attn.lepe %o, %q, %w {grid = array<i64: 3, 4>} : tensor<1x2x12x5xbf16>, tensor<1x2x12x5xbf16>, tensor<2x5x3x3xbf16> -> tensor<1x2x12x5xbf16>
  return %r : tensor<1x2x12x5xbf16>
}

// -----

// Weights of a convolution that every run is given: read as they lie.
// CHECK-LABEL: func.func @taps_as_they_are(
// CHECK-NOT:     prepared
// CHECK:         tile.load %{{.*}}[%{{.*}}, %{{.*}}, %c2{{[_0-9]*}}] : memref<2x5x3xf32{{.*}}> -> tensor<5x1xf32>
func.func @taps_as_they_are(%q: tensor<1x2x12x5xf32> {attn.name = "q"}, %w: tensor<2x5x3xf32> {attn.name = "w"}) -> tensor<1x2x12x5xf32> {
  %o = attn.softmax %q, %q, %q {scale = 1.0 : f64} : tensor<1x2x12x5xf32>, tensor<1x2x12x5xf32>, tensor<1x2x12x5xf32> -> tensor<1x2x12x5xf32>
  %r = attn.lepe %o, %q, %w : tensor<1x2x12x5xf32>, tensor<1x2x12x5xf32>, tensor<2x5x3xf32> -> tensor<1x2x12x5xf32>
  return %r : tensor<1x2x12x5xf32>
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
  %q = attn.project %x, %wq bias(%bq : tensor<6xf32>) {execution = #attn.execution<form = folded>} : tensor<1x9x70xf32>, tensor<70x6xf32> -> tensor<1x2x9x3xf32>
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
// CHECK:         tile.launch @plans_2_project grid({{.*}}) (%arg0, %arg2, %arg7, %{{[a-z0-9_]+}})
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
  %q = attn.project %x, %wq bias(%bq : tensor<6xf32>) {execution = #attn.execution<form = folded>} : tensor<1x9x70xf32>, tensor<70x6xf32> -> tensor<1x2x9x3xf32>
  %a = attn.map %q parameter(%w : tensor<1x4x3xf32>) {feature_map = #map} : tensor<1x2x9x3xf32> -> tensor<1x2x9x4xf32>
  %b = attn.map %k parameter(%w : tensor<1x4x3xf32>) {feature_map = #map, keys} : tensor<1x2x9x3xf32> -> tensor<1x2x9x4xf32>
  %s, %z = attn.state %b, %v : tensor<1x2x9x4xf32>, tensor<1x2x9x3xf32> -> tensor<1x2x4x3xf32>, tensor<1x2x4xf32>
  %num, %den = attn.readout %a, %s, %z : tensor<1x2x9x4xf32>, tensor<1x2x4x3xf32>, tensor<1x2x4xf32> -> tensor<1x2x9x3xf32>, tensor<1x2x9xf32>
  %o = attn.normalize %num, %den {guard = #none} : tensor<1x2x9x3xf32>, tensor<1x2x9xf32> -> tensor<1x2x9x3xf32>
  return %o : tensor<1x2x9x3xf32>
}

// -----

// One weight that two omegas fold is two tensors; what two mechanisms read of the same parameters is one.
// CHECK-LABEL: func.func @two_omegas__prepare(
// CHECK-SAME:    memref<2x70x4xf32> {attune.dims = "...", attune.name = "wq.folded", attune.role = "prepared"
// CHECK-SAME:    memref<2x70x4xf32> {attune.dims = "...", attune.name = "wq.folded.2", attune.role = "prepared"
// CHECK-NOT:     wq.folded.3
// CHECK:         tile.launch @two_omegas__prepare_wq_folded_fold grid({{.*}}) (%arg0, %arg1, %arg3)
// CHECK:         tile.launch @two_omegas__prepare_wq_folded_2_fold grid({{.*}}) (%arg0, %arg2, %arg4)
// CHECK-LABEL: func.func @two_omegas(
// CHECK-COUNT-2: _project grid({{.*}}) (%arg0, %arg6,
// CHECK-COUNT-2: _project grid({{.*}}) (%arg0, %arg7,
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#map = #attn.feature_map<favor_relu, features = 4, epsilon = 0.0>
!t = tensor<1x2x9x3xf32>
!f = tensor<1x2x9x4xf32>
!w = tensor<1x4x3xf32>
func.func @two_omegas(%x: tensor<1x9x70xf32> {attn.name = "x"}, %wq: tensor<70x6xf32> {attn.name = "wq", attn.parameter},
                      %w0: !w {attn.name = "omega0", attn.parameter}, %w1: !w {attn.name = "omega1", attn.parameter},
                      %v: !t {attn.name = "v"}) -> tensor<1x4x9x3xf32> {
  %q0 = attn.project %x, %wq {execution = #attn.execution<form = folded>} : tensor<1x9x70xf32>, tensor<70x6xf32> -> !t
  %k0 = attn.project %x, %wq {execution = #attn.execution<form = folded>} : tensor<1x9x70xf32>, tensor<70x6xf32> -> !t
  %q1 = attn.project %x, %wq {execution = #attn.execution<form = folded>} : tensor<1x9x70xf32>, tensor<70x6xf32> -> !t
  %k1 = attn.project %x, %wq {execution = #attn.execution<form = folded>} : tensor<1x9x70xf32>, tensor<70x6xf32> -> !t
  %a0 = attn.map %q0 parameter(%w0 : !w) {feature_map = #map} : !t -> !f
  %b0 = attn.map %k0 parameter(%w0 : !w) {feature_map = #map, keys} : !t -> !f
  %a1 = attn.map %q1 parameter(%w1 : !w) {feature_map = #map} : !t -> !f
  %b1 = attn.map %k1 parameter(%w1 : !w) {feature_map = #map, keys} : !t -> !f
  %s0, %z0 = attn.state %b0, %v : !f, !t -> tensor<1x2x4x3xf32>, tensor<1x2x4xf32>
  %n0, %d0 = attn.readout %a0, %s0, %z0 : !f, tensor<1x2x4x3xf32>, tensor<1x2x4xf32> -> !t, tensor<1x2x9xf32>
  %o0 = attn.normalize %n0, %d0 {guard = #none} : !t, tensor<1x2x9xf32> -> !t
  %s1, %z1 = attn.state %b1, %v : !f, !t -> tensor<1x2x4x3xf32>, tensor<1x2x4xf32>
  %n1, %d1 = attn.readout %a1, %s1, %z1 : !f, tensor<1x2x4x3xf32>, tensor<1x2x4xf32> -> !t, tensor<1x2x9xf32>
  %o1 = attn.normalize %n1, %d1 {guard = #none} : !t, tensor<1x2x9xf32> -> !t
  %o = attn.concat_heads %o0, %o1 : !t, !t -> tensor<1x4x9x3xf32>
  return %o : tensor<1x4x9x3xf32>
}

// -----

// Two sketches, all of whose leaves and sides of nodes have the same signs and indices: one matrix of a leaf, one of a node.
// CHECK-LABEL: func.func @one_sketch__prepare(
// CHECK-SAME:    attune.name = "sketch0.0"
// CHECK-SAME:    attune.name = "sketch0.2"
// CHECK-NOT:     sketch1
!t = tensor<1x1x8x4xf32>
!s = tensor<1x4xf32>
!i = tensor<1x4xi32>
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @one_sketch(%q: !t {attn.name = "q"}, %k: !t {attn.name = "k"}, %v: !t {attn.name = "v"}, %s: !s {attn.name = "s", attn.parameter},
                      %i: !i {attn.name = "i", attn.parameter}) -> tensor<1x2x8x4xf32> {
  %a = attn.polysketch %q, %k, %v signs(%s, %s, %s, %s : !s, !s, !s, !s) indices(%i, %i, %i, %i : !i, !i, !i, !i)
      {degree = 4 : i64, denominator = #none, scale = 1.0 : f64, size = 4 : i64} : !t, !t, !t -> !t
  %b = attn.polysketch %k, %q, %v signs(%s, %s, %s, %s : !s, !s, !s, !s) indices(%i, %i, %i, %i : !i, !i, !i, !i)
      {degree = 4 : i64, denominator = #none, scale = 1.0 : f64, size = 4 : i64} : !t, !t, !t -> !t
  %o = attn.concat_heads %a, %b : !t, !t -> tensor<1x2x8x4xf32>
  return %o : tensor<1x2x8x4xf32>
}
