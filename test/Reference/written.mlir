// What keys that erase write takes the place of their values where nothing erases, and gradients read it.
// RUN: attune-equal %s | FileCheck %s
// CHECK-DAG: {{^}}readout__of_written equals readout:
// CHECK-DAG: {{^}}readout__not_of_values differs from readout:
// CHECK-DAG: {{^}}shared__of_written equals shared:
// CHECK-DAG: {{^}}gradient__not_of_values differs from gradient:

!x = tensor<2x2x7x3xf32>
!r = tensor<2x2x7xf32>
!s = tensor<2x2x3x3xf32>
!z = tensor<2x2x3xf32>
!two = tensor<2x4x7x3xf32>
!rows = tensor<2x4x7xf32>

func.func @readout(%a: !x, %b: !x, %v: !x, %g: !r, %e: !r, %s: !s) -> (!x, !s) {
  %n, %d, %s1, %z1 = attn.causal_readout %a, %b, %v initial(%s : !s) decay(%g : !r) erase(%e : !r) : !x, !x, !x -> !x, !r, !s, !z
  return %n, %s1 : !x, !s
}
func.func @readout__of_written(%a: !x, %b: !x, %v: !x, %g: !r, %e: !r, %s: !s) -> (!x, !s) {
  %n, %d, %s1, %z1, %u = attn.causal_readout %b, %b, %v initial(%s : !s) decay(%g : !r) erase(%e : !r) : !x, !x, !x -> !x, !r, !s, !z written(!x)
  %n2, %d2, %s2, %z2 = attn.causal_readout %a, %b, %u initial(%s : !s) decay(%g : !r) : !x, !x, !x -> !x, !r, !s, !z
  return %n2, %s2 : !x, !s
}
func.func @readout__not_of_values(%a: !x, %b: !x, %v: !x, %g: !r, %e: !r, %s: !s) -> (!x, !s) {
  %n2, %d2, %s2, %z2 = attn.causal_readout %a, %b, %v initial(%s : !s) decay(%g : !r) : !x, !x, !x -> !x, !r, !s, !z
  return %n2, %s2 : !x, !s
}

// Two heads of queries read the state of one of keys.
func.func @shared(%a: !two, %b: !x, %v: !x, %e: !r) -> !two {
  %n, %d, %s1, %z1 = attn.causal_readout %a, %b, %v erase(%e : !r) : !two, !x, !x -> !two, !rows, !s, !z
  return %n : !two
}
func.func @shared__of_written(%a: !two, %b: !x, %v: !x, %e: !r) -> !two {
  %n, %d, %s1, %z1, %u = attn.causal_readout %b, %b, %v erase(%e : !r) : !x, !x, !x -> !x, !r, !s, !z written(!x)
  %n2, %d2, %s2, %z2 = attn.causal_readout %a, %b, %u : !two, !x, !x -> !two, !rows, !s, !z
  return %n2 : !two
}

func.func @gradient(%a: !x, %b: !x, %v: !x, %e: !r, %c: !x) -> !x {
  %n, %d, %s1, %z1, %u = attn.causal_readout %a, %b, %v erase(%e : !r) : !x, !x, !x -> !x, !r, !s, !z written(!x)
  %a1, %b1, %v1, %e1 = attn.causal_readout_gradient %a, %b, %v erase(%e : !r) cotangents(numerator %c : !x) written(%u : !x) : !x, !x, !x -> !x, !x, !x erase(!r)
  return %b1 : !x
}
func.func @gradient__not_of_values(%a: !x, %b: !x, %v: !x, %e: !r, %c: !x) -> !x {
  %a1, %b1, %v1, %e1 = attn.causal_readout_gradient %a, %b, %v erase(%e : !r) cotangents(numerator %c : !x) written(%v : !x) : !x, !x, !x -> !x, !x, !x erase(!r)
  return %b1 : !x
}
