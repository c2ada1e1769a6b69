//===- TileDialect.td - The tile dialect -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_DIALECT_TD
#define ATTUNE_TILE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::attune::tile";
  let summary = "Attention kernels over tiles, before a target has been chosen";
  let description = [{
    A kernel of this dialect says which blocks of queries, keys and values meet, and what is carried along the sequence.
    It does not say where a block lives: a 64×64 tile of scores is a buffer in the first-level cache of a CPU and the
    registers of 128 threads on a GPU. Both targets lower from the same kernel.

    * A **tile** is an immutable value of static shape: a builtin `tensor` of rank 1 or 2 with f32, f16, bf16, i32 or
      i1 elements. It is in no memory space. Once a GPU has been chosen, its encoding attribute is its layout.
    * **Elementwise** work is `arith` and `math` on tiles.
    * **Memory** is a `memref` of rank r ≥ 1 whose innermost stride is 1; a load takes the innermost rank(tile)
      dimensions. Rows and columns past the end of the memory read as zero and are not written, so that kernels have no
      special case for ragged sizes. The rows may be those of a window of an image.
    * A **kernel** computes one point of its grid. Grid points run in any order, at the same time.
    * The **host** part is a `func.func` that allocates workspace and launches kernels one after another.

    | op | meaning |
    |---|---|
    | `tile.load`, `tile.store` | memory to tile and back, masked at the edges |
    | `tile.dot` | acc + A·B, either operand transposed, f32 accumulator |
    | `tile.reduce`, `tile.expand` | drop an axis by sum or maximum; repeat along a new axis |
    | `tile.mask` | keep the visible part, fill the rest |
    | `tile.iota` | base, base + 1, … |
    | `tile.permute_columns` | the columns in another order |
    | `tile.sine`, `tile.cosine` | of angles in turns |
    | `tile.loop` | the loop over the sequence with typed carries |
    | `tile.kernel`, `tile.program_id`, `tile.return` | a kernel and its place in the grid |
    | `tile.launch`, `tile.workspace` | the host part |
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

#endif // ATTUNE_TILE_DIALECT_TD
