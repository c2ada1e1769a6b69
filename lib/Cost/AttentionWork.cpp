//===- AttentionWork.cpp - The work of each family ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a kernel of lib/Kernel, in the order of its source there. T is the rows of a tile (queries: Tq, keys:
// Tk). Elementwise work is counted per tile value that the kernel makes; the constants say which.
//
//===----------------------------------------------------------------------===//
#include "IssuedWork.h"
#include "ProjectionInEpilogue.h"
#include "ProjectionInLoad.h"

using namespace attune;
using namespace attune::cost;

static KernelWorks familyWork(const AttentionShape &shape, const Sizes &sizes) {
  switch (shape.family) {
  case Family::Softmax:
    return softmaxWork(shape, sizes);
  case Family::Kernel:
    return kernelAttentionWork(shape, sizes);
  case Family::Polynomial:
    return polynomialWork(shape, sizes);
  case Family::Polysketch:
    return polysketchWork(shape, sizes);
  case Family::Effatt:
    return effattWork(shape, sizes);
  case Family::Eva:
    return evaWork(shape, sizes);
  case Family::Agent:
    return agentWork(shape, sizes);
  case Family::Project:
  case Family::ProjectOutput:
  case Family::Compress:
    return layerWork(shape, sizes);
  case Family::ProjectSlots:
  case Family::SlotSums:
    return slotWork(shape, sizes);
  }
  return {};
}

KernelWorks cost::attentionWork(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  Sizes sizes(shape, schedule);
  KernelWorks kernels = familyWork(shape, sizes);
  if (projectsInLoad(shape))
    addProjectionsInLoad(kernels, shape, sizes);
  if (shape.outputModel)
    addProjectionInEpilogue(kernels.back().work, shape, sizes);
  if (schedule.getTarget() != tile::TargetKind::GPU)
    return kernels;
  for (auto [kernel, issued] : llvm::zip_equal(kernels, issuedWork(shape, sizes))) {
    kernel.work.products = issued.products, kernel.work.tf32Products = issued.tf32Products;
    kernel.work.nearBytes = issued.bytes;
  }
  return kernels;
}
