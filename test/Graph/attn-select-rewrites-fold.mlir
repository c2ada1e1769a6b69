// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml pin=project:materialized" \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml pin=project:materialized" | FileCheck %s --check-prefix=PLAN
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml pin=fold:apart,project:materialized" \
// RUN:   | FileCheck %s --check-prefix=APART

// A projection folded with omega, priced in multiply-adds of one token: D d + d m apart, D m folded.

// D = 128, d = m = 64: each saves d m. All projected and paired, in units of 64³: 6 + 2 + 2 apart, 8 with both folded,
// 9 with one.
// CHECK: Remark="fold of wq: did not take the apart form: 1.1 times the price; {{.*}}"
// CHECK: Remark="fold of wq: took the folded form: the cheapest; {{.*}}"
// CHECK: Remark="fold of wk: did not take the apart form: 1.1 times the price; {{.*}}"
// CHECK: Remark="fold of wk: took the folded form: the cheapest; {{.*}}"
// CHECK-NOT: fold of wv
// PLAN-LABEL:  func.func @narrow(
// PLAN:          attn.project %arg0, %arg1 {execution = #attn.execution<form = folded>}
// PLAN-NEXT:     attn.project %arg0, %arg2 {execution = #attn.execution<form = folded>}
// PLAN-NEXT:     attn.project %arg0, %arg3 :
// APART-LABEL: func.func @narrow(
// APART-NOT:     form = folded
func.func @narrow(%x: tensor<1x64x128xf32>, %wq: tensor<128x64xf32> {attn.name = "wq", attn.parameter},
                  %wk: tensor<128x64xf32> {attn.name = "wk", attn.parameter}, %wv: tensor<128x64xf32> {attn.name = "wv", attn.parameter},
                  %omega: tensor<1x64x64xf32> {attn.name = "omega", attn.parameter}) -> tensor<1x1x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %k = attn.project %x, %wk : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %o = attn.kernel %q, %k, %v parameter(%omega : tensor<1x64x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor_relu, features = 64, epsilon = 0.0>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

// D = 512, d = 64, m = 256: 2048 + 1024 apart, 8192 folded, in units of 1024; the whole function 9472 and 14592.
// CHECK: Remark="fold of wq: took the apart form: the cheapest; {{.*}}"
// CHECK: Remark="fold of wq: did not take the folded form: 1.5 times the price; {{.*}}"
// PLAN-LABEL:  func.func @wide(
// PLAN-NOT:      form = folded
func.func @wide(%x: tensor<1x64x512xf32>, %wq: tensor<512x64xf32> {attn.name = "wq", attn.parameter},
                %wk: tensor<512x64xf32> {attn.name = "wk", attn.parameter}, %wv: tensor<512x64xf32> {attn.name = "wv", attn.parameter},
                %omega: tensor<1x256x64xf32> {attn.name = "omega", attn.parameter}) -> tensor<1x1x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x512xf32>, tensor<512x64xf32> -> tensor<1x1x64x64xf32>
  %k = attn.project %x, %wk : tensor<1x64x512xf32>, tensor<512x64xf32> -> tensor<1x1x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x512xf32>, tensor<512x64xf32> -> tensor<1x1x64x64xf32>
  %o = attn.kernel %q, %k, %v parameter(%omega : tensor<1x256x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor_relu, features = 256, epsilon = 0.0>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

// Keys of FAVOR are read for their norms as well.
// CHECK: Remark="fold of wq: took the folded form: the cheapest; {{.*}}"
// CHECK: Remark="fold of wk: cannot take the folded form: -|k|^2/2 of the keys reads the tokens themselves"
// PLAN-LABEL:  func.func @queries_of_favor(
// PLAN:          attn.project %arg0, %arg1 {execution = #attn.execution<form = folded>}
// PLAN-NEXT:     attn.project %arg0, %arg2 :
func.func @queries_of_favor(%x: tensor<1x64x128xf32>, %wq: tensor<128x64xf32> {attn.name = "wq", attn.parameter},
                            %wk: tensor<128x64xf32> {attn.name = "wk", attn.parameter}, %wv: tensor<128x64xf32> {attn.name = "wv", attn.parameter},
                            %omega: tensor<1x64x64xf32> {attn.name = "omega", attn.parameter}) -> tensor<1x1x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %k = attn.project %x, %wk : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %o = attn.kernel %q, %k, %v parameter(%omega : tensor<1x64x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 64, epsilon = 0.0, scale = 0.125>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

// CHECK: Remark="fold of wq: cannot take the folded form: -|q|^2/2 does not cancel against this stabilizer"
func.func @norm_that_stays(%x: tensor<1x64x128xf32>, %wq: tensor<128x64xf32> {attn.name = "wq", attn.parameter},
                           %wk: tensor<128x64xf32> {attn.name = "wk", attn.parameter}, %wv: tensor<128x64xf32> {attn.name = "wv", attn.parameter},
                           %omega: tensor<1x64x64xf32> {attn.name = "omega", attn.parameter}) -> tensor<1x1x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %k = attn.project %x, %wk : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %o = attn.kernel %q, %k, %v parameter(%omega : tensor<1x64x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor, features = 64, epsilon = 1.0e-4, scale = 0.125, stabilizer = none>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

// CHECK: Remark="fold of wq: cannot take the folded form: rope turns the tokens before they meet omega"
// CHECK: Remark="fold of wk: cannot take the folded form: qk_norm scales the tokens before they meet omega"
func.func @turned(%x: tensor<1x64x128xf32>, %wq: tensor<128x64xf32> {attn.name = "wq", attn.parameter},
                  %wk: tensor<128x64xf32> {attn.name = "wk", attn.parameter}, %wv: tensor<128x64xf32> {attn.name = "wv", attn.parameter},
                  %omega: tensor<1x64x64xf32> {attn.name = "omega", attn.parameter}) -> tensor<1x1x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %k = attn.project %x, %wk : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %r = attn.rope %q {base = 1.0e4 : f64} : tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  %s = attn.qk_norm %k {epsilon = 1.0e-5 : f64} : tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  %o = attn.kernel %r, %s, %v parameter(%omega : tensor<1x64x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor_relu, features = 64, epsilon = 0.0>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

// CHECK: Remark="fold of wq: cannot take the folded form: not only the random features read these tokens"
func.func @shared(%x: tensor<1x64x128xf32>, %wq: tensor<128x64xf32> {attn.name = "wq", attn.parameter},
                  %wv: tensor<128x64xf32> {attn.name = "wv", attn.parameter},
                  %omega: tensor<1x64x64xf32> {attn.name = "omega", attn.parameter}) -> tensor<1x1x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %o = attn.kernel %q, %q, %v parameter(%omega : tensor<1x64x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor_relu, features = 64, epsilon = 0.0>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

// CHECK: Remark="fold of wq: cannot take the folded form: the weights are given to every run, not to prepare"
func.func @given_to_runs(%x: tensor<1x64x128xf32>, %wq: tensor<128x64xf32> {attn.name = "wq"},
                         %wk: tensor<128x64xf32> {attn.name = "wk"}, %wv: tensor<128x64xf32> {attn.name = "wv"},
                         %omega: tensor<1x64x64xf32> {attn.name = "omega"}) -> tensor<1x1x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %k = attn.project %x, %wk : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %o = attn.kernel %q, %k, %v parameter(%omega : tensor<1x64x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor_relu, features = 64, epsilon = 0.0>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}

// -----

// CHECK: Remark="fold of wk: cannot take the folded form: low_rank compresses the tokens before they meet omega"
func.func @compressed(%x: tensor<1x64x128xf32>, %wq: tensor<128x64xf32> {attn.name = "wq", attn.parameter},
                           %wk: tensor<128x64xf32> {attn.name = "wk", attn.parameter}, %wv: tensor<128x64xf32> {attn.name = "wv", attn.parameter},
                           %omega: tensor<1x64x64xf32> {attn.name = "omega", attn.parameter},
                           %e: tensor<1x64x64xf32> {attn.name = "e", attn.parameter}) -> tensor<1x1x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %k = attn.project %x, %wk : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x128xf32>, tensor<128x64xf32> -> tensor<1x1x64x64xf32>
  %s = attn.compress %k, %e : tensor<1x1x64x64xf32>, tensor<1x64x64xf32> -> tensor<1x1x64x64xf32>
  %o = attn.kernel %q, %s, %v parameter(%omega : tensor<1x64x64xf32>)
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor_relu, features = 64, epsilon = 0.0>}
      : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}
