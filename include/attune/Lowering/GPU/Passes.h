//===- Passes.h - From tile to device code -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_GPU_PASSES_H
#define ATTUNE_LOWERING_GPU_PASSES_H

#include "attune/Tile/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

#include <string>

namespace mlir {
class OpPassManager;
}

namespace attune::device {
/// The matrix instructions that multiply tiles of 16-bit elements, by generation.
enum class Products { MmaSync, Wgmma };
/// Has a chip such instructions?
bool hasProducts(llvm::StringRef chip, Products products);

#define GEN_PASS_DECL
#include "attune/Lowering/GPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Lowering/GPU/Passes.h.inc"

/// The name of the gpu.module that holds a module's kernels.
constexpr llvm::StringLiteral kernelModuleName = "attune_kernels";
/// Attributes of a kernel in it: threads of a block, and bytes of dynamic shared memory.
constexpr llvm::StringLiteral blockSizeName = "attune.block_size", sharedBytesName = "attune.shared_bytes";

/// Of one that sums what it loads at several places: a function attribute of LLVM, which keeps each sum beside its load.
constexpr llvm::StringLiteral sumsLoadsName = "attune-sums-loads";

/// Of a tile.kernel: the axes of its grid that became one with the first.
constexpr llvm::StringLiteral foldedAxes = "tile.folded";

struct GpuOptions {
  std::string chip = "sm_80";
  /// Shared memory that a block may use; 0: what the chip has.
  int64_t sharedLimit = 0;
  /// Where a chip has them; a product that they cannot make is made by mma.sync.
  Products products = Products::MmaSync;
};

/// Bytes of shared memory that one block may use on a chip.
int64_t sharedMemoryLimit(llvm::StringRef chip);

/// Kernels of the tile dialect to the LLVM dialect in gpu.module @attune_kernels.
void buildTileToGpuPipeline(mlir::OpPassManager &pm, const GpuOptions &options = {});

/// The pipeline as `tile-to-gpu-pipeline` of attn-opt, with the options `chip`, `shared-limit` and `products`.
void registerTileToGpuPipeline();

} // namespace attune::device

#endif // ATTUNE_LOWERING_GPU_PASSES_H
