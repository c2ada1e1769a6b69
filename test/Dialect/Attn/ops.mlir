// Every op and attribute with the example of its description, which examples.test compares word for word.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!q = tensor<2x8x48x64xbf16>
!kv = tensor<2x2x80x64xbf16>
!rows = tensor<2x8x48xf32>
!acc = tensor<2x8x48x64xf32>

// CHECK-LABEL: func.func @softmax
func.func @softmax(%q: !q, %k: !kv, %v: !kv) -> !q {
  // CHECK: attn.softmax %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 1.250000e-01 : f64} : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
  %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
      : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
  return %o : !q
}

// Lengths, the optional result, sizes known only at run time, a width of its own for the values.
// CHECK-LABEL: func.func @softmax_options
func.func @softmax_options(%q: tensor<?x4x?x7xf32>, %k: tensor<?x4x?x7xf32>, %v: tensor<?x4x?x3xf32>, %l: tensor<?xi32>)
    -> (tensor<?x4x?x3xf32>, tensor<?x4x?xf32>) {
  // CHECK: attn.softmax %{{.*}} lengths(%{{.*}} : tensor<?xi32>) {scale = 1.000000e+00 : f64} : {{.*}} -> tensor<?x4x?x3xf32>, lse tensor<?x4x?xf32>
  %o, %lse = attn.softmax %q, %k, %v lengths(%l : tensor<?xi32>) {scale = 1.0 : f64}
      : tensor<?x4x?x7xf32>, tensor<?x4x?x7xf32>, tensor<?x4x?x3xf32> -> tensor<?x4x?x3xf32>, lse tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x3xf32>, tensor<?x4x?xf32>
}

// CHECK-LABEL: func.func @softmax_partial
func.func @softmax_partial(%q: !q, %k: !kv, %v: !kv, %lengths: tensor<2xi32>) -> (!rows, !rows, !acc, !rows, !rows, !acc) {
  // CHECK: attn.softmax_partial %{{.*}} {piece = 0 : i64, pieces = 1 : i64, scale = 1.250000e-01 : f64} : {{.*}} -> tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
  %m, %l, %acc = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 1 : i64, scale = 1.250000e-01 : f64}
      : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16>
      -> tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
  // CHECK: attn.softmax_partial %{{.*}} lengths(%{{.*}} : tensor<2xi32>) {causal, piece = 2 : i64, pieces = 3 : i64
  %m2, %l2, %acc2 = attn.softmax_partial %q, %k, %v lengths(%lengths : tensor<2xi32>)
      {causal, piece = 2 : i64, pieces = 3 : i64, scale = 1.0 : f64} : !q, !kv, !kv -> !rows, !rows, !acc
  return %m, %l, %acc, %m2, %l2, %acc2 : !rows, !rows, !acc, !rows, !rows, !acc
}

// CHECK-LABEL: func.func @softmax_merge
func.func @softmax_merge(%m1: !rows, %l1: !rows, %acc1: !acc, %m2: !rows, %l2: !rows, %acc2: !acc) -> (!rows, !rows, !acc) {
  // CHECK: attn.softmax_merge{{ ?}}(%{{.*}}, %{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}, %{{.*}}) : tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
  %m, %l, %acc = attn.softmax_merge (%m1, %l1, %acc1), (%m2, %l2, %acc2) : tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
  return %m, %l, %acc : !rows, !rows, !acc
}

// CHECK-LABEL: func.func @softmax_finish
func.func @softmax_finish(%m: !rows, %l: !rows, %acc: !acc) -> (!q, !rows) {
  // CHECK: attn.softmax_finish %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x8x48xf32>, tensor<2x8x48x64xf32> -> tensor<2x8x48x64xbf16>
  %o, %lse = attn.softmax_finish %m, %l, %acc : tensor<2x8x48xf32>, tensor<2x8x48x64xf32> -> tensor<2x8x48x64xbf16>
  return %o, %lse : !q, !rows
}

!x = tensor<2x4x200x64xbf16>
!f = tensor<2x4x200x64xf32>
!v = tensor<2x4x200x32xbf16>
!den = tensor<2x4x200xf32>
!num = tensor<2x4x200x32xf32>
!state = tensor<2x4x64x32xf32>
!sum = tensor<2x4x64xf32>
!w = tensor<2x4x200x200xf32>

