// Slices of 16 of 24 channels, and of 32 of 48 values: a slice of values is a program, counted with the heads, and slices of channels are
// a stage inside each tile of keys. Regions first, then the kernel of softmax.
//
// RUN: attn-opt %s -attn-to-tile=print-regions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REGION
// RUN: attn-opt %s -attn-to-tile -canonicalize -cse | FileCheck %s

#slices = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f32, warps = 4, stages = 1, feature_tile = 16, value_tile = 32>

// REGION-LABEL: region @softmax_softmax grid(batch, head, value tile 32, query tile 64)
// REGION:       stage key step 64 segments(masked: begin to end masked) carry(#tile.rescaled_sum<exp2, row>) {
// REGION-NEXT:    [[S:%[0-9]+]] = stage feature step 16 segments(all: begin to end) carry(#tile.sum) {
// REGION-NEXT:      [[Q:%[0-9]+]] = load {{.*}}[batch, head, query : rows, feature : 16]
// REGION-NEXT:      [[SCALED:%[0-9]+]] = scale([[Q]])
// REGION-NEXT:      [[K:%[0-9]+]] = load {{.*}}[batch, head, key : rows, feature : 16]
// REGION-NEXT:      carry pairs([[SCALED]], [[K]]) -> log
// REGION:         load {{.*}}[batch, head, key : rows, value : 32]
// REGION:       output {{.*}} to {{.*}}[batch, head, query : rows, value : 32]

// Two heads have two slices of values each: program 3 of that axis is slice 1 of head 1. Channels 16 to 31 are read where there are 24, and
// the last eight are 0.
// CHECK-LABEL: tile.kernel @softmax_softmax(
// CHECK-SAME:    grid(batch, head, query_block)
// CHECK-DAG:   [[C0:%[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:   [[C2:%[a-z0-9_]+]] = arith.constant 2 : index
// CHECK-DAG:   [[C24:%[a-z0-9_]+]] = arith.constant 24 : index
// CHECK-DAG:   [[C32:%[a-z0-9_]+]] = arith.constant 32 : index
// CHECK:       [[PROGRAM:%[a-z0-9_]+]] = tile.program_id{{ +}}head
// CHECK:       [[HEAD:%[a-z0-9_]+]] = arith.divui [[PROGRAM]], [[C2]]
// CHECK:       [[BEFORE:%[a-z0-9_]+]] = arith.muli [[HEAD]], [[C2]]
// CHECK:       [[SLICE:%[a-z0-9_]+]] = arith.subi [[PROGRAM]], [[BEFORE]]
// CHECK:       [[COLUMN:%[a-z0-9_]+]] = arith.muli [[SLICE]], [[C32]]
// CHECK:       tile.loop #tile.rescaled_sum<exp2, row> [[J:%[a-z0-9_]+]] = {{.*}} step 64
// CHECK:         [[LOGITS:%[a-z0-9_]+]] = tile.loop #tile.sum [[F:%[a-z0-9_]+]] = [[C0]] to [[C24]] step 16
// CHECK:           tile.load %{{.*}}[%{{.*}}, [[HEAD]], %{{.*}}, [[F]]] : {{.*}} -> tensor<64x16xf32>
// CHECK:           tile.load %{{.*}}[%{{.*}}, [[HEAD]], [[J]], [[F]]] {{.*}} -> tensor<64x16xf32>
// CHECK:           tile.dot {{.*}} {transpose_b} : tensor<64x16xf32>, tensor<64x16xf32> -> tensor<64x64xf32>
// CHECK:         tile.mask [[LOGITS]]
// CHECK:         tile.load %{{.*}}[%{{.*}}, [[HEAD]], [[J]], [[COLUMN]]] {{.*}} -> tensor<64x32xf32>
// CHECK:       tile.store %{{.*}}, %{{.*}}[%{{.*}}, [[HEAD]], %{{.*}}, [[COLUMN]]] : tensor<64x32xf32>
func.func @softmax(%q: tensor<1x2x70x24xf32>, %k: tensor<1x2x70x24xf32>, %v: tensor<1x2x70x48xf32>) -> tensor<1x2x70x48xf32>
    attributes {tile.schedule = #slices} {
  %o = attn.softmax %q, %k, %v {scale = 0.25 : f64}
      : tensor<1x2x70x24xf32>, tensor<1x2x70x24xf32>, tensor<1x2x70x48xf32> -> tensor<1x2x70x48xf32>
  return %o : tensor<1x2x70x48xf32>
}

