// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/Inputs/products.yaml | FileCheck %s --check-prefix=PLAN
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=%S/Inputs/products.yaml pin=low_rank:project_first" \
// RUN:   | FileCheck %s --check-prefix=PINNED

// E before or after the projection, in multiply-adds of 64×64×64. N = 256, D = 128, two heads of 64, 64 slots.

// Keys and values each: 16 to project all tokens and 8 for E K, or 4 to project the slots of E x, which takes 8 once. With
// 16 for the queries and 16 for softmax: 80 as it stands, 48 with E first for both, 68 with E first for one.
// CHECK: Remark="low_rank of wk: did not take the project_first form: 1.4 times the price; {{.*}}"
// CHECK: Remark="low_rank of wk: took the compress_first form: the cheapest; {{.*}}"
// CHECK: Remark="low_rank of wv: did not take the project_first form: 1.4 times the price; {{.*}}"
// CHECK: Remark="low_rank of wv: took the compress_first form: the cheapest; {{.*}}"
// PLAN-LABEL:   func.func @tied(
// PLAN:           attn.compress %{{.*}}, %arg4 {execution = #attn.execution<form = compress_first>}
// PLAN:           attn.compress %{{.*}}, %arg4 {execution = #attn.execution<form = compress_first>}
// PINNED-LABEL: func.func @tied(
// PINNED:         attn.compress
// PINNED-NOT:     form = compress_first
func.func @tied(%x: tensor<1x256x128xf32>, %wq: tensor<128x128xf32> {attn.name = "wq"},
                %wk: tensor<128x128xf32> {attn.name = "wk"}, %wv: tensor<128x128xf32> {attn.name = "wv"},
                %e: tensor<1x64x256xf32>, %bk: tensor<128xf32>) -> tensor<1x2x256x64xf32> {
  %q = attn.project %x, %wq : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %k = attn.project %x, %wk bias(%bk : tensor<128xf32>) : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %v = attn.project %x, %wv : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %sk = attn.compress %k, %e : tensor<1x2x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x2x64x64xf32>
  %sv = attn.compress %v, %e : tensor<1x2x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x2x64x64xf32>
  %o = attn.softmax %q, %sk, %sv {scale = 0.125 : f64} : tensor<1x2x256x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x256x64xf32>
  return %o : tensor<1x2x256x64xf32>
}

// -----

// One head of 64 of a model of 512, 256 slots: 32 to project all tokens and 16 for E K, against 128 for E x and 32.
// CHECK: Remark="low_rank of wk: took the project_first form: the cheapest; {{.*}}"
// CHECK: Remark="low_rank of wk: did not take the compress_first form: {{.*}} times the price; {{.*}}"
// PLAN-LABEL:   func.func @narrow_head(
// PLAN-NOT:       form = compress_first
func.func @narrow_head(%x: tensor<1x256x512xf32>, %wq: tensor<512x64xf32> {attn.name = "wq"},
                       %wk: tensor<512x64xf32> {attn.name = "wk"}, %wv: tensor<512x64xf32> {attn.name = "wv"},
                       %e: tensor<1x256x256xf32>) -> tensor<1x1x256x64xf32> {
  %q = attn.project %x, %wq : tensor<1x256x512xf32>, tensor<512x64xf32> -> tensor<1x1x256x64xf32>
  %k = attn.project %x, %wk : tensor<1x256x512xf32>, tensor<512x64xf32> -> tensor<1x1x256x64xf32>
  %v = attn.project %x, %wv : tensor<1x256x512xf32>, tensor<512x64xf32> -> tensor<1x1x256x64xf32>
  %sk = attn.compress %k, %e : tensor<1x1x256x64xf32>, tensor<1x256x256xf32> -> tensor<1x1x256x64xf32>
  %sv = attn.compress %v, %e : tensor<1x1x256x64xf32>, tensor<1x256x256xf32> -> tensor<1x1x256x64xf32>
  %o = attn.softmax %q, %sk, %sv {scale = 0.125 : f64} : tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32>, tensor<1x1x256x64xf32> -> tensor<1x1x256x64xf32>
  return %o : tensor<1x1x256x64xf32>
}

// -----

