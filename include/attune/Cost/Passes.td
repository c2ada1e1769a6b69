//===- Passes.td - What kernels do, printed -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_PASSES_TD
#define ATTUNE_COST_PASSES_TD

include "mlir/Pass/PassBase.td"

def TilePrintCounts : Pass<"tile-print-counts", "::mlir::ModuleOp"> {
  let summary = "Print what each launch of a kernel does at given sizes";
  let description = [{
    Prints a line for each launch of each host function, with what all programs of the grid do together: multiply-adds
    by the type of their operands, exponentials, logarithms, sines, other operations on elements, and the bytes that are
    loaded and stored. What is 0 is left out. Nothing is run: the counts are those of the IR
    (`docs/Rationale/Counts.md`).

    Sizes that only a run knows are those that `attune.tensor` says, or else those of the options, by the letters of an
    argument's `attune.dims`; those of an argument that has none are all `queries`.

    ```mlir
    tile.kernel @twice(%x: memref<?x8xf32>, %o: memref<?x8xf32>) grid(query_block) {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %p = tile.program_id query_block
      %i = arith.muli %p, %c16 : index
      %rows = tile.load %x[%i, %c0] : memref<?x8xf32> -> tensor<16x8xf32>
      %sums = arith.addf %rows, %rows : tensor<16x8xf32>
      tile.store %sums, %o[%i, %c0] : tensor<16x8xf32>, memref<?x8xf32>
      tile.return
    }
    func.func @host(%x: memref<?x8xf32>, %o: memref<?x8xf32>) {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %n = memref.dim %x, %c0 : memref<?x8xf32>
      %blocks = arith.ceildivui %n, %c16 : index
      tile.launch @twice grid(%blocks) (%x, %o) : memref<?x8xf32>, memref<?x8xf32>
      return
    }
    ```
  }];
  let options = [
    Option<"batch", "batch", "int64_t", "1", "sequences">,
    Option<"queries", "queries", "int64_t", "1024", "tokens of a sequence of queries">,
    Option<"keys", "keys", "int64_t", "0", "tokens of a sequence of keys; 0: as many as queries">,
    Option<"rare", "rare", "bool", "false", "whether a number of every tile.any is above 0">];
  let statistics = [Statistic<"numLaunches", "launches", "Number of launches that were counted">];
}

#endif // ATTUNE_COST_PASSES_TD
