// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml pin=linearize:quadratic" \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIN
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml pin=linearize:quadratic" \
// RUN:   | FileCheck %s --check-prefix=PINNED

// Prices as in attn-select-rewrites.mlir: at n = 4096 (64 tiles) quadratic costs 128 · 64 = 8192 and state 256 · 64 / 64 = 256
// in the same unit, 32 times less; the tie at 128 is the last length at which quadratic is not dearer.
// CHECK:     remark: [Missed] linearize | {{.*}}Function=elu1 | Remark="linearize: did not take the quadratic form: 32.0 times the price; cheaper below n = 129; {{.*}} at n = 4096 on products"
// CHECK:     remark: [Passed] linearize | {{.*}}Remark="linearize: took the state form: the cheapest; {{.*}} at n = 4096 on products"
// CHECK:     remark: [Missed] linearize | {{.*}}Remark="linearize: cannot take the chunked form: chunks order queries and keys, and this attention is not causal"

// A pin is obeyed, and says what it costs.
// PIN:       remark: [Passed] linearize | {{.*}}Remark="linearize: took the quadratic form: pinned; 32.0 times the price of the cheapest; {{.*}}"
// PIN:       remark: [Missed] linearize | {{.*}}Remark="linearize: did not take the state form: another form is pinned; {{.*}}"
// PINNED-LABEL: func.func @elu1(
// PINNED-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
func.func @elu1(%q: tensor<1x1x4096x128xf32>, %k: tensor<1x1x4096x128xf32>, %v: tensor<1x1x4096x128xf32>) -> tensor<1x1x4096x128xf32> {
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32> -> tensor<1x1x4096x128xf32>
  return %o : tensor<1x1x4096x128xf32>
}

// -----

// Unknown lengths: each form says where it is the cheapest. A pin leaves one function.
// CHECK:     remark: [Passed] linearize | {{.*}}Function=causal | Remark="linearize: took the quadratic form: the cheapest below n = 129; {{.*}}"
// CHECK:     remark: [Missed] linearize | {{.*}}Remark="linearize: cannot take the state form: one state for all queries would let a causal query see later keys"
// CHECK:     remark: [Passed] linearize | {{.*}}Remark="linearize: took the chunked form: the cheapest from n = 129; {{.*}}"
// PINNED-LABEL: func.func @causal(
// PINNED-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
// PINNED-NOT:   func.func @causal__
func.func @causal(%q: tensor<?x1x?x128xf32>, %k: tensor<?x1x?x128xf32>, %v: tensor<?x1x?x128xf32>) -> tensor<?x1x?x128xf32> {
  %o = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<?x1x?x128xf32>, tensor<?x1x?x128xf32>, tensor<?x1x?x128xf32> -> tensor<?x1x?x128xf32>
  return %o : tensor<?x1x?x128xf32>
}
