// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=x86-64-avx512 | FileCheck %s --check-prefix=PLAN
// RUN: attn-opt %s -split-input-file -attn-select-rewrites="device=x86-64-avx512 pin=map:materialized" \
// RUN:   | FileCheck %s --check-prefix=PINNED
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=a100-40gb \
// RUN:   --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s --check-prefix=GPU

// Features of keys in the loads of their readers, or stored once.

// Seven query heads read the keys of one key-value head, in parts of the sequence: the states of pieces read them as well.
// CHECK: Remark="map: did not take the fused form: {{.*}} % dearer{{.*}}"
// CHECK: Remark="map: took the materialized form: the cheapest; {{.*}}"
// PLAN-LABEL:   func.func @group(
// PLAN:           attn.map %arg0
// PLAN-NOT:       execution
// PLAN:           attn.map %arg1 {{.*}}values = materialized
// PLAN:           attn.causal_readout {{.*}} {execution = #attn.execution<split = true, grouped = true>}
// PINNED-LABEL: func.func @group(
// PINNED:         attn.map %arg1 {{.*}}values = materialized
// GPU: Remark="map: cannot take the materialized form: features of f32 that are read in the place of keys take shared memory {{.*}}"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#favor = #attn.feature_map<favor_relu, features = 256, epsilon = 0.0>
func.func @group(%q: tensor<1x7x1024x64xf32>, %k: tensor<1x1x1024x64xf32>, %v: tensor<1x1x1024x64xf32>,
                 %omega: tensor<1x256x64xf32> {attn.parameter}) -> tensor<1x7x1024x64xf32> {
  %o = attn.kernel %q, %k, %v parameter(%omega : tensor<1x256x64xf32>) {causal, denominator = #none, feature_map = #favor}
      : tensor<1x7x1024x64xf32>, tensor<1x1x1024x64xf32>, tensor<1x1x1024x64xf32> -> tensor<1x7x1024x64xf32>
  return %o : tensor<1x7x1024x64xf32>
}

// -----

// A map without products, of keys that one block of queries reads.
// CHECK: Remark="map: took the fused form: the cheapest; {{.*}}"
// CHECK: Remark="map: did not take the materialized form: {{.*}} times the price{{.*}}"
// PLAN-LABEL:   func.func @cheap(
// PLAN-NOT:       execution
// PINNED-LABEL: func.func @cheap(
// PINNED:         attn.map %arg1 {{.*}}values = materialized
#none = #attn.denominator<bias = 0.0, floor = 0.0>
func.func @cheap(%q: tensor<1x2x64x64xf32>, %k: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32> {
  %o = attn.kernel %q, %k, %v {denominator = #none, feature_map = #attn.feature_map<elu1>}
      : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32> -> tensor<1x2x64x64xf32>
  return %o : tensor<1x2x64x64xf32>
}
