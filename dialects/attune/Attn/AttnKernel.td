//===- AttnKernel.td - Kernel attention and its terms -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_KERNEL_TD
#define ATTUNE_ATTN_KERNEL_TD

include "attune/Attn/AttnBase.td"

def Attn_KernelOp : Attn_Op<"kernel", [AttrSizedOperandSegments, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<Attn_MechanismInterface>,
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds", "compression"]>]> {
  let summary = "Kernel (linear) attention with a feature map";
  let description = [{
        o_i = Σ_j ⟨φ(q_i), φ(k_j)⟩ v_j / Σ_j ⟨φ(q_i), φ(k_j)⟩     over the keys j that query i sees

    with the guard of `denominator` ("Transformers are RNNs"); a row that sees no key is 0. Keys that do not exist are
    left out after φ (φ(0) ≠ 0), whatever they and their values hold.

    * `parameter` is what the map reads: omega or focus.
    * `window`: a query sees the keys of its own block alone.
    * `initial` state (S₀, z₀): a causal op continues a sequence; φ(q_i)ᵀS₀ and φ(q_i)ᵀz₀ are added to numerator and
      denominator. `final` state, if asked for: S₀ + Σ_j φ(k_j) v_jᵀ and z₀ + Σ_j φ(k_j). Without a denominator z₀ and z need not be
      there. A third of each, M₀ and M, says that the states stand rescaled: row f is e^{M_f} times what S and z hold, of features
      without a stabilizer; of a row of zeros M says nothing. Which M it is the op leaves open.
    * `position`: the place of each entry's first token, 0 if it is not given: `cosformer` counts on from there.
    * `denominator` `none`: o_i = Σ_j ⟨φ(q_i), φ(k_j)⟩ v_j.
    * `decay` (g): each key t that exists multiplies the state by e^{g_t} before it enters it, so that key j counts
      e^{g_{j+1} + … + g_i} times for query i; so does its part of the denominator, and initial states. g_t is a number of the
      head (retention), of the token, or one of each feature, which multiplies its row of the state. A key that does not exist
      leaves the state alone, whatever its g is. Heads are those of φ(K).
    * `write` (w): key j enters the state as φ(k_j) (w_j ⊙ v_j)ᵀ and the denominator as w_j φ(k_j), with w_j a number or, where
      nothing divides, one of each entry of v_j.
    * `erase` (β): the delta rule. Key j, after the decay, takes from the state S what stands under it before it enters it:
      S ← S + φ(k_j) (w_j ⊙ v_j − Sᵀ (β_j ⊙ φ(k_j)))ᵀ, with β_j a number or one of each feature; without `write` w_j is β_j if
      that is a number, else 1.
    * `compress` (E, F): naive FLuRKA (eq. 1), o = φ(Q) (E φ(K))ᵀ (F V), without a normaliser and with c = 0 whatever the
      map's stabilizer; the guard says nothing. Rows of φ(K) and V of keys that do not exist are 0. E and F act as in
      `attn.compress`.

    φ(K) has G heads, or H where the parameter has one row a query head (then head h of φ(K) is made of key-value head
    ⌊h·G/H⌋). Where ε = 0 and there is neither guard nor state, the stabilizer of `favor` cancels and is no part of the
    function; else `max` and `projection` are maxima over all existing keys, also with `window`.

    Constraints: A1 … A3, A20;
    * A48: `denominator` `none` only with causal, and not with compress;
    * A49: `decay` [F], [batch, F, n] or [batch, F, n, m], F the heads of φ(K), only with causal, without window, and with the
      maps `identity`, `elu1`, `relu`, `favor_relu` and `focused`;
    * A57: `write` [batch, F, n] or, with `denominator` `none`, [batch, F, n, dv], only with causal, without window and compress;
    * A58: `erase` [batch, F, n] or [batch, F, n, m], only with causal and `denominator` `none`, without window, and with the maps
      `identity`, `elu1` and `relu`;
    * A9: causal only with n = N (checked here when both are static, else when the kernel runs);
    * A10: states are [batch, heads of φ(K), m, dv] and [batch, heads of φ(K), m] of f32, both or neither, or the first alone
      where nothing divides;
    * A11: initial states only with causal;
    * A65: M₀ and M are [batch, heads of φ(K), m] of f32, with S and z, and with `favor` where its stabilizer cancels;
    * A66: position is [batch], with `cosformer` and causal;
    * A21: omega is [1 or H, m, d], focus is [H, d]; maps without a parameter have none;
    * A22: E and F both or neither, [W, k, N] and [W', k, N]; W and W' divide G; with them no causal, no
      window and no states;
    * A23: states without window, and with `favor` only if its stabilizer is no maximum over keys;
    * A24: causal with the stabilizers `max` and `projection` only where they cancel (else they would leak the future);
    * A25: `max_position` of `cosformer` is at least n and N.

    ```mlir
    %o = attn.kernel %q, %k, %v {causal, denominator = #attn.denominator<bias = 1.000000e-06, floor = 0.000000e+00>,
                                 feature_map = #attn.feature_map<elu1>}
        : tensor<2x4x200x64xbf16>, tensor<2x4x200x64xbf16>, tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xbf16>
    ```
  }];
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       Optional<Attn_F32x4>:$initial_state, Optional<Attn_F32x3>:$initial_sum,
                       Optional<Attn_Parameter>:$parameter, Optional<Attn_Parameter>:$compress_key,
                       Optional<Attn_Parameter>:$compress_value, Optional<Attn_Decay>:$decay,
                       Optional<Attn_Gate>:$erase, Optional<Attn_Gate>:$write,
                       Optional<Attn_F32x3>:$initial_scale, Optional<Attn_Lengths>:$position,
                       Attn_FeatureMapAttr:$feature_map, Attn_DenominatorAttr:$denominator, UnitAttr:$causal,
                       OptionalAttr<Attn_WindowAttr>:$window);
  let results = (outs Attn_Tokens:$output, Optional<Attn_F32x4>:$final_state, Optional<Attn_F32x3>:$final_sum,
                      Optional<Attn_F32x3>:$final_scale);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`parameter` `(` $parameter^ `:` type($parameter) `)`)?
    (`compress` `(` $compress_key^ `,` $compress_value `:` type($compress_key) `,` type($compress_value) `)`)?
    (custom<Initial>($initial_state, $initial_sum, $initial_scale, type($initial_state), type($initial_sum), type($initial_scale))^)?
    (`position` `(` $position^ `:` type($position) `)`)?
    (`decay` `(` $decay^ `:` type($decay) `)`)? (`erase` `(` $erase^ `:` type($erase) `)`)?
    (`write` `(` $write^ `:` type($write) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->`
    custom<Results>(type($output), type($final_state), type($final_sum), type($final_scale))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

def Attn_MapOp : Attn_ExecutableOp<"map", ["values = materialized"], [Attn_Differentiable, AttrSizedOperandSegments]> {
  let summary = "A feature map of every token";
  let description = [{
        result[b, h, t, :] = φ(source[b, h, t, :]),   and 0 for t ≥ lengths[b]

    `keys` says which side's stabilizer `favor` takes; `shift` is c where that is a maximum over the keys
    (`attn.key_maximum`); features of a token that does not exist are 0 whatever it and the shift are. A parameter with one
    row a query head maps each of the source's G heads for every query head that reads it: the result has H heads, and
    head h is of head ⌊h·G/H⌋. Else it has the heads of the source. `position` says at which place `cosformer` finds token 0 of
    each entry, else at 0.

    A shift M of each feature, their largest logarithms (`attn.key_maximum`), puts both sides into the range of f32 whatever the
    logarithms are: features of keys are φ_f e^(−M_f), those of queries φ_f e^(M_f − c) with c = max_f (ln φ_f + M_f) of their row.
    In a quotient of all keys M and c cancel, and the denominator is 1 at least.

    Constraints: A3, A25 (of the source's tokens);
    * A12: the result is [batch, heads, tokens, m] of f32 with the map's number of features m;
    * A21: omega is [1 or H, m, d], focus is [H, d] with H a multiple of the source's heads; maps without a parameter have
      none;
    * A26: a shift [batch, heads of the result] with `favor`, `keys` and the stabilizers `max` and `projection`; else none, or one
      of each feature, [batch, heads that divide those of the result, m], of maps as in A103;
    * A67: position is [batch], with `cosformer`.

    ```mlir
    %phi = attn.map %k lengths(%l : tensor<2xi32>) {feature_map = #attn.feature_map<elu1>}
        : tensor<2x4x200x64xbf16> -> tensor<2x4x200x64xf32>
    ```
  }];
  let arguments = (ins Attn_Tokens:$source, Optional<Attn_Lengths>:$lengths, Optional<Attn_Parameter>:$parameter,
                       Optional<Attn_Shift>:$shift, Optional<Attn_Lengths>:$position,
                       Attn_FeatureMapAttr:$feature_map, UnitAttr:$keys,
                       OptionalAttr<Attn_ExecutionAttr>:$execution);
  let results = (outs Attn_F32x4:$result);
  let useCustomPropertiesEncoding = 1;
  let assemblyFormat = [{
    $source (`lengths` `(` $lengths^ `:` type($lengths) `)`)? (`parameter` `(` $parameter^ `:` type($parameter) `)`)?
    (`shift` `(` $shift^ `:` type($shift) `)`)? (`position` `(` $position^ `:` type($position) `)`)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Attn_KeyMaximumOp : Attn_Op<"key_maximum", [Attn_Differentiable]> {
  let summary = "The largest exponent of FAVOR over features and existing keys";
  let description = [{
        result[b, h] = max_{t < lengths[b], f} L_f(key[b, g, t, :])          L without −|x'|²/2 for `projection`

    for the stabilizers `max` and `projection`, with g = ⌊h·G/H⌋; 0 where no key exists. The result has H heads if the
    parameter has, else those of the keys. A result of rank 3 has the largest logarithm of each feature,

        result[b, h, f] = max_{t < lengths[b]} ln φ_f(key[b, g, t, :]),   −10³⁰ where no key exists

    which of `focused` may be off by a factor of less than 2, the same for all who read it.

    Constraints: A3, A21; A27: the map is `favor` with `max` or `projection`, and the result is [batch, heads] of the
    mapped keys; or it is a map as in A103, and the result is [batch, heads, m].

    ```mlir
    %c = attn.key_maximum %k parameter(%w : tensor<4x96x64xf32>) {feature_map = #attn.feature_map<favor, features = 96, epsilon = 1.000000e-04, scale = 1.250000e-01, stabilizer = max>}
        : tensor<2x4x200x64xf32> -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Attn_Tokens:$key, Optional<Attn_Lengths>:$lengths, Attn_Parameter:$parameter,
                       Attn_FeatureMapAttr:$feature_map);
  let results = (outs Attn_Shift:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $key (`lengths` `(` $lengths^ `:` type($lengths) `)`)? `parameter` `(` $parameter `:` type($parameter) `)` attr-dict
    `:` type($key) `->` type($result)
  }];
}

