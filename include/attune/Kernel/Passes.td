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
             clEnumValN(::attune::tile::TargetKind::GPU, "gpu", "operands of the storage type, four warps"))}]>
  ];
  let statistics = [Statistic<"numFunctions", "functions", "Number of functions cut into kernels">];
  let dependentDialects = ["::attune::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::func::FuncDialect"];
}

#endif // ATTUNE_KERNEL_PASSES_TD
