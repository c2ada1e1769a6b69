// I7: ⟨x ⊗ x, y ⊗ y⟩ = ⟨x, y⟩²: pairs of sketches are squared, a state is of their squares.
// RUN: attune-equal %s | FileCheck %s --check-prefix=SIDES
// SIDES-DAG: {{^}}pairs__squared equals pairs:

!x = tensor<?x2x?x4xf32>
!xx = tensor<?x2x?x16xf32>
!p = tensor<?x2x?x?xf32>

func.func @pairs(%x: !x, %y: !x) -> !p {
  %a = attn.map %x {feature_map = #attn.feature_map<tensor_square>} : !x -> !xx
  %b = attn.map %y {feature_map = #attn.feature_map<tensor_square>} : !x -> !xx
  %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key] : !xx, !xx -> !p
  return %w : !p
}

func.func @pairs__squared(%x: !x, %y: !x) -> !p {
  %t = attn.contract %x[batch, head, query, feature], %y[batch, head, key, feature] -> [batch, head, query, key] : !x, !x -> !p
  %w = attn.power %t {degree = 2 : i64, scale = 1.0 : f64} : !p
  return %w : !p
}

// Of sketches: pairs, the state of squares, and chunk after chunk with exact blocks.
!s = tensor<2x4xf32>
!i = tensor<2x4xi32>
#guard = #attn.denominator<bias = 0.5, floor = 0.25>
func.func @sketched(%q: !x, %k: !x, %v: !x, %s0: !s {attn.draw = "signs"}, %s1: !s {attn.draw = "signs"},
                    %sa: !s {attn.draw = "signs"}, %sb: !s {attn.draw = "signs"}, %i0: !i {attn.draw = "below 4"},
                    %i1: !i {attn.draw = "below 4"}, %ia: !i {attn.draw = "below 4"}, %ib: !i {attn.draw = "below 4"}, %l: tensor<?xi32>) -> !x {
  %o = attn.polysketch %q, %k, %v lengths(%l : tensor<?xi32>) signs(%s0, %s1, %sa, %sb : !s, !s, !s, !s) indices(%i0, %i1, %ia, %ib : !i, !i, !i, !i)
      {degree = 4 : i64, denominator = #guard, scale = 0.5 : f64, size = 4 : i64} : !x, !x, !x -> !x
  return %o : !x
}

!b = tensor<2x2x8x4xf32>
func.func @blocks(%q: !b, %k: !b, %v: !b, %s0: !s {attn.draw = "signs"}, %s1: !s {attn.draw = "signs"},
                  %sa: !s {attn.draw = "signs"}, %sb: !s {attn.draw = "signs"}, %i0: !i {attn.draw = "below 4"},
                  %i1: !i {attn.draw = "below 4"}, %ia: !i {attn.draw = "below 4"}, %ib: !i {attn.draw = "below 4"}) -> !b {
  %o = attn.polysketch %q, %k, %v signs(%s0, %s1, %sa, %sb : !s, !s, !s, !s) indices(%i0, %i1, %ia, %ib : !i, !i, !i, !i)
      {causal, degree = 4 : i64, denominator = #guard, local_exact = 4 : i64, scale = 0.5 : f64, size = 4 : i64} : !b, !b, !b -> !b
  return %o : !b
}
