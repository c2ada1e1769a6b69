//===- Passes.td - From tile to device code -*- tablegen -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_GPU_PASSES_TD
#define ATTUNE_LOWERING_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

defvar productsValues = [{::llvm::cl::values(
    clEnumValN(::attune::device::Products::MmaSync, "mma.sync", "of a warp (sm_80)"),
    clEnumValN(::attune::device::Products::Wgmma, "wgmma", "of four warps, from shared memory (sm_90a)"))}];

def AssignLayouts : Pass<"tile-assign-layouts", "::attune::tile::KernelOp"> {
  let summary = "Say where every tile of a GPU kernel lives";
  let description = [{
    Gives each tile value of a kernel with `target = gpu` a layout as its encoding, and makes every move between layouts
    a `tile.convert_layout`. Products decide: accumulators are `c` fragments, and so is all that is computed elementwise;
    the first operand is an `a` fragment, which costs nothing when it was made as `c`; the second, and a transposed first,
    come through shared memory. With `products=wgmma` what the products of a warpgroup can read comes in panels, and a
    first operand that is loaded stays in shared memory. Reductions and products move up to where their operands are, which frees registers. Rank-1 tiles are slices of `c`, by the axis along which they are reduced or expanded.
    A tile that a loop carries and whose copy in shared memory products read is taken from that copy where it is rescaled.

    ```mlir
    tile.kernel @copy(%in: memref<?x64xf32>, %out: memref<?x64xf32>) grid(query_block)
        attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
      %p = tile.program_id query_block
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %i = arith.muli %p, %c64 : index
      %t = tile.load %in[%i, %c0] : memref<?x64xf32> -> tensor<64x64xf32>
      tile.store %t, %out[%i, %c0] : tensor<64x64xf32>, memref<?x64xf32>
      tile.return
    }
    ```
  }];
  let options = [Option<"products", "products", "::attune::device::Products", "::attune::device::Products::MmaSync",
                        "the matrix instructions of f16 and bf16", productsValues>];
  let statistics = [Statistic<"numConversions", "conversions", "Number of layout conversions">,
                    Statistic<"numFree", "free-conversions", "Number of them that move nothing">];
  let dependentDialects = ["::attune::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def FoldGrids : Pass<"tile-fold-grids", "::mlir::ModuleOp"> {
  let summary = "Give the kernels of a GPU grids that a device has";
  let description = [{
    A device has 65,535 blocks along the second and third axis of a grid, and 2^31 - 1 along the first. Of a kernel with
    `target = gpu`, and of its launches, the axes whose sizes are not constants that fit become one with the first, the last
    axis fastest. Their sizes become further arguments, and the kernel computes its places from its number.

    ```mlir
    tile.kernel @copy(%in: memref<?x?x64xf32>, %out: memref<?x?x64xf32>) grid(batch, query_block)
        attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
      %b = tile.program_id batch // becomes %point / %blocks
      %p = tile.program_id query_block // becomes %point - %b * %blocks
      %c0 = arith.constant 0 : index
      %t = tile.load %in[%b, %p, %c0] : memref<?x?x64xf32> -> tensor<64x64xf32>
      tile.store %t, %out[%b, %p, %c0] : tensor<64x64xf32>, memref<?x?x64xf32>
      tile.return
    }
    ```
  }];
  let statistics = [Statistic<"numKernels", "kernels", "Number of kernels whose axes were folded">];
  let dependentDialects = ["::attune::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def TileToGpu : Pass<"tile-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Kernels over laid-out tiles to the code of one thread";
  let description = [{
    Replaces the kernels with `target = gpu` by functions `nvvm.kernel` of one `gpu.module @attune_kernels`, in their
    order. Functions that launch them are removed: a copy of the module is lowered for the host (`cpu-lower-plans` with
    `device`). Every tile becomes the registers that one thread holds of it. Loads that come through shared memory are copied
    asynchronously, `stages` deep in loops; products are mma.sync, or wgmma where the second operand lies in panels;
    reductions are shuffles.

    A function takes the 8-byte slots of its arguments one by one and has the attributes `attune.block_size` and
    `attune.shared_bytes` (dynamic shared memory). A kernel that needs more shared memory than `shared-limit` is an error.

    ```mlir
    #c = #tile.fragment<role = c, inner = 16, warps = [4, 1]>
    tile.kernel @copy(%in: memref<?x64xf32>, %out: memref<?x64xf32>) grid(query_block)
        attributes {schedule = #tile.schedule<target = gpu, query_tile = 64, key_tile = 64, piece = 2048, operand = f16, warps = 4, stages = 2>} {
      %p = tile.program_id query_block
      %c0 = arith.constant 0 : index
      %t = tile.load %in[%p, %c0] : memref<?x64xf32> -> tensor<64x64xf32, #c>
      tile.store %t, %out[%p, %c0] : tensor<64x64xf32, #c>, memref<?x64xf32>
      tile.return
    }
    ```
  }];
  let options = [Option<"sharedLimit", "shared-limit", "int64_t", "163 * 1024",
                        "bytes of shared memory that a block may use">];
  let statistics = [Statistic<"numKernels", "kernels", "Number of kernels lowered">];
  let dependentDialects = ["::attune::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

def OrderProducts : Pass<"gpu-order-products", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Fences, groups and waits around the products of warpgroups";
  let description = [{
    Products by `wgmma.mma_async` run while the thread goes on. Those that follow each other become one group: a fence before
    them, with the registers that they read; a commit behind them; a wait with their sums before the first use of one,
    the next barrier, the next operation with a region, or the end of the block.

    ```mlir
    llvm.func @nothing() {
      llvm.return
    }
    ```
  }];
  let statistics = [Statistic<"numGroups", "groups", "Number of groups">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def ThreadsToLlvm : Pass<"threads-to-llvm"> {
  let summary = "The code of one thread to the LLVM dialect";
  let description = [{
    Replaces operations of `arith` and `cf`. Maxima and minima become intrinsics, which are one instruction of a GPU.

    ```mlir
    func.func @larger(%a: f32, %b: f32) -> f32 {
      %larger = arith.maximumf %a, %b : f32 // llvm.intr.maximum
      return %larger : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // ATTUNE_LOWERING_GPU_PASSES_TD
