// RUN: attn-opt %s -canonicalize | FileCheck %s

!q = tensor<1x4x10x8xf32>
!half = tensor<1x2x10x8xf32>
!one = tensor<1x1x10x8xf32>

// CHECK-LABEL: func.func @take_all
// CHECK-NEXT:    return %arg0
func.func @take_all(%q: !q) -> !q {
  %r = attn.take_heads %q {first = 0 : i64} : !q -> !q
  return %r : !q
}

// CHECK-LABEL: func.func @take_from_take
// CHECK-NEXT:    %[[R:.*]] = attn.take_heads %arg0 {first = 3 : i64} : tensor<1x4x10x8xf32> -> tensor<1x1x10x8xf32>
// CHECK-NEXT:    return %[[R]]
func.func @take_from_take(%q: !q) -> !one {
  %a = attn.take_heads %q {first = 2 : i64} : !q -> !half
  %r = attn.take_heads %a {first = 1 : i64} : !half -> !one
  return %r : !one
}

// The second part starts at head 2.
// CHECK-LABEL: func.func @take_from_concat
// CHECK-NEXT:    %[[R:.*]] = attn.take_heads %arg1 {first = 1 : i64}
// CHECK-NEXT:    return %arg0, %arg1, %[[R]]
func.func @take_from_concat(%a: !half, %b: !half) -> (!half, !half, !one) {
  %q = attn.concat_heads %a, %b : !half, !half -> !q
  %x = attn.take_heads %q {first = 0 : i64} : !q -> !half
  %y = attn.take_heads %q {first = 2 : i64} : !q -> !half
  %z = attn.take_heads %q {first = 3 : i64} : !q -> !one
  return %x, %y, %z : !half, !half, !one
}

// Heads of both parts: nothing to do.
// CHECK-LABEL: func.func @take_across_parts
// CHECK-NEXT:    %[[Q:.*]] = attn.concat_heads
// CHECK-NEXT:    attn.take_heads %[[Q]] {first = 1 : i64}
func.func @take_across_parts(%a: !half, %b: !half) -> !half {
  %q = attn.concat_heads %a, %b : !half, !half -> !q
  %r = attn.take_heads %q {first = 1 : i64} : !q -> !half
  return %r : !half
}

// CHECK-LABEL: func.func @concat_one
// CHECK-NEXT:    return %arg0
func.func @concat_one(%q: !q) -> !q {
  %r = attn.concat_heads %q : !q -> !q
  return %r : !q
}

// CHECK-LABEL: func.func @concat_nested
// CHECK-NEXT:    %[[R:.*]] = attn.concat_heads %arg0, %arg1, %arg2 :
// CHECK-NEXT:    return %[[R]]
func.func @concat_nested(%a: !one, %b: !one, %c: !half) -> !q {
  %ab = attn.concat_heads %a, %b : !one, !one -> !half
  %r = attn.concat_heads %ab, %c : !half, !half -> !q
  return %r : !q
}

// Taken apart and put together again.
// CHECK-LABEL: func.func @concat_takes
// CHECK-NEXT:    return %arg0
func.func @concat_takes(%q: !q) -> !q {
  %a = attn.take_heads %q {first = 0 : i64} : !q -> !one
  %b = attn.take_heads %q {first = 1 : i64} : !q -> !one
  %c = attn.take_heads %q {first = 2 : i64} : !q -> !half
  %r = attn.concat_heads %a, %b, %c : !one, !one, !half -> !q
  return %r : !q
}

// In another order they are not the tensor that they come from.
// CHECK-LABEL: func.func @concat_swapped
// CHECK:         %[[R:.*]] = attn.concat_heads
// CHECK-NEXT:    return %[[R]]
func.func @concat_swapped(%q: !q) -> !q {
  %a = attn.take_heads %q {first = 2 : i64} : !q -> !half
  %b = attn.take_heads %q {first = 0 : i64} : !q -> !half
  %r = attn.concat_heads %a, %b : !half, !half -> !q
  return %r : !q
}

!w = tensor<1x2x6x6xf32>

// CHECK-LABEL: func.func @power
// CHECK-NEXT:    %[[P:.*]] = attn.power %arg0 {degree = 2 : i64, scale = 5.000000e-01 : f64}
// CHECK-NEXT:    %[[S:.*]] = attn.power %arg0 {degree = 1 : i64, scale = 5.000000e-01 : f64}
// CHECK-NEXT:    %[[T:.*]] = attn.power %arg0 {degree = 8 : i64, scale = 5.000000e-01 : f64}
// CHECK-NEXT:    %[[U:.*]] = attn.power %[[P]] {degree = 2 : i64, scale = 5.000000e-01 : f64}
// CHECK-NEXT:    return %arg0, %[[S]], %[[T]], %[[U]]
func.func @power(%w: !w) -> (!w, !w, !w, !w) {
  %same = attn.power %w {degree = 1 : i64, scale = 1.0 : f64} : !w
  %square = attn.power %w {degree = 2 : i64, scale = 0.5 : f64} : !w
  %scaled = attn.power %w {degree = 1 : i64, scale = 0.5 : f64} : !w
  %eighth = attn.power %square {degree = 4 : i64, scale = 1.0 : f64} : !w
  %rescaled = attn.power %square {degree = 2 : i64, scale = 0.5 : f64} : !w
  return %same, %scaled, %eighth, %rescaled : !w, !w, !w, !w
}

// CHECK-LABEL: func.func @diagonal_blocks
// CHECK-NEXT:    %[[D:.*]] = attn.diagonal_blocks %arg0, %arg1 {block = 3 : i64}
// CHECK-NEXT:    return %arg0, %arg1, %[[D]]
func.func @diagonal_blocks(%a: !w, %b: !w) -> (!w, !w, !w) {
  %whole = attn.diagonal_blocks %a, %b {block = 6 : i64} : !w
  %equal = attn.diagonal_blocks %b, %b {block = 3 : i64} : !w
  %d = attn.diagonal_blocks %a, %b {block = 3 : i64} : !w
  return %whole, %equal, %d : !w, !w, !w
}

// CHECK-LABEL: func.func @pool
// CHECK-NEXT:    %[[P:.*]] = attn.pool %arg0 {count = 5 : i64}
// CHECK-NEXT:    return %arg0, %[[P]]
func.func @pool(%q: !q) -> (!q, tensor<1x4x5x8xf32>) {
  %a = attn.pool %q {count = 10 : i64} : !q -> !q
  %b = attn.pool %q {count = 5 : i64} : !q -> tensor<1x4x5x8xf32>
  return %a, %b : !q, tensor<1x4x5x8xf32>
}

// Without a denominator and a conversion a quotient is its numerator.
// CHECK-LABEL: func.func @normalize
// CHECK-NEXT:    %[[N:.*]] = attn.normalize %arg0 {guard
// CHECK-NEXT:    return %arg0, %[[N]]
func.func @normalize(%num: !q) -> (!q, tensor<1x4x10x8xbf16>) {
  %a = attn.normalize %num {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : !q -> !q
  %b = attn.normalize %num {guard = #attn.denominator<bias = 0.0, floor = 0.0>} : !q -> tensor<1x4x10x8xbf16>
  return %a, %b : !q, tensor<1x4x10x8xbf16>
}