// CHECK-LABEL: func.func @kernel
func.func @kernel(%q: !x, %k: !x, %v: !x) -> !x {
  // CHECK: attn.kernel %{{.*}} {causal, denominator = #attn.denominator<bias = 9.9999999999999995E-7, floor = 0.000000e+00>, feature_map = #attn.feature_map<elu1>} :
  %o = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 1.000000e-06, floor = 0.000000e+00>,
                               feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x200x64xbf16>, tensor<2x4x200x64xbf16>, tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xbf16>
  return %o : !x
}

// CHECK-LABEL: func.func @kernel_options
func.func @kernel_options(%q: !x, %k: !x, %v: !v, %l: tensor<2xi32>, %s: !state, %z: !sum) -> (!v, !state, !sum) {
  // CHECK: attn.kernel %{{.*}} lengths(%{{.*}} : tensor<2xi32>) initial(%{{.*}}, %{{.*}} : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>) {causal,
  // CHECK-SAME: -> tensor<2x4x200x32xbf16>, final tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  %o, %s1, %z1 = attn.kernel %q, %k, %v lengths(%l : tensor<2xi32>) initial(%s, %z : !state, !sum)
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 1.0e-3>, feature_map = #attn.feature_map<elu1>}
      : !x, !x, !v -> !v, final !state, !sum
  return %o, %s1, %z1 : !v, !state, !sum
}

