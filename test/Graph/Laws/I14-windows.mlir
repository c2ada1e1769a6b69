// I14: f(x)[window] = f(x[window]) for what acts on each token alone: a map before the blocks are cut, and within them. Blocks that
// are cut out and taken by themselves: test/Unit/Reference/IdentityTest.cpp (AWindowIsItsBlocksAlone); compiled windows:
// test/Unit/Kernel/SpecsWindows.cpp.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}map__before_the_blocks equals map:
// SIDES-DAG: {{^}}softmax__not_of_all differs from softmax:
// SIDES-DAG: {{^}}softmax__of_partial_results equals softmax:

!x = tensor<?x2x6x4xf32>
#guard = #attn.denominator<bias = 0.5, floor = 0.0>

// The map of all tokens, then the blocks; against a map within each block, where the mechanism has the window.
func.func @map(%q: !x, %k: !x, %v: !x) -> !x {
  %o = attn.kernel %q, %k, %v {denominator = #guard, feature_map = #attn.feature_map<elu1>, window = #attn.window<3>} : !x, !x, !x -> !x
  return %o : !x
}
func.func @map__before_the_blocks(%q: !x, %k: !x, %v: !x) -> !x {
  %a = attn.map %q {feature_map = #attn.feature_map<elu1>} : !x -> !x
  %b = attn.map %k {feature_map = #attn.feature_map<elu1>} : !x -> !x
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !x, !x -> tensor<?x2x6x6xf32>
  %i = attn.visible %w {window = #attn.window<3>} : tensor<?x2x6x6xf32>
  %num = attn.contract %i[batch, head, query, key], %v[batch, head, key, value] -> [batch, head, query, value] : tensor<?x2x6x6xf32>, !x -> !x
  %den = attn.row_sum %i : tensor<?x2x6x6xf32> -> tensor<?x2x6xf32>
  %o = attn.normalize %num, %den {guard = #guard} : !x, tensor<?x2x6xf32> -> !x
  return %o : !x
}

// A softmax over the sequence is no such f.
func.func @softmax(%q: !x, %k: !x, %v: !x) -> !x {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64, window = #attn.window<3>} : !x, !x, !x -> !x
  return %o : !x
}
func.func @softmax__not_of_all(%q: !x, %k: !x, %v: !x) -> !x {
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64} : !x, !x, !x -> !x
  return %o : !x
}
func.func @softmax__of_partial_results(%q: !x, %k: !x, %v: !x) -> !x {
  %m, %l, %a = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 1 : i64, scale = 1.0 : f64, window = #attn.window<3>} : !x, !x, !x -> tensor<?x2x6xf32>, tensor<?x2x6xf32>, !x
  %o, %lse = attn.softmax_finish %m, %l, %a : tensor<?x2x6xf32>, !x -> !x
  return %o : !x
}
