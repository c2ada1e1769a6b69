// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 | FileCheck %s --check-prefix=PLAN
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=x86-64-avx512 pin=project:fused" \
// RUN:   | FileCheck %s --check-prefix=PINNED
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=a100-40gb \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s --check-prefix=GPU

// Projections alone, or in the loads of the kernels that read them.

// One block of queries: every token is projected once in either case, and three kernels and their workspaces are spared.
// CHECK: Remark="project of wq: took the fused form: the cheapest; {{.*}}"
// CHECK: Remark="project of wk: took the fused form: the cheapest; {{.*}}"
// CHECK: Remark="project of wv: took the fused form: the cheapest; {{.*}}"
// PLAN-LABEL: func.func @short(
// PLAN-COUNT-3: attn.project {{.*}} {execution = #attn.execution<values = fused>}
// GPU: Remark="project of wq: cannot take the fused form: projections in the load hold registers {{.*}}"
// GPU: Remark="project of wk: cannot take the fused form: projections in the load hold registers {{.*}}"
func.func @short(%x: tensor<1x64x256xf32>, %wq: tensor<256x256xf32> {attn.name = "wq"}, %wk: tensor<256x256xf32> {attn.name = "wk"},
                 %wv: tensor<256x256xf32> {attn.name = "wv"}) -> tensor<1x4x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x256xf32>, tensor<256x256xf32> -> tensor<1x4x64x64xf32>
  %k = attn.project %x, %wk : tensor<1x64x256xf32>, tensor<256x256xf32> -> tensor<1x4x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x256xf32>, tensor<256x256xf32> -> tensor<1x4x64x64xf32>
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : tensor<1x4x64x64xf32>, tensor<1x4x64x64xf32>, tensor<1x4x64x64xf32> -> tensor<1x4x64x64xf32>
  return %o : tensor<1x4x64x64xf32>
}

// -----

// Eight blocks of queries visit every key: 8 times its projection.
// CHECK: Remark="project of wq: took the fused form: the cheapest; {{.*}}"
// CHECK: Remark="project of wk: took the materialized form: the cheapest; {{.*}}"
// CHECK: Remark="project of wk: did not take the fused form: {{.*}} times the price; cheaper below n = 65{{.*}}"
// CHECK: Remark="project of wv: took the materialized form: the cheapest; {{.*}}"
// PLAN-LABEL:     func.func @long(
// PLAN:             attn.project {{.*}} {execution = #attn.execution<values = fused>}
// PLAN-COUNT-2:     attn.project {{.*}} :
// PINNED-LABEL:   func.func @long(
// PINNED-COUNT-3:   attn.project {{.*}} {execution = #attn.execution<values = fused>}
func.func @long(%x: tensor<1x512x256xf32>, %wq: tensor<256x256xf32> {attn.name = "wq"}, %wk: tensor<256x256xf32> {attn.name = "wk"},
                %wv: tensor<256x256xf32> {attn.name = "wv"}) -> tensor<1x4x512x64xf32> {
  %q = attn.project %x, %wq : tensor<1x512x256xf32>, tensor<256x256xf32> -> tensor<1x4x512x64xf32>
  %k = attn.project %x, %wk : tensor<1x512x256xf32>, tensor<256x256xf32> -> tensor<1x4x512x64xf32>
  %v = attn.project %x, %wv : tensor<1x512x256xf32>, tensor<256x256xf32> -> tensor<1x4x512x64xf32>
  %o = attn.softmax %q, %k, %v {scale = 0.125 : f64} : tensor<1x4x512x64xf32>, tensor<1x4x512x64xf32>, tensor<1x4x512x64xf32> -> tensor<1x4x512x64xf32>
  return %o : tensor<1x4x512x64xf32>
}

// -----

