//===- AttnGradient.td - Terms that gradients are made of -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a vector-Jacobian product needs beside the terms of the forward pass. x̄ is the cotangent of x: a tensor of x's sizes in f32.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_GRADIENT_TD
#define ATTUNE_ATTN_GRADIENT_TD

include "attune/Attn/AttnBase.td"

/// Tensors of any rank.
def Attn_Floats : RankedTensorOf<[F32, F16, BF16]>;
def Attn_F32s : RankedTensorOf<[F32]>;

//===----------------------------------------------------------------------===//
// Entry by entry
//===----------------------------------------------------------------------===//

def Attn_AddOp : Attn_Op<"add", [Attn_Differentiable, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "The sum of two tensors";
  let description = [{
        result = lhs + rhs

    ```mlir
    %s = attn.add %a, %b : tensor<2x4x200x64xf32>
    ```
  }];
  let arguments = (ins Attn_F32s:$lhs, Attn_F32s:$rhs);
  let results = (outs Attn_F32s:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Attn_ScaleOp : Attn_Op<"scale", [Attn_Differentiable]> {
  let summary = "A tensor times a number, in the type of the result";
  let description = [{
        result = factor · source

    Constraints: A80: the result has the source's sizes; A81: factor is finite.

    ```mlir
    %y = attn.scale %x {factor = 1.250000e-01 : f64} : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xbf16>
    ```
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let arguments = (ins Attn_Floats:$source, F64Attr:$factor);
  let results = (outs Attn_Floats:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Attn_MultiplyOp : Attn_Op<"multiply", [Attn_Differentiable]> {
  let summary = "The product of two tensors, entry by entry";
  let description = [{
        result = lhs ⊙ rhs,   0 where lhs is 0, whatever rhs is

    so that weights of pairs that do not see each other keep what is not there out of their products.

    Constraints: A80: lhs, rhs and the result have the same sizes.

    ```mlir
    %y = attn.multiply %w, %x : tensor<2x4x200x200xf32>, tensor<2x4x200x200xf32> -> tensor<2x4x200x200xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Floats:$lhs, Attn_Floats:$rhs);
  let results = (outs Attn_F32s:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Attn_SpreadOp : Attn_Op<"spread"> {
  let summary = "Numbers along roles that they do not have";
  let description = [{
        result[b, h, i, j] = source[b, h, i]        for the roles [batch, head, query] and [batch, head, query, key]

    The result has the sizes of `like`, which nothing else is read of.

    Constraints: A82: a role a dimension, none twice; every role of the source is one of `like`, of the same size; A80: the result has the
    sizes of `like`.

    ```mlir
    %w1 = attn.spread %z[batch, head, query] like %p[batch, head, query, key]
        : tensor<2x4x200xf32>, tensor<2x4x200x100xf32> -> tensor<2x4x200x100xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32s:$source, Attn_Floats:$like, Attn_RolesAttr:$source_roles, Attn_RolesAttr:$like_roles);
  let results = (outs Attn_F32s:$result);
  let assemblyFormat = [{
    $source custom<Roles>($source_roles) `like` $like custom<Roles>($like_roles) attr-dict
    `:` type($source) `,` type($like) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Heads and tokens
//===----------------------------------------------------------------------===//

def Attn_SumHeadsOp : Attn_Op<"sum_heads"> {
  let summary = "The sum over the heads that share one";
  let description = [{
        result[b, g, …] = Σ_{h: ⌊h·G/H⌋ = g} source[b, h, …]        of H heads of the source, in their order

    Constraints: A83: heads are dimension 1, or 0 with `parameter`; G divides H; all else as the source.

    ```mlir
    %g = attn.sum_heads %x : tensor<2x8x200x64xf32> -> tensor<2x2x200x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let arguments = (ins Attn_F32s:$source, UnitAttr:$parameter);
  let results = (outs Attn_F32s:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Attn_PlaceHeadsOp : Attn_Op<"place_heads"> {
  let summary = "Heads among others that are 0";
  let description = [{
        result[b, first + h, t, c] = source[b, h, t, c],   0 for all other heads: the transpose of `attn.take_heads`

    Constraints: A84: 0 ≤ first, first + the source's heads ≤ the result's; all else as the source.

    ```mlir
    %x1 = attn.place_heads %y {first = 2 : i64} : tensor<1x2x196x32xf32> -> tensor<1x4x196x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$source, I64Attr:$first);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Attn_ExistingOp : Attn_Op<"existing"> {
  let summary = "Tokens, with 0 for those that do not exist";
  let description = [{
        result[b, h, t, c] = source[b, h, t, c],   0 for t ≥ lengths[b], whatever is there

    Constraints: A3; A80: the result has the source's sizes.

    ```mlir
    %x2 = attn.existing %k lengths(%l : tensor<2xi32>) : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Attn_Lengths:$lengths);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$source `lengths` `(` $lengths `:` type($lengths) `)` attr-dict `:` type($source) `->` type($result)";
}

def Attn_UnpoolOp : Attn_Op<"unpool"> {
  let summary = "Each run's row for every token of the run, over their number";
  let description = [{
        result[b, h, t, :] = source[b, h, ⌊t · count / n⌋, :] · count / n     with n the tokens of `like`

    the transpose of `attn.pool`. Nothing but the number of its tokens is read of `like`.

    Constraints: A34: the source's tokens, `count`, divide n; A80: the result has the sizes of `like`.

    ```mlir
    %x = attn.unpool %y like %q : tensor<2x4x16x64xf32>, tensor<2x4x128x64xf32> -> tensor<2x4x128x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$source, Attn_Tokens:$like);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$source `like` $like attr-dict `:` type($source) `,` type($like) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

def Attn_SoftmaxWeightsOp : Attn_Op<"softmax_weights", [AttrSizedOperandSegments]> {
  let summary = "The weights of softmax attention from the logarithms of their sums";
  let description = [{
        result[b, h, i, j] = e^{s_ij − lse_i}  if query i sees key j, else 0,   s_ij the logit of `attn.softmax`

    A row of lse = −∞ is 0.

    Constraints: A1, A3, A4, A20, A62, A63, A64; A85: lse is [batch, H, n], the result [batch, H, n, N].

    ```mlir
    %p = attn.softmax_weights %q, %k lse(%l : tensor<2x8x48xf32>) {causal, scale = 1.250000e-01 : f64}
        : tensor<2x8x48x64xbf16>, tensor<2x2x80x64xbf16> -> tensor<2x8x48x80xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_F32x3:$lse, Optional<Attn_Lengths>:$lengths,
                       Optional<Attn_Slopes>:$slopes, F64Attr:$scale, UnitAttr:$causal, OptionalAttr<Attn_WindowAttr>:$window,
                       OptionalAttr<I64Attr>:$last, OptionalAttr<F64Attr>:$softcap);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = [{
    $query `,` $key `lse` `(` $lse `:` type($lse) `)` (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`slopes` `(` $slopes^ `:` type($slopes) `)`)? attr-dict `:` type($query) `,` type($key) `->` type($result)
  }];
}

def Attn_SoftcapGradientOp : Attn_Op<"softcap_gradient", [AllTypesMatch<["product", "cotangent", "result"]>]> {
  let summary = "What reaches logits through their cap";
  let description = [{
        result = cotangent · (1 − tanh²(scale · product / softcap)),   0 where the cotangent is 0

    Constraints: A4, A63.

    ```mlir
    %s = attn.softcap_gradient %w, %x {scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64} : tensor<2x8x48x80xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$product, Attn_F32x4:$cotangent, F64Attr:$scale, F64Attr:$softcap);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$product `,` $cotangent attr-dict `:` type($cotangent)";
}

def Attn_DistanceSumsOp : Attn_Op<"distance_sums"> {
  let summary = "The sum of each head's weights times the distances of their pairs";
  let description = [{
        result[h] = Σ_{b, i, j} weights[b, h, i, j] · |i + N − n − j|

    Constraints: A86: the result is [H].

    ```mlir
    %d = attn.distance_sums %w : tensor<2x8x48x80xf32> -> tensor<8xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$weights);
  let results = (outs Attn_Slopes:$result);
  let assemblyFormat = "$weights attr-dict `:` type($weights) `->` type($result)";
}

def Attn_DecaySumsOp : Attn_Op<"decay_sums"> {
  let summary = "For each token the sum of the weights of pairs that lie around it";
  let description = [{
        result[b, f, t] = Σ_{h of f} Σ_{j < t ≤ i} weights[b, h, i, j],   0 for t ≥ lengths[b]      of F decays, f = ⌊h·F/H⌋
        result[f] = Σ_{b, t} of these

    the cotangent of `attn.decay`'s exponents, with weights = ȳ ⊙ y.

    Constraints: A3; A87: the result is [F] or [batch, F, N], F divides H; as many queries as keys.

    ```mlir
    %g = attn.decay_sums %w : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$weights, Optional<Attn_Lengths>:$lengths);
  let results = (outs Attn_Decay:$result);
  let assemblyFormat = "$weights (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:` type($weights) `->` type($result)";
}

def Attn_OnlyBlocksOp : Attn_Op<"only_blocks", [AllTypesMatch<["weights", "result"]>]> {
  let summary = "Weights inside the diagonal blocks, or outside of them";
  let description = [{
        result[b, h, i, j] = weights[b, h, i, j] if ⌊i / block⌋ = ⌊j / block⌋ (with `outside`: if not), else 0

    Constraints: A33: block ≥ 1.

    ```mlir
    %d = attn.only_blocks %w {block = 32 : i64, outside} : tensor<2x4x128x128xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$weights, I64Attr:$block, UnitAttr:$outside);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$weights attr-dict `:` type($weights)";
}

//===----------------------------------------------------------------------===//
// Quotients, features, states
//===----------------------------------------------------------------------===//

def Attn_DenominatorGradientOp : Attn_Op<"denominator_gradient", [AllTypesMatch<["delta", "denominator", "result"]>]> {
  let summary = "The cotangent of a guarded denominator";
  let description = [{
        result_i = −delta_i / (denominator_i + bias),   delta_i = ⟨ō_i, o_i⟩,  0 where the floor holds that denominator back or it is 0

    With `logarithms` denominators are ln g_i of what divides, and results what reaches these: −delta_i, and 0 where g_i is the floor or 0.

    ```mlir
    %z = attn.denominator_gradient %d, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 1.000000e-06>} : tensor<2x4x200xf32>
    ```
  }];
  let arguments = (ins Attn_F32x3:$delta, Attn_F32x3:$denominator, Attn_DenominatorAttr:$guard, UnitAttr:$logarithms);
  let results = (outs Attn_F32x3:$result);
  let assemblyFormat = "$delta `,` $denominator attr-dict `:` type($delta)";
}

class Attn_MapGradient<string mnemonic> : Attn_Op<mnemonic, [AttrSizedOperandSegments]> {
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Attn_F32x4:$cotangent, Optional<Attn_Lengths>:$lengths, Optional<Attn_Parameter>:$parameter,
                       Optional<Attn_Shift>:$shift, Optional<Attn_Lengths>:$position,
                       Attn_FeatureMapAttr:$feature_map, UnitAttr:$keys, UnitAttr:$logarithms);
  let results = (outs Attn_F32s:$result);
  let assemblyFormat = [{
    $source `,` $cotangent (`lengths` `(` $lengths^ `:` type($lengths) `)`)? (`parameter` `(` $parameter^ `:` type($parameter) `)`)?
    (`shift` `(` $shift^ `:` type($shift) `)`)? (`position` `(` $position^ `:` type($position) `)`)? attr-dict
    `:` type($source) `,` type($cotangent) `->` type($result)
  }];
}

def Attn_MapGradientOp : Attn_MapGradient<"map_gradient"> {
  let summary = "The cotangent of the tokens of a feature map";
  let description = [{
        result[b, h, t, :] = φ̄[b, h, t, :] · ∂φ/∂x at source[b, ⌊h·G/H⌋, t, :],   0 for t ≥ lengths[b]

    with the operands and attributes of `attn.map` and the cotangent φ̄ of its result. Shifts are constants, whether or not they cancel;
    relu′(0) = 0, and elu + 1 has its exponential's derivative up to 0.

    | map | x̄ |
    |---|---|
    | `elu1` | φ̄ ⊙ (1 for x > 0, else eˣ) |
    | `relu` | φ̄ ⊙ (x > 0) |
    | `cosformer` | (φ̄₁ sin + φ̄₂ cos) ⊙ (x > 0) |
    | `focused` | y = (relu(x) + ε) / softplus(f), u = y^p / ‖y^p‖: ȳ = ⟨φ̄, u⟩ y / ‖y‖ + ‖y‖ p y^{p−1} / ‖y^p‖ ⊙ (φ̄ − ⟨φ̄, u⟩ u), x̄ = ȳ / softplus(f) ⊙ (x > 0) |
    | `favor` | L̄ = φ̄ ⊙ m^{−½} e^{L − c}, x̄ = √s (L̄ ω − (Σ_f L̄_f) x') |
    | `favor_relu` | x̄ = √s (φ̄ ⊙ (⟨ω, x⟩ > 0)) ω |
    | `softmax` | φ ⊙ (φ̄ − ⟨φ, φ̄⟩) |
    | `tensor_square` | (Φ̄ + Φ̄ᵀ) x, Φ̄ the cotangent as a matrix |
    | `symmetric_square` | x̄_c = Σ_s w_s (φ̄_s,c x_{c + s} + φ̄_{s,c − s} x_{c − s}), entries counted round |
    | `identity` | φ̄, of queries s · φ̄ |

    With `logarithms` the cotangent is that of ln φ, which is φ ⊙ φ̄ where φ is below the range of f32, too: of `favor` it is L̄, of `focused`
    x̄_c (x_c + ε) = t (y_c / ‖y‖)² + p (L̄_c − t u_c²) for x_c > 0, with t = Σ_f L̄_f.

    Constraints: A3, A12 (of the cotangent), A21, A25, A26, A67; A88: the result has the cotangent's first three sizes and the width of the
    source; A103: `logarithms` go with `focused`, and with `favor` without ε.

    ```mlir
    %x = attn.map_gradient %k, %c lengths(%l : tensor<2xi32>) {feature_map = #attn.feature_map<elu1>}
        : tensor<2x4x200x64xbf16>, tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
    ```
  }];
}

def Attn_MapParameterGradientOp : Attn_MapGradient<"map_parameter_gradient"> {
  let summary = "The cotangent of the parameter of a feature map";
  let description = [{
        ω̄[h, f, :] = Σ_{b, t} L̄[b, h, t, f] x'[b, t, :]      focus̄[h, c] = −Σ_{b, t} y_c ȳ_c σ(f_c) / softplus(f_c)

    in the notation of `attn.map_gradient`, over tokens that exist, in their order; the heads that share a row of ω are summed.

    Constraints: A3, A12 (of the cotangent), A21, A26, A103; A89: the map has a parameter, and the result its sizes.

    ```mlir
    %w = attn.map_parameter_gradient %k, %c parameter(%p : tensor<4x96x64xf32>) {feature_map = #attn.feature_map<favor, features = 96, epsilon = 0.000000e+00, scale = 1.250000e-01, stabilizer = constant>, keys}
        : tensor<2x4x200x64xf32>, tensor<2x4x200x96xf32> -> tensor<4x96x64xf32>
    ```
  }];
}

def Attn_CausalReadoutGradientOp : Attn_ExecutableOp<"causal_readout_gradient", ["split = true"],
    [AttrSizedOperandSegments, AttrSizedResultSegments],
    "/// Whether what it is the gradient of has a denominator.\nbool divides() { return getDenominator() || getGuard(); }"> {
  let summary = "The cotangents of a causal readout";
  let description = [{
    Of the readout of `attn.causal_readout` with the same operands, from the cotangents ū of numerators, w̄ of denominators, S̄ of the state and
    z̄ of its sum that are given (at least one). With Λ the cotangent of the state after token t, backwards from S̄, and S̃ the state before it
    that has decayed:

        Λ += a_t ū_tᵀ                      ā_t = S_t ū_t + w̄_t z_t
        u = v_t − S̃ᵀ (β_t ⊙ b_t)           v̄_t = Λᵀ b_t                     b̄_t = Λ u + ζ − β_t ⊙ (S̃ v̄_t)
        β̄_t = −b_t ⊙ (S̃ v̄_t)               Λ̃ = Λ − (β_t ⊙ b_t) v̄_tᵀ        ḡ_t = rows of Λ̃ ⊙ S̃, and of ζ ⊙ z̃
        Λ ← diag(e^{g_t}) Λ̃

    ζ goes with Λ as z with S: ζ += w̄_t a_t. The sums over what shares a number (heads of a group, features of a token, tokens of a head) are in
    their order. States count by their true value, with a scale too. Tokens that do not exist have 0 and reach nothing.

    With `guard` the cotangent ō of the output o = u / g, under that guard, stands in the place of that of numerators: ū = ō / g, and w̄ = −⟨ō, o⟩ / g
    where the guard lets g pass. Both come from sums that ā is made of anyway, g = ⟨a, z⟩ and ⟨ō, o⟩ = ⟨a, S ū⟩, so that no output is made again.

    With `logarithms` the first two results are a ⊙ ā and b ⊙ b̄, the cotangents of ln a and ln b. Of a quotient they are in range where features, of
    which any factor of a row of a and any of a feature cancels, are not. There keys may enter with shares `write`, b_t = w_t φ_t of key features φ:
    b ⊙ b̄ is what reaches ln φ, too, and w̄_t = ⟨φ_t, b̄_t⟩.

    `written` is u of all tokens, as the readout has it among its results: the forward pass may have left it.

    Its execution: parts of the sequence side by side, each of which begins with what those before it, or behind it, add up to.

    Constraints: A3, A9, A10, A18, A51, A59; A90: at least one cotangent, each of the sizes of its result, and each result of those of its operand:
    ā, b̄, v̄, then those of state and sum if there is an initial state, of decay, of erase and of write if there is one; with a guard a numerator,
    and neither a denominator nor erase; with erase nothing is split; A109: written [batch, F, n, dv] goes with erase; A104: `logarithms` go with a guard, with features that are maps as in A103, an initial
    state of `favor` with its scale, and decay with other maps than that and without split; `write` [batch, heads, N] goes with `logarithms`.

    ```mlir
    %a1, %b1, %v1 = attn.causal_readout_gradient %a, %b, %v cotangents(numerator %n : tensor<2x4x200x32xf32>)
        : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16>
        -> tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$query_features, Attn_F32x4:$key_features, Attn_Tokens:$value,
                       Optional<Attn_Lengths>:$lengths, Optional<Attn_F32x4>:$initial_state,
                       Optional<Attn_F32x3>:$initial_sum, Optional<Attn_Decay>:$decay, Optional<Attn_Gate>:$erase,
                       Optional<Attn_F32x3>:$write, Optional<Attn_F32x3>:$initial_scale, Optional<Attn_F32x4>:$numerator, Optional<Attn_F32x3>:$denominator,
                       Optional<Attn_F32x4>:$state, Optional<Attn_F32x3>:$sum, Optional<Attn_F32x4>:$written, OptionalAttr<Attn_DenominatorAttr>:$guard,
                       UnitAttr:$logarithms, OptionalAttr<Attn_ExecutionAttr>:$execution);
  let results = (outs Attn_F32x4:$query_gradient, Attn_F32x4:$key_gradient, Attn_F32x4:$value_gradient,
                      Optional<Attn_F32x4>:$state_gradient, Optional<Attn_F32x3>:$sum_gradient, Optional<Attn_Decay>:$decay_gradient,
                      Optional<Attn_Gate>:$erase_gradient, Optional<Attn_F32x3>:$write_gradient);
  let assemblyFormat = [{
    $query_features `,` $key_features `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (custom<Initial>($initial_state, $initial_sum, $initial_scale, type($initial_state), type($initial_sum), type($initial_scale))^)?
    (`decay` `(` $decay^ `:` type($decay) `)`)? (`erase` `(` $erase^ `:` type($erase) `)`)? (`write` `(` $write^ `:` type($write) `)`)?
    `cotangents` `(` (`numerator` $numerator^ `:` type($numerator))? (`denominator` $denominator^ `:` type($denominator))?
    (`state` $state^ `:` type($state))? (`sum` $sum^ `:` type($sum))? `)` (`written` `(` $written^ `:` type($written) `)`)? attr-dict
    `:` type($query_features) `,` type($key_features) `,` type($value)
    `->` type($query_gradient) `,` type($key_gradient) `,` type($value_gradient) (`state` `(` type($state_gradient)^ `)`)?
    (`sum` `(` type($sum_gradient)^ `)`)? (`decay` `(` type($decay_gradient)^ `)`)? (`erase` `(` type($erase_gradient)^ `)`)?
    (`write` `(` type($write_gradient)^ `)`)?
  }];
}

def Attn_SketchGradientOp : Attn_Op<"sketch_gradient", [AttrSizedOperandSegments]> {
  let summary = "The cotangent of the tokens of a sketch";
  let description = [{
        node_j = r^{-1/2} a ⊙ b:   ā = r^{-1/2} ȳ ⊙ b, b̄ = r^{-1/2} ȳ ⊙ a;   y = (x D H)[index]:   x̄ = D H (Σ over the places of each index of ȳ)

    with the operands and attributes of `attn.sketch` and the cotangent of its result, head by head; what a cotangent of 0 meets may be anything.

    Constraints: A4, A29, A30 (as `attn.sketch`); A91: the cotangent has `size` columns and the signs' heads, the result the source's width and the
    cotangent's heads.

    ```mlir
    %x = attn.sketch_gradient %k, %c signs(%s0, %s1, %sa, %sb : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
        indices(%i0, %i1, %ia, %ib : tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>, tensor<4x32xi32>)
        {scale = 1.000000e+00 : f64, size = 32 : i64} : tensor<2x2x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Attn_F32x4:$cotangent, Variadic<Attn_Parameter>:$signs, Variadic<Attn_Indices>:$indices,
                       I64Attr:$size, F64Attr:$scale);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = [{
    $source `,` $cotangent `signs` `(` $signs `:` type($signs) `)` `indices` `(` $indices `:` type($indices) `)` attr-dict
    `:` type($source) `,` type($cotangent) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// EVA
//===----------------------------------------------------------------------===//

def Attn_EvaMixGradientOp : Attn_Op<"eva_mix_gradient"> {
  let summary = "The cotangents of EVA's joint softmax";
  let description = [{
    With p the weights of `attn.eva_mix` over local keys and means, by its lse, δ_i = ⟨ō_i, o_i⟩ of its output and x_i = p_i ⊙ (⟨ō_i, values⟩ − δ_i):

        q̄_i = s Σ x_ij k_j + s Σ x_ic k̄_c,   k̄ey_j = s Σ_i x_ij q_i,   v̄_j = Σ_i p_ij ō_i,   mean̄_c = s Σ_i x_ic q_i,   summarȳ_c = Σ_i p_ic ō_i

    Log weights are constants.

    Constraints: as `attn.eva_mix`; A92: the cotangent and the output are [batch, H, n, dv], lse [batch, H, n], the results have the sizes of q, k, v (with H heads), mean and summary.

    ```mlir
    %q1, %k1, %v1, %m1, %b1 = attn.eva_mix_gradient %q, %k, %v, %c of(%o, %l : tensor<1x2x128x64xf32>, tensor<1x2x128xf32>)
        summaries(%mean, %beta, %w : tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>)
        {chunk = 8 : i64, local = 32 : i64, scale = 1.250000e-01 : f64}
        : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>
        -> tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Attn_F32x4:$cotangent, Attn_Tokens:$output, Attn_F32x3:$lse,
                       Optional<Attn_Lengths>:$lengths, Attn_F32x4:$mean, Attn_F32x4:$summary, Attn_F32x3:$log_weight,
                       I64Attr:$chunk, OptionalAttr<I64Attr>:$local, F64Attr:$scale, UnitAttr:$exclude_local, UnitAttr:$causal);
  let results = (outs Attn_F32x4:$query_gradient, Attn_F32x4:$key_gradient, Attn_F32x4:$value_gradient,
                      Attn_F32x4:$mean_gradient, Attn_F32x4:$summary_gradient);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $cotangent `of` `(` $output `,` $lse `:` type($output) `,` type($lse) `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `summaries` `(` $mean `,` $summary `,` $log_weight `:` type($mean) `,` type($summary) `,` type($log_weight) `)` attr-dict
    `:` type($query) `,` type($key) `,` type($value) `,` type($cotangent)
    `->` type($query_gradient) `,` type($key_gradient) `,` type($value_gradient) `,` type($mean_gradient) `,` type($summary_gradient)
  }];
}

def Attn_EvaSummariesGradientOp : Attn_Op<"eva_summaries_gradient"> {
  let summary = "The cotangents of EVA's summaries of chunks";
  let description = [{
    With w the softmax inside chunk c, of logits s⟨μ_c, k_j⟩ − s|k_j|²/2, and x_j = w_j (⟨summarȳ_c, v_j⟩ − ⟨summarȳ_c, β_c⟩):

        v̄_j += w_j summarȳ_c,   k̄ey_j += s x_j (μ_c − k_j) + (mean̄_c + mu_weight μ̄_c) / |P_c|,   μ̄_c = s Σ_j x_j k_j
        q̄_t += mu_weight μ̄_c / (queries of the chunk)

    over the keys that each row of the summaries has. Log weights have none.

    Constraints: as `attn.eva_summaries`; A93: the cotangents have the sizes of means and summaries, the results those of q, k and v with H heads.

    ```mlir
    %q2, %k2, %v2 = attn.eva_summaries_gradient %q, %k, %v, %m, %b {chunk = 8 : i64, mu_weight = 5.000000e-01 : f64, scale = 1.250000e-01 : f64}
        : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
        -> tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Attn_F32x4:$mean, Attn_F32x4:$summary,
                       Optional<Attn_Lengths>:$lengths, I64Attr:$chunk, OptionalAttr<I64Attr>:$local, F64Attr:$mu_weight, F64Attr:$scale,
                       UnitAttr:$mass);
  let results = (outs Attn_F32x4:$query_gradient, Attn_F32x4:$key_gradient, Attn_F32x4:$value_gradient);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $mean `,` $summary (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `,` type($mean) `,` type($summary)
    `->` type($query_gradient) `,` type($key_gradient) `,` type($value_gradient)
  }];
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

def Attn_TransposeOp : Attn_Op<"transpose"> {
  let summary = "A matrix transposed";
  let description = [{
        result[i, j] = source[j, i]

    Constraints: A94: both have rank 2, and swapped sizes.

    ```mlir
    %t = attn.transpose %w : tensor<256x128xbf16> -> tensor<128x256xbf16>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Parameter:$source);
  let results = (outs Attn_Parameter:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Attn_WeightGradientOp : Attn_Op<"weight_gradient"> {
  let summary = "The cotangent of the weight of a projection";
  let description = [{
        result[D, h·width + c] = Σ_{b, t} cotangent[b, h, t, c] · model[b, t, D]                  of `attn.project`
        result[h·width + c, D] = Σ_{b, t} heads[b, h, t, c] · model[b, t, D]      with `output`, of `attn.project_output`

    over batch and tokens in their order. A token all of whose factors from `heads` are 0 adds nothing, whatever the others are; with `output`
    one all of whose factors from `model` are.

    Constraints: A95: heads [batch, H, tokens, width], model [batch, tokens, D], the result [D, H·width], with `output` [H·width, D].

    ```mlir
    %w1 = attn.weight_gradient %c, %x : tensor<2x8x96x32xf32>, tensor<2x96x256xf32> -> tensor<256x256xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$heads, Attn_Model:$model, UnitAttr:$output);
  let results = (outs Attn_F32x2:$result);
  let assemblyFormat = "$heads `,` $model attr-dict `:` type($heads) `,` type($model) `->` type($result)";
}

def Attn_TokenSumOp : Attn_Op<"token_sum"> {
  let summary = "The sum of all tokens of all batch entries";
  let description = [{
        result[h·width + c] = Σ_{b, t} source[b, h, t, c]        result[D] = Σ_{b, t} source[b, t, D]

    in the order of entries and tokens: the cotangent of a bias.

    Constraints: A96: the source has rank 3 or 4, the result [D] or [H·width].

    ```mlir
    %b = attn.token_sum %y : tensor<2x96x256xf32> -> tensor<256xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32s:$source);
  let results = (outs Attn_Slopes:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Attn_RopeGradientOp : Attn_Op<"rope_gradient", [AllShapesMatch<["source", "result"]>]> {
  let summary = "Rotary position embedding backwards";
  let description = [{
    Rotates as `attn.rope` with the same attributes and operands does, by the negative angle: the transpose of a rotation.

    Constraints: A42.

    ```mlir
    %r = attn.rope_gradient %q aligned(%k : tensor<2x2x96x32xf32>) {base = 1.000000e+04 : f64} : tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Optional<AnyTypeOf<[Attn_Tokens, Attn_Lengths]>>:$aligned, F64Attr:$base, UnitAttr:$half);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = [{
    $source (`aligned` `(` $aligned^ `:` type($aligned) `)`)? attr-dict `:` type($source) `->` type($result)
  }];
}

def Attn_QkNormGradientOp : Attn_Op<"qk_norm_gradient", [AllShapesMatch<["source", "cotangent", "result"]>]> {
  let summary = "The cotangent of tokens that are normalised";
  let description = [{
    With y the result of `attn.qk_norm` and σ what it divides by,

        x̄ = (ȳ − mean(ȳ) − y mean(ȳ ⊙ y)) / σ,        with `l2`   x̄ = (ȳ − y ⟨ȳ, y⟩) / σ

    A token whose cotangent is 0 has 0, whatever it holds.

    Constraints: A43.

    ```mlir
    %x = attn.qk_norm_gradient %q, %c {epsilon = 1.000000e-05 : f64, l2} : tensor<2x8x96x32xbf16>, tensor<2x8x96x32xf32> -> tensor<2x8x96x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Attn_F32x4:$cotangent, F64Attr:$epsilon, UnitAttr:$l2);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$source `,` $cotangent attr-dict `:` type($source) `,` type($cotangent) `->` type($result)";
}

def Attn_LepeGradientOp : Attn_Op<"lepe_gradient"> {
  let summary = "The cotangents of the values, the weights and the bias of a positional encoding";
  let description = [{
        v̄[b, g, t, c] = Σ_{h of g} Σ_δ weight[h, c, δ] ȳ[b, h, t − δ, c]        w̄[h, c, δ] = Σ_{b, t} ȳ[b, h, t, c] v[b, g, t + δ, c]
        bias̄[h, c] = Σ_{b, t} ȳ[b, h, t, c]

    over neighbours as `attn.lepe` has them; values of tokens that do not exist are 0 and have cotangent 0.

    Constraints: A3, A20, A45 (of the cotangent in place of the source); A97: the results have the sizes of value, weight and [H, dv].

    ```mlir
    %v1, %w1, %b1 = attn.lepe_gradient %c, %v, %w {grid = array<i64: 14, 14>}
        : tensor<1x2x196x32xf32>, tensor<1x2x196x32xf32>, tensor<2x32x3x3xf32> -> tensor<1x2x196x32xf32>, tensor<2x32x3x3xf32>, tensor<2x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$cotangent, Attn_Tokens:$value, Attn_Parameter:$weight,
                       Optional<Attn_Lengths>:$lengths, OptionalAttr<DenseI64ArrayAttr>:$grid,
                       OptionalAttr<Attn_WindowAttr>:$window);
  let results = (outs Attn_F32x4:$value_gradient, Attn_F32s:$weight_gradient, Attn_F32x2:$bias_gradient);
  let assemblyFormat = [{
    $cotangent `,` $value `,` $weight (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    attr-dict `:` type($cotangent) `,` type($value) `,` type($weight)
    `->` type($value_gradient) `,` type($weight_gradient) `,` type($bias_gradient)
  }];
}

#endif // ATTUNE_ATTN_GRADIENT_TD
