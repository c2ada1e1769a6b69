//===- AttnBlocked.td - EFFATT, EVA, agents, and what they are made of -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_BLOCKED_TD
#define ATTUNE_ATTN_BLOCKED_TD

include "attune/Attn/AttnBase.td"

def Attn_EffattOp : Attn_Op<"effatt", [
    DeclareOpInterfaceMethods<Attn_MechanismInterface>,
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds"]>]> {
  let summary = "Efficient attention: softmax over features of q, over keys of k";
  let description = [{
        o_i = softmax_f(q_i)ᵀ Σ_j softmax_j(k_·f) v_jᵀ

    The softmax over features is of each query, that over keys of each feature, over the keys that exist; with none of them
    the output is 0 ("Efficient Attention"; ELFATT's global part). The weights of a row add up to 1 by themselves. No
    scale, not causal: the softmax over keys sees all of them. Two more results, for gradients, are what queries read, Σ_j softmax_j(k_·f) v_jᵀ, and
    `attn.sequence_lse` of the keys.

    Constraints: A1 … A3; A106: no more results, or these two, [batch, G, d, dv] and [batch, G, d].

    ```mlir
    %o = attn.effatt %q, %k, %v : tensor<2x4x200x64xf32>, tensor<2x4x200x64xf32>, tensor<2x4x200x32xf32> -> tensor<2x4x200x32xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths);
  let results = (outs Attn_Tokens:$output, Variadic<AnyTypeOf<[Attn_F32x3, Attn_F32x4]>>:$left);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($output) (`,` `left` type($left)^)?
  }];
  let extraClassDeclaration = [{
    /// What queries read, [batch, G, d, dv], and the logarithms of its sums, [batch, G, d]; null: nobody wants them.
    ::mlir::Value getState() { return getLeft().empty() ? ::mlir::Value() : getLeft()[0]; }
    ::mlir::Value getLse() { return getLeft().empty() ? ::mlir::Value() : getLeft()[1]; }
  }];
}

def Attn_AgentOp : Attn_Op<"agent", [
    DeclareOpInterfaceMethods<Attn_MechanismInterface>,
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds"]>]> {
  let summary = "Agent attention";
  let description = [{
        o = softmax(scale · Q Aᵀ) softmax(scale · A Kᵀ) V,   A_c = the mean of the c-th of `agents` equal runs of queries

    ("Agent Attention", without biases and convolution). All queries count in A, and the inner softmax runs over the
    keys that exist; with none of them the output is 0. Not causal: an agent mixes queries of all places. A second result has the logarithms of the
    sums of the outer softmax's exponentials, a row's over the agents.

    Constraints: A1 … A4; A5: lse is [batch, H, n]; A34: agents ≥ 1 divides n.

    ```mlir
    %o = attn.agent %q, %k, %v {agents = 16 : i64, scale = 1.250000e-01 : f64} : tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32> -> tensor<2x4x128x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       I64Attr:$agents, F64Attr:$scale);
  let results = (outs Attn_Tokens:$output, Optional<Attn_F32x3>:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($output) (`,` `lse` type($lse)^)?
  }];
}

def Attn_EvaOp : Attn_Op<"eva", [
    DeclareOpInterfaceMethods<Attn_MechanismInterface>,
    DeclareOpInterfaceMethods<Attn_UsefulOperationsInterface, ["multiplyAdds"]>]> {
  let summary = "EVA: exact attention in a window and control variates for chunks of keys";
  let description = [{
        o_i = Σ_{j ∈ E_i} p_j v_j + Σ_c p_c β_c,   p = softmax over { s⟨q_i, k_j⟩ : j ∈ E_i } ∪ { s⟨q_i, k̄_c⟩ [+ log |P_c|] : c }
        k̄_c = mean_{P_c} k,  μ_c = mu_weight · (q̄_c + k̄_c),  β_c = Σ_{j ∈ P_c} softmax_j(s⟨μ_c, k_j⟩ − s|k_j|²/2) v_j

    with s = scale ("Efficient Attention via Control Variates", in evaluation mode, with h = identity). The
    C = N / chunk chunks P_c of keys go with C equal runs of n / C queries, whose means are q̄_c; E_i are the keys of the block
    of `local` keys that goes with the query's of N / local equal runs; without `local` E_i is empty.

    * `exclude_local`: for query i every chunk is without the keys of i's block (the paper's partition). Without it
      they count twice, as in the published code. It says nothing without `local`.
    * `mass` adds log |P_c| to a chunk's logit.
    * Keys that do not exist are in no E_i, no mean and no |P_c|; a chunk with none left is left out. Every query is in
      q̄_c. A row with nothing left is 0.
    * `causal`: of E_i the keys up to i, of the chunks those strictly before the query's own. What `exclude_local` takes out
      is still the whole block.
    * A second result has the logarithms of the sums of the rows' exponentials, over keys and chunks; −∞ of a row with nothing left.

    Constraints: A1 … A4; A5: lse is [batch, H, n];
    * A36: chunk and local are ≥ 1 and divide N; N / chunk and N / local divide n; mu_weight is finite;
    * A37: with causal, n = N, and there is a local, which chunk divides.

    ```mlir
    %o = attn.eva %q, %k, %v {causal, chunk = 8 : i64, local = 32 : i64, mu_weight = 1.000000e+00 : f64, scale = 1.250000e-01 : f64}
        : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       I64Attr:$chunk, OptionalAttr<I64Attr>:$local, F64Attr:$mu_weight, F64Attr:$scale,
                       UnitAttr:$exclude_local, UnitAttr:$mass, UnitAttr:$causal);
  let results = (outs Attn_Tokens:$output, Optional<Attn_F32x3>:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($output) (`,` `lse` type($lse)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

def Attn_PoolOp : Attn_Op<"pool", [Attn_Differentiable]> {
  let summary = "The mean of equal runs of tokens";
  let description = [{
        result[b, h, c, :] = mean of source[b, h, t, :] over c·n/count ≤ t < (c+1)·n/count

    Constraints: A34: count ≥ 1 divides n, and the result is [batch, H, count, width].

    ```mlir
    %a = attn.pool %q {count = 16 : i64} : tensor<2x4x128x64xf32> -> tensor<2x4x16x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let arguments = (ins Attn_Tokens:$source, I64Attr:$count);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Attn_SequenceSoftmaxOp : Attn_Op<"sequence_softmax", [Attn_Differentiable]> {
  let summary = "Softmax over the sequence, feature by feature";
  let description = [{
        result[b, g, j, f] = e^{source[b, g, j, f]} / Σ_{t < lengths[b]} e^{source[b, g, t, f]},   0 for j ≥ lengths[b]

    What a token that does not exist holds, NaN included, reaches nothing.

    Constraints: A3; A35: the result has the source's sizes.

    ```mlir
    %b = attn.sequence_softmax %k : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Optional<Attn_Lengths>:$lengths);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = [{
    $source (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:` type($source) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Puts `attn.sequence_weights` of `attn.sequence_lse` in the place of this op.
    SequenceWeightsOp replaceByWeights();
  }];
}

def Attn_SequenceLseOp : Attn_Op<"sequence_lse", [Attn_Differentiable]> {
  let summary = "The logarithms of sums over the sequence, feature by feature";
  let description = [{
        result[b, g, f] = ln Σ_{t < lengths[b]} e^{source[b, g, t, f]},   ∞ where no token exists

    `attn.sequence_weights` of them are `attn.sequence_softmax`. What a token that does not exist holds reaches nothing.

    Constraints: A3; A107: the result is [batch, G, d] of a source [batch, G, N, d].

    ```mlir
    %l = attn.sequence_lse %k : tensor<2x4x200x64xf32> -> tensor<2x4x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Optional<Attn_Lengths>:$lengths);
  let results = (outs Attn_F32x3:$result);
  let assemblyFormat = [{
    $source (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:` type($source) `->` type($result)
  }];
}

def Attn_SequenceWeightsOp : Attn_Op<"sequence_weights", [Attn_Differentiable]> {
  let summary = "Exponentials of tokens by the logarithms of their sums";
  let description = [{
        result[b, g, j, f] = e^{source[b, g, j, f] − lse[b, g, f]},   0 for j ≥ lengths[b]

    Constraints: A3; A107: lse is [batch, G, d] of a source [batch, G, N, d]; A35: the result has the source's sizes.

    ```mlir
    %b = attn.sequence_weights %k lse(%l : tensor<2x4x64xf32>) : tensor<2x4x200x64xf32> -> tensor<2x4x200x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$source, Attn_F32x3:$lse, Optional<Attn_Lengths>:$lengths);
  let results = (outs Attn_F32x4:$result);
  let assemblyFormat = [{
    $source `lse` `(` $lse `:` type($lse) `)` (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:` type($source) `->` type($result)
  }];
}

def Attn_EvaSummariesOp : Attn_Op<"eva_summaries", [Attn_Differentiable]> {
  let summary = "EVA's summaries of chunks: mean key, weighted value, log weight";
  let description = [{
    For every chunk c, and with `local` for every chunk and every local block l that it meets in part,

        mean[b, h, c, :] = k̄_c,   summary[b, h, c, :] = β_c,   log_weight[b, h, c] = 0 (with `mass` log |P_c|; −∞ if P_c is empty)

    as defined at `attn.eva`. Without `local` the results have C = N / chunk rows. With `local` (exclude_local) they have
    C + 2·N/local rows: row c is chunk c whole; rows C + 2l and C + 2l + 1 are the first and the last chunk that meet
    block l, less the keys of the block (−∞ where nothing is left, and for the second where it is the first). Chunks
    between the two lie inside the block. Where log_weight is −∞, mean and summary are 0.

    Constraints: A1, A3, A4, A36; A38: mean [batch, H, rows, d], summary [batch, H, rows, dv], log_weight [batch, H, rows].

    ```mlir
    %mean, %beta, %w = attn.eva_summaries %q, %k, %v {chunk = 8 : i64, mu_weight = 5.000000e-01 : f64, scale = 1.250000e-01 : f64}
        : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       I64Attr:$chunk, OptionalAttr<I64Attr>:$local, F64Attr:$mu_weight, F64Attr:$scale, UnitAttr:$mass);
  let results = (outs Attn_F32x4:$mean, Attn_F32x4:$summary, Attn_F32x3:$log_weight);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($mean) `,` type($summary) `,` type($log_weight)
  }];
}

def Attn_EvaMixOp : Attn_Op<"eva_mix", [Attn_Differentiable]> {
  let summary = "EVA's joint softmax over local keys and chunks";
  let description = [{
    The output of `attn.eva` from the results of `attn.eva_summaries` on the same q, k, v and attributes. With
    `exclude_local` they have the rows that `local` adds there: a query of block l reads rows C + 2l and C + 2l + 1 in place of
    the chunks that meet block l. A second result is its lse.

    Constraints: A1 … A5, A36, A37; A38, with the rows of `local` only with `exclude_local`;
    * A39: exclude_local only with local.

    ```mlir
    %m = attn.eva_mix %q, %k, %v summaries(%mean, %beta, %w : tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16xf32>)
        {chunk = 8 : i64, local = 32 : i64, scale = 1.250000e-01 : f64}
        : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Attn_Tokens:$query, Attn_Tokens:$key, Attn_Tokens:$value, Optional<Attn_Lengths>:$lengths,
                       Attn_F32x4:$mean, Attn_F32x4:$summary, Attn_F32x3:$log_weight,
                       I64Attr:$chunk, OptionalAttr<I64Attr>:$local, F64Attr:$scale, UnitAttr:$exclude_local,
                       UnitAttr:$causal);
  let results = (outs Attn_Tokens:$output, Optional<Attn_F32x3>:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `summaries` `(` $mean `,` $summary `,` $log_weight `:` type($mean) `,` type($summary) `,` type($log_weight) `)` attr-dict
    `:` type($query) `,` type($key) `,` type($value) `->` type($output) (`,` `lse` type($lse)^)?
  }];
}

#endif // ATTUNE_ATTN_BLOCKED_TD