// A state reads each key once. One head of up to 2,048 tokens is one program, and two cores could project: the values alone,
// the keys in a map of its own, whose blocks of keys are as many.
// CHECK: Remark="linearize: took the merged_state form: {{.*}}"
// CHECK: Remark="project of wk: took the fused form: {{.*}}"
// CHECK: Remark="project of wv: took the materialized form: {{.*}}"
// CHECK: Remark="map: took the materialized form: {{.*}}"
// PLAN-LABEL: func.func @one_head(
func.func @one_head(%x: tensor<1x1024x256xf32>, %wq: tensor<256x64xf32> {attn.name = "wq"}, %wk: tensor<256x64xf32> {attn.name = "wk"},
                    %wv: tensor<256x64xf32> {attn.name = "wv"}) -> tensor<1x1x1024x64xf32> {
  %q = attn.project %x, %wq : tensor<1x1024x256xf32>, tensor<256x64xf32> -> tensor<1x1x1024x64xf32>
  %k = attn.project %x, %wk : tensor<1x1024x256xf32>, tensor<256x64xf32> -> tensor<1x1x1024x64xf32>
  %v = attn.project %x, %wv : tensor<1x1024x256xf32>, tensor<256x64xf32> -> tensor<1x1x1024x64xf32>
  %o = attn.kernel %q, %k, %v {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : tensor<1x1x1024x64xf32>, tensor<1x1x1024x64xf32>, tensor<1x1x1024x64xf32> -> tensor<1x1x1024x64xf32>
  return %o : tensor<1x1x1024x64xf32>
}

// -----

// Tokens that others read in another way. Queries are read by both parts, each of which takes its heads of them.
// CHECK: Remark="project of wq: took the fused form: the cheapest; {{.*}}"
// CHECK: Remark="project of wv: cannot take the fused form: lepe reads every value with its neighbours"
// PLAN-LABEL: func.func @parts(
func.func @parts(%x: tensor<1x64x256xf32>, %wq: tensor<256x256xf32> {attn.name = "wq"}, %wk: tensor<256x256xf32> {attn.name = "wk"},
                 %wv: tensor<256x256xf32> {attn.name = "wv"}, %w: tensor<2x64x3xf32>) -> tensor<1x4x64x64xf32> {
  %q = attn.project %x, %wq : tensor<1x64x256xf32>, tensor<256x256xf32> -> tensor<1x4x64x64xf32>
  %k = attn.project %x, %wk : tensor<1x64x256xf32>, tensor<256x256xf32> -> tensor<1x4x64x64xf32>
  %v = attn.project %x, %wv : tensor<1x64x256xf32>, tensor<256x256xf32> -> tensor<1x4x64x64xf32>
  %q0 = attn.take_heads %q {first = 0 : i64} : tensor<1x4x64x64xf32> -> tensor<1x2x64x64xf32>
  %k0 = attn.take_heads %k {first = 0 : i64} : tensor<1x4x64x64xf32> -> tensor<1x2x64x64xf32>
  %v0 = attn.take_heads %v {first = 0 : i64} : tensor<1x4x64x64xf32> -> tensor<1x2x64x64xf32>
  %q1 = attn.take_heads %q {first = 2 : i64} : tensor<1x4x64x64xf32> -> tensor<1x2x64x64xf32>
  %k1 = attn.take_heads %k {first = 2 : i64} : tensor<1x4x64x64xf32> -> tensor<1x2x64x64xf32>
  %v1 = attn.take_heads %v {first = 2 : i64} : tensor<1x4x64x64xf32> -> tensor<1x2x64x64xf32>
  %a = attn.softmax %q0, %k0, %v0 {scale = 0.125 : f64} : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x64x64xf32>
  %l = attn.lepe %a, %v0, %w : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<2x64x3xf32> -> tensor<1x2x64x64xf32>
  %b = attn.polynomial %q1, %k1, %v1 {degree = 4 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 1.0 : f64} : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x64x64xf32>
  %o = attn.concat_heads %l, %b : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x4x64x64xf32>
  return %o : tensor<1x4x64x64xf32>
}