// CHECK-LABEL: func.func @map
func.func @map(%k: !x, %l: tensor<2xi32>) -> (!f, !f) {
  // CHECK: attn.map %{{.*}} lengths(%{{.*}} : tensor<2xi32>) {feature_map = #attn.feature_map<elu1>} : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
  %phi = attn.map %k lengths(%l : tensor<2xi32>) {feature_map = #attn.feature_map<elu1>}
      : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
  // CHECK: attn.map %{{[^ ]*}} {feature_map
  %all = attn.map %k {feature_map = #attn.feature_map<elu1>} : !x -> !f
  return %phi, %all : !f, !f
}

// CHECK-LABEL: func.func @weights
func.func @weights(%a: !f, %b: !f, %shared: tensor<2x2x200x64xf32>, %l: tensor<2xi32>) -> (!w, !den, !w, !w) {
  // CHECK: attn.contract %{{.*}}[batch, head, query, feature], %{{.*}}[batch, head, key, feature] -> [batch, head, query, key] : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32> -> tensor<2x4x200x200xf32>
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32> -> tensor<2x4x200x200xf32>
  // CHECK: attn.visible %{{.*}} {causal} : tensor<2x4x200x200xf32>
  %v = attn.visible %w {causal} : tensor<2x4x200x200xf32>
  // CHECK: attn.visible %{{.*}} lengths(%{{.*}} : tensor<2xi32>) : tensor<2x4x200x200xf32>
  %u = attn.visible %w lengths(%l : tensor<2xi32>) : !w
  // CHECK: attn.row_sum %{{.*}} : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  %den = attn.row_sum %w : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  // CHECK: attn.row_maximum %{{.*}} : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  %unit = attn.row_maximum %w : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  // CHECK: attn.row_maximum %{{.*}} {root = 8 : i64} : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  %of_rows = attn.row_maximum %w {root = 8 : i64} : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  // Two key-value heads serve four query heads.
  // CHECK: attn.contract {{.*}} : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32> -> tensor<2x4x200x200xf32>
  %g = attn.contract %a[batch, head, query, feature], %shared[batch, head, key, feature] -> [batch, head, query, key]
      : !f, tensor<2x2x200x64xf32> -> !w
  return %v, %den, %u, %g : !w, !den, !w, !w
}

// CHECK-LABEL: func.func @states
func.func @states(%phi: !f, %v: !v, %l: tensor<2xi32>) -> (!num, !den, !state, !sum) {
  // CHECK: attn.state %{{.*}}, %{{.*}} : tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  %s, %z = attn.state %phi, %v : tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16>
      -> tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  // CHECK: attn.state %{{.*}} lengths(%{{.*}} : tensor<2xi32>) :
  %s2, %z2 = attn.state %phi, %v lengths(%l : tensor<2xi32>) : !f, !v -> !state, !sum
  // CHECK: attn.readout %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x200x64xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>
  %num, %den = attn.readout %phi, %s, %z : tensor<2x4x200x64xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
      -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>
  return %num, %den, %s2, %z2 : !num, !den, !state, !sum
}

// CHECK-LABEL: func.func @state_merge
func.func @state_merge(%s1: !state, %z1: !sum, %s2: !state, %z2: !sum) -> (!state, !sum) {
  // CHECK: attn.state_merge{{ ?}}(%{{.*}}, %{{.*}}), (%{{.*}}, %{{.*}}) : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  %s, %z = attn.state_merge (%s1, %z1), (%s2, %z2) : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  return %s, %z : !state, !sum
}

// CHECK-LABEL: func.func @decay
func.func @decay(%w: tensor<2x4x200x200xf32>, %g: tensor<4xf32>, %l: tensor<2xi32>) -> tensor<2x4x200x200xf32> {
  // CHECK: attn.decay %{{.*}} by %{{.*}} : tensor<2x4x200x200xf32>, tensor<4xf32>
  %d = attn.decay %w by %g : tensor<2x4x200x200xf32>, tensor<4xf32>
  // CHECK: attn.decay %{{.*}} by %{{.*}} lengths(%{{.*}} : tensor<2xi32>) : tensor<2x4x200x200xf32>, tensor<4xf32>
  %e = attn.decay %d by %g lengths(%l : tensor<2xi32>) : tensor<2x4x200x200xf32>, tensor<4xf32>
  return %e : tensor<2x4x200x200xf32>
}

// CHECK-LABEL: func.func @retention
func.func @retention(%q: tensor<2x4x200x64xbf16>, %k: tensor<2x2x200x64xbf16>, %v: tensor<2x2x200x64xbf16>, %a: tensor<2x4x200x64xf32>,
                     %b: tensor<2x2x200x64xf32>, %g: tensor<2xf32>) -> (tensor<2x4x200x64xbf16>, tensor<2x4x200x64xf32>) {
  // CHECK: attn.kernel %{{.*}}, %{{.*}}, %{{.*}} decay(%{{.*}} : tensor<2xf32>) {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<identity, scale = 1.250000e-01>} :
  %o = attn.kernel %q, %k, %v decay(%g : tensor<2xf32>) {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<identity, scale = 1.250000e-01>}
      : tensor<2x4x200x64xbf16>, tensor<2x2x200x64xbf16>, tensor<2x2x200x64xbf16> -> tensor<2x4x200x64xbf16>
  // CHECK: attn.causal_readout %{{.*}}, %{{.*}}, %{{.*}} decay(%{{.*}} : tensor<2xf32>) :
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v decay(%g : tensor<2xf32>)
      : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x64xbf16>
      -> tensor<2x4x200x64xf32>, tensor<2x4x200xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64xf32>
  return %o, %num : tensor<2x4x200x64xbf16>, tensor<2x4x200x64xf32>
}

// CHECK-LABEL: func.func @gate
func.func @gate(%v: tensor<2x4x200x64xbf16>, %w: tensor<2x4x200xf32>) -> tensor<2x4x200x64xf32> {
  // CHECK: attn.gate %{{.*}} by %{{.*}} : tensor<2x4x200x64xbf16>, tensor<2x4x200xf32> -> tensor<2x4x200x64xf32>
  %u = attn.gate %v by %w : tensor<2x4x200x64xbf16>, tensor<2x4x200xf32> -> tensor<2x4x200x64xf32>
  return %u : tensor<2x4x200x64xf32>
}

// CHECK-LABEL: func.func @repeat_heads
func.func @repeat_heads(%q: tensor<1x2x196x32xf32>) -> tensor<1x4x196x32xf32> {
  // CHECK: attn.repeat_heads %{{.*}} : tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
  %q2 = attn.repeat_heads %q : tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
  return %q2 : tensor<1x4x196x32xf32>
}

// CHECK-LABEL: func.func @gated
func.func @gated(%q: tensor<2x2x200x64xbf16>, %v: tensor<2x4x200x32xbf16>, %g: tensor<2x4x200x64xf32>, %b: tensor<2x4x200xf32>,
                 %w: tensor<2x4x200x32xf32>, %p: tensor<2x4x200x200xf32>) -> (tensor<2x4x200x32xbf16>, tensor<2x4x200x32xf32>, tensor<2x4x200x200xf32>) {
  // CHECK: attn.repeat_heads %{{.*}} : tensor<2x2x200x64xbf16> -> tensor<2x4x200x64xbf16>
  %k = attn.repeat_heads %q : tensor<2x2x200x64xbf16> -> tensor<2x4x200x64xbf16>
  // CHECK: attn.qk_norm %{{.*}} {epsilon = 9.9999999999999995E-7 : f64, l2} : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
  %u = attn.qk_norm %k {epsilon = 1.0e-6 : f64, l2} : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
  // CHECK: attn.kernel %{{.*}} decay(%{{.*}} : tensor<2x4x200x64xf32>) erase(%{{.*}} : tensor<2x4x200xf32>) write(%{{.*}} : tensor<2x4x200x32xf32>) {causal,
  %o = attn.kernel %u, %u, %v decay(%g : tensor<2x4x200x64xf32>) erase(%b : tensor<2x4x200xf32>) write(%w : tensor<2x4x200x32xf32>)
      {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<identity, scale = 1.250000e-01>}
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xbf16>
  // CHECK: attn.gate %{{.*}} by %{{.*}} : tensor<2x4x200x32xbf16>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
  %x = attn.gate %v by %w : tensor<2x4x200x32xbf16>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
  // CHECK: attn.causal_readout %{{.*}} decay(%{{.*}} : tensor<2x4x200x64xf32>) erase(%{{.*}} : tensor<2x4x200xf32>) :
  %num, %den, %s, %z = attn.causal_readout %u, %u, %x decay(%g : tensor<2x4x200x64xf32>) erase(%b : tensor<2x4x200xf32>)
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32>
      -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  // CHECK: attn.causal_readout %{{.*}} erase(%{{.*}} : tensor<2x4x200xf32>) : {{.*}}, tensor<2x4x64xf32> written(tensor<2x4x200x32xf32>)
  %n2, %d2, %s2, %z2, %written = attn.causal_readout %u, %u, %x erase(%b : tensor<2x4x200xf32>)
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32>
      -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32> written(tensor<2x4x200x32xf32>)
  // CHECK: attn.decay %{{.*}} by %{{.*}} : tensor<2x4x200x200xf32>, tensor<2x4x200xf32>
  %y = attn.decay %p by %b : tensor<2x4x200x200xf32>, tensor<2x4x200xf32>
  return %o, %num, %y : tensor<2x4x200x32xbf16>, tensor<2x4x200x32xf32>, tensor<2x4x200x200xf32>
}

// CHECK-LABEL: func.func @causal_readout
func.func @causal_readout(%a: !f, %b: !f, %v: !v, %l: tensor<2xi32>) -> (!num, !den) {
  // CHECK: attn.causal_readout %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16> -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  %num, %den, %s, %z = attn.causal_readout %a, %b, %v
      : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16>
      -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
  // CHECK: attn.causal_readout %{{.*}} lengths(%{{.*}} : tensor<2xi32>) initial(%{{.*}}, %{{.*}} : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>) :
  %num2, %den2, %s2, %z2 = attn.causal_readout %a, %b, %v lengths(%l : tensor<2xi32>) initial(%s, %z : !state, !sum)
      : !f, !f, !v -> !num, !den, !state, !sum
  return %num2, %den2 : !num, !den
}

// CHECK-LABEL: func.func @normalize
func.func @normalize(%num: !num, %den: !den) -> !v {
  // CHECK: attn.normalize %{{.*}}, %{{.*}} {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>} : tensor<2x4x200x32xf32>, tensor<2x4x200xf32> -> tensor<2x4x200x32xbf16>
  %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>}
      : tensor<2x4x200x32xf32>, tensor<2x4x200xf32> -> tensor<2x4x200x32xbf16>
  return %o : !v
}

// CHECK-LABEL: func.func private @plans
// CHECK-SAME: #attn.plan<form = state, from = 128>
func.func private @plans() attributes {
  plan = #attn.plan<form = state, from = 128>
}

// CHECK-LABEL: func.func private @guards
// CHECK-SAME: #attn.denominator<bias = 9.9999999999999995E-7, floor = 0.000000e+00>
func.func private @guards() attributes {
  guard = #attn.denominator<bias = 1.000000e-06, floor = 0.000000e+00>
}
