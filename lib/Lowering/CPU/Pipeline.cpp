//===- Pipeline.cpp - Tile kernels to LLVM IR for CPUs -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Lowering/CPU/Pipeline.h"

#include "attune/Lowering/CPU/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attune;

std::string cpu::variantName(StringRef name, StringRef isa) { return (name + "__" + isa).str(); }
std::string cpu::workspaceName(StringRef name) { return (name + "__workspace").str(); }

void cpu::buildTileToCpuPipeline(OpPassManager &manager, const CpuOptions &options) {
  // Storage, then code with vectors and structured loops.
  if (!options.device) {
    OpPassManager &tiles = manager.nest<tile::KernelOp>();
    tiles.addPass(createInlineLoops());
    tiles.addPass(createFoldAccumulators());
    tiles.addPass(createAssignOrders());
  }
  LowerKernelsOptions kernels;
  LowerPlansOptions plans;
  for (const std::string &isa : options.isas)
    kernels.isas.push_back(isa), plans.isas.push_back(isa);
  plans.device = options.device;
  if (!options.device)
    manager.addPass(createLowerKernels(kernels));
  manager.addPass(createLowerPlans(plans));

  // What is left is plain conversion, function by function.
  OpPassManager &functions = manager.nest<LLVM::LLVMFuncOp>();
  functions.addPass(createExpandMath());
  functions.addPass(createCSEPass());
  functions.addPass(createSCFToControlFlowPass());
  functions.addPass(createConvertVectorToLLVMPass());
  functions.addPass(createConvertMathToLLVMPass());
  functions.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
}

void cpu::registerTileToCpuPipeline() {
  PassPipelineRegistration<>("tile-to-cpu", "Lower tile kernels and host functions to the llvm dialect for CPUs",
                             [](OpPassManager &manager) { buildTileToCpuPipeline(manager); });
}
