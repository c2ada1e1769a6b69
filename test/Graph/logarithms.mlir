// Gradients by the cotangents of logarithms: a ⊙ ā and b ⊙ b̄ of a quotient, and what they are to tokens and parameters.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}favor__of_logarithms equals favor:
// SIDES-DAG: {{^}}favor__not_half differs from favor:
// SIDES-DAG: {{^}}states__of_logarithms equals states:
// SIDES-DAG: {{^}}states__not_shared differs from states:
// SIDES-DAG: {{^}}focused__of_logarithms equals focused:
// SIDES-DAG: {{^}}all_keys__shifted equals all_keys:
// SIDES-DAG: {{^}}all_keys__not_shifted differs from all_keys:
// SIDES-DAG: {{^}}pairs__of_features equals pairs:
// SIDES-DAG: {{^}}pairs__not_held differs from pairs:

!x = tensor<?x4x?x4xf32>
!k = tensor<?x2x?x4xf32>
!m = tensor<?x4x?x6xf32>
!n = tensor<?x2x?x6xf32>
!l = tensor<?xi32>
!w = tensor<1x6x4xf32>
!f = tensor<4x4xf32>
#guard = #attn.denominator<bias = 0.0, floor = 0.0>
#biased = #attn.denominator<bias = 0.5, floor = 0.25>
#favor = #attn.feature_map<favor, features = 6, epsilon = 0.0, scale = 0.5, stabilizer = constant>
#focused = #attn.feature_map<focused, epsilon = 0.1, power = 3.0>

