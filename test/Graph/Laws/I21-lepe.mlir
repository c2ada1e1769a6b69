// I21: o + L(V), L linear and local: head by head it is what it is for all heads, and adding it to the output of each head
// before the heads are put together is the same. Compiled: test/Unit/Kernel/SpecsWindows.cpp (Lepe…).
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}epilogue__of_each_head equals epilogue:
// SIDES-DAG: {{^}}epilogue__not_in_blocks differs from epilogue:

!x = tensor<?x2x6x4xf32>
!h = tensor<?x1x6x4xf32>
!w = tensor<2x4x3xf32>

func.func @epilogue(%q: !x, %k: !x, %v: !x) -> !x {
  %w = arith.constant dense<[[[1.0, 2.0, 3.0], [0.5, 0.0, 0.5], [-1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
                             [[1.0, 2.0, 3.0], [0.5, 0.0, 0.5], [-1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]]> : !w
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64} : !x, !x, !x -> !x
  %y = attn.lepe %o, %v, %w : !x, !x, !w -> !x
  return %y : !x
}
func.func @epilogue__of_each_head(%q: !x, %k: !x, %v: !x) -> !x {
  %w = arith.constant dense<[[[1.0, 2.0, 3.0], [0.5, 0.0, 0.5], [-1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]]> : tensor<1x4x3xf32>
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64} : !x, !x, !x -> !x
  %o0 = attn.take_heads %o {first = 0 : i64} : !x -> !h
  %o1 = attn.take_heads %o {first = 1 : i64} : !x -> !h
  %v0 = attn.take_heads %v {first = 0 : i64} : !x -> !h
  %v1 = attn.take_heads %v {first = 1 : i64} : !x -> !h
  %y0 = attn.lepe %o0, %v0, %w : !h, !h, tensor<1x4x3xf32> -> !h
  %y1 = attn.lepe %o1, %v1, %w : !h, !h, tensor<1x4x3xf32> -> !h
  %y = attn.concat_heads %y0, %y1 : !h, !h -> !x
  return %y : !x
}

// Of the values as projected: not of what E made of them, and not inside windows of another extent.
func.func @epilogue__not_in_blocks(%q: !x, %k: !x, %v: !x) -> !x {
  %w = arith.constant dense<[[[1.0, 2.0, 3.0], [0.5, 0.0, 0.5], [-1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
                             [[1.0, 2.0, 3.0], [0.5, 0.0, 0.5], [-1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]]> : !w
  %o = attn.softmax %q, %k, %v {scale = 1.0 : f64} : !x, !x, !x -> !x
  %y = attn.lepe %o, %v, %w {window = #attn.window<3>} : !x, !x, !w -> !x
  return %y : !x
}
