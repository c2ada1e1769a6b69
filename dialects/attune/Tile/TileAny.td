//===- TileAny.td - What numbers decide -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_ANY_TD
#define ATTUNE_TILE_ANY_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "attune/Tile/TileCost.td"

def Tile_AnyOp : Op<Tile_Dialect, "any", [Pure, DeclareOpInterfaceMethods<Tile_CostInterface, ["getCount"]>]> {
  let summary = "Is a number of a tile above 0? The bound of a loop";
  let description = [{
    The result is 1 if a number of the tile is above 0 or is not a number, else 0. It bounds loops of one step or none: a way
    for what is usual, whose lower bound it is, and one that always works, whose upper bound it is. Nothing is moved out of such
    a loop, and the step that is not taken costs nothing.

    Constraints: a tile of rank 1 in f32. Only CPU kernels have it so far.

    ```mlir
    %far = tile.any %excess : tensor<256xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tile);
  let results = (outs Index:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile)";
  let hasVerifier = 1;
}

#endif // ATTUNE_TILE_ANY_TD