func.func @favor(%q: !x, %k: !k, %v: !k, %c: !x, %l: !l, %w: !w) -> (!x, !k, !k, !w, !w) {
  %a = attn.map %q parameter(%w : !w) {feature_map = #favor} : !x -> !m
  %b = attn.map %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k -> !n
  %da, %db, %dv = attn.causal_readout_gradient %a, %b, %v lengths(%l : !l) cotangents(numerator %c : !x) {guard = #guard} : !m, !n, !k -> !m, !n, !k
  %dq = attn.map_gradient %q, %da parameter(%w : !w) {feature_map = #favor} : !x, !m -> !x
  %dk = attn.map_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k, !n -> !k
  %dw = attn.map_parameter_gradient %q, %da parameter(%w : !w) {feature_map = #favor} : !x, !m -> !w
  %dx = attn.map_parameter_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k, !n -> !w
  return %dq, %dk, %dv, %dw, %dx : !x, !k, !k, !w, !w
}

func.func @favor__of_logarithms(%q: !x, %k: !k, %v: !k, %c: !x, %l: !l, %w: !w) -> (!x, !k, !k, !w, !w) {
  %a = attn.map %q parameter(%w : !w) {feature_map = #favor} : !x -> !m
  %b = attn.map %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k -> !n
  %da, %db, %dv = attn.causal_readout_gradient %a, %b, %v lengths(%l : !l) cotangents(numerator %c : !x) {guard = #guard, logarithms} : !m, !n, !k -> !m, !n, !k
  %dq = attn.map_gradient %q, %da parameter(%w : !w) {feature_map = #favor, logarithms} : !x, !m -> !x
  %dk = attn.map_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys, logarithms} : !k, !n -> !k
  %dw = attn.map_parameter_gradient %q, %da parameter(%w : !w) {feature_map = #favor, logarithms} : !x, !m -> !w
  %dx = attn.map_parameter_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys, logarithms} : !k, !n -> !w
  return %dq, %dk, %dv, %dw, %dx : !x, !k, !k, !w, !w
}

func.func @favor__not_half(%q: !x, %k: !k, %v: !k, %c: !x, %l: !l, %w: !w) -> (!x, !k, !k, !w, !w) {
  %a = attn.map %q parameter(%w : !w) {feature_map = #favor} : !x -> !m
  %b = attn.map %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k -> !n
  %da, %db, %dv = attn.causal_readout_gradient %a, %b, %v lengths(%l : !l) cotangents(numerator %c : !x) {guard = #guard, logarithms} : !m, !n, !k -> !m, !n, !k
  %dq = attn.map_gradient %q, %da parameter(%w : !w) {feature_map = #favor} : !x, !m -> !x
  %dk = attn.map_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys, logarithms} : !k, !n -> !k
  %dw = attn.map_parameter_gradient %q, %da parameter(%w : !w) {feature_map = #favor, logarithms} : !x, !m -> !w
  %dx = attn.map_parameter_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys, logarithms} : !k, !n -> !w
  return %dq, %dk, %dv, %dw, %dx : !x, !k, !k, !w, !w
}

// Keys enter with shares of themselves, between two states.
!s = tensor<?x2x6x4xf32>
!u = tensor<?x2x6xf32>
!h = tensor<?x2x?xf32>
func.func @states(%q: !x, %k: !k, %v: !k, %c: !x, %l: !l, %w: !w, %h: !h, %s: !s, %z: !u, %e: !u, %cs: !s, %cz: !u) -> (!x, !k, !k, !w, !h, !s, !u) {
  %a = attn.map %q parameter(%w : !w) {feature_map = #favor} : !x -> !m
  %b = attn.map %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k -> !n
  %g = attn.gate %b by %h : !n, !h -> !n
  %da, %dg, %dv, %ds, %dz = attn.causal_readout_gradient %a, %g, %v lengths(%l : !l) initial(%s, %z, %e : !s, !u, !u)
      cotangents(numerator %c : !x state %cs : !s sum %cz : !u) {guard = #guard} : !m, !n, !k -> !m, !n, !k state(!s) sum(!u)
  %db = attn.gate %dg by %h : !n, !h -> !n
  %dh = attn.contract %dg [batch, head, key, value], %b [batch, head, key, value] -> [batch, head, key] : !n, !n -> !h
  %dq = attn.map_gradient %q, %da parameter(%w : !w) {feature_map = #favor} : !x, !m -> !x
  %dk = attn.map_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k, !n -> !k
  %dw = attn.map_parameter_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k, !n -> !w
  return %dq, %dk, %dv, %dw, %dh, %ds, %dz : !x, !k, !k, !w, !h, !s, !u
}

func.func @states__of_logarithms(%q: !x, %k: !k, %v: !k, %c: !x, %l: !l, %w: !w, %h: !h, %s: !s, %z: !u, %e: !u, %cs: !s, %cz: !u) -> (!x, !k, !k, !w, !h, !s, !u) {
  %a = attn.map %q parameter(%w : !w) {feature_map = #favor} : !x -> !m
  %b = attn.map %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k -> !n
  %da, %db, %dv, %ds, %dz, %dh = attn.causal_readout_gradient %a, %b, %v lengths(%l : !l) initial(%s, %z, %e : !s, !u, !u) write(%h : !h)
      cotangents(numerator %c : !x state %cs : !s sum %cz : !u) {guard = #guard, logarithms} : !m, !n, !k -> !m, !n, !k state(!s) sum(!u) write(!h)
  %dq = attn.map_gradient %q, %da parameter(%w : !w) {feature_map = #favor, logarithms} : !x, !m -> !x
  %dk = attn.map_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys, logarithms} : !k, !n -> !k
  %dw = attn.map_parameter_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys, logarithms} : !k, !n -> !w
  return %dq, %dk, %dv, %dw, %dh, %ds, %dz : !x, !k, !k, !w, !h, !s, !u
}

func.func @states__not_shared(%q: !x, %k: !k, %v: !k, %c: !x, %l: !l, %w: !w, %h: !h, %s: !s, %z: !u, %e: !u, %cs: !s, %cz: !u) -> (!x, !k, !k, !w, !h, !s, !u) {
  %a = attn.map %q parameter(%w : !w) {feature_map = #favor} : !x -> !m
  %b = attn.map %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k -> !n
  %da, %dx, %dv, %ds, %dz, %dh = attn.causal_readout_gradient %a, %b, %v lengths(%l : !l) initial(%s, %z, %e : !s, !u, !u) write(%h : !h)
      cotangents(numerator %c : !x state %cs : !s sum %cz : !u) {guard = #guard, logarithms} : !m, !n, !k -> !m, !n, !k state(!s) sum(!u) write(!h)
  %db = attn.gate %dx by %h : !n, !h -> !n
  %dq = attn.map_gradient %q, %da parameter(%w : !w) {feature_map = #favor, logarithms} : !x, !m -> !x
  %dk = attn.map_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys, logarithms} : !k, !n -> !k
  %dw = attn.map_parameter_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys, logarithms} : !k, !n -> !w
  return %dq, %dk, %dv, %dw, %dh, %ds, %dz : !x, !k, !k, !w, !h, !s, !u
}

func.func @focused(%q: !x, %k: !x, %v: !x, %c: !x, %f: !f) -> (!x, !x, !x, !f, !f) {
  %a = attn.map %q parameter(%f : !f) {feature_map = #focused} : !x -> !x
  %b = attn.map %k parameter(%f : !f) {feature_map = #focused, keys} : !x -> !x
  %da, %db, %dv = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %c : !x) {guard = #biased} : !x, !x, !x -> !x, !x, !x
  %dq = attn.map_gradient %q, %da parameter(%f : !f) {feature_map = #focused} : !x, !x -> !x
  %dk = attn.map_gradient %k, %db parameter(%f : !f) {feature_map = #focused, keys} : !x, !x -> !x
  %df = attn.map_parameter_gradient %q, %da parameter(%f : !f) {feature_map = #focused} : !x, !x -> !f
  %dg = attn.map_parameter_gradient %k, %db parameter(%f : !f) {feature_map = #focused, keys} : !x, !x -> !f
  return %dq, %dk, %dv, %df, %dg : !x, !x, !x, !f, !f
}

func.func @focused__of_logarithms(%q: !x, %k: !x, %v: !x, %c: !x, %f: !f) -> (!x, !x, !x, !f, !f) {
  %a = attn.map %q parameter(%f : !f) {feature_map = #focused} : !x -> !x
  %b = attn.map %k parameter(%f : !f) {feature_map = #focused, keys} : !x -> !x
  %da, %db, %dv = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %c : !x) {guard = #biased, logarithms} : !x, !x, !x -> !x, !x, !x
  %dq = attn.map_gradient %q, %da parameter(%f : !f) {feature_map = #focused, logarithms} : !x, !x -> !x
  %dk = attn.map_gradient %k, %db parameter(%f : !f) {feature_map = #focused, keys, logarithms} : !x, !x -> !x
  %df = attn.map_parameter_gradient %q, %da parameter(%f : !f) {feature_map = #focused, logarithms} : !x, !x -> !f
  %dg = attn.map_parameter_gradient %k, %db parameter(%f : !f) {feature_map = #focused, keys, logarithms} : !x, !x -> !f
  return %dq, %dk, %dv, %df, %dg : !x, !x, !x, !f, !f
}

// Features of all keys in units of the largest of each feature: what the numerators of a quotient give to tokens and omega.
func.func @all_keys(%q: !x, %k: !k, %v: !k, %c: !x, %l: !l, %w: !w) -> (!x, !k, !w) {
  %a = attn.map %q parameter(%w : !w) {feature_map = #favor} : !x -> !m
  %b = attn.map %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k -> !n
  %s, %z = attn.state %b, %v lengths(%l : !l) : !n, !k -> tensor<?x2x6x4xf32>, tensor<?x2x6xf32>
  %n, %d = attn.readout %a, %s, %z : !m, tensor<?x2x6x4xf32>, tensor<?x2x6xf32> -> !x, tensor<?x4x?xf32>
  %o = attn.normalize %n, %d {guard = #guard} : !x, tensor<?x4x?xf32> -> !x
  %u = attn.normalize %c, %d {guard = #guard} : !x, tensor<?x4x?xf32> -> !x
  %da = attn.contract %u [batch, head, query, value], %s [batch, head, feature, value] -> [batch, head, query, feature] : !x, tensor<?x2x6x4xf32> -> !m
  %dq = attn.map_gradient %q, %da parameter(%w : !w) {feature_map = #favor} : !x, !m -> !x
  %sb = attn.contract %a [batch, head, query, feature], %u [batch, head, query, value] -> [batch, head, feature, value] : !m, !x -> tensor<?x4x6x4xf32>
  %sg = attn.sum_heads %sb : tensor<?x4x6x4xf32> -> tensor<?x2x6x4xf32>
  %db = attn.contract %v [batch, head, key, value], %sg [batch, head, feature, value] -> [batch, head, key, feature] : !k, tensor<?x2x6x4xf32> -> !n
  %dk = attn.map_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k, !n -> !k
  %dw = attn.map_parameter_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k, !n -> !w
  return %dq, %dk, %dw : !x, !k, !w
}

func.func @all_keys__shifted(%q: !x, %k: !k, %v: !k, %c: !x, %l: !l, %w: !w) -> (!x, !k, !w) {
  %m = attn.key_maximum %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor} : !k -> tensor<?x2x6xf32>
  %a = attn.map %q parameter(%w : !w) shift(%m : tensor<?x2x6xf32>) {feature_map = #favor} : !x -> !m
  %b = attn.map %k lengths(%l : !l) parameter(%w : !w) shift(%m : tensor<?x2x6xf32>) {feature_map = #favor, keys} : !k -> !n
  %s, %z = attn.state %b, %v lengths(%l : !l) : !n, !k -> tensor<?x2x6x4xf32>, tensor<?x2x6xf32>
  %n, %d = attn.readout %a, %s, %z : !m, tensor<?x2x6x4xf32>, tensor<?x2x6xf32> -> !x, tensor<?x4x?xf32>
  %o = attn.normalize %n, %d {guard = #guard} : !x, tensor<?x4x?xf32> -> !x
  %u = attn.normalize %c, %d {guard = #guard} : !x, tensor<?x4x?xf32> -> !x
  %da = attn.contract %u [batch, head, query, value], %s [batch, head, feature, value] -> [batch, head, query, feature] : !x, tensor<?x2x6x4xf32> -> !m
  %dq = attn.map_gradient %q, %da parameter(%w : !w) shift(%m : tensor<?x2x6xf32>) {feature_map = #favor} : !x, !m -> !x
  %sb = attn.contract %a [batch, head, query, feature], %u [batch, head, query, value] -> [batch, head, feature, value] : !m, !x -> tensor<?x4x6x4xf32>
  %sg = attn.sum_heads %sb : tensor<?x4x6x4xf32> -> tensor<?x2x6x4xf32>
  %db = attn.contract %v [batch, head, key, value], %sg [batch, head, feature, value] -> [batch, head, key, feature] : !k, tensor<?x2x6x4xf32> -> !n
  %dk = attn.map_gradient %k, %db lengths(%l : !l) parameter(%w : !w) shift(%m : tensor<?x2x6xf32>) {feature_map = #favor, keys} : !k, !n -> !k
  %dw = attn.map_parameter_gradient %k, %db lengths(%l : !l) parameter(%w : !w) shift(%m : tensor<?x2x6xf32>) {feature_map = #favor, keys} : !k, !n -> !w
  return %dq, %dk, %dw : !x, !k, !w
}

func.func @all_keys__not_shifted(%q: !x, %k: !k, %v: !k, %c: !x, %l: !l, %w: !w) -> (!x, !k, !w) {
  %m = attn.key_maximum %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor} : !k -> tensor<?x2x6xf32>
  %a = attn.map %q parameter(%w : !w) shift(%m : tensor<?x2x6xf32>) {feature_map = #favor} : !x -> !m
  %b = attn.map %k lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k -> !n
  %s, %z = attn.state %b, %v lengths(%l : !l) : !n, !k -> tensor<?x2x6x4xf32>, tensor<?x2x6xf32>
  %n, %d = attn.readout %a, %s, %z : !m, tensor<?x2x6x4xf32>, tensor<?x2x6xf32> -> !x, tensor<?x4x?xf32>
  %o = attn.normalize %n, %d {guard = #guard} : !x, tensor<?x4x?xf32> -> !x
  %u = attn.normalize %c, %d {guard = #guard} : !x, tensor<?x4x?xf32> -> !x
  %da = attn.contract %u [batch, head, query, value], %s [batch, head, feature, value] -> [batch, head, query, feature] : !x, tensor<?x2x6x4xf32> -> !m
  %dq = attn.map_gradient %q, %da parameter(%w : !w) shift(%m : tensor<?x2x6xf32>) {feature_map = #favor} : !x, !m -> !x
  %sb = attn.contract %a [batch, head, query, feature], %u [batch, head, query, value] -> [batch, head, feature, value] : !m, !x -> tensor<?x4x6x4xf32>
  %sg = attn.sum_heads %sb : tensor<?x4x6x4xf32> -> tensor<?x2x6x4xf32>
  %db = attn.contract %v [batch, head, key, value], %sg [batch, head, feature, value] -> [batch, head, key, feature] : !k, tensor<?x2x6x4xf32> -> !n
  %dk = attn.map_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k, !n -> !k
  %dw = attn.map_parameter_gradient %k, %db lengths(%l : !l) parameter(%w : !w) {feature_map = #favor, keys} : !k, !n -> !w
  return %dq, %dk, %dw : !x, !k, !w
}

// Attention over features in place of a quotient of sums over pairs, of which the floor holds some rows back, and the cotangents of its logarithms.
!y = tensor<?x4x?x4xf32>
!z = tensor<?x2x?x4xf32>
!p = tensor<?x4x?x?xf32>
!r = tensor<?x4x?xf32>
!t = tensor<?xi32>
#held = #attn.denominator<bias = 0.125, floor = 2.0>

func.func @pairs(%a: !y, %b: !z, %v: !z, %c: !y, %l: !t) -> (!y, !y, !z, !z) {
  %w = attn.contract %a [batch, head, query, feature], %b [batch, head, key, feature] -> [batch, head, query, key] : !y, !z -> !p
  %seen = attn.visible %w lengths(%l : !t) {causal} : !p
  %u = attn.contract %seen [batch, head, query, key], %v [batch, head, key, value] -> [batch, head, query, value] : !p, !z -> !y
  %g = attn.row_sum %seen : !p -> !r
  %o = attn.normalize %u, %g {guard = #held} : !y, !r -> !y
  %du = attn.normalize %c, %g {guard = #held} : !y, !r -> !y
  %delta = attn.contract %c [batch, head, query, value], %o [batch, head, query, value] -> [batch, head, query] : !y, !y -> !r
  %dg = attn.denominator_gradient %delta, %g {guard = #held} : !r
  %inner = attn.contract %du [batch, head, query, value], %v [batch, head, key, value] -> [batch, head, query, key] : !y, !z -> !p
  %spread = attn.spread %dg [batch, head, query] like %w [batch, head, query, key] : !r, !p -> !p
  %all = attn.add %inner, %spread : !p
  %dw = attn.visible %all lengths(%l : !t) {causal} : !p
  %da = attn.contract %dw [batch, head, query, key], %b [batch, head, key, feature] -> [batch, head, query, feature] : !p, !z -> !y
  %x = attn.multiply %da, %a : !y, !y -> !y
  %db = attn.contract %dw [batch, head, query, key], %a [batch, head, query, feature] -> [batch, head, key, feature] : !p, !y -> !y
  %shared = attn.sum_heads %db : !y -> !z
  %k = attn.multiply %shared, %b : !z, !z -> !z
  %dv = attn.contract %seen [batch, head, query, key], %du [batch, head, query, value] -> [batch, head, key, value] : !p, !y -> !y
  %sums = attn.sum_heads %dv : !y -> !z
  return %o, %x, %k, %sums : !y, !y, !z, !z
}

func.func @pairs__of_features(%a: !y, %b: !z, %v: !z, %c: !y, %l: !t) -> (!y, !y, !z, !z) {
  %o, %lse = attn.feature_attention %a, %b, %v lengths(%l : !t) {causal, guard = #held} : !y, !z, !z -> !y, !r
  %delta = attn.contract %c [batch, head, query, value], %o [batch, head, query, value] -> [batch, head, query] : !y, !y -> !r
  %s = attn.denominator_gradient %delta, %lse {guard = #held, logarithms} : !r
  %x = attn.feature_query_gradient %a, %b, %v lse(%lse : !r) cotangents(%c, %s : !y, !r) lengths(%l : !t) {causal} : !y, !z, !z -> !y
  %k, %u = attn.feature_key_gradients %a, %b, %v lse(%lse : !r) cotangents(%c, %s : !y, !r) lengths(%l : !t) {causal}
      : !y, !z, !z -> !y, !y
  %shared = attn.sum_heads %k : !y -> !z
  %sums = attn.sum_heads %u : !y -> !z
  return %o, %x, %shared, %sums : !y, !y, !z, !z
}

func.func @pairs__not_held(%a: !y, %b: !z, %v: !z, %c: !y, %l: !t) -> (!y, !y, !z, !z) {
  %o, %lse = attn.feature_attention %a, %b, %v lengths(%l : !t) {causal, guard = #held} : !y, !z, !z -> !y, !r
  %delta = attn.contract %c [batch, head, query, value], %o [batch, head, query, value] -> [batch, head, query] : !y, !y -> !r
  %s = attn.scale %delta {factor = -1.0 : f64} : !r -> !r
  %x = attn.feature_query_gradient %a, %b, %v lse(%lse : !r) cotangents(%c, %s : !y, !r) lengths(%l : !t) {causal} : !y, !z, !z -> !y
  %k, %u = attn.feature_key_gradients %a, %b, %v lse(%lse : !r) cotangents(%c, %s : !y, !r) lengths(%l : !t) {causal}
      : !y, !z, !z -> !y, !y
  %shared = attn.sum_heads %k : !y -> !z
  %sums = attn.sum_heads %u : !y -> !z
  return %o, %x, %shared, %sums : !y, !y, !z, !z
}
