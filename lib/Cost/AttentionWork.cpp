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
#include "ProjectionInEpilogue.h"
#include "ProjectionInLoad.h"

#include "llvm/Support/ErrorHandling.h"

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
  llvm_unreachable("every family is above");
}

/// Of the kernels of a family on a CPU the products that stay in f32 where operands are bf16: those of maps and sketches,
/// and the scores of exact attention with queries or keys that a kernel has stored in f32.
static llvm::SmallVector<double> wideProducts(const KernelWorks &kernels, AttentionShape shape,
                                              tile::ScheduleAttr schedule) {
  llvm::SmallVector<double> wide;
  for (const KernelWork &kernel : kernels)
    wide.push_back(shape.family == Family::Polysketch ? kernel.work.products : 0);
  if (shape.family == Family::Softmax && (shape.queryBytes == 4 || shape.keyBytes == 4))
    for (double &products : wide)
      products = kernels.front().work.products * double(shape.width) / double(shape.width + shape.valueWidth);
  if (shape.family != Family::Kernel)
    return wide;
  shape.queryFolded = shape.keyFolded = true; // the same without what the maps multiply
  for (auto [products, kernel, plain] : llvm::zip_equal(wide, kernels, familyWork(shape, Sizes(shape, schedule))))
    products = kernel.work.products - plain.work.products;
  return wide;
}

KernelWorks cost::attentionWork(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  Sizes sizes(shape, schedule);
  KernelWorks kernels = familyWork(shape, sizes);
  llvm::SmallVector<double> wide;
  if (schedule.getTarget() == tile::TargetKind::CPU && schedule.getOperand().isBF16())
    wide = wideProducts(kernels, shape, schedule);
  if (projectsInLoad(shape))
    addProjectionsInLoad(kernels, shape, sizes);
  if (shape.outputModel)
    addProjectionInEpilogue(kernels.back().work, shape, sizes);
  for (auto [kernel, products] : llvm::zip(kernels, wide))
    kernel.work.pairProducts = kernel.work.products - products;
  return kernels;
}
