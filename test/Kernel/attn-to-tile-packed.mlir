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

// Windows would not begin with the sequences.
!h = tensor<1x2x?x8xf32>
// expected-error @below {{'tile.kernel' op expected a kernel that packed sequences can have, but got a grid whose axis 0 depends on lengths in another way (not supported yet); choose another form with `pin`, or another mechanism}}
func.func @windows(%q: !h, %k: !h, %v: !h, %offsets: tensor<?xi32> {attn.offsets = "qk"}) -> !h {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<4>} : !h, !h, !h -> !h
  return %o : !h
}
