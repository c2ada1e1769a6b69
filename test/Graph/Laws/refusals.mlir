// Reasons of choices that the files of the pass (attn-select-rewrites-*.mlir) do not show. complete.py checks that every reason
// that a law can give is in a test.
// RUN: attn-opt %s -split-input-file -attn-select-rewrites=device=%S/../Inputs/products.yaml --remarks-filter=attn-select-rewrites \
// RUN:   -o /dev/null 2>&1 | FileCheck %s

// CHECK: Remark="fold of wq: cannot take the folded form: the parts read different heads of these tokens"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#relu = #attn.feature_map<favor_relu, features = 8, epsilon = 0.0>
!x = tensor<1x64x16xf32>
!t = tensor<1x2x64x8xf32>
!h = tensor<1x1x64x8xf32>
!om = tensor<1x8x8xf32>
func.func @parts(%x: !x, %wq: tensor<16x16xf32> {attn.name = "wq", attn.parameter}, %q1: !h, %k: !h, %v: !h, %omega: !om {attn.parameter}) -> !t {
  %q = attn.project %x, %wq : !x, tensor<16x16xf32> -> !t
  %q0 = attn.take_heads %q {first = 0 : i64} : !t -> !h
  %a = attn.kernel %q0, %k, %v parameter(%omega : !om) {denominator = #none, feature_map = #relu} : !h, !h, !h -> !h
  %b = attn.softmax %q1, %k, %v {scale = 1.0 : f64} : !h, !h, !h -> !h
  %o = attn.concat_heads %a, %b : !h, !h -> !t
  return %o : !t
}

// -----

// CHECK: Remark="fold of wq: cannot take the folded form: the features are compressed along the sequence"
// CHECK: Remark="linearize: cannot take the fused_state form: the state is of compressed tokens, which kernels of their own make first"
// CHECK: Remark="linearize: cannot take the merged_state form: the state is of compressed tokens, which are one piece"
// CHECK: Remark="map: cannot take the materialized form: the features are compressed by the kernel that makes them"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#relu = #attn.feature_map<favor_relu, features = 8, epsilon = 0.0>
!x = tensor<1x64x16xf32>
!h = tensor<1x1x64x8xf32>
!om = tensor<1x8x8xf32>
!e = tensor<1x4x64xf32>
func.func @slots(%x: !x, %wq: tensor<16x8xf32> {attn.name = "wq", attn.parameter}, %k: !h, %v: !h, %omega: !om {attn.parameter},
                 %e: !e {attn.parameter}) -> !h {
  %q = attn.project %x, %wq : !x, tensor<16x8xf32> -> !h
  %o = attn.kernel %q, %k, %v parameter(%omega : !om) compress(%e, %e : !e, !e) {denominator = #none, feature_map = #relu} : !h, !h, !h -> !h
  return %o : !h
}

// -----

// CHECK: Remark="fold of wk: cannot take the folded form: others read the state of these features"
// CHECK: Remark="linearize: cannot take the quadratic form: pair weights make no final state"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#relu = #attn.feature_map<favor_relu, features = 8, epsilon = 0.0>
!x = tensor<1x64x16xf32>
!h = tensor<1x1x64x8xf32>
!om = tensor<1x8x8xf32>
func.func @final(%x: !x, %wk: tensor<16x8xf32> {attn.name = "wk", attn.parameter}, %q: !h, %v: !h, %omega: !om {attn.parameter})
    -> (!h, tensor<1x1x8x8xf32>, tensor<1x1x8xf32>) {
  %k = attn.project %x, %wk : !x, tensor<16x8xf32> -> !h
  %o, %s, %z = attn.kernel %q, %k, %v parameter(%omega : !om) {denominator = #none, feature_map = #relu}
      : !h, !h, !h -> !h, final tensor<1x1x8x8xf32>, tensor<1x1x8xf32>
  return %o, %s, %z : !h, tensor<1x1x8x8xf32>, tensor<1x1x8xf32>
}

// -----

// CHECK: Remark="linearize: cannot take the quadratic form: pair weights cannot continue from an initial state"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!h = tensor<1x1x64x8xf32>
func.func @initial(%q: !h, %k: !h, %v: !h, %s0: tensor<1x1x8x8xf32>, %z0: tensor<1x1x8xf32>) -> !h {
  %o = attn.kernel %q, %k, %v initial(%s0, %z0 : tensor<1x1x8x8xf32>, tensor<1x1x8xf32>)
      {causal, denominator = #none, feature_map = #attn.feature_map<elu1>} : !h, !h, !h -> !h
  return %o : !h
}

// -----

// CHECK: Remark="fold of wq: cannot take the folded form: the sizes of the weight are known only to a run"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
#relu = #attn.feature_map<favor_relu, features = 8, epsilon = 0.0>
!x = tensor<1x64x?xf32>
!w = tensor<?x8xf32>
!h = tensor<1x1x64x8xf32>
!om = tensor<1x8x8xf32>
func.func @sizes(%x: !x, %wq: !w {attn.name = "wq", attn.parameter}, %k: !h, %v: !h, %omega: !om {attn.parameter}) -> !h {
  %q = attn.project %x, %wq : !x, !w -> !h
  %o = attn.kernel %q, %k, %v parameter(%omega : !om) {denominator = #none, feature_map = #relu} : !h, !h, !h -> !h
  return %o : !h
}

// -----

// CHECK: Remark="low_rank of wk: cannot take the compress_first form: the width of the input is known only to a run"
!x = tensor<1x64x?xf32>
!w = tensor<?x8xf32>
!h = tensor<1x1x64x8xf32>
!s = tensor<1x1x4x8xf32>
!e = tensor<1x4x64xf32>
func.func @width(%q: !h, %x: !x, %wk: !w {attn.name = "wk", attn.parameter}, %v: !s, %e: !e {attn.parameter}) -> !h {
  %k = attn.project %x, %wk : !x, !w -> !h
  %s = attn.compress %k, %e : !h, !e -> !s
  %o = attn.softmax %q, %s, %v {scale = 1.0 : f64} : !h, !s, !s -> !h
  return %o : !h
}

// -----

// CHECK: Remark="linearize: cannot take the fused_state form: the state of squared sketches is too large to stay in a kernel"
// CHECK: Remark="linearize: cannot take the merged_state form: the slices of a state of squared sketches are merged side by side, and one program has all of a piece"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!h = tensor<1x1x64x8xf32>
!s = tensor<1x16xf32>
!i = tensor<1x16xi32>
func.func @sketched(%q: !h, %k: !h, %v: !h, %l: tensor<1x8xf32> {attn.parameter},
                    %s: !s {attn.parameter}, %i: !i {attn.parameter}) -> !h {
  %o = attn.polysketch %q, %k, %v signs(%l, %l, %s, %s : tensor<1x8xf32>, tensor<1x8xf32>, !s, !s)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) {degree = 4 : i64, denominator = #none, scale = 0.5 : f64, size = 16 : i64}
      : !h, !h, !h -> !h
  return %o : !h
}

// -----

// CHECK: Remark="linearize: cannot take the split form: the unit of sketches of that degree runs along the sequence"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!h = tensor<1x1x64x8xf32>
!s = tensor<1x16xf32>
!i = tensor<1x16xi32>
func.func @high_degree(%q: !h, %k: !h, %v: !h, %l: tensor<1x8xf32> {attn.parameter},
                    %s: !s {attn.parameter}, %i: !i {attn.parameter}) -> !h {
  %o = attn.polysketch %q, %k, %v signs(%l, %l, %l, %l, %l, %l, %l, %l, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s
          : tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, 
            !s, !s, !s, !s, !s, !s, !s, !s, !s, !s, !s, !s, !s, !s)
      indices(%i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i
          : !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i, !i)
      {causal, degree = 16 : i64, denominator = #none, scale = 0.5 : f64, size = 16 : i64} : !h, !h, !h -> !h
  return %o : !h
}

// -----

// CHECK: Remark="linearize: cannot take the quadratic form: pair weights cannot continue from an initial state"
// CHECK: Remark="linearize: cannot take the split form: one program has the state that is handed on"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!h = tensor<1x1x64x8xf32>
!s = tensor<1x16xf32>
!i = tensor<1x16xi32>
!S = tensor<1x1x256x8xf32>
!z = tensor<1x1x256xf32>
!c = tensor<1x1xf32>
func.func @sketched_on(%q: !h, %k: !h, %v: !h, %S: !S, %z: !z, %c: !c, %l: tensor<1x8xf32> {attn.parameter},
                    %s: !s {attn.parameter}, %i: !i {attn.parameter}) -> (!h, !S, !z, !c) {
  %o, %S1, %z1, %c1 = attn.polysketch %q, %k, %v signs(%l, %l, %s, %s : tensor<1x8xf32>, tensor<1x8xf32>, !s, !s)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) initial(%S, %z, %c : !S, !z, !c)
      {causal, degree = 4 : i64, denominator = #none, scale = 0.5 : f64, size = 16 : i64}
      : !h, !h, !h -> !h, final !S, !z, !c
  return %o, %S1, %z1, %c1 : !h, !S, !z, !c
}

// -----

// CHECK: Remark="linearize: cannot take the quadratic form: pair weights make no final state"
#none = #attn.denominator<bias = 0.0, floor = 0.0>
!h = tensor<1x1x64x8xf32>
!s = tensor<1x16xf32>
!i = tensor<1x16xi32>
func.func @sketched_for(%q: !h, %k: !h, %v: !h, %l: tensor<1x8xf32> {attn.parameter},
                    %s: !s {attn.parameter}, %i: !i {attn.parameter}) -> (!h, tensor<1x1x256x8xf32>, tensor<1x1x256xf32>, tensor<1x1xf32>) {
  %o, %S1, %z1, %c1 = attn.polysketch %q, %k, %v signs(%l, %l, %s, %s : tensor<1x8xf32>, tensor<1x8xf32>, !s, !s)
      indices(%i, %i, %i, %i : !i, !i, !i, !i) {causal, degree = 4 : i64, denominator = #none, scale = 0.5 : f64, size = 16 : i64}
      : !h, !h, !h -> !h, final tensor<1x1x256x8xf32>, tensor<1x1x256xf32>, tensor<1x1xf32>
  return %o, %S1, %z1, %c1 : !h, tensor<1x1x256x8xf32>, tensor<1x1x256xf32>, tensor<1x1xf32>
}

// -----

// CHECK: Remark="linearize: cannot take the quadratic form: what a key writes depends on what those before it have written"
// CHECK: Remark="linearize: cannot take the grouped form: every head solves the chunk of its own"
!q = tensor<1x2x64x8xf32>
!h = tensor<1x1x64x8xf32>
func.func @erase(%q: !q, %k: !h, %v: !h, %beta: tensor<1x1x64xf32>) -> !q {
  %o = attn.kernel %q, %k, %v erase(%beta : tensor<1x1x64xf32>)
      {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<elu1>} : !q, !h, !h -> !q
  return %o : !q
}

// -----

// CHECK: Remark="linearize: cannot take the quadratic form: every feature of a pair decays in its own way"
!h = tensor<1x1x64x8xf32>
func.func @channels(%q: !h, %k: !h, %v: !h, %g: tensor<1x1x64x8xf32>) -> !h {
  %o = attn.kernel %q, %k, %v decay(%g : tensor<1x1x64x8xf32>)
      {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<elu1>} : !h, !h, !h -> !h
  return %o : !h
}

// -----

// CHECK: Remark="linearize: cannot take the quadratic form: weights of pairs would leave the range of f32, and decay has none of logarithms"
// CHECK: Remark="linearize: cannot take the split form: the unit of features that decay runs along the sequence"
!h = tensor<1x1x64x8xf32>
func.func @powers(%q: !h, %k: !h, %v: !h, %f: tensor<1x8xf32>, %g: tensor<1x1x64xf32>) -> !h {
  %o = attn.kernel %q, %k, %v parameter(%f : tensor<1x8xf32>) decay(%g : tensor<1x1x64xf32>)
      {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<focused, epsilon = 1.0e-6, power = 9.0>} : !h, !h, !h -> !h
  return %o : !h
}

// -----

// CHECK: Remark="linearize: cannot take the split form: packed sequences run side by side, and have lengths that only the device knows"
!h = tensor<1x1x?x8xf32>
func.func @packed(%q: !h, %k: !h, %v: !h, %offsets: tensor<?xi32> {attn.offsets = "qk"}) -> !h {
  %o = attn.kernel %q, %k, %v
      {causal, denominator = #attn.denominator<none>, feature_map = #attn.feature_map<elu1>} : !h, !h, !h -> !h
  return %o : !h
}

// -----

// CHECK: Remark="linearize: cannot take the merged_state form: only the device knows how many pieces a packed sequence has"
!h = tensor<1x1x?x8xf32>
func.func @packed_state(%q: !h, %k: !h, %v: !h, %offsets: tensor<?xi32> {attn.offsets = "qk"}) -> !h {
  %o = attn.kernel %q, %k, %v
      {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>} : !h, !h, !h -> !h
  return %o : !h
}