// The state of a slice of features and one of values is a program; rows sum over slices of features in the carry of online softmax.
// REGION-LABEL: region @effatt_state grid(batch, head, value tile 32, feature tile 16)
// REGION:       output {{.*}} to [[MEANS:workspace[0-9]+]][batch, head, feature : 16, value : 32]
// REGION-LABEL: region @effatt_readout grid(batch, head, value tile 32, query tile 64)
// REGION:       stage feature step 16 segments(all: begin to end) carry(#tile.rescaled_sum<exp2, row>) {
// REGION:         existing_features({{.*}}) {count = 24} -> log
// REGION:         load {{.*}}[batch, head, feature : 16, value : 32]
// REGION:         carry softmax_partial
func.func @effatt(%q: tensor<1x2x70x24xf32>, %k: tensor<1x2x70x24xf32>, %v: tensor<1x2x70x48xf32>) -> tensor<1x2x70x48xf32>
    attributes {tile.schedule = #slices} {
  %o = attn.effatt %q, %k, %v : tensor<1x2x70x24xf32>, tensor<1x2x70x24xf32>, tensor<1x2x70x48xf32> -> tensor<1x2x70x48xf32>
  return %o : tensor<1x2x70x48xf32>
}

// A sketch reads slices of a token, and of the rows of its matrices of signs; the length of the token comes first. Each slice of values has a
// state of its own, behind those of the head's others: no program waits for another.
// REGION-LABEL: region @sketched_query_sketch grid(batch, head, query tile 64)
// REGION:       stage feature step 16 segments(all: begin to end) carry(#tile.sum) {
// REGION:         carry squares
// REGION:       [[LEAF:%[0-9]+]] = stage feature step 16 segments(all: begin to end) carry(#tile.sum) {
// REGION:         [[SIGNS:%[0-9]+]] = load sketch0.0[head, feature : 16, 0 : 16]
// REGION-NEXT:    carry sketch_leaves({{.*}}, [[SIGNS]])
// REGION:       sketch_tree([[LEAF]], {{.*}}) {leaves = 2}
// REGION-LABEL: region @sketched_chunked grid(batch, head, value tile 32)
// REGION:       output {{.*}} to [[STATE:workspace[0-9]+]][batch, head * 2 + value / 32, slice, 0 : 16, 0 : 32]
// REGION:       load [[STATE]][batch, head * 2 + value / 32, slice, 0 : 16, 0 : 32]
// REGION:       carry square_readout
// REGION:       stage key causal(query) step 64 segments(own: block to rows_end masked)
// REGION-NEXT:    stage feature step 16 segments(all: begin to end) carry(#tile.sum) {
// REGION:           carry pairs
// REGION:         load {{.*}}[batch, head, key : rows, value : 32]
// REGION-NEXT:    carry power_partial
// REGION:       output {{.*}} to o[batch, head, query : rows, value : 32]
!leaf = tensor<2x32xf32>
!node = tensor<2x16xf32>
!index = tensor<2x16xi32>
func.func @sketched(%q: tensor<1x2x128x24xf32>, %k: tensor<1x2x128x24xf32>, %v: tensor<1x2x128x48xf32>,
    %s: !leaf {attn.name = "s", attn.parameter}, %t: !node {attn.name = "t", attn.parameter},
    %i: !index {attn.name = "i", attn.parameter}, %j: !index {attn.name = "j", attn.parameter}) -> tensor<1x2x128x48xf32>
    attributes {tile.schedule = #slices} {
  %o = attn.polysketch %q, %k, %v signs(%s, %s, %t, %t : !leaf, !leaf, !node, !node) indices(%i, %i, %j, %j : !index, !index, !index, !index)
      {degree = 4 : i64, size = 16 : i64, local_exact = 64 : i64, causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64, execution = #attn.execution<form = chunked>}
      : tensor<1x2x128x24xf32>, tensor<1x2x128x24xf32>, tensor<1x2x128x48xf32> -> tensor<1x2x128x48xf32>
  return %o : tensor<1x2x128x48xf32>
}
