//===- GpuPipeline.cpp - The stages from tile to device code -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Lowering/GPU/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace attune;

int64_t device::sharedMemoryLimit(StringRef chip) {
  // What one block may ask for, of the table of compute capabilities in the CUDA programming guide.
  return llvm::StringSwitch<int64_t>(chip)
      .Cases({"sm_80", "sm_87"}, 163 * 1024)
      .Cases({"sm_86", "sm_89", "sm_120"}, 99 * 1024)
      .Cases({"sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103", "sm_103a"}, 227 * 1024)
      .Default(64 * 1024); // not in the table: none since sm_70 has less
}

bool device::hasProducts(StringRef chip, Products products) {
  return products == Products::MmaSync || chip == "sm_90a"; // wgmma is of this architecture alone
}

void device::buildTileToGpuPipeline(OpPassManager &pm, const GpuOptions &options) {
  // Layouts.
  OpPassManager &tiles = pm.nest<tile::KernelOp>();
  tiles.addPass(createCSEPass());
  AssignLayoutsOptions layouts;
  layouts.products = hasProducts(options.chip, options.products) ? options.products : Products::MmaSync;
  tiles.addPass(createAssignLayouts(layouts));
  // Threads.
  TileToGpuOptions lowering;
  lowering.sharedLimit = options.sharedLimit ? options.sharedLimit : sharedMemoryLimit(options.chip);
  pm.addPass(createTileToGpu(lowering));
  // The LLVM dialect, kernel by kernel as above: where the context has several threads, each takes one. A kernel has 10,000
  // operations, and LLVM simplifies them once more. One sweep here leaves the same PTX as simplification to the end before and
  // after this, which takes a tenth of the time from spec to PTX.
  GreedyRewriteConfig once;
  once.setMaxIterations(1).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  OpPassManager &kernels = pm.nest<mlir::gpu::GPUModuleOp>().nest<LLVM::LLVMFuncOp>();
  if (layouts.products == Products::Wgmma)
    kernels.addPass(createOrderProducts());
  kernels.addPass(createCanonicalizerPass(once));
  kernels.addPass(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createThreadsToLlvm());
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("the architecture, such as sm_80"), llvm::cl::init("sm_80")};
  Option<int64_t> sharedLimit{*this, "shared-limit",
                              llvm::cl::desc("bytes of shared memory that a block may use; 0: what the chip has"),
                              llvm::cl::init(0)};
  Option<device::Products> products{
      *this, "products", llvm::cl::desc("the matrix instructions of f16 and bf16, where the chip has them"),
      llvm::cl::init(device::Products::MmaSync),
      llvm::cl::values(clEnumValN(device::Products::MmaSync, "mma.sync", "of a warp (sm_80)"),
                       clEnumValN(device::Products::Wgmma, "wgmma", "of four warps, from shared memory (sm_90a)"))};
};
} // namespace

void device::registerTileToGpuPipeline() {
  PassPipelineRegistration<PipelineOptions>("tile-to-gpu-pipeline", "Kernels of the tile dialect to device code",
                                            [](OpPassManager &pm, const PipelineOptions &options) {
                                              buildTileToGpuPipeline(pm, {options.chip, options.sharedLimit, options.products});
                                            });
}
