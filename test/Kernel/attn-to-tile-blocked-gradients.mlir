// RUN: attn-opt %s -attn-differentiate | attn-opt -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s

// The logarithms of the sums of each feature come along with the state; what reaches them from it is a product of two states.
// CHECK-LABEL: region @effatt_backward_state grid(batch, head)
// CHECK:           carry state(
// CHECK:         [[L:%.*]] = log_sums(
// CHECK-NEXT:    [[N:%.*]] = scale([[L]])
// CHECK:         output [[N]] to workspace0[batch, head, 0 : 16]
// CHECK:         [[S:%.*]] = state_mean(
// CHECK:         output [[S]] to workspace1[batch, head, 0 : 16, 0 : 16]
// CHECK-LABEL: region @effatt_backward_2_tokens_state grid(batch, head)
// CHECK:           to grad_q[batch, head, key : rows, 0 : 16]
// CHECK-LABEL: region @effatt_backward_3_state_products grid(batch, head)
// CHECK:         row_products(
// CHECK-LABEL: region @effatt_backward_3_tokens grid(batch, head, query tile 64)
// CHECK:         [[B:%.*]] = in_unit(
// CHECK:         times([[B]],
// CHECK:         to grad_k[batch, head, query : rows, 0 : 16]

// A row of the agents for all tokens of its run, over their number.
// CHECK-LABEL: region @agents_backward_{{[0-9]+}}_unpool grid(batch, head, query)
// CHECK:         [[ROW:%.*]] = load workspace0[batch, head, query, 0 : 16]
// CHECK:         [[N:%.*]] = number max(
// CHECK:         [[SHARE:%.*]] = over([[ROW]], [[N]])
// CHECK:           over_rows([[SHARE]])

// Pairs inside of blocks and outside of them reach tokens and sketches; those reach tokens by the derivative of the tree, over rows of norm about 1.
// CHECK-LABEL: region @sketches_backward_2_quadratic
// CHECK:           only_blocks({{.*}}) {length = 16}
// CHECK:           power({{.*}}) {3.000000e+00}
// CHECK-LABEL: region @sketches_backward_7_quadratic
// CHECK:           only_blocks({{.*}}) {length = 16, outside}
// CHECK-LABEL: region @sketches_backward_8_sketch_gradient grid(batch, head, query tile 64)
// CHECK:         [[Q:%.*]] = load q[
// CHECK:         [[C:%.*]] = load workspace0[batch, head, query : rows, 0 : 8]
// CHECK:         [[THERE:%.*]] = unless_zero_rows([[Q]], [[C]])
// CHECK:         [[X:%.*]] = over([[THERE]],
// CHECK:         [[SUM:%.*]] = sketch_tree_gradient([[X]], [[C]], {{.*}}) {leaves = 2}
// CHECK:         to grad_q[
// CHECK-NOT:   @sketches_backward_{{.*}}_tokens

// Parts of a result are written where they belong, and what reaches values through an encoding is added to them there. A window that fits into a tile
// has its softmax made there, of neither sums nor outputs of the forward pass. Taps are read by the places of tokens.
// CHECK-LABEL: region @parts_backward_tokens grid(batch, head, query tile 64)
// CHECK:         to grad_v[batch, head, query : rows, 0 : 16]
// CHECK-LABEL: region @parts_backward_2_lepe_values
// CHECK:         [[BEFORE:%.*]] = load grad_v[batch, head, query : rows, 0 : 16]
// CHECK:         [[VALUES:%.*]] = lepe_values({{.*}}) {taps = 9, columns = 8, across = 8}
// CHECK:         [[SUM:%.*]] = plus([[BEFORE]], [[VALUES]])
// CHECK:         output [[SUM]] to grad_v[batch, head, query : rows, 0 : 16]
// CHECK-NOT:   region @parts_backward{{.*}}_softmax
// CHECK-LABEL: region @parts_backward_3_key_gradients grid(batch, head, key tile 16)
// CHECK:           = softmax_of_pairs(
// CHECK:         to grad_v[batch, head + 2, key : rows, 0 : 16]
// CHECK-LABEL: region @parts_backward_4_lepe_values
// CHECK:         lepe_values({{.*}}) {taps = 9, columns = 8, across = 4, down = 4}
// CHECK:         to grad_v[batch, head + 2, query : rows, 0 : 16]
// CHECK-LABEL: region @parts_backward_5_lepe_parameters grid(head, value tile 16)
// CHECK:           carry compose(
// CHECK:         output [[SUMS:%.*]] to grad_part1.lepe.weight[head, value : 16, 0 : 1]
// CHECK:         output [[SUMS]]#9 to grad_part1.lepe.bias[head, value : 16]

