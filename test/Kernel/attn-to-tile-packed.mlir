// RUN: attn-opt %s -split-input-file -attn-to-tile -verify-diagnostics | FileCheck %s

// Blocks of all sequences along one axis of the grid, as many as the host knows without the offsets.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    attune.dims = "1.q."
// CHECK-SAME:    attune.offsets = "qk"
// CHECK:         %[[TOKENS:.*]] = memref.dim %arg0, %c2
// CHECK:         %[[BLOCKS:.*]] = arith.divui %[[TOKENS]], %c64
// CHECK:         %[[GRID:.*]] = arith.addi %[[BLOCKS]],
// CHECK:         tile.launch @softmax_softmax grid(%{{.*}}, %{{.*}}, %[[GRID]])
// CHECK-LABEL: tile.kernel @softmax_softmax
// CHECK:         memref.load %[[OFFSETS:.*]][
// CHECK:         tile.load %{{.*}}[%c0{{[_0-9]*}}, %{{.*}}, %{{.*}}, %c0{{[_0-9]*}}] rows(
// CHECK:         tile.store %{{.*}}, %{{.*}}[%c0{{[_0-9]*}}, %{{.*}}, %{{.*}}, %c0{{[_0-9]*}}] rows(
!h = tensor<1x2x?x8xf32>
func.func @softmax(%q: !h, %k: !h, %v: !h, %offsets: tensor<?xi32> {attn.offsets = "qk"}) -> !h {
  %o = attn.softmax %q, %k, %v {causal, scale = 1.0 : f64} : !h, !h, !h -> !h
  return %o : !h
}

// -----

// A program for each sequence.
// CHECK-LABEL: func.func @chunks(
// CHECK:         %[[COUNT:.*]] = arith.subi %{{.*}}, %c1
// CHECK:         tile.launch @chunks_chunked grid(%[[COUNT]], %{{.*}})
!h = tensor<1x2x?x8xf32>
func.func @chunks(%q: !h, %k: !h, %v: !h, %offsets: tensor<?xi32> {attn.offsets = "qk"}) -> !h {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : !h -> !h
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>} : !h -> !h
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v : !h, !h, !h -> !h, tensor<1x2x?xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : !h, tensor<1x2x?xf32> -> !h
  return %o : !h
}

// -----

// Pieces of the keys have a list too, in which each sequence has its own; S and z have an entry for each sequence.
// CHECK-LABEL: func.func @pieces(
// CHECK:         %[[ONE:.*]] = memref.dim %[[K:arg1]], %c0
// CHECK:         tile.workspace(%[[SEQUENCES:.*]]) : memref<?x2x24xf32>
// CHECK:         tile.workspace(%{{.*}}, %[[LIST:.*]]) : memref<?x2x?x24x40xf32>
// CHECK:         tile.launch @pieces_state grid(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK:         tile.launch @pieces_merge grid(%{{.*}}, %{{.*}})
// CHECK-LABEL: tile.kernel @pieces_merge(
// CHECK:         %[[S:.*]] = tile.program_id batch
// CHECK:         tile.loop
// CHECK:           %[[PLACE:.*]] = arith.addi %[[FIRST:.*]], %{{.*}} : index
// CHECK:           tile.load %{{.*}}[%c0{{[_0-9]*}}, %{{.*}}, %[[PLACE]], %{{.*}}, %{{.*}}]
// CHECK:         tile.store %{{.*}}, %{{.*}}[%[[S]], %{{.*}}, %{{.*}}, %{{.*}}]
!q = tensor<1x4x?x24xf32>
!k = tensor<1x2x?x24xf32>
!v = tensor<1x2x?x40xf32>
!o = tensor<1x4x?x40xf32>
func.func @pieces(%q: !q, %k: !k, %v: !v, %offsets: tensor<?xi32> {attn.offsets = "q"}, %keys: tensor<?xi32> {attn.offsets = "k"}) -> !o {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : !q -> !q
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>} : !k -> !k
  %s, %z = attn.state %b, %v : !k, !v -> tensor<1x2x24x40xf32>, tensor<1x2x24xf32>
  %num, %den = attn.readout %a, %s, %z : !q, tensor<1x2x24x40xf32>, tensor<1x2x24xf32> -> !o, tensor<1x4x?xf32>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : !o, tensor<1x4x?xf32> -> !o
  return %o : !o
}

// -----

// A projection works on each token by itself, and knows nothing of sequences. The state before the first token, and the one that is left,
// have an entry for each.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    tensor<?x1x8x8xf32>
// CHECK:         %[[BLOCKS:.*]] = arith.ceildivui
// CHECK:         tile.launch @layer_{{[0-9]}}_project grid(%{{.*}}, %{{.*}}, %[[BLOCKS]])
// CHECK-LABEL: tile.kernel @layer_{{[0-9]}}_project(
// CHECK-NOT:     memref.load
// CHECK-LABEL: tile.kernel @layer_chunked(
// CHECK:         memref.load
!x = tensor<1x?x16xf32>
!h = tensor<1x1x?x8xf32>
!s = tensor<1x1x8x8xf32>
!z = tensor<1x1x8xf32>
func.func @layer(%x: !x {attn.name = "x"}, %offsets: tensor<?xi32> {attn.offsets = "qk"}, %s0: !s, %z0: !z, %wq: tensor<16x8xf32> {attn.parameter},
    %wk: tensor<16x8xf32> {attn.parameter}, %wv: tensor<16x8xf32> {attn.parameter}) -> (!h, !s, !z) {
  %q = attn.project %x, %wq : !x, tensor<16x8xf32> -> !h
  %k = attn.project %x, %wk : !x, tensor<16x8xf32> -> !h
  %v = attn.project %x, %wv : !x, tensor<16x8xf32> -> !h
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : !h -> !h
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>} : !h -> !h
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v initial(%s0, %z0 : !s, !z) : !h, !h, !h -> !h, tensor<1x1x?xf32>, !s, !z
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : !h, tensor<1x1x?xf32> -> !h
  return %o, %s, %z : !h, !s, !z
}

// -----

// Windows of all sequences are blocks along the axis that the batch has: a program finds its sequence, and its number among that one's.
// CHECK-LABEL: func.func @windows(
// CHECK:         %[[WINDOWS:.*]] = arith.divui %{{.*}}, %c4
// CHECK:         %[[LIST:.*]] = arith.addi %[[WINDOWS]], %{{.*}}
// CHECK:         tile.launch @windows_softmax grid(%[[LIST]], %{{.*}}, %{{.*}})
// CHECK-LABEL: tile.kernel @windows_softmax
// CHECK:         %[[PROGRAM:.*]] = tile.program_id batch
// CHECK-NOT:     arith.remui
// CHECK:         %[[NUMBER:.*]] = arith.subi %[[PROGRAM]],
!h = tensor<1x2x?x8xf32>
func.func @windows(%q: !h, %k: !h, %v: !h, %offsets: tensor<?xi32> {attn.offsets = "qk"}) -> !h {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<4>} : !h, !h, !h -> !h
  return %o : !h
}

// -----

// An image has a number of tokens.
!h = tensor<1x2x?x8xf32>
// expected-error @below {{'tile.kernel' op expected a kernel that packed sequences can have, but got a grid whose axis 0 depends on lengths in another way (not supported yet); choose another form with `pin`, or another mechanism}}
func.func @image(%q: !h, %k: !h, %v: !h, %offsets: tensor<?xi32> {attn.offsets = "qk"}) -> !h {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<2x2 of 4x4>} : !h, !h, !h -> !h
  return %o : !h
}
