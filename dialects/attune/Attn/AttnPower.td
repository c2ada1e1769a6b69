//===- AttnPower.td - Polynomial attention and sketches of it -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_POWER_TD
#define ATTUNE_ATTN_POWER_TD

include "attune/Attn/AttnBase.td"

def Attn_PolynomialOp : Attn_Op<"polynomial", [
    DeclareOpInterfaceMethods<Attn_MechanismInterface>,
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds"]>]> {
  let summary = "Polynomial attention";
  let description = [{
        o_i = Σ_j w_ij v_j / max(bias + Σ_j w_ij, floor),   w_ij = (scale · ⟨q_i, k_j⟩)^degree     over the keys j that i sees

    ("PolySketchFormer", eq. 1; its published code has a bias of 1). With `window` a query sees the keys of its own block
    alone, with `last` only the last so many of those that it would see. A row whose guarded denominator is exactly 0, as of one that sees no key, is 0.

    Constraints: A1 … A4, A20, A62; A28: degree is even and ≥ 2.

    ```mlir
    %o = attn.polynomial %q, %k, %v {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 1.000000e+00, floor = 0.000000e+00>, scale = 1.000000e+00 : f64}
        : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       I64Attr:$degree, F64Attr:$scale, Attn_DenominatorAttr:$denominator, UnitAttr:$causal,
                       OptionalAttr<Attn_WindowAttr>:$window, OptionalAttr<I64Attr>:$last);
  let results = (outs Attn_Tokens:$output);
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    /// As `decompose`, with queries divided by max_j |⟨q, k_j⟩| over the keys that they see, whose powers are at most 1; under a guard with those
    /// that are too large for it to count.
    ::llvm::SmallVector<::mlir::Value> decomposeInUnits(::mlir::OpBuilder &builder);
  }];
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($output)
  }];
}

def Attn_PolysketchOp : Attn_ExecutableOp<"polysketch", ["form = state", "form = chunked", "split = true"], [AttrSizedOperandSegments,
    AttrSizedResultSegments, DeclareOpInterfaceMethods<Attn_MechanismInterface>,
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds"]>],
    "bool hasStates() { return getInitialState() || getFinalState(); }\n"
    "/// As kernel attention over S(x) ⊗ S(x), with a state in place of weights of pairs; none with local_exact.\n"
    "::llvm::SmallVector<::mlir::Value> decomposeLinear(::mlir::OpBuilder &builder);\n"
    "/// As `decompose`, with sketches of queries divided by max_j |⟨S(q), S(k_j)⟩|, whose squares are at most 1, or, with local_exact, queries by\n"
    "/// max_j |⟨q, k_j⟩|; under a guard with those that are too large for it to count; where a state wants them as they are, as `decompose` has it.\n"
    "::llvm::SmallVector<::mlir::Value> decomposeInUnits(::mlir::OpBuilder &builder);"> {
  let summary = "Polynomial attention through sketches";
  let description = [{
        w_ij = ⟨S(scale · q_i), S(k_j)⟩²,   and (scale · ⟨q_i, k_j⟩)^degree where ⌊i / b⌋ = ⌊j / b⌋ with `local_exact` = b

    weights v as `attn.polynomial` does, with the same guard ("PolySketchFormer", theorem 2.5, and its exact local blocks).
    S is the sketch of degree `degree`/2 and `size` r entries of `attn.sketch`, whose parameters are given. Each query head
    has its own, so that K is sketched for every query head. What an index outside its range gives is not defined: a
    compiled library refuses it.

    * `initial` state (S₀, z₀, c₀) of the keys before these: S(q)_f S(q)_g e^{c₀} times row f r + g of S₀ and of z₀ is added to numerator and
      denominator. `final` state, if asked for: row f r + g of e^c S is that of e^{c₀} S₀ + Σ_j S(k_j)_f S(k_j)_g v_jᵀ, and so is z
      of the same without v. Which c it is the op leaves open; where z is 0 it says nothing.
    * With `local_exact` both are of the keys of whole blocks. `held` are keys and values of the block that `position`, the place of each
      entry's first token, lies in: so many rows as there are tokens of that block before it, then rows of 0. Blocks count on from them, and what
      is held of the last block follows the final state, in f32.

    Constraints: A1 … A4, A9;
    * A29: degree is 4, 8, 16, …, and size is a power of two;
    * A30: with p' = degree/2 leaves there are p' − 1 nodes, 3p' − 2 signs and as many indices: first the leaves', signs
      [H, d₂] (d₂ = d rounded up to a power of two) and indices [H, r], then a and b of each node, both [H, r];
    * A31: local_exact only with causal; it divides n unless there is a state, or n is not known: of packed sequences the last block may be shorter;
    * A56: one state of all keys not with causal, chunks with causal, and split with chunks;
    * A75: states are [batch, H, r², dv], [batch, H, r²] and [batch, H] of f32, all three or none, only with causal;
    * A76: held keys and values are [batch, G, b, d] and [batch, G, b, dv] of f32 with local_exact = b and a state on their side,
      and else there are none;
    * A77: position is [batch], with local_exact and an initial state.

    ```mlir
    %o = attn.polysketch %q, %k, %v
        signs(%s0, %s1, %sa, %sb : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
        indices(%i0, %i1, %ia, %ib : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>)
        {causal, degree = 4 : i64, denominator = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>,
         local_exact = 50 : i64, scale = 1.000000e+00 : f64, size = 32 : i64}
        : tensor<2x4x200x64xf32>, tensor<2x2x200x64xf32>, tensor<2x2x200x32xf32> -> tensor<2x4x200x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       Variadic<Attn_Parameter>:$signs, Variadic<Attn_Indices>:$indices,
                       Optional<Attn_F32x4>:$initial_state, Optional<Attn_F32x3>:$initial_sum, Optional<Attn_F32x2>:$initial_scale,
                       Optional<Attn_F32x4>:$held_key, Optional<Attn_F32x4>:$held_value, Optional<Attn_Lengths>:$position,
                       I64Attr:$degree, I64Attr:$size, OptionalAttr<I64Attr>:$local_exact, F64Attr:$scale,
                       Attn_DenominatorAttr:$denominator, UnitAttr:$causal,
                       OptionalAttr<Attn_ExecutionAttr>:$execution);
  let useCustomPropertiesEncoding = 1;
  let results = (outs Attn_Tokens:$output, Optional<Attn_F32x4>:$final_state, Optional<Attn_F32x3>:$final_sum,
                      Optional<Attn_F32x2>:$final_scale, Optional<Attn_F32x4>:$final_key, Optional<Attn_F32x4>:$final_value);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `signs` `(` $signs `:` type($signs) `)` `indices` `(` $indices `:` type($indices) `)`
    (custom<Initial>($initial_state, $initial_sum, $initial_scale, type($initial_state), type($initial_sum), type($initial_scale))^)?
    (`held` `(` $held_key^ `,` $held_value `:` type($held_key) `,` type($held_value) `)`)?
    (`position` `(` $position^ `:` type($position) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->`
    custom<Results>(type($output), type($final_state), type($final_sum), type($final_scale))
    (`held` type($final_key)^ `,` type($final_value))?
  }];
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

def Attn_SketchOp : Attn_Op<"sketch", [Attn_Differentiable, AttrSizedOperandSegments]> {
  let summary = "A sketch of every token: the tree of TensorSRHTs";
  let description = [{
        leaf_i = r^{-1/2} (x D_i H)[index_i],   node_j = r^{-1/2} (a D_a H)[index_a] ⊙ (b D_b H)[index_b],   S(scale · x) = the root

    with x (its scale taken first) zero-padded to a power of two d₂, H the unnormalised ±1 Hadamard matrix of Sylvester,
    H[i, j] = (−1)^popcount(i & j), and D = diag(sign). `signs` and `indices` are those of the leaves 0 … p' − 1 and then,
    node after node, of the sides a and b; nodes count level by level from the leaves, left to right, and each takes the
    two next outputs of the level below ("PolySketchFormer", definition 2.4; with r^{-1/2} once a node, which makes
    E⟨S(x), S(y)⟩ = ⟨x, y⟩^{p'}). The result has H heads, as the signs; head h reads head ⌊h·G/H⌋ of the source.

    Constraints: A4; A29 (p' and r powers of two) and A30, with p' taken from the number of signs, 3p' − 2; the result is
    [batch, H, tokens, r], and the source's heads divide H.

    ```mlir
    %s = attn.sketch %k
        signs(%s0, %s1, %sa, %sb : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
        indices(%i0, %i1, %ia, %ib : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>)
        {scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x2x200x64xf32> -> tensor<2x4x200x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Variadic<Attn_Parameter>:$signs, Variadic<Attn_Indices>:$indices,
                       I64Attr:$size, F64Attr:$scale);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = [{
    $source `signs` `(` $signs `:` type($signs) `)` `indices` `(` $indices `:` type($indices) `)` attr-dict
    `:` type($source) `->` type($result)
  }];
}

def Attn_PowerOp : Attn_Op<"power", [Attn_Differentiable, AllTypesMatch<["weights", "result"]>]> {
  let summary = "A power of weights";
  let description = [{
        result = (scale · weights)^degree     entrywise

    Constraints: A4; A32: degree ≥ 1.

    ```mlir
    %p = attn.power %w {degree = 4 : i64, scale = 1.000000e+00 : f64} : tensor<2x4x200x200xf32>
    ```
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let arguments = (ins Attn_F32x4:$weights, I64Attr:$degree, F64Attr:$scale);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$weights attr-dict `:` type($weights)";
}

def Attn_DiagonalBlocksOp : Attn_Op<"diagonal_blocks", [Attn_Differentiable, AllTypesMatch<["inside", "outside", "result"]>]> {
  let summary = "Weights inside the diagonal blocks from one tensor, outside from another";
  let description = [{
        result[b, h, i, j] = inside[b, h, i, j] if ⌊i / block⌋ = ⌊j / block⌋, else outside[b, h, i, j]

    Constraints: A33: block ≥ 1.

    ```mlir
    %d = attn.diagonal_blocks %exact, %sketched {block = 32 : i64} : tensor<2x4x128x128xf32>
    ```
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let arguments = (ins Attn_F32x4:$inside, Attn_F32x4:$outside, I64Attr:$block);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$inside `,` $outside attr-dict `:` type($inside)";
}

#endif // ATTUNE_ATTN_POWER_TD
