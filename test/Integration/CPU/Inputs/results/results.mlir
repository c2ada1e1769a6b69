// The state of the keys, causal attention by all pairs, and its denominators, with the forms chosen by hand.
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
    -> (!s, !o {attn.name = "o"}, !den {attn.name = "den"}) attributes {attn.plan = #attn.plan<form = quadratic, from = 0>, tile.schedule = #schedule} {
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

