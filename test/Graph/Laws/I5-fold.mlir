// I5: (x W + β) ωᵀ = x (W ωᵀ) + β ωᵀ. A function of its own is compared in both orders, which the interpreter takes as they
// are marked.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}bare__not_stabilized differs from bare:

!m = tensor<?x?x6xf32>
!w = tensor<6x8xf32>
!b = tensor<8xf32>
!t = tensor<?x2x?x4xf32>
!om = tensor<1x5x4xf32>
!own = tensor<2x5x4xf32>
!l = tensor<?xi32>
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#guard = #attn.denominator<bias = 0.5, floor = 0.0>
#relu = #attn.feature_map<favor_relu, features = 5, epsilon = 1.0e-3, scale = 0.5>
#favor = #attn.feature_map<favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = projection>
#epsilon = #attn.feature_map<favor, features = 5, epsilon = 1.0e-2, scale = 0.5, stabilizer = max>
#bare = #attn.feature_map<favor, features = 5, epsilon = 1.0e-2, scale = 0.5, stabilizer = none>

// Queries and keys of positive features.
func.func @relu(%x: !m, %wq: !w {attn.parameter}, %wk: !w {attn.parameter}, %b: !b {attn.parameter}, %v: !t,
                %omega: !own {attn.parameter}, %l: !l) -> !t {
  %q = attn.project %x, %wq bias(%b : !b) : !m, !w -> !t
  %k = attn.project %x, %wk : !m, !w -> !t
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%omega : !own) {causal, denominator = #guard, feature_map = #relu} : !t, !t, !t -> !t
  return %o : !t
}

// Queries of favor, where its stabilizer cancels.
func.func @favor(%x: !m, %wq: !w {attn.parameter}, %b: !b {attn.parameter}, %k: !t, %v: !t, %omega: !om {attn.parameter}, %l: !l) -> !t {
  %q = attn.project %x, %wq bias(%b : !b) : !m, !w -> !t
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%omega : !om) {denominator = #none, feature_map = #favor} : !t, !t, !t -> !t
  return %o : !t
}

// The largest exponent of a row contains -|q|²/2, so that the difference is free of it with an epsilon, too.
func.func @epsilon(%x: !m, %wq: !w {attn.parameter}, %k: !t, %v: !t, %omega: !om {attn.parameter}, %l: !l) -> !t {
  %q = attn.project %x, %wq : !m, !w -> !t
  %o = attn.kernel %q, %k, %v lengths(%l : !l) parameter(%omega : !om) {denominator = #guard, feature_map = #epsilon} : !t, !t, !t -> !t
  return %o : !t
}

// Without a stabilizer -|q|²/2 stands against epsilon: it is no function of x ωᵀ.
func.func @bare(%q: !t, %k: !t, %v: !t, %omega: !om) -> !t {
  %o = attn.kernel %q, %k, %v parameter(%omega : !om) {denominator = #none, feature_map = #bare} : !t, !t, !t -> !t
  return %o : !t
}
func.func @bare__not_stabilized(%q: !t, %k: !t, %v: !t, %omega: !om) -> !t {
  %o = attn.kernel %q, %k, %v parameter(%omega : !om) {denominator = #none, feature_map = #epsilon} : !t, !t, !t -> !t
  return %o : !t
}
