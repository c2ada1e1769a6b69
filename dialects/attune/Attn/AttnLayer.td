//===- AttnLayer.td - What stands around a mechanism in a layer -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_LAYER_TD
#define ATTUNE_ATTN_LAYER_TD

include "attune/Attn/AttnBase.td"

def Attn_ProjectOp : Attn_ExecutableOp<"project", ["form = folded", "values = fused"], [Attn_Differentiable, 
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds"]>]> {
  let summary = "Project a sequence to heads";
  let description = [{
        result[b, h, t, c] = Σ_D x[b, t, D] weight[D, h·width + c]  [+ bias[h·width + c]]

    The weight is as `torch.nn.Linear(...).weight.T`.

    Constraints: A40: source [batch, tokens, D], weight [D, heads·width], bias [heads·width], result
    [batch, heads, tokens, width].

    ```mlir
    %q = attn.project %x, %wq bias(%bq : tensor<256xf32>) : tensor<2x96x256xf32>, tensor<256x256xf32> -> tensor<2x8x96x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Model:$source, Attn_Parameter:$weight, Optional<Attn_Parameter>:$bias,
                       OptionalAttr<Attn_ExecutionAttr>:$execution);
  let useCustomPropertiesEncoding = 1;
  let results = (outs Attn_Tokens:$result);
  let assemblyFormat = [{
    $source `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `:` type($source) `,` type($weight) `->` type($result)
  }];
}

def Attn_ProjectOutputOp : Attn_ExecutableOp<"project_output", ["values = fused"], [Attn_Differentiable, 
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds"]>]> {
  let summary = "Merge heads and project to the width of the model";
  let description = [{
        result[b, t, D] = Σ_{h, c} source[b, h, t, c] weight[h·dv + c, D]  [+ bias[D]]

    Constraints: A41: source [batch, H, tokens, dv], weight [H·dv, D], bias [D], result [batch, tokens, D].

    ```mlir
    %y = attn.project_output %o, %wo bias(%bo : tensor<256xf32>) : tensor<2x8x96x32xf32>, tensor<256x256xf32> -> tensor<2x96x256xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Attn_Parameter:$weight, Optional<Attn_Parameter>:$bias,
                       OptionalAttr<Attn_ExecutionAttr>:$execution);
  let results = (outs Attn_Model:$result);
  let assemblyFormat = [{
    $source `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `:` type($source) `,` type($weight) `->` type($result)
  }];
}

