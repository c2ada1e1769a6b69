//===- Passes.td - From attn to tile -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_KERNEL_PASSES_TD
#define ATTUNE_KERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttnToTile : Pass<"attn-to-tile", "::mlir::ModuleOp"> {
  let summary = "Cut attention into kernels over tiles";
  let description = [{
    Replaces every function of `attn` ops by kernels and a host function of the same name that launches them. The host
    function takes the inputs and then the outputs as memories, each with its name of the spec as `attune.name` and the
    tensor type that it had as `attune.tensor`; `attune.equal_lengths` marks one that needs as many queries as keys,
    and `attune.size_rules` says what else it needs of sizes that only a run knows.

    | form | kernels |
    |---|---|
    | `attn.softmax` | online softmax, parallel over query blocks |
    | quadratic kernel attention | pair weights in tiles, parallel over query blocks |
    | state and readout | states of pieces of the keys, their merge, readout |
    | causal readout | chunk by chunk, the state carried |

    A function may bring its schedule as `tile.schedule`; otherwise tiles are 64×64. Mechanisms of kernel attention must
    have been brought into one of the forms first (`attn-select-rewrites`).

    ```mlir
    func.func @softmax(%q: tensor<?x4x?x64xf32>, %k: tensor<?x4x?x64xf32>, %v: tensor<?x4x?x32xf32>) -> tensor<?x4x?x32xf32> {
      %o = attn.softmax %q, %k, %v {scale = 1.250000e-01 : f64}
          : tensor<?x4x?x64xf32>, tensor<?x4x?x64xf32>, tensor<?x4x?x32xf32> -> tensor<?x4x?x32xf32>
      return %o : tensor<?x4x?x32xf32>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "::attune::tile::TargetKind", "::attune::tile::TargetKind::CPU",
           "the kind of machine to cut for", [{::llvm::cl::values(
             clEnumValN(::attune::tile::TargetKind::CPU, "cpu", "f32 operands"),
             clEnumValN(::attune::tile::TargetKind::GPU, "gpu", "operands of the storage type, four warps"))}]>,
    Option<"printRegions", "print-regions", "bool", "false",
           "print the regions that kernels are built from (docs/Rationale/Regions.md) to the standard error stream">
  ];
  let statistics = [Statistic<"numFunctions", "functions", "Number of functions cut into kernels">];
  let dependentDialects = ["::attune::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::func::FuncDialect"];
}


def TileCutLoops : Pass<"tile-cut-loops", "::attune::tile::KernelOp"> {
  let summary = "Cut loops in two, and compose what the pieces leave";
  let description = [{
    Cuts each `tile.loop` that carries tiles, and reads no memory that it writes, into the steps before a border and
    those behind it, in the order of the loop. If it writes nothing, both pieces become spans, which compose and act
    on what the loop began with. If it stores at every step, the span of the first piece gives the state at the
    border, and the pieces run from there (a scan).

        apply(compose(span of the first, span of the second), inits)

    Nothing changes but the order of sums, if the loop is what its carry claims: this is how the claim is tested. The
    border is a share of the steps that `seed` draws for each loop, none and all of them included. The pass fails
    where a carry cannot make a span of a body (`#tile.affine` of a body that is not linear in what it carries).

    ```mlir
    tile.kernel @total(%x: memref<?x8xf32>, %o: memref<8xf32>) grid(batch) {
      %c0 = arith.constant 0 : index
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %n = memref.dim %x, %c0 : memref<?x8xf32>
      %sum = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %zero) : (tensor<8xf32>) {
        %rows = tile.load %x[%j, %c0] rows(%n) : memref<?x8xf32> -> tensor<16x8xf32>
        %columns = tile.reduce add %rows axis 0 : tensor<16x8xf32> -> tensor<8xf32>
        %next = arith.addf %s, %columns : tensor<8xf32>
        tile.yield %next : tensor<8xf32>
      }
      tile.store %sum, %o[%c0] : tensor<8xf32>, memref<8xf32>
      tile.return
    }
    ```
  }];
  let options = [Option<"seed", "seed", "uint64_t", "0", "what the borders are drawn from">];
  let statistics = [Statistic<"numLoops", "loops", "Number of loops cut in two">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def TileSplitReduction : Pass<"tile-split-reduction", "::mlir::ModuleOp"> {
  let summary = "Split a kernel's stream of tokens into pieces that run side by side";
  let description = [{
    Splits the loops of a kernel that are marked `tile.split`, which stand in the kernel's own block and follow one
    another, each beginning with what the one before leaves: segments of one stream. Their steps are cut into pieces of
    equal length. Each point of the grid becomes as many as there are pieces, along a further axis `key_piece`; where
    the grid has three axes already the pieces follow one another along the last one, all points of the first before those
    of the second. Every point computes the span of its piece and stores it. The last one to arrive applies all spans to
    what the stream began with, in the order of the pieces, whichever point it is, and does what stands behind the stream.

        state = apply(span of the last piece, … apply(span of the first piece, inits))

    Identity, composition and spans are the carry's. Nothing is written before the last step of a stream but what
    a step of sums stores of its own entries, in memory that the kernel does not read; kernels that store what the steps before have
    made would need a scan, and are refused.

    How many pieces there are says the schedule (`parts`), or the option. Where the mark is a number, `tile.split = 2048 : i64`,
    pieces have so many entries, which is a multiple of the step, of one loop from 0 on; there are as many as the largest end of
    any point needs, which the host finds from the sizes of the kernel's arguments. Either way the order of sums depends on the
    plan and on the steps alone.

    With `tile.merged_by = "name"` a kernel of that name does what the last point does otherwise, launched behind the one that
    stores the spans.

    A state that lies in memory is stored by the steps themselves, so that their loop carries nothing. It is marked
    `tile.in_memory = #carry` too, and the last loop before it stores the state of no entries, slice by slice, tiles in the order of
    the carry. The memories are [grid, slices, tile]; each piece has memories of its own, [grid, pieces, slices, tile], and the
    kernel that merges them has a point for each slice.

    `attn-to-tile` marks the streams of the kernels that it builds, and splits them itself.

    ```mlir
    tile.kernel @total(%x: memref<?x8xf32>, %o: memref<8xf32>) grid(batch) {
      %c0 = arith.constant 0 : index
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %n = memref.dim %x, %c0 : memref<?x8xf32>
      %sum = tile.loop #tile.sum %j = %c0 to %n step 16 carries(%s = %zero) : (tensor<8xf32>) attributes {tile.split} {
        %rows = tile.load %x[%j, %c0] rows(%n) : memref<?x8xf32> -> tensor<16x8xf32>
        %columns = tile.reduce add %rows axis 0 : tensor<16x8xf32> -> tensor<8xf32>
        %next = arith.addf %s, %columns : tensor<8xf32>
        tile.yield %next : tensor<8xf32>
      }
      tile.store %sum, %o[%c0] : tensor<8xf32>, memref<8xf32>
      tile.return
    }
    ```
  }];
  let options = [Option<"pieces", "pieces", "int64_t", "0", "in how many pieces; 0: what the schedule says">];
  let statistics = [Statistic<"numKernels", "kernels", "Number of kernels whose stream was split">];
  let dependentDialects = ["::attune::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // ATTUNE_KERNEL_PASSES_TD