// Summaries are differentiated by all queries that may use them, keys by the rows they are in.
// CHECK-LABEL: region @eva_backward_{{[0-9]+}}_eva_chunks grid(batch, head, key tile 64)
// CHECK:         = stage block of blocks step 1 segments(blocks: 0 to blocks)
// CHECK:           = stage query step 64 segments(queries: block * run to block * run + run masked)
// CHECK:             keys_outside(
// CHECK-LABEL: region @eva_backward_{{[0-9]+}}_eva_members grid(batch, head, key tile 64)
// CHECK:           chunk_members({{.*}}) {chunk = 6} -> log
// CHECK:           in edges {
// CHECK:             edge_members({{.*}}) {chunk = 6, block = 4} -> log
// CHECK-LABEL: region @eva_backward_{{[0-9]+}}_eva_runs grid(batch, head, block)
// CHECK:           edges_of_chunk({{.*}}) {chunk = 6, block = 4}
func.func @effatt(%arg0: tensor<1x4x100x16xf32> {attn.name = "q"}, %arg1: tensor<1x2x60x16xf32> {attn.name = "k"}, %arg2: tensor<1x2x60x16xf32> {attn.name = "v"}) -> (tensor<1x4x100x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %0 = attn.effatt %arg0, %arg1, %arg2 : tensor<1x4x100x16xf32>, tensor<1x2x60x16xf32>, tensor<1x2x60x16xf32> -> tensor<1x4x100x16xf32>
  return %0 : tensor<1x4x100x16xf32>
}
func.func @agents(%arg0: tensor<1x2x64x16xf32> {attn.name = "q"}, %arg1: tensor<1x2x64x16xf32> {attn.name = "k"}, %arg2: tensor<1x2x64x16xf32> {attn.name = "v"}) -> (tensor<1x2x64x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %0 = attn.agent %arg0, %arg1, %arg2 {agents = 8 : i64, scale = 2.500000e-01 : f64} : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %0 : tensor<1x2x64x16xf32>
}
func.func @sketches(%arg0: tensor<1x2x64x16xf32> {attn.name = "q"}, %arg1: tensor<1x2x64x16xf32> {attn.name = "k"}, %arg2: tensor<1x2x64x16xf32> {attn.name = "v"}, %arg3: tensor<2x16xf32> {attn.name = "sketch.leaf0.sign", attn.parameter}, %arg4: tensor<2x8xi32> {attn.name = "sketch.leaf0.index", attn.parameter}, %arg5: tensor<2x16xf32> {attn.name = "sketch.leaf1.sign", attn.parameter}, %arg6: tensor<2x8xi32> {attn.name = "sketch.leaf1.index", attn.parameter}, %arg7: tensor<2x8xf32> {attn.name = "sketch.node0.sign_a", attn.parameter}, %arg8: tensor<2x8xi32> {attn.name = "sketch.node0.index_a", attn.parameter}, %arg9: tensor<2x8xf32> {attn.name = "sketch.node0.sign_b", attn.parameter}, %arg10: tensor<2x8xi32> {attn.name = "sketch.node0.index_b", attn.parameter}) -> (tensor<1x2x64x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q"]} {
  %output = attn.polysketch %arg0, %arg1, %arg2 signs(%arg3, %arg5, %arg7, %arg9 : tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x8xf32>, tensor<2x8xf32>) indices(%arg4, %arg6, %arg8, %arg10 : tensor<2x8xi32>, tensor<2x8xi32>, tensor<2x8xi32>, tensor<2x8xi32>) {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, local_exact = 16 : i64, scale = 1.000000e+00 : f64, size = 8 : i64} : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  return %output : tensor<1x2x64x16xf32>
}
func.func @parts(%arg0: tensor<1x4x64x16xf32> {attn.name = "q"}, %arg1: tensor<1x4x64x16xf32> {attn.name = "k"}, %arg2: tensor<1x4x64x16xf32> {attn.name = "v"}, %arg3: tensor<2x16x3x3xf32> {attn.name = "part0.lepe.weight", attn.parameter}, %arg4: tensor<2x16x3x3xf32> {attn.name = "part1.lepe.weight", attn.parameter}, %arg5: tensor<2x16xf32> {attn.name = "part1.lepe.bias", attn.parameter}) -> (tensor<1x4x64x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["v", "part1.lepe.weight", "part1.lepe.bias"]} {
  %0 = attn.take_heads %arg0 {first = 0 : i64} : tensor<1x4x64x16xf32> -> tensor<1x2x64x16xf32>
  %1 = attn.take_heads %arg1 {first = 0 : i64} : tensor<1x4x64x16xf32> -> tensor<1x2x64x16xf32>
  %2 = attn.take_heads %arg2 {first = 0 : i64} : tensor<1x4x64x16xf32> -> tensor<1x2x64x16xf32>
  %3 = attn.effatt %0, %1, %2 : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  %4 = attn.lepe %3, %2, %arg3 {grid = array<i64: 8, 8>} : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<2x16x3x3xf32> -> tensor<1x2x64x16xf32>
  %5 = attn.take_heads %arg0 {first = 2 : i64} : tensor<1x4x64x16xf32> -> tensor<1x2x64x16xf32>
  %6 = attn.take_heads %arg1 {first = 2 : i64} : tensor<1x4x64x16xf32> -> tensor<1x2x64x16xf32>
  %7 = attn.take_heads %arg2 {first = 2 : i64} : tensor<1x4x64x16xf32> -> tensor<1x2x64x16xf32>
  %output = attn.softmax %5, %6, %7 {scale = 2.500000e-01 : f64, window = #attn.window<4x4 of 8x8>} : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x64x16xf32>
  %8 = attn.lepe %output, %7, %arg4 bias(%arg5 : tensor<2x16xf32>) {window = #attn.window<4x4 of 8x8>} : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<2x16x3x3xf32> -> tensor<1x2x64x16xf32>
  %9 = attn.concat_heads %4, %8 : tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x4x64x16xf32>
  return %9 : tensor<1x4x64x16xf32>
}
func.func @eva(%arg0: tensor<1x2x48x16xf32> {attn.name = "q"}, %arg1: tensor<1x2x48x16xf32> {attn.name = "k"}, %arg2: tensor<1x2x48x16xf32> {attn.name = "v"}) -> (tensor<1x2x48x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %0 = attn.eva %arg0, %arg1, %arg2 {chunk = 6 : i64, exclude_local, local = 4 : i64, mu_weight = 5.000000e-01 : f64, scale = 2.500000e-01 : f64} : tensor<1x2x48x16xf32>, tensor<1x2x48x16xf32>, tensor<1x2x48x16xf32> -> tensor<1x2x48x16xf32>
  return %0 : tensor<1x2x48x16xf32>
}

// Of blocks whose keys count twice all sums come from one kernel, which makes weights once; a part of the blocks adds to rows of its own.
// The products of rows are made before, once. What the mix gives lies in the results, to which the summaries' gradients are added.
// CHECK-LABEL: region @eva_jointly_backward_{{[0-9]+}}_eva_products grid(batch, head, query tile 64)
// CHECK:         row_products(
// CHECK-LABEL: region @eva_jointly_backward_{{[0-9]+}}_eva_pairs grid(batch, head, part)
// CHECK:           output {{.*}} to workspace0[part, batch, head, key : rows, 0 : 16]
// CHECK:         = stage block of blocks step 1 segments(blocks: part * blocks / 8 to (part + 1) * blocks / 8)
// CHECK:           = stage query step 64
// CHECK:             [[NONE:%.*]] = zeros()
// CHECK:             output [[NONE]] to grad_q[batch, head, query : rows
// CHECK:           = stage key step 24 segments(block: block * 24 to block * 24 + 24 masked)
// CHECK:             = stage query step 64
// CHECK-NOT:           row_products(
// CHECK:               [[SUM:%.*]] = pair_sums(
// CHECK:               output [[SUM]] to grad_q[batch, head, query : rows
// CHECK:           = stage key step 64 segments(chunks: 0 to chunks masked)
// CHECK:               keys_outside(
// CHECK:               carry transposed_sums(
// CHECK:             [[MEAN:%.*]] = plus(
// CHECK:             output [[MEAN]] to workspace0[part, batch, head, key : rows
// CHECK-LABEL: region @eva_jointly_backward_{{[0-9]+}}_eva_parts grid(batch, head, key tile 64)
// CHECK:         = stage part step 1
// CHECK-LABEL: region @eva_jointly_backward_{{[0-9]+}}_eva_members grid(batch, head, key tile 64)
// CHECK:         [[BEFORE:%.*]] = load grad_v[batch, head, key : rows, 0 : 16]
// CHECK:         [[VALUES:%.*]] = plus([[BEFORE]],
// CHECK:         output [[VALUES]] to grad_v[batch, head, key : rows, 0 : 16]
// CHECK-LABEL: region @eva_jointly_backward_{{[0-9]+}}_eva_runs grid(batch, head, block)
// CHECK:           load grad_q[batch, head, key : rows
// CHECK-NOT:   region @eva_jointly_backward_{{.*}}tokens
func.func @eva_jointly(%arg0: tensor<1x2x96x16xf32> {attn.name = "q"}, %arg1: tensor<1x2x96x16xf32> {attn.name = "k"}, %arg2: tensor<1x2x96x16xf32> {attn.name = "v"}) -> (tensor<1x2x96x16xf32> {attn.name = "o"}) attributes {attn.gradients = ["q", "k", "v"]} {
  %0 = attn.eva %arg0, %arg1, %arg2 {chunk = 8 : i64, local = 24 : i64, mu_weight = 5.000000e-01 : f64, scale = 2.500000e-01 : f64} : tensor<1x2x96x16xf32>, tensor<1x2x96x16xf32>, tensor<1x2x96x16xf32> -> tensor<1x2x96x16xf32>
  return %0 : tensor<1x2x96x16xf32>
}
