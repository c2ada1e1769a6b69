// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Prices in multiply-adds of 64×64 tiles, as in attn-select-rewrites.mlir; t = ⌈n / 64⌉. Both forms sketch q and k once;
// then, with r = 8, in units of 64:
//   quadratic   t (t + 1) / 2 · 64 · (8 + 128)     = 4352 t (t + 1)
//   chunked     t · (64 · (8 + 128) + 2 · (8 · 9 / 2 · 128 + 2 · 8²)) = 18176 t
// so that chunked wins from t = 4, n = 193.

// CHECK-LABEL: func.func @sketched(
// CHECK-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
// CHECK:         attn.polysketch
// CHECK-NOT:     form =
// CHECK-LABEL: func.func @sketched__chunked(
// CHECK-SAME:    attn.plan = #attn.plan<form = chunked, from = 193>
// CHECK:         attn.polysketch {{.*}}form = chunked
// REMARK:      linearize: cannot take the state form: one state for all queries would let a causal query see later keys
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @sketched(%q: tensor<?x1x?x128xf32>, %k: tensor<?x1x?x128xf32>, %v: tensor<?x1x?x128xf32>,
                    %s0: tensor<1x128xf32> {attn.parameter}, %s1: tensor<1x128xf32> {attn.parameter}, %sa: tensor<1x8xf32> {attn.parameter}, %sb: tensor<1x8xf32> {attn.parameter},
                    %i0: tensor<1x8xi32> {attn.parameter}, %i1: tensor<1x8xi32> {attn.parameter}, %ia: tensor<1x8xi32> {attn.parameter}, %ib: tensor<1x8xi32> {attn.parameter}) -> tensor<?x1x?x128xf32> {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %sa, %sb : tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
      indices(%i0, %i1, %ia, %ib : tensor<1x8xi32>, tensor<1x8xi32>, tensor<1x8xi32>, tensor<1x8xi32>)
      {causal, degree = 4 : i64, denominator = #none, scale = 1.0 : f64, size = 8 : i64}
      : tensor<?x1x?x128xf32>, tensor<?x1x?x128xf32>, tensor<?x1x?x128xf32> -> tensor<?x1x?x128xf32>
  return %o : tensor<?x1x?x128xf32>
}

// -----

// The naive low rank has one form.
// CHECK-LABEL: func.func @naive(
// CHECK-SAME:    attn.plan = #attn.plan<form = state, from = 0>
// CHECK:         %[[B:.*]] = attn.map %arg1
// CHECK:         %[[E:.*]] = attn.compress %[[B]], %arg3
// CHECK:         %[[F:.*]] = attn.compress %arg2, %arg3
// CHECK:         attn.state %[[E]], %[[F]]
// CHECK:         attn.normalize %{{[a-z]+}} {
// REMARK:      linearize: cannot take the quadratic form: compressed features make no pair weights
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @naive(%q: tensor<1x1x64x128xf32>, %k: tensor<1x1x64x128xf32>, %v: tensor<1x1x64x128xf32>,
                 %e: tensor<1x16x64xf32>) -> tensor<1x1x64x128xf32> {
  %o = attn.kernel %q, %k, %v compress(%e, %e : tensor<1x16x64xf32>, tensor<1x16x64xf32>)
      {denominator = #none, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  return %o : tensor<1x1x64x128xf32>
}

// -----

// What has one form stays; the plan is named after it.
// CHECK-LABEL: func.func @polynomial(
// CHECK-SAME:    attn.plan = #attn.plan<form = quadratic, from = 0>
// CHECK:         attn.polynomial
func.func @polynomial(%q: tensor<?x1x?x8xf32>, %k: tensor<?x1x?x8xf32>, %v: tensor<?x1x?x8xf32>) -> tensor<?x1x?x8xf32> {
  %o = attn.polynomial %q, %k, %v {degree = 4 : i64, denominator = #attn.denominator<bias = 1.0, floor = 0.0>, scale = 1.0 : f64}
      : tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32> -> tensor<?x1x?x8xf32>
  return %o : tensor<?x1x?x8xf32>
}
