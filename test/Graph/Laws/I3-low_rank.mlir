// I3: E (x W + 1 βᵀ) = (E x) W + (E 1) βᵀ. A function of its own is compared in both orders, which the interpreter takes as
// they are marked.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}bias__not_once_a_slot differs from bias:
// SIDES-DAG: {{^}}place__not_after differs from place:
// SIDES-DAG: {{^}}norm__not_after differs from norm:
// SIDES-DAG: {{^}}map__not_after differs from map:

!m = tensor<?x9x6xf32>
!w = tensor<6x8xf32>
!b = tensor<8xf32>
!e = tensor<1x3x9xf32>
!t = tensor<?x2x9x4xf32>
!s = tensor<?x2x3x4xf32>

func.func @bias(%x: !m, %w: !w, %b: !b, %e: !e) -> !s {
  %k = attn.project %x, %w bias(%b : !b) : !m, !w -> !t
  %s = attn.compress %k, %e : !t, !e -> !s
  return %s : !s
}

// β itself in place of (E 1) β is another function.
func.func @bias__not_once_a_slot(%x: !m, %w: !w, %b: !b, %e: !e) -> !s {
  %k = attn.project %x, %w : !m, !w -> !t
  %s = attn.compress %k, %e : !t, !e -> !s
  return %s : !s
}

// An E of each head.
!heads = tensor<2x3x9xf32>
func.func @own(%x: !m, %w: !w, %e: !heads) -> !s {
  %k = attn.project %x, %w : !m, !w -> !t
  %s = attn.compress %k, %e : !t, !heads -> !s
  return %s : !s
}

// E does not go past what treats each token by its place, its norm, or not linearly.
func.func @place(%x: !m, %w: !w, %e: !e) -> !s {
  %k = attn.project %x, %w : !m, !w -> !t
  %r = attn.rope %k {base = 1.0e4 : f64} : !t -> !t
  %s = attn.compress %r, %e : !t, !e -> !s
  return %s : !s
}
func.func @place__not_after(%x: !m, %w: !w, %e: !e) -> !s {
  %k = attn.project %x, %w : !m, !w -> !t
  %s = attn.compress %k, %e : !t, !e -> !s
  %r = attn.rope %s {base = 1.0e4 : f64} : !s -> !s
  return %r : !s
}

func.func @norm(%x: !m, %w: !w, %e: !e) -> !s {
  %k = attn.project %x, %w : !m, !w -> !t
  %n = attn.qk_norm %k {epsilon = 1.0e-5 : f64} : !t -> !t
  %s = attn.compress %n, %e : !t, !e -> !s
  return %s : !s
}
func.func @norm__not_after(%x: !m, %w: !w, %e: !e) -> !s {
  %k = attn.project %x, %w : !m, !w -> !t
  %s = attn.compress %k, %e : !t, !e -> !s
  %n = attn.qk_norm %s {epsilon = 1.0e-5 : f64} : !s -> !s
  return %n : !s
}

func.func @map(%x: !m, %w: !w, %e: !e) -> !s {
  %k = attn.project %x, %w : !m, !w -> !t
  %f = attn.map %k {feature_map = #attn.feature_map<elu1>} : !t -> !t
  %s = attn.compress %f, %e : !t, !e -> !s
  return %s : !s
}
func.func @map__not_after(%x: !m, %w: !w, %e: !e) -> !s {
  %k = attn.project %x, %w : !m, !w -> !t
  %s = attn.compress %k, %e : !t, !e -> !s
  %f = attn.map %s {feature_map = #attn.feature_map<elu1>} : !s -> !s
  return %f : !s
}
