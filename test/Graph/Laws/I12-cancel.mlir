// I12: factors of a row, of all weights, and shifts of a row of logits cancel where the normaliser has no guard. What a
// condition keeps has a reason.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}guarded__not_without differs from guarded:
// SIDES-DAG: {{^}}epsilon__not_without differs from epsilon:
// SIDES-DAG: {{^}}softmax__without equals softmax:
// SIDES-DAG: {{^}}capped__not_without differs from capped:
// SIDES-DAG: {{^}}lse__not_without differs from lse:
// SIDES-DAG: {{^}}rope__not_without differs from rope:
// SIDES-DAG: {{^}}norm__not_without differs from norm:
// SIDES-DAG: {{^}}slots__not_without differs from slots:
// SIDES-DAG: {{^}}values__not_without differs from values:
// SIDES-DAG: {{^}}given__without equals given:
// RUN: attn-opt %s -attn-canonical-laws | FileCheck %s
// RUN: attn-opt %s -attn-canonical-laws --remarks-filter=attn-select-rewrites -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!x = tensor<?x2x?x4xf32>
!l = tensor<?xi32>
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#guard = #attn.denominator<bias = 0.5, floor = 0.0>

//===----------------------------------------------------------------------===//
// Scales of powers
//===----------------------------------------------------------------------===//