// CHECK: Remark="low_rank of wk: cannot take the compress_first form: rope turns every token by its own place before e mixes them"
// CHECK: Remark="low_rank of wv: took the compress_first form: the cheapest; {{.*}}"
// PLAN-LABEL:   func.func @turned(
// PLAN:           attn.compress %{{.*}}, %arg4 :
// PLAN-NEXT:      attn.compress %{{.*}}, %arg4 {execution = #attn.execution<form = compress_first>}
func.func @turned(%x: tensor<1x256x128xf32>, %wq: tensor<128x128xf32> {attn.name = "wq"},
                  %wk: tensor<128x128xf32> {attn.name = "wk"}, %wv: tensor<128x128xf32> {attn.name = "wv"},
                  %e: tensor<1x64x256xf32>) -> tensor<1x2x256x64xf32> {
  %q = attn.project %x, %wq : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %k = attn.project %x, %wk : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %v = attn.project %x, %wv : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %r = attn.rope %k {base = 1.0e4 : f64} : tensor<1x2x256x64xf32> -> tensor<1x2x256x64xf32>
  %sk = attn.compress %r, %e : tensor<1x2x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x2x64x64xf32>
  %sv = attn.compress %v, %e : tensor<1x2x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x2x64x64xf32>
  %o = attn.softmax %q, %sk, %sv {scale = 0.125 : f64} : tensor<1x2x256x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x256x64xf32>
  return %o : tensor<1x2x256x64xf32>
}

// -----

// CHECK: Remark="low_rank of wk: cannot take the compress_first form: qk_norm divides every token by its own norm before e mixes them"
// CHECK: Remark="low_rank of wv: cannot take the compress_first form: other ops read these tokens uncompressed"
func.func @normed_and_convolved(%x: tensor<1x256x128xf32>, %wq: tensor<128x128xf32> {attn.name = "wq"},
                                %wk: tensor<128x128xf32> {attn.name = "wk"}, %wv: tensor<128x128xf32> {attn.name = "wv"},
                                %e: tensor<1x64x256xf32>, %l: tensor<2x64x3xf32>) -> tensor<1x2x256x64xf32> {
  %q = attn.project %x, %wq : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %k = attn.project %x, %wk : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %v = attn.project %x, %wv : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %r = attn.qk_norm %k {epsilon = 1.0e-5 : f64} : tensor<1x2x256x64xf32> -> tensor<1x2x256x64xf32>
  %sk = attn.compress %r, %e : tensor<1x2x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x2x64x64xf32>
  %sv = attn.compress %v, %e : tensor<1x2x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x2x64x64xf32>
  %o = attn.softmax %q, %sk, %sv {scale = 0.125 : f64} : tensor<1x2x256x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x256x64xf32>
  %c = attn.lepe %o, %v, %l : tensor<1x2x256x64xf32>, tensor<1x2x256x64xf32>, tensor<2x64x3xf32> -> tensor<1x2x256x64xf32>
  return %c : tensor<1x2x256x64xf32>
}

// -----

// CHECK: Remark="low_rank of wk: cannot take the compress_first form: the parts read different heads of these tokens"
func.func @of_some_heads(%x: tensor<1x256x128xf32>, %wq: tensor<128x128xf32> {attn.name = "wq"},
                         %wk: tensor<128x128xf32> {attn.name = "wk"}, %wv: tensor<128x64xf32> {attn.name = "wv"},
                         %e: tensor<1x64x256xf32>) -> tensor<1x2x256x64xf32> {
  %q = attn.project %x, %wq : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %k = attn.project %x, %wk : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %v = attn.project %x, %wv : tensor<1x256x128xf32>, tensor<128x64xf32> -> tensor<1x1x256x64xf32>
  %t = attn.take_heads %k {first = 1 : i64} : tensor<1x2x256x64xf32> -> tensor<1x1x256x64xf32>
  %sk = attn.compress %t, %e : tensor<1x1x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x1x64x64xf32>
  %sv = attn.compress %v, %e : tensor<1x1x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x1x64x64xf32>
  %o = attn.softmax %q, %sk, %sv {scale = 0.125 : f64} : tensor<1x2x256x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32> -> tensor<1x2x256x64xf32>
  return %o : tensor<1x2x256x64xf32>
}

// -----

// Features of tokens that a map has made already.
// CHECK: Remark="low_rank of wk: cannot take the compress_first form: the feature map is not linear, and e compresses its features"
func.func @mapped(%x: tensor<1x256x128xf32>, %q: tensor<1x2x256x64xf32>, %wk: tensor<128x128xf32> {attn.name = "wk"},
                  %wv: tensor<128x128xf32> {attn.name = "wv"}, %e: tensor<1x64x256xf32>) -> tensor<1x2x256x64xf32> {
  %k = attn.project %x, %wk : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %v = attn.project %x, %wv : tensor<1x256x128xf32>, tensor<128x128xf32> -> tensor<1x2x256x64xf32>
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>, keys} : tensor<1x2x256x64xf32> -> tensor<1x2x256x64xf32>
  %sk = attn.compress %b, %e : tensor<1x2x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x2x64x64xf32>
  %sv = attn.compress %v, %e : tensor<1x2x256x64xf32>, tensor<1x64x256xf32> -> tensor<1x2x64x64xf32>
  %o = attn.softmax %q, %sk, %sv {scale = 0.125 : f64} : tensor<1x2x256x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x256x64xf32>
  return %o : tensor<1x2x256x64xf32>
}
