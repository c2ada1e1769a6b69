//===- TilePipeline.cpp - From attention to kernels ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Kernel/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attune;

static void cleanUp(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
}

void kernel::buildTilePipeline(OpPassManager &manager, tile::TargetKind target) {
  manager.addPass(createAttnToTile({target}));
  cleanUp(manager.nest<tile::KernelOp>());
  cleanUp(manager.nest<func::FuncOp>());
}