// REMARK: cancel: dropped the scale
// CHECK-LABEL: func.func @polynomial(
// CHECK:         scale = 1.000000e+00
func.func @polynomial(%q: !x, %k: !x, %v: !x, %l: !l) -> !x {
  %o = attn.polynomial %q, %k, %v lengths(%l : !l) {causal, degree = 4 : i64, denominator = #none, scale = 0.3 : f64} : !x, !x, !x -> !x
  return %o : !x
}

// REMARK: cancel: the scale stays: the guard of the denominator does not scale with the weights
// CHECK-LABEL: func.func @guarded(
// CHECK:         scale = 3.000000e-01
func.func @guarded(%q: !x, %k: !x, %v: !x) -> !x {
  %o = attn.polynomial %q, %k, %v {degree = 4 : i64, denominator = #guard, scale = 0.3 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @guarded__not_without(%q: !x, %k: !x, %v: !x) -> !x {
  %o = attn.polynomial %q, %k, %v {degree = 4 : i64, denominator = #guard, scale = 1.0 : f64} : !x, !x, !x -> !x
  return %o : !x
}

// CHECK-LABEL: func.func @sketched(
// CHECK:         scale = 1.000000e+00
!s = tensor<2x4xf32>
!i = tensor<2x4xi32>
!b = tensor<1x2x6x4xf32>
func.func @sketched(%q: !b, %k: !b, %v: !b, %s0: !s {attn.draw = "signs"}, %s1: !s {attn.draw = "signs"},
                    %sa: !s {attn.draw = "signs"}, %sb: !s {attn.draw = "signs"}, %i0: !i {attn.draw = "below 4"},
                    %i1: !i {attn.draw = "below 4"}, %ia: !i {attn.draw = "below 4"}, %ib: !i {attn.draw = "below 4"}) -> !b {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %sa, %sb : !s, !s, !s, !s) indices(%i0, %i1, %ia, %ib : !i, !i, !i, !i)
      {causal, degree = 4 : i64, denominator = #none, local_exact = 3 : i64, scale = 0.3 : f64, size = 4 : i64} : !b, !b, !b -> !b
  return %o : !b
}

//===----------------------------------------------------------------------===//
// Scales of positive features
//===----------------------------------------------------------------------===//

!om = tensor<1x5x4xf32>
#positive = #attn.feature_map<favor_relu, features = 5, epsilon = 0.0, scale = 0.5>
#epsilon = #attn.feature_map<favor_relu, features = 5, epsilon = 1.0e-1, scale = 0.5>

// CHECK-LABEL: func.func @features(
// CHECK:         feature_map<favor_relu, features = 5, epsilon = 0.000000e+00, scale = 0.000000e+00>
func.func @features(%q: !x, %k: !x, %v: !x, %w: !om) -> !x {
  %o = attn.kernel %q, %k, %v parameter(%w : !om) {denominator = #none, feature_map = #positive} : !x, !x, !x -> !x
  return %o : !x
}

// REMARK: cancel: the scale of the features stays: epsilon is added after the factor
// CHECK-LABEL: func.func @epsilon(
// CHECK:         scale = 5.000000e-01
func.func @epsilon(%q: !x, %k: !x, %v: !x, %w: !om) -> !x {
  %o = attn.kernel %q, %k, %v parameter(%w : !om) {denominator = #none, feature_map = #epsilon} : !x, !x, !x -> !x
  return %o : !x
}
func.func @epsilon__not_without(%q: !x, %k: !x, %v: !x, %w: !om) -> !x {
  %o = attn.kernel %q, %k, %v parameter(%w : !om) {denominator = #none, feature_map = #attn.feature_map<favor_relu, features = 5, epsilon = 1.0e-1>} : !x, !x, !x -> !x
  return %o : !x
}

// REMARK: cancel: the scale of the features stays: the guard of the denominator does not scale with the weights
func.func @guardedfeatures(%q: !x, %k: !x, %v: !x, %w: !om) -> !x {
  %o = attn.kernel %q, %k, %v parameter(%w : !om) {denominator = #guard, feature_map = #positive} : !x, !x, !x -> !x
  return %o : !x
}

// REMARK: cancel: the scale of the features stays: others read the state of these features
func.func @state(%q: !x, %k: !x, %v: !x, %w: !om) -> (!x, tensor<?x2x5x4xf32>, tensor<?x2x5xf32>) {
  %o, %s, %z = attn.kernel %q, %k, %v parameter(%w : !om) {denominator = #none, feature_map = #positive}
      : !x, !x, !x -> !x, final tensor<?x2x5x4xf32>, tensor<?x2x5xf32>
  return %o, %s, %z : !x, tensor<?x2x5x4xf32>, tensor<?x2x5xf32>
}

// REMARK: cancel: the scale of the features stays: nothing divides the weighted sums
func.func @undivided(%q: !x, %k: !x, %v: !x, %w: !om) -> !x {
  %o = attn.kernel %q, %k, %v parameter(%w : !om) {causal, denominator = #attn.denominator<none>, feature_map = #positive}
      : !x, !x, !x -> !x
  return %o : !x
}

// REMARK: cancel: the scale of the features stays: nothing divides the compressed features
!c = tensor<?x2x6x4xf32>
func.func @compressed(%q: !c, %k: !c, %v: !c, %w: !om, %e: tensor<1x3x6xf32>) -> !c {
  %o = attn.kernel %q, %k, %v parameter(%w : !om) compress(%e, %e : tensor<1x3x6xf32>, tensor<1x3x6xf32>)
      {denominator = #none, feature_map = #positive} : !c, !c, !c -> !c
  return %o : !c
}

//===----------------------------------------------------------------------===//
// The bias of keys
//===----------------------------------------------------------------------===//

!m = tensor<?x?x6xf32>
!w = tensor<6x8xf32>
!beta = tensor<8xf32>

// REMARK: cancel: dropped the bias of the keys
// CHECK-LABEL: func.func @softmax(
// CHECK:         attn.project %arg1, %arg2 :
func.func @softmax(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x, %l: !l) -> !x {
  %k = attn.project %x, %w bias(%beta : !beta) : !m, !w -> !x
  %o = attn.softmax %q, %k, %v lengths(%l : !l) {causal, scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @softmax__without(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x, %l: !l) -> !x {
  %k = attn.project %x, %w : !m, !w -> !x
  %o = attn.softmax %q, %k, %v lengths(%l : !l) {causal, scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}

// CHECK-LABEL: func.func @effatt(
// CHECK:         attn.project %arg1, %arg2 :
func.func @effatt(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> !x {
  %k = attn.project %x, %w bias(%beta : !beta) : !m, !w -> !x
  %o = attn.effatt %q, %k, %v : !x, !x, !x -> !x
  return %o : !x
}

// CHECK-LABEL: func.func @agent(
// CHECK:         attn.project %arg1, %arg2 :
!t = tensor<2x2x6x4xf32>
func.func @agent(%q: !t, %x: tensor<2x6x6xf32>, %w: !w, %beta: !beta {attn.parameter}, %v: !t) -> !t {
  %k = attn.project %x, %w bias(%beta : !beta) : tensor<2x6x6xf32>, !w -> !t
  %o = attn.agent %q, %k, %v {agents = 3 : i64, scale = 0.5 : f64} : !t, !t, !t -> !t
  return %o : !t
}

// The heads of two parts.
// CHECK-LABEL: func.func @parts(
// CHECK:         attn.project %arg1, %arg2 :
!h = tensor<?x1x?x4xf32>
func.func @parts(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> !x {
  %k = attn.project %x, %w bias(%beta : !beta) : !m, !w -> !x
  %q0 = attn.take_heads %q {first = 0 : i64} : !x -> !h
  %k0 = attn.take_heads %k {first = 0 : i64} : !x -> !h
  %v0 = attn.take_heads %v {first = 0 : i64} : !x -> !h
  %q1 = attn.take_heads %q {first = 1 : i64} : !x -> !h
  %k1 = attn.take_heads %k {first = 1 : i64} : !x -> !h
  %v1 = attn.take_heads %v {first = 1 : i64} : !x -> !h
  %a = attn.softmax %q0, %k0, %v0 {scale = 0.5 : f64} : !h, !h, !h -> !h
  %b = attn.effatt %q1, %k1, %v1 : !h, !h, !h -> !h
  %o = attn.concat_heads %a, %b : !h, !h -> !x
  return %o : !x
}

// REMARK: cancel: the bias of the keys stays: softcap bends logits, of which a shift makes others
// CHECK-LABEL: func.func @capped(
// CHECK:         bias(%arg3
func.func @capped(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> !x {
  %k = attn.project %x, %w bias(%beta : !beta) : !m, !w -> !x
  %o = attn.softmax %q, %k, %v {scale = 0.5 : f64, softcap = 0.7 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @capped__not_without(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> !x {
  %k = attn.project %x, %w : !m, !w -> !x
  %o = attn.softmax %q, %k, %v {scale = 0.5 : f64, softcap = 0.7 : f64} : !x, !x, !x -> !x
  return %o : !x
}

// REMARK: cancel: the bias of the keys stays: the logarithm of the sum shows the shift
// CHECK-LABEL: func.func @lse(
// CHECK:         bias(%arg3
func.func @lse(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> tensor<?x2x?xf32> {
  %k = attn.project %x, %w bias(%beta : !beta) : !m, !w -> !x
  %o, %lse = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !x, !x, !x -> !x, lse tensor<?x2x?xf32>
  return %lse : tensor<?x2x?xf32>
}
func.func @lse__not_without(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> tensor<?x2x?xf32> {
  %k = attn.project %x, %w : !m, !w -> !x
  %o, %lse = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !x, !x, !x -> !x, lse tensor<?x2x?xf32>
  return %lse : tensor<?x2x?xf32>
}

// REMARK: cancel: the bias of the keys stays: rope turns the bias by the place of each key
func.func @rope(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> !x {
  %k = attn.project %x, %w bias(%beta : !beta) : !m, !w -> !x
  %r = attn.rope %k {base = 1.0e4 : f64} : !x -> !x
  %o = attn.softmax %q, %r, %v {scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @rope__not_without(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> !x {
  %k = attn.project %x, %w : !m, !w -> !x
  %r = attn.rope %k {base = 1.0e4 : f64} : !x -> !x
  %o = attn.softmax %q, %r, %v {scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}

// REMARK: cancel: the bias of the keys stays: qk_norm divides the bias by the norm of each key
func.func @norm(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> !x {
  %k = attn.project %x, %w bias(%beta : !beta) : !m, !w -> !x
  %r = attn.qk_norm %k {epsilon = 1.0e-5 : f64} : !x -> !x
  %o = attn.softmax %q, %r, %v {scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @norm__not_without(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}, %v: !x) -> !x {
  %k = attn.project %x, %w : !m, !w -> !x
  %r = attn.qk_norm %k {epsilon = 1.0e-5 : f64} : !x -> !x
  %o = attn.softmax %q, %r, %v {scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}

// REMARK: cancel: the bias of the keys stays: low_rank weighs the bias in each compressed token by another sum
!n = tensor<?x6x6xf32>
!slots = tensor<?x2x3x4xf32>
func.func @slots(%q: !c, %x: !n, %w: !w, %beta: !beta {attn.parameter}, %v: !slots, %e: tensor<1x3x6xf32>) -> !c {
  %k = attn.project %x, %w bias(%beta : !beta) : !n, !w -> !c
  %s = attn.compress %k, %e : !c, tensor<1x3x6xf32> -> !slots
  %o = attn.softmax %q, %s, %v {scale = 0.5 : f64} : !c, !slots, !slots -> !c
  return %o : !c
}
func.func @slots__not_without(%q: !c, %x: !n, %w: !w, %beta: !beta {attn.parameter}, %v: !slots, %e: tensor<1x3x6xf32>) -> !c {
  %k = attn.project %x, %w : !n, !w -> !c
  %s = attn.compress %k, %e : !c, tensor<1x3x6xf32> -> !slots
  %o = attn.softmax %q, %s, %v {scale = 0.5 : f64} : !c, !slots, !slots -> !c
  return %o : !c
}

// REMARK: cancel: the bias of the keys stays: others than the keys of a softmax read these tokens
func.func @values(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}) -> !x {
  %k = attn.project %x, %w bias(%beta : !beta) : !m, !w -> !x
  %a = attn.softmax %q, %k, %q {scale = 0.5 : f64} : !x, !x, !x -> !x
  %o = attn.softmax %q, %a, %k {scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @values__not_without(%q: !x, %x: !m, %w: !w, %beta: !beta {attn.parameter}) -> !x {
  %k = attn.project %x, %w : !m, !w -> !x
  %a = attn.softmax %q, %k, %q {scale = 0.5 : f64} : !x, !x, !x -> !x
  %o = attn.softmax %q, %a, %k {scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}

// REMARK: cancel: the bias of the keys stays: every run is given it, and a library reads what it is given
func.func @given(%q: !x, %x: !m, %w: !w, %beta: !beta, %v: !x) -> !x {
  %k = attn.project %x, %w bias(%beta : !beta) : !m, !w -> !x
  %o = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @given__without(%q: !x, %x: !m, %w: !w, %beta: !beta, %v: !x) -> !x {
  %k = attn.project %x, %w : !m, !w -> !x
  %o = attn.softmax %q, %k, %v {scale = 0.5 : f64} : !x, !x, !x -> !x
  return %o : !x
}
