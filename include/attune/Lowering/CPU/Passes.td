//===- Passes.td - From tile to the code of a CPU ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_PASSES_TD
#define ATTUNE_LOWERING_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignOrders : Pass<"cpu-assign-orders", "::attune::tile::KernelOp"> {
  let summary = "Choose row-major or column-major storage for every tile of a kernel";
  let description = [{
    A dot is vectorised along its columns or along its rows:

    | vectors along | operand read as vectors | operand read as scalars | result |
    |---|---|---|---|
    | columns (N) | B, its columns adjacent | A, any order | row-major |
    | rows (M) | A, its rows adjacent | B, any order | column-major |

    Elementwise ops, masks and carries keep one order. The pass tries every choice for the dots of a kernel and takes the
    cheapest: products with padded vectors, transposes where an operand is in the wrong order, sums across the lanes of
    a vector. The work of a loop's body counts sixteen times. Tiles that end column-major are marked `attune.column`
    (loops: `attune.columns`, one flag a carried tile).

    ```mlir
    tile.kernel @weights(%Q: memref<?x64xf32>, %K: memref<?x64xf32>, %O: memref<?xf32>) grid(batch) {
      %c0 = arith.constant 0 : index
      %zero = arith.constant dense<0.0> : tensor<64x64xf32>
      %q = tile.load %Q[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
      %k = tile.load %K[%c0, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
      %s = tile.dot %q, %k, %zero {transpose_b} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      %l = tile.reduce add %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
      tile.store %l, %O[%c0] : tensor<64xf32>, memref<?xf32>
      tile.return
    }
    ```
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16", "f32 elements of a vector register">];
  let statistics = [Statistic<"numColumn", "column-major", "Number of tiles stored column-major">];
}

def InlineLoops : Pass<"cpu-inline-loops", "::attune::tile::KernelOp"> {
  let summary = "Remove loops of one step and of none";
  let description = [{
    A window that fits into one tile has one step of its loop over the keys, and none of the loop over those that need a
    mask. Without the loop the state that a softmax begins with is known: nothing is rescaled, and the product with the
    values can be divided and stored as it ends.

    ```mlir
    %o = tile.loop #tile.sum %j = %c0 to %c49 step 49 carries(%acc = %zero) : (tensor<49x64xf32>) {
      %next = tile.dot %w, %v, %acc : tensor<49x49xf32>, tensor<49x64xf32> -> tensor<49x64xf32>
      tile.yield %next : tensor<49x64xf32>
    }
    ```
  }];
  let statistics = [Statistic<"numInlined", "inlined", "Number of loops removed">];
}

def FoldAccumulators : Pass<"cpu-fold-accumulators", "::attune::tile::KernelOp"> {
  let summary = "Let a dot add the tile that is added to its result";
  let description = [{
    On a CPU a dot sums its products first and adds the accumulator last, so the sum of a tile and a dot without an
    accumulator has the same bits as the dot with the tile as its accumulator, and is one pass over memory less.

    ```mlir
    %past = tile.dot %a, %S, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %local = tile.dot %w, %v, %zero : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %num = arith.addf %local, %past : tensor<64x64xf32>
    ```

    A dot whose rows are only scaled and stored moves to where that happens, since the scale may be computed in between; the
    lowering then scales and stores a block of the result while it is in registers.

    ```mlir
    %rows = tile.expand %scale axis 1 : tensor<64xf32> -> tensor<64x64xf32>
    %o = arith.mulf %num, %rows : tensor<64x64xf32>
    tile.store %o, %O[%i, %c0] : tensor<64x64xf32>, memref<?x64xf32>
    ```
  }];
  let statistics = [Statistic<"numFolded", "folded", "Number of sums folded into a dot">,
                    Statistic<"numSunk", "sunk", "Number of dots moved to the store of their result">];
}

def LowerKernels : Pass<"cpu-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn tile kernels into functions of loops over vectors";
  let description = [{
    Every kernel `@k` becomes, for each instruction set, `llvm.func @k__avx2` or `@k__avx512`:

        void k__avx512(const void *args, int64_t gx, int64_t gy, int64_t gz, void *scratch)

    which computes one point of the grid. `attune.scratch_bytes` is the scratch it needs. Tiles live in the scratch;
    runs of elementwise ops, masks and reductions become one loop nest; dots become calls of functions that hold a
    block of the result in registers, shared by dots of equal shape.

    The kernels themselves are left for `cpu-lower-plans` to remove.

    ```mlir
    tile.kernel @twice(%x: memref<?x64xf32>, %y: memref<?x64xf32>) grid(query_block) {
      %p = tile.program_id query_block
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %i = arith.muli %p, %c64 : index
      %t = tile.load %x[%i, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
      %u = arith.addf %t, %t : tensor<64x64xf32>
      tile.store %u, %y[%i, %c0] : tensor<64x64xf32>, memref<?x64xf32>
      tile.return
    }
    ```
  }];
  let options = [ListOption<"isas", "isas", "std::string", "instruction sets: avx2, avx512 (default: both)">];
  let statistics = [Statistic<"numNests", "loop-nests", "Number of loop nests emitted">,
                    Statistic<"numDots", "dots", "Number of dots emitted">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerPlans : Pass<"cpu-lower-plans", "::mlir::ModuleOp"> {
  let summary = "Turn host functions into plans that launch kernels through the runtime";
  let description = [{
    Every `func.func @p` that launches kernels becomes, for each instruction set,

        void p__avx512(void *launcher, const void *args)        int64_t p__avx512_workspace(const void *args)

    `args` holds the slots of the function's arguments and then the workspace's address. Kernels of the tile dialect are
    removed. With `device` a plan launches kernels on a device, by their place among the kernels of the module
    (`attune_rt_launch_device`).

    ```mlir
    func.func @plan(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %rows = memref.dim %x, %c0 : memref<?x64xf32>
      %blocks = arith.ceildivui %rows, %c64 : index
      tile.launch @copy grid(%blocks) (%x, %y) : memref<?x64xf32>, memref<?x64xf32>
      return
    }
    ```
  }];
  let options = [ListOption<"isas", "isas", "std::string", "instruction sets: avx2, avx512 (default: both)">,
                 Option<"device", "device", "bool", "false", "launch kernels on a device">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def ExpandMath : Pass<"cpu-expand-math"> {
  let summary = "Replace exp2 and log2 of f32 vectors by polynomials";
  let description = [{
    `math.exp2` of any f32: relative error at most 2e-7, 0 below 2⁻¹²⁶, infinity above the largest float, NaN stays
    NaN. `math.log2` of any f32: absolute error 2e-7 near 1, else relative. No library is called.

    ```mlir
    func.func @weights(%x: vector<16xf32>) -> vector<16xf32> {
      %w = math.exp2 %x : vector<16xf32>
      return %w : vector<16xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // ATTUNE_LOWERING_CPU_PASSES_TD
