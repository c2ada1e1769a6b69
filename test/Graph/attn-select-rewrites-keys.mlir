// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 | FileCheck %s --check-prefix=PLAN
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=a100-40gb | FileCheck %s --check-prefix=GPU

// The keys of exact attention in order, or in pieces side by side.

// One query of one head and many keys: one core of two would have nothing to do, or all processors of a GPU but one.
// CHECK: Remark="{{.*}} by keys: split; softmax {{.*}}"
// CHECK: Remark="keys: did not take the in_order form: {{.*}} times the price{{.*}}"
// CHECK: Remark="keys: took the split form: the cheapest; {{.*}}"
// PLAN-LABEL: func.func @one_query(
// PLAN-SAME:    query_tile = 1,
// PLAN:         attn.softmax {{.*}}split = true
// GPU-LABEL:  func.func @one_query(
// GPU-SAME:     parts = 108
// GPU:          attn.softmax {{.*}}split = true
!q = tensor<1x1x1x64xf32>
!k = tensor<1x1x65536x64xf32>
func.func @one_query(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !q, !k, !k -> !q
  return %o : !q
}

// -----

// One tile of keys is one piece.
// CHECK: Remark="{{.*}} by keys: in_order; softmax {{.*}}"
// PLAN-LABEL: func.func @few_keys(
// PLAN-NOT:     split = true
!q = tensor<1x1x1x64xf32>
!k = tensor<1x1x32x64xf32>
func.func @few_keys(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !q, !k, !k -> !q
  return %o : !q
}

// -----

// Heads and blocks of queries enough for every core.
// PLAN-LABEL: func.func @many_blocks(
// PLAN-NOT:     split = true
!q = tensor<1x8x1024x64xf32>
func.func @many_blocks(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !q, !q, !q -> !q
  return %o : !q
}

// -----

// CHECK: Remark="keys: cannot take the split form: how many queries there are is known only to a run, and so is how many pieces fill a machine"
// PLAN-LABEL: func.func @unknown(
// PLAN-NOT:     split = true
!q = tensor<1x1x?x64xf32>
!k = tensor<1x1x65536x64xf32>
func.func @unknown(%q: !q, %k: !k, %v: !k) -> !q {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !q, !k, !k -> !q
  return %o : !q
}

// -----

// CHECK: Remark="keys: cannot take the split form: windows run side by side, and each has few keys"
// PLAN-LABEL: func.func @windows(
// PLAN-NOT:     split = true
!q = tensor<1x1x64x64xf32>
func.func @windows(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64, window = #attn.window<16>} : !q, !q, !q -> !q
  return %o : !q
}

// -----

// CHECK: Remark="keys: cannot take the split form: a query sees only the last of its keys"
// PLAN-LABEL: func.func @last(
// PLAN-NOT:     split = true
!q = tensor<1x1x64x64xf32>
func.func @last(%q: !q, %k: !q, %v: !q) -> !q {
  %o = attn.softmax %q, %k, %v {causal, last = 16 : i64, scale = 0.125 : f64} : !q, !q, !q -> !q
  return %o : !q
}
