// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 | FileCheck %s --check-prefix=PLAN
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=a100-40gb \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s --check-prefix=GPU

// Parts one after another, or in common launches.

// Two parts of one program each, for two cores.
// CHECK: Remark="{{.*}} by part0 keys: in_order, launch: co_launched; softmax + polynomial {{.*}}"
// CHECK: Remark="launch: did not take the sequential form: {{.*}} times the price{{.*}}"
// CHECK: Remark="launch: took the co_launched form: the cheapest; {{.*}}"
// PLAN-LABEL: func.func @small(
// PLAN:         attn.concat_heads {{.*}}launch = co_launched
// GPU: Remark="launch: cannot take the co_launched form: a kernel of several bodies takes the registers {{.*}}"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!h = tensor<1x1x64x64xf32>
func.func @small(%q0: !h, %q1: !h, %k: !h, %v: !h) -> tensor<1x2x64x64xf32> {
  %a = attn.softmax %q0, %k, %v {scale = 0.125 : f64} : !h, !h, !h -> !h
  %b = attn.polynomial %q1, %k, %v {degree = 4 : i64, denominator = #none, scale = 1.0 : f64} : !h, !h, !h -> !h
  %o = attn.concat_heads %a, %b : !h, !h -> tensor<1x2x64x64xf32>
  return %o : tensor<1x2x64x64xf32>
}

// -----

// CHECK: Remark="launch: cannot take the co_launched form: there is one part"
// PLAN-LABEL: func.func @one(
// PLAN-NOT:     co_launched
!h = tensor<1x1x64x64xf32>
func.func @one(%q: !h, %k: !h, %v: !h) -> !h {
  %a = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !h, !h, !h -> !h
  %o = attn.concat_heads %a : !h -> !h
  return %o : !h
}

// -----

// CHECK: Remark="launch: cannot take the co_launched form: a part is not attention itself"
// PLAN-LABEL: func.func @nested(
!h = tensor<1x1x64x64xf32>
!p = tensor<1x2x64x64xf32>
func.func @nested(%q: !h, %k: !h, %v: !h) -> tensor<1x3x64x64xf32> {
  %a = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !h, !h, !h -> !h
  %b = attn.softmax %q, %v, %k {scale = 0.125 : f64} : !h, !h, !h -> !h
  %p = attn.concat_heads %a, %b : !h, !h -> !p
  %o = attn.concat_heads %p, %a : !p, !h -> tensor<1x3x64x64xf32>
  return %o : tensor<1x3x64x64xf32>
}

// -----

// CHECK: Remark="launch: cannot take the co_launched form: kernels that compress the features of a part run before all parts"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!h = tensor<1x1x64x8xf32>
!e = tensor<1x4x64xf32>
func.func @slots(%q: !h, %k: !h, %v: !h, %e: !e {attn.parameter}) -> tensor<1x2x64x8xf32> {
  %a = attn.kernel %q, %k, %v compress(%e, %e : !e, !e) {denominator = #none, feature_map = #attn.feature_map<elu1>} : !h, !h, !h -> !h
  %b = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !h, !h, !h -> !h
  %o = attn.concat_heads %a, %b : !h, !h -> tensor<1x2x64x8xf32>
  return %o : tensor<1x2x64x8xf32>
}
