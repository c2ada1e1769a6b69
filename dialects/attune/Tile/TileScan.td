//===- TileScan.td - Causal products token by token -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_SCAN_TD
#define ATTUNE_TILE_SCAN_TD

include "attune/Tile/TileCost.td"
include "attune/Tile/TileDialect.td"

def Tile_ScanOp : Op<Tile_Dialect, "scan", [Pure, AttrSizedOperandSegments, AllTypesMatch<["a", "b"]>, AllTypesMatch<["v", "acc", "result"]>,
                                            AllTypesMatch<["state", "next"]>,
                                            DeclareOpInterfaceMethods<Tile_CostInterface, ["getCount"]>]> {
  let summary = "Go through the rows of a tile with a state, which each row is added to and reads";
  let description = [{
    For each row t, from the first on,

        S ← diag(g_t) S        S ← S + b_t v_tᵀ        result_t = acc_t + a_tᵀ S

    and `next` is what S is then. Hence, where nothing decays,

        result = acc + a S + lower(a bᵀ) v        next = S + bᵀ v

    with as few multiply-adds as a S and bᵀ v have: nothing is made of pairs of rows. `exclusive`: a row reads S before its own product is added.
    `reverse`: from the last row up, and S decays by g_t behind the two others, so that what comes before row t finds it so.

    `decay` is g, factors of the rows of S, one for each column of b; with `decay_columns` of the columns of S, one for each column of v. Of rank 1 it is one g
    for all rows, and S decays once, before the first one that goes through it.

    `erase` is x: what row t adds is what it makes of S, as the delta rule has it,

        S ← diag(g_t) S        u_t = v_t − Sᵀ x_t        S ← S + b_t u_tᵀ        result_t = acc_t + a_tᵀ S

    and `written` is u.

    Constraints: operands of f32 and rank 2, with rows of equal number: a, b, x [T, p], v, acc, u [T, w], S [p, w], g [T, p] or [T, w], or [p] or [w]; `decay_columns` only with
    a decay; u as x, and neither `exclusive` nor `reverse` with x. For CPUs: a state in the registers of a GPU's threads has no rows that go through it one after another.

    ```mlir
    %out, %next = tile.scan %a, %b, %v, %state, %acc : tensor<16x64xf32>, tensor<16x32xf32>, tensor<64x32xf32>
    ```
    ```mlir
    %out, %next = tile.scan %a, %b, %v, %state, %acc decay %g
                : tensor<16x64xf32>, tensor<16x32xf32>, tensor<64x32xf32> decay tensor<64xf32>
    ```
    ```mlir
    %out, %next = tile.scan %a, %b, %v, %state, %acc decay %g {decay_columns, exclusive, reverse}
                : tensor<16x64xf32>, tensor<16x32xf32>, tensor<64x32xf32> decay tensor<16x32xf32>
    ```
    ```mlir
    %out, %next, %u = tile.scan %a, %b, %v, %state, %acc decay %g erase %x
                    : tensor<1x64xf32>, tensor<1x32xf32>, tensor<64x32xf32> decay tensor<1x64xf32> erase tensor<1x64xf32> -> tensor<1x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, AnyRankedTensor:$v, AnyRankedTensor:$state, AnyRankedTensor:$acc,
                       Optional<AnyRankedTensor>:$decay, Optional<AnyRankedTensor>:$erase, UnitAttr:$decay_columns, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$next, Optional<AnyRankedTensor>:$written);
  let assemblyFormat = "$a `,` $b `,` $v `,` $state `,` $acc (`decay` $decay^)? (`erase` $erase^)? attr-dict `:` type($a) `,` type($v) `,` type($state) (`decay` type($decay)^)? (`erase` type($erase)^ `->` type($written))?";
  let hasVerifier = 1;
  let useCustomPropertiesEncoding = 1;
  let extraClassDeclaration = [{
    /// Rows that go through the state, and the state's rows and columns.
    int64_t getRows();
    int64_t getFeatures();
    int64_t getColumns();
    /// Whether the decay is one for all rows.
    bool decaysOnce();
  }];
}

#endif // ATTUNE_TILE_SCAN_TD
