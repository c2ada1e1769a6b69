// I10: o_i = A_i (S₀ + Σ_{j ≤ i} B_j v_jᵀ): chunk after chunk, from a state that is carried. In the interpreter a chunk is one
// token; compiled code, whose chunks are a schedule, is held to it by test/Unit/Kernel/KernelsTest.cpp (Chunked).
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}causal__not_ordered differs from causal:
// SIDES-DAG: {{^}}continued__merged equals continued:

!x = tensor<?x2x?x4xf32>
!v = tensor<?x2x?x3xf32>
!l = tensor<?xi32>
#guard = #attn.denominator<bias = 0.5, floor = 0.0>
#elu1 = #attn.feature_map<elu1>

func.func @causal(%q: !x, %k: !x, %v: !v, %l: !l) -> !v {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) {causal, denominator = #guard, feature_map = #elu1} : !x, !x, !v -> !v
  return %o : !v
}

func.func @causal__not_ordered(%q: !x, %k: !x, %v: !v, %l: !l) -> !v {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) {denominator = #guard, feature_map = #elu1} : !x, !x, !v -> !v
  return %o : !v
}

// With a state that comes in and one that goes out there is no other form than chunks.
!s = tensor<?x2x4x3xf32>
!z = tensor<?x2x4xf32>
func.func @continued(%q: !x, %k: !x, %v: !v, %s0: !s, %z0: !z {attn.draw = "positive"}) -> (!v, !s, !z) {
  %o, %s, %z = attn.kernel %q, %k, %v initial(%s0, %z0 : !s, !z) {causal, denominator = #guard, feature_map = #elu1}
      : !x, !x, !v -> !v, final !s, !z
  return %o, %s, %z : !v, !s, !z
}
func.func @continued__merged(%q: !x, %k: !x, %v: !v, %s0: !s, %z0: !z {attn.draw = "positive"}) -> (!v, !s, !z) {
  %a = attn.map %q {feature_map = #elu1} : !x -> !x
  %b = attn.map %k {feature_map = #elu1} : !x -> !x
  %num, %den, %si, %zi = attn.causal_readout %a, %b, %v initial(%s0, %z0 : !s, !z) : !x, !x, !v -> !v, tensor<?x2x?xf32>, !s, !z
  %o = attn.normalize %num, %den {guard = #guard} : !v, tensor<?x2x?xf32> -> !v
  %own, %sum = attn.state %b, %v : !x, !v -> !s, !z
  %s, %z = attn.state_merge (%s0, %z0), (%own, %sum) : !s, !z
  return %o, %s, %z : !v, !s, !z
}