def Attn_RopeOp : Attn_Op<"rope", [Attn_Differentiable, Attn_UsefulOperationsInterface, AllShapesMatch<["source", "result"]>]> {
  let summary = "Rotary position embedding";
  let description = [{
    Rotates the pairs (2i, 2i + 1) of each token, or (i, i + d/2) with `half`, by position · base^{−2i/d}
    ("RoFormer"): (a, b) becomes (a cos θ − b sin θ, b cos θ + a sin θ). Token t is at position t, and with
    `aligned` %keys at t + N − n where N is the number of tokens of that value: the last query sits at the last key, and
    positions may be negative. `aligned` to a tensor [batch], it is at t + that of its entry.

    Constraints: A42: the width is even, base is finite and > 0; aligned has the source's batch.

    ```mlir
    %r = attn.rope %q aligned(%k : tensor<2x2x96x32xf32>) {base = 1.000000e+04 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Optional<AnyTypeOf<[Attn_Tokens, Attn_Lengths]>>:$aligned, F64Attr:$base, UnitAttr:$half);
  let results = (outs Attn_Tokens:$result);
  let assemblyFormat = [{
    $source (`aligned` `(` $aligned^ `:` type($aligned) `)`)? attr-dict `:` type($source) `->` type($result)
  }];
}

def Attn_QkNormOp : Attn_Op<"qk_norm", [Attn_Differentiable, Attn_UsefulOperationsInterface, AllShapesMatch<["source", "result"]>]> {
  let summary = "Normalisation of each token of each head, without gain";
  let description = [{
        result = (x − mean(x)) / sqrt(mean((x − mean(x))²) + epsilon)     over the width
        result = x / sqrt(Σ x² + epsilon)                                 with l2

    A token of equal entries becomes 0, with `l2` a token of zeros.

    Constraints: A43: epsilon is finite and > 0.

    ```mlir
    %n = attn.qk_norm %q {epsilon = 1.000000e-05 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, F64Attr:$epsilon, UnitAttr:$l2);
  let results = (outs Attn_Tokens:$result);
  let useCustomPropertiesEncoding = 1;
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Attn_CompressOp : Attn_ExecutableOp<"compress", ["form = compress_first"], [Attn_Differentiable, 
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds", "compression"]>]> {
  let summary = "Compress a sequence to slots: E·X";
  let description = [{
        result[b, g, s, c] = Σ_{j < lengths[b]} weight[⌊g·W/G⌋, s, j] source[b, g, j, c]

    Linformer's and FLuRKA's E and F ("Linformer"): weight is [W, k, N], W = 1 if the G heads share it. Tokens that do
    not exist count as 0, even if they hold NaN; with none of them the result is 0.

    Constraints: A3; A44: source [batch, G, N, width], weight [W, k, N], result [batch, G, k, width]; W divides G.

    ```mlir
    %c = attn.compress %k, %e : tensor<2x4x200x64xf32>, tensor<1x32x200xf32> -> tensor<2x4x32x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Attn_Parameter:$weight, Optional<Attn_Lengths>:$lengths,
                       OptionalAttr<Attn_ExecutionAttr>:$execution);
  let useCustomPropertiesEncoding = 1;
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = [{
    $source `,` $weight (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($source) `,` type($weight) `->` type($result)
  }];
}

def Attn_LepeOp : Attn_Op<"lepe", [Attn_Differentiable, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds"]>, AllShapesMatch<["source", "result"]>]> {
  let summary = "Locally enhanced positional encoding: a depthwise convolution of the values, added to the output";
  let description = [{
        result[b, h, t, c] = source[b, h, t, c] + Σ_{δ ∈ −1, 0, 1} weight[h, c, δ + 1] v[b, g, t + δ, c]  [+ bias[h, c]]

    and in two dimensions with weight [h, c, δy + 1, δx + 1] over the 3×3 neighbours ("CSWin", ELFATT). Neighbours
    outside are 0: outside the sequence, or with `grid` the row-major image, or with `window` the token's block (in one or two
    dimensions as the window is). Values of tokens that do not exist are 0, whatever they hold; rows of the result are all
    computed. g = ⌊h·G/H⌋.

    Constraints: A3, A20; A45: value [batch, G, n, dv], G divides H; weight [H, dv, 3, 3] with a grid or a window of a grid,
    else [H, dv, 3]; bias [H, dv]; grid is two numbers ≥ 1 whose product is n, and not beside a window.

    ```mlir
    %r = attn.lepe %o, %v, %w {grid = array<i64: 14, 14>} : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<2x32x3x3xf32> -> tensor<1x2x196x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Attn_Tokens:$value, Attn_Parameter:$weight, Optional<Attn_Parameter>:$bias,
                       Optional<Attn_Lengths>:$lengths, OptionalAttr<DenseI64ArrayAttr>:$grid,
                       OptionalAttr<Attn_WindowAttr>:$window);
  let results = (outs Attn_Tokens:$result);
  let assemblyFormat = [{
    $source `,` $value `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    attr-dict `:` type($source) `,` type($value) `,` type($weight) `->` type($result)
  }];
}

def Attn_TakeHeadsOp : Attn_Op<"take_heads", [Attn_Differentiable, Attn_UsefulOperationsInterface]> {
  let summary = "Some consecutive heads";
  let description = [{
        result[b, h, t, c] = source[b, first + h, t, c]

    Constraints: A46: 0 ≤ first, first + the result's heads ≤ the source's; all else as the source.

    ```mlir
    %q1 = attn.take_heads %q {first = 2 : i64} : tensor<1x4x196x32xf32> -> tensor<1x2x196x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let arguments = (ins Attn_Tokens:$source, I64Attr:$first);
  let results = (outs Attn_Tokens:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Attn_RepeatHeadsOp : Attn_Op<"repeat_heads", [Attn_Differentiable, Attn_UsefulOperationsInterface]> {
  let summary = "Each head several times";
  let description = [{
        result[b, h, t, c] = source[b, ⌊h·G/H⌋, t, c]     of G heads of the source and H of the result

    No kernel copies them: whoever reads head h reads that of the source.

    Constraints: A61: G divides H; all else as the source.

    ```mlir
    %q2 = attn.repeat_heads %q : tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source);
  let results = (outs Attn_Tokens:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Attn_ConcatHeadsOp : Attn_ExecutableOp<"concat_heads", ["launch = co_launched"], [Attn_Differentiable, Attn_UsefulOperationsInterface]> {
  let summary = "The heads of several parts, one after another";
  let description = [{
        result[b, h, t, c] = part[b, h − first, t, c]     for the part with first ≤ h < first + its heads

    Constraints: A47: at least one part; their heads add up to the result's; all else as the result.

    ```mlir
    %o = attn.concat_heads %a, %b : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let arguments = (ins Variadic<Attn_Tokens>:$parts, OptionalAttr<Attn_ExecutionAttr>:$execution);
  let results = (outs Attn_Tokens:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts) `->` type($result)";
}

#endif // ATTUNE_ATTN_LAYER_TD
