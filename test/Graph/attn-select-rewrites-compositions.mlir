// RUN: attn-opt %s -split-input-file '-attn-select-rewrites=device=x86-64-avx512 threads=2' \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file '-attn-select-rewrites=device=x86-64-avx512 threads=2' | FileCheck %s --check-prefix=PLAN
// RUN: attn-opt %s -split-input-file '-attn-select-rewrites=device=x86-64-avx512 threads=1' | FileCheck %s --check-prefix=ONE

// What a law builds is offered to the laws that have not spoken of the op that it is built of: the chunks of a group of heads
// can be cut into parts, so that one state for seven query heads does not leave a core idle. In rows of 128 channels adding the keys to a
// state of each query head takes more than the pairs of a group's chunks do.

// CHECK: Remark="{{.*}}, by linearize: grouped, map: {{[a-z]*}}, keys grouped: split; state {{.*}}; chunked {{.*}}"
// CHECK: Remark="linearize: took the grouped form: the cheapest; {{.*}}"
// CHECK: Remark="keys of grouped: did not take the in_order form: {{.*}}"
// CHECK: Remark="keys of grouped: took the split form: the cheapest; {{.*}}"
// PLAN-LABEL: func.func @groups(
// PLAN:         attn.causal_readout {{.*}} {execution = #attn.execution<split = true, grouped = true>}
// One core has no use for parts.
// ONE-LABEL:  func.func @groups(
// ONE:          attn.causal_readout {{.*}} {execution = #attn.execution<grouped = true>}
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!q = tensor<1x7x1024x128xf32>
!k = tensor<1x1x1024x128xf32>
func.func @groups(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>} : !q, !k, !k -> !q
  return %o : !q
}

// -----

// Both can be pinned, whatever they cost, and `keys` alone pins what its form is a part of.
// PLAN-LABEL: func.func @both(
// PLAN:         attn.causal_readout {{.*}} {execution = #attn.execution<split = true, grouped = true>}
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!q = tensor<1x4x64x64xf32>
!k = tensor<1x2x64x64xf32>
func.func @both(%q: !q, %k: !k, %v: !k) -> !q attributes {attn.pin = {linearize = "grouped", keys = "split"}} {
  %o = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>} : !q, !k, !k -> !q
  return %o : !q
}

// PLAN-LABEL: func.func @keys(
// PLAN:         attn.causal_readout {{.*}} {execution = #attn.execution<split = true, grouped = true>}
func.func @keys(%q: !q, %k: !k, %v: !k) -> !q attributes {attn.pin = {keys = "split"}} {
  %o = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>} : !q, !k, !k -> !q
  return %o : !q
}

// -----

// A pin of the keys that exact attention takes leaves the chunks of heads beside it to their price: 32 tokens fill no second processor.
// PLAN-LABEL: func.func @beside(
// PLAN:         attn.causal_readout %{{[0-9]+}}, %{{[0-9]+}}, %arg2 :
// PLAN:         attn.softmax {{.*}}split = true
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!q = tensor<1x4x32x64xf32>
!k = tensor<1x2x32x64xf32>
!o = tensor<1x8x32x64xf32>
func.func @beside(%q: !q, %k: !k, %v: !k) -> !o attributes {attn.pin = {keys = "split"}} {
  %a = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>} : !q, !k, !k -> !q
  %b = attn.softmax %q, %k, %v {causal, scale = 0.125 : f64} : !q, !k, !k -> !q
  %o = attn.concat_heads %a, %b : !q, !q -> !o
  return %o : !o
}

// -----

// CHECK: Remark="keys of grouped: cannot take the split form: packed sequences run side by side, and have lengths that only the device knows"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!q = tensor<1x4x64x64xf32>
!k = tensor<1x2x64x64xf32>
func.func @packed(%q: !q, %k: !k, %v: !k, %offsets: tensor<3xi32> {attn.offsets = "qk"}) -> !q {
  %o = attn.kernel %q, %k, %v {causal, denominator = #none, feature_map = #attn.feature_map<elu1>} : !q, !k, !k -> !q
  return %o : !q
}
