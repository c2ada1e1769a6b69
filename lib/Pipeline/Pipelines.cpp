//===- Pipelines.cpp - What each stage is made of ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/Pipelines.h"

#include "attune/Graph/Passes.h"
#include "attune/Kernel/Passes.h"
#include "attune/Laws/SavePin.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace attune;

void attune::buildGraphPipeline(OpPassManager &manager, const GraphOptions &options) {
  graph::SelectRewritesOptions select;
  select.device = options.device;
  select.pins.assign(options.pins.begin(), options.pins.end());
  select.threads = options.threads, select.place = options.place;
  select.save = true;
  if (options.saved && options.saved->empty())
    select.pins.push_back((graph::savePin + ":none").str());
  else if (options.saved)
    select.saved.assign(options.saved->begin(), options.saved->end());
  manager.addPass(graph::createSelectRewrites(select));
}

void attune::buildTilePipeline(OpPassManager &manager, tile::TargetKind target) {
  kernel::buildTilePipeline(manager, target);
}
