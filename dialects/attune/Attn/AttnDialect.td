//===- AttnDialect.td - The attn dialect -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_DIALECT_TD
#define ATTUNE_ATTN_DIALECT_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attune::attn";
  let summary = "Attention at two heights: mechanisms as papers write them, and the terms they are made of";
  let description = [{
    A **mechanism** is one op that is a paper's formula (`attn.softmax`, `attn.kernel`, `attn.polynomial`,
    `attn.polysketch`, `attn.effatt`, `attn.eva`, `attn.agent`). A **term** is a step that the laws of the compiler act
    on: a feature map, a contraction with named roles, a state and its readout, partial results of online softmax and
    their merge. A mechanism knows its decomposition into terms; both heights mean the same. What stands **around** a
    mechanism in a layer are ops of their own: projections, RoPE, the norm, compression by E, LePE, heads taken and joined.

    All values are ranked tensors; batch, the number of queries n and the number of keys N may be dynamic. H is the
    number of query heads, G that of key-value heads; G divides H, and head h reads key-value head ⌊h·G/H⌋.

    | value | shape | element |
    |---|---|---|
    | queries q, keys k, values v | [batch, H, n, d], [batch, G, N, d], [batch, G, N, dv] | f32, f16, bf16 |
    | output o | [batch, H, n, dv] | f32, f16, bf16 |
    | key lengths | [batch] | i32, each 0 … N |
    | terms (features, weights, states, sums) | see each op | f32 |

    **Causal** aligns the last query with the last key: query i sees key j iff j ≤ i + N − n. **Key lengths**: keys at or
    past the length of their batch entry do not exist. Masks are attributes or lengths, never n×N tensors.

    Sums over the sequence and exponents are f32 whatever the storage (interpreters may use more).
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

#endif // ATTUNE_ATTN_DIALECT_TD
