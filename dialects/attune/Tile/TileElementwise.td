//===- TileElementwise.td - Elementwise ops that math does not have -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_ELEMENTWISE_TD
#define ATTUNE_TILE_ELEMENTWISE_TD

class Tile_TurnsOp<string mnemonic> : Tile_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultType, Tile_Counts]> {
  let arguments = (ins Tile_F32Tile:$turns);
  let results = (outs Tile_F32Tile:$result);
  let assemblyFormat = "$turns attr-dict `:` type($result)";
}

def Tile_SineOp : Tile_TurnsOp<"sine"> {
  let summary = "The sine of an angle in turns";
  let description = [{
        result = sin(2π · turns)

    elementwise, and exactly 0 or ±1 at whole quarters. Whole turns are taken off without rounding, which radians do not
    allow: of a rotation by p · θ the caller rounds p · θ / 2π, and nothing after it is lost however many turns it is. Of an
    infinity or a NaN it is NaN.

    ```mlir
    %sines = tile.sine %angles : tensor<64x32xf32>
    ```
  }];
}

def Tile_CosineOp : Tile_TurnsOp<"cosine"> {
  let summary = "The cosine of an angle in turns";
  let description = [{
        result = cos(2π · turns)

    elementwise, with the same care as `tile.sine`.

    ```mlir
    %cosines = tile.cosine %angles : tensor<64x32xf32>
    ```
  }];
}

#endif // ATTUNE_TILE_ELEMENTWISE_TD
