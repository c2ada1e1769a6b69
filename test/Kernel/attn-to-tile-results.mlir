// RUN: attn-opt %s -attn-to-tile=print-regions -o %t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=HOST < %t.mlir

// Three results of one function: the state of the keys, attention by all pairs of queries and keys, and its denominators. The state has a
// kernel of its own; the other two are made of the same weights, in one.

#schedule = #tile.schedule<target = cpu, query_tile = 32, key_tile = 32, piece = 2048, operand = f32, warps = 1, stages = 1>
#map = #attn.feature_map<elu1>
#guard = #attn.denominator<bias = 1.000000e-06, floor = 0.000000e+00>
!q = tensor<?x4x?x24xf32>
!k = tensor<?x2x?x24xf32>
!v = tensor<?x2x?x40xf32>
!o = tensor<?x4x?x40xf32>
!w = tensor<?x4x?x?xf32>
!den = tensor<?x4x?xf32>
!s = tensor<?x2x24x40xf32>
!z = tensor<?x2x24xf32>
func.func @results(%q: !q {attn.name = "q"}, %k: !k {attn.name = "k"}, %v: !v {attn.name = "v"})
    -> (!s, !o {attn.name = "o"}, !den {attn.name = "den"}) attributes {tile.schedule = #schedule} {
  %a = attn.map %q {feature_map = #map} : !q -> !q
  %b = attn.map %k {feature_map = #map, keys} : !k -> !k
  %s, %z = attn.state %b, %v : !k, !v -> !s, !z
  %pairs = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !q, !k -> !w
  %w = attn.visible %pairs {causal} : !w
  %num = attn.contract %w[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : !w, !v -> !o
  %den = attn.row_sum %w : !w -> !den
  %o = attn.normalize %num, %den {guard = #guard} : !o, !den -> !o
  return %s, %o, %den : !s, !o, !den
}

// CHECK-LABEL: region @results_state grid(batch, head)
// CHECK:         stage key step 32 segments(keys: begin to end masked) carry(#tile.sum) in pieces of 2048 merged by @results_merge {
// CHECK:           carry state(%{{.*}}, %{{.*}})
// CHECK:         output %{{.*}} to final_state[batch, head, 0 : 24 below min(size(final_state, 0), 1) * 24, 0 : 40]
// CHECK-LABEL: region @results_2_quadratic grid(batch, head, query tile 32)
// CHECK:         %[[SUMS:.*]] = stage key causal(query) step 32
// CHECK:           carry weighted_sums(%{{.*}}, %{{.*}})
// The second tile of the sums is the denominator. It is stored before the quotient, which is read of both.
// CHECK:         output %[[SUMS]]#1 to den[batch, head, query : rows]
// CHECK-NEXT:    %[[O:.*]] = normalize(%[[SUMS]])
// CHECK-NEXT:    output %[[O]] to o[batch, head, query : rows, 0 : 40]

// HOST-LABEL: func.func @results(
// HOST-SAME:    attune.name = "final_state", attune.role = "optional_output"
// HOST-SAME:    attune.dims = "b.q.", attune.name = "o", attune.role = "output"
// The name of the last one does not say that its rows are those of queries.
// HOST-SAME:    attune.dims = "b.q", attune.name = "den"
// HOST:         tile.launch @results_state
// HOST:         tile.launch @results_merge
// HOST:         tile.launch @results_2_quadratic
