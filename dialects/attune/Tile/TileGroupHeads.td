//===- TileGroupHeads.td - Heads as rows -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_GROUPHEADS_TD
#define ATTUNE_TILE_GROUPHEADS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "attune/Tile/TileDialect.td"

def Tile_GroupHeadsOp : Op<Tile_Dialect, "group_heads", [Pure]> {
  let summary = "Heads that share keys, as rows of one head";
  let description = [{
        result[b, g, r · n + i, c] = source[b, g · H / G + r, i, c]

    The same memory [batch, H, n, d] as [batch, G, n · H / G, d]. A row lies behind the one before as far as the tokens of a head behind those of the head
    before over their number: n is 1, or the rows of all heads follow one another densely. A tensor that a run leaves out has no rows. It is of a host
    function: a kernel then reads the keys of head g once for all of these rows.

    Constraints: memories of rank 4 with one type of elements, batch and d; a number of heads that divides the source's; rows that are not known; the last
    stride is 1.

    ```mlir
    %rows = tile.group_heads %q : memref<?x8x?x64xf32, strided<[?, ?, ?, 1]>> to memref<?x2x?x64xf32, strided<[?, ?, ?, 1]>>
    ```
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// H / G.
    int64_t getGroup() { return getSource().getType().getDimSize(1) / getResult().getType().getDimSize(1); }
  }];
}

#endif // ATTUNE_TILE_GROUPHEADS_TD