def Attn_ContractOp : Attn_Op<"contract", [Attn_Differentiable]> {
  let summary = "A contraction whose dimensions have named roles";
  let description = [{
    Sums the product of the operands over the roles that the result lacks:

        weights[b, h, i, j] = Σ_f A[b, h, i, f] · B[b, h, j, f]      numerator[b, h, i, v] = Σ_j W[b, h, i, j] · V[b, h, j, v]

    A product whose factor from `lhs` is exactly 0 is 0, whatever the other is: weights of keys that do not exist are 0,
    and their values may be anything. If the operands have different numbers of heads, the fewer ones are shared: of H and G, head h reads ⌊h·G/H⌋.

    Constraints: A13: a role a dimension, none twice; every role of the result is of an operand; sizes of equal roles
    agree (of heads: divide).

    ```mlir
    %w = attn.contract %a[batch, head, query, feature], %b[batch, head, key, feature] -> [batch, head, query, key]
        : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32> -> tensor<2x4x200x200xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Attn_RolesAttr:$lhs_roles, Attn_RolesAttr:$rhs_roles,
                       Attn_RolesAttr:$result_roles);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs custom<Roles>($lhs_roles) `,` $rhs custom<Roles>($rhs_roles) `->` custom<Roles>($result_roles) attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Attn_VisibleOp : Attn_Op<"visible", [Attn_Differentiable, AllTypesMatch<["weights", "result"]>]> {
  let summary = "Clear the weights of pairs that do not see each other";
  let description = [{
        result[b, h, i, j] = weights[b, h, i, j] if query i sees key j, else 0

    A weight that is cleared is 0 whatever it was, NaN included.

    Constraints: A3, A20, A62; A14: a mask, causal, window or lengths, is given.

    ```mlir
    %v = attn.visible %w {causal} : tensor<2x4x200x200xf32>
    ```
  }];
  let arguments = (ins Attn_F32x4:$weights, Optional<Attn_Lengths>:$lengths, UnitAttr:$causal,
                       OptionalAttr<Attn_WindowAttr>:$window, OptionalAttr<I64Attr>:$last);
  let results = (outs Attn_F32x4:$result);
  let useCustomPropertiesEncoding = 1;
  let assemblyFormat = [{
    $weights (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:` type($weights)
  }];
  let hasVerifier = 1;
}

