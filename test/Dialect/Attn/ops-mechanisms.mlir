// Mechanisms beyond softmax and elu + 1, and their terms; examples.test compares the examples of the descriptions with
// these lines.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!x = tensor<2x4x200x64xf32>
!v = tensor<2x4x200x32xf32>

// CHECK-LABEL: func.func @polynomial
func.func @polynomial(%q: !x, %k: !x, %v: !v) -> (!v, !v) {
  // CHECK: attn.polynomial %{{.*}}, %{{.*}}, %{{.*}} {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.000000e+00, floor = 0.000000e+00>, scale = 1.000000e+00 : f64} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
  %o = attn.polynomial %q, %k, %v {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.000000e+00, floor = 0.000000e+00>, scale = 1.000000e+00 : f64}
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
  // CHECK: attn.polynomial {{.*}}, window = #attn.window<10x5 of 20x10>} :
  %p = attn.polynomial %q, %k, %v {degree = 2 : i64, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, scale = 0.5 : f64, window = #attn.window<10x5 of 20x10>}
      : !x, !x, !v -> !v
  return %o, %p : !v, !v
}

!kv = tensor<2x2x200x64xf32>
!vv = tensor<2x2x200x32xf32>
!leaf = tensor<4x64xf32>
!node = tensor<4x32xf32>
!index = tensor<4x32xi32>

// CHECK-LABEL: func.func @polysketch
func.func @polysketch(%q: !x, %k: !kv, %v: !vv, %s0: !leaf, %s1: !leaf, %sa: !node, %sb: !node, %i0: !index, %i1: !index,
                      %ia: !index, %ib: !index) -> !v {
  // CHECK: attn.polysketch %{{.*}}, %{{.*}}, %{{.*}} signs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
  // CHECK-SAME: indices(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>) {causal, degree = 4 : i64
  // CHECK-SAME: local_exact = 50 : i64, scale = 1.000000e+00 : f64, size = 32 : i64}
  %o = attn.polysketch %q, %k, %v
      signs(%s0, %s1, %sa, %sb : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
      indices(%i0, %i1, %ia, %ib : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>)
      {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>,
       local_exact = 50 : i64, scale = 1.000000e+00 : f64, size = 32 : i64}
      : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x32xf32> -> tensor<2x4x200x32xf32>
  return %o : !v
}

// CHECK-LABEL: func.func @sketch
func.func @sketch(%k: !kv, %s0: !leaf, %s1: !leaf, %sa: !node, %sb: !node, %i0: !index, %i1: !index, %ia: !index,
                  %ib: !index) -> tensor<2x4x200x32xf32> {
  // CHECK: attn.sketch %{{.*}} signs({{.*}}) indices({{.*}}) {scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x2x200x64xf32> -> tensor<2x4x200x32xf32>
  %s = attn.sketch %k
      signs(%s0, %s1, %sa, %sb : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
      indices(%i0, %i1, %ia, %ib : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>)
      {scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x2x200x64xf32> -> tensor<2x4x200x32xf32>
  return %s : tensor<2x4x200x32xf32>
}

!w = tensor<2x4x200x200xf32>
!square = tensor<2x4x128x128xf32>

// CHECK-LABEL: func.func @weights
func.func @weights(%w: !w, %exact: !square, %sketched: !square) -> (!w, !square) {
  // CHECK: attn.power %{{.*}} {degree = 4 : i64, scale = 1.000000e+00 : f64} : tensor<2x4x200x200xf32>
  %p = attn.power %w {degree = 4 : i64, scale = 1.000000e+00 : f64} : tensor<2x4x200x200xf32>
  // CHECK: attn.diagonal_blocks %{{.*}}, %{{.*}} {block = 32 : i64} : tensor<2x4x128x128xf32>
  %d = attn.diagonal_blocks %exact, %sketched {block = 32 : i64} : tensor<2x4x128x128xf32>
  return %p, %d : !w, !square
}

// CHECK-LABEL: func.func @effatt
func.func @effatt(%q: !x, %k: !x, %v: !v, %l: tensor<2xi32>) -> (!v, !v, !x, !x) {
  // CHECK: attn.effatt %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
  %o = attn.effatt %q, %k, %v : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
  // CHECK: attn.effatt %{{.*}}, %{{.*}}, %{{.*}} lengths(%{{.*}} : tensor<2xi32>) :
  %p = attn.effatt %q, %k, %v lengths(%l : tensor<2xi32>) : !x, !x, !v -> !v
  // CHECK: attn.sequence_softmax %{{[^ ]*}} : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
  %b = attn.sequence_softmax %k : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
  // CHECK: attn.sequence_softmax %{{.*}} lengths(%{{.*}} : tensor<2xi32>) :
  %c = attn.sequence_softmax %k lengths(%l : tensor<2xi32>) : !x -> !x
  return %o, %p, %b, %c : !v, !v, !x, !x
}

!s = tensor<2x4x64x32xf32>
!z = tensor<2x4x64xf32>

// CHECK-LABEL: func.func @effatt_left
func.func @effatt_left(%q: !x, %k: tensor<2x4x200x64xf32>, %v: !v, %n: tensor<2xi32>) -> (!v, !s, !z, !x) {
  // CHECK: attn.effatt {{.*}} -> tensor<2x4x200x32xf32>, left tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  %o, %left:2 = attn.effatt %q, %k, %v : !x, tensor<2x4x200x64xf32>, !v -> !v, left !s, !z
  // CHECK: attn.sequence_lse %{{[^ ]*}} : tensor<2x4x200x64xf32> -> tensor<2x4x64xf32>
  %l = attn.sequence_lse %k : tensor<2x4x200x64xf32> -> tensor<2x4x64xf32>
  // CHECK: attn.sequence_weights %{{[^ ]*}} lse(%{{.*}} : tensor<2x4x64xf32>) : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
  %b = attn.sequence_weights %k lse(%l : tensor<2x4x64xf32>) : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
  // CHECK: attn.sequence_lse %{{.*}} lengths(%{{.*}} : tensor<2xi32>) :
  %m = attn.sequence_lse %k lengths(%n : tensor<2xi32>) : tensor<2x4x200x64xf32> -> tensor<2x4x64xf32>
  // CHECK: attn.sequence_weights %{{.*}} lse(%{{.*}}) lengths(%{{.*}} : tensor<2xi32>) :
  %c = attn.sequence_weights %k lse(%m : !z) lengths(%n : tensor<2xi32>) : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
  return %o, %left#0, %l, %b : !v, !s, !z, tensor<2x4x200x64xf32>
}

!q = tensor<2x4x128x64xf32>
!a = tensor<2x4x16x64xf32>

// CHECK-LABEL: func.func @agent
func.func @agent(%q: !q, %k: !q, %v: !q) -> (!q, !a) {
  // CHECK: attn.agent %{{.*}}, %{{.*}}, %{{.*}} {agents = 16 : i64, scale = 1.250000e-01 : f64} : tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32> -> tensor<2x4x128x64xf32>
  %o = attn.agent %q, %k, %v {agents = 16 : i64, scale = 1.250000e-01 : f64} : tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32> -> tensor<2x4x128x64xf32>
  // CHECK: attn.agent {{.*}} -> tensor<2x4x128x64xf32>, lse tensor<2x4x128xf32>
  %p, %l = attn.agent %q, %k, %v {agents = 16 : i64, scale = 1.250000e-01 : f64} : !q, !q, !q -> !q, lse tensor<2x4x128xf32>
  // CHECK: attn.pool %{{.*}} {count = 16 : i64} : tensor<2x4x128x64xf32> -> tensor<2x4x16x64xf32>
  %a = attn.pool %q {count = 16 : i64} : tensor<2x4x128x64xf32> -> tensor<2x4x16x64xf32>
  return %o, %a : !q, !a
}

!e = tensor<1x2x128x64xf32>
!c = tensor<1x2x16x64xf32>
!lw = tensor<1x2x16xf32>

// CHECK-LABEL: func.func @eva
func.func @eva(%q: !e, %k: !e, %v: !e, %l: tensor<1xi32>) -> (!e, !e, !e) {
  // CHECK: attn.eva %{{.*}}, %{{.*}}, %{{.*}} {causal, chunk = 8 : i64, local = 32 : i64, mu_weight = 1.000000e+00 : f64, scale = 1.250000e-01 : f64} : tensor<1x2x128x64xf32>
  %o = attn.eva %q, %k, %v {causal, chunk = 8 : i64, local = 32 : i64, mu_weight = 1.000000e+00 : f64, scale = 1.250000e-01 : f64}
      : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
  // CHECK: attn.eva %{{.*}} lengths(%{{.*}} : tensor<1xi32>) {chunk = 16 : i64, exclude_local, local = 8 : i64, mass, mu_weight = -5.000000e-01 : f64,
  %p = attn.eva %q, %k, %v lengths(%l : tensor<1xi32>) {chunk = 16 : i64, exclude_local, local = 8 : i64, mass, mu_weight = -0.5 : f64, scale = 1.0 : f64}
      : !e, !e, !e -> !e
  // CHECK: attn.eva_summaries %{{.*}} {chunk = 8 : i64, mu_weight = 5.000000e-01 : f64, scale = 1.250000e-01 : f64} : {{.*}} -> tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>
  %mean, %beta, %w = attn.eva_summaries %q, %k, %v {chunk = 8 : i64, mu_weight = 5.000000e-01 : f64, scale = 1.250000e-01 : f64}
      : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>
  // CHECK: attn.eva_mix %{{.*}} summaries(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>) {chunk = 8 : i64, local = 32 : i64, scale = 1.250000e-01 : f64} :
  %m = attn.eva_mix %q, %k, %v summaries(%mean, %beta, %w : tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>)
      {chunk = 8 : i64, local = 32 : i64, scale = 1.250000e-01 : f64}
      : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
  return %o, %p, %m : !e, !e, !e
}

// With exclude_local there are two more rows for each of the 4 local blocks.
// CHECK-LABEL: func.func @eva_exclude_local
func.func @eva_exclude_local(%q: !e, %k: !e, %v: !e, %l: tensor<1xi32>) -> !e {
  // CHECK: attn.eva_summaries {{.*}} lengths({{.*}}) {chunk = 8 : i64, local = 32 : i64, mass, {{.*}} -> tensor<1x2x24x64xf32>, tensor<1x2x24x64xf32>, tensor<1x2x24xf32>
  %mean, %beta, %w = attn.eva_summaries %q, %k, %v lengths(%l : tensor<1xi32>) {chunk = 8 : i64, local = 32 : i64, mass, mu_weight = 0.5 : f64, scale = 1.0 : f64}
      : !e, !e, !e -> tensor<1x2x24x64xf32>, tensor<1x2x24x64xf32>, tensor<1x2x24xf32>
  // CHECK: attn.eva_mix {{.*}} lengths({{.*}}) summaries({{.*}}) {chunk = 8 : i64, exclude_local, local = 32 : i64, scale
  %m = attn.eva_mix %q, %k, %v lengths(%l : tensor<1xi32>) summaries(%mean, %beta, %w : tensor<1x2x24x64xf32>, tensor<1x2x24x64xf32>, tensor<1x2x24xf32>)
      {chunk = 8 : i64, exclude_local, local = 32 : i64, scale = 1.0 : f64} : !e, !e, !e -> !e
  return %m : !e
}
