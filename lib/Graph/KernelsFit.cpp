//===- KernelsFit.cpp - Whether the kernels of a plan fit a block ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelsFit.h"

#include "attune/Kernel/Passes.h"
#include "attune/Lowering/GPU/Passes.h"
#include "attune/Tile/KernelSizes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attune;

/// From attention to shared memory.
static void addPasses(OpPassManager &manager, StringRef chip) {
  kernel::buildTilePipeline(manager, tile::TargetKind::GPU);
  manager.addPass(device::createFoldGrids());
  OpPassManager &tiles = manager.nest<tile::KernelOp>();
  tiles.addPass(createCSEPass());
  tiles.addPass(device::createAssignLayouts());
  device::TileToGpuOptions options;
  options.sharedLimit = device::sharedMemoryLimit(chip);
  manager.addPass(device::createTileToGpu(options));
}

void graph::addDialectsOfKernels(DialectRegistry &registry) {
  OpPassManager manager(ModuleOp::getOperationName());
  addPasses(manager, "sm_80"); // or any other
  manager.getDependentDialects(registry);
}

bool graph::kernelsFit(func::FuncOp function, tile::ScheduleAttr schedule, StringRef chip) {
  bool refused = false;
  ScopedDiagnosticHandler handler(function.getContext(), [&](mlir::Diagnostic &diagnostic) {
    refused |= StringRef(diagnostic.str()).starts_with(tile::noScheduleFits);
    return success();
  });
  OwningOpRef<ModuleOp> module(ModuleOp::create(function.getLoc()));
  func::FuncOp copy = function.clone();
  copy->setAttr("tile.schedule", schedule);
  module->push_back(copy);
  PassManager manager(module->getContext());
  addPasses(manager, chip);
  return succeeded(manager.run(*module)) || !refused;
}
