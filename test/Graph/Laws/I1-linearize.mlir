// I1: (A Bᵀ) V = A (Bᵀ V), where every query sees every key.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}attention__through_the_state equals attention:
// SIDES-DAG: {{^}}attention__not_causal differs from attention:
// SIDES-DAG: {{^}}window__not_one_state differs from window:

!x = tensor<?x4x?x5xf32>
!kv = tensor<?x2x?x5xf32>
!v = tensor<?x2x?x3xf32>
!o = tensor<?x4x?x3xf32>
!l = tensor<?xi32>
#guard = #attn.denominator<bias = 5.0e-1, floor = 2.5e-1>
#elu1 = #attn.feature_map<elu1>

func.func @attention(%q: !x, %k: !kv, %v: !v, %l: !l) -> !o {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) {denominator = #guard, feature_map = #elu1} : !x, !kv, !v -> !o
  return %o : !o
}

func.func @attention__through_the_state(%q: !x, %k: !kv, %v: !v, %l: !l) -> !o {
  %a = attn.map %q {feature_map = #elu1} : !x -> !x
  %b = attn.map %k lengths(%l : !l) {feature_map = #elu1} : !kv -> !kv
  %s, %z = attn.state %b, %v : !kv, !v -> tensor<?x2x5x3xf32>, tensor<?x2x5xf32>
  %num, %den = attn.readout %a, %s, %z : !x, tensor<?x2x5x3xf32>, tensor<?x2x5xf32> -> !o, tensor<?x4x?xf32>
  %o = attn.normalize %num, %den {guard = #guard} : !o, tensor<?x4x?xf32> -> !o
  return %o : !o
}

func.func @attention__not_causal(%q: !x, %k: !kv, %v: !v, %l: !l) -> !o {
  %o = attn.kernel %q, %k, %v lengths(%l : !l) {causal, denominator = #guard, feature_map = #elu1} : !x, !kv, !v -> !o
  return %o : !o
}

// The blocks of a window would each have a state of their own.
!w = tensor<1x1x6x4xf32>
func.func @window(%q: !w, %k: !w, %v: !w) -> !w {
  %o = attn.kernel %q, %k, %v {denominator = #guard, feature_map = #elu1, window = #attn.window<3>} : !w, !w, !w -> !w
  return %o : !w
}

func.func @window__not_one_state(%q: !w, %k: !w, %v: !w) -> !w {
  %o = attn.kernel %q, %k, %v {denominator = #guard, feature_map = #elu1} : !w, !w, !w -> !w
  return %o : !w
}
