//===- AttnFeaturePairs.td - Attention over given features -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quotients of sums over the weights ⟨a_i, b_j⟩ of features, and their gradients. Only quotients, and products a b̄
// of a feature and its cotangent, stand in results: they are in range where the features are not.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_FEATURE_PAIRS_TD
#define ATTUNE_ATTN_FEATURE_PAIRS_TD

include "attune/Attn/AttnBase.td"

def Attn_FeatureAttentionOp : Attn_Op<"feature_attention", [Attn_Differentiable]> {
  let summary = "Attention whose weights are products of features";
  let description = [{
        w_ij = ⟨query[i], key[j]⟩  if query i sees key j, else 0
        output_i = Σ_j w_ij value_j / g_i,   lse_i = ln g_i,   g_i = max(Σ_j w_ij + bias, floor)

    As `attn.contract`, `attn.visible`, its sums with values and of rows, and `attn.normalize` compute it; a row of g = 0 is 0, and −∞ in lse.
    In the backward pass it stands for them where weights may be out of the range of f32.

    Constraints: A3, A9, A18, A20; A105: key has the query's batch and features, lse and sums are [batch, H, n], outputs and
    their cotangents [batch, H, n, dv], gradients have the sizes of what they belong to, with H heads; causal needs n = N.

    ```mlir
    %o, %l = attn.feature_attention %a, %b, %v {causal, guard = #attn.denominator<bias = 0.000000e+00, floor = 0.000000e+00>, window = #attn.window<8>}
        : tensor<2x4x48x64xf32>, tensor<2x2x48x64xf32>, tensor<2x2x48x32xbf16> -> tensor<2x4x48x32xf32>, tensor<2x4x48xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$query, Attn_F32x4:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       Attn_DenominatorAttr:$guard, UnitAttr:$causal, OptionalAttr<Attn_WindowAttr>:$window);
  let results = (outs Attn_Tokens:$output, Attn_F32x3:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($output) `,` type($lse)
  }];
}

class Attn_FeatureGradient<string mnemonic> : Attn_Op<mnemonic> {
  let hasVerifier = 1;
  let arguments = (ins Attn_F32x4:$query, Attn_F32x4:$key, Attn_Tokens:$value, Attn_F32x3:$lse, Attn_F32x4:$cotangent, Attn_F32x3:$sums,
                       Optional<Attn_Lengths>:$lengths, UnitAttr:$causal, OptionalAttr<Attn_WindowAttr>:$window);
  code ofOperands = [{
    $query `,` $key `,` $value `lse` `(` $lse `:` type($lse) `)` `cotangents` `(` $cotangent `,` $sums `:` type($cotangent) `,` type($sums) `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:` type($query) `,` type($key) `,` type($value) `->` }];
}

def Attn_FeatureQueryGradientOp : Attn_FeatureGradient<"feature_query_gradient"> {
  let summary = "What reaches the logarithms of queries' features of attention over features";
  let description = [{
    From the cotangent ō of outputs and that of lse, s = `sums`, −⟨ō_i, o_i⟩ where no floor holds g_i back:

        result[i, f] = Σ_j query[i, f] key[j, f] e^{−lse_i} (⟨ō_i, value_j⟩ + s_i)   over the keys j that query i sees

    which is a ⊙ ā, the cotangent of ln a. A row of lse = −∞ is 0.

    Constraints: A3, A9, A18, A20, A105.

    ```mlir
    %x = attn.feature_query_gradient %a, %b, %v lse(%l : tensor<2x4x48xf32>) cotangents(%g, %s : tensor<2x4x48x32xf32>, tensor<2x4x48xf32>)
        {causal, window = #attn.window<8>} : tensor<2x4x48x64xf32>, tensor<2x2x48x64xf32>, tensor<2x2x48x32xbf16> -> tensor<2x4x48x64xf32>
    ```
  }];
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = ofOperands # "type($result)";
}

def Attn_FeatureKeyGradientsOp : Attn_FeatureGradient<"feature_key_gradients"> {
  let summary = "What reaches the logarithms of keys' features and values of attention over features, for each query head";
  let description = [{
    With F heads of key features, g = ⌊h·F/H⌋:

        features[h, j, f] = Σ_i query[h, i, f] key[g, j, f] e^{−lse_i} (⟨ō_i, value_j⟩ + s_i)   over the queries i that see key j
        values[h, j]      = Σ_i ⟨query[h, i], key[g, j]⟩ e^{−lse_i} ō_i

    Constraints: A3, A9, A18, A20, A105.

    ```mlir
    %y, %z = attn.feature_key_gradients %a, %b, %v lse(%l : tensor<2x4x48xf32>) cotangents(%g, %s : tensor<2x4x48x32xf32>, tensor<2x4x48xf32>)
        {causal, window = #attn.window<8>} : tensor<2x4x48x64xf32>, tensor<2x2x48x64xf32>, tensor<2x2x48x32xbf16>
        -> tensor<2x4x48x64xf32>, tensor<2x4x48x32xf32>
    ```
  }];
  let results = (outs Attn_F32x4:$features, Attn_F32x4:$values);
  let assemblyFormat = ofOperands # "type($features) `,` type($values)";
}

#endif // ATTUNE_ATTN_FEATURE_PAIRS_TD
