//===- TileLayouts.td - Where a tile lives on a GPU -*- tablegen -*- ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_LAYOUTS_TD
#define ATTUNE_TILE_LAYOUTS_TD

// Included by TileOps.td. The meaning of the layouts, with worked tables: TileLayouts.h.

def Tile_FragmentRole : I32EnumAttr<"FragmentRole", "the part of a matrix instruction that a fragment is", [
    I32EnumAttrCase<"A", 0, "a">, I32EnumAttrCase<"B", 1, "b">, I32EnumAttrCase<"C", 2, "c">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::attune::tile";
}

def Tile_FragmentAttr : AttrDef<Tile_Dialect, "Fragment"> {
  let mnemonic = "fragment";
  let summary = "A tile in the registers of a thread block, as operand or result of a matrix instruction";
  let description = [{
    The tile of an m16n8k16 (`inner` = 16) or m16n8k8 (`inner` = 8) instruction, repeated over the whole tile. `warps`
    are the rows and columns of the grid of warps: rows of `a` and `c` are spread over the rows of the grid, 16 at a time,
    columns of `b` and `c` over its columns, in equal ranges. `a` is the same in the warps of a row, `b` in those of a
    column.

    ```mlir
    #tile.fragment<role = c, inner = 16, warps = [4, 2]>
    ```
  }];
  let parameters = (ins EnumParameter<Tile_FragmentRole>:$role, "int64_t":$inner,
                        "::attune::tile::WarpGrid":$warps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_SliceAttr : AttrDef<Tile_Dialect, "Slice"> {
  let mnemonic = "slice";
  let summary = "A rank-1 tile that lies along a `c` fragment";
  let description = [{
    What is left of a `c` fragment when `axis` is reduced. Axis 1 leaves a value for each row, the same in the four lanes
    of a quad and in the warps of a row; axis 0 a value for each column, the same in the eight quads and in the warps of a
    column.

    ```mlir
    #tile.slice<axis = 1, warps = [4, 1]>
    ```
  }];
  let parameters = (ins "int64_t":$axis, "::attune::tile::WarpGrid":$warps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_SharedAttr : AttrDef<Tile_Dialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "A tile in shared memory, row-major with an XOR swizzle";
  let description = [{
    `rows` × `columns` elements are reserved; what is outside the tile's shape is zero where a matrix instruction could
    meet it. The swizzle follows from `columns` and the element type.

    With `panel` the columns lie in panels of so many, one panel with all rows after another, each as a tile of its own:
    so the descriptors of a warpgroup's products name it. Rows of a panel are 32, 64 or 128 bytes.

    Constraints: a multiple of 8 columns; with `panel`, 16, 32 or 64 of them a panel and whole panels, and rows in eights.

    ```mlir
    #tile.shared<rows = 64, columns = 64>
    ```
    ```mlir
    #tile.shared<rows = 64, columns = 128, panel = 64>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, DefaultValuedParameter<"int64_t", "0">:$panel);
  let builders = [AttrBuilder<(ins "int64_t":$rows, "int64_t":$columns), [{
    return $_get($_ctxt, rows, columns, /*panel=*/0);
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "The same tile in another layout";
  let description = [{
    Moves values between registers and shared memory, or renames registers. The only op that moves tiles between threads
    besides loads, reductions and products, so that every exchange is visible and has a price:

    | from → to | price |
    |---|---|
    | `c` → `a`, one column of warps | nothing: the same registers |
    | `c` → `a`, several columns of warps | by way of shared memory: the two conversions below |
    | shared → `a`, `b`, `c` | reads of shared memory |
    | `c` → shared | writes of shared memory and a barrier |
    | slice → slice of the other axis | writes and reads of shared memory and a barrier |

    Constraints: source and result differ in nothing but their layout; both have one.

    ```mlir
    %a = tile.convert_layout %w : tensor<64x64xf16, #tile.fragment<role = c, inner = 16, warps = [4, 1]>>
      -> tensor<64x64xf16, #tile.fragment<role = a, inner = 16, warps = [4, 1]>>
    ```
  }];
  let arguments = (ins Tile_Tile:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif // ATTUNE_TILE_LAYOUTS_TD