def Attn_DecayOp : Attn_Op<"decay", [Attn_Differentiable, AllTypesMatch<["weights", "result"]>]> {
  let summary = "Weights of causal pairs that decay with the keys between them";
  let description = [{
        result[b, h, i, j] = weights[b, h, i, j] · e^{Σ_{t existing, j < t ≤ i} g_t}

    with g_t = decay[f] or decay[b, f, t], f = ⌊h·F/H⌋ of F decays. What it is for pairs that do not see each other
    `attn.visible` decides.

    Constraints: A3; A50: decay [F] or [batch, F, n], F divides H; as many queries as keys.

    ```mlir
    %d = attn.decay %w by %g : tensor<2x4x200x200xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Attn_F32x4:$weights, Attn_Decay:$decay, Optional<Attn_Lengths>:$lengths);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = [{
    $weights `by` $decay (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:` type($weights) `,` type($decay)
  }];
  let hasVerifier = 1;
}

def Attn_GateOp : Attn_Op<"gate", [Attn_Differentiable]> {
  let summary = "Tokens times a number of each, or of each of their entries";
  let description = [{
        result[b, h, t, c] = gate[b, h, t] · source[b, h, t, c]     or gate[b, h, t, c] · source[b, h, t, c]

    and 0 where the source is 0, whatever the gate is: features of a token that does not exist stay 0.

    Constraints: A60: gate [batch, heads, tokens] or [batch, heads, tokens, width] of the source, the result of the source's
    sizes, in f32.

    ```mlir
    %u = attn.gate %v by %w : tensor<2x4x200x64xbf16>, tensor<2x4x200xf32> -> tensor<2x4x200x64xf32>
    ```
  }];
  let arguments = (ins Attn_Tokens:$source, Attn_Gate:$gate);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$source `by` $gate attr-dict `:` type($source) `,` type($gate) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_RowSumOp : Attn_Op<"row_sum", [Attn_Differentiable]> {
  let summary = "The sum of each row of weights";
  let description = [{
        result[b, h, i] = Σ_j weights[b, h, i, j]

    Constraints: A15: the result is the weights' first three sizes.

    ```mlir
    %den = attn.row_sum %w : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
    ```
  }];
  let arguments = (ins Attn_F32x4:$weights);
  let results = (outs Attn_F32x3:$result);
  let assemblyFormat = "$weights attr-dict `:` type($weights) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_RowMaximumOp : Attn_Op<"row_maximum", [Attn_Differentiable]> {
  let summary = "The largest magnitude of each row of weights";
  let description = [{
        result[b, h, i] = max_j |weights[b, h, i, j]|^(1 / root)

    It is what rows are divided by whose powers would leave the range of f32, and no gradient flows through it. Where the weights are powers of
    products, `root` is their degree: the result is that of the rows.

    Constraints: A15: the result is the weights' first three sizes. A110: `root` is a power of two.

    ```mlir
    %unit = attn.row_maximum %w : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
    %of_rows = attn.row_maximum %w {root = 8 : i64} : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
    ```
  }];
  let arguments = (ins Attn_F32x4:$weights, DefaultValuedAttr<I64Attr, "1">:$root);
  let results = (outs Attn_F32x3:$result);
  let assemblyFormat = "$weights attr-dict `:` type($weights) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_StateOp : Attn_Op<"state", [Attn_Differentiable]> {
  let summary = "The state of kernel attention: φ(K)ᵀ [V 1]";
  let description = [{
        state[b, h, f, v] = Σ_j features[b, h, j, f] · value[b, g, j, v],     sum[b, h, f] = Σ_j features[b, h, j, f]

    Values of tokens whose features are 0 do not count, even if they are NaN: keys that do not exist are those at or past
    `lengths`. If the values have fewer heads (a map with one parameter a query head), head h reads value head ⌊h·G/H⌋.

    Constraints: A3; A16: features [batch, H, N, m], value [batch, G, N, dv], state [batch, H, m, dv], sum [batch, H, m];
    G divides H.

    ```mlir
    %s, %z = attn.state %phi, %v : tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16>
        -> tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    ```
  }];
  let arguments = (ins Attn_F32x4:$features, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths);
  let results = (outs Attn_F32x4:$state, Attn_F32x3:$sum);
  let assemblyFormat = [{
    $features `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($features) `,` type($value) `->` type($state) `,` type($sum)
  }];
  let hasVerifier = 1;
}

def Attn_StateMergeOp : Attn_Op<"state_merge", [Attn_Differentiable, AllTypesMatch<["first_state", "second_state", "state"]>,
    AllTypesMatch<["first_sum", "second_sum", "sum"]>]> {
  let summary = "Merge the states of two pieces of a sequence";
  let description = [{
        state = S₁ + S₂,   sum = z₁ + z₂

    ```mlir
    %s, %z = attn.state_merge (%s1, %z1), (%s2, %z2) : tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    ```
  }];
  let arguments = (ins Attn_F32x4:$first_state, Attn_F32x3:$first_sum, Attn_F32x4:$second_state, Attn_F32x3:$second_sum);
  let results = (outs Attn_F32x4:$state, Attn_F32x3:$sum);
  let assemblyFormat = [{
    `(` $first_state `,` $first_sum `)` `,` `(` $second_state `,` $second_sum `)` attr-dict
    `:` type($first_state) `,` type($first_sum)
  }];
}

def Attn_ReadoutOp : Attn_ExecutableOp<"readout", ["values = fused", "ending = last_block"], [Attn_Differentiable]> {
  let summary = "Numerator and denominator of kernel attention from a state";
  let description = [{
        numerator[b, h, i, :] = features[b, h, i, :] · state[b, g, :, :],   denominator[b, h, i] = ⟨features[b, h, i, :], sum[b, g, :]⟩

    with g = ⌊h·G/H⌋.

    Constraints: A17: features [batch, H, n, m], state [batch, G, m, dv], sum [batch, G, m], numerator [batch, H, n, dv],
    denominator [batch, H, n]; G divides H; A54: not both executions, since a state that is read where it is made has one piece.

    ```mlir
    %num, %den = attn.readout %phi, %s, %z : tensor<2x4x200x64xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
        -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>
    ```
  }];
  let arguments = (ins Attn_F32x4:$features, Attn_F32x4:$state, Attn_F32x3:$sum,
                       OptionalAttr<Attn_ExecutionAttr>:$execution);
  let results = (outs Attn_F32x4:$numerator, Attn_F32x3:$denominator);
  let assemblyFormat = [{
    $features `,` $state `,` $sum attr-dict `:` type($features) `,` type($state) `,` type($sum)
    `->` type($numerator) `,` type($denominator)
  }];
  let hasVerifier = 1;
}

def Attn_CausalReadoutOp : Attn_ExecutableOp<"causal_readout", ["split = true", "grouped = true"], [Attn_Differentiable, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Causal kernel attention from features: every query reads the state before and at its own token";
  let description = [{
        numerator_i = Σ_{j ≤ i} ⟨a_i, b_j⟩ v_j + a_iᵀ S₀,   denominator_i = Σ_{j ≤ i} ⟨a_i, b_j⟩ + ⟨a_i, z₀⟩
        state = S₀ + Σ_j b_j v_jᵀ,   sum = z₀ + Σ_j b_j

    with a the query features, b the key features, and S₀ = 0, z₀ = 0 if no initial state is given. The chunk length is
    a schedule, not part of the function.
    `decay`: each key that exists multiplies state and sum by e^{decay} before it enters them, as in `attn.kernel`. `erase`:
    it takes what stands under it, as there, of a state that it enters with v_j as it is; the denominators say nothing then.
    `scale` (M), and a third initial one: states stand rescaled, as in `attn.kernel`.
    `written`: what each token enters the state with, u_j = v_j less what it erases, which gradients read; 0 or anything of tokens that do not exist.

    Constraints: A3, A9, A10; A108: written [batch, F, n, dv] only with erase, and of as many query features' heads; A68: scales are [batch, F, m] of f32, and if there is an initial one, so is the other; A51: decay [F], [batch, F, n] or [batch, F, n, m]; A59: erase [batch, F, n] or
    [batch, F, n, m], and then not grouped; A18: query features [batch, H, n, m], key features [batch, F, n, m], value [batch, G, n, dv],
    numerator [batch, H, n, dv], denominator [batch, H, n], states of F heads; G divides F, F divides H.
    Both executions: parts of the sequence side by side, in each of which the chunks of a group follow one another.

    ```mlir
    %num, %den, %s, %z = attn.causal_readout %a, %b, %v
        : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xbf16>
        -> tensor<2x4x200x32xf32>, tensor<2x4x200xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64xf32>
    ```
  }];
  let arguments = (ins Attn_F32x4:$query_features, Attn_F32x4:$key_features, Attn_Tokens:$value,
                       Optional<Attn_Lengths>:$lengths, Optional<Attn_F32x4>:$initial_state,
                       Optional<Attn_F32x3>:$initial_sum, Optional<Attn_Decay>:$decay, Optional<Attn_Gate>:$erase,
                       Optional<Attn_F32x3>:$initial_scale, OptionalAttr<Attn_ExecutionAttr>:$execution);
  let results = (outs Attn_F32x4:$numerator, Attn_F32x3:$denominator, Attn_F32x4:$state, Attn_F32x3:$sum,
                      Optional<Attn_F32x3>:$scale, Optional<Attn_F32x4>:$written);
  let useCustomPropertiesEncoding = 1;
  let assemblyFormat = [{
    $query_features `,` $key_features `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (custom<Initial>($initial_state, $initial_sum, $initial_scale, type($initial_state), type($initial_sum), type($initial_scale))^)?
    (`decay` `(` $decay^ `:` type($decay) `)`)? (`erase` `(` $erase^ `:` type($erase) `)`)? attr-dict
    `:` type($query_features) `,` type($key_features) `,` type($value)
    `->` type($numerator) `,` type($denominator) `,` type($state) `,` type($sum) (`,` type($scale)^)?
    (`written` `(` type($written)^ `)`)?
  }];
  let hasVerifier = 1;
}

def Attn_AdvanceOp : Attn_Op<"advance", [AttrSizedOperandSegments]> {
  let summary = "How many tokens there were up to the end of these";
  let description = [{
        result[b] = position[b] + min(lengths[b], N)     0 for a position that is not given, N for lengths

    with N tokens of each entry, [batch, heads, N, width] or [batch, N, D].

    Constraints: A3; A69: position and result are [batch].

    ```mlir
    %p = attn.advance %k position(%p0 : tensor<2xi32>) lengths(%l : tensor<2xi32>) : tensor<2x4x200x64xbf16> -> tensor<2xi32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Attn_Tokens, Attn_Model]>:$tokens, Optional<Attn_Lengths>:$position, Optional<Attn_Lengths>:$lengths);
  let results = (outs Attn_Lengths:$result);
  let assemblyFormat = [{
    $tokens (`position` `(` $position^ `:` type($position) `)`)? (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($tokens) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Attn_NormalizeOp : Attn_Op<"normalize", [Attn_Differentiable]> {
  let summary = "Divide by the guarded denominator";
  let description = [{
        o_i = numerator_i / max(denominator_i + bias, floor),   0 where that denominator is exactly 0

    Without a denominator o = numerator, in the type of the output, and the guard says nothing.

    Constraints: A19: numerator [batch, H, n, dv], denominator [batch, H, n], the result of the numerator's sizes.

    ```mlir
    %o = attn.normalize %num, %den {guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>}
        : tensor<2x4x200x32xf32>, tensor<2x4x200xf32> -> tensor<2x4x200x32xbf16>
    ```
  }];
  let hasFolder = 1;
  let arguments = (ins Attn_F32x4:$numerator, Optional<Attn_F32x3>:$denominator, Attn_DenominatorAttr:$guard);
  let results = (outs Attn_Tokens:$output);
  let assemblyFormat = [{
    $numerator (`,` $denominator^)? attr-dict `:` type($numerator) (`,` type($denominator)^)? `->` type($output)
  }];
  let hasVerifier = 1;
}

#endif // ATTUNE_ATTN_KERNEL_TD
