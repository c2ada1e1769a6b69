//===- InitAll.cpp - Registers everything of Attune -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/InitAll.h"

#include "attune/Attn/Attn.h"
#include "attune/Cost/KernelCounts.h"
#include "attune/Cost/Passes.h"
#include "attune/Graph/Passes.h"
#include "attune/Kernel/Passes.h"
#include "attune/Lowering/CPU/Passes.h"
#include "attune/Lowering/CPU/Pipeline.h"
#include "attune/Lowering/GPU/Passes.h"
#include "attune/Raise/Passes.h"
#include "attune/Tile/Tile.h"
#include "attune/Transform/AttnTransformOps.h"

void attune::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<attn::AttnDialect, tile::TileDialect>();
  registerTransformExtension(registry);
  cost::registerCostModels(registry);
}

void attune::registerAllPasses() {
  raise::registerAttuneRaisePasses();
  cost::registerAttuneCostPasses();
  graph::registerAttuneGraphPasses();
  kernel::registerAttuneKernelPasses();
  cpu::registerAttuneLoweringCPUPasses();
  cpu::registerTileToCpuPipeline();
  device::registerAttuneGpuPasses();
  device::registerTileToGpuPipeline();
}
