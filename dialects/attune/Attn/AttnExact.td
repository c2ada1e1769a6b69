//===- AttnExact.td - Exact attention: softmax -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_EXACT_TD
#define ATTUNE_ATTN_EXACT_TD

include "attune/Attn/AttnBase.td"

def Attn_SoftmaxOp : Attn_ExecutableOp<"softmax", ["split = true"], [Attn_Differentiable, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Attn_MechanismInterface>,
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds"]>]> {
  let summary = "Exact softmax attention";
  let description = [{
        o_i = Σ_j softmax_j(s_ij) v_j,   s_ij = scale · ⟨q_i, k_j⟩     over the keys j that query i sees

    ("Attention Is All You Need", eq. 1). A row that sees no key is 0. `lse`, if asked for, is
    log Σ_j exp(s_ij), and −∞ for such a row. With `window` a query sees the keys of its own block alone, with `last` only the
    last so many of the keys that it would see. What a key that does not exist holds, NaN included, reaches nothing.

    `softcap` c bounds the logits, s ← c · tanh(s / c) (Gemma 2); then `slopes` make each key count less the further it is away,
    s ← s − slope_h · |i + N − n − j| (ALiBi).

    Constraints:
    * A1: q, k, v are [batch, H, n, d], [batch, G, N, d], [batch, G, N, dv], and G divides H;
    * A2: o is [batch, H, n, dv];
    * A3: key lengths, if there are, are [batch];
    * A4: scale is finite and > 0;
    * A5: lse, if asked for, is [batch, H, n];
    * A20: with a window n = N, and its blocks fill the sequence: n is a multiple of a block's length, or the number of
      tokens of its grid (checked here where n is static, else when the kernel runs); of packed sequences the last block may be shorter;
    * A53: keys are split only without a window, whose blocks run side by side anyway, and without `last`;
    * A62: `last` is at least 1, and stands with causal and without a window;
    * A63: softcap is finite and > 0;
    * A64: slopes are [H].

    ```mlir
    %o = attn.softmax %q, %k, %v {causal, scale = 1.250000e-01 : f64}
        : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
    %p = attn.softmax %q, %k, %v slopes(%m : tensor<8xf32>) {causal, last = 32 : i64, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64}
        : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x64xbf16>
    ```
  }];
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       Optional<Attn_Slopes>:$slopes, F64Attr:$scale, UnitAttr:$causal, OptionalAttr<Attn_WindowAttr>:$window,
                       OptionalAttr<I64Attr>:$last, OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<Attn_ExecutionAttr>:$execution);
  let results = (outs Attn_Tokens:$output, Optional<Attn_F32x3>:$lse);
  let useCustomPropertiesEncoding = 1;
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`slopes` `(` $slopes^ `:` type($slopes) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($output) (`,` `lse` type($lse)^)?
  }];
  let hasVerifier = 1;
}

def Attn_SoftmaxPartialOp : Attn_Op<"softmax_partial", [AttrSizedOperandSegments]> {
  let summary = "Online softmax over one piece of the keys";
  let description = [{
    Over the keys j of piece `piece` of `pieces`, that is ⌈N / pieces⌉ · piece ≤ j < ⌈N / pieces⌉ · (piece + 1), which query
    i sees:

        m_i = max_j s_ij,   l_i = Σ_j exp(s_ij − m_i),   acc_i = Σ_j exp(s_ij − m_i) v_j,   s_ij = scale · ⟨q_i, k_j⟩

    and m = −∞, l = 0, acc = 0 where it sees none. `window`, `last`, `softcap` and `slopes` are those of `attn.softmax`.

    Constraints: A1, A3, A4, A20, A62, A63, A64; A6: 0 ≤ piece < pieces; A7: m and l are [batch, H, n], acc is [batch, H, n, dv].

    ```mlir
    %m, %l, %acc = attn.softmax_partial %q, %k, %v {piece = 0 : i64, pieces = 1 : i64, scale = 1.250000e-01 : f64}
        : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16>, tensor<2x2x80x64xbf16>
        -> tensor<2x8x48xf32>, tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
    ```
  }];
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       Optional<Attn_Slopes>:$slopes, F64Attr:$scale, UnitAttr:$causal, I64Attr:$piece, I64Attr:$pieces,
                       OptionalAttr<Attn_WindowAttr>:$window, OptionalAttr<I64Attr>:$last, OptionalAttr<F64Attr>:$softcap);
  let results = (outs Attn_F32x3:$maximum, Attn_F32x3:$sum, Attn_F32x4:$accumulator);
  let useCustomPropertiesEncoding = 1;
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`slopes` `(` $slopes^ `:` type($slopes) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($maximum) `,` type($sum) `,` type($accumulator)
  }];
  let hasVerifier = 1;
}

def Attn_SoftmaxMergeOp : Attn_Op<"softmax_merge", [AllTypesMatch<["first_maximum", "first_sum", "second_maximum",
    "second_sum", "maximum", "sum"]>, AllTypesMatch<["first_accumulator", "second_accumulator", "accumulator"]>]> {
  let summary = "Merge the partial results of two pieces";
  let description = [{
        m = max(m₁, m₂),   l = Σ_x l_x e^{m_x − m},   acc = Σ_x acc_x e^{m_x − m}

    with e^{−∞ − m} = 0 also for m = −∞. Associative, so that any cut of the keys gives the same function.

    Constraints: both sides have the same types.

    ```mlir
    %m, %l, %acc = attn.softmax_merge (%m1, %l1, %acc1), (%m2, %l2, %acc2) : tensor<2x8x48xf32>, tensor<2x8x48x64xf32>
    ```
  }];
  let arguments = (ins Attn_F32x3:$first_maximum, Attn_F32x3:$first_sum, Attn_F32x4:$first_accumulator,
                       Attn_F32x3:$second_maximum, Attn_F32x3:$second_sum, Attn_F32x4:$second_accumulator);
  let results = (outs Attn_F32x3:$maximum, Attn_F32x3:$sum, Attn_F32x4:$accumulator);
  let assemblyFormat = [{
    `(` $first_maximum `,` $first_sum `,` $first_accumulator `)` `,`
    `(` $second_maximum `,` $second_sum `,` $second_accumulator `)` attr-dict
    `:` type($first_maximum) `,` type($first_accumulator)
  }];
}

def Attn_SoftmaxFinishOp : Attn_Op<"softmax_finish", [AllTypesMatch<["maximum", "sum", "lse"]>]> {
  let summary = "The output of online softmax from its partial results";
  let description = [{
        o_i = acc_i / l_i, 0 where l_i = 0;     lse_i = m_i + log l_i, −∞ where l_i = 0

    Constraints: A8: the sizes of m, l, acc, o and lse agree.

    ```mlir
    %o, %lse = attn.softmax_finish %m, %l, %acc : tensor<2x8x48xf32>, tensor<2x8x48x64xf32> -> tensor<2x8x48x64xbf16>
    ```
  }];
  let arguments = (ins Attn_F32x3:$maximum, Attn_F32x3:$sum, Attn_F32x4:$accumulator);
  let results = (outs Attn_Tokens:$output, Attn_F32x3:$lse);
  let assemblyFormat = [{
    $maximum `,` $sum `,` $accumulator attr-dict `:` type($maximum) `,` type($accumulator) `->` type($output)
  }];
  let hasVerifier = 1;
}

#endif // ATTUNE_ATTN_EXACT_TD
